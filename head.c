/* head.c - headers in front of what goes to the guest
 *
 * The counterpart of pkt.c: addresses, ports and payload are put into bytes.
 * Payload is never copied, so a head is a small buffer of its own that a door
 * writes in front of it. Identification of IPv4 stays 0: what has DF set needs
 * none (RFC 6864), and what we build is not fragmented on the guest's link.
 *
 * A UDP checksum is left to the guest's kernel where the tap allows that: it
 * never crosses a wire, and summing up payload is what costs most. Then the
 * field holds the sum of the pseudo-header (NEEDS_CSUM).
 *
 * Deliberately not here: options, extension headers, fragments; how large a
 * frame may be, which is up to who makes the run. */

#include "head.h"

#include "csum.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define HOPS_DEFAULT 255

static_assert(HEAD_MAX == VNET_LEN + sizeof(struct eth_hdr) +
				  sizeof(struct ip6_hdr) +
				  sizeof(struct udp_hdr),
	      "head");
static_assert(HEAD_ICMP6 == sizeof(struct eth_hdr) + sizeof(struct ip6_hdr),
	      "ICMPv6 head");

/* Where the next header goes in a buffer that is known to be large enough */
static void put(struct head *h, const void *hdr, uint32_t len)
{
	assert(h->len + len <= sizeof(h->buf));
	memcpy(h->buf + h->len, hdr, len);
	h->len += len;
}

static struct ip4_hdr ip4_head(const struct addr *src, const struct addr *dst,
			       struct mark mark, uint8_t proto, uint32_t len)
{
	struct ip4_hdr ip = {
		.version_ihl = 0x45,
		.tos = mark.tos,
		.len_be = htons((uint16_t)(sizeof(ip) + len)),
		.frag_be = mark.df ? htons(IP4_DF) : 0,
		.ttl = mark.hops ? mark.hops : HOPS_DEFAULT,
		.proto = proto,
	};

	memcpy(ip.src, addr_bytes(src), sizeof(ip.src));
	memcpy(ip.dst, addr_bytes(dst), sizeof(ip.dst));
	ip.csum_be = csum_done(csum_add(0, &ip, sizeof(ip)));
	return ip;
}

static struct ip6_hdr ip6_head(const struct addr *src, const struct addr *dst,
			       struct mark mark, uint8_t proto, uint32_t len)
{
	struct ip6_hdr ip = {
		.vtc_flow_be = htonl(6u << 28 | (uint32_t)mark.tos << 20),
		.plen_be = htons((uint16_t)len),
		.next = proto,
		.hops = mark.hops ? mark.hops : HOPS_DEFAULT,
	};

	memcpy(ip.src, addr_bytes(src), sizeof(ip.src));
	memcpy(ip.dst, addr_bytes(dst), sizeof(ip.dst));
	return ip;
}

uint32_t head_put_ip(uint8_t *buf, const struct head_ip *ip, uint32_t len)
{
	struct ip4_hdr ip4;
	struct ip6_hdr ip6;

	if (addr_is_v4(&ip->src)) {
		ip4 = ip4_head(&ip->src, &ip->dst, ip->mark, ip->proto, len);
		memcpy(buf, &ip4, sizeof(ip4));
		return sizeof(ip4);
	}
	ip6 = ip6_head(&ip->src, &ip->dst, ip->mark, ip->proto, len);
	memcpy(buf, &ip6, sizeof(ip6));
	return sizeof(ip6);
}

/* @l4: frame bytes in front of the UDP header */
static struct vnet_hdr vnet_head(const struct run *r, uint32_t l4, bool partial)
{
	struct vnet_hdr v = { 0 };

	if (!partial && r->n_segs == 1)
		return v;

	v.flags = VNET_NEEDS_CSUM;
	v.csum_start = (uint16_t)l4;
	v.csum_offset = UDP_CSUM_OFFSET;
	if (r->n_segs > 1) {
		v.gso_type = VNET_GSO_UDP_L4;
		v.gso_size = (uint16_t)r->seg;
		v.hdr_len = (uint16_t)(l4 + sizeof(struct udp_hdr));
	}
	return v;
}

/* A partial checksum is the sum of the pseudo-header over the whole length,
 * for a super-frame too: the kernel corrects it for each segment */
static struct udp_hdr udp_head(const struct end *src, const struct end *dst,
			       const struct run *r, bool partial)
{
	uint32_t len = (uint32_t)sizeof(struct udp_hdr) + r->len;
	uint64_t sum = csum_pseudo(&src->addr, &dst->addr, PROTO_UDP, len);
	struct udp_hdr udp = {
		.src_be = htons(src->port),
		.dst_be = htons(dst->port),
		.len_be = htons((uint16_t)len),
	};

	if (partial) {
		udp.csum_be = csum_fold(sum);
		return udp;
	}
	sum = csum_add(sum, &udp, sizeof(udp));
	udp.csum_be = csum_udp(csum_addv(sum, r->slice, r->n_slices));
	return udp;
}

/* RFC 1112 6.4, RFC 2464 7: groups have addresses of their own */
static struct mac mac_of(const struct addr *dst, const struct mac *guest)
{
	const uint8_t *b = dst->b;

	if (addr_is_broadcast(dst))
		return (struct mac){ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
	if (!addr_is_multicast(dst))
		return *guest;
	if (addr_is_v4(dst))
		return (struct mac){ { 0x01, 0, 0x5e, b[13] & 0x7f, b[14],
				       b[15] } };
	return (struct mac){ { 0x33, 0x33, b[12], b[13], b[14], b[15] } };
}

struct head head_make_udp(const struct head_link *link, const struct end *src,
			  const struct end *dst, const struct run *r,
			  bool partial)
{
	bool is_v4 = addr_is_v4(&src->addr);
	uint32_t l3len = is_v4 ? sizeof(struct ip4_hdr) :
				 sizeof(struct ip6_hdr);
	uint32_t len = (uint32_t)sizeof(struct udp_hdr) + r->len;
	struct eth_hdr eth = {
		.dst = mac_of(&dst->addr, &link->guest),
		.src = link->ours,
		.type_be = htons(is_v4 ? ETH_P_IP : ETH_P_IPV6),
	};
	struct vnet_hdr vnet;
	struct udp_hdr udp;
	struct ip4_hdr ip4;
	struct ip6_hdr ip6;
	struct head h;

	partial = partial || r->n_segs > 1;
	vnet = vnet_head(r, (uint32_t)sizeof(eth) + l3len, partial);
	udp = udp_head(src, dst, r, partial);

	h.len = 0;
	put(&h, &vnet, sizeof(vnet));
	put(&h, &eth, sizeof(eth));
	if (is_v4) {
		ip4 = ip4_head(&src->addr, &dst->addr, r->mark, PROTO_UDP, len);
		put(&h, &ip4, sizeof(ip4));
	} else {
		ip6 = ip6_head(&src->addr, &dst->addr, r->mark, PROTO_UDP, len);
		put(&h, &ip6, sizeof(ip6));
	}
	put(&h, &udp, sizeof(udp));
	return h;
}

uint32_t head_wrap_icmp6(uint8_t *buf, const struct head_link *link,
			 const struct addr *src, const struct addr *dst,
			 uint32_t len)
{
	struct ip6_hdr ip = ip6_head(src, dst, (struct mark){ 0 }, PROTO_ICMP6,
				     len);
	struct eth_hdr eth = {
		.dst = link->guest,
		.src = link->ours,
		.type_be = htons(ETH_P_IPV6),
	};
	uint8_t *msg = buf + HEAD_ICMP6;
	uint64_t sum = csum_pseudo(src, dst, PROTO_ICMP6, len);
	uint16_t c = 0;

	memcpy(buf, &eth, sizeof(eth));
	memcpy(buf + sizeof(eth), &ip, sizeof(ip));

	/* Second field of every ICMPv6 message, RFC 4443 2.1 */
	memcpy(msg + 2, &c, sizeof(c));
	c = csum_done(csum_add(sum, msg, len));
	memcpy(msg + 2, &c, sizeof(c));
	return HEAD_ICMP6 + len;
}
