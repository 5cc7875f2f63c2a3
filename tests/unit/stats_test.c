/* stats_test.c - the line of JSON: every key once, sums, short buffers */

#include "check.h"
#include "stats.h"

static char text[8192];

static void test_keys(void)
{
	static const char *const key[] = {
#define ROW(name, json) "\"" json "\":",
		STATS_COUNTERS(ROW) STATS_DROPS(ROW)
	};
	struct stats s = { 0 };
	size_t len = stats_json(&s, NULL, 0, text, sizeof(text));

	is_int(len, strlen(text), "length");
	ok(!strncmp(text, "{\"tap_rx_frames\":0,", 19), "begins");
	ok(strstr(text, "},\"drops_total\":0}") == text + len - 18, "ends");
	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		const char *at = strstr(text, key[i]);

		ok(at && !strstr(at + 1, key[i]), "%s is there once", key[i]);
	}
}

static void test_values(void)
{
	static const struct stats_gauge gauge[] = {
		{ "maps", 7 }, { "kernel_drops", UINT64_MAX }
	};
	struct stats s = { 0 };

	stats_add(&s, TAP_RX_FRAMES, 3);
	stats_add(&s, TAP_RX_FRAMES, 4);
	stats_add(&s, DROP_SHORT, 1);
	stats_add(&s, DROP_TAP_ERROR, UINT32_MAX);
	stats_json(&s, gauge, 2, text, sizeof(text));
	ok(strstr(text, "{\"tap_rx_frames\":7,"), "added up");
	ok(strstr(text, ",\"drops\":{\"short_frame\":1,"), "first drop");
	ok(strstr(text, ",\"tap_write_error\":4294967295},"), "last drop");
	ok(strstr(text, "\"drops_total\":4294967296,\"maps\":7,"
			"\"kernel_drops\":18446744073709551615}"),
	   "sum and gauges");
	ok(!strpbrk(text, " \n"), "one line without spaces");
}

static void test_short(void)
{
	char part[4096];
	struct stats s = { 0 };
	size_t full = stats_json(&s, NULL, 0, text, sizeof(text));
	int bad = 0;

	is_int(stats_json(&s, NULL, 0, NULL, 0), full, "only the size");
	for (size_t size = 1; size <= full + 1 && full < 4000; size++) {
		memset(part, 'x', sizeof(part));
		bad += stats_json(&s, NULL, 0, part, size) != full ||
		       strlen(part) != size - 1 ||
		       memcmp(part, text, size - 1) != 0 || part[size] != 'x';
	}
	is_int(bad, 0, "cut short at every size, terminated, not overrun");
}

int main(void)
{
	test_keys();
	test_values();
	test_short();
	return done();
}
