/* udp.c - carries UDP between the guest's link and host sockets
 *
 * Both directions work in rounds: fetch what a door has, sort it into runs by
 * flow, emit each run in one call. A run never grows once another of the same
 * flow stands behind it, so order within a flow is the order of arrival.
 *
 * How much a receive call asks for depends on whether it will be joined. Where
 * the link takes single frames only, a listener fetches the first datagram
 * alone, since only its sender tells whether the rest is spliced or crosses the
 * link, and then it stays at one (doc/decisions/0007). Large buffers come in
 * smaller batches, so that a round stays inside the cache. */

#include "udp.h"

#include "udp_error.h"
#include "udp_flow.h"
#include "udp_group.h"
#include "udp_send.h"
#include "udp_splice.h"

#include <sched.h>
#include <sys/epoll.h>

/* A datagram of @f passed, seen from its host side or not. */
static void touch(struct udp *u, struct flow *f, bool from_host)
{
	bool by_guest = f->flags & FLOW_BY_GUEST;
	uint32_t now_s = udp_now_s(u);
	bool is_live = flow_touch(&u->flows, f, from_host != by_guest, now_s);

	map_touch(&u->maps, &u->maps.map[f->map], now_s, is_live);
	if (f->flags & FLOW_SPLICED)
		map_touch(&u->maps, &u->maps.map[f->peer], now_s, is_live);
}

static void add(struct udp *u, const struct flow *f, const struct piece *p)
{
	uint32_t i = flow_number(&u->flows, f);

	if (runs_add(&u->runs, i, p))
		return;
	udp_flush(u);
	(void)runs_add(&u->runs, i, p);
}

/* To the remote on the host's side. */
static void emit_host(struct udp *u, const struct run *r)
{
	struct flow *f = &u->flows.flow[r->owner];
	struct map *m = &u->maps.map[f->map];
	struct sock_dest d = { .fd = m->watch.fd, .family = m->family };

	if (m->kind != MAP_OWN)
		d.to = &f->host;
	if (addr_is_set(&f->ours) || f->flags & FLOW_GROUP) {
		d.from = addr_is_set(&f->ours) ? &f->ours : &m->ours;
		d.ifindex = f->host.scope;
	}
	udp_send(u, f, m, &d, r);
}

/* To the guest, or to the far socket of a spliced flow. */
static void emit_guest(struct udp *u, const struct run *r)
{
	struct flow *f = &u->flows.flow[r->owner];
	struct map *far = &u->maps.map[f->peer];
	struct sock_dest d = { .fd = far->watch.fd, .family = far->family };

	if (f->flags & FLOW_SPLICED)
		udp_send(u, f, far, &d, r);
	else
		tap_send_run(u->tap, &f->visible, &f->inner, r);
}

static struct flow *begin(struct udp *u, const struct pkt *p)
{
	struct flow *f = udp_flow_from_guest(u, p);

	if (f && u->group)
		udp_group_spoke(u->group, f);
	return f;
}

void udp_from_guest(struct udp *u, const struct pkt *p)
{
	struct flow *f;

	u->emit = emit_host;
	f = flow_find_guest(&u->flows, PROTO_UDP, &p->src, &p->dst);
	if (!f)
		f = begin(u, p);
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

/* Loopback's own broadcasts are left to the spliced path. */
static bool is_to_group(const struct udp *u, const struct sock_msg *msg)
{
	return addr_is_set(&msg->group) && u->group &&
	       !addr_is_loopback(&msg->from.addr);
}

static struct flow *flow_of(struct udp *u, struct map *m,
			    const struct sock_msg *msg)
{
	bool is_lo = msg->ifindex == LOOPBACK_IFINDEX;
	struct flow *f;

	if (m->kind == MAP_OWN || m->kind == MAP_SPLICE)
		return only_flow(u, m, msg);
	if (is_to_group(u, msg))
		return udp_group_flow(u->group, m, msg);
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

/* Is what arrives together passed on together? Loopback's always is. */
static bool is_joined(const struct udp *u, bool is_spliced)
{
	return is_spliced || u->tap->offload == OFFLOAD_USO;
}

/* Buffers to ask for in the first call of a wake-up. */
static unsigned first_batch(const struct udp *u, const struct map *m)
{
	if (!is_joined(u, m->kind == MAP_SPLICE || m->kind == MAP_LISTEN_NS))
		return 1;
	return m->batch ? m->batch : ROUND_LARGE;
}

/* Buffers to ask for next, after a call that began with @p of flow @f. */
static unsigned next_batch(const struct udp *u, const struct flow *f,
			   const struct piece *p)
{
	if (!is_joined(u, f && f->flags & FLOW_SPLICED))
		return 1;
	return p->len > ROUND_LARGE_BYTES ? ROUND_LARGE : ROUND_MSGS;
}

/* Errors first: a full queue of them stops all reception.
 * Returns: false if that closed the map */
static bool take_errors(struct udp *u, struct map *m)
{
	if (m->kind == MAP_SPLICE)
		return udp_error_splice(u, m);
	(void)udp_error_drain(u, m);
	return true;
}

static void receive(struct watch *w, uint32_t events)
{
	struct map *m = container_of(w, struct map, watch);
	struct udp *u = w->ctx;
	unsigned i, round, max = first_batch(u, m);
	struct flow *f;
	int n = 0;

	if (events & EPOLLERR && !take_errors(u, m))
		return;
	u->emit = m->kind == MAP_SPLICE ? emit_host : emit_guest;
	for (round = 0; round < ROUNDS_MAX && w->fn; round++) {
		n = sock_recv(&u->rx, w->fd, max);
		if (n < 0 && !take_errors(u, m))
			return;
		if (n < 0) /* once more, past what was pending */
			n = sock_recv(&u->rx, w->fd, max);
		if (n <= 0)
			break;
		stats_add(u->stats, HOST_RX_CALLS, 1);
		f = NULL;
		for (i = 0; i < (unsigned)n; i++)
			f = take(u, m, &u->rx.msg[i]);
		m->batch = (uint8_t)next_batch(u, f, &u->rx.msg[0].body);
		if ((unsigned)n < max)
			round = ROUNDS_MAX;
		max = m->batch;
		udp_flush(u);
	}
	/* A stream that is drained: whoever receives it may run on this CPU,
	 * and what comes meanwhile is a batch, doc/decisions/0007.
	 * seccomp(forwarder): sched_yield */
	if (round > ROUNDS_MAX && n >= ROUND_STREAM)
		sched_yield();
}

/* Spliced flows cost a descriptor each; of those that look finished, a few are
 * kept for clients that come back. */
static void trim(struct udp *u)
{
	struct flow *f;

	while ((f = flow_surplus(&u->flows))) {
		udp_map_end_flow(u, f);
		stats_add(u->stats, FLOWS_EVICTED, 1);
	}
}

static void ready(struct watch *w, uint32_t events)
{
	struct udp *u = w->ctx;

	receive(w, events);
	trim(u);
}

void udp_init(struct udp *u, const struct hash_key *key)
{
	unsigned family;

	for (family = 0; family < FAMILY_COUNT; family++)
		u->source[family] = -1;
	u->ready = ready;
	u->refused = udp_error_refused;
	u->emit = emit_host;
	u->tell = (struct tell){
		.tap = u->tap, .stats = u->stats, .loop = u->loop, .fwd = u->fwd
	};
	udp_map_init(u, key);
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
