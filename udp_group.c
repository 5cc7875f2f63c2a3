/* udp_group.c - multicast and broadcast between the guest and the host's links
 *
 * Out: a datagram to a group is sent by the map of the inner endpoint like any
 * other, only its interface is chosen here and not by a route; whoever answers
 * is let in for as long as the flow lasts, since nobody can know who will.
 *
 * In: the guest's kernel reports its groups (mcast.h), and each is joined on
 * the template's interface by sockets that only hold memberships: they make
 * the whole host hear, so listeners of published ports need not join, ten
 * thousand of them included. What they hear of other groups, because a program
 * of the host joined them, is dropped here. A port that is not published but
 * that the guest has used gets a receiver, bound to the group.
 *
 * A datagram to a group has a flow of its own, known by the group in place of
 * a local address, so that it is delivered to the group, and an answer to its
 * sender is an ordinary flow.
 *
 * What our own sockets send comes back to us as to every program of the host.
 * The guest's kernel has given the guest its copy already, so it is dropped. */

#include "udp_group.h"

#include "log.h"
#include "sock_group.h"
#include "udp_flow.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PORT_EPHEMERAL 32768 /* ports from here on are seldom heard at */

static bool is_wanted(const struct udp_group *g, enum family family,
		      uint16_t port)
{
	unsigned i;

	for (i = 0; i < g->n_wanted[family] && i < MCAST_PORTS; i++) {
		if (g->wanted[family][i] == port)
			return true;
	}
	return false;
}

/* Fails where a listener of ours has the port already, and hears the group */
static void open_receiver(struct udp_group *g, const struct addr *group,
			  uint16_t port)
{
	enum family family = addr_family(group);
	struct map proto = { .kind = MAP_GROUP,
			     .family = (uint8_t)sock_family(family),
			     .ours = *group,
			     .inner = end_make(addr_any(family), port, 0),
			     .port = port };
	struct group_receiver *r = g->receiver;
	struct map *m;
	int fd;

	while (r < g->receiver + MCAST_RECEIVERS_MAX && r->map)
		r++;
	if (r == g->receiver + MCAST_RECEIVERS_MAX)
		return;
	fd = sock_group_receiver(proto.family, group, port);
	m = fd < 0 ? NULL : udp_map_open(g->u, &proto, fd);
	if (!m) {
		debug("no receiver for a group at port %u: %s", (unsigned)port,
		      fd < 0 ? strerror(-fd) : "no room");
		return;
	}
	*r = (struct group_receiver){ *group, map_number(&g->u->maps, m) + 1,
				      port };
}

static void want(struct udp_group *g, enum family family, uint16_t port)
{
	const struct mcast_group *m = g->groups.group;

	if (is_wanted(g, family, port))
		return;
	g->wanted[family][g->n_wanted[family]++ % MCAST_PORTS] = port;
	for (; m < g->groups.group + MCAST_GROUPS_MAX; m++) {
		if (m->ends_ms && addr_family(&m->group) == family)
			open_receiver(g, &m->group, port);
	}
}

/* Does the map still stand for what is noted about it? */
static bool is_in_use(const struct udp_group *g, const struct group_sender *s)
{
	const struct map *m = &g->u->maps.map[s->map - 1];

	return m->kind != MAP_FREE && m->port == s->from.port;
}

/* Where to note a sender: once per map, then in place of one that is gone. A
 * conversation that lasts is noted only when it begins. */
static struct group_sender *sender_for(struct udp_group *g, uint32_t map)
{
	struct group_sender *s, *gone = NULL;

	for (s = g->sender; s < g->sender + MCAST_RECEIVERS_MAX; s++) {
		if (s->map == map)
			return s;
		if (!gone && (!s->map || !is_in_use(g, s)))
			gone = s;
	}
	if (gone)
		return gone;
	return &g->sender[g->n_sender++ % MCAST_RECEIVERS_MAX];
}

void udp_group_spoke(struct udp_group *g, const struct flow *f)
{
	enum family family = addr_family(&f->host.addr);
	const struct map *m = &g->u->maps.map[f->map];
	const struct addr *ours = addr_is_set(&f->ours) ? &f->ours : &m->ours;

	if (!(f->flags & FLOW_GROUP)) {
		if (m->kind == MAP_SHARED && f->inner.port < PORT_EPHEMERAL)
			want(g, family, f->inner.port);
		return;
	}
	want(g, family, f->inner.port);
	want(g, family, f->host.port);
	*sender_for(g, f->map + 1) = (struct group_sender){
		.from = end_make(ours, m->port, 0), .map = f->map + 1
	};
}

/* Is @from one of our own sockets that speak to groups? */
static bool is_own(const struct udp_group *g, const struct end *from)
{
	const struct group_sender *s = g->sender;

	for (; s < g->sender + MCAST_RECEIVERS_MAX && s->map; s++) {
		if (addr_eq(&s->from.addr, &from->addr) &&
		    s->from.port == from->port && is_in_use(g, s))
			return true;
	}
	return false;
}

/* Be a member, so that the host and its switches let the group through */
static void enter(struct udp_group *g, const struct addr *group)
{
	enum family family = addr_family(group);
	uint32_t ifindex = g->u->fwd->scope[family];
	struct group_holder *h = g->holder[family];
	char text[ADDR_STRLEN];
	int rc = -ENODEV;
	unsigned i;

	for (i = 0; ifindex && i < MCAST_HOLDERS; i++, h++) {
		if (!h->fd)
			h->fd = sock_open(sock_family(family)) + 1;
		rc = -EMFILE;
		if (h->fd <= 0) {
			h->fd = 0;
			break;
		}
		rc = sock_group_member(h->fd - 1, group, ifindex, true);
		if (rc != -ENOBUFS && rc != -ENOMEM)
			break;
	}
	if (rc && rc != -EADDRINUSE)
		warn("cannot join group %s on the host: %s",
		     addr_format(group, text), strerror(-rc));
}

static void join(struct udp_group *g, const struct addr *group)
{
	enum family family = addr_family(group);
	unsigned i;

	enter(g, group);
	for (i = 0; i < g->n_wanted[family] && i < MCAST_PORTS; i++)
		open_receiver(g, group, g->wanted[family][i]);
}

static void leave(struct udp_group *g, const struct addr *group)
{
	enum family family = addr_family(group);
	uint32_t ifindex = g->u->fwd->scope[family];
	const struct group_holder *h = g->holder[family];
	struct group_receiver *r = g->receiver;

	for (; h < g->holder[family] + MCAST_HOLDERS && h->fd; h++)
		(void)sock_group_member(h->fd - 1, group, ifindex, false);
	for (; r < g->receiver + MCAST_RECEIVERS_MAX; r++) {
		if (!r->map || !addr_eq(&r->group, group))
			continue;
		udp_map_close(g->u, &g->u->maps.map[r->map - 1]);
		r->map = 0;
	}
}

void udp_group_rejoin(struct udp_group *g)
{
	unsigned i;

	for (i = 0; i < FAMILY_COUNT * MCAST_HOLDERS; i++) {
		struct group_holder *h =
			&g->holder[i / MCAST_HOLDERS][i % MCAST_HOLDERS];

		if (h->fd)
			close(h->fd - 1);
		h->fd = 0;
	}
	for (i = 0; i < MCAST_GROUPS_MAX; i++) {
		const struct mcast_group *m = &g->groups.group[i];

		if (m->ends_ms && g->u->fwd->scope[addr_family(&m->group)])
			enter(g, &m->group);
	}
}

void udp_group_report(struct udp_group *g, const struct pkt *p)
{
	struct mcast_change change[MCAST_CHANGES_MAX];
	unsigned i, n = mcast_parse(p, change);

	stats_add(g->u->stats, n ? GROUP_REPORTS : GROUP_IGNORED, 1);
	for (i = 0; i < n; i++) {
		if (!mcast_update(&g->groups, &change[i], g->u->loop->now_ms))
			continue;
		if (change[i].is_join)
			join(g, &change[i].group);
		else
			leave(g, &change[i].group);
	}
}

void udp_group_ask(struct udp_group *g)
{
	const struct udp *u = g->u;
	uint8_t frame[MCAST_QUERY_FRAME];
	enum family family;

	for (family = 0; family < FAMILY_COUNT; family++) {
		const struct addr *src = &u->fwd->ours[family];

		if (!u->conf.has[family] || !addr_is_set(src))
			continue;
		tap_send_frame(u->tap, frame,
			       mcast_query(&u->tap->ends, src, frame));
	}
	mcast_queried(&g->groups, u->loop->now_ms);
}

static int64_t next_query(const struct timer *t)
{
	return mcast_next_query(
		&container_of(t, const struct udp_group, timer)->groups);
}

static void fire(struct timer *t, int64_t now_ms)
{
	struct udp_group *g = container_of(t, struct udp_group, timer);
	struct addr group;

	while (mcast_expired(&g->groups, now_ms, &group))
		leave(g, &group);
	if (g->groups.n)
		udp_group_ask(g);
}

void udp_group_init(struct udp_group *g)
{
	g->timer = (struct timer){ .next_ms = next_query, .fire = fire };
	loop_timer(g->u->loop, &g->timer);
}

static struct flow *drop(struct udp_group *g, const struct sock_msg *msg,
			 enum counter why)
{
	stats_add(g->u->stats, why, piece_segs(&msg->body));
	return NULL;
}

/* A broadcast of another subnet is one of its link to the guest */
static struct addr inner_group(const struct fwd *f, const struct addr *group)
{
	if (addr_is_multicast(group) || fwd_is_group(f, group))
		return *group;
	return addr_v4(INADDR_BROADCAST);
}

struct flow *udp_group_flow(struct udp_group *g, struct map *m,
			    const struct sock_msg *msg)
{
	struct udp *u = g->u;
	enum family family = addr_family(&msg->group);
	struct addr to = inner_group(u->fwd, &msg->group);
	struct flow *f;

	if (addr_is_multicast(&msg->group) &&
	    (msg->ifindex != u->fwd->scope[family] ||
	     !mcast_is_member(&g->groups, &msg->group)))
		return drop(g, msg, DROP_GROUP);
	if (is_own(g, &msg->from))
		return drop(g, msg, DROP_OWN_COPY);
	f = flow_find_host(&u->flows, map_number(&u->maps, m), &msg->from,
			   &msg->group);
	if (f)
		return f;
	return udp_flow_to_group(u, m, msg, &to);
}
