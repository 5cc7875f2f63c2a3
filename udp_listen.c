/* udp_listen.c - published ports of UDP
 *
 * A listener of UDP carries datagrams itself, so it is a map, which owns the
 * descriptor. It also speaks for the inner port it leads to: what the guest
 * sends first from there leaves by it. The number of a listener is that of its
 * map.
 *
 * Listeners never set SO_REUSEADDR, see sock.c. */

#include "udp_listen.h"

#include <errno.h>

static struct udp *udp_of(const struct listen *l)
{
	return container_of(l, struct udp_listen, l)->u;
}

static void setup(int fd, int family, unsigned flags)
{
	sock_setup(fd, family, flags | SOCK_PKTINFO);
}

static bool speaks_for(const struct listener *x, enum family family)
{
	return x->side == LISTEN_HOST &&
	       (x->family == sock_family(family) || x->is_dual);
}

/* Remember which listener stands for an inner port: the first wildcard one,
 * else the first. */
static void note(struct udp *u, const struct listener *x)
{
	unsigned family;

	for (family = 0; family < FAMILY_COUNT; family++) {
		uint32_t *at = &u->by_target[family][x->target];

		if (speaks_for(x, family) &&
		    (!*at || (addr_is_set(&u->maps.map[*at - 1].ours) &&
			      !addr_is_set(&x->ours))))
			*at = x->number + 1;
	}
}

/* Returns whether it was the one that spoke */
static bool forget(struct udp *u, const struct listener *x)
{
	bool was_one = false;
	unsigned family;

	for (family = 0; family < FAMILY_COUNT; family++) {
		uint32_t *at = &u->by_target[family][x->target];

		if (*at != x->number + 1)
			continue;
		*at = 0;
		was_one = true;
	}
	return was_one;
}

/* Another may speak for the port from now on */
static void resign(struct listen *l, const struct listener *x)
{
	struct udp *u = udp_of(l);
	uint32_t i;

	if (!forget(u, x))
		return;
	for (i = 0; i < l->high; i++) {
		const struct listener *other = &l->listener[i];

		if (other != x && other->port && other->target == x->target)
			note(u, other);
	}
}

static int take(struct listen *l, struct listener *x, int fd)
{
	struct udp *u = udp_of(l);
	struct map *m,
		proto = { .kind = x->side == LISTEN_HOST ? MAP_LISTEN_HOST :
							   MAP_LISTEN_NS,
			  .family = x->family,
			  .port = x->port,
			  .ours = x->ours,
			  .device = x->device };

	proto.inner.port = x->target;
	m = udp_map_open(u, &proto, fd);
	if (!m)
		return -ENOSPC;
	x->number = map_number(&u->maps, m);
	note(u, x);
	return 0;
}

static void close_it(struct listen *l, struct listener *x)
{
	struct udp *u = udp_of(l);

	resign(l, x);
	udp_map_close(u, &u->maps.map[x->number]);
}

static void retarget(struct listen *l, struct listener *x, uint16_t target)
{
	struct udp *u = udp_of(l);
	struct listener moved = *x;

	resign(l, x);
	moved.target = target;
	u->maps.map[x->number].inner.port = target;
	note(u, &moved);
}

/* The guest's own map is in the way, and what it carries is the listener's
 * from now on. */
static bool make_way(struct listen *l, uint16_t port)
{
	struct udp *u = udp_of(l);
	bool was_one = false;
	uint32_t i;

	for (i = 0; i < u->maps.high; i++) {
		struct map *m = &u->maps.map[i];

		if (m->kind != MAP_SHARED || m->port != port)
			continue;
		udp_map_close(u, m);
		was_one = true;
	}
	return was_one;
}

/* Maps of the guest */
static void hide(struct listen *l, struct port_set *bound)
{
	const struct map_table *t = &udp_of(l)->maps;
	uint32_t i;

	for (i = 0; i < t->high; i++)
		if (t->map[i].kind == MAP_SHARED)
			port_set_put(bound, t->map[i].port, false);
}

static const struct listen_proto proto = {
	.name = "UDP",
	.type = SOCK_DGRAM,
	.open = sock_open,
	.inside = agent_udp,
	.setup = setup,
	.take = take,
	.close = close_it,
	.retarget = retarget,
	.make_way = make_way,
	.hide = hide,
};

void udp_listen_init(struct udp_listen *l, struct udp *u)
{
	l->u = u;
	l->l.proto = &proto;
}
