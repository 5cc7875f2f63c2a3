/* hostnet.c - choose what the guest's network takes over from the host's
 *
 * The problem: hosts have several interfaces, gateways outside their subnets,
 * tunnels without MAC, multipath routes, or no network at all, and the guest
 * must start on every one of them. The idea: per family, a template interface
 * is chosen (named by the user; else the first default route's, else the first
 * other route's, of those that have an address to lend) and its addresses and
 * routes are taken over less what means nothing elsewhere. A family without a
 * template gets link-local addresses: it reaches the host, and the world as
 * far as the host does. Without a default route, what the host reaches by other
 * interfaces is routed through the host.
 *
 * Routes come out so that the kernel accepts them from first to last: on-link
 * ones, then those by a gateway, each gateway made reachable by a host route if
 * no prefix covers it. The route to the prefix of an address is left to the
 * kernel, which makes it with the address and with the right preferred source,
 * so "noprefixroute" is dropped where the host has that route all the same.
 *
 * A guest behind a 65,520 byte MTU would send what the host has to fragment.
 * So routes that leave the host by a gateway, a tunnel or a default route get
 * the MTU of the device as theirs.
 *
 * Deliberately not done: policy rules and tables other than main, routes that
 * depend on source or TOS, unreachable and blackhole routes: the host applies
 * them to what we send. */

#include "hostnet.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#define MTU_KERNEL 1500 /* of a tap that nobody gave one */
#define MTU_MIN_V6 1280 /* RFC 8200 5: the kernel turns IPv6 off below */
#define PLEN_V6 64

#define LOCAL_V4 0xa9fe0201u /* 169.254.2.1 */
#define LOCAL_V4_PLEN 16

/* struct choice - template of one family
 * @link, @addr: NULL: none, so the family is local */
struct choice {
	bool has;
	const struct nl_link *link;
	const struct nl_addr *addr;
};

static const char family_digit[FAMILY_COUNT] = { '4', '6' };

static struct addr local_gw(enum family f)
{
	static const uint8_t fe80_1[16] = { 0xfe, 0x80, [15] = 1 };

	return f == FAMILY_V4 ? addr_v4(LOCAL_V4_GW) :
				addr_from_bytes(fe80_1, FAMILY_V6);
}

static bool is_default(const struct nl_route *r, enum family f)
{
	return !r->plen && r->type == RTN_UNICAST && addr_family(&r->dst) == f;
}

/* Prefix that exists on every link: says nothing about where the world is */
static bool is_link_prefix(const struct nl_route *r)
{
	return addr_is_linklocal(&r->dst) &&
	       r->plen >= (addr_is_v4(&r->dst) ? 16 : 10);
}

static const struct nl_link *link_by_index(const struct nl_facts *facts,
					   uint32_t ifindex)
{
	unsigned i;

	for (i = 0; i < facts->n_links; i++)
		if (facts->link[i].ifindex == ifindex)
			return &facts->link[i];
	return NULL;
}

static const struct nl_link *link_by_name(const struct nl_facts *facts,
					  const char *name)
{
	unsigned i;

	for (i = 0; i < facts->n_links; i++)
		if (!strcmp(facts->link[i].name, name))
			return &facts->link[i];
	return NULL;
}

/* An address that the guest may have as well */
static bool is_lendable(const struct nl_addr *a, uint32_t ifindex,
			enum family f)
{
	return a->ifindex == ifindex && addr_family(&a->addr) == f &&
	       !(a->flags & (IFA_F_DEPRECATED | IFA_F_DADFAILED)) &&
	       a->scope < RT_SCOPE_LINK && !addr_is_loopback(&a->addr) &&
	       addr_is_unicast(&a->addr);
}

static const struct nl_addr *best_addr(const struct nl_facts *facts,
				       uint32_t ifindex, enum family f)
{
	const struct nl_addr *a, *best = NULL;
	unsigned i;

	for (i = 0; i < facts->n_addrs; i++) {
		a = &facts->addr[i];
		if (is_lendable(a, ifindex, f) &&
		    (!best || a->plen > best->plen))
			best = a;
	}
	return best;
}

/* Interface of a route, if it can be a template */
static const struct nl_link *route_link(const struct nl_facts *facts,
					const struct nl_route *r, enum family f)
{
	const struct nl_link *link = link_by_index(facts, r->ifindex);

	if (!link || link->flags & IFF_LOOPBACK || r->type != RTN_UNICAST ||
	    addr_family(&r->dst) != f || is_link_prefix(r) ||
	    !best_addr(facts, r->ifindex, f))
		return NULL;
	return link;
}

static const struct nl_link *link_by_route(const struct nl_facts *facts,
					   enum family f)
{
	const struct nl_link *link, *other = NULL;
	unsigned i;

	for (i = 0; i < facts->n_routes; i++) {
		link = route_link(facts, &facts->route[i], f);
		if (link && is_default(&facts->route[i], f))
			return link;
		if (!other)
			other = link;
	}
	return other;
}

static bool has_ipv6(const struct conf *c, const struct nl_facts *facts)
{
	unsigned i;

	if (c->mtu && c->mtu < MTU_MIN_V6)
		return false;
	if (addr_is_set(&c->addr[FAMILY_V6]))
		return true;
	for (i = 0; i < facts->n_addrs; i++)
		if (!addr_is_v4(&facts->addr[i].addr))
			return true;
	return false;
}

static int choose(const struct conf *c, const struct nl_facts *facts,
		  enum family f, struct choice *ret, char *err)
{
	const char *out = c->outbound_if[f];
	const char *name = c->interface ? c->interface : out;
	struct choice ch = { .has = c->has[f] };

	if (f == FAMILY_V6 && ch.has)
		ch.has = has_ipv6(c, facts);
	if (out && c->has[f] && !link_by_name(facts, out)) {
		snprintf(err, HOSTNET_ERR_MAX,
			 "--outbound-if%c %s: no such interface (see: ip link)",
			 family_digit[f], out);
		return -EINVAL;
	}
	if (ch.has) {
		ch.link = name ? link_by_name(facts, name) :
				 link_by_route(facts, f);
		if (ch.link)
			ch.addr = best_addr(facts, ch.link->ifindex, f);
		if (!ch.addr)
			ch.link = NULL;
	}
	if (out && c->has[f] && !ch.addr && !addr_is_set(&c->addr[f])) {
		snprintf(err, HOSTNET_ERR_MAX,
			 "--outbound-if%c %s: no IPv%c address to use on %s",
			 family_digit[f], out, family_digit[f], name);
		return -EINVAL;
	}
	*ret = ch;
	return 0;
}

/* First default route through the template; of several hops the heaviest */
static struct addr host_gw(const struct nl_facts *facts, uint32_t ifindex,
			   enum family f)
{
	const struct nl_route *r, *best = NULL;
	unsigned i;

	for (i = 0; i < facts->n_routes; i++) {
		r = &facts->route[i];
		if (!is_default(r, f) || r->ifindex != ifindex ||
		    !addr_is_set(&r->gw) || addr_family(&r->gw) != f)
			continue;
		if (!best || (best->weight && best->metric == r->metric &&
			      best->weight < r->weight))
			best = r;
	}
	return best ? best->gw : addr_any6;
}

static struct addr our_linklocal(const struct nl_facts *facts,
				 const struct guest_net *net)
{
	uint32_t ifindex = net->ifindex[FAMILY_V6];
	const struct nl_addr *a;
	unsigned i;

	if (addr_is_linklocal(&net->gw[FAMILY_V6]))
		return net->gw[FAMILY_V6];
	for (i = 0; ifindex && i < facts->n_addrs; i++) {
		a = &facts->addr[i];
		if (a->ifindex == ifindex && !addr_is_v4(&a->addr) &&
		    addr_is_linklocal(&a->addr))
			return a->addr;
	}
	return local_gw(FAMILY_V6);
}

/* Without -n, the prefix is that of the address's class, RFC 791 2.3 */
static uint8_t class_plen(const struct addr *a)
{
	uint8_t first = addr_bytes(a)[0];

	if (first < 128)
		return 8;
	if (first < 192)
		return 16;
	return first < 224 ? 24 : 32;
}

static uint8_t given_plen(const struct conf *c, enum family f)
{
	if (f == FAMILY_V6)
		return PLEN_V6;
	return c->plen4 >= 0 ? (uint8_t)c->plen4 :
			       class_plen(&c->addr[FAMILY_V4]);
}

static uint32_t tap_mtu(const struct guest_net *net)
{
	return net->mtu ? net->mtu : MTU_KERNEL;
}

static void plan_identity(const struct conf *c, const struct nl_facts *facts,
			  const struct choice *ch, enum family f,
			  struct guest_net *net)
{
	net->has[f] = ch->has;
	if (!ch->has)
		return;
	if (ch->link) {
		net->ifindex[f] = ch->link->ifindex;
		memcpy(net->ifname[f], ch->link->name, IFNAME_SIZE);
		net->addr[f] = ch->addr->addr;
		net->plen[f] = f == FAMILY_V4 ? ch->addr->plen : PLEN_V6;
		net->gw[f] = host_gw(facts, ch->link->ifindex, f);
		if (ch->link->mtu < tap_mtu(net))
			net->link_mtu[f] = ch->link->mtu;
	} else {
		net->is_local[f] = true;
		net->gw[f] = local_gw(f);
		net->plen[f] = f == FAMILY_V4 ? LOCAL_V4_PLEN : PLEN_V6;
		if (f == FAMILY_V4)
			net->addr[f] = addr_v4(LOCAL_V4);
	}
	if (addr_is_set(&c->addr[f])) {
		net->addr[f] = c->addr[f];
		net->plen[f] = given_plen(c, f);
	}
	if (addr_is_set(&c->gw[f]))
		net->gw[f] = c->gw[f];
}

/* Addresses */

static bool is_prefix_of(const struct nl_route *r, const struct nl_addr *a)
{
	return !addr_is_set(&r->gw) && r->type == RTN_UNICAST &&
	       r->plen == a->plen && addr_in_prefix(&a->addr, &r->dst, r->plen);
}

static void copy_addr(const struct nl_facts *facts, const struct nl_addr *a,
		      struct guest_net *net)
{
	struct nl_addr *to = &net->addrs[net->n_addrs++];
	unsigned i;

	*to = *a;
	to->ifindex = 0;
	to->flags &= IFA_F_NOPREFIXROUTE;
	for (i = 0; to->flags && i < facts->n_routes; i++)
		if (facts->route[i].ifindex == a->ifindex &&
		    is_prefix_of(&facts->route[i], a))
			to->flags = 0;
}

static void plan_addrs(const struct conf *c, const struct nl_facts *facts,
		       enum family f, struct guest_net *net)
{
	unsigned i;

	if (net->is_local[f] || addr_is_set(&c->addr[f]) || c->no_copy_addrs) {
		if (addr_is_set(&net->addr[f]) && net->n_addrs < HOST_ADDRS_MAX)
			net->addrs[net->n_addrs++] = (struct nl_addr){
				.addr = net->addr[f],
				.plen = net->plen[f],
			};
		return;
	}
	for (i = 0; i < facts->n_addrs && net->n_addrs < HOST_ADDRS_MAX; i++)
		if (is_lendable(&facts->addr[i], net->ifindex[f], f))
			copy_addr(facts, &facts->addr[i], net);
}

/* Routes */

static void add_route(struct guest_net *net, const struct nl_route *r)
{
	if (net->n_routes < HOST_ROUTES_MAX)
		net->routes[net->n_routes++] = *r;
}

/* Does the kernel make this route together with an address? */
static bool is_implied(const struct guest_net *net, const struct nl_route *r)
{
	unsigned i;

	for (i = 0; i < net->n_addrs; i++)
		if (!net->addrs[i].flags && is_prefix_of(r, &net->addrs[i]))
			return true;
	return false;
}

static bool is_on_link(const struct guest_net *net, const struct addr *a)
{
	const struct nl_route *r;
	unsigned i;

	if (!addr_is_v4(a) && addr_is_linklocal(a))
		return true;
	for (i = 0; i < net->n_addrs; i++)
		if (!net->addrs[i].flags &&
		    addr_in_prefix(a, &net->addrs[i].addr, net->addrs[i].plen))
			return true;
	for (i = 0; i < net->n_routes; i++) {
		r = &net->routes[i];
		if (!addr_is_set(&r->gw) && addr_in_prefix(a, &r->dst, r->plen))
			return true;
	}
	return false;
}

static void add_host_route(struct guest_net *net, const struct addr *a)
{
	struct nl_route r = {
		.dst = *a,
		.plen = (uint8_t)(8 * addr_len(a)),
		.type = RTN_UNICAST,
		.scope = RT_SCOPE_LINK,
		.proto = RTPROT_BOOT,
	};

	if (!is_on_link(net, a))
		add_route(net, &r);
}

static void add_via(struct guest_net *net, const struct nl_route *r)
{
	if (!(r->flags & RTNH_F_ONLINK))
		add_host_route(net, &r->gw);
	add_route(net, r);
}

/* MTU of a route in the guest; 0: that of the tap is fine */
static uint32_t route_mtu(const struct guest_net *net,
			  const struct nl_link *link, const struct nl_route *r)
{
	uint32_t mtu = tap_mtu(net);
	uint32_t best = mtu;

	if (r->mtu && r->mtu < best)
		best = r->mtu;
	/* Whatever network comes later: an Ethernet, most probably */
	if (!link && best > MTU_KERNEL)
		best = MTU_KERNEL;
	if (link && link->mtu && link->mtu < best &&
	    (addr_is_set(&r->gw) || !r->plen || link->flags & IFF_POINTOPOINT))
		best = link->mtu;
	return best < mtu ? best : 0;
}

static void copy_routes(const struct nl_facts *facts,
			const struct nl_link *link, enum family f,
			struct guest_net *net)
{
	struct nl_route r;
	unsigned i, by_gw;

	for (by_gw = 0; by_gw < 2; by_gw++)
		for (i = 0; i < facts->n_routes; i++) {
			r = facts->route[i];
			if (r.ifindex != link->ifindex ||
			    r.type != RTN_UNICAST || addr_family(&r.dst) != f ||
			    addr_is_set(&r.gw) != by_gw ||
			    is_implied(net, &r) ||
			    (f == FAMILY_V6 && is_link_prefix(&r)))
				continue;
			r.mtu = route_mtu(net, link, &r);
			r.ifindex = 0;
			r.weight = 0;
			if (by_gw)
				add_via(net, &r);
			else
				add_route(net, &r);
		}
}

static bool has_default(const struct guest_net *net, enum family f)
{
	unsigned i;

	for (i = 0; i < net->n_routes; i++)
		if (is_default(&net->routes[i], f))
			return true;
	return false;
}

/* What the host reaches by other interfaces, the guest reaches through it. A
 * default route does that already. */
static void add_detours(const struct nl_facts *facts, enum family f,
			const struct addr *gw, struct guest_net *net)
{
	const struct nl_link *link;
	struct nl_route r;
	unsigned i;

	for (i = 0; i < facts->n_routes; i++) {
		r = facts->route[i];
		link = link_by_index(facts, r.ifindex);
		if (!link || link->flags & IFF_LOOPBACK || !r.plen ||
		    r.ifindex == net->ifindex[f] || r.type != RTN_UNICAST ||
		    addr_family(&r.dst) != f || is_link_prefix(&r))
			continue;
		r = (struct nl_route){ .dst = r.dst,
				       .plen = r.plen,
				       .gw = *gw,
				       .metric = r.metric,
				       .mtu = r.mtu,
				       .type = RTN_UNICAST,
				       .proto = RTPROT_BOOT };
		r.mtu = route_mtu(net, link, &r);
		add_via(net, &r);
	}
}

static void plan_routes(const struct conf *c, const struct nl_facts *facts,
			enum family f, struct guest_net *net)
{
	const struct nl_link *link = link_by_index(facts, net->ifindex[f]);
	struct addr alone = local_gw(f);
	struct nl_route r = {
		.dst = *addr_any(f),
		.gw = net->gw[f],
		.type = RTN_UNICAST,
		.proto = RTPROT_BOOT,
	};

	if (!net->has[f])
		return;
	if (link && !addr_is_set(&c->gw[f]) && !c->no_copy_routes) {
		copy_routes(facts, link, f, net);
	} else if (addr_is_set(&r.gw)) {
		r.mtu = route_mtu(net, link, &r);
		add_via(net, &r);
	}
	/* Without a gateway we still need an address of our own on the link */
	if (f == FAMILY_V4 && !addr_is_set(&net->gw[f]))
		add_host_route(net, &alone);
	if (f == FAMILY_V6)
		alone = our_linklocal(facts, net);
	if (!has_default(net, f))
		add_detours(facts, f, &alone, net);
}

static void plan_tap_name(const struct conf *c, struct guest_net *net)
{
	const char *name = "tap0";

	if (net->ifname[FAMILY_V6][0])
		name = net->ifname[FAMILY_V6];
	if (net->ifname[FAMILY_V4][0])
		name = net->ifname[FAMILY_V4];
	if (c->ifname[0])
		name = c->ifname;
	snprintf(net->tap_name, sizeof(net->tap_name), "%s", name);
}

static int no_family(const struct conf *c, char *err)
{
	if (c->mtu && c->mtu < MTU_MIN_V6)
		snprintf(err, HOSTNET_ERR_MAX,
			 "--mtu %u: IPv6 needs at least %d, and IPv4 is off",
			 c->mtu, MTU_MIN_V6);
	else
		snprintf(err, HOSTNET_ERR_MAX,
			 "IPv4 is off, and this host has no IPv6 address, not "
			 "even ::1");
	return -EINVAL;
}

int hostnet_plan(const struct conf *c, const struct nl_facts *facts,
		 struct guest_net *ret_net,
		 char ret_err[static HOSTNET_ERR_MAX])
{
	struct choice ch[FAMILY_COUNT];
	enum family f;
	int rc;

	if (c->interface && !link_by_name(facts, c->interface)) {
		snprintf(ret_err, HOSTNET_ERR_MAX,
			 "--interface %s: no such interface (see: ip link)",
			 c->interface);
		return -EINVAL;
	}
	for (f = 0; f < FAMILY_COUNT; f++) {
		rc = choose(c, facts, f, &ch[f], ret_err);
		if (rc)
			return rc;
	}
	if (!ch[FAMILY_V4].has && !ch[FAMILY_V6].has)
		return no_family(c, ret_err);

	memset(ret_net, 0, sizeof(*ret_net));
	ret_net->mtu = c->mtu;
	for (f = 0; f < FAMILY_COUNT; f++) {
		plan_identity(c, facts, &ch[f], f, ret_net);
		plan_addrs(c, facts, f, ret_net);
		plan_routes(c, facts, f, ret_net);
	}
	if (ret_net->has[FAMILY_V6])
		ret_net->our_ll = our_linklocal(facts, ret_net);
	plan_tap_name(c, ret_net);
	return 0;
}

struct addr hostnet_loopback(const struct conf *c, const struct guest_net *net,
			     enum family f)
{
	if (addr_is_set(&c->map_host_loopback[f]) || c->no_map_gw)
		return c->map_host_loopback[f];
	return net->gw[f];
}
