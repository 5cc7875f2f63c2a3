/* ndp.c - one answer for every IPv6 neighbour
 *
 * As with ARP, whatever the guest looks for on its link is reached through us,
 * so each valid solicitation gets an advertisement with our Ethernet address.
 * Not answered are questions about the guest's own address, and those that come
 * from :: since they mean "does anybody else have it?" (RFC 4862 5.4).
 *
 * RFC 4861 7.1.1 lists what makes a solicitation invalid; the hop limit of 255
 * is the important one: nobody beyond a router can have sent it. Options are
 * only checked for sane lengths: the guest's link address is in the Ethernet
 * header already. */

#include "ndp.h"

#include "csum.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define ND_FIRST 133 /* router solicitation */
#define ND_LAST 136 /* neighbour advertisement */
#define ND_HOPS 255
#define ND_OPT_UNIT 8 /* bytes */

#define NA_LEN (sizeof(struct nd_msg) + sizeof(struct nd_lladdr))

static_assert(PKT_ICMP6_HEAD + NA_LEN == NDP_NA_FRAME, "frame size in ndp.h");

bool ndp_is_ours(const struct pkt *p)
{
	return p->proto == PROTO_ICMP6 && p->body.len &&
	       p->body.buf[0] >= ND_FIRST && p->body.buf[0] <= ND_LAST;
}

static bool are_options_ok(const uint8_t *opt, uint32_t len)
{
	uint32_t step;

	for (; len; opt += step, len -= step) {
		if (len < ND_OPT_UNIT)
			return false;
		step = opt[1] * (uint32_t)ND_OPT_UNIT;
		if (!step || step > len)
			return false;
	}
	return true;
}

static bool is_csum_ok(const struct pkt *p)
{
	uint64_t sum = csum_pseudo(&p->src.addr, &p->dst.addr, PROTO_ICMP6,
				   p->body.len);

	sum = csum_add(sum, p->body.buf, p->body.len);
	return csum_fold(sum) == 0xffff;
}

uint32_t ndp_reply(const struct pkt *p, const struct link_ends *link,
		   const struct addr *ours, const struct addr *guest,
		   uint8_t ret_frame[static NDP_NA_FRAME])
{
	struct link_ends back = { .ours = link->ours, .guest = p->src_mac };
	struct nd_lladdr opt = { ND_OPT_TARGET, 1, link->ours };
	struct nd_msg ns, na = { .type = ICMP6_NA };
	uint8_t *msg = ret_frame + PKT_ICMP6_HEAD;
	struct addr target;

	if (p->body.len < sizeof(ns) || p->body.mark.hops != ND_HOPS)
		return 0;
	memcpy(&ns, p->body.buf, sizeof(ns));
	if (ns.type != ICMP6_NS || ns.code || !is_csum_ok(p) ||
	    !are_options_ok(p->body.buf + sizeof(ns),
			    p->body.len - (uint32_t)sizeof(ns)))
		return 0;

	target = addr_from_bytes(ns.target, FAMILY_V6);
	if (addr_is_any(&p->src.addr) || !addr_is_unicast(&target) ||
	    addr_eq(&target, guest))
		return 0;

	na.flags_be = htonl(ND_NA_FLAGS);
	memcpy(na.target, ns.target, sizeof(na.target));
	memcpy(msg, &na, sizeof(na));
	memcpy(msg + sizeof(na), &opt, sizeof(opt));
	return pkt_icmp6_wrap(ret_frame, &back, ours, &p->src.addr, NA_LEN);
}
