/* tcb.h - one TCP connection as the guest's kernel sees it: pure
 * Knows: sequence numbers, windows, acknowledgements, retransmission.
 * Does not know: sockets, frames; where bytes are kept. Time is an argument.
 * Sources: RFC 9293 (3.3.1, 3.5, 3.8, 3.10), 5961 (3.2, 4.2, 5.2), 6298, 6582,
 * 7323 (2).
 *
 * We are one end of a connection over the guest's link. Bytes for the guest lie
 * in a host socket until it acknowledged them; bytes of the guest go into that
 * socket before we acknowledge them. What must be sent again is read again.
 *
 * Zero-filled memory is a connection that does not exist. */

#ifndef TCB_H
#define TCB_H

#include "limits.h"
#include "pkt.h"

#define TCB_NEVER INT64_MAX

/** seq_before() - in the circle of sequence numbers, RFC 9293 3.4 */
static inline bool seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/** enum tcb_state - of RFC 9293's, those that lead to an open connection; how
 * it closes are flags, one pair for each direction
 * CONNECTING: the guest's SYN waits for an answer from elsewhere
 * SYN_SENT, SYN_RCVD: as there, our SYN is under way    OPEN: synchronized */
enum tcb_state {
	TCB_NONE,
	TCB_CONNECTING,
	TCB_SYN_SENT,
	TCB_SYN_RCVD,
	TCB_OPEN
};

/** enum tcb_flag
 * FIN_SENT, FIN_ACKED: ours, and so all that we sent
 * FIN_RCVD: the guest's, and all before it, has been taken
 * ACK_NOW:  a segment is due, with payload or without, to tell what tcb_offer()
 *           renewed, or what the guest seems not to know
 * STALLED:  there is more for the guest than its window takes */
enum tcb_flag {
	TCB_FIN_SENT = 1,
	TCB_FIN_ACKED = 2,
	TCB_FIN_RCVD = 4,
	TCB_ACK_NOW = 8,
	TCB_STALLED = 16
};

/** enum tcb_do - what a segment asks for, besides taking its payload
 * OPENED: the connection stands      ACKED: @acked bytes may be forgotten
 * PULL:   more may be sent than before
 * FIN:    the guest's FIN follows the payload that is taken
 * RESEND: one super-frame from the first byte not acknowledged
 * RESET:  the guest gave the connection up
 * REFUSE: it belongs to no connection: tcb_refuse() */
enum tcb_do {
	TCB_DO_OPENED = 1,
	TCB_DO_ACKED = 2,
	TCB_DO_PULL = 4,
	TCB_DO_FIN = 8,
	TCB_DO_RESEND = 16,
	TCB_DO_RESET = 32,
	TCB_DO_REFUSE = 64
};

/** struct tcb_in - @todo: enum tcb_do     @acked: bytes, SYN and FIN not counted
 * @skip, @take: part of the payload that comes next, @take 0: none
 * @ahead: instead, what its first bytes are that the window has room for, with
 *         a gap before them */
struct tcb_in {
	unsigned todo;
	uint32_t acked;
	uint32_t skip, take, ahead;
};

/** struct tcb - transmission control block
 * @snd_una: first not acknowledged    @snd_nxt: next to send
 * @snd_max: one behind the highest ever sent
 * @snd_wnd: what the guest offers from @snd_wl2 on, told by @snd_wl1
 * @max_wnd: the largest it ever offered
 * @recover: end of what was out when a loss was noticed, while @is_lossy
 * @is_fast: it was noticed by duplicates, and each partial acknowledgement
 *           tells of another one
 * @rcv_nxt: next expected             @rcv_ack: acknowledged to the guest
 * @rcv_edge: one behind what the guest may send
 * @timed: its acknowledgement is being timed since @timed_ms, if @is_timed
 * @srtt_ms8, @rttvar_ms4: times 8 and 4, RFC 6298 2; 0 not measured
 * @rto_ms: time-out now               @due_ms: its end, TCB_NEVER none
 * @mss: bytes of a segment to the guest    @link_mss: what its link takes
 * @snd_scale, @rcv_scale: of windows in segments from and to it
 * @dup_acks, @tries: in a row; since the guest last acknowledged anything
 * @is_probing: a small piece may be sent, to learn of the window */
struct tcb {
	uint32_t snd_una, snd_nxt, snd_max;
	uint32_t snd_wnd, snd_wl1, snd_wl2, max_wnd;
	uint32_t recover;
	uint32_t rcv_nxt, rcv_ack, rcv_edge;
	uint32_t timed, srtt_ms8, rttvar_ms4, rto_ms;
	int64_t timed_ms, due_ms;
	uint16_t mss, link_mss;
	uint8_t snd_scale, rcv_scale;
	uint8_t state, flags;
	uint8_t dup_acks, tries;
	bool is_lossy, is_fast, is_timed, is_probing;
};

/** tcb_connect() - begin by our SYN: SYN_SENT; @mss_max: the link's */
void tcb_connect(struct tcb *t, uint32_t iss, uint16_t mss_max);

/** tcb_accept() - begin by the guest's SYN: CONNECTING, until tcb_answer()
 * @syn: has TCP_SYN and not TCP_ACK      @mss_max: largest MSS of the link */
void tcb_accept(struct tcb *t, const struct pkt_tcp *syn, uint32_t iss,
		uint16_t mss_max);

/** tcb_answer() - the guest's SYN may be answered now: SYN_RCVD */
void tcb_answer(struct tcb *t);

/** tcb_input() - take in a segment of the guest
 * @len: bytes of payload */
struct tcb_in tcb_input(struct tcb *t, const struct pkt_tcp *seg, uint32_t len,
			int64_t now_ms);

/** tcb_refuse() - the RST that answers a segment of no connection, RFC 9293
 * 3.10.7.1; false if it must not be answered */
bool tcb_refuse(const struct pkt_tcp *seg, uint32_t len,
		struct pkt_tcp *ret_rst);

/** tcb_took() - @n bytes at @rcv_nxt are safe; @fin: and all before its FIN */
void tcb_took(struct tcb *t, uint32_t n, bool fin);

/**
 * tcb_offer() - renew window and acknowledgement
 * @ack:  acknowledge up to here; not beyond @rcv_nxt, and never back
 * @room: bytes that can be taken from @rcv_nxt on; the edge never moves back
 * @step: nor forward by less than this, RFC 9293 3.8.6.2.2
 * Returns: should a segment tell the guest, even one without payload? True
 * until one did: tcb_header()
 */
bool tcb_offer(struct tcb *t, uint32_t ack, uint32_t room, uint32_t step);

/** tcb_header() - header of a segment from @seq on; @flags: TCP_FIN, TCP_PSH,
 * TCP_RST besides what the state demands. It tells what tcb_offer() said. */
struct pkt_tcp tcb_header(struct tcb *t, uint32_t seq, uint8_t flags);

/** tcb_seq() - number of a segment without payload: behind all that was sent,
 * where the guest takes it, even while some of that is sent again */
uint32_t tcb_seq(const struct tcb *t);

/** tcb_room() - bytes from @snd_nxt on that may be sent now; 0 also where a
 * small piece would be silly, RFC 9293 3.8.6.2.1 */
uint32_t tcb_room(const struct tcb *t);

/** tcb_sent() - @n bytes from @snd_nxt on were sent, then @fin; SYN likewise by
 * @n 0, before the connection is open */
void tcb_sent(struct tcb *t, uint32_t n, bool fin, int64_t now_ms);

/** tcb_stall() - there is more, but no room: look again after a while */
void tcb_stall(struct tcb *t, int64_t now_ms);

/**
 * tcb_timeout() - @due_ms has passed: back to the first byte not acknowledged,
 * and a longer time-out
 * Returns: false if the guest did not answer for too long
 */
bool tcb_timeout(struct tcb *t, int64_t now_ms);

/** tcb_is_over() - both directions have ended and been acknowledged */
bool tcb_is_over(const struct tcb *t);

#endif
