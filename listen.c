/* listen.c - sockets of published ports, fixed or following
 *
 * Each published port is a listener: one socket per family, or one for both
 * where ranges are so wide that two would not fit the limit of descriptors.
 * Host listeners are opened while the program still has the rights it was
 * started with; those in the namespace come from the agent and are bound to its
 * loopback device, so that nothing else reaches them.
 *
 * Records are numbered and never move, since the loop keeps pointers to their
 * watches; those of one port hang in a chain, so ranges of any width open in a
 * time that grows with their number alone.
 *
 * Not here: what "auto" finds bound (listen_auto.c). */

#include "listen.h"

#include "log.h"
#include "sock.h"

#include <errno.h>
#include <net/if.h>
#include <unistd.h>

#define PORT_PRIVILEGED 1024

bool listen_dual(const struct ports *const *p, unsigned n, uint64_t limit)
{
	uint64_t n_ports = 0;
	unsigned i, k;

	for (k = 0; k < n; k++)
		for (i = 0; i < p[k]->n; i++)
			n_ports += 1u + p[k]->rule[i].last -
				   p[k]->rule[i].first;
	return 2 * n_ports + limit / 16 + FD_RESERVE > limit;
}

/* Records */

static struct listener *listener_at(struct listen *l, uint32_t number_1)
{
	return number_1 ? &l->listener[number_1 - 1] : NULL;
}

static struct listener *first_of(struct listen *l, unsigned side, uint16_t port)
{
	return listener_at(l, l->by_port[side][port]);
}

static struct listener *add_record(struct listen *l, const struct listener *x)
{
	uint32_t *chain = &l->by_port[x->side][x->port];
	struct listener *new = listener_at(l, l->free);

	if (new)
		l->free = new->next;
	else if (l->high < LISTEN_MAX)
		new = &l->listener[l->high++];
	else
		return NULL;
	*new = *x;
	new->watch.fd = -1;
	new->next = *chain;
	*chain = (uint32_t)(new - l->listener) + 1;
	port_set_put(&l->open[x->side], x->port, true);
	l->n++;
	return new;
}

static void remove_record(struct listen *l, struct listener *x)
{
	uint32_t number_1 = (uint32_t)(x - l->listener) + 1;
	uint32_t *at = &l->by_port[x->side][x->port];

	while (*at != number_1)
		at = &l->listener[*at - 1].next;
	*at = x->next;
	if (!l->by_port[x->side][x->port])
		port_set_put(&l->open[x->side], x->port, false);
	x->port = 0;
	x->next = l->free;
	l->free = number_1;
	l->n--;
}

static void close_listener(struct listen *l, struct listener *x)
{
	l->proto->close(l, x);
	remove_record(l, x);
}

/* The listener that would be in the way of this one, if it is our own */
static struct listener *same_listener(struct listen *l,
				      const struct listener *x)
{
	struct listener *old = first_of(l, x->side, x->port);

	while (old && (old->family != x->family || old->device != x->device ||
		       !addr_eq(&old->ours, &x->ours)))
		old = listener_at(l, old->next);
	return old;
}

/* Sockets */

static struct end local_end(const struct listener *x)
{
	const struct addr *a = &x->rule->bind;

	if (!x->rule->has_bind)
		return end_make(&addr_any6, x->port, 0);
	return end_make(a, x->port, addr_needs_scope(a) ? x->device : 0);
}

/* Set up and bind; returns @fd, or -errno with it closed */
static int bound(const struct listen *l, int fd, const struct listener *x,
		 const struct end *local, const char *device)
{
	unsigned flags = x->is_dual ? SOCK_DUAL : 0;
	int rc;

	if (x->side == LISTEN_HOST)
		flags |= SOCK_FORCE | (l->is_freebind ? SOCK_FREEBIND : 0);
	l->proto->setup(fd, x->family, flags);
	rc = sock_bind(fd, x->family, local, device);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* One of a port that needs a right we do not have */
static int bound_by(const struct listen *l, struct agent *a,
		    const struct listener *x, const struct end *local,
		    const char *device)
{
	int fd = agent_bound(a, l->proto->type, x->family, local, device);

	if (fd >= 0)
		l->proto->setup(fd, x->family,
				x->side == LISTEN_HOST ? SOCK_FORCE : 0);
	return fd;
}

static int host_socket(const struct listen *l, const struct listener *x)
{
	struct end local = local_end(x);
	int fd = l->proto->open(x->family);

	if (fd >= 0)
		fd = bound(l, fd, x, &local, x->rule->ifname);
	if (fd == -EACCES && l->outside && !x->is_dual)
		fd = bound_by(l, l->outside, x, &local, x->rule->ifname);
	return fd;
}

static int ns_socket(const struct listen *l, const struct listener *x)
{
	enum family family = x->family == AF_INET ? FAMILY_V4 : FAMILY_V6;
	struct end local = end_make(addr_any(family), x->port, 0);
	int fd;

	if (x->port < PORT_PRIVILEGED)
		return bound_by(l, l->agent, x, &local, "lo");
	fd = l->proto->inside(l->agent, family);
	return fd < 0 ? fd : bound(l, fd, x, &local, "lo");
}

/* Rings */

static bool hears_loopback(const struct listener *x, uint8_t family)
{
	if (x->family != family && !x->is_dual)
		return false;
	return x->side == LISTEN_NS ||
	       ((!x->device || x->device == LOOPBACK_IFINDEX) &&
		(!addr_is_set(&x->ours) || addr_is_loopback(&x->ours)));
}

/* Where loopback traffic of a port goes on to */
static struct listener *hearer(struct listen *l, unsigned side, uint16_t port,
			       uint8_t family)
{
	struct listener *x = first_of(l, side, port);

	while (x && !hears_loopback(x, family))
		x = listener_at(l, x->next);
	return x;
}

/* From loopback to loopback, ports may lead to each other: what arrives would
 * go round for ever. Follow the way from the far side until it ends. */
static bool is_ring(struct listen *l, const struct listener *x)
{
	unsigned side = x->side;
	uint16_t port = x->target;
	uint32_t steps;

	if (!l->fwd->to_loopback || !hears_loopback(x, x->family))
		return false;
	for (steps = 0; steps <= l->n; steps++) {
		const struct listener *next;

		side = !side;
		next = hearer(l, side, port, x->family);
		if (!next)
			return false;
		port = next->target;
		if (side != x->side && port == x->port)
			return true;
	}
	return true;
}

/* Ports */

/* Returns 0 or -errno, with @fd closed */
static int enter(struct listen *l, const struct listener *want, int fd)
{
	struct listener *x = add_record(l, want);
	int rc;

	if (!x) {
		close(fd);
		return -ENOSPC;
	}
	rc = l->proto->take(l, x, fd);
	if (rc)
		remove_record(l, x);
	return rc;
}

static int retarget(struct listen *l, const struct listener *want)
{
	struct listener *x = same_listener(l, want);

	if (!x)
		return -EADDRINUSE;
	warn("%s port %u is forwarded again: to port %u from now on",
	     l->proto->name, (unsigned)x->port, (unsigned)want->target);
	if (l->proto->retarget)
		l->proto->retarget(l, x, want->target);
	x->target = want->target;
	x->rule = want->rule;
	return 0;
}

static int open_one(struct listen *l, const struct listener *x)
{
	int rc;

	if (is_ring(l, x))
		return -ELOOP;
	rc = x->side == LISTEN_HOST ? host_socket(l, x) : ns_socket(l, x);
	if (rc >= 0)
		rc = enter(l, x, rc);
	if (rc == -EADDRINUSE && !x->is_auto && !x->rule->is_weak)
		return retarget(l, x);
	return rc;
}

/* A family that this host does not have is no reason to fail */
static bool is_lacking(int rc)
{
	return rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL;
}

/* Close what was opened for a port before one of its families failed */
static void give_up(struct listen *l, const struct listener *failed)
{
	struct listener other = *failed;
	struct listener *x;

	other.family = AF_INET;
	x = same_listener(l, &other);
	if (x)
		close_listener(l, x);
}

static uint16_t target_of(const struct ports_rule *r, unsigned port)
{
	return (uint16_t)(r->target + (port - r->first));
}

/* What the rule says about all its ports */
static struct listener of_rule(const struct ports_rule *r,
			       enum listen_side side)
{
	struct listener x = { .side = (uint8_t)side, .rule = r };

	/* A wildcard is unset, however it is written */
	if (r->has_bind && !addr_is_any(&r->bind))
		x.ours = r->bind;
	if (side == LISTEN_HOST && *r->ifname)
		x.device = sock_ifindex(r->ifname);
	return x;
}

/* All sockets of one port, or none: 0 if there is at least one and no family
 * failed but for being absent */
static int open_port(struct listen *l, struct listener *x, uint16_t port)
{
	bool is_one = x->rule->has_bind;
	int rc, result = -EAFNOSUPPORT;
	unsigned family;

	x->port = port;
	x->target = target_of(x->rule, port);
	x->is_dual = l->is_dual && !is_one && x->side == LISTEN_HOST &&
		     l->has[FAMILY_V4] && l->has[FAMILY_V6];
	for (family = 0; family < FAMILY_COUNT; family++) {
		if (!l->has[family] || (x->is_dual && !family) ||
		    (is_one && addr_family(&x->rule->bind) != family))
			continue;
		x->family = (uint8_t)sock_family(family);
		rc = open_one(l, x);
		if (rc && (is_one || !is_lacking(rc))) {
			if (!result)
				give_up(l, x);
			return rc;
		}
		if (!rc)
			result = 0;
	}
	return result;
}

/* Returns the first failure; a weak rule is content with one port */
static int open_rule(struct listen *l, enum listen_side side,
		     const struct ports_rule *r, struct listen_fail *fail)
{
	struct listener x = of_rule(r, side);
	bool goes_on = r->is_weak || side == LISTEN_NS;
	unsigned port, n_open = 0;
	int rc, result = 0;

	for (port = r->first; port <= r->last; port++) {
		rc = open_port(l, &x, (uint16_t)port);
		n_open += !rc;
		if (!rc || (result && goes_on && !sock_is_exhausted(rc)))
			continue;
		*fail = (struct listen_fail){ (uint16_t)port, -rc, r->bind,
					      r->ifname };
		result = rc;
		if (!goes_on || sock_is_exhausted(rc))
			return rc;
	}
	return r->is_weak && n_open ? 0 : result;
}

int listen_open(struct listen *l, enum listen_side side,
		struct listen_fail *ret_fail)
{
	const struct ports *p = l->rules[side];
	struct listen_fail fail;
	int rc, result = 0;
	unsigned i;

	for (i = 0; i < p->n; i++) {
		rc = open_rule(l, side, &p->rule[i], &fail);
		if (!rc || result)
			continue;
		*ret_fail = fail;
		result = rc;
		if (side == LISTEN_HOST)
			break;
	}
	return result;
}

/* Following */

/* Of a port, those whose target is bound no more */
static void close_followed(struct listen *l, enum listen_side side,
			   uint16_t port, const struct port_set *bound)
{
	struct listener *x = first_of(l, side, port);
	bool is_left = false;

	while (x) {
		struct listener *next = listener_at(l, x->next);

		if (x->is_auto && !port_set_has(bound, x->target))
			close_listener(l, x);
		else
			is_left |= x->is_auto;
		x = next;
	}
	port_set_put(&l->followed[side], port, is_left);
}

/* Is the port open by @r already, or always, where @r has it? */
static bool is_served(struct listen *l, enum listen_side side, uint16_t port,
		      const struct ports_rule *r)
{
	struct listener *x = first_of(l, side, port);

	for (; x; x = listener_at(l, x->next)) {
		bool is_apart = x->rule->has_bind && r->has_bind &&
				!addr_eq(&x->rule->bind, &r->bind);

		if (x->rule == r || (!x->is_auto && !is_apart))
			return true;
	}
	return false;
}

/* The guest may have spoken from the port before it was seen to be bound */
static bool make_way(struct listen *l, enum listen_side side, uint16_t port)
{
	return side == LISTEN_HOST && l->proto->make_way &&
	       l->proto->make_way(l, port);
}

/* One that is in use here is tried again next time */
static void open_followed(struct listen *l, enum listen_side side,
			  uint16_t port, const struct ports_rule *r)
{
	struct listener x = of_rule(r, side);

	x.is_auto = true;
	if (open_port(l, &x, port) == -EADDRINUSE && make_way(l, side, port))
		(void)open_port(l, &x, port);
	if (port_set_has(&l->open[side], port))
		port_set_put(&l->followed[side], port, true);
}

/* Open what leads to @target, at every place where "auto" may have it */
static void lead_to(struct listen *l, enum listen_side side, unsigned target)
{
	const struct ports *p = l->rules[side];
	unsigned i;

	for (i = 0; i < p->n_auto; i++) {
		const struct ports_rule *r = &p->auto_rule[i];
		unsigned port = r->first + target - r->target;

		if (target >= r->target && port <= r->last &&
		    !is_served(l, side, (uint16_t)port, r))
			open_followed(l, side, (uint16_t)port, r);
	}
}

void listen_follow(struct listen *l, enum listen_side side,
		   const struct port_set *bound)
{
	const struct port_set *followed = &l->followed[side];
	unsigned i, k;

	for (i = 0; i < sizeof(bound->bit); i++)
		for (k = 0; followed->bit[i] >> k; k++)
			if (followed->bit[i] >> k & 1)
				close_followed(l, side, (uint16_t)(i * 8 + k),
					       bound);
	for (i = 0; i < sizeof(bound->bit); i++)
		for (k = 0; bound->bit[i] >> k; k++)
			if (bound->bit[i] >> k & 1)
				lead_to(l, side, i * 8 + k);
}

/* Following the host's interfaces */

/* Returns 0 or -errno, with @old left as it was */
static int reopen(struct listen *l, struct listener *old, uint32_t device)
{
	struct listener x = *old;
	int rc;

	x.device = device;
	rc = open_one(l, &x);
	if (!rc)
		close_listener(l, old);
	return rc;
}

void listen_move(struct listen *l)
{
	const struct ports_rule *rule = NULL;
	bool has_failed = false;
	uint32_t device = 0, i, high = l->high;

	for (i = 0; i < high; i++) {
		struct listener *x = &l->listener[i];

		if (!x->port || x->side != LISTEN_HOST || !*x->rule->ifname)
			continue;
		if (x->rule != rule) {
			rule = x->rule;
			device = sock_ifindex(rule->ifname);
		}
		if (!device || device == x->device || !reopen(l, x, device) ||
		    has_failed)
			continue;
		has_failed = true;
		warn("%s port %u cannot be bound to the new %s", l->proto->name,
		     (unsigned)x->port, rule->ifname);
	}
}
