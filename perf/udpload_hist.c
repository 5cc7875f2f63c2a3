/* udpload_hist.c - a histogram of times with buckets that grow with the value
 *
 * Sorting all samples is exact but cannot be added up over runs, and a million
 * of them has to be kept. Here values below 64 ns have a bucket each, and from
 * there on every doubling is cut in 64: a bucket is at most 1/64 of its value
 * wide and its middle at most 0.8 % off. That is far below the noise of any
 * time measured here. Counting is a shift and an increment.
 *
 * The text form lists buckets by number: those of two runs are added number by
 * number, by hist_parse() or by any script. */

#include "udpload_hist.h"

#include <inttypes.h>
#include <stdlib.h>

#define SUB (1u << HIST_SUB_BITS)

unsigned hist_index(uint64_t ns)
{
	unsigned shift;

	if (ns < SUB)
		return (unsigned)ns;
	if (ns >> HIST_TOP_BITS)
		return HIST_BUCKETS - 1;
	shift = 63 - (unsigned)__builtin_clzll(ns) - HIST_SUB_BITS;
	return (shift << HIST_SUB_BITS) + (unsigned)(ns >> shift);
}

uint64_t hist_low(unsigned i)
{
	unsigned shift = i < 2 * SUB ? 0 : (i >> HIST_SUB_BITS) - 1;

	return (uint64_t)(i - (shift << HIST_SUB_BITS)) << shift;
}

void hist_add(struct hist *h, uint64_t ns)
{
	h->bucket[hist_index(ns)]++;
	if (!h->n++ || ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->sum += ns;
}

void hist_merge(struct hist *h, const struct hist *from)
{
	if (!from->n)
		return;
	if (!h->n || from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
	h->n += from->n;
	h->sum += from->sum;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		h->bucket[i] += from->bucket[i];
}

static uint64_t clamp(const struct hist *h, uint64_t ns)
{
	if (ns < h->min)
		return h->min;
	return ns > h->max ? h->max : ns;
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	double exact = p * (double)h->n;
	uint64_t rank = (uint64_t)exact, below = 0;

	if (!h->n)
		return 0;
	if ((double)rank < exact || !rank)
		rank++;
	if (rank >= h->n)
		return h->max;
	for (unsigned i = 0; i < HIST_BUCKETS - 1; i++) {
		below += h->bucket[i];
		if (below >= rank)
			return clamp(h,
				     (hist_low(i) + hist_low(i + 1) - 1) / 2);
	}
	return h->max;
}

double hist_mean(const struct hist *h)
{
	return h->n ? (double)h->sum / (double)h->n : 0;
}

void hist_print(const struct hist *h, FILE *out)
{
	fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64, h->min, h->max,
		h->sum);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (h->bucket[i])
			fprintf(out, " %u:%" PRIu64, i, h->bucket[i]);
	}
}

/* Takes a number and the character behind it */
static bool take(const char **s, uint64_t *ret)
{
	char *end;
	uint64_t v = strtoull(*s, &end, 10);

	if (end == *s)
		return false;
	*s = *end == ':' ? end + 1 : end;
	*ret = v;
	return true;
}

bool hist_parse(struct hist *h, const char *s)
{
	static struct hist one;
	uint64_t i, count;

	one = (struct hist){ 0 };
	if (!take(&s, &one.min) || !take(&s, &one.max) || !take(&s, &one.sum))
		return false;
	while (take(&s, &i)) {
		if (i >= HIST_BUCKETS || !take(&s, &count))
			return false;
		one.bucket[i] += count;
		one.n += count;
	}
	hist_merge(h, &one);
	return true;
}

void hist_json(const struct hist *h, FILE *out)
{
	static const struct {
		const char *name;
		double p;
	} rows[] = {
		{ "p50_us", .5 },    { "p90_us", .9 }, { "p99_us", .99 },
		{ "p999_us", .999 }, { "max_us", 1 },
	};

	fprintf(out, ",\"samples\":%" PRIu64 ",\"min_us\":%.3f", h->n,
		(double)h->min / 1e3);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fprintf(out, ",\"%s\":%.3f", rows[i].name,
			(double)hist_percentile(h, rows[i].p) / 1e3);
	fprintf(out, ",\"mean_samples_us\":%.3f", hist_mean(h) / 1e3);
}
