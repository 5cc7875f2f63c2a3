/* sock_group_test.c - membership, receivers and sources, asked of the kernel */

#include "sock_group.h"

#include "net.h"

#define LO 1

static struct addr group_of(unsigned i)
{
	return addr_v4(0xef000100u + i);
}

static void sources(void)
{
	struct addr any = { 0 };
	struct end to = E("239.1.1.1", 9);

	to.scope = LO;
	is_int(sock_group_source(AF_INET, &to, &any), -EADDRNOTAVAIL,
	       "an interface that has an address for itself only");
	net_addr("192.0.2.10", 1);
	is_int(sock_group_source(AF_INET, &to, &any), 0, "towards a group");
	ok(addr_is_unicast(&any), "an address of this host");
	to = E("255.255.255.255", 9);
	to.scope = LO;
	is_int(sock_group_source(AF_INET, &to, &any), 0, "towards everybody");
	to = E("239.1.1.1", 9);
	to.scope = 99;
	ok(sock_group_source(AF_INET, &to, &any) < 0, "by no interface");
}

/* 20 per socket of IPv4: why there are several holders */
static void members(void)
{
	int rc = 0, fd = sock_open(AF_INET);
	struct addr g = group_of(0);
	unsigned n = 0;

	for (; n < 64 && !rc; n++) {
		g = group_of(n);
		rc = sock_group_member(fd, &g, LO, true);
	}
	is_int(rc, -ENOBUFS, "a socket holds so many: %u", n - 1);
	g = group_of(0);
	is_int(sock_group_member(fd, &g, LO, false), 0, "leave");
	ok(sock_group_member(fd, &g, LO, false) < 0, "twice");
	is_int(sock_group_member(fd, &g, LO, true), 0, "join again");
	ok(sock_group_member(fd, &g, 99, true) < 0, "no such interface");
	close(fd);
}

static void receivers(void)
{
	struct addr g = A_("239.1.1.1");
	int one = sock_group_receiver(AF_INET, &g, 5353);
	int two = sock_group_receiver(AF_INET, &g, 5353);
	int taken = net_udp("0.0.0.0", 5354), three;

	ok(one >= 0 && two >= 0, "two hear one group");
	three = sock_group_receiver(AF_INET, &g, 5354);
	is_int(three, -EADDRINUSE, "not beside who does not share");
	close(one);
	close(two);
	close(taken);
}

int main(void)
{
	net_enter();
	sources();
	members();
	receivers();
	return done();
}
