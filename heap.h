/* heap.h - many deadlines, the earliest first
 * Knows: numbers of entries, points in time.
 * Does not know: what an entry is, what happens at its deadline.
 *
 * A binary heap in memory of the owner. An entry is in it once at most, and
 * knows its place, so that it can be moved. Zero-filled memory is a valid empty
 * heap. */

#ifndef HEAP_H
#define HEAP_H

#include <stdint.h>

#define HEAP_NEVER INT64_MAX

/** struct heap_node - @at_ms: deadline     @i: number of the entry */
struct heap_node {
	int64_t at_ms;
	uint32_t i;
	uint32_t pad;
};

/** struct heap - @node: room for every entry    @place: per entry, its index in
 * @node + 1, 0 if it has no deadline; both borrowed    @n: entries in it */
struct heap {
	struct heap_node *node;
	uint32_t *place;
	uint32_t n;
};

/** heap_set() - give entry @i a deadline, or another; HEAP_NEVER: none */
void heap_set(struct heap *h, uint32_t i, int64_t at_ms);

/** heap_at() - deadline of entry @i, HEAP_NEVER if it has none */
int64_t heap_at(const struct heap *h, uint32_t i);

/** heap_next_ms() - the earliest deadline, HEAP_NEVER if there is none */
int64_t heap_next_ms(const struct heap *h);

/** heap_first() - number of the entry with the earliest deadline; only if there
 * is one */
uint32_t heap_first(const struct heap *h);

#endif
