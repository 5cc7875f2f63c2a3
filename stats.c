/* stats.c - counters as one line of JSON
 *
 * Problem: every loss must be explained, so there are many counters, and their
 * names in the program and in the output must not drift apart.
 *
 * Idea: the lists in stats.h make both the enum and the table of keys here, in
 * the same order, so a new counter is one row there and nothing here. The text
 * goes into the caller's buffer; like snprintf() we report what it would have
 * needed.
 *
 * Not here: rates, differences, history. A reader takes two lines and
 * subtracts. Keys are ours and need no escaping. */

#include "stats.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define STATS_KEY(name, key) key,

static const char *const stat_key[] = { STATS_COUNTERS(STATS_KEY)
						STATS_DROPS(STATS_KEY) };

static_assert(sizeof(stat_key) / sizeof(stat_key[0]) == STAT_COUNT,
	      "one key per counter");

/* Text under construction; @len goes on counting past @size */
struct text {
	char *buf;
	size_t size;
	size_t len;
};

static void put_text(struct text *t, const char *s)
{
	for (; *s; s++, t->len++)
		if (t->len + 1 < t->size)
			t->buf[t->len] = *s;
}

static void put(struct text *t, const char *lead, const char *key, uint64_t n)
{
	char number[24];

	snprintf(number, sizeof(number), "\":%" PRIu64, n);
	put_text(t, lead);
	put_text(t, "\"");
	put_text(t, key);
	put_text(t, number);
}

size_t stats_json(const struct stats *s, const struct stats_gauge *gauge,
		  unsigned n, char *buf, size_t size)
{
	struct text t = { .buf = buf, .size = size };
	uint64_t total = 0;

	for (unsigned i = 0; i < STAT_DROPS; i++)
		put(&t, i ? "," : "{", stat_key[i], s->n[i]);

	for (unsigned i = STAT_DROPS; i < STAT_COUNT; i++) {
		put(&t, i == STAT_DROPS ? ",\"drops\":{" : ",", stat_key[i],
		    s->n[i]);
		total += s->n[i];
	}
	put(&t, "},", "drops_total", total);

	for (unsigned i = 0; i < n; i++)
		put(&t, ",", gauge[i].key, gauge[i].value);
	put_text(&t, "}");
	if (size)
		buf[t.len < size ? t.len : size - 1] = '\0';
	return t.len;
}
