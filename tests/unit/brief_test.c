/* brief_test.c - what the guest is told, by options, host and policy */

#include "brief.h"

#include "check.h"

static struct conf conf;
static struct guest_net net;
static struct fwd fwd;
static struct resolv resolv;
static struct announce told;

static struct addr need(const char *text)
{
	struct addr a = addr_any6;

	if (!addr_parse(text, &a))
		ok(false, "address %s", text);
	return a;
}

static void is_dns(enum family f, const char *want, const char *name)
{
	char text[ANNOUNCE_DNS_MAX * ADDR_STRLEN] = "", a[ADDR_STRLEN];

	for (unsigned i = 0; i < told.n_dns[f]; i++) {
		strcat(text, i ? " " : "");
		strcat(text, addr_format(&told.dns[f][i], a));
	}
	is_str(text, want, "%s: IPv%c", name, f == FAMILY_V4 ? '4' : '6');
}

static void start(void)
{
	memset(&conf, 0, sizeof(conf));
	memset(&fwd, 0, sizeof(fwd));
	conf.has_dhcp_dns = true;
	conf.has_dhcp_search = true;
}

static void host(const char *text)
{
	resolv_parse(text, &resolv);
	brief_guest(&conf, &net, &fwd, &resolv, &told);
}

static void resolvers_of_host(void)
{
	start();
	host("");
	is_dns(FAMILY_V4, "", "nothing known");
	is_dns(FAMILY_V6, "", "nothing known");
	host("nameserver 192.0.2.53\nnameserver fe80::1\nnameserver 192.0.2.54\n");
	is_dns(FAMILY_V4, "192.0.2.53 192.0.2.54", "as they are");
	is_dns(FAMILY_V6, "fe80::1", "as they are");
	host("nameserver 127.0.0.53\nnameserver 192.0.2.53\nnameserver ::1\n");
	is_dns(FAMILY_V4, "192.0.2.53", "loopback is no use without alias");
	is_dns(FAMILY_V6, "", "loopback is no use without alias");

	fwd.host_loopback[FAMILY_V4] = need("192.0.2.254");
	fwd.dns_forward[FAMILY_V4] = need("192.0.2.254");
	host("nameserver 127.0.0.53\nnameserver 192.0.2.53\nnameserver 127.0.0.1\n");
	is_dns(FAMILY_V4, "192.0.2.254 192.0.2.53", "loopback as alias, once");
	fwd.dns_forward[FAMILY_V4] = need("169.254.1.1");
	host("nameserver 127.0.0.53\nnameserver 192.0.2.53\n");
	is_dns(FAMILY_V4, "169.254.1.1 192.0.2.53", "as --dns-forward says");
	host("nameserver 192.0.2.254\n");
	is_dns(FAMILY_V4, "169.254.1.1", "the gateway, which means loopback");

	conf.has_dhcp_dns = false;
	host("nameserver 192.0.2.53\nsearch a\n");
	is_dns(FAMILY_V4, "", "not to be told");
	is_int(told.n_search, 1, "search list is");
}

static void resolvers_of_options(void)
{
	start();
	conf.has_dns[FAMILY_V4] = true;
	conf.n_dns[FAMILY_V4] = 2;
	conf.dns[FAMILY_V4][0] = need("9.9.9.9");
	conf.dns[FAMILY_V4][1] = need("127.0.0.1");
	host("nameserver 192.0.2.53\nnameserver 2001:db8::53\n");
	is_dns(FAMILY_V4, "9.9.9.9 127.0.0.1", "-D as given");
	is_dns(FAMILY_V6, "2001:db8::53", "the other family is the host's");
	conf.n_dns[FAMILY_V4] = 0;
	host("nameserver 192.0.2.53\n");
	is_dns(FAMILY_V4, "", "-D none");
}

static void search(void)
{
	start();
	host("search a.example b\n");
	is_int(told.n_search, 2, "search list of the host");
	is_str(told.search[0], "a.example", "first");
	is_str(told.search[1], "b", "second");
	conf.has_search = true;
	conf.n_search = 1;
	strcpy(conf.search[0], "c");
	host("search a.example b\n");
	is_int(told.n_search, 1, "of options");
	is_str(told.search[0], "c", "as given");
	conf.n_search = 0;
	host("search a.example b\n");
	is_int(told.n_search, 0, "-S none");
	conf.has_search = false;
	conf.has_dhcp_search = false;
	host("search a.example b\n");
	is_int(told.n_search, 0, "not to be told");
}

static void rest(void)
{
	static const struct mac mac = { { 2, 0, 0, 0, 0, 9 } };
	struct addr gone;

	start();
	conf.mac = mac;
	conf.mtu = 1400;
	conf.hostname = "guest";
	conf.fqdn = "guest.example";
	net.plen[FAMILY_V4] = 20;
	fwd.guest[FAMILY_V4] = need("192.0.2.1");
	fwd.ours[FAMILY_V4] = need("192.0.2.254");
	fwd.guest[FAMILY_V6] = need("2001:db8::1");
	fwd.ours[FAMILY_V6] = need("fe80::1");
	host("nameserver 192.0.2.53\n");
	ok(!memcmp(told.guest, fwd.guest, sizeof(told.guest)), "addresses");
	ok(!memcmp(told.ours, fwd.ours, sizeof(told.ours)), "ours");
	is_int(told.plen4, 20, "prefix");
	is_int(told.mtu, 1400, "MTU");
	is_mem(&told.mac, &mac, sizeof(mac), "MAC");
	is_str(told.hostname, "guest", "host name");
	is_str(told.fqdn, "guest.example", "FQDN");
	ok(told.duid_s > 800000000, "the clock runs");

	gone = told.guest[FAMILY_V4];
	resolv_parse("nameserver 192.0.2.54\nsearch x\n", &resolv);
	brief_dns(&conf, &fwd, &resolv, &told);
	is_dns(FAMILY_V4, "192.0.2.54", "resolvers anew");
	is_str(told.search[0], "x", "search list anew");
	ok(addr_eq(&told.guest[FAMILY_V4], &gone), "the rest stays");
}

int main(void)
{
	resolvers_of_host();
	resolvers_of_options();
	search();
	rest();
	return done();
}
