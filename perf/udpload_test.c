/* udpload_test.c - udpload checks itself, and merges histograms
 *
 * "udpload selftest" compares the histogram with sorted samples and the payload
 * check with payloads that were damaged on purpose, without any network.
 * "udpload merge" reads the output of runs with --hist from standard input and
 * prints the percentiles of all of them together. */

#include "udpload_payload.h"
#include "udpload_hist.h"

#include "check.h"

#define SAMPLES 20000

static struct hist a, b, all;
static uint64_t sample[SAMPLES];

static int compare_u64(const void *x, const void *y)
{
	uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;

	return (p > q) - (p < q);
}

/* Buckets neither overlap nor leave a gap */
static void test_buckets(void)
{
	bool is_inside = true, is_narrow = true;
	uint64_t v = 1;

	for (unsigned i = 0; i + 1 < HIST_BUCKETS; i++) {
		uint64_t low = hist_low(i), high = hist_low(i + 1) - 1;

		is_inside &= hist_index(low) == i && hist_index(high) == i;
		is_narrow &= high - low <= low / 64;
	}
	ok(is_inside, "both ends of each bucket are in it");
	ok(is_narrow, "no bucket is wider than 1/64 of its value");
	for (int i = 0; i < 64; i++, v = v << 1 | (v & 1))
		is_inside &= hist_index(v) < HIST_BUCKETS;
	ok(is_inside, "any value has a bucket");
	is_int(hist_index(UINT64_MAX), HIST_BUCKETS - 1, "the largest one");
}

/* Times from 50 ns to a minute, as many of each magnitude */
static void fill(void)
{
	uint64_t x = 88172645463325252u;

	for (unsigned i = 0; i < SAMPLES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sample[i] = (50 + x % 50) << (x >> 32) % 30;
		hist_add(i % 3 ? &a : &b, sample[i]);
		hist_add(&all, sample[i]);
	}
	qsort(sample, SAMPLES, sizeof(sample[0]), compare_u64);
}

static void test_percentiles(void)
{
	static const double p[] = { .001, .5, .9, .99, .999, .9999, 1 };

	for (unsigned i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
		double rank = p[i] * SAMPLES;
		uint64_t want = sample[(unsigned)rank - ((unsigned)rank > 0)];
		double off = (double)hist_percentile(&all, p[i]) / (double)want;

		ok(off > 1 - 1 / 64. && off < 1 + 1 / 64.,
		   "percentile %g: %g of the sorted sample's", 100 * p[i], off);
	}
	is_int(hist_percentile(&all, 1), sample[SAMPLES - 1], "max is exact");
	is_int(all.min, sample[0], "min is exact");
}

static void test_merge(void)
{
	static char text[HIST_BUCKETS * 32];
	static struct hist back, none;
	FILE *f = fmemopen(text, sizeof(text), "w");

	hist_print(&all, f);
	fclose(f);
	ok(hist_parse(&back, text), "its text can be read");
	is_mem(&back, &all, sizeof(all), "the text has all of it");
	hist_merge(&a, &b);
	is_mem(&a, &all, sizeof(all), "two parts are the whole");
	hist_merge(&a, &none);
	is_mem(&a, &all, sizeof(all), "and nothing changes nothing");
	ok(!hist_parse(&none, "1 2"), "half a text is refused");
	ok(!hist_parse(&none, "1 2 3 99999:1"), "so is a bucket too many");
	is_int(hist_percentile(&none, .5), 0, "an empty one has no percentile");
}

static void test_payload(void)
{
	static const struct {
		const char *name;
		uint32_t size, len, flip; /* flip: BUF_MAX for none */
		uint32_t at;
		uint64_t length, octet, foreign;
	} rows[] = {
		{ "an octet in the middle", 1000, 1000, 500, 500, 0, 1, 0 },
		{ "the first of the pattern", 1000, 1000, 12, 12, 0, 1, 0 },
		{ "the last octet", 1000, 1000, 999, 999, 0, 1, 0 },
		{ "the last of 8 octets", 64, 64, 63, 63, 0, 1, 0 },
		{ "cut by one", 1000, 999, BUF_MAX, 999, 1, 0, 0 },
		{ "cut to the number", 1000, 8, BUF_MAX, 8, 1, 0, 0 },
		{ "longer by one", 1000, 1001, BUF_MAX, 1000, 1, 0, 0 },
		{ "no number", 1000, 7, BUF_MAX, 0, 0, 0, 1 },
		{ "a number out of all bounds", 1000, 1000, 0, 0, 0, 0, 1 },
	};
	uint8_t *buf = message[0];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct faults f = { 0 };

		payload_init(buf, rows[i].size);
		payload_stamp(buf, rows[i].size, 77);
		ok(payload_ok(buf, rows[i].size, 77), "%s: whole",
		   rows[i].name);
		if (rows[i].flip < BUF_MAX)
			buf[rows[i].flip] ^= 1;
		/* 8 octets alone do not say that there were more */
		ok(rows[i].len == SIZE_MIN || !payload_ok(buf, rows[i].len, 77),
		   "%s: seen", rows[i].name);
		payload_blame(&f, buf, rows[i].len, rows[i].size);
		is_int(f.length, rows[i].length, "%s: length", rows[i].name);
		is_int(f.octet, rows[i].octet, "%s: octet", rows[i].name);
		is_int(f.foreign, rows[i].foreign, "%s: foreign", rows[i].name);
		is_int(f.at, rows[i].at, "%s: where", rows[i].name);
	}
}

int cmd_selftest(const struct options *o)
{
	(void)o;
	test_buckets();
	fill();
	test_percentiles();
	test_merge();
	test_payload();
	return done();
}

int cmd_merge(const struct options *o)
{
	static char line[1 << 20];
	static struct hist h;
	unsigned runs = 0;

	while (fgets(line, sizeof(line), stdin)) {
		const char *s = strstr(line, "\"hist\":\"");

		if (!s)
			continue;
		if (!hist_parse(&h, s + 8))
			fail("line %u has a histogram that is none", runs + 1);
		runs++;
	}
	printf("{\"runs\":%u", runs);
	hist_json(&h, stdout);
	if (o->hist) {
		printf(",\"hist\":\"");
		hist_print(&h, stdout);
		putchar('"');
	}
	puts("}");
	return !runs;
}
