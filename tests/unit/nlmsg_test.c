/* nlmsg_test.c - answers of the kernel, well and badly formed
 *
 * Messages are built attribute by attribute into one buffer and read back.
 * The rows of bad_attrs are what follows the fixed part of an RTM_NEWROUTE
 * whose first attribute is good: reading must keep that one and end. */

#include "check.h"
#include "nlmsg.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>

static uint8_t buf[65536];
static size_t used;
static struct nl_facts facts;
static struct port_set ports;

static const uint8_t gw4[4] = { 192, 0, 2, 254 };
static const uint8_t own4[4] = { 192, 0, 2, 1 };
static const uint8_t net4[4] = { 10, 7, 0, 0 };
static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
static const uint8_t gw6[16] = { 0xfe, 0x80, [15] = 0x99 };

static void add(const void *data, size_t len)
{
	memcpy(buf + used, data, len);
	used += len;
	while (used % 4)
		buf[used++] = 0;
}

static void attr(uint16_t type, const void *data, size_t len)
{
	struct nlattr a = { (uint16_t)(sizeof(a) + len), type };

	add(&a, sizeof(a));
	add(data, len);
}

static void attr_u32(uint16_t type, uint32_t v)
{
	attr(type, &v, sizeof(v));
}

static size_t open_msg(uint16_t type, uint16_t flags, const void *body,
		       size_t len)
{
	struct nlmsghdr h = { .nlmsg_type = type, .nlmsg_flags = flags };
	size_t at = used;

	add(&h, sizeof(h));
	add(body, len);
	return at;
}

static void close_msg(size_t at)
{
	uint32_t len = (uint32_t)(used - at);

	memcpy(buf + at, &len, sizeof(len));
}

static void put_int(uint16_t type, int code)
{
	close_msg(open_msg(type, 0, &code, sizeof(code)));
}

static void reset(void)
{
	used = 0;
	memset(&facts, 0, sizeof(facts));
	memset(&ports, 0, sizeof(ports));
}

static int read_facts(void)
{
	struct nl_sink to = { .facts = &facts };

	return nlmsg_read(buf, used, &to);
}

static void test_link(void)
{
	struct ifinfomsg m = { .ifi_type = 1, .ifi_index = 3, .ifi_flags = 9 };
	static const uint8_t mac[8] = { 2, 1, 2, 3, 4, 5, 6, 7 };
	size_t at;

	reset();
	at = open_msg(RTM_NEWLINK, 0, &m, sizeof(m));
	attr(IFLA_IFNAME, "eth0", 5);
	attr_u32(IFLA_MTU, 9000);
	attr(IFLA_ADDRESS, mac, 6);
	close_msg(at);
	at = open_msg(RTM_NEWLINK, 0, &m, sizeof(m));
	attr(IFLA_IFNAME, "abcdefghijklmnop", 16);
	attr(IFLA_ADDRESS, mac, 8);
	close_msg(at);
	put_int(NLMSG_DONE, 0);

	is_int(read_facts(), 1, "links: end of the answer");
	is_int(facts.n_links, 2, "links: both read");
	is_str(facts.link[0].name, "eth0", "name");
	is_int(facts.link[0].mtu, 9000, "MTU");
	is_int(facts.link[0].flags, 9, "flags");
	is_int(facts.link[0].ifindex, 3, "index");
	is_mem(facts.link[0].mac.b, mac, 6, "MAC");
	is_str(facts.link[1].name, "abcdefghijklmno",
	       "a name without end is cut");
	is_int(facts.link[1].mac.b[0], 0, "a MAC of 8 bytes is not a MAC");
}

static const struct {
	const char *name;
	uint8_t af, plen;
	const void *local, *address;
	size_t len;
	unsigned want_n, want_plen;
} addr_rows[] = {
	{ "plain", AF_INET, 24, own4, own4, 4, 1, 24 },
	{ "point-to-point", AF_INET, 24, own4, gw4, 4, 1, 32 },
	{ "IPv6 without local part", AF_INET6, 64, NULL, gw6, 16, 1, 64 },
	{ "prefix too long", AF_INET, 33, own4, own4, 4, 0, 0 },
	{ "address too short", AF_INET6, 64, NULL, gw6, 15, 0, 0 },
	{ "address too long", AF_INET, 24, gw6, gw6, 16, 0, 0 },
	{ "IPv4-mapped", AF_INET6, 128, NULL, mapped, 16, 0, 0 },
	{ "unknown family", 28, 24, own4, own4, 4, 0, 0 },
};

static void test_addr(void)
{
	struct ifaddrmsg m = { .ifa_index = 2, .ifa_flags = 0x80 };
	unsigned i;

	for (i = 0; i < sizeof(addr_rows) / sizeof(*addr_rows); i++) {
		size_t at;

		reset();
		m.ifa_family = addr_rows[i].af;
		m.ifa_prefixlen = addr_rows[i].plen;
		at = open_msg(RTM_NEWADDR, 0, &m, sizeof(m));
		if (addr_rows[i].local)
			attr(IFA_LOCAL, addr_rows[i].local, addr_rows[i].len);
		attr(IFA_ADDRESS, addr_rows[i].address, addr_rows[i].len);
		attr_u32(IFA_FLAGS, IFA_F_NOPREFIXROUTE);
		close_msg(at);

		is_int(read_facts(), 0, "address, %s: more to come",
		       addr_rows[i].name);
		is_int(facts.n_addrs, addr_rows[i].want_n, "address, %s: count",
		       addr_rows[i].name);
		is_int(facts.addr[0].plen, addr_rows[i].want_plen,
		       "address, %s: prefix", addr_rows[i].name);
		if (facts.n_addrs)
			is_int(facts.addr[0].flags, IFA_F_NOPREFIXROUTE,
			       "address, %s: wide flags win",
			       addr_rows[i].name);
	}
}

static size_t open_route(uint8_t plen)
{
	struct rtmsg m = {
		.rtm_family = AF_INET,
		.rtm_dst_len = plen,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_type = RTN_UNICAST,
		.rtm_flags = RTNH_F_LINKDOWN | RTNH_F_DEAD | RTNH_F_ONLINK,
	};

	return open_msg(RTM_NEWROUTE, NLM_F_MULTI, &m, sizeof(m));
}

static void test_route(void)
{
	struct {
		struct nlattr a;
		uint32_t v;
	} metrics = { { sizeof(metrics), RTAX_MTU }, 1400 };
	size_t at;

	reset();
	at = open_route(16);
	attr(RTA_DST, net4, 4);
	attr(RTA_GATEWAY, gw4, 4);
	attr(RTA_PREFSRC, own4, 4);
	attr_u32(RTA_OIF, 2);
	attr_u32(RTA_PRIORITY, 100);
	attr_u32(RTA_TABLE, RT_TABLE_MAIN);
	attr(RTA_METRICS, &metrics, sizeof(metrics));
	close_msg(at);
	at = open_route(0);
	attr_u32(RTA_TABLE, 51820);
	close_msg(at);
	at = open_route(33);
	close_msg(at);
	at = open_route(8);
	close_msg(at);

	is_int(read_facts(), 0, "routes: more to come");
	is_int(facts.n_routes, 1,
	       "another table, a prefix of 33, no destination: left out");
	is_int(facts.route[0].plen, 16, "prefix length");
	is_mem(addr_bytes(&facts.route[0].dst), net4, 4, "destination");
	is_mem(addr_bytes(&facts.route[0].gw), gw4, 4, "gateway");
	is_int(facts.route[0].metric, 100, "metric");
	is_int(facts.route[0].mtu, 1400, "MTU");
	is_int(facts.route[0].weight, 0, "no weight");
	is_int(facts.route[0].flags, RTNH_F_ONLINK, "run-time flags are gone");
}

static void test_multipath(void)
{
	uint8_t hops[64];
	struct rtnexthop h = { .rtnh_len = 16, .rtnh_ifindex = 2 };
	struct nlattr a = { 8, RTA_GATEWAY };
	uint16_t via[9] = { AF_INET6 };
	size_t at, len = 0;

	memcpy(hops + len, &h, sizeof(h));
	memcpy(hops + len + 8, &a, sizeof(a));
	memcpy(hops + len + 12, gw4, 4);
	len += 16;
	h.rtnh_ifindex = 3;
	h.rtnh_hops = 255;
	h.rtnh_len = 8 + 4 + 18;
	a.nla_len = 22;
	a.nla_type = RTA_VIA;
	memcpy(via + 1, gw6, 16);
	memcpy(hops + len, &h, sizeof(h));
	memcpy(hops + len + 8, &a, sizeof(a));
	memcpy(hops + len + 12, via, sizeof(via));
	len += 32;
	h.rtnh_len = 9;
	memcpy(hops + len, &h, sizeof(h));

	reset();
	at = open_route(0);
	attr(RTA_MULTIPATH, hops, len + 8);
	close_msg(at);
	is_int(read_facts(), 0, "multipath: more to come");
	is_int(facts.n_routes, 2, "the third hop lies about its length");
	is_int(facts.route[0].weight, 1, "weight 1");
	is_mem(addr_bytes(&facts.route[0].gw), gw4, 4, "IPv4 gateway");
	is_int(facts.route[1].weight, 256, "weight 256");
	is_int(facts.route[1].ifindex, 3, "another device");
	is_mem(addr_bytes(&facts.route[1].gw), gw6, 16, "IPv6 gateway");
	ok(addr_is_v4(&facts.route[1].dst), "of an IPv4 route");
}

static const struct {
	const char *name;
	uint8_t bytes[8];
	size_t len;
} bad_attrs[] = {
	{ "attribute of length 0", { 0, 0, RTA_PRIORITY, 0, 9 }, 8 },
	{ "attribute of length 3", { 3, 0, RTA_PRIORITY, 0, 9 }, 8 },
	{ "attribute beyond the end", { 9, 0, RTA_PRIORITY, 0, 9 }, 8 },
	{ "attribute of 65,535", { 255, 255, RTA_PRIORITY, 0, 9 }, 8 },
	{ "value of 3 bytes", { 7, 0, RTA_PRIORITY, 0, 9, 9, 9 }, 8 },
	{ "empty value", { 4, 0, RTA_PRIORITY, 0 }, 4 },
	{ "half a header", { 4, 0, 0, 0 }, 4 },
};

static void test_bad_attrs(void)
{
	unsigned i;
	size_t at;

	for (i = 0; i < sizeof(bad_attrs) / sizeof(*bad_attrs); i++) {
		reset();
		at = open_route(0);
		attr_u32(RTA_OIF, 2);
		add(bad_attrs[i].bytes, bad_attrs[i].len);
		close_msg(at);
		is_int(read_facts(), 0, "%s: no error", bad_attrs[i].name);
		is_int(facts.route[0].ifindex, 2, "%s: what stands before",
		       bad_attrs[i].name);
		is_int(facts.route[0].metric, 0, "%s: not believed",
		       bad_attrs[i].name);
	}
}

static const struct {
	const char *name;
	uint16_t type, flags;
	int code, want;
	bool torn;
} end_rows[] = {
	{ "done", NLMSG_DONE, 0, 0, 1, false },
	{ "done with errno", NLMSG_DONE, 0, -ENOENT, -ENOENT, false },
	{ "acknowledged", NLMSG_ERROR, 0, 0, 1, false },
	{ "refused", NLMSG_ERROR, 0, -EPERM, -EPERM, false },
	{ "positive errno", NLMSG_ERROR, 0, 5, -EBADMSG, false },
	{ "absurd errno", NLMSG_ERROR, 0, -70000, -EBADMSG, false },
	{ "torn", NLMSG_DONE, NLM_F_DUMP_INTR, 0, -EINTR, false },
	{ "torn, taken", NLMSG_DONE, NLM_F_DUMP_INTR, 0, 1, true },
};

static void test_ends(void)
{
	struct nl_sink to = { .facts = &facts };
	uint32_t len;
	unsigned i;

	for (i = 0; i < sizeof(end_rows) / sizeof(*end_rows); i++) {
		reset();
		close_msg(open_msg(end_rows[i].type, end_rows[i].flags,
				   &end_rows[i].code, sizeof(int)));
		to.take_torn = end_rows[i].torn;
		is_int(nlmsg_read(buf, used, &to), end_rows[i].want, "end: %s",
		       end_rows[i].name);
	}

	reset();
	is_int(read_facts(), 0, "an empty datagram says nothing");
	put_int(NLMSG_DONE, 0);
	for (len = 1; len < used; len++)
		is_int(nlmsg_read(buf, len, &to), -EBADMSG,
		       "%u bytes of a message", len);
	for (len = 0; len < 16; len += 5) {
		memcpy(buf, &len, sizeof(len));
		is_int(read_facts(), -EBADMSG, "message length %u", len);
	}
	len = UINT32_MAX;
	memcpy(buf, &len, sizeof(len));
	is_int(read_facts(), -EBADMSG, "message length 4 G");
}

static void test_full(void)
{
	unsigned i, round;

	reset();
	for (i = 0; i < 900; i++)
		close_msg(open_route(0));
	for (round = 0; round < 2; round++)
		read_facts();
	is_int(facts.n_routes, HOST_ROUTES_MAX, "1,800 routes: table full");
	ok(facts.is_cut, "and it says that it is cut");
}

static void test_drops(void)
{
	struct rtnl_link_stats64 s = { .rx_dropped = 5,
				       .tx_dropped = 1ULL << 40 };
	struct ifinfomsg m = { .ifi_index = 3 };
	struct nl_drops d = { 7, 7 };
	struct nl_sink to = { .drops = &d };
	size_t at;

	reset();
	at = open_msg(RTM_NEWLINK, 0, &m, sizeof(m));
	attr(IFLA_STATS64, &s, 60);
	close_msg(at);
	nlmsg_read(buf, used, &to);
	is_int(d.tx_dropped, 7, "60 bytes of statistics end before ours");

	reset();
	at = open_msg(RTM_NEWLINK, 0, &m, sizeof(m));
	attr(IFLA_STATS64, &s, sizeof(s));
	close_msg(at);
	nlmsg_read(buf, used, &to);
	is_int(d.tx_dropped, 1LL << 40, "dropped on the way in");
	is_int(d.rx_dropped, 5, "dropped on the way out");
}

static void test_diag(void)
{
	struct nl_sink to = { .ports = &ports };
	struct inet_diag_msg m = { .idiag_family = AF_INET6 };

	reset();
	m.id.idiag_sport = htons(5353);
	close_msg(open_msg(SOCK_DIAG_BY_FAMILY, 0, &m, sizeof(m)));
	m.id.idiag_sport = htons(80);
	close_msg(open_msg(SOCK_DIAG_BY_FAMILY, 0, &m, sizeof(m) - 4));
	m.id.idiag_sport = 0;
	close_msg(open_msg(SOCK_DIAG_BY_FAMILY, 0, &m, sizeof(m)));
	put_int(NLMSG_DONE, 0);
	is_int(nlmsg_read(buf, used, &to), 1, "sockets: end of the answer");
	ok(port_set_has(&ports, 5353), "port of a socket");
	ok(!port_set_has(&ports, 80), "not that of a short message");
	ok(!port_set_has(&ports, 0), "an unbound socket has none");
}

int main(void)
{
	test_link();
	test_addr();
	test_route();
	test_multipath();
	test_bad_attrs();
	test_ends();
	test_full();
	test_drops();
	test_diag();
	return done();
}
