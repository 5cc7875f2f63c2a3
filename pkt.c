/* pkt.c - taking frames apart
 *
 * Everything above works with addresses, ports and payload; here and in head.c
 * is known how IPv4 and IPv6 put them into bytes. Parsing goes down the headers
 * with a window, struct rest, that only ever shrinks: each step checks
 * that its header lies inside, copies it once, and cuts it off. A length field
 * may make the window shorter, never longer, so nothing reads beyond the frame
 * and padding behind the IP packet vanishes by itself.
 *
 * The guest's kernel leaves the checksum to us (NEEDS_CSUM): the payload never
 * crossed a wire, and the host's stack puts a new one on. Where it did
 * compute one, it is verified before we bless the bytes with a new one.
 *
 * Deliberately not here: IP options and extension headers have no meaning for a
 * forwarder of payload; they are stepped over. IPv6 has no DF bit, but acts as
 * if it had: mark.df is set for all but fragments. Checksums of ICMP are left
 * to who understands the message. */

#include "pkt.h"

#include "be.h"
#include "csum.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define IP6_HOPOPT 0
#define IP6_ROUTING 43
#define IP6_FRAGMENT 44
#define IP6_AUTH 51
#define IP6_DSTOPT 60
#define IP6_MOBILITY 135
#define IP6_HIP 139
#define IP6_SHIM6 140
#define IP6_TEST1 253
#define IP6_TEST2 254

#define PORT_DHCP 67

static_assert(sizeof(struct vnet_hdr) == VNET_LEN, "vnet header");
static_assert(sizeof(struct eth_hdr) == FRAME_MIN, "Ethernet header");

/* What of a frame has not been taken apart yet */
struct rest {
	uint8_t *p;
	uint32_t len;
};

/* Copy a header and cut it off; false if the rest is shorter than that */
static bool take(struct rest *r, void *hdr, uint32_t len)
{
	if (r->len < len)
		return false;
	memcpy(hdr, r->p, len);
	r->p += len;
	r->len -= len;
	return true;
}

static bool skip(struct rest *r, uint32_t len)
{
	if (r->len < len)
		return false;
	r->p += len;
	r->len -= len;
	return true;
}

static enum pkt_what body_is(enum pkt_what what, const struct rest *r,
			     struct pkt *p)
{
	p->body.buf = r->p;
	p->body.len = r->len;
	p->body.seg = 0;
	return what;
}

/*
 * May a frame be cut as its virtio-net header says? What the kernel itself
 * refuses is refused here: another kind of segments than @type, no size, no
 * partial checksum to build theirs from.
 */
static bool is_gso_ok(const struct vnet_hdr *vnet, uint8_t type)
{
	return vnet->gso_type == type && vnet->gso_size &&
	       vnet->flags & (VNET_NEEDS_CSUM | VNET_DATA_VALID);
}

static bool set_seg(struct pkt *p, const struct vnet_hdr *vnet)
{
	if (vnet->gso_type == VNET_GSO_NONE)
		return true;
	if (!is_gso_ok(vnet, VNET_GSO_UDP_L4))
		return false;
	if (vnet->gso_size < p->body.len)
		p->body.seg = vnet->gso_size;
	return piece_segs(&p->body) <= PIECE_SEGS_MAX;
}

static bool is_csum_ok(const struct pkt *p, const uint8_t *l4, uint32_t len)
{
	uint64_t sum = csum_pseudo(&p->src.addr, &p->dst.addr, p->proto, len);

	return csum_fold(csum_add(sum, l4, len)) == 0xffff;
}

/* RFC 768: 0 is not computed; RFC 8200 8.1: not allowed */
static bool is_udp_csum_ok(const struct pkt *p, const struct udp_hdr *udp,
			   const uint8_t *l4, uint32_t len)
{
	return udp->csum_be ? is_csum_ok(p, l4, len) : addr_is_v4(&p->src.addr);
}

/* @is_checked: the datagram's checksum is partial, or somebody verified it */
static enum pkt_what udp(struct rest r, const struct vnet_hdr *vnet,
			 bool is_checked, struct pkt *p)
{
	const uint8_t *l4 = r.p;
	struct udp_hdr udp;
	uint32_t len;

	if (!take(&r, &udp, sizeof(udp)))
		return PKT_SHORT;

	len = ntohs(udp.len_be);
	if (len < sizeof(udp) || len - sizeof(udp) > r.len)
		return PKT_BAD_L4;
	r.len = len - (uint32_t)sizeof(udp);

	if (!is_checked && !is_udp_csum_ok(p, &udp, l4, len))
		return PKT_BAD_CSUM;

	p->src.port = ntohs(udp.src_be);
	p->dst.port = ntohs(udp.dst_be);
	body_is(PKT_UDP, &r, p);
	return set_seg(p, vnet) ? PKT_UDP : PKT_BAD_L4;
}

/* RFC 9293 3.2: up to the end of the list, or the first of a wrong length */
static void set_options(struct pkt_tcp *tcp, const uint8_t *opt, uint32_t len)
{
	uint32_t n;

	for (; len && opt[0] != TCP_OPT_END; opt += n, len -= n) {
		n = 1;
		if (opt[0] == TCP_OPT_NOP)
			continue;
		if (len < 2 || opt[1] < 2 || opt[1] > len)
			return;
		n = opt[1];
		if (opt[0] == TCP_OPT_MSS && n == 4)
			tcp->mss = be16_get(opt + 2);
		if (opt[0] == TCP_OPT_WSCALE && n == 3)
			tcp->wscale = opt[2] < TCP_WSCALE_MAX ? opt[2] :
								TCP_WSCALE_MAX;
	}
}

/* @is_checked: as for UDP */
static enum pkt_what tcp(struct rest r, const struct vnet_hdr *vnet,
			 bool is_checked, struct pkt *p)
{
	uint8_t gso = addr_is_v4(&p->src.addr) ? VNET_GSO_TCPV4 :
						 VNET_GSO_TCPV6;
	const struct rest all = r;
	struct tcp_hdr tcp;
	uint32_t hlen;

	if (!take(&r, &tcp, sizeof(tcp)))
		return PKT_SHORT;

	hlen = (tcp.doff >> 4) * 4u;
	if (hlen < sizeof(tcp) || hlen > all.len)
		return PKT_BAD_L4;
	gso |= vnet->gso_type & VNET_GSO_ECN;
	if (vnet->gso_type != VNET_GSO_NONE && !is_gso_ok(vnet, gso))
		return PKT_BAD_L4;
	if (!is_checked && !is_csum_ok(p, all.p, all.len))
		return PKT_BAD_CSUM;

	p->tcp = (struct pkt_tcp){ .seq = ntohl(tcp.seq_be),
				   .ack = ntohl(tcp.ack_be),
				   .window = ntohs(tcp.window_be),
				   .flags = tcp.flags,
				   .wscale = TCP_NO_WSCALE };
	hlen -= (uint32_t)sizeof(tcp);
	if (tcp.flags & TCP_SYN)
		set_options(&p->tcp, r.p, hlen);
	skip(&r, hlen);
	p->src.port = ntohs(tcp.src_be);
	p->dst.port = ntohs(tcp.dst_be);
	return body_is(PKT_TCP, &r, p);
}

/*
 * Is the transport's own checksum no longer to be verified?
 * A partial checksum may belong to something inside the payload instead: a
 * tunnel's inner packet, whose sender left the sum to the device. Nobody behind
 * us would finish that one, so it is finished here, in the frame.
 * @offset: of the checksum in the transport header, which @r begins with
 */
static bool is_checked(const struct frame *f, const struct rest *r,
		       uint32_t offset)
{
	uint32_t start = f->vnet.csum_start, at = start + f->vnet.csum_offset;
	uint16_t c;

	if (!(f->vnet.flags & VNET_NEEDS_CSUM))
		return f->vnet.flags & VNET_DATA_VALID;
	if (start == (uint32_t)(r->p - f->l2))
		return f->vnet.csum_offset == offset;
	if (at + sizeof(c) > f->len || f->l2 + start < r->p)
		return false;

	c = csum_udp(csum_add(0, f->l2 + start, f->len - start));
	memcpy(f->l2 + at, &c, sizeof(c));
	return false;
}

/* RFC 2131 4.1: from a client without an address */
static bool is_for_dhcp(const struct pkt *p)
{
	return p->proto == PROTO_UDP && addr_is_v4(&p->src.addr) &&
	       p->dst.port == PORT_DHCP;
}

/* Ports, and addresses that only a transport minds */
static enum pkt_what check_ends(enum pkt_what what, const struct pkt *p)
{
	if (!p->src.port || !p->dst.port)
		return PKT_BAD_PORT;
	if (addr_is_any(&p->src.addr) && !is_for_dhcp(p))
		return PKT_BAD_ADDR;
	if (what == PKT_TCP && !addr_is_unicast(&p->dst.addr))
		return PKT_BAD_ADDR;
	return what;
}

/* Everything behind the IP headers; p->proto is known.
 * @f: the frame of @r, NULL if it was reassembled from several */
static enum pkt_what transport(const struct frame *f, struct rest r,
			       struct pkt *p)
{
	static const struct vnet_hdr none;
	const struct vnet_hdr *vnet = f ? &f->vnet : &none;
	uint8_t icmp = addr_is_v4(&p->src.addr) ? PROTO_ICMP : PROTO_ICMP6;
	bool is_udp = p->proto == PROTO_UDP, checked;
	enum pkt_what what;

	if (!is_udp && p->proto != PROTO_TCP)
		return body_is(p->proto == icmp ? PKT_ICMP : PKT_OTHER, &r, p);
	checked = f &&
		  is_checked(f, &r, is_udp ? UDP_CSUM_OFFSET : TCP_CSUM_OFFSET);
	what = is_udp ? udp(r, vnet, checked, p) : tcp(r, vnet, checked, p);
	return what <= PKT_TCP ? check_ends(what, p) : what;
}

/* RFC 1122 3.2.1.3, RFC 4291 2.5.3 and 2.7: what must not come by a link. An
 * IPv6 header with a mapped address would be taken for IPv4 from here on. */
static bool are_addrs_ok(const struct pkt *p, enum family family)
{
	const struct addr *s = &p->src.addr, *d = &p->dst.addr;

	if (addr_family(s) != family || addr_family(d) != family)
		return false;
	if (addr_is_loopback(s) || addr_is_loopback(d))
		return false;
	return !addr_is_multicast(s) && !addr_is_broadcast(s) &&
	       !addr_is_any(d);
}

static bool set_addrs(struct pkt *p, const void *src, const void *dst,
		      enum family family)
{
	struct addr s = addr_from_bytes(src, family);
	struct addr d = addr_from_bytes(dst, family);

	p->src = end_make(&s, 0, 0);
	p->dst = end_make(&d, 0, 0);
	return are_addrs_ok(p, family);
}

static enum pkt_what ip4(const struct frame *f, struct rest r, struct pkt *p)
{
	const uint8_t *l3 = r.p;
	uint32_t hlen, len, frag;
	struct ip4_hdr ip;

	if (!take(&r, &ip, sizeof(ip)))
		return PKT_SHORT;

	hlen = (ip.version_ihl & 0xfu) * 4;
	len = ntohs(ip.len_be);
	if (ip.version_ihl >> 4 != 4 || hlen < sizeof(ip) || len < hlen ||
	    len - sizeof(ip) > r.len)
		return PKT_BAD_IP;
	/* Never partial, whatever the virtio-net header says of the rest */
	if (csum_done(csum_add(0, l3, hlen)))
		return PKT_BAD_CSUM;
	r.len = len - (uint32_t)sizeof(ip);
	skip(&r, hlen - (uint32_t)sizeof(ip));

	frag = ntohs(ip.frag_be);
	p->proto = ip.proto;
	p->body.mark = (struct mark){ .tos = ip.tos,
				      .hops = ip.ttl,
				      .df = !!(frag & IP4_DF) };
	if (!set_addrs(p, ip.src, ip.dst, FAMILY_V4))
		return PKT_BAD_ADDR;
	if (!(frag & (IP4_MF | IP4_OFFSET)))
		return transport(f, r, p);

	p->frag = (struct pkt_frag){ .id = ntohs(ip.id_be),
				     .off = (frag & IP4_OFFSET) * 8,
				     .more = frag & IP4_MF };
	return body_is(PKT_FRAGMENT, &r, p);
}

/* Bytes of an extension header with known form and given length field; 0 if
 * @proto is none: ESP's content is hidden, so it counts as a transport */
static uint32_t ext_len(uint8_t proto, uint8_t units)
{
	switch (proto) {
	case IP6_AUTH:
		return (units + 2u) * 4; /* RFC 4302 2.2 */
	case IP6_FRAGMENT:
		return sizeof(struct ip6_frag);
	case IP6_HOPOPT:
	case IP6_ROUTING:
	case IP6_DSTOPT:
	case IP6_MOBILITY:
	case IP6_HIP:
	case IP6_SHIM6:
	case IP6_TEST1:
	case IP6_TEST2:
		return (units + 1u) * 8;
	default:
		return 0;
	}
}

/*
 * Step over extension headers, RFC 8200 4, until p->proto is a transport or the
 * rest is a fragment's data. A fragment with nothing missing is no fragment
 * (RFC 6946). Segments left in a routing header would make the packet's
 * destination another than the one it names: refused as RFC 8200 4.4 asks.
 * Returns: PKT_FRAGMENT, PKT_OTHER for anything whole, or what is wrong
 */
static enum pkt_what ip6_ext(struct rest *r, struct pkt *p)
{
	/* Each has at least 8 bytes. Byte 0 names the next one and, but in a
	 * fragment header, byte 1 is the length; a routing header's byte 3
	 * counts the segments left */
	struct ip6_frag h;
	uint32_t len, off;

	while (ext_len(p->proto, 0)) {
		if (r->len < sizeof(h))
			return PKT_SHORT;
		memcpy(&h, r->p, sizeof(h));
		len = ext_len(p->proto, h.reserved);
		off = ntohs(h.off_be);
		if (!skip(r, len))
			return PKT_SHORT;
		if (p->proto == IP6_ROUTING && off & 0xff)
			return PKT_BAD_IP;
		if (p->proto == IP6_FRAGMENT && off & ~6u) {
			p->proto = h.next;
			p->frag = (struct pkt_frag){ .id = ntohl(h.id_be),
						     .off = off & 0xfff8,
						     .more = off & 1 };
			return PKT_FRAGMENT;
		}
		p->proto = h.next;
	}
	return PKT_OTHER;
}

static enum pkt_what ip6(const struct frame *f, struct rest r, struct pkt *p)
{
	enum pkt_what what;
	struct ip6_hdr ip;
	uint32_t vtc, len;

	if (!take(&r, &ip, sizeof(ip)))
		return PKT_SHORT;

	vtc = ntohl(ip.vtc_flow_be);
	len = ntohs(ip.plen_be);
	if (vtc >> 28 != 6 || len > r.len)
		return PKT_BAD_IP;
	r.len = len;

	p->proto = ip.next;
	p->body.mark = (struct mark){ .tos = (uint8_t)(vtc >> 20),
				      .hops = ip.hops };
	if (!set_addrs(p, ip.src, ip.dst, FAMILY_V6))
		return PKT_BAD_ADDR;

	what = ip6_ext(&r, p);
	if (what == PKT_FRAGMENT)
		return body_is(what, &r, p);
	p->body.mark.df = true; /* what came whole, no router may fragment */
	return what == PKT_OTHER ? transport(f, r, p) : what;
}

enum pkt_what pkt_parse(const struct frame *f, struct pkt *ret_pkt)
{
	struct rest r = { f->l2, f->len };
	struct eth_hdr eth;

	if (!take(&r, &eth, sizeof(eth)))
		return PKT_SHORT;

	memset(ret_pkt, 0, sizeof(*ret_pkt));
	ret_pkt->src_mac = eth.src;
	switch (ntohs(eth.type_be)) {
	case ETH_P_IP:
		return ip4(f, r, ret_pkt);
	case ETH_P_IPV6:
		return ip6(f, r, ret_pkt);
	case ETH_P_ARP:
		return body_is(PKT_ARP, &r, ret_pkt);
	default:
		return PKT_UNKNOWN_TYPE;
	}
}

enum pkt_what pkt_transport(struct pkt *p)
{
	struct rest r = { (uint8_t *)(uintptr_t)p->body.buf, p->body.len };
	enum pkt_what what;

	if (!addr_is_v4(&p->src.addr)) {
		/* Behind the fragment header may be more of them */
		what = ip6_ext(&r, p);
		if (what != PKT_OTHER)
			return what == PKT_FRAGMENT ? PKT_BAD_IP : what;
	}
	return transport(NULL, r, p);
}
