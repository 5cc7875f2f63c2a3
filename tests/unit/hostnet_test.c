/* hostnet_test.c - hosts as text, plans as text
 *
 * Hosts are written in the language of hosttext.h.
 * Options are words as on the command line. A plan is printed as text like it
 * and compared whole: what is not expected shows. */

#include "check.h"
#include "hostnet.h"
#include "unit/hosttext.h"

#include <errno.h>
#include <linux/rtnetlink.h>

static struct guest_net net;
static char text[65536];

/* The plan as text */

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	va_end(ap);
}

static void say_family(enum family f)
{
	char a[ADDR_STRLEN], g[ADDR_STRLEN];

	say("%s ", f == FAMILY_V4 ? "v4" : "v6");
	if (!net.has[f]) {
		say("off\n");
		return;
	}
	say("%s", net.is_local[f] ? "local" : net.ifname[f]);
	if (addr_is_set(&net.addr[f]))
		say(" %s/%u", addr_format(&net.addr[f], a), net.plen[f]);
	if (addr_is_set(&net.gw[f]))
		say(" gw %s", addr_format(&net.gw[f], g));
	if (f == FAMILY_V6)
		say(" ll %s", addr_format(&net.our_ll, a));
	say("\n");
}

static void say_route(const struct nl_route *r)
{
	char a[ADDR_STRLEN];

	say("route %s/%u", addr_format(&r->dst, a), r->plen);
	if (addr_is_set(&r->gw))
		say(" via %s", addr_format(&r->gw, a));
	if (r->metric)
		say(" metric %u", r->metric);
	if (r->mtu)
		say(" mtu %u", r->mtu);
	if (r->flags)
		say(" onlink");
	say("\n");
	if (r->weight || r->ifindex)
		say("route: hop of the host left\n");
}

static void print_plan(void)
{
	char a[ADDR_STRLEN];
	unsigned i;

	text[0] = '\0';
	say_family(FAMILY_V4);
	say_family(FAMILY_V6);
	say("tap %s\n", net.tap_name);
	for (i = 0; i < net.n_addrs; i++)
		say("addr %s/%u%s\n", addr_format(&net.addrs[i].addr, a),
		    net.addrs[i].plen, net.addrs[i].flags ? " noprefix" : "");
	for (i = 0; i < net.n_routes; i++)
		say_route(&net.routes[i]);
}

#define ETH0_V6 "v6 eth0 2001:db8::11/64 gw fe80::99 ll fe80::99\n"
#define ETH0_V6_ADDRS "addr 2001:db8::11/64\naddr 2001:db8::1/64\n"
#define ETH0_V6_ROUTE "route ::/0 via fe80::99 metric 9 mtu 1500\n"
#define LOCAL4 "v4 local 169.254.2.1/16 gw 169.254.2.2\n"
#define LOCAL6 "v6 local gw fe80::1 ll fe80::1\n"
#define LOCAL4_ROUTE "route 0.0.0.0/0 via 169.254.2.2 mtu 1500\n"
#define LOCAL6_ROUTE "route ::/0 via fe80::1 mtu 1500\n"

static const struct {
	const char *name, *options, *host, *want;
} plan_rows[] = {
	{ "ordinary host", NULL, ETH0,
	  "v4 eth0 192.0.2.1/24 gw 192.0.2.254\n" ETH0_V6 "tap eth0\n"
	  "addr 192.0.2.1/24\n" ETH0_V6_ADDRS
	  "route 0.0.0.0/0 via 192.0.2.254 mtu 1500\n" ETH0_V6_ROUTE },
	{ "-4 -I", "-4 -I tap9", ETH0,
	  "v4 eth0 192.0.2.1/24 gw 192.0.2.254\nv6 off\ntap tap9\n"
	  "addr 192.0.2.1/24\nroute 0.0.0.0/0 via 192.0.2.254 mtu 1500\n" },
	{ "-6", "-6", ETH0,
	  "v4 off\n" ETH0_V6 "tap eth0\n" ETH0_V6_ADDRS ETH0_V6_ROUTE },
	{ "B48 offline", NULL, LO,
	  LOCAL4 LOCAL6
	  "tap tap0\naddr 169.254.2.1/16\n" LOCAL4_ROUTE LOCAL6_ROUTE },
	{ "B44 host without IPv6", NULL,
	  "link 1 lo lo\naddr 1 127.0.0.1/8\nlink 2 e\naddr 2 10.1.1.1/8\n"
	  "route 2 10.0.0.0/8\n",
	  "v4 e 10.1.1.1/8\nv6 off\ntap e\naddr 10.1.1.1/8\n"
	  "route 169.254.2.2/32\n" },
	{ "MTU too small for IPv6", "-m 1279", ETH0,
	  "v4 eth0 192.0.2.1/24 gw 192.0.2.254\nv6 off\ntap eth0\n"
	  "addr 192.0.2.1/24\nroute 0.0.0.0/0 via 192.0.2.254\n" },
	{ "MTU not assigned: the kernel's 1500 counts", "-4 -m 0",
	  LO "link 2 w mtu 1400\naddr 2 192.0.2.1/24\n"
	     "route 2 0.0.0.0/0 via 192.0.2.9\nroute 2 192.0.2.0/24\n",
	  "v4 w 192.0.2.1/24 gw 192.0.2.9\nv6 off\ntap w\n"
	  "addr 192.0.2.1/24\nroute 0.0.0.0/0 via 192.0.2.9 mtu 1400\n" },
	{ "route MTU of the host, smaller and larger", "-4",
	  LO "link 2 w mtu 9000\naddr 2 192.0.2.1/24\n"
	     "route 2 0.0.0.0/0 via 192.0.2.9 mtu 1400\n"
	     "route 2 10.1.0.0/16 mtu 1300\nroute 2 10.2.0.0/16\n"
	     "route 2 10.3.0.0/16 via 192.0.2.9 mtu 65536\n",
	  "v4 w 192.0.2.1/24 gw 192.0.2.9\nv6 off\ntap w\n"
	  "addr 192.0.2.1/24\nroute 10.1.0.0/16 mtu 1300\nroute 10.2.0.0/16\n"
	  "route 0.0.0.0/0 via 192.0.2.9 mtu 1400\n"
	  "route 10.3.0.0/16 via 192.0.2.9 mtu 9000\n" },
	{ "B45 only link-local IPv6", NULL,
	  LO "link 2 e\naddr 2 192.0.2.1/24\naddr 2 fe80::5/64 link\n"
	     "route 2 fe80::/64\nroute 2 192.0.2.0/24\n",
	  "v4 e 192.0.2.1/24\n" LOCAL6 "tap e\naddr 192.0.2.1/24\n"
	  "route 169.254.2.2/32\n" LOCAL6_ROUTE },
	{ "B50 no default route: first other, not the link-local one", "-4",
	  LO "link 2 a\nlink 3 b\naddr 2 169.254.1.1/16\naddr 3 10.1.1.1/24\n"
	     "route 2 169.254.0.0/16\nroute 3 10.1.1.0/24\n",
	  "v4 b 10.1.1.1/24\nv6 off\ntap b\naddr 10.1.1.1/24\n"
	  "route 169.254.2.2/32\n" },
	{ "B50 no default route: other interfaces by way of the host", NULL,
	  LO "link 2 a\nlink 3 b mtu 1400\naddr 2 10.1.1.1/24\n"
	     "addr 3 10.2.2.1/24\naddr 2 fd00::1/64\naddr 3 fd01::1/64\n"
	     "route 2 10.1.1.0/24\nroute 3 10.2.2.0/24 kernel\n"
	     "route 3 10.3.0.0/16 via 10.2.2.9 metric 7\n"
	     "route 3 10.4.0.0/16 blackhole\nroute 1 10.5.0.0/16\n"
	     "route 3 169.254.0.0/16\nroute 3 fe80::/64\n"
	     "route 2 fd00::/64\nroute 3 fd01::/64 kernel\n",
	  "v4 a 10.1.1.1/24\nv6 a fd00::1/64 ll fe80::1\ntap a\n"
	  "addr 10.1.1.1/24\naddr fd00::1/64\nroute 169.254.2.2/32\n"
	  "route 10.2.2.0/24 via 169.254.2.2 mtu 1400\n"
	  "route 10.3.0.0/16 via 169.254.2.2 metric 7 mtu 1400\n"
	  "route fd01::/64 via fe80::1 mtu 1400\n" },
	{ "B51 multipath: own hops, heaviest is the gateway", "-4",
	  LO "link 2 a\nlink 3 b\naddr 2 192.0.2.1/24\naddr 3 203.0.113.1/24\n"
	     "route 2 0.0.0.0/0 via 192.0.2.4 weight 1\n"
	     "route 3 0.0.0.0/0 via 203.0.113.9 weight 99\n"
	     "route 2 0.0.0.0/0 via 192.0.2.5 weight 7\n"
	     "route 2 0.0.0.0/0 via 192.0.2.6 metric 9\n"
	     "route 2 192.0.2.0/24\nroute 3 203.0.113.0/24\n"
	     "route 2 10.0.0.0/8 blackhole\n",
	  "v4 a 192.0.2.1/24 gw 192.0.2.5\nv6 off\ntap a\n"
	  "addr 192.0.2.1/24\nroute 0.0.0.0/0 via 192.0.2.4 mtu 1500\n"
	  "route 0.0.0.0/0 via 192.0.2.5 mtu 1500\n"
	  "route 0.0.0.0/0 via 192.0.2.6 metric 9 mtu 1500\n" },
	{ "B52 address of 32 bits, gateway by host route", "-4",
	  LO "link 2 e\naddr 2 192.0.2.1/32\n"
	     "route 2 0.0.0.0/0 via 192.0.2.254\nroute 2 192.0.2.254/32\n",
	  "v4 e 192.0.2.1/32 gw 192.0.2.254\nv6 off\ntap e\n"
	  "addr 192.0.2.1/32\nroute 192.0.2.254/32\n"
	  "route 0.0.0.0/0 via 192.0.2.254 mtu 1500\n" },
	{ "B52 onlink needs no host route", "-4",
	  LO "link 2 e\naddr 2 192.0.2.1/32\n"
	     "route 2 0.0.0.0/0 via 10.0.0.1 onlink\n",
	  "v4 e 192.0.2.1/32 gw 10.0.0.1\nv6 off\ntap e\n"
	  "addr 192.0.2.1/32\nroute 0.0.0.0/0 via 10.0.0.1 mtu 1500 onlink\n" },
	{ "B52 noprefixroute and no such route: kept, host route made", "-4",
	  LO "link 2 e\naddr 2 192.0.2.1/24 noprefix\n"
	     "route 2 0.0.0.0/0 via 192.0.2.254\n",
	  "v4 e 192.0.2.1/24 gw 192.0.2.254\nv6 off\ntap e\n"
	  "addr 192.0.2.1/24 noprefix\nroute 192.0.2.254/32\n"
	  "route 0.0.0.0/0 via 192.0.2.254 mtu 1500\n" },
	{ "noprefixroute beside that route: the kernel makes it", "-4",
	  LO "link 2 e\naddr 2 192.0.2.1/24 noprefix\n"
	     "route 2 0.0.0.0/0 via 192.0.2.254 metric 100\n"
	     "route 2 192.0.2.0/24 metric 100\n",
	  "v4 e 192.0.2.1/24 gw 192.0.2.254\nv6 off\ntap e\n"
	  "addr 192.0.2.1/24\n"
	  "route 0.0.0.0/0 via 192.0.2.254 metric 100 mtu 1500\n" },
	{ "B53 tunnel with a peer", "-4",
	  LO "link 2 e\nlink 3 t0 mtu 1420 ptp\naddr 2 192.0.2.1/24\n"
	     "addr 3 10.9.0.2/32\nroute 3 0.0.0.0/0 via 10.9.0.1\n"
	     "route 3 10.9.0.1/32 kernel\nroute 2 192.0.2.0/24\n",
	  "v4 t0 10.9.0.2/32 gw 10.9.0.1\nv6 off\ntap t0\n"
	  "addr 10.9.0.2/32\nroute 10.9.0.1/32 mtu 1420\n"
	  "route 0.0.0.0/0 via 10.9.0.1 mtu 1420\n" },
	{ "B53 tunnel without gateway", "-4",
	  LO "link 3 t0 mtu 1420\naddr 3 10.9.0.2/32\nroute 3 0.0.0.0/0\n",
	  "v4 t0 10.9.0.2/32\nv6 off\ntap t0\naddr 10.9.0.2/32\n"
	  "route 0.0.0.0/0 mtu 1420\n" },
	{ "B53 families apart", NULL,
	  ETH0 "link 3 t0 ptp mtu 1400\naddr 3 fd00::2/128\n"
	       "route 3 fd01::/48\n",
	  "v4 eth0 192.0.2.1/24 gw 192.0.2.254\n" ETH0_V6 "tap eth0\n"
	  "addr 192.0.2.1/24\n" ETH0_V6_ADDRS
	  "route 0.0.0.0/0 via 192.0.2.254 mtu 1500\n" ETH0_V6_ROUTE },
	{ "a default route's interface without address is passed over", "-4",
	  LO "link 2 dummy0\nlink 3 e\naddr 3 10.1.1.1/24\n"
	     "route 2 0.0.0.0/0 metric 1\n"
	     "route 3 0.0.0.0/0 via 10.1.1.9 metric 2\n",
	  "v4 e 10.1.1.1/24 gw 10.1.1.9\nv6 off\ntap e\naddr 10.1.1.1/24\n"
	  "route 0.0.0.0/0 via 10.1.1.9 metric 2 mtu 1500\n" },
	{ "longest prefix is ours; old, failed, link-scope ones stay", "-4",
	  LO
	  "link 2 e\naddr 2 10.1.1.1/24\naddr 2 10.1.2.1/28 old\n"
	  "addr 2 10.1.3.1/25\naddr 2 10.1.4.1/25\naddr 2 10.1.5.1/30 failed\n"
	  "addr 2 169.254.1.1/31 link\nroute 2 0.0.0.0/0 via 10.1.1.9\n",
	  "v4 e 10.1.3.1/25 gw 10.1.1.9\nv6 off\ntap e\naddr 10.1.1.1/24\n"
	  "addr 10.1.3.1/25\naddr 10.1.4.1/25\n"
	  "route 0.0.0.0/0 via 10.1.1.9 mtu 1500\n" },
	{ "metadata route of a cloud", "-4",
	  LO "link 2 e\naddr 2 10.1.1.1/24\nroute 2 0.0.0.0/0 via 10.1.1.9\n"
	     "route 2 169.254.169.254/32 via 10.1.1.3\n",
	  "v4 e 10.1.1.1/24 gw 10.1.1.9\nv6 off\ntap e\naddr 10.1.1.1/24\n"
	  "route 0.0.0.0/0 via 10.1.1.9 mtu 1500\n"
	  "route 169.254.169.254/32 via 10.1.1.3 mtu 1500\n" },
	{ "IPv4 by an IPv6 gateway", "-4",
	  LO "link 2 e\naddr 2 10.1.1.1/32\nroute 2 0.0.0.0/0 via fe80::9\n",
	  "v4 e 10.1.1.1/32\nv6 off\ntap e\naddr 10.1.1.1/32\n"
	  "route 0.0.0.0/0 via fe80::9 mtu 1500\nroute 169.254.2.2/32\n" },
	{ "global IPv6 gateway: our link-local is the host's", "-6",
	  LO "link 2 e\naddr 2 2001:db8::1/64\naddr 2 fe80::5/64 link\n"
	     "route 2 2001:db8::/64\nroute 2 ::/0 via 2001:db8::9\n",
	  "v4 off\nv6 e 2001:db8::1/64 gw 2001:db8::9 ll fe80::5\ntap e\n"
	  "addr 2001:db8::1/64\nroute ::/0 via 2001:db8::9 mtu 1500\n" },
	{ "and fe80::1 if it has none", "-6",
	  LO "link 2 e\naddr 2 2001:db8::1/128\n"
	     "route 2 ::/0 via 2001:db8::9\n",
	  "v4 off\nv6 e 2001:db8::1/64 gw 2001:db8::9 ll fe80::1\ntap e\n"
	  "addr 2001:db8::1/128\nroute 2001:db8::9/128\n"
	  "route ::/0 via 2001:db8::9 mtu 1500\n" },
	{ "rootlesskit", "-a 10.0.2.100 -n 24 -g 10.0.2.2 -I tap0 -4", ETH0,
	  "v4 eth0 10.0.2.100/24 gw 10.0.2.2\nv6 off\ntap tap0\n"
	  "addr 10.0.2.100/24\nroute 0.0.0.0/0 via 10.0.2.2 mtu 1500\n" },
	{ "rootlesskit offline", "-a 10.0.2.100 -n 24 -g 10.0.2.2 -4", LO,
	  "v4 local 10.0.2.100/24 gw 10.0.2.2\nv6 off\ntap tap0\n"
	  "addr 10.0.2.100/24\nroute 0.0.0.0/0 via 10.0.2.2 mtu 1500\n" },
	{ "-a alone: the host's routes, and a default", "-a 172.16.5.5 -4",
	  ETH0,
	  "v4 eth0 172.16.5.5/16 gw 192.0.2.254\nv6 off\ntap eth0\n"
	  "addr 172.16.5.5/16\nroute 192.0.2.0/24\n"
	  "route 0.0.0.0/0 via 192.0.2.254 mtu 1500\n" },
	{ "-a alone, class C", "-a 198.51.100.5 -4", LO,
	  "v4 local 198.51.100.5/24 gw 169.254.2.2\nv6 off\ntap tap0\n"
	  "addr 198.51.100.5/24\nroute 169.254.2.2/32\n" LOCAL4_ROUTE },
	{ "-n without -a says nothing", "-n 30 -4", ETH0,
	  "v4 eth0 192.0.2.1/24 gw 192.0.2.254\nv6 off\ntap eth0\n"
	  "addr 192.0.2.1/24\nroute 0.0.0.0/0 via 192.0.2.254 mtu 1500\n" },
	{ "-g outside the subnet", "-g 10.77.0.1 -4", ETH0,
	  "v4 eth0 192.0.2.1/24 gw 10.77.0.1\nv6 off\ntap eth0\n"
	  "addr 192.0.2.1/24\nroute 10.77.0.1/32\n"
	  "route 0.0.0.0/0 via 10.77.0.1 mtu 1500\n" },
	{ "-a -g, IPv6", "-a 2001:db8:7::2 -g 2001:db8:8::1 -6", ETH0,
	  "v4 off\nv6 eth0 2001:db8:7::2/64 gw 2001:db8:8::1 ll fe80::1:1\n"
	  "tap eth0\naddr 2001:db8:7::2/64\nroute 2001:db8:8::1/128\n"
	  "route ::/0 via 2001:db8:8::1 mtu 1500\n" },
	{ "-i wins over routes", "-i b -4",
	  LO "link 2 a\nlink 3 b\naddr 2 10.1.1.1/24\naddr 3 10.2.2.2/24\n"
	     "route 2 0.0.0.0/0 via 10.1.1.9\nroute 3 10.2.2.0/24\n",
	  "v4 b 10.2.2.2/24\nv6 off\ntap b\naddr 10.2.2.2/24\n"
	  "route 169.254.2.2/32\n" },
	{ "outbound interface as template", "--outbound-if4 b -4",
	  LO "link 2 a\nlink 3 b\naddr 2 10.1.1.1/24\naddr 3 10.2.2.2/24\n"
	     "route 2 0.0.0.0/0 via 10.1.1.9\nroute 3 10.2.2.0/24\n",
	  "v4 b 10.2.2.2/24\nv6 off\ntap b\naddr 10.2.2.2/24\n"
	  "route 169.254.2.2/32\n" },
	{ "-i without addresses: local", "-i c", ETH0 "link 4 c\n",
	  LOCAL4 LOCAL6
	  "tap tap0\naddr 169.254.2.1/16\n" LOCAL4_ROUTE LOCAL6_ROUTE },
};

static const struct {
	const char *options, *host, *want;
} error_rows[] = {
	{ "-i nosuch", ETH0,
	  "--interface nosuch: no such interface (see: ip link)" },
	{ "--outbound-if4 nosuch", ETH0,
	  "--outbound-if4 nosuch: no such interface (see: ip link)" },
	{ "--outbound-if6 c", ETH0 "link 4 c\n",
	  "--outbound-if6 c: no IPv6 address to use on c" },
	{ "-i c --outbound-if4 eth0", ETH0 "link 4 c\n",
	  "--outbound-if4 eth0: no IPv4 address to use on c" },
	{ "--outbound-if6 eth0", "link 2 eth0\naddr 2 192.0.2.1/24\n",
	  "--outbound-if6 eth0: no IPv6 address to use on eth0" },
	{ "-6", "link 2 eth0\naddr 2 192.0.2.1/24\n",
	  "IPv4 is off, and this host has no IPv6 address, not even ::1" },
	{ "-6 -m 1000", ETH0,
	  "--mtu 1000: IPv6 needs at least 1280, and IPv4 is off" },
};

static void test_plans(void)
{
	char err[HOSTNET_ERR_MAX] = "";
	unsigned i;

	for (i = 0; i < sizeof(plan_rows) / sizeof(*plan_rows); i++) {
		read_host(plan_rows[i].host);
		read_options(plan_rows[i].options);
		is_int(hostnet_plan(&conf, &facts, &net, err), 0, "%s: planned",
		       plan_rows[i].name);
		print_plan();
		is_str(text, plan_rows[i].want, "%s", plan_rows[i].name);
		is_int(net.mtu, conf.mtu, "%s: MTU", plan_rows[i].name);
	}
	for (i = 0; i < sizeof(error_rows) / sizeof(*error_rows); i++) {
		net.mtu = 7;
		read_host(error_rows[i].host);
		read_options(error_rows[i].options);
		is_int(hostnet_plan(&conf, &facts, &net, err), -EINVAL,
		       "%s: refused", error_rows[i].options);
		is_str(err, error_rows[i].want, "%s: said so",
		       error_rows[i].options);
		is_int(net.mtu, 7, "%s: plan untouched", error_rows[i].options);
	}
}

/* Tables that are full stay inside themselves */
static void test_full(void)
{
	char err[HOSTNET_ERR_MAX];
	unsigned i;

	read_host(ETH0);
	read_options(NULL);
	for (i = facts.n_addrs; i < HOST_ADDRS_MAX; i++) {
		facts.addr[i] = facts.addr[3];
		facts.addr[i].addr = addr_v4(0x0a000001 + (i << 8));
	}
	facts.n_addrs = HOST_ADDRS_MAX;
	for (i = facts.n_routes; i < HOST_ROUTES_MAX; i++) {
		facts.route[i] = facts.route[0];
		facts.route[i].dst = addr_v4(0x0b000000 + (i << 8));
		facts.route[i].gw = addr_v4(0x0c000001 + (i << 8));
		facts.route[i].plen = 24;
	}
	facts.n_routes = HOST_ROUTES_MAX;
	is_int(hostnet_plan(&conf, &facts, &net, err), 0, "full tables");
	ok(net.n_addrs <= HOST_ADDRS_MAX, "addresses fit");
	is_int(net.n_routes, HOST_ROUTES_MAX, "routes fit");
}

int main(void)
{
	test_plans();
	test_full();
	return done();
}
