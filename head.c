/* head.c - headers in front of what goes to the guest
 *
 * The counterpart of pkt.c: addresses, ports and payload are put into bytes.
 * Payload is never copied, so a head is a small buffer of its own that a door
 * writes in front of it. Identification of IPv4 stays 0: what has DF set needs
 * none (RFC 6864), and what we build is not fragmented on the guest's link.
 *
 * A checksum is left to the guest's kernel where the tap allows that: it never
 * crosses a wire, and summing up payload is what costs most. Then the field
 * holds the sum of the pseudo-header (NEEDS_CSUM), over the whole length for a
 * super-frame too: the kernel corrects it for each segment.
 *
 * Deliberately not here: options of IP, extension headers, fragments; how large
 * a frame may be, which is up to who makes the run or cuts the stream. */

#include "head.h"

#include "be.h"
#include "csum.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define HOPS_DEFAULT 255
#define TCP_OPTS_MAX 8 /* bytes: MSS, window scale, padding */

static_assert(HEAD_MAX == VNET_LEN + sizeof(struct eth_hdr) +
				  sizeof(struct ip6_hdr) +
				  sizeof(struct tcp_hdr) + TCP_OPTS_MAX,
	      "head");
static_assert(HEAD_ICMP6 == sizeof(struct eth_hdr) + sizeof(struct ip6_hdr),
	      "ICMPv6 head");

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

/* Everything in front of the transport header, where nothing is left to the
 * receiver; @len: bytes from there on. Inline: called, it costs every datagram
 * for the guest 1 % of our instructions (tests/trace). */
static inline void start(struct head *h, const struct head_link *link,
			 const struct head_ip *ip, uint32_t len)
{
	const uint32_t l3 = VNET_LEN + sizeof(struct eth_hdr);
	uint32_t l3len = head_put_ip(h->buf + l3, ip, len);
	struct eth_hdr eth = {
		.dst = mac_of(&ip->dst, &link->guest),
		.src = link->ours,
		.type_be = htons(l3len == sizeof(struct ip4_hdr) ? ETH_P_IP :
								   ETH_P_IPV6),
	};

	memset(h->buf, 0, VNET_LEN);
	memcpy(h->buf + VNET_LEN, &eth, sizeof(eth));
	h->len = l3 + l3len;
}

/* Leave the checksum to the receiver, and segments of @type unless @seg is 0
 * @hlen: bytes of the transport header, which comes next   @offset: in it */
static void leave(struct head *h, uint32_t hlen, uint16_t offset, uint8_t type,
		  uint32_t seg)
{
	struct vnet_hdr v = {
		.flags = VNET_NEEDS_CSUM,
		.csum_start = (uint16_t)(h->len - VNET_LEN),
		.csum_offset = offset,
	};

	if (seg) {
		v.gso_type = type;
		v.gso_size = (uint16_t)seg;
		v.hdr_len = (uint16_t)(v.csum_start + hlen);
	}
	memcpy(h->buf, &v, sizeof(v));
}

/* The transport header: HEAD_MAX has room for the longest */
static void end(struct head *h, const void *l4, uint32_t hlen)
{
	memcpy(h->buf + h->len, l4, hlen);
	h->len += hlen;
}

struct head head_make_udp(const struct head_link *link, const struct end *src,
			  const struct end *dst, const struct run *r,
			  bool partial)
{
	struct head_ip ip = { src->addr, dst->addr, r->mark, PROTO_UDP };
	bool is_super = r->n_segs > 1;
	struct udp_hdr udp;
	struct head h;

	partial = partial || is_super;
	udp = udp_head(src, dst, r, partial);
	start(&h, link, &ip, (uint32_t)sizeof(udp) + r->len);
	if (partial)
		leave(&h, sizeof(udp), UDP_CSUM_OFFSET, VNET_GSO_UDP_L4,
		      is_super ? r->seg : 0);
	end(&h, &udp, sizeof(udp));
	return h;
}

/* Options of a SYN, a whole number of words; returns their bytes */
static uint32_t put_options(uint8_t opt[static TCP_OPTS_MAX],
			    const struct pkt_tcp *tcp)
{
	uint32_t n = 0;

	if (!(tcp->flags & TCP_SYN))
		return 0;
	if (tcp->mss) {
		opt[n++] = TCP_OPT_MSS;
		opt[n++] = 4;
		be16_put(opt + n, tcp->mss);
		n += 2;
	}
	if (tcp->wscale != TCP_NO_WSCALE) {
		opt[n++] = TCP_OPT_NOP;
		opt[n++] = TCP_OPT_WSCALE;
		opt[n++] = 3;
		opt[n++] = tcp->wscale;
	}
	return n;
}

struct head head_make_tcp(const struct head_link *link, const struct end *src,
			  const struct end *dst, const struct pkt_tcp *tcp,
			  struct mark mark, struct iovec payload, uint32_t seg,
			  bool partial)
{
	struct head_ip ip = { src->addr, dst->addr, mark, PROTO_TCP };
	uint8_t gso = addr_is_v4(&src->addr) ? VNET_GSO_TCPV4 : VNET_GSO_TCPV6;
	bool is_super = payload.iov_len > seg;
	uint32_t dlen = (uint32_t)payload.iov_len, hlen;
	struct {
		struct tcp_hdr hdr;
		uint8_t opt[TCP_OPTS_MAX];
	} l4 = {
		.hdr = { .src_be = htons(src->port),
			 .dst_be = htons(dst->port),
			 .seq_be = htonl(tcp->seq),
			 .ack_be = htonl(tcp->ack),
			 .flags = tcp->flags,
			 .window_be = htons(tcp->window) },
	};
	struct head h;
	uint64_t sum;

	hlen = (uint32_t)sizeof(l4.hdr) + put_options(l4.opt, tcp);
	l4.hdr.doff = (uint8_t)(hlen / 4 << 4);
	sum = csum_pseudo(&src->addr, &dst->addr, PROTO_TCP, hlen + dlen);
	ip.mark.df = true;
	start(&h, link, &ip, hlen + dlen);
	if (partial || is_super) {
		leave(&h, hlen, TCP_CSUM_OFFSET, gso, is_super ? seg : 0);
		l4.hdr.csum_be = csum_fold(sum);
	} else {
		sum = csum_add(sum, &l4, hlen);
		l4.hdr.csum_be = csum_done(csum_addv(sum, &payload, 1));
	}
	end(&h, &l4, hlen);
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
