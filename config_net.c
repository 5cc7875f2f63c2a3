/* config_net.c - bring the tap up with addresses and routes
 *
 * The problem: whoever waits for us looks at the namespace the moment we say
 * ready, so everything must be usable by then. IPv6 would first be busy for a
 * second with duplicate address detection and with a link-local address of its
 * own. The idea: the kernel is told to make no address by itself, and every
 * address, the link-local one included, is added as one that needs no
 * detection: there is nobody on this link but us.
 *
 * Order matters twice. Routes come from hostnet.c in an order that the kernel
 * accepts. IPv6 addresses are added last to first, because the kernel puts a
 * new one before those of its scope, and the first one wins where source
 * address selection (RFC 6724 5) has no better rule.
 *
 * What is on the host's own link is no further than that link's MTU: the routes
 * that the kernel makes with addresses get it, so that programs behave as they
 * would on the host. Only what ends at the host itself may be larger.
 *
 * Deliberately not done: nothing that exists is removed, so a namespace that
 * somebody prepared keeps what it has. A namespace without IPv6 goes without,
 * said once. */

#include "log.h"
#include "config_net.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define METRIC_V6 256 /* of routes the kernel makes: IP6_RT_PRIO_ADDRCONF */

static void set(int fd, const struct nl_link *link,
		const struct nl_link_conf *c, const char *what)
{
	int rc = netlink_link_set(fd, link->ifindex, c);

	if (rc)
		die("interface %s in the namespace: cannot set %s: %s",
		    link->name, what, strerror(-rc));
}

static void find(int fd, const char *name, struct nl_link *ret_link)
{
	int rc = netlink_link_by_name(fd, name, ret_link);

	if (rc)
		die("interface %s in the namespace: %s", name, strerror(-rc));
}

void config_net_lo(int fd)
{
	struct nl_link_conf up = { .up = true };
	struct nl_link lo;

	find(fd, "lo", &lo);
	set(fd, &lo, &up, "it up");
}

void config_net_link(int fd, const struct conf *c, const struct guest_net *net,
		     struct nl_link *ret_link)
{
	struct nl_link_conf queue = { .tx_queue = TAP_QUEUE };
	struct nl_link_conf mac = { .has_mac = true, .mac = c->ns_mac };
	struct nl_link tap;

	find(fd, net->tap_name, &tap);
	set(fd, &tap, &queue, "its queue length");
	if (c->has_ns_mac) {
		set(fd, &tap, &mac, "the address of --ns-mac-addr");
		tap.mac = c->ns_mac;
	}
	if (c->has[FAMILY_V6] && !net->has[FAMILY_V6])
		info("IPv6 is off: the host has no IPv6 address, or the MTU is "
		     "too small for it");
	*ret_link = tap;
}

/* Link-local address from the MAC: EUI-64, RFC 4291 2.5.6 and appendix A */
static struct addr linklocal(const struct mac *mac)
{
	const uint8_t *m = mac->b;
	uint8_t a[16] = { 0xfe, 0x80 };

	a[8] = m[0] ^ 2;
	a[9] = m[1];
	a[10] = m[2];
	a[11] = 0xff;
	a[12] = 0xfe;
	a[13] = m[3];
	a[14] = m[4];
	a[15] = m[5];
	return addr_from_bytes(a, FAMILY_V6);
}

static void add_addr(int fd, const struct nl_addr *a, const struct nl_link *tap)
{
	char text[ADDR_STRLEN];
	struct nl_addr to = *a;
	int rc;

	to.ifindex = tap->ifindex;
	rc = netlink_addr_add(fd, &to);
	if (rc && rc != -EEXIST)
		die("interface %s in the namespace: cannot add address %s/%u: %s",
		    tap->name, addr_format(&a->addr, text), a->plen,
		    strerror(-rc));
}

static void add_addrs(int fd, const struct guest_net *net, bool has_v6,
		      const struct nl_link *tap)
{
	unsigned i;

	for (i = 0; i < net->n_addrs; i++)
		if (addr_is_v4(&net->addrs[i].addr))
			add_addr(fd, &net->addrs[i], tap);
	for (i = net->n_addrs; has_v6 && i > 0; i--)
		if (!addr_is_v4(&net->addrs[i - 1].addr))
			add_addr(fd, &net->addrs[i - 1], tap);
}

static void add_routes(int fd, const struct guest_net *net, bool has_v6,
		       const struct nl_link *tap)
{
	char dst[ADDR_STRLEN], gw[ADDR_STRLEN];
	struct nl_route r;
	unsigned i;
	int rc;

	for (i = 0; i < net->n_routes; i++) {
		r = net->routes[i];
		if (!has_v6 && !addr_is_v4(&r.dst))
			continue;
		r.ifindex = tap->ifindex;
		rc = netlink_route_add(fd, &r);
		if (!rc || rc == -EEXIST)
			continue;
		addr_format(&r.dst, dst);
		addr_format(&r.gw, gw);
		info("route %s/%u%s%s does not fit into the namespace: %s", dst,
		     r.plen, addr_is_set(&r.gw) ? " via " : "",
		     addr_is_set(&r.gw) ? gw : "", strerror(-rc));
	}
}

static struct addr prefix_of(const struct nl_addr *a)
{
	struct addr p = a->addr;
	unsigned bit, skip = 128 - 8 * addr_len(&p);

	for (bit = skip + a->plen; bit < 128; bit++)
		p.b[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
	return p;
}

/* Is it the first one of its prefix? The route says which source to use. */
static bool is_first(const struct guest_net *net, const struct nl_addr *a)
{
	const struct nl_addr *b;

	for (b = net->addrs; b < a; b++)
		if (b->plen == a->plen &&
		    addr_in_prefix(&b->addr, &a->addr, a->plen))
			return false;
	return true;
}

/* Give the route of an address the MTU of the host's link, but leave the way to
 * the address that stands for the host as wide as the tap. */
static void narrow(int fd, const struct conf *c, const struct guest_net *net,
		   const struct nl_addr *a, const struct nl_link *tap)
{
	bool is_v4 = addr_is_v4(&a->addr);
	enum family f = addr_family(&a->addr);
	struct addr host = hostnet_loopback(c, net, f);
	struct nl_route r = { .dst = prefix_of(a),
			      .plen = a->plen,
			      .ifindex = tap->ifindex,
			      .mtu = net->link_mtu[f],
			      .metric = is_v4 ? 0 : METRIC_V6,
			      .scope = is_v4 ? RT_SCOPE_LINK :
					       RT_SCOPE_UNIVERSE,
			      .type = RTN_UNICAST,
			      .proto = RTPROT_KERNEL };

	if (!r.mtu || a->flags || a->plen == 8 * addr_len(&a->addr) ||
	    addr_is_linklocal(&a->addr) || !is_first(net, a))
		return;
	if (is_v4)
		r.src = a->addr;
	if (netlink_route_replace(fd, &r) ||
	    !addr_in_prefix(&host, &a->addr, a->plen))
		return;
	r.dst = host;
	r.plen = (uint8_t)(8 * addr_len(&r.dst));
	r.mtu = 0;
	r.proto = RTPROT_BOOT;
	netlink_route_add(fd, &r);
}

/* The address that makes IPv6 work on the link at once; false where the
 * namespace or its kernel has IPv6 turned off */
static bool start_v6(int fd, const struct nl_link *tap,
		     struct addr *ret_guest_ll)
{
	struct nl_addr ll = {
		.addr = linklocal(&tap->mac),
		.ifindex = tap->ifindex,
		.plen = 64,
		.scope = RT_SCOPE_LINK,
	};
	int rc = netlink_addr_add(fd, &ll);

	if (!rc || rc == -EEXIST) {
		*ret_guest_ll = ll.addr;
		return true;
	}
	if (rc == -EPERM)
		die("interface %s in the namespace: cannot add an address: %s",
		    tap->name, strerror(-rc));
	info("IPv6 is off in the namespace (%s): going on without it",
	     strerror(-rc));
	return false;
}

/* Routers are not asked for: the answer would wake us up for nothing, since the
 * link is configured already. Where /proc cannot be written, they are. */
static void do_not_solicit(const struct nl_link *tap)
{
	char path[64 + IFNAME_SIZE];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/accept_ra",
		 tap->name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "0", 1) != 1)
		debug("%s: %s", path, strerror(errno));
	close(fd);
}

void config_net_apply(int fd, const struct conf *c, const struct guest_net *net,
		      const struct nl_link *tap, struct addr *ret_guest_ll)
{
	struct nl_link_conf quiet = { .no_linklocal = true };
	struct nl_link_conf mtu = { .mtu = net->mtu };
	struct nl_link_conf up = { .up = true };
	struct addr guest_ll = addr_any6;
	bool has_v6 = net->has[FAMILY_V6];
	unsigned i;
	int rc;

	rc = netlink_link_set(fd, tap->ifindex, &mtu);
	if (rc)
		warn("interface %s in the namespace: cannot set MTU %u: %s",
		     tap->name, net->mtu, strerror(-rc));
	/* Fails where there is no IPv6: then there is nothing to quieten */
	netlink_link_set(fd, tap->ifindex, &quiet);
	do_not_solicit(tap);
	set(fd, tap, &up, "it up");

	if (has_v6)
		has_v6 = start_v6(fd, tap, &guest_ll);
	add_addrs(fd, net, has_v6, tap);
	for (i = 0; i < net->n_addrs; i++)
		if (has_v6 || addr_is_v4(&net->addrs[i].addr))
			narrow(fd, c, net, &net->addrs[i], tap);
	add_routes(fd, net, has_v6, tap);
	*ret_guest_ll = guest_ll;
}
