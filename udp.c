/* udp.c - carries UDP between the guest's link and host sockets
 *
 * Both directions work in rounds: fetch what a door has, sort it into runs by
 * flow, emit each run in one call. A run never grows once another of the same
 * flow stands behind it, so order within a flow is the order of arrival.
 *
 * How much a first receive call asks for depends on what is known. Over a
 * listener the first datagram is fetched alone, since only its sender tells
 * whether the rest is spliced or crosses the link; where the link takes single
 * frames only, it stays at one (doc/decisions/0007). Large buffers come in
 * smaller batches, so that a round stays inside the cache.
 *
 * A pending error on a shared socket belongs to somebody's earlier datagram:
 * the error queue is drained and the send tried once more, and only the second
 * answer counts. */

#include "udp.h"

#include "udp_splice.h"

#include <errno.h>
#include <sys/epoll.h>

#define LOOPBACK_IFINDEX 1 /* of every network namespace */

static bool is_live_now(struct udp *u, struct flow *f, bool by_init)
{
	return flow_touch(&u->flows, f, by_init, udp_now_s(u));
}

/* A datagram of @f passed, seen from its host side or not. */
static void touch(struct udp *u, struct flow *f, bool from_host)
{
	bool by_guest = f->flags & FLOW_BY_GUEST;
	bool is_live = is_live_now(u, f, from_host != by_guest);

	map_touch(&u->maps, &u->maps.map[f->map], udp_now_s(u), is_live);
	if (f->flags & FLOW_SPLICED)
		map_touch(&u->maps, &u->maps.map[f->peer], udp_now_s(u),
			  is_live);
}

static void add(struct udp *u, const struct flow *f, const struct piece *p)
{
	uint32_t i = flow_number(&u->flows, f);

	if (runs_add(&u->runs, i, p))
		return;
	udp_flush(u);
	(void)runs_add(&u->runs, i, p);
}

static enum counter send_drop(int rc)
{
	switch (rc) {
	case -EAGAIN:
	case -ENOBUFS:
	case -ENOMEM:
		return DROP_HOST_AGAIN;
	case -EMSGSIZE:
		return DROP_HOST_SIZE;
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -ENETDOWN:
		return DROP_NO_ROUTE;
	default:
		return DROP_HOST_ERROR;
	}
}

/* Send, past an error that an earlier datagram left on the socket. */
static int try_send(struct udp *u, const struct sock_dest *d,
		    const struct run *r)
{
	int rc = sock_send(d, r);
	unsigned n;

	if (rc && rc != -EAGAIN) {
		n = sock_drain(d->fd);
		stats_add(u->stats, SOCK_ERRORS, n);
		rc = sock_send(d, r);
	}
	if (rc)
		return rc;
	stats_add(u->stats, HOST_TX_CALLS, 1);
	stats_add(u->stats, HOST_TX_DGRAMS, r->n_segs);
	return 0;
}

static void send_whole(struct udp *u, const struct sock_dest *d,
		       const struct run *r)
{
	int rc = try_send(u, d, r);

	if (rc)
		stats_add(u->stats, send_drop(rc), r->n_segs);
}

static void send_singly(struct udp *u, const struct sock_dest *d,
			const struct run *r)
{
	struct piece p = { .mark = r->mark };
	struct run one;
	uint32_t pos = 0;

	while (run_next(r, &pos, &p.buf, &p.len)) {
		run_start(&one, r->owner, &p);
		send_whole(u, d, &one);
	}
}

/* Were segments of this size refused on this flow, not long ago? */
static bool is_gso_refused(const struct udp *u, const struct flow *f,
			   uint32_t seg)
{
	return f->gso_refused && seg >= f->gso_refused &&
	       udp_now_s(u) < f->gso_retry_s;
}

static bool is_gso_error(int rc)
{
	return rc == -EMSGSIZE || rc == -EINVAL || rc == -EIO;
}

/* One call per run; singly where the path does not take segments of this size:
 * the kernel then fragments or says what is wrong with each. */
static void send_run(struct udp *u, struct flow *f, const struct sock_dest *d,
		     const struct run *r)
{
	int rc;

	if (r->n_segs == 1) {
		send_whole(u, d, r);
		return;
	}
	if (!is_gso_refused(u, f, r->seg)) {
		rc = try_send(u, d, r);
		if (!rc)
			return;
		if (!is_gso_error(rc)) {
			stats_add(u->stats, send_drop(rc), r->n_segs);
			return;
		}
		f->gso_refused = (uint16_t)r->seg;
		f->gso_retry_s = udp_now_s(u) + GSO_RETRY_MS / 1000;
		stats_add(u->stats, GSO_REFUSED, 1);
	}
	send_singly(u, d, r);
}

/* To the remote on the host's side. */
static void emit_host(struct udp *u, const struct run *r)
{
	struct flow *f = &u->flows.flow[r->owner];
	const struct map *m = &u->maps.map[f->map];
	struct sock_dest d = { .fd = m->watch.fd, .family = m->family };

	if (m->kind != MAP_OWN)
		d.to = &f->host;
	if (addr_is_set(&f->ours)) {
		d.from = &f->ours;
		d.ifindex = f->host.scope;
	}
	send_run(u, f, &d, r);
}

/* To the guest, or to the far socket of a spliced flow. */
static void emit_guest(struct udp *u, const struct run *r)
{
	struct flow *f = &u->flows.flow[r->owner];
	struct sock_dest d;

	if (!(f->flags & FLOW_SPLICED)) {
		tap_send_run(u->tap, &f->visible, &f->inner, r);
		return;
	}
	d = (struct sock_dest){ .fd = u->maps.map[f->peer].watch.fd,
				.family = u->maps.map[f->peer].family };
	send_run(u, f, &d, r);
}

void udp_from_guest(struct udp *u, const struct pkt *p)
{
	struct flow *f;

	u->emit = emit_host;
	f = flow_find_guest(&u->flows, PROTO_UDP, &p->src, &p->dst);
	if (!f)
		f = udp_flow_from_guest(u, p);
	if (!f)
		return;
	touch(u, f, false);
	add(u, f, &p->body);
}

static struct flow *drop(struct udp *u, const struct sock_msg *msg,
			 enum counter why)
{
	stats_add(u->stats, why, piece_segs(&msg->body));
	return NULL;
}

/* The flow of a socket that has just one: connecting it left a moment in which
 * strangers could still get in. */
static struct flow *only_flow(struct udp *u, const struct map *m,
			      const struct sock_msg *msg)
{
	struct flow *f = flow_of_map(&u->flows, m->flows);
	const struct end *peer = m->kind == MAP_SPLICE ? &m->inner : &f->host;

	return end_eq(peer, &msg->from) ? f : drop(u, msg, DROP_FILTERED);
}

static struct flow *flow_of(struct udp *u, struct map *m,
			    const struct sock_msg *msg)
{
	bool is_lo = msg->ifindex == LOOPBACK_IFINDEX;
	struct flow *f;

	if (m->kind == MAP_OWN || m->kind == MAP_SPLICE)
		return only_flow(u, m, msg);
	f = flow_find_host(&u->flows, map_number(&u->maps, m), &msg->from,
			   &msg->to);
	if (f)
		return f;
	if (m->kind == MAP_LISTEN_NS)
		return addr_is_loopback(&msg->from.addr) ?
			       udp_splice_new(u, m, msg) :
			       drop(u, msg, DROP_NOT_LOOPBACK);
	if (m->kind == MAP_LISTEN_HOST &&
	    fwd_is_splice(u->fwd, &msg->from, is_lo))
		return udp_splice_new(u, m, msg);
	return udp_flow_from_host(u, m, msg);
}

/* Sort one received buffer into the round's runs; NULL if it was dropped. */
static struct flow *take(struct udp *u, struct map *m,
			 const struct sock_msg *msg)
{
	bool from_host = m->kind != MAP_SPLICE;
	struct flow *f;

	stats_add(u->stats, HOST_RX_DGRAMS, piece_segs(&msg->body));
	if (msg->is_cut)
		return drop(u, msg, DROP_TRUNCATED);
	f = flow_of(u, m, msg);
	if (!f)
		return NULL;
	if (f->flags & FLOW_SPLICED)
		stats_add(u->stats, SPLICE_DGRAMS, piece_segs(&msg->body));
	touch(u, f, from_host);
	add(u, f, &msg->body);
	return f;
}

/* Buffers to ask for in the first call of a wake-up. */
static unsigned first_batch(const struct udp *u, const struct map *m)
{
	bool is_known = m->kind == MAP_SPLICE || m->kind == MAP_LISTEN_NS ||
			u->tap->offload == OFFLOAD_USO;

	if (m->kind == MAP_LISTEN_HOST || !is_known)
		return 1;
	return ROUND_LARGE;
}

/* Buffers to ask for next, after a call that began with @p of flow @f. */
static unsigned next_batch(const struct udp *u, const struct flow *f,
			   const struct piece *p)
{
	bool is_joined = u->tap->offload == OFFLOAD_USO ||
			 (f && f->flags & FLOW_SPLICED);

	if (!is_joined)
		return 1;
	return p->len > ROUND_LARGE_BYTES ? ROUND_LARGE : ROUND_MSGS;
}

static void ready(struct watch *w, uint32_t events)
{
	struct map *m = container_of(w, struct map, watch);
	struct udp *u = w->ctx;
	unsigned i, round, max = first_batch(u, m);
	struct flow *f;
	int n;

	if (events & EPOLLERR)
		stats_add(u->stats, SOCK_ERRORS, sock_drain(w->fd));
	u->emit = m->kind == MAP_SPLICE ? emit_host : emit_guest;
	for (round = 0; round < ROUNDS_MAX && w->fn; round++) {
		n = sock_recv(&u->rx, w->fd, max);
		if (n < 0)
			stats_add(u->stats, SOCK_ERRORS, 1);
		if (n <= 0)
			break;
		stats_add(u->stats, HOST_RX_CALLS, 1);
		f = NULL;
		for (i = 0; i < (unsigned)n; i++)
			f = take(u, m, &u->rx.msg[i]);
		if ((unsigned)n == max)
			max = next_batch(u, f, &u->rx.msg[0].body);
		else
			round = ROUNDS_MAX;
		udp_flush(u);
	}
}

void udp_init(struct udp *u, const struct hash_key *key)
{
	unsigned family;

	for (family = 0; family < FAMILY_COUNT; family++)
		u->source[family] = -1;
	u->ready = ready;
	u->emit = emit_host;
	udp_flow_init(u, key);
}

static bool is_open(const struct map *m)
{
	return m->kind != MAP_FREE;
}

uint64_t udp_socket_drops(const struct udp *u)
{
	uint64_t n = u->closed_drops;
	uint32_t i;

	for (i = 0; i < u->maps.high; i++) {
		if (is_open(&u->maps.map[i]))
			n += sock_drops(u->maps.map[i].watch.fd);
	}
	for (i = MAP_DYNAMIC_MAX; i < MAP_DYNAMIC_MAX + u->maps.n_listen; i++) {
		if (is_open(&u->maps.map[i]))
			n += sock_drops(u->maps.map[i].watch.fd);
	}
	return n;
}
