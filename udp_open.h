/* udp_open.h - makes sockets for UDP
 * Knows: which source address and port a socket shall have; that a limit of
 * descriptors is a reason to end an older conversation.
 * Does not know: which socket a datagram needs (udp_flow.h). */

#ifndef UDP_OPEN_H
#define UDP_OPEN_H

#include "udp_map.h"

/** udp_open_source() - address that the host would use towards @remote
 * Returns: 0 or -errno, as sock_source() */
int udp_open_source(struct udp *u, const struct end *remote,
		    struct addr *ret_addr);

/** udp_open_to() - a socket connected to @remote, on a port that the kernel
 * chooses; returns the descriptor, now the caller's, or -errno */
int udp_open_to(struct udp *u, const struct end *remote);

/**
 * udp_open_map() - open a socket for a map, and take it into use
 * @proto:    the map as it shall be; its port is filled in
 * @remote:   connect to it, NULL: do not
 * @any_port: the kernel chooses; else the inner port is taken if it is free
 * Returns: the map, or NULL
 */
struct map *udp_open_map(struct udp *u, struct map *proto,
			 const struct end *remote, bool any_port);

#endif
