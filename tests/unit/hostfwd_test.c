/* hostfwd_test.c - policies of hosts as text (hosttext.h) and options */

#include "check.h"
#include "hostfwd.h"
#include "unit/hosttext.h"

static struct guest_net net;

static void is_addr(const struct addr *got, const char *want, const char *name)
{
	char a[ADDR_STRLEN];

	is_str(addr_format(got, a), want, "%s", name);
}

static void fill_fwd(const char *options, const char *host, struct fwd *ret)
{
	struct resolv resolv;
	char err[HOSTNET_ERR_MAX];

	read_host(host);
	read_options(options);
	resolv_parse("nameserver 127.0.0.53\nnameserver fd00::53\n", &resolv);
	hostnet_plan(&conf, &facts, &net, err);
	hostfwd_policy(&conf, &net, &resolv, ret);
}

static void test_fwd(void)
{
	struct resolv resolv;
	struct fwd f;

	fill_fwd(NULL, ETH0, &f);
	is_addr(&f.guest[FAMILY_V4], "192.0.2.1", "guest, IPv4");
	is_addr(&f.seen[FAMILY_V4], "192.0.2.1", "seen as assigned");
	is_addr(&f.ours[FAMILY_V4], "192.0.2.254", "ours is the gateway");
	is_addr(&f.ours[FAMILY_V6], "fe80::99", "ours, IPv6");
	is_addr(&f.host_loopback[FAMILY_V4], "192.0.2.254", "loopback alias");
	is_addr(&f.host_loopback[FAMILY_V6], "fe80::99", "the same, IPv6");
	is_addr(&f.dns_host[FAMILY_V4], "127.0.0.53", "resolver");
	is_addr(&f.dns_host[FAMILY_V6], "fd00::53", "resolver, IPv6");
	is_int(f.scope[FAMILY_V6], 2, "link-local destinations leave by eth0");

	fill_fwd(NULL, LO, &f);
	is_addr(&f.guest[FAMILY_V4], "169.254.2.1", "offline: guest");
	is_addr(&f.ours[FAMILY_V4], "169.254.2.2", "offline: ours");
	is_addr(&f.ours[FAMILY_V6], "fe80::1", "offline: ours, IPv6");
	is_addr(&f.host_loopback[FAMILY_V4], "169.254.2.2", "offline: alias");

	fill_fwd("-4", LO "link 2 e\naddr 2 10.1.1.1/24\nroute 2 10.1.1.0/24\n",
		 &f);
	is_addr(&f.ours[FAMILY_V4], "169.254.2.2", "no gateway: ours");
	is_addr(&f.host_loopback[FAMILY_V4], "::", "no gateway: no alias");
	is_addr(&f.ours[FAMILY_V6], "::", "family off: nothing");
	is_addr(&f.dns_host[FAMILY_V6], "::", "family off: no resolver");
	is_int(f.scope[FAMILY_V6], 2, "scope of the only template");

	fill_fwd(NULL, ETH0, &f);
	conf.no_map_gw = true;
	conf.map_host_loopback[FAMILY_V6] = need_addr("2001:db8::7");
	conf.map_guest_addr[FAMILY_V4] = need_addr("169.254.1.2");
	conf.dns_forward[FAMILY_V4] = need_addr("169.254.1.1");
	conf.dns_host[FAMILY_V4] = need_addr("9.9.9.9");
	conf.no_splice = true;
	conf.host_lo_to_ns_lo = true;
	conf.udp_filter = FILTER_PORT;
	resolv_parse("", &resolv);
	hostfwd_policy(&conf, &net, &resolv, &f);
	is_addr(&f.host_loopback[FAMILY_V4], "::", "--no-map-gw");
	is_addr(&f.host_loopback[FAMILY_V6], "2001:db8::7", "alias as given");
	is_addr(&f.guest_alias[FAMILY_V4], "169.254.1.2", "--map-guest-addr");
	is_addr(&f.dns_forward[FAMILY_V4], "169.254.1.1", "--dns-forward");
	is_addr(&f.dns_host[FAMILY_V4], "9.9.9.9", "--dns-host");
	ok(f.no_splice && f.to_loopback && f.filter == FILTER_PORT, "switches");
}

int main(void)
{
	test_fwd();
	return done();
}
