/* udp_group.h - multicast and broadcast between the guest and the host's links
 * Knows: which groups the guest is in, which sockets that takes.
 * Does not know: how datagrams are fetched and passed on (udp.h). */

#ifndef UDP_GROUP_H
#define UDP_GROUP_H

#include "mcast.h"
#include "udp_map.h"

/** struct group_holder - a socket that holds memberships and hears nothing
 * @fd: descriptor + 1, 0: none yet */
struct group_holder {
	int fd;
};

/** struct group_receiver - a map that hears one group; 0: free entry
 * @map: its number + 1 */
struct group_receiver {
	struct addr group;
	uint32_t map;
	uint16_t port;
};

/** struct group_sender - an endpoint of ours that sent to a group
 * @map: number of the map it was sent by, + 1 */
struct group_sender {
	struct end from;
	uint32_t map;
};

/** struct udp_group - all about groups
 * @u: set by the caller, whose @group is this
 * @wanted: ports the guest has sent from or to, newest at @n_wanted - 1 modulo
 *          MCAST_PORTS; receivers are opened for them */
#define MCAST_PORTS 32
struct udp_group {
	struct udp *u;
	struct timer timer;
	struct mcast groups;
	struct group_holder holder[FAMILY_COUNT][MCAST_HOLDERS];
	struct group_receiver receiver[MCAST_RECEIVERS_MAX];
	struct group_sender sender[MCAST_RECEIVERS_MAX];
	uint16_t wanted[FAMILY_COUNT][MCAST_PORTS];
	unsigned n_wanted[FAMILY_COUNT];
	unsigned n_sender;
};

/** udp_group_init() - @g->u is set */
void udp_group_init(struct udp_group *g);

/** udp_group_ask() - have the guest report its groups */
void udp_group_ask(struct udp_group *g);

/** udp_group_rejoin() - the link that groups are heard on is another one now */
void udp_group_rejoin(struct udp_group *g);

/** udp_group_report() - a membership message of the guest */
void udp_group_report(struct udp_group *g, const struct pkt *p);

/** udp_group_spoke() - the guest began a flow: remember what may come back */
void udp_group_spoke(struct udp_group *g, const struct flow *f);

/**
 * udp_group_flow() - the flow of a datagram that was sent to a group
 * Returns: NULL if it is dropped (counted): the guest is not in the group, it
 * came by another link, or is the copy of what we sent ourselves
 */
struct flow *udp_group_flow(struct udp_group *g, struct map *m,
			    const struct sock_msg *msg);

#endif
