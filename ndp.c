/* ndp.c - one answer for every IPv6 neighbour, and the only router
 *
 * As with ARP, whatever the guest looks for on its link is reached through us,
 * so each valid solicitation gets an advertisement with our Ethernet address.
 * Not answered are questions about the guest's own address, and those that come
 * from :: since they mean "does anybody else have it?" (RFC 4862 5.4).
 *
 * RFC 4861 7.1.1 lists what makes a solicitation invalid; the hop limit of 255
 * is the important one: nobody beyond a router can have sent it. Options are
 * only checked for sane lengths: the guest's link address is in the Ethernet
 * header already.
 *
 * As a router we advertise ourselves and the prefix for ever: the network does
 * not change while we are there, and nobody is left to renew it afterwards. A
 * message is kept to what every IPv6 link takes; of the search list, names that
 * do not fit are left out. */

#include "ndp.h"

#include "be.h"
#include "csum.h"
#include "dnsname.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define ND_FIRST 133 /* router solicitation */
#define ND_LAST 136 /* neighbour advertisement */
#define ND_HOPS 255
#define ND_OPT_UNIT 8 /* bytes */

/** struct nd_msg - neighbour solicitation and advertisement, RFC 4861 4.3, 4.4 */
struct nd_msg {
	uint8_t type, code;
	uint16_t csum_be;
	uint32_t flags_be;
	uint8_t target[16];
} WIRE;

/** struct nd_lladdr - link-layer address option, RFC 4861 4.6.1 */
struct nd_lladdr {
	uint8_t type, units;
	struct mac mac;
} WIRE;

#define NA_LEN (sizeof(struct nd_msg) + sizeof(struct nd_lladdr))

#define ICMP6_RS 133
#define ICMP6_RA 134
#define ND_OPT_SOURCE 1
#define ND_OPT_TARGET 2
#define ND_OPT_PREFIX 3
#define ND_OPT_MTU 5
#define ND_OPT_RDNSS 25 /* RFC 8106 */
#define ND_OPT_DNSSL 31

#define ND_NA_FLAGS 0xe0000000u /* router, solicited, override */

#define RS_LEN 8
#define RA_HOPS 255
#define RA_MANAGED 0x80 /* RFC 4861 4.2: addresses are had by DHCPv6 */
#define RA_LIFE_S 65535
#define PREFIX_LEN 64
#define PREFIX_FLAGS 0xc0 /* on-link, autonomous */
#define FOREVER UINT32_MAX
#define DNS_HEAD 8 /* bytes of a resolver or search option before its list */
#define INTERVAL_MIN_MS 200000
#define INTERVAL_MAX_MS 600000

/* struct nd_ra - router advertisement, RFC 4861 4.2; times in ms but @life */
struct nd_ra {
	uint8_t type, code;
	uint16_t csum_be;
	uint8_t hops, flags;
	uint16_t life_s_be;
	uint32_t reachable_be, retrans_be;
} WIRE;

/* struct nd_prefix - prefix information, RFC 4861 4.6.2 */
struct nd_prefix {
	uint8_t type, units, plen, flags;
	uint32_t valid_s_be, preferred_s_be, reserved;
	uint8_t prefix[16];
} WIRE;

static_assert(HEAD_ICMP6 + NA_LEN == NDP_NA_FRAME, "frame size in ndp.h");
static_assert(sizeof(struct nd_prefix) == 32 && sizeof(struct nd_ra) == 16,
	      "RFC 4861 4.2, 4.6.2");

static const struct addr all_nodes = { { 0xff, 0x02, [15] = 1 } };

bool ndp_is_ours(const struct pkt *p)
{
	return p->proto == PROTO_ICMP6 && p->body.len &&
	       p->body.buf[0] >= ND_FIRST && p->body.buf[0] <= ND_LAST;
}

/* @refused: kind of option that must not be there, 0: none */
static bool are_options_ok(const uint8_t *opt, uint32_t len, uint8_t refused)
{
	uint32_t step;

	for (; len; opt += step, len -= step) {
		if (len < ND_OPT_UNIT)
			return false;
		step = opt[1] * (uint32_t)ND_OPT_UNIT;
		if (!step || step > len || (refused && opt[0] == refused))
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

uint32_t ndp_reply(const struct pkt *p, const struct head_link *link,
		   const struct addr *ours, const struct addr *guest,
		   uint8_t ret_frame[static NDP_NA_FRAME])
{
	struct head_link back = { .ours = link->ours, .guest = p->src_mac };
	struct nd_lladdr opt = { ND_OPT_TARGET, 1, link->ours };
	struct nd_msg ns, na = { .type = ICMP6_NA };
	uint8_t *msg = ret_frame + HEAD_ICMP6;
	struct addr target;

	if (p->body.len < sizeof(ns) || p->body.mark.hops != ND_HOPS)
		return 0;
	memcpy(&ns, p->body.buf, sizeof(ns));
	if (ns.type != ICMP6_NS || ns.code || !is_csum_ok(p) ||
	    !are_options_ok(p->body.buf + sizeof(ns),
			    p->body.len - (uint32_t)sizeof(ns), 0))
		return 0;

	target = addr_from_bytes(ns.target, FAMILY_V6);
	if (addr_is_any(&p->src.addr) || !addr_is_unicast(&target) ||
	    addr_eq(&target, guest))
		return 0;

	na.flags_be = htonl(ND_NA_FLAGS);
	memcpy(na.target, ns.target, sizeof(na.target));
	memcpy(msg, &na, sizeof(na));
	memcpy(msg + sizeof(na), &opt, sizeof(opt));
	return head_wrap_icmp6(ret_frame, &back, ours, &p->src.addr, NA_LEN);
}

bool ndp_is_solicit(const struct pkt *p)
{
	return p->body.buf[0] == ICMP6_RS;
}

/* RFC 4861 6.1.1: without an address nobody has a link address to tell */
static bool is_solicit_ok(const struct pkt *p)
{
	uint8_t refused = addr_is_any(&p->src.addr) ? ND_OPT_SOURCE : 0;
	const uint8_t *msg = p->body.buf;

	return p->body.len >= RS_LEN && p->body.mark.hops == ND_HOPS &&
	       msg[0] == ICMP6_RS && !msg[1] && is_csum_ok(p) &&
	       are_options_ok(msg + RS_LEN, p->body.len - RS_LEN, refused);
}

static uint32_t put_prefix(uint8_t *to, const struct addr *guest)
{
	struct nd_prefix o = {
		.type = ND_OPT_PREFIX,
		.units = sizeof(o) / ND_OPT_UNIT,
		.plen = PREFIX_LEN,
		.flags = PREFIX_FLAGS,
		.valid_s_be = FOREVER,
		.preferred_s_be = FOREVER,
	};

	if (!addr_is_set(guest))
		return 0;
	memcpy(o.prefix, guest->b, PREFIX_LEN / 8);
	memcpy(to, &o, sizeof(o));
	return sizeof(o);
}

static uint32_t put_source(uint8_t *to, const struct mac *ours)
{
	struct nd_lladdr o = { ND_OPT_SOURCE, 1, *ours };

	memcpy(to, &o, sizeof(o));
	return sizeof(o);
}

static uint32_t put_mtu(uint8_t *to, uint32_t mtu)
{
	if (!mtu)
		return 0;
	be32_put(to, (uint32_t)ND_OPT_MTU << 24 | 1 << 16);
	be32_put(to + 4, mtu);
	return ND_OPT_UNIT;
}

/* Head of a resolver or search option whose list of @len bytes stands */
static uint32_t put_dns_head(uint8_t *to, uint8_t type, uint32_t len)
{
	if (!len)
		return 0;
	to[0] = type;
	to[1] = (uint8_t)((DNS_HEAD + len) / ND_OPT_UNIT);
	be16_put(to + 2, 0);
	be32_put(to + 4, FOREVER);
	return DNS_HEAD + len;
}

static uint32_t put_rdnss(uint8_t *to, const struct announce *a)
{
	uint32_t len = 0;
	unsigned i;

	for (i = 0; i < a->n_dns[FAMILY_V6]; i++, len += 16)
		memcpy(to + DNS_HEAD + len, a->dns[FAMILY_V6][i].b, 16);
	return put_dns_head(to, ND_OPT_RDNSS, len);
}

/* @room: bytes at @to, a multiple of 8, so that padding fits what a name did */
static uint32_t put_dnssl(uint8_t *to, uint32_t room, const struct announce *a)
{
	uint32_t len = 0;
	unsigned i;

	for (i = 0; i < a->n_search; i++)
		len += dnsname_put(a->search[i], to + DNS_HEAD + len,
				   room - DNS_HEAD - len);
	while (len % ND_OPT_UNIT)
		to[DNS_HEAD + len++] = 0;
	return put_dns_head(to, ND_OPT_DNSSL, len);
}

static uint32_t advert(const struct head_link *link, const struct announce *a,
		       const struct addr *dst, uint8_t *frame)
{
	struct nd_ra ra = {
		.type = ICMP6_RA,
		.hops = RA_HOPS,
		.flags = RA_MANAGED,
		.life_s_be = htons(RA_LIFE_S),
	};
	uint8_t *msg = frame + HEAD_ICMP6;
	uint32_t len = sizeof(ra);

	memcpy(msg, &ra, sizeof(ra));
	len += put_prefix(msg + len, &a->guest[FAMILY_V6]);
	len += put_source(msg + len, &link->ours);
	len += put_mtu(msg + len, a->mtu);
	len += put_rdnss(msg + len, a);
	len += put_dnssl(msg + len, NDP_RA_FRAME - HEAD_ICMP6 - len, a);
	return head_wrap_icmp6(frame, link, &a->ours[FAMILY_V6], dst, len);
}

uint32_t ndp_router_reply(const struct pkt *p, const struct head_link *link,
			  const struct announce *a,
			  uint8_t ret_frame[static NDP_RA_FRAME])
{
	struct head_link back = { .ours = link->ours, .guest = p->src_mac };

	if (!is_solicit_ok(p))
		return 0;
	return advert(&back, a,
		      addr_is_any(&p->src.addr) ? &all_nodes : &p->src.addr,
		      ret_frame);
}

uint32_t ndp_router_advert(const struct head_link *link,
			   const struct announce *a,
			   uint8_t ret_frame[static NDP_RA_FRAME])
{
	return advert(link, a, &all_nodes, ret_frame);
}

int64_t ndp_interval_ms(uint64_t random)
{
	return INTERVAL_MIN_MS +
	       (int64_t)(random % (INTERVAL_MAX_MS - INTERVAL_MIN_MS + 1));
}
