/* frag.c - reassembly of datagrams from their fragments
 *
 * The guest's kernel fragments what exceeds its route's MTU, so this is an
 * ordinary path, not a museum piece. Fragments may come in any order. Each
 * datagram has a buffer of full size and a bit per 8-byte block, the unit that
 * offsets are counted in: a fragment is copied to its place, its bits are set,
 * and the datagram is complete once its end is known and no bit is missing.
 *
 * The bits also tell an overlap. Overlapping fragments are how filters are
 * fooled, so the whole datagram is given up (RFC 5722, RFC 8200 4.5); so it is
 * when fragments disagree about the end. An exact copy is no overlap: networks
 * duplicate (RFC 8200 allows to ignore it).
 *
 * The lowest free buffer is always taken, so a guest that sends one datagram at
 * a time costs one buffer of memory; what identifies a datagram lies apart from
 * the bytes, so that a search stays inside few pages.
 *
 * Nobody is told of a datagram that times out (RFC 792 code 1 would be owed to
 * the guest): its sender is the guest itself. */

#include "frag.h"

#include <string.h>

#define BLOCK 8 /* bytes */

/* 8-byte blocks that @bytes touch */
static uint32_t blocks(uint32_t bytes)
{
	return (bytes + BLOCK - 1) / BLOCK;
}

/* Number of bits set in @have from @first to before @end; @set sets them all */
static uint32_t count_bits(uint8_t *have, uint32_t first, uint32_t end,
			   bool set)
{
	uint32_t n = 0, stop, mask;

	for (; first < end; first = stop) {
		stop = (first | 7) + 1;
		if (stop > end)
			stop = end;
		mask = ((1u << (stop - first)) - 1) << (first & 7);
		n += (uint32_t)__builtin_popcount(have[first / 8] & mask);
		if (set)
			have[first / 8] |= (uint8_t)mask;
	}
	return n;
}

/* RFC 791 3.2 identifies by protocol too; RFC 8200 4.5 does not, since later
 * fragments may name another next header */
static bool is_same(const struct frag_slot *s, const struct pkt *p)
{
	return s->used && s->id == p->frag.id &&
	       addr_eq(&s->src, &p->src.addr) &&
	       addr_eq(&s->dst, &p->dst.addr) &&
	       (!addr_is_v4(&s->src) || s->proto == p->proto);
}

/* Oldest datagram of a source, NULL for all sources; FRAG_MAX if none */
static uint32_t oldest(const struct frag *fr, const struct addr *src,
		       uint32_t *ret_n)
{
	uint32_t best = FRAG_MAX, n = 0;

	for (uint32_t i = 0; i < FRAG_MAX; i++) {
		const struct frag_slot *s = &fr->slot[i];

		if (!s->used || (src && !addr_eq(&s->src, src)))
			continue;
		n++;
		if (best == FRAG_MAX ||
		    s->started_ms < fr->slot[best].started_ms)
			best = i;
	}
	*ret_n = n;
	return best;
}

/* Who has to go for a newcomer of @src; FRAG_MAX if nobody */
static uint32_t victim(const struct frag *fr, const struct addr *src)
{
	uint32_t n, i = oldest(fr, src, &n);

	if (n >= FRAG_PER_SOURCE)
		return i;
	i = oldest(fr, NULL, &n);
	return n == FRAG_MAX ? i : FRAG_MAX;
}

/* A datagram that was given up already is not counted once more */
static unsigned give_up(struct frag_slot *s)
{
	s->used = false;
	return !s->is_bad;
}

/* A free slot, made free if it must be */
static uint32_t make_room(struct frag *fr, const struct addr *src,
			  unsigned *ret_evicted)
{
	uint32_t i = victim(fr, src);

	if (i < FRAG_MAX) {
		*ret_evicted += give_up(&fr->slot[i]);
	}
	for (i = 0; fr->slot[i].used; i++)
		;
	return i;
}

static uint32_t find(const struct frag *fr, const struct pkt *p)
{
	uint32_t i = 0;

	while (i < FRAG_MAX && !is_same(&fr->slot[i], p))
		i++;
	return i;
}

static uint32_t find_or_start(struct frag *fr, const struct pkt *p,
			      int64_t now_ms, unsigned *ret_evicted)
{
	uint32_t i = find(fr, p);

	if (i < FRAG_MAX)
		return i;

	i = make_room(fr, &p->src.addr, ret_evicted);
	memset(fr->have[i], 0, sizeof(fr->have[i]));
	fr->slot[i] = (struct frag_slot){
		.src = p->src.addr,
		.dst = p->dst.addr,
		.id = p->frag.id,
		.proto = p->proto,
		.mark = p->body.mark,
		.started_ms = now_ms,
		.used = true,
	};
	return i;
}

/* No two fragments may differ about where the datagram ends */
static bool is_end_agreed(const struct frag_slot *s, uint8_t *have,
			  uint32_t end, bool more)
{
	if (s->total)
		return more ? end < s->total : end == s->total;
	/* The first one to tell the end: nothing may lie behind it yet */
	return more || count_bits(have, 0, blocks(end), false) == s->n_have;
}

/* Put a fragment in its place; false if it contradicts an earlier one */
static bool place(struct frag *fr, uint32_t i, const struct pkt *p)
{
	uint32_t off = p->frag.off, len = p->body.len;
	uint32_t first = off / BLOCK, end = blocks(off + len);
	struct frag_slot *s = &fr->slot[i];
	uint32_t n;

	if (!is_end_agreed(s, fr->have[i], off + len, p->frag.more))
		return false;

	n = count_bits(fr->have[i], first, end, true);
	if (n)
		return n == end - first &&
		       !memcmp(fr->data[i] + off, p->body.buf, len);

	memcpy(fr->data[i] + off, p->body.buf, len);
	s->n_have += end - first;
	if (!p->frag.more)
		s->total = off + len;
	if (!off) {
		s->proto = p->proto;
		s->mark = p->body.mark;
	}
	return true;
}

static bool is_well_formed(const struct pkt *p)
{
	uint32_t len = p->body.len;

	if (!len || p->frag.off % BLOCK || (p->frag.more && len % BLOCK))
		return false;
	return p->frag.off <= DGRAM_MAX && len <= DGRAM_MAX - p->frag.off;
}

enum frag_what frag_add(struct frag *fr, const struct pkt *p, int64_t now_ms,
			struct pkt *ret_pkt, unsigned *ret_evicted)
{
	struct frag_slot *s;
	uint32_t i;

	if (!is_well_formed(p))
		return FRAG_BAD;

	i = find_or_start(fr, p, now_ms, ret_evicted);
	s = &fr->slot[i];
	if (s->is_bad)
		return FRAG_WAIT;
	if (!place(fr, i, p)) {
		s->is_bad = true;
		return FRAG_OVERLAP;
	}
	if (!s->total || s->n_have != blocks(s->total))
		return FRAG_WAIT;

	s->used = false;
	*ret_pkt = (struct pkt){
		.src = p->src,
		.dst = p->dst,
		.src_mac = p->src_mac,
		.proto = s->proto,
		.body = { fr->data[i], s->total, 0, s->mark },
	};
	return FRAG_DONE;
}

unsigned frag_expire(struct frag *fr, int64_t now_ms)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < FRAG_MAX; i++) {
		struct frag_slot *s = &fr->slot[i];

		if (!s->used || now_ms - s->started_ms < FRAG_IDLE_MS)
			continue;
		n += give_up(s);
	}
	return n;
}

int64_t frag_next_deadline(const struct frag *fr)
{
	uint32_t n, i = oldest(fr, NULL, &n);

	return n ? fr->slot[i].started_ms + FRAG_IDLE_MS : INT64_MAX;
}
