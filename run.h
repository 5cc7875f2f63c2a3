/* run.h - equal-sized datagrams of one flow that travel as one buffer
 * Knows: lengths, marks and slices.  Does not know: sockets, frames, flows.
 * Sources: RFC 768; udp(7) UDP_SEGMENT, UDP_GRO; linux/virtio_net.h GSO_UDP_L4.
 *
 * A run is what one segmented send, or one segmented frame, can carry. It is
 * gathered from pieces by reference: nothing here copies payload. */

#ifndef RUN_H
#define RUN_H

#include "limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/** struct mark - what all datagrams of a run have in common in their IP header
 * @tos:  DSCP and ECN (RFC 2474, RFC 3168)   @hops: TTL or hop limit, 0 unknown
 * @df:   "don't fragment" was set            @pad:  zero */
struct mark {
	uint8_t tos;
	uint8_t hops;
	uint8_t df;
	uint8_t pad;
};

/** struct piece - datagrams as one door delivered them
 * @buf:  payload of one or more datagrams end to end; borrowed until the
 *        event handler returns
 * @len:  bytes of all, 0..DGRAM_MAX
 * @seg:  bytes of each datagram, only the last may be shorter; 0: just one
 * @mark: header bits common to all */
struct piece {
	const uint8_t *buf;
	uint32_t len;
	uint32_t seg;
	struct mark mark;
};

/** struct run - 1 to RUN_SEGS_MAX datagrams of one owner in arrival order
 * @slice: pieces of payload, each a whole number of datagrams; borrowed
 * @len:   bytes in all slices
 * @seg:   bytes of each datagram; only the last may be shorter
 * @owner: number of the flow the run belongs to
 * @n_slices: used entries of @slice, 1..RUN_SEGS_MAX
 * @n_segs:   datagrams in the run, 1..RUN_SEGS_MAX (up to 128 if they came as
 *            one piece: the kernel merges that many)
 * @mark:  header bits common to all */
struct run {
	struct iovec slice[RUN_SEGS_MAX];
	uint32_t len;
	uint32_t seg;
	uint32_t owner;
	uint16_t n_slices;
	uint16_t n_segs;
	struct mark mark;
};

/** struct runs - the runs of one round, oldest first
 * @n: used entries of @run, 0..RUNS_MAX */
struct runs {
	struct run run[RUNS_MAX];
	unsigned n;
};

/** mark_eq() - may their datagrams share a run? */
bool mark_eq(const struct mark *a, const struct mark *b);

/** piece_segs() - number of datagrams in a piece, at least 1 */
unsigned piece_segs(const struct piece *p);

/** run_start() - make @ret_run hold just one piece */
void run_start(struct run *ret_run, uint32_t owner, const struct piece *p);

/**
 * run_append() - add a piece at the end, if the result is still a run
 * Returns: false, and @r unchanged, if it must start a new run: other mark,
 * other size, after a shorter datagram, empty, or too many datagrams or bytes
 */
bool run_append(struct run *r, const struct piece *p);

/**
 * runs_add() - append to the owner's last run, or start a new one behind all
 * Returns: false if a new one was needed and none is free: flush, then again.
 * Order within an owner is kept: only its last run may grow.
 */
bool runs_add(struct runs *rs, uint32_t owner, const struct piece *p);

/**
 * run_next() - walk the datagrams of a run one by one
 * @pos:     0 before the first call; advanced
 * @ret_buf: first byte of the datagram    @ret_len: its bytes
 * Returns: false after the last one
 */
bool run_next(const struct run *r, uint32_t *pos, const uint8_t **ret_buf,
	      uint32_t *ret_len);

#endif
