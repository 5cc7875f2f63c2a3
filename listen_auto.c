/* listen_auto.c - "auto": which ports are bound on the other side
 *
 * Problem: programs bind and leave ports at any time, and nobody tells.
 *
 * Idea: list them once per second, and let listeners follow. What must not be
 * followed are sockets of our own: listeners of the other direction, and what
 * else a protocol has bound (its @hide).
 *
 * Programs that control by TCP what they measure by UDP (iperf3) open the
 * second socket when the client speaks already: too late for a scan. So a port
 * that TCP listens on is followed for UDP too. */

#include "listen_auto.h"

#include "netlink.h"

#include <netinet/in.h>

static bool follows(const struct listen *l, enum listen_side side)
{
	return l && l->rules[side]->is_auto;
}

bool listen_auto_wanted(const struct listen_auto *a, enum listen_side side)
{
	return follows(a->tcp, side) || follows(a->udp, side);
}

static void forget_listeners(const struct listen *l, enum listen_side side,
			     struct port_set *bound)
{
	unsigned i;

	for (i = 0; i < sizeof(bound->bit); i++)
		bound->bit[i] &= (uint8_t)~l->open[!side].bit[i];
}

/* Add what others have bound; returns 0 or -errno */
static int list(const struct listen_auto *a, struct listen *l, int protocol,
		enum listen_side side, struct port_set *bound)
{
	int rc = netlink_bound(a->diag[!side], protocol, bound);

	if (rc)
		return rc;
	forget_listeners(l, side, bound);
	if (side == LISTEN_NS && l->proto->hide)
		l->proto->hide(l, bound);
	return 0;
}

/* A list that cannot be read leaves everything as it is */
static void follow(struct listen_auto *a, enum listen_side side)
{
	struct port_set bound = { 0 };

	if (!listen_auto_wanted(a, side) ||
	    (a->tcp && list(a, a->tcp, IPPROTO_TCP, side, &bound)))
		return;
	if (follows(a->tcp, side))
		listen_follow(a->tcp, side, &bound);
	if (follows(a->udp, side) &&
	    !list(a, a->udp, IPPROTO_UDP, side, &bound))
		listen_follow(a->udp, side, &bound);
}

static int64_t next_scan(const struct timer *t)
{
	return container_of(t, struct listen_auto, scan)->next_ms;
}

static void scan(struct timer *t, int64_t now_ms)
{
	struct listen_auto *a = container_of(t, struct listen_auto, scan);

	a->next_ms = now_ms + SCAN_MS;
	follow(a, LISTEN_HOST);
	follow(a, LISTEN_NS);
}

void listen_auto_start(struct listen_auto *a)
{
	if (!listen_auto_wanted(a, LISTEN_HOST) &&
	    !listen_auto_wanted(a, LISTEN_NS))
		return;
	a->scan = (struct timer){ .next_ms = next_scan, .fire = scan };
	loop_timer(a->loop, &a->scan);
	scan(&a->scan, a->loop->now_ms);
}
