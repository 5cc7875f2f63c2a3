/* summary_test.c - the lines for people, and those that programs read */

#include "summary.h"

#include "check.h"
#include "log.h"

#include <unistd.h>

static char path[] = "/tmp/summary_test_XXXXXX";

static struct conf conf;
static struct guest_net net;
static struct fwd fwd;
static struct announce told;

static struct addr address(const char *text)
{
	struct addr a = addr_any6;

	ok(addr_parse(text, &a), "%s", text);
	return a;
}

static const char *text(void)
{
	static char buf[8192];
	FILE *f;
	size_t n;

	if (truncate(path, 0))
		return "";
	summary_log(&conf, &net, &fwd, &told);
	f = fopen(path, "r");
	n = f ? fread(buf, 1, sizeof(buf) - 1, f) : 0;
	buf[n] = '\0';
	if (f)
		fclose(f);
	return buf;
}

static void fill(void)
{
	static const struct mac mac = { { 2, 0, 0, 0, 0, 1 } };

	conf.mac = mac;
	net.has[FAMILY_V4] = true;
	net.has[FAMILY_V6] = true;
	strcpy(net.ifname[FAMILY_V4], "eth0");
	strcpy(net.ifname[FAMILY_V6], "wlan0");
	strcpy(net.tap_name, "tap9");
	net.plen[FAMILY_V4] = 20;
	net.gw[FAMILY_V4] = address("192.0.2.254");
	net.gw[FAMILY_V6] = address("fe80::1");
	net.our_ll = address("fe80::2");
	fwd.host_loopback[FAMILY_V4] = address("192.0.2.254");
	fwd.host_loopback[FAMILY_V6] = address("fe80::1");
	fwd.dns_forward[FAMILY_V4] = address("169.254.1.1");
	told.guest[FAMILY_V4] = address("192.0.2.1");
	told.guest[FAMILY_V6] = address("2001:db8::1");
	told.dns[FAMILY_V4][0] = address("192.0.2.53");
	told.dns[FAMILY_V6][0] = address("2001:db8::53");
	told.n_dns[FAMILY_V4] = 1;
	told.n_dns[FAMILY_V6] = 1;
	strcpy(told.search[0], "example.org");
	told.n_search = 1;
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0 || !freopen(path, "a", stderr))
		skip_all("stderr cannot be replaced");
	close(fd);
	log_init("pasta");
	fill();
	is_str(text(),
	       "Template interface: eth0 (IPv4), wlan0 (IPv6)\n"
	       "Namespace interface: tap9\n"
	       "MAC:\n"
	       "    host: 02:00:00:00:00:01\n"
	       "Host loopback: 192.0.2.254, fe80::1\n"
	       "DHCP:\n"
	       "    assign: 192.0.2.1\n"
	       "    mask: 255.255.240.0\n"
	       "    router: 192.0.2.254\n"
	       "NDP/DHCPv6:\n"
	       "    assign: 2001:db8::1\n"
	       "    router: fe80::1\n"
	       "    our link-local: fe80::2\n"
	       "DNS forwarding from: 169.254.1.1\n"
	       "DNS:\n"
	       "    192.0.2.53\n"
	       "    2001:db8::53\n"
	       "DNS search list:\n"
	       "    example.org\n",
	       "everything");

	memset(&fwd, 0, sizeof(fwd));
	memset(&told, 0, sizeof(told));
	net.has[FAMILY_V6] = false;
	net.ifname[FAMILY_V4][0] = '\0';
	conf.no_dhcp = true;
	conf.target = TARGET_FD;
	conf.outbound_if[FAMILY_V6] = "eth6";
	conf.outbound[FAMILY_V4] = address("192.0.2.7");
	is_str(text(),
	       "Template interface: wlan0 (IPv6)\n"
	       "Outbound interface: eth6 (IPv6)\n"
	       "Outbound address: 192.0.2.7\n"
	       "MAC:\n"
	       "    host: 02:00:00:00:00:01\n",
	       "what is off is left out");
	log_level(LEVEL_WARN);
	is_str(text(), "", "nothing with -q");
	unlink(path);
	return done();
}
