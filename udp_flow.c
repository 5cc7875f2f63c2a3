/* udp_flow.c - begins and ends UDP conversations
 *
 * Who speaks first decides the socket. The guest's first datagram from an
 * endpoint opens a map: one host socket bound to the address that the route
 * chooses and, if it can be had, to the guest's own port; every remote is
 * served by it (RFC 4787 REQ-1). Remotes behind an alias get a connected
 * socket of their own, since what comes back must be theirs alone. A remote
 * that speaks to a published port uses the listener, both ways.
 *
 * Who is silent longest gives way: a new flow is never refused because old
 * ones linger. Pending runs name flows by number, so everything that deletes a
 * flow flushes them first.
 *
 * It does not carry a single datagram. */

#include "udp_flow.h"

#include "sock_group.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EXPIRE_AT_ONCE 1024 /* flows of one timer call, then the loop's turn */
#define VISIBLE_TRIES 128
#define VISIBLE_FIRST 49152 /* RFC 6335 dynamic ports */
#define VISIBLE_COUNT 16384
#define PORT_DNS 53
#define PORT_DNS_TLS 853

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

void udp_socket_close(struct udp *u, struct map *m)
{
	u->closed_drops += sock_drops(m->watch.fd);
	loop_del(u->loop, &m->watch);
	close(m->watch.fd);
	m->watch.fd = -1;
	map_free(&u->maps, m);
}

struct map *udp_map_open(struct udp *u, const struct map *proto, int fd)
{
	struct map *m = map_new(&u->maps, proto, udp_now_s(u));

	if (!m && is_dynamic(proto) && udp_make_room(u))
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
		udp_flow_close(u, flow_of_map(&u->flows, m->flows));
		return;
	}
	while ((f = flow_of_map(&u->flows, m->flows))) {
		bool was_last = is_dynamic(m) && !f->map_next;

		udp_flow_close(u, f);
		if (was_last)
			return;
	}
	udp_socket_close(u, m);
}

bool udp_make_room(struct udp *u)
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
		udp_socket_close(u, far);
	}
}

void udp_flow_close(struct udp *u, struct flow *f)
{
	struct map *m = &u->maps.map[f->map];

	forget(u, f);
	if (!m->flows && is_dynamic(m))
		udp_socket_close(u, m);
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
		udp_flow_close(u, f);
	stats_add(u->stats, FLOWS_EVICTED, 1);
}

struct flow *udp_flow_add(struct udp *u, const struct flow *f)
{
	uint32_t *list = &u->maps.map[f->map].flows;
	struct flow *new = flow_add(&u->flows, f, list, udp_now_s(u));

	if (!new) {
		make_flow_room(u, f->map);
		new = flow_add(&u->flows, f, list, udp_now_s(u));
	}
	if (new)
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
		udp_flow_close(u, f);
		stats_add(u->stats, FLOWS_EXPIRED, 1);
	}
}

void udp_flow_init(struct udp *u, const struct hash_key *key)
{
	map_table_init(&u->maps, key, u->conf.n_maps);
	u->permits.key = *key;
	flow_table_init(&u->flows, key, u->conf.idle_s, DNS_IDLE_MS / 1000);
	sock_rx_init(&u->rx);
	u->expiry = (struct timer){ .next_ms = next_expiry, .fire = expire };
	loop_timer(u->loop, &u->expiry);
}

/* A socket here; the descriptor limit is one more reason to evict. */
static int open_socket(struct udp *u, int family)
{
	int fd = sock_open(family);

	if ((fd == -EMFILE || fd == -ENFILE) && udp_make_room(u))
		fd = sock_open(family);
	return fd;
}

int udp_source(struct udp *u, const struct end *remote, struct addr *ret_addr)
{
	enum family family = addr_family(&remote->addr);
	int *fd = &u->source[family];

	if (addr_is_set(&u->conf.outbound[family]) &&
	    !addr_is_loopback(&remote->addr)) {
		*ret_addr = u->conf.outbound[family];
		return 0;
	}
	if (fwd_is_group(u->fwd, &remote->addr))
		return sock_group_source(sock_family(family), remote, ret_addr);
	if (*fd < 0)
		*fd = open_socket(u, sock_family(family));
	if (*fd < 0)
		return *fd;
	return sock_source(*fd, sock_family(family), remote, ret_addr);
}

/* Bind to the guest's own port if it is to be had, else to any. */
static int bind_near(struct udp *u, int fd, const struct map *m, bool any_port)
{
	enum family family = addr_family(&m->ours);
	const char *device = addr_is_loopback(&m->ours) ?
				     "" :
				     u->conf.device[family];
	uint16_t port = m->inner.port;
	uint32_t scope = addr_needs_scope(&m->ours) ? u->fwd->scope[family] : 0;
	struct end local = end_make(&m->ours, port, scope);
	int rc;

	if (!any_port && !port_set_has(&u->reserved, port)) {
		rc = sock_bind(fd, m->family, &local, device);
		if (!rc)
			return 0;
	}
	local.port = 0;
	return sock_bind(fd, m->family, &local, device);
}

/* A socket that is set up, and bound as @m says. */
static int open_bound(struct udp *u, const struct map *m, bool any_port)
{
	int rc, fd = open_socket(u, m->family);

	if (fd < 0)
		return fd;
	sock_setup(fd, m->family, 0);
	rc = bind_near(u, fd, m, any_port);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int udp_open_to(struct udp *u, const struct end *remote)
{
	struct map m = { .family = (uint8_t)sock_family(
				 addr_family(&remote->addr)) };
	int fd, rc = udp_source(u, remote, &m.ours);

	if (rc)
		return rc;
	fd = open_bound(u, &m, true);
	rc = fd < 0 ? fd : sock_connect(fd, m.family, remote);
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

static struct map *open_map(struct udp *u, struct map *proto,
			    const struct end *remote, bool any_port)
{
	int rc, fd = open_bound(u, proto, any_port);
	struct end local = { 0 };

	if (fd < 0)
		return NULL;
	rc = remote ? sock_connect(fd, proto->family, remote) :
		      sock_local(fd, &local);
	if (rc) {
		close(fd);
		return NULL;
	}
	proto->port = local.port;
	return udp_map_open(u, proto, fd);
}

/* A listener of an interface speaks by that one only. Which one a route chose
 * is known just of the address that is the host's own to the guest. */
static bool is_way_of(const struct udp *u, const struct map *m,
		      const struct addr *ours)
{
	enum family family = addr_family(ours);

	return !m->device || (m->device == u->fwd->scope[family] &&
			      addr_eq(ours, &u->fwd->host[family]));
}

/* The listener whose port is published for an inner port, if it can speak
 * from @ours: what a published port sends first comes from there. */
static struct map *listener_for(struct udp *u, const struct end *inner,
				const struct addr *ours)
{
	uint32_t i = u->by_target[addr_family(ours)][inner->port];
	struct map *m;

	if (!i)
		return NULL;
	m = &u->maps.map[i - 1];
	if (m->kind != MAP_LISTEN_HOST || !is_way_of(u, m, ours))
		return NULL;
	return !addr_is_set(&m->ours) || addr_eq(&m->ours, ours) ? m : NULL;
}

/* The socket for a flow of the guest; @f has both remotes and the inner end. */
static struct map *map_for(struct udp *u, struct flow *f, enum fwd_kind kind,
			   const struct addr *ours)
{
	struct map proto = { .inner = f->inner,
			     .ours = *ours,
			     .family = (uint8_t)sock_family(
				     addr_family(ours)) };
	struct map *m;

	if (kind == FWD_OWN || kind == FWD_OWN_ANY_PORT) {
		proto.kind = MAP_OWN;
		return open_map(u, &proto, &f->host, kind == FWD_OWN_ANY_PORT);
	}
	m = listener_for(u, &f->inner, ours);
	if (m && !flow_find_host(&u->flows, map_number(&u->maps, m), &f->host,
				 ours)) {
		f->ours = *ours;
		return m;
	}
	m = map_find(&u->maps, &f->inner, ours);
	if (m)
		return m;
	proto.kind = MAP_SHARED;
	return open_map(u, &proto, NULL, false);
}

static bool is_query(uint16_t port)
{
	return port == PORT_DNS || port == PORT_DNS_TLS;
}

static struct flow *refuse(struct udp *u, const struct pkt *p, enum counter why)
{
	stats_add(u->stats, why, piece_segs(&p->body));
	return NULL;
}

/* Enter @f on map @m, which is closed again if that fails and it is unused. */
static struct flow *enter(struct udp *u, struct flow *f, struct map *m)
{
	struct flow *new;

	f->map = map_number(&u->maps, m);
	f->proto = PROTO_UDP;
	if (m->kind == MAP_SHARED)
		f->flags |= FLOW_PERMIT;
	new = udp_flow_add(u, f);
	if (!new) {
		if (is_dynamic(m) && !m->flows)
			udp_socket_close(u, m);
		return NULL;
	}
	if (m->kind == MAP_SHARED)
		permit_add(&u->permits, f->map, permitted(f));
	return new;
}

static struct flow *flow_at(struct udp *u, const struct pkt *p,
			    const struct addr *own)
{
	struct end inner = end_make(own, p->src.port, p->src.scope);
	struct flow *f;

	f = flow_find_guest(&u->flows, PROTO_UDP, &inner, &p->dst);
	return f && !(f->flags & FLOW_BY_GUEST) ? f : NULL;
}

/* A guest with several addresses may answer from another than it was asked at;
 * who asked knows one address only. */
static struct flow *flow_asked(struct udp *u, const struct pkt *p)
{
	enum family family = addr_family(&p->src.addr);
	struct flow *f = flow_at(u, p, &u->fwd->guest[family]);

	return f ? f : flow_at(u, p, &u->fwd->seen[family]);
}

static bool is_allowed(const struct udp *u, const struct end *dst,
		       const struct end *host)
{
	return !u->policy || policy_permits(u->policy, dst, host);
}

struct flow *udp_flow_from_guest(struct udp *u, const struct pkt *p)
{
	struct flow f = { .visible = p->dst,
			  .inner = p->src,
			  .flags = FLOW_BY_GUEST };
	enum fwd_kind kind = fwd_from_guest(u->fwd, &p->dst, &f.host);
	struct addr ours;
	struct flow *new;
	struct map *m;
	int rc;

	new = flow_asked(u, p);
	if (new)
		return new;
	if (kind == FWD_REFUSE)
		return refuse(u, p, DROP_NO_TARGET);
	if (!is_allowed(u, &p->dst, kind == FWD_QUERY ? NULL : &f.host)) {
		u->refused(u, p, EACCES);
		return refuse(u, p, DROP_DENIED);
	}
	if (kind == FWD_QUERY) {
		u->query->take(u->query, p);
		return NULL;
	}
	rc = udp_source(u, &f.host, &ours);
	if (rc) {
		u->refused(u, p, -rc);
		return refuse(u, p, DROP_NO_ROUTE);
	}
	if (is_query(f.host.port))
		f.flags |= FLOW_QUERY;
	if (kind == FWD_GROUP)
		f.flags |= FLOW_GROUP;
	m = map_for(u, &f, kind, &ours);
	if (!m)
		return refuse(u, p, DROP_NO_SOCKET);
	if (kind == FWD_GROUP)
		sock_group_allow(m->watch.fd);
	new = enter(u, &f, m);
	return new ? new : refuse(u, p, DROP_TABLE_FULL);
}

/* May a remote that nobody spoke to yet use this map? RFC 4787 REQ-8. */
static bool is_permitted(const struct udp *u, const struct map *m,
			 const struct addr *remote)
{
	uint32_t map = map_number(&u->maps, m);

	if (m->kind != MAP_SHARED || u->fwd->filter == FILTER_ENDPOINT ||
	    permit_has(&u->permits, map, &addr_any6))
		return true;
	return u->fwd->filter == FILTER_ADDRESS &&
	       permit_has(&u->permits, map, remote);
}

/* Two remotes that would look the same to the guest: the later one gets
 * another visible port. */
static bool make_visible(struct udp *u, struct flow *f)
{
	unsigned i;

	for (i = 0; i < VISIBLE_TRIES; i++) {
		if (!flow_find_guest(&u->flows, PROTO_UDP, &f->inner,
				     &f->visible))
			return true;
		f->visible.port = (uint16_t)(VISIBLE_FIRST +
					     (f->host.port + u->flows.n + i) %
						     VISIBLE_COUNT);
	}
	return false;
}

static struct flow *refuse_host(struct udp *u, const struct sock_msg *msg,
				enum counter why)
{
	stats_add(u->stats, why, piece_segs(&msg->body));
	return NULL;
}

struct flow *udp_flow_from_host(struct udp *u, struct map *m,
				const struct sock_msg *msg)
{
	struct flow f = { .host = msg->from, .ours = msg->to };
	struct flow *new;

	if (!addr_is_unicast(&msg->from.addr) || !msg->from.port)
		return refuse_host(u, msg, DROP_BAD_ADDR);
	if (!is_permitted(u, m, &msg->from.addr))
		return refuse_host(u, msg, DROP_FILTERED);
	if (!fwd_from_host(u->fwd, &msg->from, &f.visible, &f.inner))
		return refuse_host(u, msg, DROP_NO_TARGET);
	if (m->kind == MAP_SHARED)
		f.inner = m->inner;
	else
		f.inner.port = m->inner.port;
	if (!make_visible(u, &f))
		return refuse_host(u, msg, DROP_TABLE_FULL);
	new = enter(u, &f, m);
	return new ? new : refuse_host(u, msg, DROP_TABLE_FULL);
}

struct flow *udp_flow_to_group(struct udp *u, struct map *m,
			       const struct sock_msg *msg,
			       const struct addr *to)
{
	struct flow f = { .host = msg->from, .ours = msg->group };
	struct flow *new;

	if (!addr_is_unicast(&msg->from.addr) || !msg->from.port)
		return refuse_host(u, msg, DROP_BAD_ADDR);
	if (!fwd_from_host(u->fwd, &msg->from, &f.visible, &f.inner))
		return refuse_host(u, msg, DROP_NO_TARGET);
	f.inner = end_make(to, m->inner.port, 0);
	if (!make_visible(u, &f))
		return refuse_host(u, msg, DROP_TABLE_FULL);
	new = enter(u, &f, m);
	return new ? new : refuse_host(u, msg, DROP_TABLE_FULL);
}
