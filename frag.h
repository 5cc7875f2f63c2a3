/* frag.h - reassembly of what the guest's kernel had to fragment
 * Knows: RFC 791 3.2, RFC 8200 4.5, RFC 5722 (no overlaps), RFC 1858, RFC 6946.
 * Does not know: who sends, where it goes. Time is passed in.
 *
 * Memory is bounded: FRAG_MAX datagrams, FRAG_PER_SOURCE of one source. A new
 * datagram evicts the oldest of its own source at the limit, else the oldest of
 * all. Zero-filled memory is a valid empty state. */

#ifndef FRAG_H
#define FRAG_H

#include "pkt.h"

/** enum frag_what - what became of a fragment */
enum frag_what {
	FRAG_WAIT, /* kept, or an exact copy of what we have, or of a datagram
		      that was given up; more to come */
	FRAG_DONE, /* the datagram is complete */
	FRAG_BAD, /* malformed: empty, unaligned, beyond 65,535 bytes, and so on */
	FRAG_OVERLAP, /* contradicts an earlier one: all of it is given up, what
			 is still to come as well */
	FRAG_WHAT_COUNT
};

/** struct frag_slot - one datagram under reassembly; private to frag.c
 * @proto: IPv4: part of what identifies it; IPv6: of the fragment at offset 0
 * @n_have: received 8-byte blocks    @total: bytes, 0 until the last one came
 * @mark:  of the fragment at offset 0
 * @is_bad: given up; kept so that the rest is known */
struct frag_slot {
	struct addr src;
	struct addr dst;
	uint32_t id;
	uint32_t n_have;
	uint32_t total;
	struct mark mark;
	int64_t started_ms;
	uint8_t proto;
	uint8_t used;
	bool is_bad;
};

/** struct frag - all reassembly state, about 4 MiB, touched as used
 * @have: one bit per 8-byte block of @data */
struct frag {
	struct frag_slot slot[FRAG_MAX];
	uint8_t have[FRAG_MAX][DGRAM_MAX / 64 + 1];
	uint8_t data[FRAG_MAX][DGRAM_MAX + 1];
};

/**
 * frag_add() - take in one fragment
 * @p: a PKT_FRAGMENT
 * @ret_pkt: on FRAG_DONE the whole: src, dst, proto, mark, and body pointing
 *           into @fr, valid until the next call; pass it to pkt_transport()
 * @ret_evicted: incremented for each other datagram given up to make room,
 *           unless it was before
 */
enum frag_what frag_add(struct frag *fr, const struct pkt *p, int64_t now_ms,
			struct pkt *ret_pkt, unsigned *ret_evicted);

/** frag_expire() - give up what is older than FRAG_IDLE_MS; returns how many
 * datagrams that are, those given up before not counted */
unsigned frag_expire(struct frag *fr, int64_t now_ms);

/** frag_next_deadline() - when frag_expire() has work; INT64_MAX: never */
int64_t frag_next_deadline(const struct frag *fr);

#endif
