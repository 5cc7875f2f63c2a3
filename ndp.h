/* ndp.h - answers to the guest's neighbour and router solicitations
 * Knows: RFC 4861, RFC 4862 5.4 (duplicate address detection), RFC 8106
 * (resolvers and search list).
 * Does not know: frames' way in and out. Random numbers are an argument. */

#ifndef NDP_H
#define NDP_H

#include "announce.h"
#include "head.h"
#include "pkt.h"

#define NDP_RA_FRAME (14 + 1280) /* most of one: what every link takes */
#define NDP_NA_FRAME (HEAD_ICMP6 + 32) /* bytes of an advertisement */

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
uint32_t ndp_reply(const struct pkt *p, const struct head_link *link,
		   const struct addr *ours, const struct addr *guest,
		   uint8_t ret_frame[static NDP_NA_FRAME]);

/** ndp_is_solicit() - does this message ask for routers, not neighbours?
 * @p: ndp_is_ours() */
bool ndp_is_solicit(const struct pkt *p);

/**
 * ndp_router_reply() - answer a router solicitation
 * @p:    a PKT_ICMP of IPv6     @link: both MAC addresses
 * @a:    what is advertised: what is not set in it is left out
 * Returns: bytes of the advertisement, to who asked, or to all nodes if it has
 * no address yet; 0 if there is nothing to answer (RFC 4861 6.1.1)
 */
uint32_t ndp_router_reply(const struct pkt *p, const struct head_link *link,
			  const struct announce *a,
			  uint8_t ret_frame[static NDP_RA_FRAME]);

/** ndp_router_advert() - advertisement that nobody asked for, to all nodes;
 * returns its bytes */
uint32_t ndp_router_advert(const struct head_link *link,
			   const struct announce *a,
			   uint8_t ret_frame[static NDP_RA_FRAME]);

/** ndp_interval_ms() - time to the next such one, 200 to 600 s: RFC 4861 6.2.1
 * defaults; @random: any number */
int64_t ndp_interval_ms(uint64_t random);

#endif
