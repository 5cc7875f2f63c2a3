/* dhcp6.h - answers to the guest's DHCPv6 requests
 * Knows: RFC 8415, RFC 3646 (resolvers, search list), RFC 4704 (FQDN).
 * Does not know: frames' way in and out. */

#ifndef DHCP6_H
#define DHCP6_H

#include "announce.h"
#include "pkt.h"

#define DHCP6_PORT_SERVER 547
#define DHCP6_PORT_CLIENT 546
#define DHCP6_MAX 1232 /* bytes of an answer: what every link takes */

/**
 * dhcp6_reply() - answer a request
 * @p: a PKT_UDP of IPv6 to DHCP6_PORT_SERVER of a multicast address
 * @ret_buf: UDP payload of the answer, from @a->ours to who asked
 * Returns: its bytes; 0 if there is nothing to answer: RELEASE, DECLINE and
 * what servers send, a message for another server, malformed, no address
 */
uint32_t dhcp6_reply(const struct pkt *p, const struct announce *a,
		     uint8_t ret_buf[static DHCP6_MAX]);

/** dhcp6_label() - flow label of an answer: the transaction's number */
uint32_t dhcp6_label(const struct pkt *p);

#endif
