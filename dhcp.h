/* dhcp.h - answers to the guest's DHCP requests
 * Knows: RFC 2131, RFC 2132, RFC 951 (BOOTP), RFC 3397 (search list), RFC 3442
 * (classless routes), RFC 4039 (rapid commit), RFC 4702 (FQDN).
 * Does not know: frames' way in and out. */

#ifndef DHCP_H
#define DHCP_H

#include "announce.h"
#include "pkt.h"

#define DHCP_PORT_SERVER 67
#define DHCP_PORT_CLIENT 68
#define DHCP_MAX 1200 /* bytes of an answer at most */

/**
 * dhcp_reply() - answer a request
 * @p: a PKT_UDP of IPv4 to DHCP_PORT_SERVER
 * @ret_dst: where the answer goes, from @a->ours: the address assigned, or
 *           everybody if the client asks so; always to the MAC that asked
 * @ret_buf: UDP payload of the answer
 * Returns: its bytes; 0 if there is nothing to answer: neither BOOTP nor a
 * DISCOVER or REQUEST, malformed, or no address to assign
 */
uint32_t dhcp_reply(const struct pkt *p, const struct announce *a,
		    struct end *ret_dst, uint8_t ret_buf[static DHCP_MAX]);

#endif
