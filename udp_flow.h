/* udp_flow.h - begins UDP conversations
 * Knows: policy; which socket is the right one, and who may use it.
 * Does not know: how sockets are made, and when conversations end (udp_map.h);
 * how datagrams are fetched and passed on (udp.h). */

#ifndef UDP_FLOW_H
#define UDP_FLOW_H

#include "udp_map.h"

/**
 * udp_flow_from_guest() - begin a flow for a datagram of the guest
 * Returns: NULL if it is refused (counted)
 */
struct flow *udp_flow_from_guest(struct udp *u, const struct pkt *p);

/**
 * udp_flow_from_host() - begin a flow over the tap for a datagram that came
 * to a shared map or a listener
 * Returns: NULL if it is refused (counted)
 */
struct flow *udp_flow_from_host(struct udp *u, struct map *m,
				const struct sock_msg *msg);

/**
 * udp_flow_to_group() - the same for a datagram to a group
 * @to: address that the guest shall find as its destination
 */
struct flow *udp_flow_to_group(struct udp *u, struct map *m,
			       const struct sock_msg *msg,
			       const struct addr *to);

#endif
