/* lru.c - doubly linked lists of table entries, by number
 *
 * A table that never refuses a newcomer must know whom to drop, and a table
 * with idle times must know who is due, both without walking. Lists in the
 * order of last use answer both at their oldest end.
 *
 * Links are numbers, not pointers, so a node takes 12 bytes, and they are
 * stored plus one, so that zero-filled memory is an empty list. A list is only
 * as exact as the clock's second: an entry used twice in one second stays where
 * it is, which makes the cost of a busy flow one comparison.
 *
 * The table owns its entries; nothing here knows whether a number is in use,
 * or in which of several lists it is. */

#include "lru.h"

static struct lru_node *node(const struct lru_table *t, uint32_t i)
{
	void *p = (uint8_t *)t->base + (uint64_t)i * t->stride;

	return p;
}

void lru_add(const struct lru_table *t, struct lru *l, uint32_t i,
	     uint32_t now_s)
{
	struct lru_node *n = node(t, i);

	n->prev = l->newest;
	n->next = 0;
	n->used = now_s;
	if (l->newest)
		node(t, l->newest - 1)->next = i + 1;
	else
		l->oldest = i + 1;
	l->newest = i + 1;
	l->n++;
}

void lru_del(const struct lru_table *t, struct lru *l, uint32_t i)
{
	struct lru_node *n = node(t, i);

	if (n->prev)
		node(t, n->prev - 1)->next = n->next;
	else
		l->oldest = n->next;
	if (n->next)
		node(t, n->next - 1)->prev = n->prev;
	else
		l->newest = n->prev;
	n->prev = 0;
	n->next = 0;
	l->n--;
}

void lru_touch(const struct lru_table *t, struct lru *l, uint32_t i,
	       uint32_t now_s, bool is_exact)
{
	if (node(t, i)->used == now_s && (!is_exact || l->newest == i + 1))
		return;
	lru_del(t, l, i);
	lru_add(t, l, i, now_s);
}

uint32_t lru_oldest(const struct lru *l)
{
	return l->oldest ? l->oldest - 1 : LRU_NONE;
}

uint32_t lru_victim(const struct lru *lists, unsigned n)
{
	const struct lru *old = &lists[n - 1], *new = old - 1, *l;

	for (l = lists; l < new; l++) {
		if (l->n)
			return lru_oldest(l);
	}
	return lru_oldest(new->n &&new->n >= old->n / 3 ? new : old);
}

uint32_t lru_used(const struct lru_table *t, uint32_t i)
{
	return node(t, i)->used;
}
