/* udp_map.c - sockets of UDP in use, and how conversations on them end
 *
 * Three tables belong together: maps are sockets, flows are conversations on
 * them, permits are the addresses that flows opened a map for. Here is the only
 * place that changes all three, so a map is closed with its last flow and a
 * permit goes with the flow that stands for it, whoever asked for that.
 *
 * Who is silent longest gives way: a new flow is never refused because old
 * ones linger, nor a new map while there is an old one. Pending runs name flows
 * by number, so everything that deletes a flow flushes them first.
 *
 * It does not decide who may begin a conversation, and carries no datagram. */

#include "udp_map.h"

#include <sys/epoll.h>
#include <unistd.h>

#define EXPIRE_AT_ONCE 1024 /* flows of one timer call, then the loop's turn */

void udp_flush(struct udp *u)
{
	unsigned i;

	for (i = 0; i < u->runs.n; i++)
		u->emit(u, &u->runs.run[i]);
	u->runs.n = 0;
	u->round++;
}

uint32_t udp_now_s(const struct udp *u)
{
	return (uint32_t)(u->loop->now_ms / 1000);
}

static bool is_dynamic(const struct map *m)
{
	return m->kind != MAP_LISTEN_HOST && m->kind != MAP_LISTEN_NS &&
	       m->kind != MAP_GROUP;
}

static void close_map(struct udp *u, struct map *m)
{
	u->closed_drops += sock_drops(m->watch.fd);
	loop_del(u->loop, &m->watch);
	close(m->watch.fd);
	m->watch.fd = -1;
	map_free(&u->maps, m);
}

void udp_map_drop(struct udp *u, struct map *m)
{
	if (!m->flows && is_dynamic(m))
		close_map(u, m);
}

struct map *udp_map_open(struct udp *u, const struct map *proto, int fd)
{
	struct map *m = map_new(&u->maps, proto, udp_now_s(u));

	if (!m && is_dynamic(proto) && udp_map_make_room(u))
		m = map_new(&u->maps, proto, udp_now_s(u));
	if (!m) {
		close(fd);
		return NULL;
	}
	m->watch = (struct watch){ .fn = u->ready, .ctx = u, .fd = fd };
	m->mark = sock_mark_set;
	m->born_ms = (uint32_t)u->loop->now_ms;
	if (loop_add(u->loop, &m->watch, EPOLLIN)) {
		map_free(&u->maps, m);
		close(fd);
		return NULL;
	}
	if (is_dynamic(m))
		stats_add(u->stats, MAPS_NEW, 1);
	return m;
}

void udp_map_close(struct udp *u, struct map *m)
{
	struct flow *f;

	udp_flush(u);
	if (m->kind == MAP_SPLICE) { /* goes with its flow */
		udp_map_end_flow(u, flow_of_map(&u->flows, m->flows));
		return;
	}
	while ((f = flow_of_map(&u->flows, m->flows))) {
		bool was_last = is_dynamic(m) && !f->map_next;

		udp_map_end_flow(u, f);
		if (was_last)
			return;
	}
	close_map(u, m);
}

bool udp_map_make_room(struct udp *u)
{
	struct map *m = map_victim(&u->maps);

	if (!m)
		return false;
	udp_map_close(u, m);
	stats_add(u->stats, MAPS_EVICTED, 1);
	return true;
}

/* Whom a flow lets in: its remote, or anybody, since anybody may answer what
 * was said to a group, and from any port. */
static const struct addr *permitted(const struct flow *f)
{
	return f->flags & FLOW_GROUP ? &addr_any6 : &f->host.addr;
}

/* Forget a flow, and close its far socket; its map stays. */
static void forget(struct udp *u, struct flow *f)
{
	struct map *m = &u->maps.map[f->map];

	if (f->flags & FLOW_PERMIT)
		permit_del(&u->permits, f->map, permitted(f));
	flow_del(&u->flows, f, &m->flows);
	if (f->flags & FLOW_SPLICED) {
		struct map *far = &u->maps.map[f->peer];

		far->flows = 0;
		close_map(u, far);
	}
}

void udp_map_end_flow(struct udp *u, struct flow *f)
{
	struct map *m = &u->maps.map[f->map];

	forget(u, f);
	udp_map_drop(u, m);
}

/* End the flow that is missed least. Map @keep is about to be used, so it
 * stays even if that was its only flow. */
static void make_flow_room(struct udp *u, uint32_t keep)
{
	struct flow *f = flow_victim(&u->flows);

	if (!f)
		return;
	udp_flush(u);
	if (f->map == keep)
		forget(u, f);
	else
		udp_map_end_flow(u, f);
	stats_add(u->stats, FLOWS_EVICTED, 1);
}

struct flow *udp_map_add_flow(struct udp *u, const struct flow *f)
{
	uint32_t *list = &u->maps.map[f->map].flows;
	struct flow *new = flow_add(&u->flows, f, list, udp_now_s(u));

	if (!new) {
		make_flow_room(u, f->map);
		new = flow_add(&u->flows, f, list, udp_now_s(u));
	}
	if (!new)
		return NULL;
	if (f->flags & FLOW_PERMIT)
		permit_add(&u->permits, f->map, permitted(f));
	stats_add(u->stats, FLOWS_NEW, 1);
	return new;
}

static int64_t next_expiry(const struct timer *t)
{
	const struct udp *u = container_of(t, const struct udp, expiry);
	uint32_t at = flow_next_deadline(&u->flows);

	return at == UINT32_MAX ? INT64_MAX : (int64_t)at * 1000;
}

static void expire(struct timer *t, int64_t now_ms)
{
	struct udp *u = container_of(t, struct udp, expiry);
	uint32_t now_s = (uint32_t)(now_ms / 1000);
	struct flow *f;
	unsigned n;

	for (n = 0; n < EXPIRE_AT_ONCE; n++) {
		f = flow_expired(&u->flows, now_s);
		if (!f)
			break;
		udp_map_end_flow(u, f);
		stats_add(u->stats, FLOWS_EXPIRED, 1);
	}
}

void udp_map_init(struct udp *u, const struct hash_key *key)
{
	map_table_init(&u->maps, key, u->conf.n_maps);
	u->permits.key = *key;
	flow_table_init(&u->flows, key, u->conf.idle_s, DNS_IDLE_MS / 1000);
	sock_rx_init(&u->rx);
	u->expiry = (struct timer){ .next_ms = next_expiry, .fire = expire };
	loop_timer(u->loop, &u->expiry);
}
