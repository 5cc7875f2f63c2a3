/* tcp_host.c - bytes of TCP connections towards the host
 *
 * What the guest sends is written to the socket at once. Three rules keep that
 * honest and fast (doc/kernel.md has what they rest on):
 *
 * The guest is offered what the socket can take, seven eighths of the room in
 * its send buffer, since a segment that does not fit would have to be dropped.
 * Should a write be cut short all the same, the rest is kept: nothing inside
 * the window is lost.
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

#define STEP_MAX 16384 /* a window that opens by this is worth a segment */

/* Told once, when it matters first: with the kernel's count of acknowledged
 * bytes, and if the guest opened the connection or its way is short */
static void ask(struct tcp_conn *c, const struct stream_info *info)
{
	bool is_near = c->flags & TCP_BY_GUEST || info->min_rtt_us < TCP_NEAR_US;

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
	tcp_conn_wait(t, c, true);
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

int tcp_host_ready(struct tcp *t, struct tcp_conn *c)
{
	while (!rest_is_empty(&c->rest)) {
		struct iovec iov = rest_first(&t->rests, &c->rest);
		ssize_t n = stream_send(c->watch.fd, &iov, 1);

		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		rest_drop(&t->rests, &c->rest, (uint32_t)n);
	}
	if (c->tcb.flags & TCB_FIN_RCVD)
		shut(c);
	return 0;
}

void tcp_host_fin(struct tcp_conn *c)
{
	shut(c);
}

/* Of a connection that we opened the kernel counts the SYN, too. */
static uint32_t acked_by(const struct tcp_conn *c,
			 const struct stream_info *info)
{
	uint32_t n = (uint32_t)info->acked;

	return c->start + n - !!(c->flags & TCP_BY_GUEST);
}

/* How far the guest may be acknowledged, and when to look again */
static uint32_t acked(struct tcp *t, struct tcp_conn *c)
{
	struct tcb *b = &c->tcb;
	struct stream_info info;
	uint32_t ack = b->rcv_nxt;
	bool is_asked = !(c->flags & TCP_ASKED) || c->flags & TCP_HONEST;

	if (is_asked && !(b->flags & TCB_FIN_RCVD) && b->rcv_ack != ack &&
	    stream_info(c->watch.fd, &info)) {
		if (!(c->flags & TCP_ASKED))
			ask(c, &info);
		if (c->flags & TCP_HONEST)
			ack = acked_by(c, &info);
	}
	if ((int32_t)(ack - b->rcv_nxt) >= 0) {
		c->look_ms = TCB_NEVER;
		return b->rcv_nxt;
	}
	if (ack != b->rcv_ack || c->look_ms == TCB_NEVER)
		c->wait_ms = TCP_ACK_MS;
	else if (c->look_ms <= t->loop->now_ms && c->wait_ms < TCP_ACK_MAX_MS)
		c->wait_ms *= 2;
	c->look_ms = t->loop->now_ms + c->wait_ms;
	return ack;
}

bool tcp_host_offer(struct tcp *t, struct tcp_conn *c)
{
	struct tcb *b = &c->tcb;
	uint32_t left = b->rcv_edge - b->rcv_nxt, ack = acked(t, c), room;
	struct stream_room r;
	bool is_news;

	/* To ask costs as much as to send: only when half of it is used up */
	if ((c->offered && left > c->offered / 2) || b->flags & TCB_FIN_RCVD)
		return tcb_offer(b, ack, left, 0);
	if (!rest_is_empty(&c->rest)) /* closed until that is gone */
		return tcb_offer(b, ack, 0, 0);
	r = stream_room(c->watch.fd);
	room = r.queued < r.size ? (r.size - r.queued) / 8 * 7 : 0;
	/* Waiting for room is what makes the buffer grow. Where the kernel still
	 * calls it writable, at two thirds, waiting would end at once. */
	if (r.queued > r.size / 3 * 2)
		tcp_conn_wait(t, c, true);
	is_news = tcb_offer(b, ack, room,
			    r.size / 4 < STEP_MAX ? r.size / 4 : STEP_MAX);
	c->offered = b->rcv_edge - b->rcv_nxt;
	return is_news;
}
