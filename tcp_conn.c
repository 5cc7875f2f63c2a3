/* tcp_conn.c - TCP connections over the guest's link, and how they end
 *
 * A connection is an entry in a table: a socket on the host's side, a control
 * block for the guest's (tcb.h), and deadlines of which only the earliest is
 * known to the heap. A deadline that moves away leaves the heap alone: it is
 * found there too early, and set again.
 *
 * Both ends of a connection are in kernels that retransmit and time out by
 * themselves. So an entry goes at once when both directions have ended, and
 * there is no TIME_WAIT: whoever closed first keeps it.
 *
 * Who is idle longest gives way, but only after a minute: a connection is worth
 * more than a datagram's flow, and cannot be taken up again. */

#include "tcp_conn.h"

#include "sock_stream.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EXPIRE_AT_ONCE 1024 /* deadlines of one timer call */
#define ISS_PER_MS 250 /* RFC 9293 3.4.1: one in 4 us */

static struct lru_table ages(struct tcp *t)
{
	return (struct lru_table){ &t->conn[0].lru, sizeof(t->conn[0]) };
}

static uint32_t now_s(const struct tcp *t)
{
	return (uint32_t)(t->loop->now_ms / 1000);
}

static uint32_t number(const struct tcp *t, const struct tcp_conn *c)
{
	return (uint32_t)(c - t->conn);
}

static uint64_t mix(const struct tcp *t, const struct end *inner,
		    const struct end *visible)
{
	uint64_t w[5];

	memcpy(w, &inner->addr, 16);
	memcpy(w + 2, &visible->addr, 16);
	w[4] = (uint64_t)inner->port << 16 | visible->port;
	return hash_words(&t->key, w, 5);
}

static uint32_t *bucket(struct tcp *t, const struct end *inner,
			const struct end *visible)
{
	return &t->bucket[mix(t, inner, visible) % TCP_BUCKETS];
}

struct tcp_conn *tcp_conn_find(struct tcp *t, const struct end *inner,
			       const struct end *visible)
{
	uint32_t i = *bucket(t, inner, visible);

	while (i) {
		struct tcp_conn *c = &t->conn[i - 1];

		if (end_eq(&c->inner, inner) && end_eq(&c->visible, visible))
			return c;
		i = c->chain;
	}
	return NULL;
}

uint32_t tcp_conn_iss(const struct tcp *t, const struct end *inner,
		      const struct end *visible)
{
	return (uint32_t)(mix(t, inner, visible) >> 32) +
	       (uint32_t)(t->loop->now_ms * ISS_PER_MS);
}

uint16_t tcp_conn_mss(const struct tcp *t, const struct end *visible)
{
	uint32_t heads = sizeof(struct tcp_hdr) +
			 (addr_is_v4(&visible->addr) ? sizeof(struct ip4_hdr) :
						       sizeof(struct ip6_hdr));

	if (t->conf.mtu < heads + TCP_MSS_MIN)
		return TCP_MSS_MIN;
	return (uint16_t)(t->conf.mtu - heads);
}

static struct tcp_conn *take_entry(struct tcp *t)
{
	uint32_t i;

	if (t->n >= t->conf.max && !tcp_conn_make_room(t))
		return NULL;
	i = t->free;
	if (i)
		t->free = t->conn[i - 1].chain;
	else
		i = ++t->high;
	t->n++;
	return &t->conn[i - 1];
}

static void enter_list(struct tcp *t, struct tcp_conn *c, uint8_t list)
{
	struct lru_table a = ages(t);

	c->list = list;
	lru_add(&a, &t->lists[list], number(t, c), now_s(t));
}

static void leave_list(struct tcp *t, struct tcp_conn *c)
{
	struct lru_table a = ages(t);

	lru_del(&a, &t->lists[c->list], number(t, c));
}

static void free_entry(struct tcp *t, struct tcp_conn *c)
{
	*c = (struct tcp_conn){ .watch.fd = -1, .chain = t->free };
	t->free = number(t, c) + 1;
	t->n--;
}

static uint32_t events(const struct tcp_conn *c)
{
	uint32_t room = c->flags & TCP_WAITS ? EPOLLOUT : 0;

	return EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLET | room;
}

void tcp_conn_again(struct tcp *t, struct tcp_conn *c)
{
	(void)loop_mod(t->loop, &c->watch, events(c));
}

/* Once: each change tells anew what there is to read, too */
void tcp_conn_wait_room(struct tcp *t, struct tcp_conn *c)
{
	if (c->flags & TCP_WAITS)
		return;
	c->flags |= TCP_WAITS;
	tcp_conn_again(t, c);
}

struct tcp_conn *tcp_conn_new(struct tcp *t, int fd, const struct end *inner,
			      const struct end *visible, uint16_t flags)
{
	struct tcp_conn *c = take_entry(t);
	uint32_t *b = bucket(t, inner, visible);

	if (!c)
		return NULL;
	*c = (struct tcp_conn){
		.watch = { .fn = t->ready, .ctx = t, .fd = fd },
		.inner = *inner,
		.visible = *visible,
		.look_ms = TCB_NEVER,
		.offered = TCP_ASK_ANEW,
		.flags = flags,
	};
	if (loop_add(t->loop, &c->watch, events(c))) {
		free_entry(t, c);
		return NULL;
	}
	c->chain = *b;
	*b = number(t, c) + 1;
	enter_list(t, c, TCP_LIVE);
	if (stream_peek_start(fd))
		c->flags |= TCP_SEEKS;
	return c;
}

void tcp_conn_touch(struct tcp *t, struct tcp_conn *c)
{
	struct lru_table a = ages(t);
	bool is_closing = c->flags & TCP_HOST_FIN ||
			  c->tcb.flags & (TCB_FIN_SENT | TCB_FIN_RCVD);
	uint8_t list = is_closing ? TCP_CLOSING : TCP_LIVE;

	if (c->list == list) {
		lru_touch(&a, &t->lists[list], number(t, c), now_s(t), false);
		return;
	}
	leave_list(t, c);
	enter_list(t, c, list);
}

static int64_t due(const struct tcp_conn *c)
{
	return c->look_ms < c->tcb.due_ms ? c->look_ms : c->tcb.due_ms;
}

void tcp_conn_arm(struct tcp *t, struct tcp_conn *c)
{
	uint32_t i = number(t, c);
	int64_t at = due(c);

	if (at < heap_at(&t->heap, i))
		heap_set(&t->heap, i, at);
}

bool tcp_conn_tell(struct tcp *t, struct tcp_conn *c, uint32_t seq,
		   uint8_t flags)
{
	struct pkt_tcp h = tcb_header(&c->tcb, seq, flags);

	return tap_send_tcp(t->tap, &c->visible, &c->inner, &h,
			    (struct mark){ .df = 1 }, (struct iovec){ 0 }, 0);
}

void tcp_conn_refuse(struct tcp *t, const struct pkt *p)
{
	struct pkt_tcp rst;

	if (!tcb_refuse(&p->tcp, p->body.len, &rst))
		return;
	(void)tap_send_tcp(t->tap, &p->dst, &p->src, &rst,
			   (struct mark){ .df = 1 }, (struct iovec){ 0 }, 0);
	stats_add(t->stats, TCP_REFUSED, 1);
}

static void unlink_conn(struct tcp *t, const struct tcp_conn *c)
{
	uint32_t *i = bucket(t, &c->inner, &c->visible);

	while (&t->conn[*i - 1] != c)
		i = &t->conn[*i - 1].chain;
	*i = c->chain;
}

static void forget(struct tcp *t, struct tcp_conn *c)
{
	loop_forget(t->loop, &c->watch);
	unlink_conn(t, c);
	leave_list(t, c);
	heap_set(&t->heap, number(t, c), HEAP_NEVER);
	rest_clear(&t->rests, &c->rest);
	rest_clear(&t->rests, &c->ahead);
	free_entry(t, c);
}

void tcp_conn_close(struct tcp *t, struct tcp_conn *c)
{
	int fd = c->watch.fd;

	forget(t, c);
	close(fd);
	stats_add(t->stats, TCP_CLOSED, 1);
}

void tcp_conn_abort(struct tcp *t, struct tcp_conn *c, bool tell_guest)
{
	int fd = c->watch.fd;

	if (tell_guest)
		(void)tcp_conn_tell(t, c, c->tcb.snd_max, TCP_RST);
	forget(t, c);
	stream_reset(fd);
	stats_add(t->stats, TCP_RESET, 1);
}

/* The connection of a list that is idle for longer than @idle_ms, and longest */
static struct tcp_conn *idle(struct tcp *t, enum tcp_list list, int64_t idle_ms)
{
	uint32_t i = lru_oldest(&t->lists[list]);

	if (i == LRU_NONE ||
	    (int64_t)(now_s(t) - t->conn[i].lru.used) * 1000 < idle_ms)
		return NULL;
	return &t->conn[i];
}

bool tcp_conn_make_room(struct tcp *t)
{
	struct tcp_conn *c = idle(t, TCP_CLOSING, TCP_EVICT_MS);

	if (!c)
		c = idle(t, TCP_LIVE, TCP_EVICT_MS);
	if (!c)
		return false;
	tcp_conn_abort(t, c, true);
	stats_add(t->stats, TCP_EVICTED, 1);
	return true;
}

static const int64_t idle_ms[TCP_LISTS] = {
	[TCP_CLOSING] = TCP_CLOSING_MS,
	[TCP_LIVE] = TCP_IDLE_MS,
};

static int64_t next_ms(const struct timer *timer)
{
	const struct tcp *t = container_of(timer, const struct tcp, timer);
	int64_t next = heap_next_ms(&t->heap);
	unsigned list;

	for (list = 0; list < TCP_LISTS; list++) {
		uint32_t i = lru_oldest(&t->lists[list]);
		int64_t at;

		if (i == LRU_NONE)
			continue;
		at = t->conn[i].lru.used * 1000LL + idle_ms[list] + 1000;
		if (at < next)
			next = at;
	}
	return next;
}

static void expire(struct tcp *t)
{
	unsigned list, n;
	struct tcp_conn *c;

	for (list = 0; list < TCP_LISTS; list++) {
		for (n = 0; n < EXPIRE_AT_ONCE; n++) {
			c = idle(t, list, idle_ms[list]);
			if (!c)
				break;
			tcp_conn_abort(t, c, true);
			stats_add(t->stats, TCP_EXPIRED, 1);
		}
	}
}

static void fire(struct timer *timer, int64_t now_ms)
{
	struct tcp *t = container_of(timer, struct tcp, timer);
	unsigned n;

	for (n = 0; n < EXPIRE_AT_ONCE && heap_next_ms(&t->heap) <= now_ms;
	     n++) {
		uint32_t i = heap_first(&t->heap);
		struct tcp_conn *c = &t->conn[i];

		heap_set(&t->heap, i, HEAP_NEVER);
		if (due(c) <= now_ms)
			t->due(t, c);
		if (c->watch.fn) /* it may have ended */
			tcp_conn_arm(t, c);
	}
	expire(t);
}

void tcp_conn_init(struct tcp *t, const struct hash_key *key)
{
	t->key = *key;
	t->heap.node = t->node;
	t->heap.place = t->place;
	if (t->conf.max > TCP_MAX)
		t->conf.max = TCP_MAX;
	t->timer = (struct timer){ .next_ms = next_ms, .fire = fire };
	loop_timer(t->loop, &t->timer);
}
