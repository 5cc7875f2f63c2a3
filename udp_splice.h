/* udp_splice.h - UDP between loopback and loopback, socket to socket
 * Knows: which sockets such a flow needs.
 * Does not know: how datagrams are fetched and passed on (udp.h). */

#ifndef UDP_SPLICE_H
#define UDP_SPLICE_H

#include "udp_map.h"

/**
 * udp_splice_new() - begin a spliced flow for a datagram at a listener
 * @m: the listener: LISTEN_HOST leads into the namespace, LISTEN_NS out of it
 * The far socket is its own, so that the server there can tell its peers
 * apart; it has the client's port if that is free.
 * Returns: NULL if no socket was to be had (counted)
 */
struct flow *udp_splice_new(struct udp *u, struct map *m,
			    const struct sock_msg *msg);

/**
 * udp_splice_turn() - reach by IPv4 a server that refused IPv6
 * A client of "localhost" tries IPv6 first, and of a port published at every
 * address it did not mean a family. Only before the server ever answered.
 * Returns: the flow's new far map, and the old one is the caller's to close;
 * NULL if it cannot be, and nothing has changed
 */
struct map *udp_splice_turn(struct udp *u, struct flow *f);

#endif
