/* arp.h - answers to the guest's ARP requests
 * Knows: RFC 826, RFC 5227 (probes and announcements).
 * Does not know: frames' way in and out. */

#ifndef ARP_H
#define ARP_H

#include "head.h"
#include "pkt.h"

/**
 * arp_reply() - answer an ARP request
 * @p:     a PKT_ARP; every target but the guest's own address is ours to
 *         answer: we are the gateway to all of them
 * @link:  both MAC addresses      @guest: address assigned to the guest
 * @ret_frame: room for 42 bytes
 * Returns: bytes of the reply; 0 if there is nothing to answer (a reply, an
 * announcement, a request or probe for @guest, other hardware or protocol, too
 * short)
 */
uint32_t arp_reply(const struct pkt *p, const struct head_link *link,
		   const struct addr *guest, uint8_t ret_frame[static 42]);

#endif
