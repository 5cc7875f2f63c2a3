/* nlmsg.c - read what the kernel answers on rtnetlink and sock_diag
 *
 * The problem: an answer is a train of messages of attributes of attributes,
 * each with a length of its own, and each length may lie. The idea: everything
 * is read through struct span, a pointer with what is left behind it; a field
 * is copied out only after its length was compared, so a wrong length ends the
 * reading and never leads outside. Nothing is read in place: the bytes may
 * have any alignment.
 *
 * What cannot be understood is passed over: a link, address or route that the
 * kernel describes in a way unknown here is one that is not taken over.
 *
 * Deliberately not done: attributes that mean nothing in another namespace
 * (preferred sources, next-hop ids, encapsulations, life times) are not kept.
 * A route that the kernel describes by a next-hop id alone
 * (nexthop_compat_mode off) has no device then, and nobody will use it. */

#include "nlmsg.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <string.h>

/* struct span - bytes not yet read */
struct span {
	const uint8_t *p;
	size_t len;
};

/* The highest attribute type that is read below, plus one */
#define ATTR_COUNT (IFLA_STATS64 + 1)
static_assert(ATTR_COUNT > IFA_FLAGS && ATTR_COUNT > RTA_VIA &&
		      ATTR_COUNT > RTA_TABLE && ATTR_COUNT > RTAX_MTU,
	      "one size of table for all kinds of attributes");

/* struct attrs - value per attribute type; empty where there is none */
struct attrs {
	struct span at[ATTR_COUNT];
};

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void skip(struct span *s, size_t n)
{
	if (n > s->len)
		n = s->len;
	s->p += n;
	s->len -= n;
}

static bool take(struct span *s, void *ret, size_t len)
{
	if (s->len < len)
		return false;
	memcpy(ret, s->p, len);
	skip(s, align4(len));
	return true;
}

static struct attrs read_attrs(struct span in)
{
	struct attrs tb = { 0 };
	struct nlattr a;
	unsigned type;

	while (in.len >= sizeof(a)) {
		memcpy(&a, in.p, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > in.len)
			break;
		type = a.nla_type & (unsigned)NLA_TYPE_MASK;
		if (type < ATTR_COUNT) {
			tb.at[type].p = in.p + sizeof(a);
			tb.at[type].len = a.nla_len - sizeof(a);
		}
		skip(&in, align4(a.nla_len));
	}
	return tb;
}

static uint32_t get_u32(const struct span *s, uint32_t otherwise)
{
	uint32_t v;

	if (s->len < sizeof(v))
		return otherwise;
	memcpy(&v, s->p, sizeof(v));
	return v;
}

/* A mapped IPv6 address (hosts have a route for all of them) is refused: it
 * would be taken for IPv4 */
static bool get_addr(const struct span *s, int af, struct addr *ret)
{
	enum family family = af == AF_INET ? FAMILY_V4 : FAMILY_V6;
	struct addr a;

	if (s->len != (af == AF_INET ? 4 : 16))
		return false;
	a = addr_from_bytes(s->p, family);
	if (addr_family(&a) != family)
		return false;
	*ret = a;
	return true;
}

static bool is_ip(int af)
{
	return af == AF_INET || af == AF_INET6;
}

static void read_drops(const struct span *stats, struct nl_drops *d)
{
	struct rtnl_link_stats64 s;
	size_t need = offsetof(struct rtnl_link_stats64, tx_dropped) +
		      sizeof(s.tx_dropped);

	/* Older kernels have a shorter struct: only its start matters */
	if (stats->len < need)
		return;
	memset(&s, 0, sizeof(s));
	memcpy(&s, stats->p, need);
	d->tx_dropped = s.tx_dropped;
	d->rx_dropped = s.rx_dropped;
}

static void read_link(struct span in, const struct nl_sink *to)
{
	struct attrs tb;
	struct nl_link l = { 0 };
	struct ifinfomsg m;

	if (!take(&in, &m, sizeof(m)) || m.ifi_index <= 0)
		return;
	tb = read_attrs(in);

	l.ifindex = (uint32_t)m.ifi_index;
	l.flags = m.ifi_flags;
	l.type = m.ifi_type;
	l.mtu = get_u32(&tb.at[IFLA_MTU], 0);
	if (tb.at[IFLA_IFNAME].len && tb.at[IFLA_IFNAME].len <= sizeof(l.name))
		memcpy(l.name, tb.at[IFLA_IFNAME].p, tb.at[IFLA_IFNAME].len);
	l.name[sizeof(l.name) - 1] = '\0';
	if (tb.at[IFLA_ADDRESS].len == sizeof(l.mac))
		memcpy(&l.mac, tb.at[IFLA_ADDRESS].p, sizeof(l.mac));

	if (to->link)
		*to->link = l;
	if (to->drops)
		read_drops(&tb.at[IFLA_STATS64], to->drops);
	if (!to->facts)
		return;
	if (to->facts->n_links == HOST_ADDRS_MAX)
		to->facts->is_cut = true;
	else
		to->facts->link[to->facts->n_links++] = l;
}

static void read_addr(struct span in, struct nl_facts *f)
{
	struct attrs tb;
	struct nl_addr a = { 0 };
	struct addr peer;
	struct ifaddrmsg m;

	if (!take(&in, &m, sizeof(m)) || !is_ip(m.ifa_family))
		return;
	tb = read_attrs(in);

	if (!get_addr(&tb.at[IFA_ADDRESS], m.ifa_family, &peer))
		return;
	if (!get_addr(&tb.at[IFA_LOCAL], m.ifa_family, &a.addr))
		a.addr = peer;
	if (m.ifa_prefixlen > 8 * addr_len(&a.addr))
		return;

	/* Of a point-to-point pair the prefix is the peer's, not our own */
	a.plen = m.ifa_prefixlen;
	if (!addr_eq(&a.addr, &peer))
		a.plen = (uint8_t)(8 * addr_len(&a.addr));
	a.ifindex = m.ifa_index;
	a.scope = m.ifa_scope;
	a.flags = get_u32(&tb.at[IFA_FLAGS], m.ifa_flags);

	if (f->n_addrs == HOST_ADDRS_MAX)
		f->is_cut = true;
	else
		f->addr[f->n_addrs++] = a;
}

/* The next hop of a route or of one member of a multipath route. A route of
 * one family may have a gateway of the other: RTA_VIA. */
static void read_hop(const struct attrs *tb, int af, struct nl_route *r)
{
	struct span via = tb->at[RTA_VIA];
	struct rtvia v;

	memset(&r->gw, 0, sizeof(r->gw));
	if (get_addr(&tb->at[RTA_GATEWAY], af, &r->gw))
		return;
	if (via.len < offsetof(struct rtvia, rtvia_addr))
		return;
	memcpy(&v, via.p, offsetof(struct rtvia, rtvia_addr));
	skip(&via, offsetof(struct rtvia, rtvia_addr));
	if (is_ip(v.rtvia_family))
		get_addr(&via, v.rtvia_family, &r->gw);
}

static void add_route(struct nl_facts *f, const struct nl_route *r)
{
	if (f->n_routes == HOST_ROUTES_MAX)
		f->is_cut = true;
	else
		f->route[f->n_routes++] = *r;
}

static void read_hops(struct span in, int af, struct nl_route *r,
		      struct nl_facts *f)
{
	struct span in_hop;
	struct attrs tb;
	struct rtnexthop h;

	while (in.len >= sizeof(h)) {
		memcpy(&h, in.p, sizeof(h));
		if (h.rtnh_len < sizeof(h) || h.rtnh_len > in.len)
			return;
		in_hop.p = in.p + sizeof(h);
		in_hop.len = h.rtnh_len - sizeof(h);
		tb = read_attrs(in_hop);

		r->ifindex = (uint32_t)h.rtnh_ifindex;
		r->flags = h.rtnh_flags & RTNH_F_ONLINK;
		r->weight = (uint16_t)(h.rtnh_hops + 1);
		read_hop(&tb, af, r);
		add_route(f, r);
		skip(&in, align4(h.rtnh_len));
	}
}

static void read_route(struct span in, struct nl_facts *f)
{
	struct attrs tb, metrics;
	struct nl_route r = { 0 };
	struct rtmsg m;

	if (!take(&in, &m, sizeof(m)) || !is_ip(m.rtm_family))
		return;
	tb = read_attrs(in);

	/* Cached entries and routes for one TOS are no facts for everybody */
	if (get_u32(&tb.at[RTA_TABLE], m.rtm_table) != RT_TABLE_MAIN ||
	    m.rtm_flags & RTM_F_CLONED || m.rtm_tos)
		return;
	r.dst = *addr_any(m.rtm_family == AF_INET ? FAMILY_V4 : FAMILY_V6);
	if (m.rtm_dst_len > 8 * addr_len(&r.dst) ||
	    (!get_addr(&tb.at[RTA_DST], m.rtm_family, &r.dst) && m.rtm_dst_len))
		return;

	metrics = read_attrs(tb.at[RTA_METRICS]);
	r.plen = m.rtm_dst_len;
	r.scope = m.rtm_scope;
	r.type = m.rtm_type;
	r.proto = m.rtm_protocol;
	r.flags = m.rtm_flags & RTNH_F_ONLINK;
	r.metric = get_u32(&tb.at[RTA_PRIORITY], 0);
	r.mtu = get_u32(&metrics.at[RTAX_MTU], 0);
	r.ifindex = get_u32(&tb.at[RTA_OIF], 0);

	if (tb.at[RTA_MULTIPATH].len) {
		read_hops(tb.at[RTA_MULTIPATH], m.rtm_family, &r, f);
		return;
	}
	read_hop(&tb, m.rtm_family, &r);
	add_route(f, &r);
}

static void read_diag(struct span in, struct port_set *ports)
{
	struct inet_diag_msg m;
	uint16_t port;

	if (!take(&in, &m, sizeof(m)))
		return;
	port = ntohs(m.id.idiag_sport);
	if (port)
		port_set_put(ports, port, true);
}

static void read_message(int type, struct span body, const struct nl_sink *to)
{
	/* SOCK_DIAG_BY_FAMILY and RTM_NEWADDR are the same number */
	if (to->ports) {
		if (type == SOCK_DIAG_BY_FAMILY)
			read_diag(body, to->ports);
		return;
	}
	if (type == RTM_NEWLINK)
		read_link(body, to);
	else if (type == RTM_NEWADDR && to->facts)
		read_addr(body, to->facts);
	else if (type == RTM_NEWROUTE && to->facts)
		read_route(body, to->facts);
}

/* NLMSG_DONE and NLMSG_ERROR both start with 0 or a negative errno */
static int read_end(struct span body)
{
	uint32_t code = get_u32(&body, 0);
	int rc = (int)code;

	if (!rc)
		return 1;
	return rc < 0 && rc > -4096 ? rc : -EBADMSG;
}

int nlmsg_read(const void *buf, size_t len, const struct nl_sink *to)
{
	struct span in = { buf, len }, body;
	struct nlmsghdr h;

	while (in.len >= sizeof(h)) {
		memcpy(&h, in.p, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > in.len)
			return -EBADMSG;
		if (h.nlmsg_flags & NLM_F_DUMP_INTR && !to->take_torn)
			return -EINTR;
		body.p = in.p + sizeof(h);
		body.len = h.nlmsg_len - sizeof(h);
		if (h.nlmsg_type == NLMSG_DONE || h.nlmsg_type == NLMSG_ERROR)
			return read_end(body);
		read_message(h.nlmsg_type, body, to);
		skip(&in, align4(h.nlmsg_len));
	}
	return in.len ? -EBADMSG : 0;
}
