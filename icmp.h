/* icmp.h - echo requests of the guest, by ping sockets
 * Knows: RFC 792 and RFC 4443 echo messages, RFC 5508 3 (query mappings).
 * Does not know: what else ICMP is for (local.h, udp_error.h). */

#ifndef ICMP_H
#define ICMP_H

#include "udp_map.h"

/** struct icmp - all echo conversations; maps and flows are those of @udp
 * @udp:   whose tables, sockets and policy are used; set by the caller
 * @is_said: it was said that the host refuses ping sockets
 * @frame: a reply on its way to the guest */
struct icmp {
	struct udp *udp;
	bool is_said;
	uint8_t frame[FRAME_MIN + HEAD_IP_MAX + DGRAM_MAX];
};

/**
 * icmp_from_guest() - take an echo request
 * @p: a PKT_ICMP
 * One socket per inner address and identifier serves every remote (RFC 5508
 * REQ-1); only who was asked may answer. Sent at once.
 * Returns: false if it is something else (not counted)
 */
bool icmp_from_guest(struct icmp *c, const struct pkt *p);

#endif
