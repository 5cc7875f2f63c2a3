/* udp_send.h - one run out of one socket, header bits and refusals included
 * Knows: what a socket must be set to, how a refused send is tried again.
 * Does not know: whose turn it is, where runs come from (udp.h).
 * Sources: udp(7) UDP_SEGMENT, ip(7) IP_MTU_DISCOVER, RFC 1191 3, RFC 8201. */

#ifndef UDP_SEND_H
#define UDP_SEND_H

#include "udp_map.h"

/**
 * udp_send() - send a run of a flow; what fails is counted, and told the guest
 * @m: whose socket it is      @d: destination; its mark is not looked at
 * Deletes no flow.
 */
void udp_send(struct udp *u, struct flow *f, struct map *m,
	      const struct sock_dest *d, const struct run *r);

#endif
