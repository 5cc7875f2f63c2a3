/* permit.h - which remote addresses a map lets in
 * Knows: addresses that flows of a map have spoken to, counted per flow.
 * Does not know: what a map or a flow is beyond its number; when to ask.
 * Source: RFC 4787 REQ-8 (address-dependent filtering).
 *
 * Zero-filled memory with a key is a valid empty table. */

#ifndef PERMIT_H
#define PERMIT_H

#include "addr.h"
#include "hash.h"
#include "limits.h"

#define PERMIT_BUCKETS 65536

/** struct permit - a remote address that a map has spoken to
 * @n: flows that say so      @chain: private to permit.c */
struct permit {
	struct addr addr;
	uint32_t map;
	uint32_t n;
	uint32_t chain;
};

/** struct permit_table - all permits; one flow holds one at most
 * @high: entries ever used      @free: entry + 1 to be used again */
struct permit_table {
	struct hash_key key;
	uint32_t high;
	uint32_t free;
	uint32_t bucket[PERMIT_BUCKETS];
	struct permit permit[FLOW_MAX];
};

/** permit_add() / permit_del() - a flow of map @map to @addr began or ended */
void permit_add(struct permit_table *t, uint32_t map, const struct addr *addr);
void permit_del(struct permit_table *t, uint32_t map, const struct addr *addr);

/** permit_has() - is there a flow of map @map to @addr? */
bool permit_has(const struct permit_table *t, uint32_t map,
		const struct addr *addr);

#endif
