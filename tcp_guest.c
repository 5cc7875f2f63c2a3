/* tcp_guest.c - bytes of TCP connections towards the guest
 *
 * The socket's own buffer is the send buffer of the connection: bytes are
 * looked at, sent, and dropped from the socket once the guest acknowledged
 * them. To send again is to look again. A look takes as much as fits the cache
 * and goes out in super-frames as large as IP allows, each a multiple of the
 * guest's segment size.
 *
 * Where the kernel has no peek offset, a look begins with the bytes in flight,
 * which are copied just to be passed over; they are limited, since that cost
 * grows with them. */

#include "tcp_guest.h"

#include "sock_stream.h"

#include <errno.h>

static uint32_t in_flight(const struct tcp_conn *c)
{
	return c->tcb.snd_nxt - c->tcb.snd_una;
}

/* Bytes that go into one super-frame: whole segments */
static uint32_t frame_max(const struct tcp_conn *c)
{
	return TCP_FRAME_MAX / c->tcb.mss * c->tcb.mss;
}

/* Bytes to look at, and to send if they are there */
static uint32_t wanted(const struct tcp_conn *c)
{
	uint32_t room = tcb_room(&c->tcb), mss = c->tcb.mss;

	if (room > TCP_PEEK)
		room = TCP_PEEK;
	if (!(c->flags & TCP_SEEKS)) {
		uint32_t left = in_flight(c) < TCP_SEEN ?
					TCP_SEEN - in_flight(c) :
					0;

		if (room > left)
			room = left;
	}
	return room > mss ? room / mss * mss : room;
}

static bool is_end_behind(const struct tcp_conn *c)
{
	return (c->flags & (TCP_HOST_FIN | TCP_URGENT)) == TCP_HOST_FIN;
}

/* Is there nothing behind what is in flight, if a look finds nothing? */
static bool is_all_seen(const struct tcp_conn *c)
{
	return c->flags & TCP_SEEKS || !(c->flags & TCP_URGENT) ||
	       in_flight(c) == 0;
}

/* Look at up to @len bytes that lie @offset behind the first unacknowledged */
static ssize_t look(struct tcp *t, const struct tcp_conn *c, uint32_t offset,
		    uint32_t len)
{
	struct iovec iov[2] = { { t->seen, offset }, { t->buf, len } };
	ssize_t n;

	if (c->flags & TCP_SEEKS)
		return stream_peek(c->watch.fd, iov + 1, 1);
	n = stream_peek(c->watch.fd, iov, 2);
	if (n > 0 || (n == 0 && !offset))
		n -= offset;
	/* Only old bytes: nothing new, or the end behind them, or urgent data,
	 * where a look ends until those before it are gone */
	if (n <= 0 && offset)
		n = is_end_behind(c) ? 0 : -EAGAIN;
	return n;
}

/* Send @len bytes of the buffer, and @last, FIN among it, with the last of
 * them; returns how many the link took */
static uint32_t emit(struct tcp *t, struct tcp_conn *c, uint32_t len,
		     uint8_t last)
{
	uint32_t most = frame_max(c), done = 0;

	while (done < len) {
		uint32_t n = len - done < most ? len - done : most;
		uint8_t flags = done + n == len ? last : 0;
		struct pkt_tcp h = tcb_header(&c->tcb, c->tcb.snd_nxt, flags);

		if (!tap_send_tcp(t->tap, &c->visible, &c->inner, &h,
				  (struct mark){ .df = 1 },
				  (struct iovec){ t->buf + done, n },
				  c->tcb.mss))
			break;
		tcb_sent(&c->tcb, n, flags & TCP_FIN, t->loop->now_ms);
		done += n;
	}
	return done;
}

static void end_stream(struct tcp *t, struct tcp_conn *c)
{
	struct tcb *b = &c->tcb;

	c->flags &= (uint16_t)~TCP_READABLE;
	if (b->flags & TCB_FIN_SENT && b->snd_nxt == b->snd_max)
		return;
	if (tcp_conn_tell(t, c, b->snd_nxt, TCP_FIN))
		tcb_sent(b, 0, true, t->loop->now_ms);
	else
		tcb_stall(b, t->loop->now_ms);
}

/* Send one look's worth.
 * Returns: 1 if there may be more, 0 if not now, -errno */
static int pull_once(struct tcp *t, struct tcp_conn *c)
{
	uint32_t want = wanted(c), sent;
	uint8_t last = 0;
	ssize_t n;

	if (!want) {
		if (in_flight(c) == 0)
			tcb_stall(&c->tcb, t->loop->now_ms);
		return 0;
	}
	n = look(t, c, in_flight(c), want);
	if (!n)
		end_stream(t, c);
	if (n == -EAGAIN && is_all_seen(c))
		c->flags &= (uint16_t) ~(TCP_READABLE | TCP_URGENT);
	if (n <= 0)
		return n == -EAGAIN ? 0 : (int)n;
	if ((uint32_t)n < want && !(c->flags & TCP_URGENT)) {
		c->flags &= (uint16_t)~TCP_READABLE;
		last = is_end_behind(c) ? TCP_PSH | TCP_FIN : TCP_PSH;
	}
	sent = emit(t, c, (uint32_t)n, last);
	if (sent == (uint32_t)n)
		return 1;
	if (c->flags & TCP_SEEKS)
		stream_peek_seek(c->watch.fd, in_flight(c));
	c->flags |= TCP_READABLE;
	tcb_stall(&c->tcb, t->loop->now_ms);
	return 0;
}

bool tcp_guest_pull(struct tcp *t, struct tcp_conn *c)
{
	unsigned i;
	int rc = 1;

	c->flags &= (uint16_t)~TCP_PULL;
	c->tcb.flags &= (uint8_t)~TCB_STALLED;
	if (c->tcb.state != TCB_OPEN || !(c->flags & TCP_READABLE))
		return true;
	for (i = 0; i < TCP_PEEKS && rc > 0 && c->flags & TCP_READABLE; i++)
		rc = pull_once(t, c);
	if (rc < 0) {
		tcp_conn_abort(t, c, true);
		return false;
	}
	if (rc > 0 && c->flags & TCP_READABLE)
		tcp_conn_again(t, c); /* another turn */
	tcp_conn_arm(t, c);
	return true;
}

void tcp_guest_acked(struct tcp_conn *c, uint32_t len)
{
	if (len)
		(void)stream_discard(c->watch.fd, len);
}

void tcp_guest_resend(struct tcp *t, struct tcp_conn *c)
{
	struct tcb *b = &c->tcb;
	uint32_t next = b->snd_nxt, most = frame_max(c);
	ssize_t n;

	if (next - b->snd_una < most)
		most = next - b->snd_una;
	if (c->flags & TCP_SEEKS)
		stream_peek_seek(c->watch.fd, 0);
	n = look(t, c, 0, most);
	b->snd_nxt = b->snd_una;
	if (n > 0)
		(void)emit(t, c, (uint32_t)n, 0);
	else if (b->flags & TCB_FIN_SENT)
		(void)tcp_conn_tell(t, c, b->snd_una, TCP_FIN);
	b->snd_nxt = next;
	if (c->flags & TCP_SEEKS)
		stream_peek_seek(c->watch.fd, in_flight(c));
	stats_add(t->stats, TCP_RESENT, 1);
}

/* What the window takes; nothing, and an answer is asked for. RFC 9293
 * 3.8.6.1 */
static bool probe(struct tcp *t, struct tcp_conn *c)
{
	c->flags |= TCP_READABLE;
	if (tcb_room(&c->tcb))
		return tcp_guest_pull(t, c);
	(void)tcp_conn_tell(t, c, c->tcb.snd_una - 1, 0);
	return true;
}

bool tcp_guest_timeout(struct tcp *t, struct tcp_conn *c)
{
	struct tcb *b = &c->tcb;
	bool is_out = b->snd_una != b->snd_max;

	if (!tcb_timeout(b, t->loop->now_ms)) {
		tcp_conn_abort(t, c, true);
		return false;
	}
	if (b->due_ms == TCB_NEVER)
		return true;
	if (b->state != TCB_OPEN) {
		if (tcp_conn_tell(t, c, b->snd_una, 0))
			tcb_sent(b, 0, false, t->loop->now_ms);
		return true;
	}
	if (is_out)
		stats_add(t->stats, TCP_RESENT, 1);
	if (is_out && c->flags & TCP_SEEKS)
		stream_peek_seek(c->watch.fd, 0);
	return probe(t, c);
}
