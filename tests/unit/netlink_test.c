/* netlink_test.c - requests, and exchanges with a kernel that is a script
 *
 * A request for a change has the form of the message that describes the
 * result, so what netlink.c builds is read back by nlmsg.c: read(build(x)) = x.
 * The kernel is the other end of a socket pair. Where it must answer more than
 * once it is a process. The last checks ask the real kernel what anybody may
 * ask. */

#include "check.h"
#include "netlink.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct nl_facts facts;
static struct port_set ports;

static void pair(int fd[2])
{
	struct timeval limit = { .tv_usec = 200000 };

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
		skip_all("socketpair: %s", strerror(errno));
	setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

static void answer(int fd, uint16_t type, uint16_t flags, int code)
{
	struct {
		struct nlmsghdr h;
		int code;
	} m = { { sizeof(m), type, flags, 1, 0 }, code };

	if (write(fd, &m, sizeof(m)) != sizeof(m))
		_exit(1);
}

/* What was asked on the other end, read as if it were an answer */
static void read_request(int fd, uint16_t type, const char *name)
{
	struct nl_sink to = { .facts = &facts };
	uint8_t buf[4096];
	struct nlmsghdr h;
	ssize_t n = read(fd, buf, sizeof(buf));

	memset(&facts, 0, sizeof(facts));
	if (!ok(n > (ssize_t)sizeof(h), "%s: a request was sent", name))
		return;
	memcpy(&h, buf, sizeof(h));
	is_int(h.nlmsg_len, n, "%s: length", name);
	is_int(h.nlmsg_type, type, "%s: type", name);
	is_int(h.nlmsg_flags & (NLM_F_REQUEST | NLM_F_ACK),
	       NLM_F_REQUEST | NLM_F_ACK, "%s: acknowledgement wanted", name);
	nlmsg_read(buf, (size_t)n, &to);
}

static const struct {
	const char *name, *addr;
	uint8_t plen;
	uint32_t flags, want_flags;
} addr_rows[] = {
	{ "192.0.2.1/24", "192.0.2.1", 24, 0, 0 },
	{ "192.0.2.1/32", "192.0.2.1", 32, IFA_F_NOPREFIXROUTE,
	  IFA_F_NOPREFIXROUTE },
	{ "2001:db8::1/64", "2001:db8::1", 64, IFA_F_TENTATIVE, IFA_F_NODAD },
};

static void test_addr_add(void)
{
	struct nl_addr a = { .ifindex = 7, .scope = RT_SCOPE_LINK };
	unsigned i;
	int fd[2];

	pair(fd);
	for (i = 0; i < sizeof(addr_rows) / sizeof(*addr_rows); i++) {
		const char *name = addr_rows[i].name;

		addr_parse(addr_rows[i].addr, &a.addr);
		a.plen = addr_rows[i].plen;
		a.flags = addr_rows[i].flags;
		answer(fd[1], NLMSG_ERROR, 0, 0);
		is_int(netlink_addr_add(fd[0], &a), 0, "%s: added", name);
		read_request(fd[1], RTM_NEWADDR, name);
		ok(addr_eq(&facts.addr[0].addr, &a.addr), "%s: address", name);
		is_int(facts.addr[0].plen, a.plen, "%s: prefix", name);
		is_int(facts.addr[0].ifindex, 7, "%s: interface", name);
		is_int(facts.addr[0].scope, RT_SCOPE_LINK, "%s: scope", name);
		is_int(facts.addr[0].flags, addr_rows[i].want_flags,
		       "%s: flags", name);
	}
	answer(fd[1], NLMSG_ERROR, 0, -EEXIST);
	is_int(netlink_addr_add(fd[0], &a), -EEXIST, "the kernel's errno");
	is_int(netlink_addr_add(fd[0], &a), -EAGAIN, "no answer: gives up");
	close(fd[1]);
	ok(netlink_addr_add(fd[0], &a) < 0, "nobody there: an error");
	close(fd[0]);
}

static const struct {
	const char *name, *dst;
	uint8_t plen;
	const char *gw;
	uint32_t metric, mtu, flags;
} route_rows[] = {
	{ "default", "0.0.0.0", 0, "192.0.2.254", 0, 1500, 0 },
	{ "onlink", "0.0.0.0", 0, "192.0.2.254", 100, 0, RTNH_F_ONLINK },
	{ "subnet", "10.1.0.0", 16, NULL, 0, 0, 0 },
	{ "IPv4 by an IPv6 gateway", "10.1.0.0", 16, "fe80::1", 0, 0, 0 },
	{ "IPv6 default", NULL, 0, "fe80::1", 1024, 1280, 0 },
	{ "IPv6 host", "2001:db8::1", 128, NULL, 0, 0, 0 },
};

static void test_route_add(void)
{
	struct nl_route r;
	unsigned i;
	int fd[2];

	pair(fd);
	for (i = 0; i < sizeof(route_rows) / sizeof(*route_rows); i++) {
		const char *name = route_rows[i].name;

		memset(&r, 0, sizeof(r));
		if (route_rows[i].dst)
			addr_parse(route_rows[i].dst, &r.dst);
		if (route_rows[i].gw)
			addr_parse(route_rows[i].gw, &r.gw);
		r.plen = route_rows[i].plen;
		r.metric = route_rows[i].metric;
		r.mtu = route_rows[i].mtu;
		r.flags = route_rows[i].flags;
		r.ifindex = 7;
		r.type = RTN_UNICAST;
		r.proto = RTPROT_BOOT;
		answer(fd[1], NLMSG_ERROR, 0, 0);
		is_int(netlink_route_add(fd[0], &r), 0, "%s: added", name);
		read_request(fd[1], RTM_NEWROUTE, name);
		is_mem(&facts.route[0], &r, sizeof(r), "%s: as given", name);
	}
	close(fd[0]);
	close(fd[1]);
}

static void test_link_set(void)
{
	struct nl_link_conf c = {
		.mtu = 65520,
		.tx_queue = 4096,
		.mac = { { 2, 0, 0, 0, 0, 1 } },
		.has_mac = true,
		.up = true,
		.no_linklocal = true,
	};
	int fd[2];

	pair(fd);
	answer(fd[1], NLMSG_ERROR, 0, 0);
	is_int(netlink_link_set(fd[0], 7, &c), 0, "link: changed");
	read_request(fd[1], RTM_NEWLINK, "link");
	is_int(facts.link[0].mtu, 65520, "link: MTU");
	is_int(facts.link[0].ifindex, 7, "link: index");
	is_int(facts.link[0].flags, IFF_UP, "link: up");
	is_mem(&facts.link[0].mac, &c.mac, sizeof(c.mac), "link: MAC");
	close(fd[0]);
	close(fd[1]);
}

/* An address 192.0.2.N in a datagram of its own */
static void tell_addr(int fd, uint8_t n, uint16_t flags)
{
	struct {
		struct nlmsghdr h;
		struct ifaddrmsg m;
		struct nlattr a;
		uint8_t addr[4];
	} m = {
		.h = { sizeof(m), RTM_NEWADDR, flags, 1, 0 },
		.m = { .ifa_family = AF_INET, .ifa_prefixlen = 24 },
		.a = { 8, IFA_ADDRESS },
		.addr = { 192, 0, 2, n },
	};

	if (write(fd, &m, sizeof(m)) != sizeof(m))
		_exit(1);
}

/* A kernel whose addresses change while they are read for the @torn-th time */
static void play_kernel(int fd, unsigned torn)
{
	uint8_t buf[4096];
	struct nlmsghdr h;

	while (read(fd, buf, sizeof(buf)) >= (ssize_t)sizeof(h)) {
		memcpy(&h, buf, sizeof(h));
		if (h.nlmsg_type == RTM_GETADDR && torn) {
			torn--;
			tell_addr(fd, 9, NLM_F_MULTI | NLM_F_DUMP_INTR);
			continue;
		}
		if (h.nlmsg_type == RTM_GETADDR) {
			tell_addr(fd, 1, NLM_F_MULTI);
			tell_addr(fd, 2, NLM_F_MULTI);
		}
		answer(fd, NLMSG_DONE, NLM_F_MULTI, 0);
	}
	_exit(0);
}

static void test_torn(unsigned torn, int want)
{
	int fd[2], rc;
	pid_t pid;

	pair(fd);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		play_kernel(fd[1], torn);
	}
	close(fd[1]);
	rc = netlink_facts(fd[0], &facts);
	is_int(rc, want, "table changed %u times while read", torn);
	if (!rc) {
		is_int(facts.n_addrs, 2, "two datagrams, two addresses");
		is_int(addr_bytes(&facts.addr[0].addr)[3], 1, "in order");
	}
	shutdown(fd[0], SHUT_RDWR);
	close(fd[0]);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

static void test_real_routes(void)
{
	struct nl_drops d;
	struct nl_link lo;
	int fd = netlink_open(NETLINK_ROUTE);

	if (!ok(fd >= 0, "rtnetlink socket"))
		return;
	is_int(netlink_facts(fd, &facts), 0, "facts of this machine");
	ok(facts.n_links >= 1, "at least one link");
	is_int(netlink_link_by_name(fd, "lo", &lo), 0, "lo exists");
	is_int(lo.flags & IFF_LOOPBACK, IFF_LOOPBACK, "and is loopback");
	is_int(netlink_link_by_name(fd, "no-such-link", &lo), -ENODEV,
	       "no such link");
	is_int(netlink_link_by_name(fd, "a-name-much-too-long-for-a-link", &lo),
	       -ENODEV, "no such name");
	is_int(netlink_drops(fd, lo.ifindex, &d), 0, "counters of lo");
	is_int(netlink_drops(fd, 0x7fffffff, &d), -ENODEV, "of no link");
	close(fd);
}

static void test_real_ports(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	struct sockaddr_in any4 = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);
	int fd = netlink_open(NETLINK_SOCK_DIAG);
	int s = socket(AF_INET6, SOCK_DGRAM, 0);
	int rc;

	/* Dual-stack, where there is IPv6 */
	if (s < 0 || bind(s, (struct sockaddr *)&any, sizeof(any))) {
		s = socket(AF_INET, SOCK_DGRAM, 0);
		bind(s, (struct sockaddr *)&any4, sizeof(any4));
	}
	getsockname(s, (struct sockaddr *)&any, &len);
	rc = fd < 0 ? fd : netlink_bound(fd, IPPROTO_UDP, &ports);
	if (rc == -ENOENT || rc == -EPROTONOSUPPORT)
		ok(true, "bound ports # skip this kernel has no udp_diag");
	else if (is_int(rc, 0, "bound ports of this machine"))
		ok(port_set_has(&ports, ntohs(any.sin6_port)),
		   "our own is among them");
	close(s);
	close(fd);
}

static bool is_told(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/* In a namespace of our own, where nobody else changes anything */
static void test_watch(void)
{
	struct nl_link_conf up = { .up = true };
	int watch, fd;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		ok(true, "changes # skip no network namespace");
		return;
	}
	watch = netlink_watch();
	fd = netlink_open(NETLINK_ROUTE);
	ok(watch >= 0 && !is_told(watch, 20), "no change, no message");
	is_int(netlink_link_set(fd, 1, &up), 0, "lo up");
	ok(is_told(watch, 2000), "is a change");
	while (is_told(watch, 20)) /* IPv6 takes its time */
		netlink_forget(watch);
	netlink_facts(fd, &facts);
	ok(!is_told(watch, 20), "looking is none");
	for (unsigned i = 0; i < 3000; i++)
		netlink_link_set(fd, 1, &up);
	netlink_forget(watch);
	netlink_forget(watch);
	ok(!is_told(watch, 20), "however many there were");
	close(watch);
	close(fd);
}

int main(void)
{
	test_addr_add();
	test_route_add();
	test_link_set();
	test_torn(0, 0);
	test_torn(1, 0);
	test_torn(4, 0);
	test_real_routes();
	test_real_ports();
	test_watch();
	return done();
}
