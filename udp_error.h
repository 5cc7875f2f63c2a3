/* udp_error.h - what is said about datagrams that did not arrive
 * Knows: error queues, which flow an error is about, who is to hear of it.
 * Does not know: how datagrams are fetched and passed on (udp.h).
 * Sources: RFC 5508 4.2 and 4.3, RFC 4787 REQ-12, ip(7) IP_RECVERR. */

#ifndef UDP_ERROR_H
#define UDP_ERROR_H

#include "udp_map.h"

/**
 * udp_error_drain() - read the errors of a socket, tell the guest of each
 * @m: any map but a MAP_SPLICE
 * Deletes no flow, so it may be called while runs are emitted.
 * Returns: the MTU that a refused send was told, 0 if there was none
 */
uint32_t udp_error_drain(struct udp *u, struct map *m);

/**
 * udp_error_splice() - read the errors of a far socket
 * A server that refuses IPv6 is asked by IPv4 if the client left the choice to
 * us; else its flow ends. No run may be pending.
 * Returns: false if the map is closed now
 */
bool udp_error_splice(struct udp *u, struct map *far);

/**
 * udp_error_send() - tell the guest why a run of its flow could not be sent
 * @error: errno of the send; one without an ICMP form is not told
 * @mtu:   for EMSGSIZE
 */
void udp_error_send(struct udp *u, const struct flow *f, const struct run *r,
		    int error, uint32_t mtu);

/** udp_error_refused() - the same for a datagram, or an echo request of full
 * length, that got no flow */
void udp_error_refused(struct udp *u, const struct pkt *p, int error);

/** udp_error_from_guest() - take an ICMP error of the guest
 * @p: a PKT_ICMP     Returns: false if it is no error (not counted) */
bool udp_error_from_guest(struct udp *u, const struct pkt *p);

#endif
