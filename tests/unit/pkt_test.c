/* pkt_test.c - frames of every kind taken apart
 *
 * Frames come from tests/frames.h, which shares no code with pkt, and lie
 * against the end of readable memory. */

#include "pkt.h"

#include "check.h"
#include "frames.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct shot s;
static struct pkt p;
static uint8_t payload[DGRAM_MAX];
static bool is_tcp; /* what fresh() makes, else UDP */

static const struct pkt_tcp SEGMENT = {
	.seq = 0xfffffff0,
	.ack = 0x01020304,
	.window = 0x8001,
	.flags = TCP_ACK | TCP_PSH | TCP_CWR,
	.wscale = TCP_NO_WSCALE,
};

static enum pkt_what parse(void)
{
	struct frame f = shot_frame(&s);

	memset(&p, 0x55, sizeof(p));
	return pkt_parse(&f, &p);
}

/* Start from a frame of A to B that is right, IPv4 for even @i */
static void fresh(unsigned i, uint32_t len)
{
	if (is_tcp)
		tcp_data(&s, i % 2 ? &A.v6 : &A.v4, i % 2 ? &B.v6 : &B.v4,
			 &SEGMENT, payload, len);
	else if (i % 2)
		udp6(&s, &A, &B, len);
	else
		udp4(&s, &A, &B, len);
}

static uint8_t *l3(void)
{
	return s.raw + SHOT_L3;
}

static uint8_t *l4(void)
{
	return s.raw + s.l4;
}

static uint32_t head_len(void)
{
	return is_tcp ? 20 : 8;
}

static void refused(enum pkt_what want, const char *name)
{
	is_int(parse(), want, "%s, IPv%c", name, shot_is_v4(&s) ? '4' : '6');
}

/* @len bytes of payload arrived, whatever the frame looks like */
static void accepted(uint32_t len, const char *name)
{
	bool is_v4 = shot_is_v4(&s);
	const struct end *src = is_v4 ? &A.v4 : &A.v6;
	const struct end *dst = is_v4 ? &B.v4 : &B.v6;

	if (!is_int(parse(), is_tcp ? PKT_TCP : PKT_UDP, "%s, IPv%c", name,
		    is_v4 ? '4' : '6'))
		return;
	ok(end_eq(&p.src, src) && end_eq(&p.dst, dst), "... ends");
	ok(p.body.len == len && p.proto == (is_tcp ? PROTO_TCP : PROTO_UDP) &&
		   !memcmp(p.body.buf, payload, len),
	   "... all of it");
	if (is_tcp)
		ok(tcp_eq(&p.tcp, &SEGMENT), "... header");
	is_mem(&p.src_mac, &A.mac, ETH_ALEN, "... source MAC");
}

static void sizes(void)
{
	const uint32_t len[] = {
		0, 1, 2, 17, 1472, 65515 - head_len(), 65535 - head_len()
	};

	for (unsigned i = 0; i < COUNT(len) * 2; i++) {
		if (i % 2 == 0 && i / 2 + 1 == COUNT(len))
			continue;
		fresh(i, len[i / 2]);
		accepted(len[i / 2], "full checksum");
		make_partial(&s);
		accepted(len[i / 2], "partial checksum");
		is_int(p.body.seg, 0, "... one datagram");
	}
}

static void marks(void)
{
	for (unsigned i = 2; i--;) {
		fresh(i, 10);
		set_tos(&s, 0xb9);
		set_hops(&s, 7);
		accepted(10, "mark");
		is_mem(&p.body.mark, ((uint8_t[]){ 0xb9, 7, 1, 0 }), 4,
		       "... TOS, hops, DF");
	}
	fresh(0, 10);
	l3()[6] = 0;
	fix_csums(&s);
	accepted(10, "without DF");
	is_int(p.body.mark.df, 0, "... DF");
}

/* Bytes behind the IP packet, as Ethernet pads short frames */
static void padding(void)
{
	for (unsigned i = 0; i < 4; i++) {
		fresh(i, i < 2 ? 3 : 0);
		memset(s.raw + s.len, 0xee, 20);
		s.len += 20;
		accepted(i < 2 ? 3 : 0, "padded");
	}
	/* UDP length shorter than the IP packet's: RFC 768 lets it be */
	for (unsigned i = 0; i < 2 && !is_tcp; i++) {
		fresh(i, 30);
		be16_put(l4() + 4, 8 + 12);
		s.len -= 18;
		fix_csums(&s);
		s.len += 18;
		accepted(12, "UDP length shorter than the packet");
	}
}

static void checksums(void)
{
	for (unsigned i = 0; i < 2; i++) {
		fresh(i, 33);
		s.raw[s.len - 1] ^= 1;
		refused(PKT_BAD_CSUM, "payload changed");
		s.raw[0] = VNET_DATA_VALID;
		is_int(parse(), is_tcp ? PKT_TCP : PKT_UDP,
		       "... but somebody checked it");
		make_partial(&s);
		is_int(parse(), is_tcp ? PKT_TCP : PKT_UDP,
		       "... but its checksum is partial");
		s.raw[8] ^= 6 ^ 16;
		refused(PKT_BAD_CSUM, "partial, of the other transport");
		fresh(i, 33);
		l4()[0] ^= 1;
		refused(PKT_BAD_CSUM, "port changed");
		fresh(i, 33);
		l3()[i ? 30 : 18] ^= 1;
		if (!i)
			be16_put(l3() + 10,
				 (uint16_t)(be16_get(l3() + 10) - 0x0100));
		refused(PKT_BAD_CSUM, "address changed");
	}
	fresh(0, 33);
	l3()[8]--;
	refused(PKT_BAD_CSUM, "TTL changed");
	make_partial(&s);
	refused(PKT_BAD_CSUM, "TTL changed, transport's checksum partial");
	if (is_tcp)
		return;

	fresh(0, 33);
	be16_put(l4() + 6, 0);
	accepted(33, "checksum 0");
	fresh(1, 33);
	be16_put(l4() + 6, 0);
	refused(PKT_BAD_CSUM, "checksum 0");
}

static void set_vnet(uint16_t csum_start, uint16_t csum_offset)
{
	struct vnet_hdr v = {
		VNET_NEEDS_CSUM, 0, 0, 0, csum_start, csum_offset
	};

	memcpy(s.raw, &v, sizeof(v));
}

/* B35: the partial checksum of a tunnel's inner packet, which begins at byte
 * @at of the payload, is finished by us. The outer one is right afterwards. */
static void inner_checksum(unsigned i, uint32_t at)
{
	uint8_t *inner;
	uint16_t c;

	fresh(i, 101);
	inner = l4() + head_len() + at;
	be16_put(inner + 16, 0x1234);
	c = (uint16_t)~plain_fold(plain_sum(0, inner, 101 - at));
	be16_put(inner + 16, c);
	fix_csums(&s);
	be16_put(inner + 16, 0x1234);

	set_vnet((uint16_t)(s.l4 - VNET_LEN + head_len() + at), 16);
	is_int(parse(), is_tcp ? PKT_TCP : PKT_UDP,
	       "inner checksum at %u, row %u", at, i);
	is_int(be16_get(p.body.buf + at + 16), c, "... is finished");
	s.raw[s.l4 + 24] ^= 1;
	refused(PKT_BAD_CSUM, "outer checksum wrong");
	s.raw[s.l4 + 24] ^= 1;
	set_vnet((uint16_t)(s.len - VNET_LEN - 17), 16);
	refused(PKT_BAD_CSUM, "partial checksum beyond the frame");
	set_vnet(0xffff, 0xffff);
	refused(PKT_BAD_CSUM, "partial checksum far away");
	set_vnet(0, 16);
	refused(PKT_BAD_CSUM, "partial checksum in the headers");
}

static void super_frames(void)
{
	for (unsigned i = 0; i < 2; i++) {
		fresh(i, 1000);
		make_super(&s, 300);
		accepted(1000, "super-frame");
		is_int(p.body.seg, 300, "... segment size");
		make_super(&s, 1000);
		accepted(1000, "one segment");
		is_int(p.body.seg, 0, "... is one datagram");
		make_super(&s, 8);
		accepted(1000, "125 segments");
		make_super(&s, 7);
		refused(PKT_BAD_L4, "143 segments");
		make_super(&s, 0);
		refused(PKT_BAD_L4, "no segment size");
		make_super(&s, 300);
		s.raw[1] = VNET_GSO_TCPV4;
		refused(PKT_BAD_L4, "TCP segments");
		make_super(&s, 300);
		s.raw[0] = 0;
		fix_csums(&s);
		refused(PKT_BAD_L4, "segments with a full checksum");
		fresh(i, 65487);
		make_super(&s, 1472);
		accepted(65487, "largest super-frame");
	}
	for (uint32_t len = 4; len <= 40; len += 4) {
		fresh(0, 1000);
		add_options(&s, len);
		accepted(1000, "options");
		make_super(&s, 100);
		accepted(1000, "super-frame with options");
		is_int(p.body.seg, 100, "... segment size");
	}
}

static void tcp_super_frames(void)
{
	for (unsigned i = 0; i < 2; i++) {
		fresh(i, 65495);
		make_super(&s, 1460);
		accepted(65495, "super-frame");
		is_int(p.body.seg, 0, "... is a stream");
		s.raw[1] |= VNET_GSO_ECN;
		accepted(65495, "... with ECN");
		make_super(&s, 1);
		accepted(65495, "... of single bytes");
		make_super(&s, 0);
		refused(PKT_BAD_L4, "no segment size");
		make_super(&s, 100);
		s.raw[1] ^= VNET_GSO_TCPV4 ^ VNET_GSO_TCPV6;
		refused(PKT_BAD_L4, "the other family's segments");
		s.raw[1] = VNET_GSO_ECN;
		refused(PKT_BAD_L4, "ECN of no segments");
		s.raw[1] = VNET_GSO_UDP_L4;
		refused(PKT_BAD_L4, "UDP segments");
		make_super(&s, 100);
		s.raw[0] = 0;
		fix_csums(&s);
		refused(PKT_BAD_L4, "segments with a full checksum");
	}
}

static void bad_tcp(void)
{
	for (unsigned i = 0; i < 32; i++) {
		fresh(i, 40);
		l4()[12] = (uint8_t)(i / 2 << 4);
		fix_csums(&s);
		if (i / 2 < 5)
			refused(PKT_BAD_L4, "data offset too small");
		else if (is_int(parse(), PKT_TCP, "data offset %u", i / 2))
			is_int(p.body.len, 60 - i / 2 * 4, "... payload");
	}
	for (unsigned i = 0; i < 2; i++) {
		fresh(i, 39);
		l4()[12] = 0xf0;
		fix_csums(&s);
		refused(PKT_BAD_L4, "data offset beyond the segment");
		for (uint32_t len = 0; len < 20; len++) {
			fresh(i, 0);
			s.len -= 20 - len;
			fix_lengths(&s);
			fix_ip(&s);
			is_int(parse(), PKT_SHORT, "%u bytes of a header", len);
		}
	}
	for (unsigned i = 0; i < 4; i++) {
		fresh(i, 20);
		be16_put(l4() + i / 2 * 2, 0);
		fix_csums(&s);
		refused(PKT_BAD_PORT, "port 0");
	}
}

static void tcp_options(void)
{
	static const struct {
		uint8_t opt[12], mss_hi, mss_lo, wscale;
	} row[] = {
		{ { 2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 1, 1 }, 5, 180, 7 },
		{ { 3, 3, 0, 8, 5, 1, 2, 3, 2, 4, 255, 255 }, 255, 255, 0 },
		{ { 2, 4, 0, 0, 3, 3, 14 }, 0, 0, 14 },
		{ { 1, 1, 1, 3, 3, 15 }, 0, 0, 14 },
		{ { 3, 3, 255 }, 0, 0, 14 },
		{ { 2, 4, 1, 1, 0, 3, 3, 7 }, 1, 1, 0xff },
		{ { 2, 4, 1, 1, 99, 0, 3, 3, 7 }, 1, 1, 0xff },
		{ { 2, 4, 1, 1, 99, 1, 3, 3, 7 }, 1, 1, 0xff },
		{ { 3, 3, 9, 99, 10, 2, 4, 1, 1, 1, 1, 1 }, 0, 0, 9 },
		{ { 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 5 }, 0, 0, 0xff },
		{ { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3 }, 0, 0, 0xff },
		{ { 2, 3, 5, 3, 4, 7, 7, 2, 5, 1, 1, 1 }, 0, 0, 0xff },
	};

	for (unsigned i = 0; i < COUNT(row) * 4; i++) {
		bool is_syn = i / 2 % 2;

		fresh(i, 3);
		if (is_syn)
			l4()[13] |= TCP_SYN;
		tcp_option(&s, row[i / 4].opt, 12);
		is_int(parse(), PKT_TCP, "options, row %u", i / 4);
		is_int(p.tcp.mss,
		       is_syn * (row[i / 4].mss_hi << 8 | row[i / 4].mss_lo),
		       "... MSS");
		is_int(p.tcp.wscale, is_syn ? row[i / 4].wscale : 0xff,
		       "... window scale");
		ok(p.body.len == 3 && !memcmp(p.body.buf, payload, 3),
		   "... payload");
	}
}

static void bad_ip(void)
{
	static const struct {
		const char *name;
		uint8_t v6, at, value; /* a byte of the IP header */
	} row[] = {
		{ "version 5", 0, 0, 0x55 },
		{ "version 7", 1, 0, 0x70 },
		{ "length beyond the frame", 0, 3, 49 },
		{ "length beyond the frame", 1, 5, 29 },
		{ "total length 19", 0, 3, 19 },
		{ "header length 16", 0, 0, 0x44 },
		{ "header longer than the packet", 0, 0, 0x4f },
	};

	for (unsigned i = 0; i < COUNT(row); i++) {
		fresh(row[i].v6, 20);
		l3()[row[i].at] = row[i].value;
		refused(PKT_BAD_IP, row[i].name);
	}
	fresh(0, 20);
	s.len--;
	refused(PKT_BAD_IP, "last byte missing");
	put_ip(&s, &A.v4.addr, &B.v4.addr, 99, 0);
	ok(parse() == PKT_OTHER && !p.body.len, "nothing behind the header");
}

static void bad_udp(void)
{
	static const uint16_t len[] = { 0, 4, 7, 29, 60000 };

	for (unsigned i = 0; i < COUNT(len) * 2; i++) {
		fresh(i, 20);
		make_partial(&s);
		be16_put(l4() + 4, len[i / 2]);
		refused(PKT_BAD_L4, "UDP length");
	}
	for (unsigned i = 0; i < 8; i++) {
		fresh(i, 0);
		s.len -= 1 + i / 2 * 2;
		fix_lengths(&s);
		fix_ip(&s);
		refused(PKT_SHORT, "UDP header cut");
	}
	for (unsigned i = 0; i < 4; i++) {
		fresh(i, 20);
		be16_put(l4() + i / 2 * 2, 0);
		fix_csums(&s);
		refused(PKT_BAD_PORT, "port 0");
	}
}

static const struct {
	const char *src, *dst;
	enum pkt_what want;
} addr_table[] = {
	{ "192.0.2.1", "224.0.0.251", PKT_UDP },
	{ "192.0.2.1", "255.255.255.255", PKT_UDP },
	{ "169.254.3.4", "192.0.2.1", PKT_UDP },
	{ "127.0.0.1", "192.0.2.1", PKT_BAD_ADDR },
	{ "192.0.2.1", "127.3.2.1", PKT_BAD_ADDR },
	{ "224.0.0.1", "192.0.2.1", PKT_BAD_ADDR },
	{ "255.255.255.255", "192.0.2.1", PKT_BAD_ADDR },
	{ "0.0.0.0", "255.255.255.255", PKT_BAD_ADDR },
	{ "192.0.2.1", "0.0.0.0", PKT_BAD_ADDR },
	{ "fe80::1", "ff02::fb", PKT_UDP },
	{ "2001:db8::1", "fe80::1", PKT_UDP },
	{ "::1", "2001:db8::1", PKT_BAD_ADDR },
	{ "2001:db8::1", "::1", PKT_BAD_ADDR },
	{ "ff02::1", "2001:db8::1", PKT_BAD_ADDR },
	{ "::", "ff02::1", PKT_BAD_ADDR },
	{ "2001:db8::1", "::", PKT_BAD_ADDR },
};

static void bad_addrs(void)
{
	for (unsigned i = 0; i < COUNT(addr_table); i++) {
		struct end src = { .port = 1 }, dst = { .port = 2 };

		addr_parse(addr_table[i].src, &src.addr);
		addr_parse(addr_table[i].dst, &dst.addr);
		udp_len(&s, &src, &dst, 20);
		is_int(parse(), addr_table[i].want, "%s to %s",
		       addr_table[i].src, addr_table[i].dst);
		tcp_data(&s, &src, &dst, &SEGMENT, payload, 20);
		is_int(parse(),
		       addr_is_unicast(&dst.addr) &&
				       addr_table[i].want == PKT_UDP ?
			       PKT_TCP :
			       PKT_BAD_ADDR,
		       "... TCP");
	}
	/* What our address type would take for IPv4 */
	for (unsigned i = 0; i < 2; i++) {
		fresh(1, 20);
		memcpy(l3() + 8 + 16 * i, &addr_loopback4, 12);
		fix_csums(&s);
		refused(PKT_BAD_ADDR, "mapped address");
	}
}

static void other_frames(void)
{
	for (uint32_t len = 0; len < 14; len++) {
		fresh(0, 10);
		s.len = VNET_LEN + len;
		is_int(parse(), PKT_SHORT, "%u bytes", len);
	}
	for (unsigned i = 0; i < 2; i++) {
		fresh(i, 10);
		s.len = SHOT_L3 + (i ? 39 : 19);
		refused(PKT_SHORT, "IP header cut");
	}
	fresh(0, 10);
	be16_put(l3() - 2, 0x8100);
	is_int(parse(), PKT_UNKNOWN_TYPE, "VLAN tag");
	arp_request(&s, &A.v4.addr, &B.v4.addr);
	ok(parse() == PKT_ARP && p.body.len == 28, "ARP");

	for (unsigned i = 0; i < 512; i++) {
		uint8_t proto = (uint8_t)(i / 2), icmp = i % 2 ? 58 : 1;
		static const uint8_t known[] = { 0,   43,  44,	51,  60, 135,
						 139, 140, 253, 254, 17 };

		if (proto == 17 || proto == 6 ||
		    (i % 2 && memchr(known, proto, 11)))
			continue;
		put_ip(&s, i % 2 ? &A.v6.addr : &A.v4.addr,
		       i % 2 ? &B.v6.addr : &B.v4.addr, proto, 30);
		memset(l4(), 0, 30);
		if (parse() != (proto == icmp ? PKT_ICMP : PKT_OTHER) ||
		    p.proto != proto || p.body.len != 30)
			ok(false, "protocol %u, row %u", proto, i);
	}
	neigh_solicit(&s, &addr_any6, &B.v6.addr);
	is_int(parse(), PKT_ICMP, ":: may be the source of ICMPv6");
	put_ip(&s, &addr_any4, &A.v4.addr, 2, 8);
	is_int(parse(), PKT_OTHER, "0.0.0.0 may be the source of IGMP");
}

static void extensions(void)
{
	static const uint8_t proto[] = {
		0, 43, 51, 60, 135, 139, 140, 253, 254
	};
	static const uint8_t none[2048];
	uint8_t ext[24] = { 0 };

	for (unsigned i = 0; i < COUNT(proto); i++) {
		fresh(1, 50);
		ext[1] = proto[i] == 51 ? 4 : 2;
		add_ext(&s, proto[i], ext, sizeof(ext));
		accepted(50, "extension header");
		make_super(&s, 20);
		accepted(50, "... with super-frame");
		add_ext(&s, proto[i], ext, sizeof(ext));
		ext[1] = 0;
		add_ext(&s, 60, ext, 8);
		make_partial(&s);
		accepted(50, "... three of them");
		s.raw[SHOT_L3 + 41] = 255;
		is_int(parse(), PKT_SHORT, "... longer than the packet");
	}

	fresh(1, 50);
	ext[1] = 0;
	ext[3] = 1;
	add_ext(&s, 43, ext, 8);
	is_int(parse(), PKT_BAD_IP, "segments left");

	fresh(1, 50);
	add_ext(&s, 50, ext, 8);
	ok(parse() == PKT_OTHER && p.proto == 50, "ESP is the end");
	fresh(1, 50);
	l3()[6] = 59;
	is_int(parse(), PKT_OTHER, "no next header");

	fresh(1, 50);
	for (unsigned i = 0; i < 1000; i++)
		add_ext(&s, 60, none, 8);
	accepted(50, "a thousand");
	for (uint32_t cut = 0; cut < 9; cut++) {
		fresh(1, 0);
		add_ext(&s, 60, none, 8);
		s.len = SHOT_L3 + 40 + cut;
		fix_lengths(&s);
		is_int(parse(), PKT_SHORT, "%u bytes of an extension", cut);
	}
}

static void fragments(void)
{
	static struct shot whole, part;
	uint8_t ext[8] = { 0, 0, 0, 0, 1, 2, 3, 4 };

	for (unsigned i = 0; i < 4; i++) {
		uint32_t off = i < 2 ? 0 : 1480, len = i < 2 ? 1480 : 528;

		fresh(i, 2000);
		whole = s;
		frag_of(&part, &whole, 0xbeef, off, len);
		s = part;
		is_int(parse(), PKT_FRAGMENT, "fragment, row %u", i);
		ok(p.frag.off == off && p.frag.more == (i < 2), "... place");
		is_int(p.frag.id, 0xbeef, "... id");
		is_int(p.proto, PROTO_UDP, "... protocol");
		is_int(p.body.len, len, "... length");
		is_mem(p.body.buf, whole.raw + whole.l4 + off, len,
		       "... bytes");
		is_int(p.src.port + p.dst.port, 0, "... no ports");
	}

	fresh(1, 77);
	add_ext(&s, 44, ext, 8);
	accepted(77, "atomic fragment (RFC 6946)");
	s.raw[SHOT_L3 + 43] = 6;
	accepted(77, "... reserved bits set");
	s.raw[SHOT_L3 + 43] = 1;
	is_int(parse(), PKT_FRAGMENT, "first of more");
	is_int(p.frag.id, 0x01020304, "... id");
}

/* A reassembled datagram, possibly with extension headers in it */
static void reassembled(void)
{
	static const uint8_t ext[8], frag[8] = { 17, 0, 0, 1 };

	for (unsigned i = 0; i < 4; i++) {
		is_tcp = i >= 2;
		fresh(i, 99);
		parse();
		p.body.buf -= head_len();
		p.body.len += head_len();
		p.src.port = p.dst.port = 0;
		is_int(pkt_transport(&p), is_tcp ? PKT_TCP : PKT_UDP,
		       "reassembled, row %u", i);
		ok(p.src.port == 5000 && p.dst.port == 6000 &&
			   p.body.len == 99 && p.body.seg == 0,
		   "... all of it");
		if (is_tcp)
			continue;

		p.body.buf -= 8;
		p.body.len += 7;
		is_int(pkt_transport(&p), PKT_BAD_L4, "... a byte short");
		p.proto = i ? 58 : 1;
		is_int(pkt_transport(&p), PKT_ICMP, "... ICMP");
		p.proto = 132;
		is_int(pkt_transport(&p), PKT_OTHER, "... SCTP");
	}
	is_tcp = false;
	fresh(1, 99);
	add_ext(&s, 60, ext, 8);
	parse();
	p.body.buf -= 16;
	p.body.len += 16;
	p.proto = 60;
	is_int(pkt_transport(&p), PKT_UDP, "... with an extension header");
	p.body = (struct piece){ .buf = frag, .len = 8 };
	p.proto = 44;
	is_int(pkt_transport(&p), PKT_BAD_IP, "... a fragment in fragments");
}

int main(void)
{
	for (uint32_t i = 0; i < sizeof(payload); i++)
		payload[i] = payload_byte(i);
	for (unsigned k = 0; k < 2; k++) {
		is_tcp = k;
		sizes();
		marks();
		padding();
		checksums();
		for (unsigned i = 0; i < 4; i++)
			inner_checksum(i, i < 2 ? 40 : 83);
	}
	tcp_super_frames();
	tcp_options();
	bad_tcp();
	is_tcp = false;
	super_frames();
	bad_ip();
	bad_udp();
	bad_addrs();
	other_frames();
	extensions();
	fragments();
	reassembled();
	return done();
}
