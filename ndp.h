/* ndp.h - answers to the guest's neighbour solicitations
 * Knows: RFC 4861 7.2, RFC 4862 5.4 (duplicate address detection).
 * Does not know: router advertisements, frames' way in and out. */

#ifndef NDP_H
#define NDP_H

#include "pkt.h"

#define NDP_NA_FRAME (PKT_ICMP6_HEAD + 32) /* bytes of an advertisement */

/**
 * ndp_is_ours() - is this ICMPv6 message neighbour or router discovery?
 * @p: a PKT_ICMP of IPv6
 * Such messages end here whether answered or not: types 133 to 136.
 */
bool ndp_is_ours(const struct pkt *p);

/**
 * ndp_reply() - answer a neighbour solicitation
 * @p:     a PKT_ICMP of IPv6
 * @link:  both MAC addresses     @ours: our link-local address
 * @guest: global address assigned to the guest, left to its owner
 * @ret_frame: room for NDP_NA_FRAME bytes
 * Returns: bytes of the advertisement; 0 if there is nothing to answer (other
 * type, duplicate address detection from ::, target is @guest, malformed:
 * code not 0, hop limit not 255, checksum wrong, too short, RFC 4861 7.1.1)
 */
uint32_t ndp_reply(const struct pkt *p, const struct link_ends *link,
		   const struct addr *ours, const struct addr *guest,
		   uint8_t ret_frame[static NDP_NA_FRAME]);

#endif
