/* udp_listen.c - sockets of published ports, fixed or following
 *
 * Each published port is a listener in the map table: one socket per family,
 * or one for both where ranges are so wide that two would not fit the limit of
 * descriptors. Host listeners are opened while the program still has the
 * rights it was started with; those in the namespace come from the agent and
 * are bound to its loopback device, so that nothing else reaches them.
 *
 * "auto" lists the ports that are bound on the other side, once per second,
 * and opens and closes listeners to match. What it must not follow are sockets
 * of our own: listeners of the other direction, and the maps of the guest.
 *
 * Listeners never set SO_REUSEADDR, see sock.c. */

#include "udp_listen.h"

#include "log.h"
#include "netlink.h"

#include <errno.h>
#include <unistd.h>

#define PORT_PRIVILEGED 1024

/** struct wish - one socket to be opened: @side, @family, @flags of sock.h,
 * @rule it comes from, @port and its @target */
struct wish {
	enum listen_side side;
	int family;
	unsigned flags;
	const struct ports_rule *rule;
	uint16_t port;
	uint16_t target;
	bool is_auto;
};

bool udp_listen_dual(const struct ports *p, uint64_t limit)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < p->n; i++)
		n += (uint64_t)(p->rule[i].last - p->rule[i].first) + 1;
	return 2 * n + limit / 16 + FD_RESERVE > limit;
}

static uint32_t device_of(const struct wish *w)
{
	const char *name = w->rule->ifname;

	return w->side == LISTEN_HOST && *name ? sock_ifindex(name) : 0;
}

/* Unset for a wildcard, however it is written. */
static struct addr bound_address(const struct wish *w)
{
	const struct addr *a = &w->rule->bind;

	return w->rule->has_bind && !addr_is_any(a) ? *a : (struct addr){ 0 };
}

static struct end local_end(const struct wish *w)
{
	const struct addr *a = &w->rule->bind;
	uint32_t scope = 0;

	if (!w->rule->has_bind)
		return end_make(&addr_any6, w->port, 0);
	if (addr_needs_scope(a))
		scope = device_of(w);
	return end_make(a, w->port, scope);
}

static int host_socket(const struct udp_listen *l, const struct wish *w)
{
	unsigned flags = l->is_freebind ? SOCK_FREEBIND : 0;
	struct end local = local_end(w);
	int rc, fd = sock_open(w->family);

	if (fd < 0)
		return fd;
	sock_setup(fd, w->family, w->flags | flags | SOCK_PKTINFO | SOCK_FORCE);
	rc = sock_bind(fd, w->family, &local, w->rule->ifname);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* The same for a port that needs a right we gave up */
static int outside_socket(const struct udp_listen *l, const struct wish *w)
{
	struct end local = local_end(w);
	int fd;

	fd = agent_bound(l->outside, w->family, &local, w->rule->ifname);
	if (fd >= 0)
		sock_setup(fd, w->family, SOCK_PKTINFO | SOCK_FORCE);
	return fd;
}

static int ns_socket(const struct udp_listen *l, const struct wish *w)
{
	enum family family = w->family == AF_INET ? FAMILY_V4 : FAMILY_V6;
	struct end local = end_make(addr_any(family), w->port, 0);
	int rc, fd;

	if (w->port < PORT_PRIVILEGED) {
		fd = agent_bound(l->u->agent, w->family, &local, "lo");
		if (fd >= 0)
			sock_setup(fd, w->family, SOCK_PKTINFO);
		return fd;
	}
	fd = agent_udp(l->u->agent, family);
	if (fd < 0)
		return fd;
	sock_setup(fd, w->family, SOCK_PKTINFO);
	rc = sock_bind(fd, w->family, &local, "lo");
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static enum map_kind kind_of(enum listen_side side)
{
	return side == LISTEN_HOST ? MAP_LISTEN_HOST : MAP_LISTEN_NS;
}

/* The listener that would be in the way of this one, if it is our own. */
static struct map *same_listener(const struct udp_listen *l,
				 const struct wish *w)
{
	struct addr ours = bound_address(w);
	struct map_table *t = &l->u->maps;
	uint32_t i;

	for (i = MAP_DYNAMIC_MAX; i < MAP_DYNAMIC_MAX + t->n_listen; i++) {
		struct map *m = &t->map[i];

		if (m->kind == kind_of(w->side) && m->port == w->port &&
		    m->family == w->family && m->device == device_of(w) &&
		    addr_eq(&m->ours, &ours))
			return m;
	}
	return NULL;
}

/* Remember which listener stands for an inner port: the first wildcard one,
 * else the first. */
static void note_one(struct udp *u, enum family family, const struct map *m)
{
	uint32_t *at = &u->by_target[family][m->inner.port];

	if (!*at ||
	    (addr_is_set(&u->maps.map[*at - 1].ours) && !addr_is_set(&m->ours)))
		*at = map_number(&u->maps, m) + 1;
}

static void note_target(struct udp *u, const struct map *m, bool is_dual)
{
	if (m->family == AF_INET || is_dual)
		note_one(u, FAMILY_V4, m);
	if (m->family == AF_INET6)
		note_one(u, FAMILY_V6, m);
}

static void forget_target(struct udp *u, const struct map *m)
{
	unsigned family;

	for (family = 0; family < FAMILY_COUNT; family++) {
		uint32_t *at = &u->by_target[family][m->inner.port];

		if (*at == map_number(&u->maps, m) + 1)
			*at = 0;
	}
}

static int retarget(struct udp_listen *l, const struct wish *w)
{
	struct map *m = same_listener(l, w);

	if (!m)
		return -EADDRINUSE;
	warn("UDP port %u is forwarded again: to port %u from now on",
	     (unsigned)w->port, (unsigned)w->target);
	forget_target(l->u, m);
	m->inner.port = w->target;
	if (w->side == LISTEN_HOST)
		note_target(l->u, m, w->flags & SOCK_DUAL);
	return 0;
}

/* From loopback to loopback, a port of the namespace and the one it leads to
 * may lead to each other: one datagram would go round for ever. */
static bool is_ring(const struct udp_listen *l, const struct wish *w)
{
	enum family family = w->family == AF_INET ? FAMILY_V4 : FAMILY_V6;
	uint32_t i = l->u->by_target[family][w->port];

	return w->side == LISTEN_NS && l->u->fwd->to_loopback && i &&
	       l->u->maps.map[i - 1].port == w->target;
}

static int open_socket(const struct udp_listen *l, const struct wish *w)
{
	if (is_ring(l, w))
		return -ELOOP;
	return w->side == LISTEN_HOST ? host_socket(l, w) : ns_socket(l, w);
}

static int open_one(struct udp_listen *l, const struct wish *w)
{
	int fd = open_socket(l, w);
	struct map *m, proto = { .kind = (uint8_t)kind_of(w->side),
				 .family = (uint8_t)w->family,
				 .port = w->port,
				 .ours = bound_address(w),
				 .device = device_of(w),
				 .is_auto = w->is_auto };

	if (fd == -EACCES && l->outside && w->side == LISTEN_HOST &&
	    !(w->flags & SOCK_DUAL))
		fd = outside_socket(l, w);
	if (fd == -EADDRINUSE && !w->is_auto && !w->rule->is_weak)
		return retarget(l, w);
	if (fd < 0)
		return fd;
	proto.inner.port = w->target;
	m = udp_map_open(l->u, &proto, fd);
	if (!m)
		return -ENOSPC;
	port_set_put(&l->open[w->side], w->port, true);
	if (w->side == LISTEN_HOST)
		note_target(l->u, m, w->flags & SOCK_DUAL);
	return 0;
}

/* A family that this host does not have is no reason to fail. */
static bool is_lacking(int rc)
{
	return rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL;
}

/* Close what was opened for a port before one of its families failed. */
static void give_up(struct udp_listen *l, struct wish *w)
{
	struct map *m;

	w->family = AF_INET;
	m = same_listener(l, w);
	if (!m)
		return;
	forget_target(l->u, m);
	udp_map_close(l->u, m);
	port_set_put(&l->open[w->side], w->port, false);
}

/* All sockets of one port, or none: 0 if there is at least one and no family
 * failed but for being absent. */
static int open_port(struct udp_listen *l, struct wish *w)
{
	bool is_one = w->rule->has_bind;
	bool is_dual = l->is_dual && !is_one && w->side == LISTEN_HOST &&
		       l->u->conf.has[FAMILY_V4] && l->u->conf.has[FAMILY_V6];
	int rc, result = -EAFNOSUPPORT;
	unsigned family;

	for (family = 0; family < FAMILY_COUNT; family++) {
		if (!l->u->conf.has[family] || (is_dual && !family) ||
		    (is_one && addr_family(&w->rule->bind) != family))
			continue;
		w->family = sock_family(family);
		w->flags = is_dual ? SOCK_DUAL : 0;
		rc = open_one(l, w);
		if (rc && (is_one || !is_lacking(rc))) {
			if (!result)
				give_up(l, w);
			return rc;
		}
		if (!rc)
			result = 0;
	}
	return result;
}

static int open_rule(struct udp_listen *l, enum listen_side side,
		     const struct ports_rule *r, struct listen_fail *fail)
{
	struct wish w = { .side = side, .rule = r };
	unsigned port, n_open = 0;
	int rc = 0;

	for (port = r->first; port <= r->last; port++) {
		w.port = (uint16_t)port;
		w.target = (uint16_t)(r->target + (port - r->first));
		rc = open_port(l, &w);
		if (!rc) {
			n_open++;
			continue;
		}
		*fail = (struct listen_fail){ w.port, -rc, r->bind, r->ifname };
		if (!r->is_weak || rc == -EMFILE || rc == -ENFILE)
			return rc;
	}
	return n_open ? 0 : rc;
}

int udp_listen_open(struct udp_listen *l, enum listen_side side,
		    struct listen_fail *ret_fail)
{
	const struct ports *p = l->rules[side];
	unsigned i;
	int rc;

	for (i = 0; i < p->n; i++) {
		rc = open_rule(l, side, &p->rule[i], ret_fail);
		if (rc)
			return rc;
	}
	return 0;
}

static void close_followed(struct udp_listen *l, enum listen_side side,
			   uint16_t port)
{
	struct map_table *t = &l->u->maps;
	uint32_t i;

	for (i = MAP_DYNAMIC_MAX; i < MAP_DYNAMIC_MAX + t->n_listen; i++) {
		struct map *m = &t->map[i];

		if (m->kind != kind_of(side) || m->port != port || !m->is_auto)
			continue;
		forget_target(l->u, m);
		udp_map_close(l->u, m);
	}
	port_set_put(&l->followed[side], port, false);
	port_set_put(&l->open[side], port, false);
}

/* The guest may have spoken from the port before it was seen to be bound: then
 * its own map is in the way, and what it carries is the listener's from now on.
 * Returns: whether there was such a map. */
static bool make_way(struct udp_listen *l, const struct wish *w)
{
	struct map_table *t = &l->u->maps;
	bool was_one = false;
	uint32_t i;

	for (i = 0; i < t->high && w->side == LISTEN_HOST; i++) {
		if (t->map[i].kind != MAP_SHARED || t->map[i].port != w->port)
			continue;
		udp_map_close(l->u, &t->map[i]);
		was_one = true;
	}
	return was_one;
}

/* Open a port at every place where "auto" may have it; one that is in use here
 * is tried again next time. */
static void open_followed(struct udp_listen *l, enum listen_side side,
			  uint16_t port)
{
	const struct ports *p = l->rules[side];
	unsigned i;

	for (i = 0; i < p->n_auto; i++) {
		const struct ports_rule *r = &p->auto_rule[i];
		struct wish w = {
			.side = side, .rule = r, .port = port, .is_auto = true
		};

		if (port < r->first || port > r->last)
			continue;
		w.target = (uint16_t)(r->target + (port - r->first));
		if (open_port(l, &w) == -EADDRINUSE && make_way(l, &w))
			(void)open_port(l, &w);
	}
	if (port_set_has(&l->open[side], port))
		port_set_put(&l->followed[side], port, true);
}

static void follow_port(struct udp_listen *l, enum listen_side side,
			uint16_t port, bool is_bound)
{
	if (!is_bound && port_set_has(&l->followed[side], port))
		close_followed(l, side, port);
	else if (is_bound && !port_set_has(&l->open[side], port))
		open_followed(l, side, port);
}

/* Take ports of our own sockets out of what is bound on the other side. */
static void forget_own(const struct udp_listen *l, enum listen_side side,
		       struct port_set *bound)
{
	const struct map_table *t = &l->u->maps;
	const struct port_set *own = &l->open[!side];
	uint32_t i;

	for (i = 0; i < sizeof(bound->bit); i++)
		bound->bit[i] &= (uint8_t)~own->bit[i];
	if (side == LISTEN_HOST)
		return;
	for (i = 0; i < t->high; i++) {
		if (t->map[i].kind == MAP_SHARED)
			port_set_put(bound, t->map[i].port, false);
	}
}

static void follow(struct udp_listen *l, enum listen_side side)
{
	struct port_set bound = { 0 };
	unsigned port;

	if (!l->rules[side]->is_auto ||
	    netlink_bound(l->diag[!side], IPPROTO_UDP, &bound))
		return;
	forget_own(l, side, &bound);
	for (port = 1; port < 65536; port++)
		follow_port(l, side, (uint16_t)port,
			    port_set_has(&bound, (uint16_t)port));
}

static int64_t next_scan(const struct timer *t)
{
	return container_of(t, struct udp_listen, scan)->next_ms;
}

static void scan(struct timer *t, int64_t now_ms)
{
	struct udp_listen *l = container_of(t, struct udp_listen, scan);

	l->next_ms = now_ms + SCAN_MS;
	follow(l, LISTEN_HOST);
	follow(l, LISTEN_NS);
}

void udp_listen_follow(struct udp_listen *l)
{
	if (!l->rules[LISTEN_HOST]->is_auto && !l->rules[LISTEN_NS]->is_auto)
		return;
	l->scan = (struct timer){ .next_ms = next_scan, .fire = scan };
	loop_timer(l->u->loop, &l->scan);
	scan(&l->scan, l->u->loop->now_ms);
}
