/* udp.h - carries UDP between the guest's link and host sockets
 * Knows: rounds, runs, the first-datagram policy.
 * Does not know: what a frame looks like, which ports are published. */

#ifndef UDP_H
#define UDP_H

#include "udp_map.h"

/**
 * udp_init() - make UDP work
 * @u: zeroed; loop, tap, agent (NULL without a namespace), stats, fwd, conf and
 *     reserved are set
 */
void udp_init(struct udp *u, const struct hash_key *key);

/**
 * udp_from_guest() - take in the datagrams of one frame
 * @p: a PKT_UDP; its payload is borrowed until udp_flush()
 * Sent at the latest by udp_flush(), which ends a round of frames.
 */
void udp_from_guest(struct udp *u, const struct pkt *p);

/** udp_socket_drops() - buffers the kernel dropped at our sockets, ever */
uint64_t udp_socket_drops(const struct udp *u);

#endif
