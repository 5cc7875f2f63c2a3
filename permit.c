/* permit.c - which remote addresses a map lets in
 *
 * A remote that a map has spoken to may speak to it from any of its ports, and
 * begins a flow of its own when it does. Looking that up must not depend on how
 * many flows the map has, so the addresses are kept apart from flows, in buckets
 * by map and address, with the number of flows that stand for each.
 *
 * One flow holds one permit at most and there is room for as many of both, so
 * the table cannot be full. Entries are taken from a list of freed ones, else
 * from the first one never used, so that memory is touched as it is needed.
 *
 * Whether an address must be in here at all is the caller's policy. */

#include "permit.h"

#include <assert.h>
#include <string.h>

/* Where the chain of a permit begins. */
static uint32_t bucket(const struct permit_table *t, uint32_t map,
		       const struct addr *addr)
{
	uint64_t w[3];

	memcpy(w, addr, sizeof(*addr));
	w[2] = map;
	return (uint32_t)(hash_words(&t->key, w, 3) % PERMIT_BUCKETS);
}

static bool is_for(const struct permit *p, uint32_t map,
		   const struct addr *addr)
{
	return p->map == map && addr_eq(&p->addr, addr);
}

/* Link that points to the permit, or to the 0 at the chain's end. */
static uint32_t *link_to(struct permit_table *t, uint32_t map,
			 const struct addr *addr)
{
	uint32_t *at = &t->bucket[bucket(t, map, addr)];

	while (*at && !is_for(&t->permit[*at - 1], map, addr))
		at = &t->permit[*at - 1].chain;
	return at;
}

static uint32_t take(struct permit_table *t)
{
	uint32_t i = t->free;

	if (!i)
		return ++t->high;
	t->free = t->permit[i - 1].chain;
	return i;
}

void permit_add(struct permit_table *t, uint32_t map, const struct addr *addr)
{
	uint32_t *at = link_to(t, map, addr);

	if (!*at) {
		*at = take(t);
		t->permit[*at - 1] = (struct permit){ .addr = *addr,
						      .map = map };
	}
	t->permit[*at - 1].n++;
}

void permit_del(struct permit_table *t, uint32_t map, const struct addr *addr)
{
	uint32_t *at = link_to(t, map, addr);
	uint32_t i = *at;

	assert(i);
	if (--t->permit[i - 1].n)
		return;
	*at = t->permit[i - 1].chain;
	t->permit[i - 1].chain = t->free;
	t->free = i;
}

bool permit_has(const struct permit_table *t, uint32_t map,
		const struct addr *addr)
{
	uint32_t i = t->bucket[bucket(t, map, addr)];

	while (i) {
		if (is_for(&t->permit[i - 1], map, addr))
			return true;
		i = t->permit[i - 1].chain;
	}
	return false;
}
