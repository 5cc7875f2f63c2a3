/* icmperr_test.c - errors byte for byte; what is refused; the rate */

#include "icmperr.h"

#include "check.h"
#include "frames.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint8_t out[ICMPERR_FRAME];
static uint8_t payload[2000];

static struct icmperr_quote quote_of(bool is_v4, uint32_t len)
{
	return (struct icmperr_quote){ .src = is_v4 ? A.v4 : A.v6,
				       .dst = is_v4 ? B.v4 : B.v6,
				       .proto = PROTO_UDP,
				       .mark = { 0xb8, 7, 1, 0 },
				       .data = payload,
				       .len = len,
				       .dlen = len };
}

/* From router C to A, about A:5000 to B:6000 with four bytes of payload. The
 * checksums were computed apart from any code of ours. */
static void exact4(void)
{
	static const uint8_t want[] = {
		/* Ethernet */
		2, 0, 0, 0, 0, 0xa, 2, 0, 0, 0, 0, 0xb, 8, 0,
		/* IPv4: 60 bytes, TTL 255, ICMP */
		0x45, 0, 0, 60, 0, 0, 0, 0, 255, 1, 0xbd, 0xbb, 203, 0, 113, 3,
		192, 0, 2, 1,
		/* ICMP: fragmentation needed, MTU 1300 */
		3, 4, 0xe4, 0x3c, 0, 0, 0x05, 0x14,
		/* Quote: TOS 0xb8, DF, TTL 7, UDP */
		0x45, 0xb8, 0, 32, 0, 0, 0x40, 0, 7, 17, 0x86, 0xde, 192, 0, 2,
		1, 198, 51, 100, 2,
		/* UDP: 5000 to 6000, 12 bytes */
		0x13, 0x88, 0x17, 0x70, 0, 12, 0xe4, 0xa0, 1, 2, 3, 4
	};
	struct icmperr_quote q = quote_of(true, 4);
	struct icmperr e = icmperr_make(ICMPERR_TOO_BIG, FAMILY_V4, 1300);
	static const uint8_t four[] = { 1, 2, 3, 4 };

	q.data = four;
	is_int(icmperr_frame(&e, &LINK, &C.v4.addr, &q, out), sizeof(want),
	       "IPv4: bytes");
	is_mem(out, want, sizeof(want), "IPv4: frame");
}

static void exact6(void)
{
	static const uint8_t four[] = { 1, 2, 3, 4 };
	static const uint8_t head[] = { 2, 0, 0, 0,   0,    0xa,  2,	0,
					0, 0, 0, 0xb, 0x86, 0xdd, 0x60, 0,
					0, 0, 0, 60,  58,   255 };
	static const uint8_t icmp[] = { 2, 0 }, mtu[] = { 0, 0, 0x05, 0x14 };
	static const uint8_t quote[] = { 0x6b, 0x80, 0, 0, 0, 12, 17, 7 };
	static const uint8_t udp[] = { 0x13, 0x88, 0x17, 0x70, 0, 12 };
	struct icmperr_quote q = quote_of(false, 4);
	struct icmperr e = icmperr_make(ICMPERR_TOO_BIG, FAMILY_V6, 1300);
	const uint8_t *l4 = out + 54;

	q.data = four;
	is_int(icmperr_frame(&e, &LINK, &C.v6.addr, &q, out), 14 + 40 + 60,
	       "IPv6: bytes");
	is_mem(out, head, sizeof(head), "IPv6: Ethernet, IP");
	is_mem(out + 22, &C.v6.addr, 16, "IPv6: from the router");
	is_mem(out + 38, &A.v6.addr, 16, "IPv6: to the guest");
	is_mem(l4, icmp, 2, "IPv6: type, code");
	is_mem(l4 + 4, mtu, 4, "IPv6: MTU");
	is_mem(l4 + 8, quote, 8, "IPv6: quoted header");
	is_mem(l4 + 16, &A.v6.addr, 16, "IPv6: quoted source");
	is_mem(l4 + 32, &B.v6.addr, 16, "IPv6: quoted destination");
	is_mem(l4 + 48, udp, 6, "IPv6: quoted ports");
	is_mem(l4 + 56, four, 4, "IPv6: quoted payload");
	is_int(plain_fold(plain_sum(plain_pseudo(out + 14, 58, 60), l4, 60)),
	       0xffff, "IPv6: checksum");
	is_int(plain_fold(plain_sum(plain_pseudo(l4 + 8, 17, 12), l4 + 48, 12)),
	       0xffff, "IPv6: quoted checksum");
}

/* How much is quoted, and that what is quoted is marked as a part. */
static void sizes(void)
{
	static const struct {
		bool is_v4;
		uint32_t len, dlen, want;
	} row[] = {
		{ true, 0, 0, 14 + 20 + 8 + 28 },
		{ true, 520, 520, 14 + 576 },
		{ true, 521, 521, 14 + 576 },
		{ true, 8, 3000, 14 + 20 + 8 + 28 + 8 },
		{ true, 2000, 65507, 14 + 576 },
		{ false, 0, 0, 14 + 40 + 8 + 48 },
		{ false, 1184, 1184, 14 + 1280 },
		{ false, 1185, 1185, 14 + 1280 },
		{ false, 2000, 65527, 14 + 1280 },
	};

	for (unsigned i = 0; i < COUNT(row); i++) {
		enum family f = row[i].is_v4 ? FAMILY_V4 : FAMILY_V6;
		struct icmperr e = icmperr_make(ICMPERR_PORT, f, 0);
		struct icmperr_quote q = quote_of(row[i].is_v4, row[i].len);
		uint32_t l3 = row[i].is_v4 ? 20 : 40;
		const uint8_t *udp = out + 14 + l3 + 8 + l3;
		const struct addr *from = row[i].is_v4 ? &C.v4.addr :
							 &C.v6.addr;

		q.dlen = row[i].dlen;
		is_int(icmperr_frame(&e, &LINK, from, &q, out), row[i].want,
		       "row %u: bytes", i);
		is_int(be16_get(udp + 4), 8 + row[i].dlen, "row %u: length", i);
		ok((row[i].len < row[i].dlen) == !be16_get(udp + 6),
		   "row %u: a checksum only if it can be known", i);
	}
}

static void numbers(void)
{
	static const struct {
		enum icmperr_what what;
		uint8_t v4[2], v6[2];
	} row[] = {
		{ ICMPERR_NET, { 3, 0 }, { 1, 0 } },
		{ ICMPERR_HOST, { 3, 1 }, { 1, 3 } },
		{ ICMPERR_PORT, { 3, 3 }, { 1, 4 } },
		{ ICMPERR_PROHIBITED, { 3, 13 }, { 1, 1 } },
		{ ICMPERR_TOO_BIG, { 3, 4 }, { 2, 0 } },
	};

	for (unsigned i = 0; i < COUNT(row); i++) {
		struct icmperr e4 = icmperr_make(row[i].what, FAMILY_V4, 9);
		struct icmperr e6 = icmperr_make(row[i].what, FAMILY_V6, 9);

		ok(e4.type == row[i].v4[0] && e4.code == row[i].v4[1],
		   "row %u: IPv4", i);
		ok(e6.type == row[i].v6[0] && e6.code == row[i].v6[1],
		   "row %u: IPv6", i);
		is_int(icmperr_is_port(&e4, FAMILY_V4),
		       row[i].what == ICMPERR_PORT, "row %u: port?", i);
		is_int(icmperr_is_port(&e6, FAMILY_V6),
		       row[i].what == ICMPERR_PORT, "row %u: port?", i);
	}
}

/* The second word: an MTU, a pointer, else nothing: no RFC 4884 length. */
static void rest(void)
{
	static const struct {
		bool is_v4;
		struct icmperr e;
		uint32_t want;
	} row[] = {
		{ true, { 3, 4, 1300 }, 1300 },
		{ true, { 3, 3, 1300 }, 0 },
		{ true, { 11, 0, 0x00200000 }, 0 },
		{ true, { 12, 0, 20 }, 20u << 24 },
		{ false, { 2, 0, 1280 }, 1280 },
		{ false, { 1, 4, 0x10000000 }, 0 },
		{ false, { 3, 0, 0x10000000 }, 0 },
		{ false, { 4, 1, 40 }, 40 },
	};

	for (unsigned i = 0; i < COUNT(row); i++) {
		struct icmperr_quote q = quote_of(row[i].is_v4, 10);
		const uint8_t *l4 = out + 14 + (row[i].is_v4 ? 20 : 40);

		ok(icmperr_frame(&row[i].e, &LINK,
				 row[i].is_v4 ? &C.v4.addr : &C.v6.addr, &q,
				 out),
		   "row %u: written", i);
		is_int(be32_get(l4 + 4), row[i].want, "row %u: second word", i);
	}
}

static void refused(void)
{
	struct addr group = addr_v4(0xe0000001), any = addr_any4;
	struct icmperr port = icmperr_make(ICMPERR_PORT, FAMILY_V4, 0);
	struct icmperr big6 = icmperr_make(ICMPERR_TOO_BIG, FAMILY_V6, 1280);
	struct icmperr_quote q = quote_of(true, 4);

	for (unsigned type = 0; type < 256; type++) {
		struct icmperr e = { .type = (uint8_t)type };
		uint32_t n = icmperr_frame(&e, &LINK, &C.v4.addr, &q, out);

		if (!n != (type != 3 && type != 11 && type != 12))
			ok(false, "type %u", type);
	}
	q.dst.addr = group;
	is_int(icmperr_frame(&port, &LINK, &C.v4.addr, &q, out), 0,
	       "about a datagram to a group");
	q = quote_of(true, 4);
	is_int(icmperr_frame(&port, &LINK, &any, &q, out), 0, "from nobody");
	is_int(icmperr_frame(&port, &LINK, &C.v6.addr, &q, out), 0,
	       "from the other family");
	q.src.addr = any;
	is_int(icmperr_frame(&port, &LINK, &C.v4.addr, &q, out), 0,
	       "to nobody");
	q = quote_of(false, 4);
	q.dst.addr.b[0] = 0xff;
	ok(icmperr_frame(&big6, &LINK, &C.v6.addr, &q, out) > 0,
	   "but an IPv6 group may be told an MTU");
}

/* The guest answers what we delivered: B to A in our quotes, seen from here. */
static void parsed(void)
{
	for (unsigned v4 = 0; v4 < 2; v4++) {
		struct icmperr e = icmperr_make(ICMPERR_PORT,
						v4 ? FAMILY_V4 : FAMILY_V6, 0);
		struct icmperr_quote q = quote_of(v4, 40), got;
		struct frame f = { .l2 = out };
		struct icmperr got_e;
		struct pkt p;

		f.len = icmperr_frame(&e, &LINK, v4 ? &C.v4.addr : &C.v6.addr,
				      &q, out);
		is_int(pkt_parse(&f, &p), PKT_ICMP, "a frame of ICMP");
		ok(icmperr_parse(&p, &got_e, &got), "parse(frame(x))");
		ok(end_eq(&got.src, &q.src) && end_eq(&got.dst, &q.dst),
		   "its ends");
		ok(got_e.type == e.type && got_e.code == e.code, "its kind");
		for (uint32_t len = 0; len < p.body.len; len++) {
			struct pkt cut = p;

			cut.body.len = len;
			if (icmperr_parse(&cut, &got_e, &got))
				ok(false, "%u bytes are too few", len);
		}
		out[f.len - 1] ^= 1;
		ok(!icmperr_parse(&p, &got_e, &got), "damaged");
	}
}

static void echo(void)
{
	for (unsigned v4 = 0; v4 < 2; v4++) {
		struct icmperr e = { .type = v4 ? 11 : 3 };
		struct icmperr_quote q = quote_of(v4, 10);
		const uint8_t *l4 = out + 14 + (v4 ? 20 + 8 + 20 : 40 + 8 + 40);

		q.proto = v4 ? PROTO_ICMP : PROTO_ICMP6;
		q.seq = 77;
		ok(icmperr_frame(&e, &LINK, v4 ? &C.v4.addr : &C.v6.addr, &q,
				 out),
		   "about an echo");
		is_int(l4[0], v4 ? 8 : 128, "a request");
		is_int(be16_get(l4 + 4), 5000, "identifier");
		is_int(be16_get(l4 + 6), 77, "sequence number");
		is_int(plain_fold(plain_sum(
			       v4 ? 0 : plain_pseudo(out + 14 + 48, 58, 18), l4,
			       18)),
		       0xffff, "checksum");
	}
}

/* About a segment: ports and sequence number, of a packet with its length */
static void tcp(void)
{
	static const uint8_t want[] = { 0x13, 0x88, 0x17, 0x70,
					0xfe, 0xdc, 0xba, 0x98 };

	for (unsigned v4 = 0; v4 < 2; v4++) {
		enum family f = v4 ? FAMILY_V4 : FAMILY_V6;
		struct icmperr e = icmperr_make(ICMPERR_HOST, f, 0);
		struct icmperr_quote q = quote_of(v4, 0);
		uint32_t l3 = v4 ? 20 : 40;
		const uint8_t *ip = out + 14 + l3 + 8;
		struct frame frame = { .l2 = out };
		struct pkt p;

		q.proto = PROTO_TCP;
		q.seq = 0xfedcba98;
		q.dlen = 1000;
		frame.len = icmperr_frame(
			&e, &LINK, v4 ? &C.v4.addr : &C.v6.addr, &q, out);
		is_int(frame.len, 14 + l3 + 8 + l3 + 8, "about a segment");
		is_int(ip[v4 ? 9 : 6], 6, "of TCP");
		is_int(be16_get(ip + (v4 ? 2 : 4)), (v4 ? 20 : 0) + 20 + 1000,
		       "its length");
		is_mem(ip + l3, want, sizeof(want), "ports, sequence number");
		is_int(pkt_parse(&frame, &p), PKT_ICMP, "a frame of ICMP");
		ok(!icmperr_parse(&p, &e, &q), "not read from a guest");
		is_int(plain_fold(plain_sum(
			       v4 ? 0 : plain_pseudo(out + 14, 58, 8 + l3 + 8),
			       out + 14 + l3, 8 + l3 + 8)),
		       0xffff, "checksum");
	}
}

static void rate(void)
{
	struct icmperr_rate r = { 0 };
	int64_t now = 123456789;
	unsigned n;

	for (n = 0; icmperr_allowed(&r, now); n++)
		;
	is_int(n, ICMP_BURST, "a burst");
	for (n = 0; n < 1000; n++)
		if (icmperr_allowed(&r, now + 2) && n >= 2 * ICMP_RATE / 1000)
			break;
	is_int(n, 1000, "then as many as time allows");
	now += 1000;
	for (n = 0; icmperr_allowed(&r, now); n++)
		;
	is_int(n, ICMP_BURST, "full again, not fuller");
}

int main(void)
{
	for (unsigned i = 0; i < sizeof(payload); i++)
		payload[i] = payload_byte(i);
	exact4();
	exact6();
	sizes();
	numbers();
	rest();
	refused();
	parsed();
	echo();
	tcp();
	rate();
	return done();
}
