/* netlink.h - ask the kernel about links, addresses, routes and sockets, and
 * change them
 * Knows: rtnetlink(7), sock_diag(7) exchanges.  Does not know: what to do with
 * the answers. Every call is synchronous, takes several datagrams per answer,
 * and returns 0 or -errno. */

#ifndef NETLINK_H
#define NETLINK_H

#include "nlmsg.h"

/** struct nl_link_conf - changes to a link; 0, "" and false: leave as it is
 * @no_linklocal: IPv6 addr_gen_mode none: no address, so no DAD, of its own */
struct nl_link_conf {
	uint32_t mtu;
	uint32_t tx_queue;
	struct mac mac;
	bool has_mac;
	bool up;
	bool no_linklocal;
};

/** netlink_open() - socket of NETLINK_ROUTE or NETLINK_SOCK_DIAG, CLOEXEC, with
 * a receive timeout; returns the descriptor or -errno */
int netlink_open(int protocol);

/** netlink_watch() - socket that is readable after a change of links, addresses
 * or routes; non-blocking; returns the descriptor or -errno */
int netlink_watch(void);

/** netlink_forget() - make it wait for the next change */
void netlink_forget(int fd);

/** netlink_facts() - all links, addresses and main-table routes, both families
 * A family the kernel lacks is skipped. Half filled on failure. */
int netlink_facts(int fd, struct nl_facts *ret_facts);

int netlink_link_by_name(int fd, const char *name, struct nl_link *ret_link);
int netlink_link_set(int fd, uint32_t ifindex, const struct nl_link_conf *c);

/** netlink_addr_add() - without duplicate address detection, for ever valid;
 * -EEXIST if it is there */
int netlink_addr_add(int fd, const struct nl_addr *a);

/** netlink_route_add() - append (several of one prefix keep their order) */
int netlink_route_add(int fd, const struct nl_route *r);

/** netlink_route_replace() - put in place of one of that prefix and metric */
int netlink_route_replace(int fd, const struct nl_route *r);

int netlink_drops(int fd, uint32_t ifindex, struct nl_drops *ret_drops);

/**
 * netlink_bound() - ports that sockets of a namespace are bound to
 * @fd:    NETLINK_SOCK_DIAG socket of that namespace
 * @proto: IPPROTO_UDP: unconnected sockets; IPPROTO_TCP: listening ones
 * Adds to @set; does not clear it.
 */
int netlink_bound(int fd, int proto, struct port_set *set);

#endif
