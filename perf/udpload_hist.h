/* udpload_hist.h - a histogram of times with buckets that grow with the value
 * Knows: nanoseconds and counts.  Does not know: what was timed.
 * Every histogram has the same buckets, so those of many runs can be added. */

#ifndef UDPLOAD_HIST_H
#define UDPLOAD_HIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HIST_SUB_BITS 6 /* 64 buckets per doubling: 1.6 % wide at most */
#define HIST_TOP_BITS 40 /* values from 2^40 ns (18 minutes) on are one */
#define HIST_BUCKETS ((HIST_TOP_BITS - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

/** struct hist - @min, @max and @sum are exact, percentiles are not */
struct hist {
	uint64_t n;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint64_t bucket[HIST_BUCKETS];
};

/** hist_index() - bucket of a value, 0..HIST_BUCKETS-1 */
unsigned hist_index(uint64_t ns);

/** hist_low() - lowest value of bucket @i */
uint64_t hist_low(unsigned i);

/** hist_add() - count one value */
void hist_add(struct hist *h, uint64_t ns);

/** hist_merge() - add all of @from to @h */
void hist_merge(struct hist *h, const struct hist *from);

/** hist_percentile() - nearest rank, middle of its bucket; 0 if empty
 * @p: 0..1 */
uint64_t hist_percentile(const struct hist *h, double p);

/** hist_mean() - of the values themselves, ns; 0 if empty */
double hist_mean(const struct hist *h);

/** hist_print() - "MIN MAX SUM INDEX:COUNT ..." without a line's end */
void hist_print(const struct hist *h, FILE *out);

/** hist_parse() - read what hist_print() wrote; adds to @h
 * Returns: false if it is something else; @h then has a part of it */
bool hist_parse(struct hist *h, const char *s);

/** hist_json() - members "min_us" to "mean_samples_us", after a comma */
void hist_json(const struct hist *h, FILE *out);

#endif
