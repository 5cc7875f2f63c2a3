/* arp.c - one answer for every IPv4 neighbour
 *
 * Behind the tap there is no network segment, only us: whatever address the
 * guest looks for on its link, frames for it have to come here. So each request
 * is answered with our Ethernet address, a probe (RFC 5227) for a foreign
 * address too: whoever took that address would cut off its true owner. What is
 * not answered would say "taken" about an address that the guest has: its own,
 * and the subject of an announcement. */

#include "arp.h"

#include "be.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define HTYPE_ETHER 1

/** struct arp_eth4 - RFC 826 for Ethernet and IPv4 */
struct arp_eth4 {
	uint16_t htype_be, ptype_be;
	uint8_t hlen, plen;
	uint16_t op_be;
	struct mac sender_mac;
	uint8_t sender_ip[4];
	struct mac target_mac;
	uint8_t target_ip[4];
} WIRE;

static_assert(sizeof(struct eth_hdr) + sizeof(struct arp_eth4) == 42,
	      "frame size in arp.h");

static bool is_request(const struct arp_eth4 *a)
{
	return ntohs(a->htype_be) == HTYPE_ETHER &&
	       ntohs(a->ptype_be) == ETH_P_IP && a->hlen == ETH_ALEN &&
	       a->plen == sizeof(a->sender_ip) &&
	       ntohs(a->op_be) == ARP_REQUEST;
}

uint32_t arp_reply(const struct pkt *p, const struct head_link *link,
		   const struct addr *guest, uint8_t ret_frame[static 42])
{
	struct eth_hdr eth = {
		.dst = p->src_mac,
		.src = link->ours,
		.type_be = htons(ETH_P_ARP),
	};
	struct addr sender, target;
	struct arp_eth4 a, reply;

	if (p->body.len < sizeof(a))
		return 0;
	memcpy(&a, p->body.buf, sizeof(a));
	if (!is_request(&a))
		return 0;

	sender = addr_from_bytes(a.sender_ip, FAMILY_V4);
	target = addr_from_bytes(a.target_ip, FAMILY_V4);
	if (addr_eq(&sender, &target) || addr_eq(&target, guest))
		return 0;

	reply = a;
	reply.op_be = htons(ARP_REPLY);
	reply.sender_mac = link->ours;
	memcpy(reply.sender_ip, a.target_ip, sizeof(reply.sender_ip));
	reply.target_mac = a.sender_mac;
	memcpy(reply.target_ip, a.sender_ip, sizeof(reply.target_ip));

	memcpy(ret_frame, &eth, sizeof(eth));
	memcpy(ret_frame + sizeof(eth), &reply, sizeof(reply));
	return sizeof(eth) + sizeof(reply);
}
