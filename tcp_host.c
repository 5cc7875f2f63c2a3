/* tcp_host.c - bytes of TCP connections towards the host
 *
 * What the guest sends is written to the socket at once. Three rules keep that
 * honest and fast (doc/kernel.md has what they rest on):
 *
 * The guest is offered what the socket can take, seven eighths of the room in
 * its send buffer, since a segment that does not fit would have to be dropped.
 * Should a write be cut short all the same, the rest is kept, and so is what
 * comes behind a gap: a sender that has no selective acknowledgement cannot
 * know of it, and sends more of it while it repairs the gap.
 *
 * A send buffer grows only while somebody waits for room in it. So waiting is
 * renewed while it is fuller than two thirds.
 *
 * The guest is told what the remote acknowledged, so that a window that closes
 * there closes here. But a guest that was connected to measured the way to us
 * alone, and would take a long way's acknowledgements for a queue: it is told
 * what the socket took, unless the way is short. */

#include "tcp_host.h"

#include "sock_stream.h"

#include <errno.h>

/* Told once, when it matters first: with the kernel's count of acknowledged
 * bytes, and if the guest opened the connection or its way is short */
static void ask(struct tcp_conn *c, const struct stream_info *info)
{
	bool is_near = c->flags & TCP_BY_GUEST ||
		       info->min_rtt_us < TCP_NEAR_US;

	c->flags |= TCP_ASKED;
	if (info->has_acked && is_near)
		c->flags |= TCP_HONEST;
}

static uint32_t keep(struct tcp *t, struct tcp_conn *c, const uint8_t *buf,
		     uint32_t len)
{
	uint32_t n = rest_add(&t->rests, &c->rest, buf, len);

	stats_add(t->stats, TCP_RESTS, 1);
	if (n < len)
		stats_add(t->stats, DROP_TCP_ROOM, 1);
	return n;
}

int64_t tcp_host_take(struct tcp *t, struct tcp_conn *c, const uint8_t *buf,
		      uint32_t len)
{
	union {
		const uint8_t *in;
		void *out;
	} data = { .in = buf };
	struct iovec iov = { data.out, len };
	ssize_t n = 0;

	if (rest_is_empty(&c->rest))
		n = stream_send(c->watch.fd, &iov, 1);
	if (n == -EAGAIN)
		n = 0;
	if (n < 0 || (uint32_t)n == len)
		return n;
	tcp_conn_wait_room(t, c);
	return n + keep(t, c, buf + n, len - (uint32_t)n);
}

/* Our FIN goes behind all that the guest sent before its own */
static void shut(struct tcp_conn *c)
{
	if (!rest_is_empty(&c->rest) || c->flags & TCP_SHUT)
		return;
	c->flags |= TCP_SHUT;
	stream_shutdown(c->watch.fd);
}

/* Returns: 0 or -errno; not -EAGAIN */
static int send_rest(struct tcp *t, struct tcp_conn *c)
{
	while (!rest_is_empty(&c->rest)) {
		struct iovec iov = rest_first(&t->rests, &c->rest);
		ssize_t n = stream_send(c->watch.fd, &iov, 1);

		if (n == -EAGAIN)
			tcp_conn_wait_room(t, c);
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		rest_drop(&t->rests, &c->rest, (uint32_t)n);
	}
	return 0;
}

int tcp_host_ready(struct tcp *t, struct tcp_conn *c)
{
	int rc;

	c->flags &= (uint16_t)~TCP_WAITS;
	rc = send_rest(t, c);
	if (rc)
		return rc;
	if (c->tcb.flags & TCB_FIN_RCVD)
		shut(c);
	c->offered = TCP_ASK_ANEW;
	return 0;
}

uint32_t tcp_host_keep(struct tcp *t, struct tcp_conn *c, uint32_t seq,
		       const uint8_t *buf, uint32_t len)
{
	uint32_t known, n = 0;

	if (rest_is_empty(&c->ahead))
		c->ahead_seq = c->ahead_end = seq;
	if (seq_before(seq, c->ahead_seq) || seq_before(c->ahead_end, seq))
		return 0;
	known = c->ahead_end - seq;
	if (known >= len)
		return len;
	if (t->rests.n < TCP_AHEAD_BUFS) /* the others are for rests */
		n = rest_add(&t->rests, &c->ahead, buf + known, len - known);
	c->ahead_end += n;
	stats_add(t->stats, TCP_AHEAD, n > 0);
	return known + n;
}

int tcp_host_join(struct tcp *t, struct tcp_conn *c)
{
	struct tcb *b = &c->tcb;
	uint32_t next = b->rcv_nxt;

	if (b->flags & TCB_FIN_RCVD || !seq_before(next, c->ahead_end)) {
		rest_clear(&t->rests, &c->ahead);
		return 0;
	}
	if (seq_before(next, c->ahead_seq))
		return 0;
	rest_drop(&t->rests, &c->ahead, next - c->ahead_seq);
	rest_join(&t->rests, &c->rest, &c->ahead);
	tcb_took(b, c->ahead_end - next, false);
	return send_rest(t, c);
}

void tcp_host_fin(struct tcp_conn *c)
{
	shut(c);
}

/** struct far - what is known of the remote at this moment
 * @ack:  the guest's bytes before it are acknowledged
 * @edge: one behind those it takes, as far as it tells; @has_edge: it does
 * @rtt_ms: round trip, rounded up */
struct far {
	uint32_t ack, edge, rtt_ms;
	bool has_edge;
};

static uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Of a connection that we opened the kernel counts the SYN, too. */
static struct far far_of(struct tcp_conn *c)
{
	struct far f = { .ack = c->tcb.rcv_nxt };
	struct stream_info info;

	if (c->tcb.flags & TCB_FIN_RCVD || !stream_info(c->watch.fd, &info))
		return f;
	if (!(c->flags & TCP_ASKED))
		ask(c, &info);
	if (!(c->flags & TCP_HONEST))
		return f;
	f.rtt_ms = info.rtt_us / 1000 + 1;
	f.ack = c->start + (uint32_t)info.acked - !!(c->flags & TCP_BY_GUEST);
	f.edge = f.ack + info.window;
	f.has_edge = info.has_window;
	if (info.window > c->far_most)
		c->far_most = info.window;
	if (seq_before(c->tcb.rcv_nxt, f.ack))
		f.ack = c->tcb.rcv_nxt;
	return f;
}

/* The kernel does not wake us for what the remote acknowledges. Looks become
 * rarer, but not so much that a round trip looks longer than it is, until the
 * answer is late. */
static void look_later(struct tcp *t, struct tcp_conn *c, const struct far *f,
		       bool has_moved)
{
	int64_t now = t->loop->now_ms, late = c->owed_ms + 2 * f->rtt_ms;
	uint32_t most = now < late ? f->rtt_ms / 4 + 1 : TCP_ACK_MAX_MS;

	if (has_moved || c->look_ms == TCB_NEVER) {
		c->wait_ms = TCP_ACK_MS;
		c->owed_ms = now;
	} else if (c->look_ms <= now) {
		c->wait_ms = min(2 * c->wait_ms, most);
	}
	c->look_ms = now + c->wait_ms;
}

/** struct room - @bytes: that can be taken   @step: worth telling
 * @grows: more will be, without an event */
struct room {
	uint32_t bytes, step;
	bool grows;
};

/* What the send buffer has room for, and the remote. Less than a segment, or
 * half of what there can be, is not worth telling, RFC 9293 3.8.6.2.2. */
static struct room room_for(struct tcp *t, struct tcp_conn *c,
			    const struct far *f)
{
	struct stream_room r = stream_room(c->watch.fd);
	uint32_t free = r.queued < r.size ? (r.size - r.queued) / 8 * 7 : 0;
	uint32_t mss = c->tcb.link_mss, next = c->tcb.rcv_nxt;
	struct room room = { .bytes = free,
			     .step = min(mss, r.size / 4),
			     .grows = r.queued };

	/* Waiting for room is what makes the buffer grow. Where the kernel still
	 * calls it writable, at two thirds, waiting would end at once. */
	if (r.queued > r.size / 3 * 2)
		tcp_conn_wait_room(t, c);
	if (f->has_edge) {
		uint32_t left = seq_before(f->edge, next) ? 0 : f->edge - next;

		room.bytes = min(free, left);
		room.step = min(room.step, (f->edge - f->ack) / 2);
		room.grows |= f->edge - f->ack < c->far_most;
	}
	return room;
}

/* Nobody waits for room for more than half of the largest window, RFC 9293
 * 3.8.6.2.1: less than this, and the guest may wait */
static uint32_t segment_max(const struct tcp_conn *c)
{
	return min(c->tcb.link_mss, c->most / 2);
}

/* What the guest is not told of for too long, it sends again: a remote that
 * takes its time gets the benefit of the doubt. */
static bool is_overdue(const struct tcp *t, const struct tcp_conn *c,
		       const struct far *f)
{
	return c->look_ms != TCB_NEVER &&
	       t->loop->now_ms >= c->owed_ms + f->rtt_ms + TCP_ACK_MAX_MS;
}

void tcp_host_offer(struct tcp *t, struct tcp_conn *c)
{
	struct tcb *b = &c->tcb;
	uint32_t left = b->rcv_edge - b->rcv_nxt;
	uint32_t ack = b->rcv_ack, edge = b->rcv_edge;
	struct room room = { .bytes = left };
	struct far f = { .ack = b->rcv_nxt };
	/* To ask costs as much as to send: while half of it is left, why */
	bool is_low = (left <= c->offered / 2 || left < segment_max(c)) &&
		      !(b->flags & TCB_FIN_RCVD);
	bool is_asked;

	if ((is_low || ack != b->rcv_nxt) &&
	    (c->flags & TCP_HONEST || !(c->flags & TCP_ASKED)))
		f = far_of(c);
	is_asked = is_low || (f.has_edge && f.ack != ack);
	if (is_overdue(t, c, &f))
		f.ack = b->rcv_nxt;
	if (!rest_is_empty(&c->rest))
		room.bytes = 0; /* closed until that is gone */
	else if (is_asked)
		room = room_for(t, c, &f);
	(void)tcb_offer(b, f.ack, room.bytes, room.step);
	left = b->rcv_edge - b->rcv_nxt;
	if (is_asked)
		c->offered = left;
	if (b->rcv_edge - b->rcv_ack > c->most)
		c->most = b->rcv_edge - b->rcv_ack;
	if (b->rcv_ack != b->rcv_nxt || (left < segment_max(c) && room.grows))
		look_later(t, c, &f, ack != b->rcv_ack || edge != b->rcv_edge);
	else
		c->look_ms = TCB_NEVER;
}
