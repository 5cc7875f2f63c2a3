/* sock_group.c - what multicast and broadcast ask of sockets
 *
 * A datagram to a group has no route of its own: it leaves by the interface
 * that the sender names. Its source address is asked of the kernel by
 * connecting a socket that is tied to that interface in the weakest way there
 * is, the default interface of the socket, which needs no right.
 *
 * Membership belongs to an interface, and whoever joins makes all of the host
 * hear; so a socket may hold memberships without hearing anything itself. The
 * kernel gives each IPv4 socket 20 of them. */

#include "sock_group.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* seccomp(forwarder): socket(0=AF_INET|AF_INET6) bind connect setsockopt close */

#ifndef IP_UNICAST_IF
#define IP_UNICAST_IF 50
#endif

static void set(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

void sock_group_allow(int fd)
{
	set(fd, SOL_SOCKET, SO_BROADCAST, 1);
}

static void leave_by(int fd, int family, uint32_t ifindex)
{
	struct ip_mreqn by = { .imr_ifindex = (int)ifindex };

	if (family == AF_INET6) {
		set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)ifindex);
		return;
	}
	(void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof(by));
	set(fd, IPPROTO_IP, IP_UNICAST_IF, (int)htonl(ifindex));
}

int sock_group_source(int family, const struct end *to, struct addr *ret_addr)
{
	int rc, fd = sock_open(family);
	struct end local = { 0 };

	if (fd < 0)
		return fd;
	sock_group_allow(fd);
	leave_by(fd, family, to->scope);
	rc = sock_connect(fd, family, to);
	if (!rc)
		rc = sock_local(fd, &local);
	close(fd);
	if (!rc && addr_is_any(&local.addr)) /* the interface has none */
		rc = -EADDRNOTAVAIL;
	if (!rc)
		*ret_addr = local.addr;
	return rc;
}

int sock_group_receiver(int family, const struct addr *group, uint16_t port)
{
	struct end at = end_make(group, port, 0);
	int rc, fd = sock_open(family);

	if (fd < 0)
		return fd;
	sock_setup(fd, family, SOCK_PKTINFO);
	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	rc = sock_bind(fd, family, &at, "");
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int sock_group_member(int fd, const struct addr *group, uint32_t ifindex,
		      bool is_join)
{
	struct ip_mreqn v4 = { .imr_ifindex = (int)ifindex };
	struct ipv6_mreq v6 = { .ipv6mr_interface = ifindex };
	int rc;

	if (addr_is_v4(group)) {
		memcpy(&v4.imr_multiaddr, addr_bytes(group), 4);
		rc = setsockopt(fd, IPPROTO_IP,
				is_join ? IP_ADD_MEMBERSHIP :
					  IP_DROP_MEMBERSHIP,
				&v4, sizeof(v4));
	} else {
		memcpy(&v6.ipv6mr_multiaddr, group->b, 16);
		rc = setsockopt(fd, IPPROTO_IPV6,
				is_join ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP,
				&v6, sizeof(v6));
	}
	return rc ? -errno : 0;
}
