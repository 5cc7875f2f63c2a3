/* heap.c - many deadlines, the earliest first
 *
 * Connections by the ten thousand each have a time at which something is due,
 * and it moves with nearly every segment. Their owners set a deadline only when
 * it comes nearer: one that moved away is found at the old time, and set anew.
 * So a heap is enough, and what a segment costs does not grow with their
 * number. */

#include "heap.h"

static void put(struct heap *h, uint32_t at, struct heap_node node)
{
	h->node[at] = node;
	h->place[node.i] = at + 1;
}

/* Move @node from the free index @at towards the root until it fits. */
static void rise(struct heap *h, uint32_t at, struct heap_node node)
{
	while (at) {
		uint32_t up = (at - 1) / 2;

		if (h->node[up].at_ms <= node.at_ms)
			break;
		put(h, at, h->node[up]);
		at = up;
	}
	put(h, at, node);
}

static void sink(struct heap *h, uint32_t at, struct heap_node node)
{
	for (;;) {
		uint32_t down = 2 * at + 1;

		if (down >= h->n)
			break;
		if (down + 1 < h->n &&
		    h->node[down + 1].at_ms < h->node[down].at_ms)
			down++;
		if (h->node[down].at_ms >= node.at_ms)
			break;
		put(h, at, h->node[down]);
		at = down;
	}
	put(h, at, node);
}

static void place(struct heap *h, uint32_t at, struct heap_node node)
{
	if (at && h->node[(at - 1) / 2].at_ms > node.at_ms)
		rise(h, at, node);
	else
		sink(h, at, node);
}

static void take_out(struct heap *h, uint32_t i)
{
	uint32_t at = h->place[i] - 1;
	struct heap_node last = h->node[--h->n];

	h->place[i] = 0;
	if (last.i != i)
		place(h, at, last);
}

void heap_set(struct heap *h, uint32_t i, int64_t at_ms)
{
	struct heap_node node = { .at_ms = at_ms, .i = i };

	if (at_ms != HEAP_NEVER && h->place[i])
		place(h, h->place[i] - 1, node);
	else if (at_ms != HEAP_NEVER)
		rise(h, h->n++, node);
	else if (h->place[i])
		take_out(h, i);
}

int64_t heap_at(const struct heap *h, uint32_t i)
{
	return h->place[i] ? h->node[h->place[i] - 1].at_ms : HEAP_NEVER;
}

int64_t heap_next_ms(const struct heap *h)
{
	return h->n ? h->node[0].at_ms : HEAP_NEVER;
}

uint32_t heap_first(const struct heap *h)
{
	return h->node[0].i;
}
