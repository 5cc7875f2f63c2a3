/* dns.c - what the guest asks its resolver goes to the host's
 *
 * Problem: the guest knows one resolver, an address that does not exist. The
 * host has several, some of which may be dead, and other ones after a VPN came
 * up. A dead first one costs every program in the guest its five seconds, each
 * time.
 *
 * Idea: a query is kept until it is answered, and sent to the next resolver
 * after a moment without answer, or at once if it was refused. Whoever answers
 * in the end is asked first from then on. The guest sees one address answering,
 * whoever it was; an answer that comes late, from a resolver that was slow
 * rather than dead, is passed on, too.
 *
 * A query is not a flow: programs send several from one port, and each must be
 * kept, has its own port towards the resolver (which makes forged answers hard)
 * and its own fate. So each is an entry of a table with a socket. A datagram
 * that looks like the answer ends it; a socket without answer is closed after
 * DNS_IDLE_MS, or when the table is full and it is the oldest.
 *
 * resolv.conf is read again (reader.c) once per second at most, while there are
 * queries. Nothing waits for that: if resolvers have changed, what waits for an
 * old one is sent again.
 *
 * Not here: reading or caching DNS messages; TCP. */

#include "dns.h"

#include "log.h"
#include "reader.h"
#include "sock_error.h"
#include "udp_open.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ID_LEN 2

static struct lru_table nodes(struct dns *d)
{
	return (struct lru_table){ &d->query[0].node, sizeof(d->query[0]) };
}

static uint32_t number(const struct dns *d, const struct dns_query *q)
{
	return (uint32_t)(q - d->query);
}

static uint32_t now_s(const struct dns *d)
{
	return udp_now_s(d->u);
}

/* Put a query at the end of a list, whose entries all wait equally long */
static void enlist(struct dns *d, struct dns_query *q, enum dns_list list)
{
	struct lru_table t = nodes(d);
	int wait = list == DNS_WAITING ? DNS_TRY_MS : DNS_IDLE_MS;

	q->list = (uint8_t)list;
	q->due_ms = d->u->loop->now_ms + wait;
	lru_add(&t, &d->lists[list], number(d, q), now_s(d));
}

static void delist(struct dns *d, struct dns_query *q)
{
	struct lru_table t = nodes(d);

	lru_del(&t, &d->lists[q->list], number(d, q));
}

static struct dns_query *oldest(struct dns *d, enum dns_list list)
{
	uint32_t i = lru_oldest(&d->lists[list]);

	return i == LRU_NONE ? NULL : &d->query[i];
}

static void finish(struct dns *d, struct dns_query *q)
{
	delist(d, q);
	d->u->closed_drops += sock_drops(q->watch.fd);
	loop_del(d->u->loop, &q->watch);
	close(q->watch.fd);
	q->chain = d->free;
	d->free = number(d, q) + 1;
}

static bool make_room(struct dns *d)
{
	struct dns_query *q = oldest(d, DNS_LAST);

	if (!q)
		q = oldest(d, DNS_WAITING);
	if (q)
		finish(d, q);
	return q;
}

/* A free entry, in no list */
static struct dns_query *take(struct dns *d)
{
	struct dns_query *q;

	if (!d->free && d->high < d->max)
		return &d->query[d->high++];
	if (!d->free && !make_room(d))
		return NULL;
	q = &d->query[d->free - 1];
	d->free = q->chain;
	return q;
}

static int open_to(struct dns *d, const struct end *server)
{
	int fd = udp_open_to(d->u, server);

	if (sock_is_exhausted(fd) && make_room(d))
		fd = udp_open_to(d->u, server);
	return fd;
}

static int send_to(int fd, const struct end *server, const struct piece *p)
{
	struct sock_dest to = {
		.fd = fd, .family = sock_family(addr_family(&server->addr))
	};
	struct run r;

	run_start(&r, 0, p);
	return sock_send(&to, &r);
}

static void ready(struct watch *w, uint32_t events);

/* Ask one resolver: @proto.host. Returns 0 or -errno */
static int ask_one(struct dns *d, const struct dns_query *proto,
		   const struct piece *p)
{
	int rc, fd = open_to(d, &proto->host);
	struct dns_query *q;

	if (fd < 0)
		return fd;
	rc = send_to(fd, &proto->host, p);
	q = rc ? NULL : take(d);
	if (!q) {
		close(fd);
		return rc ? rc : -ENOSPC;
	}
	*q = *proto;
	q->watch = (struct watch){ .fn = ready, .ctx = d, .fd = fd };
	q->is_settled = p->len > DNS_QUERY_BYTES;
	q->len = q->is_settled ? 0 : (uint16_t)p->len;
	memcpy(q->data, p->buf, q->len);
	enlist(d, q, q->left && !q->is_settled ? DNS_WAITING : DNS_LAST);
	rc = loop_add(d->u->loop, &q->watch, EPOLLIN);
	if (rc)
		finish(d, q);
	return rc;
}

static struct end server_end(const struct dns *d, const struct addr *a)
{
	return end_make(a, 53,
			addr_needs_scope(a) ? d->fwd->scope[FAMILY_V6] : 0);
}

/* Ask resolvers from number @at on until one takes it: @proto.left + 1 at most
 * Returns: 0, or the -errno of the last one */
static int ask(struct dns *d, struct dns_query *proto, unsigned at,
	       const struct piece *p)
{
	const struct dns_servers *s =
		&d->servers[addr_family(&proto->visible.addr)];
	unsigned i, n = proto->left + 1;
	int rc = -EHOSTUNREACH;

	for (i = 0; i < n && i < s->n; i++) {
		proto->left = n - 1 - i;
		proto->host = server_end(d, &s->addr[(at + i) % s->n]);
		rc = ask_one(d, proto, p);
		if (!rc)
			return 0;
		proto->is_again = true;
	}
	return rc;
}

static unsigned index_of(const struct dns_servers *s, const struct addr *a)
{
	unsigned i = 0;

	while (i < s->n && !addr_eq(&s->addr[i], a))
		i++;
	return i;
}

/* Ask another resolver what @q was about. @q is a copy: its entry may be needed
 * for the new one. */
static void ask_another(struct dns *d, const struct dns_query *q)
{
	const struct dns_servers *s =
		&d->servers[addr_family(&q->visible.addr)];
	struct dns_query again = *q;
	struct piece p = { .buf = q->data, .len = q->len };
	unsigned at = index_of(s, &q->host.addr);

	if (at < s->n) {
		again.left--;
		at++;
	} else { /* the list is a new one */
		again.left = s->n - 1;
		at = s->now;
	}
	again.is_again = true;
	stats_add(d->u->stats, DNS_RETRIES, 1);
	(void)ask(d, &again, at, &p);
}

/* Nothing more is to be done about @q, but its socket stays for a while */
static void settle(struct dns *d, struct dns_query *q)
{
	delist(d, q);
	q->is_settled = true;
	enlist(d, q, DNS_LAST);
}

static void give_up_on(struct dns *d, struct dns_query *q)
{
	struct dns_query old = *q;

	settle(d, q);
	ask_another(d, &old);
}

static void refused(struct dns *d, struct dns_query *q)
{
	struct dns_query old = *q;

	finish(d, q);
	if (!old.is_settled && old.left)
		ask_another(d, &old);
}

/* Whoever answered after others did not is asked first from now on */
static void remember(struct dns *d, const struct dns_query *q)
{
	enum family f = addr_family(&q->visible.addr);
	struct dns_servers *s = &d->servers[f];
	unsigned i = index_of(s, &q->host.addr);
	char text[ADDR_STRLEN];

	if (!q->is_again || i == s->n || i == s->now)
		return;
	s->now = i;
	d->fwd->dns_host[f] = s->addr[i];
	debug("resolver %s answers: it is asked first from now on",
	      addr_format(&s->addr[i], text));
}

static void answer(struct dns *d, struct dns_query *q,
		   const struct sock_msg *msg)
{
	const struct piece *p = &msg->body;
	bool is_end = p->len >= ID_LEN && q->len >= ID_LEN &&
		      !memcmp(p->buf, q->data, ID_LEN);
	struct run r;

	if (msg->is_cut || !end_eq(&msg->from, &q->host)) {
		stats_add(d->u->stats,
			  msg->is_cut ? DROP_TRUNCATED : DROP_FILTERED,
			  piece_segs(p));
		return;
	}
	run_start(&r, 0, p);
	tap_send_run(d->u->tap, &q->visible, &q->inner, &r);
	remember(d, q);
	if (is_end)
		finish(d, q);
	else
		settle(d, q);
}

/* Errors of the queue: the query was refused */
static int drain(int fd)
{
	struct sock_error e;
	int n = 0;

	while (sock_error_read(fd, &e))
		n++;
	return n;
}

static void ready(struct watch *w, uint32_t events)
{
	struct dns_query *q = container_of(w, struct dns_query, watch);
	struct udp *u = ((struct dns *)w->ctx)->u;
	struct dns *d = w->ctx;
	int n = 0;

	if (events & EPOLLERR)
		n = -drain(w->fd);
	if (!n)
		n = sock_recv(&u->rx, w->fd, 1);
	if (n < 0) {
		stats_add(u->stats, SOCK_ERRORS, 1);
		refused(d, q);
	}
	if (n <= 0)
		return;
	stats_add(u->stats, HOST_RX_CALLS, 1);
	stats_add(u->stats, HOST_RX_DGRAMS, piece_segs(&u->rx.msg[0].body));
	answer(d, q, &u->rx.msg[0]);
}

static int64_t next_due(const struct timer *t)
{
	struct dns *d = container_of(t, struct dns, timer);
	struct dns_query *waiting = oldest(d, DNS_WAITING);
	struct dns_query *last = oldest(d, DNS_LAST);
	int64_t due = last ? last->due_ms : INT64_MAX;

	return waiting && waiting->due_ms < due ? waiting->due_ms : due;
}

static void fire(struct timer *t, int64_t now_ms)
{
	struct dns *d = container_of(t, struct dns, timer);
	struct dns_query *q;

	while ((q = oldest(d, DNS_LAST)) && q->due_ms <= now_ms)
		finish(d, q);
	while ((q = oldest(d, DNS_WAITING)) && q->due_ms <= now_ms)
		give_up_on(d, q);
}

static enum counter drop_reason(int rc)
{
	switch (rc) {
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -ENETDOWN:
		return DROP_NO_ROUTE;
	case -ENOSPC:
	case -EMFILE:
	case -ENFILE:
		return DROP_NO_SOCKET;
	default:
		return DROP_HOST_ERROR;
	}
}

static void look_again(struct dns *d)
{
	int64_t now_ms = d->u->loop->now_ms;

	if (d->reader.fd < 0 || now_ms < d->asked_ms + RESOLV_ASK_MS)
		return;
	d->asked_ms = now_ms;
	(void)reader_ask(d->reader.fd);
}

/* Each datagram of a super-frame is a query of its own */
static void on_query(struct udp_query *hook, const struct pkt *p)
{
	struct dns *d = container_of(hook, struct dns, hook);
	const struct dns_servers *s = &d->servers[addr_family(&p->dst.addr)];
	struct piece one = { .mark = p->body.mark };
	uint32_t pos = 0;
	struct run r;

	look_again(d);
	run_start(&r, 0, &p->body);
	while (run_next(&r, &pos, &one.buf, &one.len)) {
		struct dns_query proto = { .inner = p->src,
					   .visible = p->dst,
					   .left = s->n - 1 };
		int rc = s->n ? ask(d, &proto, s->now, &one) : -EHOSTUNREACH;

		stats_add(d->u->stats, rc ? drop_reason(rc) : HOST_TX_DGRAMS,
			  1);
		stats_add(d->u->stats, HOST_TX_CALLS, !rc);
		stats_add(d->u->stats, DNS_QUERIES, 1);
	}
}

static void on_reader(struct watch *w, uint32_t events)
{
	struct dns *d = container_of(w, struct dns, reader);
	char text[READER_MAX];
	struct resolv r;
	int rc = reader_take(w->fd, text);

	(void)events;
	if (!rc) {
		resolv_parse(text, &r);
		dns_servers(d, &r);
		if (d->changed)
			d->changed(d, &r);
	} else if (rc != -EAGAIN) {
		warn("resolv.conf is not followed any more: %s", strerror(-rc));
		loop_del(d->u->loop, w);
		close(w->fd);
		w->fd = -1;
	}
}

static void add_servers(struct dns_servers *s, const struct resolv *r,
			enum family f)
{
	unsigned i;

	for (i = 0; i < r->n_dns[f] && s->n < DNS_SERVERS_MAX; i++)
		s->addr[s->n++] = r->dns[f][i];
}

/* Queries that wait for a resolver that the list does not have */
static void ask_anew(struct dns *d, enum family f)
{
	uint32_t i;

	for (i = 0; i < d->high; i++) {
		struct dns_query *q = &d->query[i];

		if (q->watch.fn && !q->is_settled &&
		    addr_family(&q->visible.addr) == f &&
		    index_of(&d->servers[f], &q->host.addr) == d->servers[f].n)
			give_up_on(d, q);
	}
}

void dns_servers(struct dns *d, const struct resolv *r)
{
	enum family f;

	for (f = 0; f < FAMILY_COUNT; f++) {
		struct dns_servers *s = &d->servers[f], new = { 0 };

		if (s->is_fixed)
			continue;
		add_servers(&new, r, f);
		if (d->u->conf.has[!f])
			add_servers(&new, r, !f);
		if (!new.n || (new.n == s->n &&
			       !memcmp(new.addr, s->addr, sizeof(new.addr))))
			continue;
		*s = new;
		d->fwd->dns_host[f] = s->addr[0];
		ask_anew(d, f);
	}
}

int dns_init(struct dns *d, const struct resolv *r, int reader, uint32_t max)
{
	enum family f;

	d->max = max < DNS_QUERIES_MAX ? max : DNS_QUERIES_MAX;
	d->hook.take = on_query;
	d->asked_ms = d->u->loop->now_ms;
	d->u->query = &d->hook;
	d->fwd->by_query = true;
	for (f = 0; f < FAMILY_COUNT; f++)
		d->servers[f].is_fixed = d->servers[f].n;
	dns_servers(d, r);
	d->timer = (struct timer){ .next_ms = next_due, .fire = fire };
	loop_timer(d->u->loop, &d->timer);
	d->reader = (struct watch){ .fn = on_reader, .fd = reader };
	return reader < 0 ? 0 : loop_add(d->u->loop, &d->reader, EPOLLIN);
}
