/* frames.h - frames as a guest or a peer would put them on the link
 * Knows: layouts, and a plain checksum of its own.  Does not know: pkt, csum;
 * so that what it builds and accepts is a second opinion on them.
 *
 * Three hosts have names: A is the guest, B and C are peers. Builders make a
 * whole, correct frame with full checksums; changers turn it into what a test
 * is about. fix_csums() after a change of single bytes.
 *
 *	struct shot s;
 *	udp4(&s, &A, &B, 100);
 *	make_super(&s, 30);		four datagrams
 *	write(fd, s.raw, s.len);	virtio-net header included */

#ifndef FRAMES_H
#define FRAMES_H

#include "addr.h"
#include "be.h"
#include "head.h"
#include "limits.h"
#include "pkt.h"
#include "wire.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/** struct host - an Ethernet address, and one endpoint per family */
struct host {
	struct mac mac;
	struct end v4;
	struct end v6;
};

#define END4(a, b, c, d, at_port) \
	{ \
		.addr = { { [10] = 0xff, 0xff, a, b, c, d } }, .port = at_port \
	}
#define END6(last, at_port) \
	{ \
		.addr = { { 0x20, 0x01, 0x0d, 0xb8, [15] = last } }, \
		.port = at_port \
	}

static const struct host A = { { { 2, 0, 0, 0, 0, 0xa } },
			       END4(192, 0, 2, 1, 5000),
			       END6(0xa, 5000) };
static const struct host B = { { { 2, 0, 0, 0, 0, 0xb } },
			       END4(198, 51, 100, 2, 6000),
			       END6(0xb, 6000) };
static const struct host C = { { { 2, 0, 0, 0, 0, 0xc } },
			       END4(203, 0, 113, 3, 7000),
			       END6(0xc, 7000) };

/** LINK - A is the guest, our own Ethernet address is B's */
static const struct head_link LINK = { { { 2, 0, 0, 0, 0, 0xb } },
				       { { 2, 0, 0, 0, 0, 0xa } } };

/** struct shot - virtio-net header and frame, as they pass a tap
 * @len: bytes of both      @l4: where the transport header begins in @raw
 * @proto: of that header */
struct shot {
	uint32_t len;
	uint32_t l4;
	uint8_t proto;
	uint8_t raw[VNET_LEN + FRAME_MIN + 40 + 65535];
};

#define SHOT_L3 (VNET_LEN + FRAME_MIN)

/* Sums as RFC 1071 first explains them */

static inline uint32_t plain_sum(uint32_t sum, const void *buf, uint32_t len)
{
	const uint8_t *b = buf;

	for (uint32_t i = 0; i < len; i++)
		sum += i & 1 ? b[i] : (uint32_t)b[i] << 8;
	return (sum & 0xffff) + (sum >> 16);
}

static inline uint16_t plain_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static inline bool shot_is_v4(const struct shot *s)
{
	return s->raw[SHOT_L3] >> 4 == 4;
}

/** plain_pseudo() - pseudo-header sum of a packet; @l3: its IP header */
static inline uint32_t plain_pseudo(const uint8_t *l3, uint8_t proto,
				    uint32_t len)
{
	if (l3[0] >> 4 == 4)
		return plain_sum(proto + len, l3 + 12, 8);
	return plain_sum(proto + len, l3 + 8, 32);
}

/** payload_byte() - content of builders' payloads: position tells apart */
static inline uint8_t payload_byte(uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

/** l4_len(), l4_csum() - bytes from the transport header on, place of its
 * checksum: of UDP, or of TCP in a frame without padding */
static inline uint32_t l4_len(const struct shot *s)
{
	return s->proto == PROTO_TCP ? s->len - s->l4 :
				       be16_get(s->raw + s->l4 + 4);
}

static inline uint32_t l4_csum(const struct shot *s)
{
	return s->proto == PROTO_TCP ? 16 : 6;
}

/* Changers */

/** fix_ip() - right IPv4 header checksum after a change */
static inline void fix_ip(struct shot *s)
{
	uint8_t *l3 = s->raw + SHOT_L3;
	uint16_t c;

	if (!shot_is_v4(s))
		return;
	be16_put(l3 + 10, 0);
	c = plain_fold(plain_sum(0, l3, (l3[0] & 0xf) * 4u));
	be16_put(l3 + 10, (uint16_t)~c);
}

/** fix_csums() - right IPv4 header and UDP or TCP checksums after a change */
static inline void fix_csums(struct shot *s)
{
	uint8_t *l3 = s->raw + SHOT_L3, *l4 = s->raw + s->l4;
	uint32_t len = l4_len(s), have = s->len - s->l4;
	uint16_t c;

	fix_ip(s);
	be16_put(l4 + l4_csum(s), 0);
	c = plain_fold(plain_sum(plain_pseudo(l3, s->proto, len), l4,
				 len < have ? len : have));
	be16_put(l4 + l4_csum(s), c == 0xffff ? c : (uint16_t)~c);
}

/** fix_lengths() - IP length of what the frame holds now */
static inline void fix_lengths(struct shot *s)
{
	uint32_t l3len = s->len - SHOT_L3;

	if (shot_is_v4(s))
		be16_put(s->raw + SHOT_L3 + 2, (uint16_t)l3len);
	else
		be16_put(s->raw + SHOT_L3 + 4, (uint16_t)(l3len - 40));
}

/** make_partial() - leave the UDP or TCP checksum to the receiver */
static inline void make_partial(struct shot *s)
{
	uint8_t *l4 = s->raw + s->l4;
	struct vnet_hdr v = {
		.flags = VNET_NEEDS_CSUM,
		.csum_start = (uint16_t)(s->l4 - VNET_LEN),
		.csum_offset = (uint16_t)l4_csum(s),
	};

	memcpy(s->raw, &v, sizeof(v));
	be16_put(l4 + l4_csum(s),
		 plain_fold(
			 plain_pseudo(s->raw + SHOT_L3, s->proto, l4_len(s))));
}

/** make_super() - one frame that stands for datagrams or segments of @seg
 * bytes each */
static inline void make_super(struct shot *s, uint16_t seg)
{
	struct vnet_hdr v;

	make_partial(s);
	memcpy(&v, s->raw, sizeof(v));
	v.gso_type = VNET_GSO_UDP_L4;
	v.gso_size = seg;
	v.hdr_len = (uint16_t)(s->l4 - VNET_LEN + 8);
	if (s->proto == PROTO_TCP) {
		v.gso_type = shot_is_v4(s) ? VNET_GSO_TCPV4 : VNET_GSO_TCPV6;
		v.hdr_len += (s->raw[s->l4 + 12] >> 4) * 4 - 8;
	}
	memcpy(s->raw, &v, sizeof(v));
}

/** insert() - bytes between IP and transport header; lengths follow */
static inline void insert(struct shot *s, const void *bytes, uint32_t len)
{
	assert(s->len + len <= sizeof(s->raw));
	memmove(s->raw + s->l4 + len, s->raw + s->l4, s->len - s->l4);
	memcpy(s->raw + s->l4, bytes, len);
	s->l4 += len;
	s->len += len;
	fix_lengths(s);
}

/** add_options() - IPv4 options, @len bytes of "no operation", 4 to 40 */
static inline void add_options(struct shot *s, uint32_t len)
{
	uint8_t nop[40];

	memset(nop, 1, sizeof(nop));
	insert(s, nop, len);
	s->raw[SHOT_L3] = (uint8_t)(0x45 + len / 4);
	fix_csums(s);
}

/** add_ext() - IPv6 extension header @bytes of kind @proto in front of what
 * follows the IPv6 header; its first byte is set */
static inline void add_ext(struct shot *s, uint8_t proto, const void *bytes,
			   uint32_t len)
{
	uint32_t l4 = s->l4;
	uint8_t *next = s->raw + SHOT_L3 + 6;

	s->l4 = SHOT_L3 + 40;
	insert(s, bytes, len);
	s->raw[SHOT_L3 + 40] = *next;
	*next = proto;
	s->l4 = l4 + len;
}

/** set_tos(), set_hops() - DSCP and ECN; TTL or hop limit */
static inline void set_tos(struct shot *s, uint8_t tos)
{
	uint8_t *l3 = s->raw + SHOT_L3;

	if (shot_is_v4(s))
		l3[1] = tos;
	else
		be16_put(l3, (uint16_t)(0x6000 | tos << 4));
	fix_csums(s);
}

static inline void set_hops(struct shot *s, uint8_t hops)
{
	s->raw[SHOT_L3 + (shot_is_v4(s) ? 8 : 7)] = hops;
	fix_csums(s);
}

/* Builders */

static inline void put_eth(struct shot *s, const struct mac *src,
			   const struct mac *dst, uint16_t type)
{
	memset(s->raw, 0, VNET_LEN);
	memcpy(s->raw + VNET_LEN, dst, ETH_ALEN);
	memcpy(s->raw + VNET_LEN + 6, src, ETH_ALEN);
	be16_put(s->raw + VNET_LEN + 12, type);
}

/** put_ip() - Ethernet and IP headers; sets @l4, and @len to its end + @len */
static inline void put_ip(struct shot *s, const struct addr *src,
			  const struct addr *dst, uint8_t proto, uint32_t len)
{
	static const uint8_t head4[12] = { 0x45, [6] = 0x40, [8] = 64 };
	static const uint8_t head6[8] = { 0x60, [7] = 64 };
	bool is_v4 = addr_is_v4(src);
	uint32_t alen = is_v4 ? 4 : 16, fixed = is_v4 ? 12 : 8;
	uint8_t *l3 = s->raw + SHOT_L3;

	put_eth(s, &A.mac, &B.mac, is_v4 ? ETH_P_IP : ETH_P_IPV6);
	memcpy(l3, is_v4 ? head4 : head6, fixed);
	l3[is_v4 ? 9 : 6] = proto;
	memcpy(l3 + fixed, src->b + 16 - alen, alen);
	memcpy(l3 + fixed + alen, dst->b + 16 - alen, alen);
	s->l4 = SHOT_L3 + fixed + 2 * alen;
	s->proto = proto;
	s->len = s->l4 + len;
	assert(s->len <= sizeof(s->raw));
	fix_lengths(s);
	fix_ip(s);
}

/** udp_data() - datagram with given payload */
static inline void udp_data(struct shot *s, const struct end *src,
			    const struct end *dst, const void *data,
			    uint32_t len)
{
	uint8_t *l4;

	put_ip(s, &src->addr, &dst->addr, PROTO_UDP, 8 + len);
	l4 = s->raw + s->l4;
	be16_put(l4, src->port);
	be16_put(l4 + 2, dst->port);
	be16_put(l4 + 4, (uint16_t)(8 + len));
	if (len)
		memcpy(l4 + 8, data, len);
	fix_csums(s);
}

/** payload_bytes() - the first @len of payload_byte() */
static inline const uint8_t *payload_bytes(uint32_t len)
{
	static uint8_t data[DGRAM_MAX];

	for (uint32_t i = 0; i < len; i++)
		data[i] = payload_byte(i);
	return data;
}

/** udp_len() - datagram with @len bytes of payload_byte() */
static inline void udp_len(struct shot *s, const struct end *src,
			   const struct end *dst, uint32_t len)
{
	udp_data(s, src, dst, payload_bytes(len), len);
}

/** tcp_data() - segment with given payload and no options; the checksum follows
 * from @tcp, whose mss and wscale do not matter */
static inline void tcp_data(struct shot *s, const struct end *src,
			    const struct end *dst, const struct pkt_tcp *tcp,
			    const void *data, uint32_t len)
{
	uint8_t *l4;

	put_ip(s, &src->addr, &dst->addr, PROTO_TCP, 20 + len);
	l4 = s->raw + s->l4;
	be16_put(l4, src->port);
	be16_put(l4 + 2, dst->port);
	be32_put(l4 + 4, tcp->seq);
	be32_put(l4 + 8, tcp->ack);
	l4[12] = 5 << 4;
	l4[13] = tcp->flags;
	be16_put(l4 + 14, tcp->window);
	be16_put(l4 + 18, 0);
	if (len)
		memcpy(l4 + 20, data, len);
	fix_csums(s);
}

/** tcp_option() - add TCP options, a multiple of 4 bytes, 40 in all */
static inline void tcp_option(struct shot *s, const void *bytes, uint32_t len)
{
	uint32_t head = (s->raw[s->l4 + 12] >> 4) * 4u;
	uint8_t *at = s->raw + s->l4 + head;

	assert(len % 4 == 0 && head + len <= 60);
	assert(s->len + len <= sizeof(s->raw));
	memmove(at + len, at, s->len - s->l4 - head);
	memcpy(at, bytes, len);
	s->raw[s->l4 + 12] = (uint8_t)((head + len) / 4 << 4);
	s->len += len;
	fix_lengths(s);
	fix_csums(s);
}

static inline void udp4(struct shot *s, const struct host *from,
			const struct host *to, uint32_t len)
{
	udp_len(s, &from->v4, &to->v4, len);
}

static inline void udp6(struct shot *s, const struct host *from,
			const struct host *to, uint32_t len)
{
	udp_len(s, &from->v6, &to->v6, len);
}

/**
 * frag_of() - a fragment of @whole, which has full checksums and no extension
 * @off, @len: part of what follows the IP header; @more follows from them
 */
static inline void frag_of(struct shot *ret, const struct shot *whole,
			   uint16_t id, uint32_t off, uint32_t len)
{
	uint8_t ext[8] = { 0 }, *l3 = ret->raw + SHOT_L3;
	bool more = whole->l4 + off + len < whole->len;

	memcpy(ret->raw, whole->raw, whole->l4);
	memcpy(ret->raw + whole->l4, whole->raw + whole->l4 + off, len);
	ret->l4 = whole->l4;
	ret->len = whole->l4 + len;
	fix_lengths(ret);
	if (!shot_is_v4(whole)) {
		be16_put(ext + 2, (uint16_t)(off | more));
		be16_put(ext + 6, id);
		add_ext(ret, 44, ext, sizeof(ext));
		return;
	}
	be16_put(l3 + 4, id);
	be16_put(l3 + 6, (uint16_t)(off / 8 | (more ? IP4_MF : 0)));
	fix_ip(ret);
}

/** arp_request() - who has @target, asks @sender */
static inline void arp_request(struct shot *s, const struct addr *sender,
			       const struct addr *target)
{
	static const uint8_t fixed[8] = { 0, 1, 8, 0, 6, 4, 0, ARP_REQUEST };
	static const struct mac all = { { 255, 255, 255, 255, 255, 255 } };
	uint8_t *arp = s->raw + SHOT_L3;

	put_eth(s, &A.mac, &all, ETH_P_ARP);
	memset(arp, 0, 28);
	memcpy(arp, fixed, sizeof(fixed));
	memcpy(arp + 8, &A.mac, ETH_ALEN);
	memcpy(arp + 14, sender->b + 12, 4);
	memcpy(arp + 24, target->b + 12, 4);
	s->l4 = SHOT_L3;
	s->len = SHOT_L3 + 28;
}

/** fix_icmp6() - right checksum of an ICMPv6 message after a change */
static inline void fix_icmp6(struct shot *s)
{
	uint8_t *l3 = s->raw + SHOT_L3, *l4 = s->raw + s->l4;
	uint32_t len = s->len - s->l4;

	be16_put(l4 + 2, 0);
	len = plain_sum(plain_pseudo(l3, PROTO_ICMP6, len), l4, len);
	be16_put(l4 + 2, (uint16_t)~plain_fold(len));
}

/** neigh_solicit() - who has @target, asks @src; with A's link address unless
 * @src is :: */
static inline void neigh_solicit(struct shot *s, const struct addr *src,
				 const struct addr *target)
{
	struct addr group = { { 0xff, 2, [11] = 1, 0xff } };
	uint32_t len = addr_is_set(src) ? 32 : 24;
	uint8_t *l4;

	memcpy(group.b + 13, target->b + 13, 3);
	put_ip(s, src, &group, PROTO_ICMP6, len);
	s->raw[SHOT_L3 + 7] = 255;
	l4 = s->raw + s->l4;
	memset(l4, 0, len);
	l4[0] = ICMP6_NS;
	memcpy(l4 + 8, target, 16);
	if (len > 24) {
		l4[24] = 1;
		l4[25] = 1;
		memcpy(l4 + 26, &A.mac, ETH_ALEN);
	}
	fix_icmp6(s);
}

/* Readers */

static inline bool tcp_eq(const struct pkt_tcp *a, const struct pkt_tcp *b)
{
	return a->seq == b->seq && a->ack == b->ack && a->window == b->window &&
	       a->flags == b->flags && a->mss == b->mss &&
	       a->wscale == b->wscale;
}

/**
 * guarded() - a copy whose end is the end of readable memory
 * One byte read beyond it ends the test, sanitizer or not. The copy is
 * writable, and lives until the next call.
 */
static inline uint8_t *guarded(const void *bytes, uint32_t len)
{
	enum { ROOM = 128 * 1024, GUARD = 64 * 1024 };
	static uint8_t *room;
	uint8_t *p;

	assert(len <= ROOM);
	if (!room) {
		room = mmap(NULL, ROOM + GUARD, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED ||
		    mprotect(room, ROOM, PROT_READ | PROT_WRITE))
			abort();
	}
	p = room + ROOM - len;
	if (len)
		memcpy(p, bytes, len);
	return p;
}

/** shot_frame() - what a door would hand over; bytes are guarded() */
static inline struct frame shot_frame(const struct shot *s)
{
	struct frame f = { .len = s->len - VNET_LEN };

	memcpy(&f.vnet, s->raw, sizeof(f.vnet));
	f.l2 = guarded(s->raw + VNET_LEN, f.len);
	return f;
}

/** fuzz_frame() - a fuzzer's bytes as virtio-net header and frame */
static inline bool fuzz_frame(const uint8_t *data, size_t size,
			      struct frame *ret_f)
{
	if (size < VNET_LEN || size - VNET_LEN > FRAME_MAX)
		return false;
	memcpy(&ret_f->vnet, data, VNET_LEN);
	ret_f->len = (uint32_t)size - VNET_LEN;
	ret_f->l2 = guarded(data + VNET_LEN, ret_f->len);
	return true;
}

/* Checksum of a transport header, @at bytes into it: right, or partial with the
 * right pseudo-header, @sum */
static inline bool is_l4_sound(const struct vnet_hdr *v, const uint8_t *l4,
			       uint32_t len, uint32_t sum, uint32_t at)
{
	if (!(v->flags & VNET_NEEDS_CSUM))
		return v->gso_type == VNET_GSO_NONE &&
		       plain_fold(plain_sum(sum, l4, len)) == 0xffff;
	return v->csum_offset == at && be16_get(l4 + at) == plain_fold(sum);
}

/* Header and segments of UDP, of TCP with nothing urgent */
static inline bool is_udp_sound(const struct vnet_hdr *v, const uint8_t *l3,
				uint32_t l4off, uint32_t len)
{
	const uint8_t *l4 = l3 + l4off - FRAME_MIN;

	if (len < 8 || be16_get(l4 + 4) != len || !be16_get(l4 + 6) ||
	    !is_l4_sound(v, l4, len, plain_pseudo(l3, PROTO_UDP, len), 6))
		return false;
	if (v->gso_type == VNET_GSO_NONE)
		return true;
	return v->gso_type == VNET_GSO_UDP_L4 && v->gso_size &&
	       v->hdr_len == l4off + 8 && v->gso_size < len - 8 &&
	       (len - 8 + v->gso_size - 1) / v->gso_size <= PIECE_SEGS_MAX;
}

static inline bool is_tcp_sound(const struct vnet_hdr *v, const uint8_t *l3,
				uint32_t l4off, uint32_t len)
{
	const uint8_t *l4 = l3 + l4off - FRAME_MIN;
	uint32_t hlen = len < 20 ? 0 : (l4[12] >> 4) * 4u;

	if (hlen < 20 || hlen > len || l4[12] & 0xf || be16_get(l4 + 18) ||
	    !is_l4_sound(v, l4, len, plain_pseudo(l3, PROTO_TCP, len), 16))
		return false;
	if (v->gso_type == VNET_GSO_NONE)
		return true;
	return v->gso_type ==
		       (l3[0] >> 4 == 4 ? VNET_GSO_TCPV4 : VNET_GSO_TCPV6) &&
	       v->gso_size && v->hdr_len == l4off + hlen &&
	       v->gso_size < len - hlen;
}

/** is_sound() - would the kernel take this whole frame with UDP, TCP or ICMP, no
 * IP options, as it came from us? @raw: virtio-net header and frame */
static inline bool is_sound(const uint8_t *raw, uint32_t len)
{
	const uint8_t *l3 = raw + SHOT_L3;
	struct vnet_hdr v;
	uint32_t head;
	uint8_t proto;

	memcpy(&v, raw, sizeof(v));
	if (len < SHOT_L3 + 20)
		return false;
	len -= SHOT_L3;
	if (be16_get(l3 - 2) == ETH_P_IP) {
		head = 20;
		if (l3[0] != 0x45 || be16_get(l3 + 2) != len ||
		    plain_fold(plain_sum(0, l3, 20)) != 0xffff)
			return false;
	} else {
		head = 40;
		if (len < 40 || l3[0] >> 4 != 6 || be16_get(l3 + 4) != len - 40)
			return false;
	}
	proto = l3[head == 20 ? 9 : 6];
	len -= head;
	if (v.flags & VNET_NEEDS_CSUM && v.csum_start != FRAME_MIN + head)
		return false;
	if (proto == PROTO_UDP)
		return is_udp_sound(&v, l3, FRAME_MIN + head, len);
	if (proto == PROTO_TCP)
		return is_tcp_sound(&v, l3, FRAME_MIN + head, len);
	if (v.flags)
		return false;
	if (head == 20)
		return proto == PROTO_ICMP &&
		       plain_fold(plain_sum(0, l3 + head, len)) == 0xffff;
	return proto == PROTO_ICMP6 &&
	       plain_fold(plain_sum(plain_pseudo(l3, PROTO_ICMP6, len),
				    l3 + head, len)) == 0xffff;
}

#endif
