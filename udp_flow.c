/* udp_flow.c - begins UDP conversations
 *
 * Who speaks first decides the socket. The guest's first datagram from an
 * endpoint opens a map: one host socket, and every remote is served by it
 * (RFC 4787 REQ-1). Remotes behind an alias get a connected socket of their
 * own, since what comes back must be theirs alone. A remote that speaks to a
 * published port uses the listener, both ways.
 *
 * It does not carry a single datagram. */

#include "udp_flow.h"

#include "sock_group.h"
#include "udp_open.h"

#include <errno.h>

#define PORT_DNS 53
#define PORT_DNS_TLS 853

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
		return udp_open_map(u, &proto, &f->host,
				    kind == FWD_OWN_ANY_PORT);
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
	return udp_open_map(u, &proto, NULL, false);
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
	new = udp_map_add_flow(u, f);
	if (!new)
		udp_map_drop(u, m);
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
	rc = udp_open_source(u, &f.host, &ours);
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

	for (i = 0; i < FWD_PORT_TRIES; i++) {
		if (!flow_find_guest(&u->flows, PROTO_UDP, &f->inner,
				     &f->visible))
			return true;
		f->visible.port = fwd_other_port(f->host.port, u->flows.n + i);
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
