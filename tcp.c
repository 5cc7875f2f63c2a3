/* tcp.c - carries TCP between the guest's link and host sockets
 *
 * Each connection of the guest is one socket of the host. Bytes stay in the
 * buffers of one kernel or the other until the far one has them: nothing is
 * stored here, but for what a socket did not take or came early (rest.h), and
 * nothing is acknowledged that could still be lost here.
 *
 * Frames come in rounds. What each asks for at once is done at once; answers
 * wait until the round is over, so that a train of segments is acknowledged by
 * one. Sockets are edge-triggered: what was peeked stays readable, and would be
 * told again and again. */

#include "tcp.h"

#include "sock_stream.h"
#include "tcp_guest.h"
#include "tcp_host.h"
#include "tcp_open.h"

#include <errno.h>
#include <sys/epoll.h>

#define DSCP 0xfc /* of the TOS byte; the rest is ECN, RFC 3168 */

/* Something is to be done for it when the round is over */
static void touch(struct tcp *t, struct tcp_conn *c)
{
	if (c->flags & TCP_TOUCHED)
		return;
	if (t->n_touched == TAP_FRAMES)
		tcp_flush(t);
	c->flags |= TCP_TOUCHED;
	t->touched[t->n_touched++] = (uint32_t)(c - t->conn);
}

/* Returns: false if it has ended */
static bool settle(struct tcp *t, struct tcp_conn *c)
{
	if (c->tcb.state < TCB_SYN_RCVD) /* nobody to tell yet */
		return true;
	tcp_host_offer(t, c);
	if (c->flags & TCP_PULL && !tcp_guest_pull(t, c))
		return false;
	if (c->tcb.flags & TCB_ACK_NOW) /* and no payload told it */
		(void)tcp_conn_tell(t, c, tcb_seq(&c->tcb), 0);
	if (tcb_is_over(&c->tcb) && rest_is_empty(&c->rest)) {
		tcp_conn_close(t, c);
		return false;
	}
	tcp_conn_arm(t, c);
	return true;
}

void tcp_flush(struct tcp *t)
{
	unsigned i;

	for (i = 0; i < t->n_touched; i++) {
		struct tcp_conn *c = &t->conn[t->touched[i]];

		if (!c->watch.fn) /* ended, or another one by now */
			continue;
		c->flags &= (uint16_t)~TCP_TOUCHED;
		(void)settle(t, c);
	}
	t->n_touched = 0;
}

static void set_tos(struct tcp_conn *c, uint8_t tos)
{
	tos &= DSCP;
	if (c->tos == tos)
		return;
	stream_tos(c->watch.fd, addr_family(&c->visible.addr), tos);
	c->tos = tos;
}

/* A payload that does not come next; bytes that came before are no loss. What
 * is out of order is told at once and each time: three such make the guest send
 * again what is missing, RFC 5681 4.2. That is nothing before rcv_nxt, whatever
 * the remote acknowledged. */
static void set_aside(struct tcp *t, struct tcp_conn *c, const struct pkt *p,
		      uint32_t ahead)
{
	struct tcb *b = &c->tcb;

	if (b->flags & TCB_FIN_RCVD) {
		stats_add(t->stats, DROP_TCP_LATE, 1);
	} else if (seq_before(b->rcv_nxt, p->tcp.seq)) {
		if (tcp_host_keep(t, c, p->tcp.seq, p->body.buf, ahead) <
		    p->body.len)
			stats_add(t->stats, DROP_TCP_ORDER, 1);
		(void)tcb_offer(b, b->rcv_nxt, b->rcv_edge - b->rcv_nxt, 1);
		(void)tcp_conn_tell(t, c, tcb_seq(b), 0);
	}
}

/* Returns: false if the connection is broken */
static bool take(struct tcp *t, struct tcp_conn *c, const struct pkt *p,
		 const struct tcb_in *in)
{
	bool fin = in->todo & TCB_DO_FIN;
	int64_t n = 0;

	if (p->body.len && !in->take)
		set_aside(t, c, p, in->ahead);
	if (in->take) {
		set_tos(c, p->body.mark.tos);
		n = tcp_host_take(t, c, p->body.buf + in->skip, in->take);
	}
	if (n < 0)
		return false;
	fin = fin && (uint32_t)n == in->take;
	tcb_took(&c->tcb, (uint32_t)n, fin);
	if (n < (int64_t)in->take)
		c->tcb.flags |= TCB_ACK_NOW;
	if (fin)
		tcp_host_fin(c);
	return rest_is_empty(&c->ahead) || !tcp_host_join(t, c);
}

/* Who connected often speaks first, and did meanwhile: then one segment brings
 * that and the acknowledgement.
 * Where a frame holds many segments, small ones cost nothing, and are better:
 * the guest acknowledges each frame, so that less is under way, and what is has
 * not left the caches; and if it is a router, they fit its other links. */
static void opened(const struct tcp *t, struct tcp_conn *c)
{
	if (t->tap->offload >= OFFLOAD_TSO && c->tcb.mss > TCP_SEGMENT)
		c->tcb.mss = TCP_SEGMENT;
	if (c->flags & TCP_BY_GUEST)
		return;
	c->start = c->tcb.rcv_nxt;
	c->flags |= TCP_READABLE;
}

/* What a segment of a connection asks for */
static void take_segment(struct tcp *t, struct tcp_conn *c, const struct pkt *p)
{
	struct tcb_in in = tcb_input(&c->tcb, &p->tcp, p->body.len,
				     t->loop->now_ms);

	if (in.todo & TCB_DO_REFUSE) {
		tcp_conn_refuse(t, p);
		return;
	}
	if (in.todo & TCB_DO_RESET) {
		tcp_conn_abort(t, c, false);
		return;
	}
	if (in.todo & TCB_DO_OPENED)
		opened(t, c);
	if (in.todo & TCB_DO_ACKED)
		tcp_guest_acked(c, in.acked);
	if (in.todo & TCB_DO_RESEND)
		tcp_guest_resend(t, c);
	if (in.todo & TCB_DO_PULL)
		c->flags |= TCP_PULL;
	if (!take(t, c, p, &in)) {
		tcp_conn_abort(t, c, true);
		return;
	}
	tcp_conn_touch(t, c);
	touch(t, c);
}

void tcp_from_guest(struct tcp *t, const struct pkt *p)
{
	struct tcp_conn *c = tcp_conn_find(t, &p->src, &p->dst);

	if (c) {
		take_segment(t, c, p);
	} else if ((p->tcp.flags & (TCP_SYN | TCP_ACK | TCP_RST)) == TCP_SYN) {
		tcp_open_from_guest(t, p);
	} else {
		stats_add(t->stats, DROP_TCP_STRAY, 1);
		tcp_conn_refuse(t, p);
	}
}

/* An edge of the host's socket */
static void ready(struct watch *w, uint32_t events)
{
	struct tcp_conn *c = container_of(w, struct tcp_conn, watch);
	struct tcp *t = w->ctx;

	if (c->tcb.state == TCB_CONNECTING) {
		if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) ||
		    !tcp_open_connected(t, c) ||
		    !(events & (EPOLLIN | EPOLLRDHUP)))
			return;
	} else if (events & EPOLLERR && stream_error(w->fd)) {
		tcp_conn_abort(t, c, true);
		return;
	}
	if (events & EPOLLRDHUP)
		c->flags |= TCP_HOST_FIN;
	if (events & (EPOLLIN | EPOLLRDHUP))
		c->flags |= TCP_READABLE | TCP_PULL;
	if (events & EPOLLPRI)
		c->flags |= TCP_URGENT;
	if (events & EPOLLOUT && tcp_host_ready(t, c)) {
		tcp_conn_abort(t, c, true);
		return;
	}
	if (events & EPOLLIN)
		tcp_conn_touch(t, c);
	(void)settle(t, c);
}

/* Its deadline has come: that of the guest's answer, or the time to look what
 * the remote acknowledged */
static void due(struct tcp *t, struct tcp_conn *c)
{
	if (c->tcb.due_ms <= t->loop->now_ms && !tcp_guest_timeout(t, c))
		return;
	(void)settle(t, c);
}

void tcp_init(struct tcp *t, const struct hash_key *key)
{
	t->ready = ready;
	t->due = due;
	tcp_conn_init(t, key);
}
