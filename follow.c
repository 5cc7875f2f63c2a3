/* follow.c - take over what changes in the host's network while we run
 *
 * Problem: a laptop is carried to another network, a VPN comes up, a lease is
 * renewed with another address, a machine boots and starts containers before
 * it has any network. Nobody restarts the containers.
 *
 * Idea: the kernel tells of changes of links, addresses and routes. They come
 * in bursts, so the first one only sets a deadline; then everything is listed
 * and planned again, exactly as at start, and of the result is taken what
 * stands behind the guest's view: the host's own address, the interface of
 * link-local neighbours and groups. Conversations that the change has cut off
 * are ended, so that they begin anew (udp_move.c), and ports of an interface
 * that was made anew are bound to it again (listen.c). When nothing changes
 * nothing is done, and nobody wakes up.
 *
 * The messages are not read: a listing is simpler than keeping a copy up to
 * date, and it is right even if the kernel ran out of room for messages. Where
 * listing takes long (100,000 routes, flapping) it is done more rarely.
 *
 * Not here: changing anything inside the guest's namespace; decision 0030 tells
 * why. Name servers (dns.c). */

#include "follow.h"

#include "clock.h"
#include "log.h"
#include "netlink.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define SHARE 10 /* listing may take one part of so many */

static bool is_of_host(const struct nl_facts *facts, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < facts->n_addrs; i++)
		if (addr_eq(&facts->addr[i].addr, a))
			return true;
	return false;
}

/* Any address by which other hosts could know this one; unset: none */
static struct addr any_address(const struct nl_facts *facts, enum family f)
{
	unsigned i;

	for (i = 0; i < facts->n_addrs; i++) {
		const struct nl_addr *a = &facts->addr[i];

		if (addr_family(&a->addr) == f && a->scope < RT_SCOPE_LINK &&
		    !addr_is_loopback(&a->addr) &&
		    !(a->flags & (IFA_F_DEPRECATED | IFA_F_DADFAILED)))
			return a->addr;
	}
	return addr_any6;
}

/* The address that the guest was given, as long as the host has it, too */
static struct addr host_address(const struct guest_net *promised,
				const struct guest_net *host,
				const struct nl_facts *facts, enum family f)
{
	if (addr_is_set(&promised->addr[f]) &&
	    is_of_host(facts, &promised->addr[f]))
		return promised->addr[f];
	if (host->has[f] && !host->is_local[f] &&
	    is_of_host(facts, &host->addr[f]))
		return host->addr[f];
	return any_address(facts, f);
}

void follow_policy(const struct guest_net *promised,
		   const struct guest_net *host, const struct nl_facts *facts,
		   struct fwd *fwd)
{
	enum family f;

	for (f = 0; f < FAMILY_COUNT; f++) {
		if (!promised->has[f])
			continue;
		fwd->host[f] = host_address(promised, host, facts, f);
		fwd->scope[f] = host->ifindex[f];
	}
	/* Link-local neighbours are there whether or not IPv6 has a template */
	if (!fwd->scope[FAMILY_V6])
		fwd->scope[FAMILY_V6] = host->ifindex[FAMILY_V4];
}

static void tell(const struct fwd *now, const struct fwd *before)
{
	char text[ADDR_STRLEN];
	enum family f;

	for (f = 0; f < FAMILY_COUNT; f++)
		if (!addr_eq(&now->host[f], &before->host[f]))
			info("the host's IPv%c address is %s now",
			     f == FAMILY_V4 ? '4' : '6',
			     addr_is_set(&now->host[f]) ?
				     addr_format(&now->host[f], text) :
				     "missing");
}

/* A plan fails while a named interface is missing: then nothing changes */
static int look(struct follow *f)
{
	char error[HOSTNET_ERR_MAX];
	int rc = netlink_facts(f->rtnl, &f->facts);

	if (rc)
		return rc;
	if (hostnet_plan(f->conf, &f->facts, &f->host, error)) {
		debug("%s", error);
		return 0;
	}
	follow_policy(f->promised, &f->host, &f->facts, f->fwd);
	return 0;
}

static int64_t next_look(const struct timer *t)
{
	return container_of(t, struct follow, timer)->due_ms;
}

static void look_again(struct timer *t, int64_t now_ms)
{
	struct follow *f = container_of(t, struct follow, timer);
	struct fwd before = *f->fwd;

	f->due_ms = NEVER;
	if (look(f)) {
		f->due_ms = now_ms +
			    f->wait_ms; /* the kernel is out of memory */
		return;
	}
	f->wait_ms = SHARE * (clock_ms() - now_ms);
	if (f->wait_ms < FOLLOW_MS)
		f->wait_ms = FOLLOW_MS;
	tell(f->fwd, &before);
	if (memcmp(f->fwd->scope, before.scope, sizeof(before.scope)) != 0)
		udp_group_rejoin(f->move->u->group);
	if (f->tcp_ports)
		listen_move(f->tcp_ports);
	if (f->udp_ports)
		listen_move(f->udp_ports);
	udp_move_start(f->move, &f->facts);
}

static void on_event(struct watch *w, uint32_t events)
{
	struct follow *f = container_of(w, struct follow, events);

	(void)events;
	netlink_forget(w->fd);
	if (f->due_ms == NEVER)
		f->due_ms = f->loop->now_ms + f->wait_ms;
}

int follow_init(struct follow *f)
{
	int rc;

	f->due_ms = NEVER;
	f->wait_ms = FOLLOW_MS;
	f->rtnl = netlink_open(NETLINK_ROUTE);
	if (f->rtnl < 0)
		return f->rtnl;
	f->events.fd = netlink_watch();
	f->events.fn = on_event;
	f->timer = (struct timer){ .next_ms = next_look, .fire = look_again };
	rc = f->events.fd < 0 ? f->events.fd :
				loop_add(f->loop, &f->events, EPOLLIN);
	if (!rc)
		rc = look(f);
	if (!rc)
		loop_timer(f->loop, &f->timer);
	return rc;
}
