/* sock_group.h - what multicast and broadcast ask of sockets
 * Knows: ip(7) and ipv6(7) options about groups.
 * Does not know: who is a member, what is sent.
 * Sources: RFC 3493 5.2, RFC 1112; udp(7). */

#ifndef SOCK_GROUP_H
#define SOCK_GROUP_H

#include "sock.h"

/**
 * sock_group_source() - address that the host would use towards a group
 * @to: a multicast or broadcast address, its scope is the interface
 * Returns: 0 or -errno
 */
int sock_group_source(int family, const struct end *to, struct addr *ret_addr);

/** sock_group_allow() - let a socket send to broadcast addresses */
void sock_group_allow(int fd);

/**
 * sock_group_receiver() - a socket that hears one group at one port
 * The only kind of ours that shares its port (SO_REUSEADDR): bound to a group,
 * it can take nothing that was meant for somebody alone.
 * Returns: descriptor or -errno
 */
int sock_group_receiver(int family, const struct addr *group, uint16_t port);

/** sock_group_member() - join or leave on an interface; returns 0 or -errno
 * (-ENOBUFS, -ENOMEM: this socket has as many as it may) */
int sock_group_member(int fd, const struct addr *group, uint32_t ifindex,
		      bool is_join);

#endif
