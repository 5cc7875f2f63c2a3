/* head_test.c - what is put together is sound, and is taken apart the same
 *
 * Soundness is judged by tests/frames.h, which shares no code with head. */

#include "head.h"

#include "check.h"
#include "frames.h"
#include "pkt.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct shot s;
static struct pkt p;
static uint8_t payload[DGRAM_MAX];

static enum pkt_what parse(void)
{
	struct frame f = shot_frame(&s);

	memset(&p, 0x55, sizeof(p));
	return pkt_parse(&f, &p);
}

static uint8_t *l3(void)
{
	return s.raw + SHOT_L3;
}

static uint8_t *l4(void)
{
	return s.raw + s.l4;
}

/* Head and payload as one frame in @s */
static void join(bool is_v4, const struct head *h, const struct iovec *iov,
		 unsigned n)
{
	memcpy(s.raw, h->buf, h->len);
	s.len = h->len;
	s.l4 = SHOT_L3 + (is_v4 ? 20 : 40);
	for (unsigned i = 0; i < n; i++) {
		if (iov[i].iov_len)
			memcpy(s.raw + s.len, iov[i].iov_base, iov[i].iov_len);
		s.len += (uint32_t)iov[i].iov_len;
	}
}

static void build(bool is_v4, const struct run *r, bool partial)
{
	struct head h = head_make_udp(&LINK, is_v4 ? &B.v4 : &B.v6,
				      is_v4 ? &A.v4 : &A.v6, r, partial);

	join(is_v4, &h, r->slice, r->n_slices);
}

static void build_tcp(bool is_v4, const struct pkt_tcp *tcp, uint32_t len,
		      uint32_t seg, bool partial)
{
	struct iovec body = { len ? payload : NULL, len };
	struct head h = head_make_tcp(&LINK, is_v4 ? &B.v4 : &B.v6,
				      is_v4 ? &A.v4 : &A.v6, tcp,
				      (struct mark){ .tos = 0x2e }, body, seg,
				      partial);

	join(is_v4, &h, &body, 1);
}

/* parse(head(x)) = x, and the kernel would take it */
static void heads(void)
{
	static const struct {
		uint32_t len, seg, more; /* @more: pieces of @len behind */
	} row[] = {
		{ 0, 0, 0 },	   { 1, 0, 0 },	    { 1472, 0, 0 },
		{ 65507, 0, 0 },   { 100, 0, 1 },   { 100, 0, 63 },
		{ 4416, 1472, 9 }, { 999, 333, 3 }, { 65, 64, 0 },
		{ 12800, 100, 0 }, { 3, 1, 2 },
	};

	for (unsigned i = 0; i < COUNT(row) * 4; i++) {
		bool is_v4 = i % 2, partial = i / 2 % 2;
		struct piece in = { .buf = payload, .len = row[i / 4].len };
		uint32_t all = in.len;
		struct run r;

		in.seg = row[i / 4].seg;
		in.mark = (struct mark){ .tos = 0x2e,
					 .hops = i / 4 * 3,
					 .df = !is_v4 || i % 3 };
		run_start(&r, 0, &in);
		for (uint32_t k = 0; k < row[i / 4].more; k++, all += in.len) {
			in.buf += in.len;
			run_append(&r, &in);
		}
		build(is_v4, &r, partial);
		ok(is_sound(s.raw, s.len) &&
			   s.raw[0] == (partial || all > r.seg),
		   "head %u: sound", i);
		if (!is_int(parse(), PKT_UDP, "head %u: parsed", i))
			continue;
		ok(end_eq(&p.src, is_v4 ? &B.v4 : &B.v6) &&
			   end_eq(&p.dst, is_v4 ? &A.v4 : &A.v6),
		   "... ends");
		is_int(p.body.len, all, "... length");
		is_int(p.body.seg, r.n_segs > 1 ? r.seg : 0, "... segments");
		is_mem(p.body.buf, payload, all, "... bytes");
		is_int(p.body.mark.hops, i < 4 ? 255 : in.mark.hops,
		       "... hops");
		ok(p.body.mark.tos == 0x2e && p.body.mark.df == in.mark.df,
		   "... TOS, DF");
		ok(!memcmp(s.raw + VNET_LEN, &A.mac, 6) &&
			   !memcmp(&p.src_mac, &B.mac, 6),
		   "... link addresses");
	}
}

/* Every field of a super-frame, as the kernel was seen to want it */
static void super_head(void)
{
	static const uint8_t data[300];
	struct piece in = { data, 300, 100, { 0 } };
	struct run r;

	run_start(&r, 0, &in);
	for (unsigned i = 0; i < 2; i++) {
		struct vnet_hdr v;

		build(i == 0, &r, true);
		memcpy(&v, s.raw, sizeof(v));
		ok(v.flags == 1 && v.gso_type == 5, "flags, type, row %u", i);
		is_int(v.gso_size, 100, "gso_size");
		is_int(v.hdr_len, i ? 62 : 42, "hdr_len");
		ok(v.csum_start == (i ? 54 : 34) && v.csum_offset == 6, "csum");
		is_int(be16_get(l4() + 4), 308, "UDP length");
		is_int(be16_get(l3() + (i ? 4 : 2)), i ? 308 : 328,
		       "IP length");
	}
}

static const struct {
	const char *name;
	struct pkt_tcp tcp;
	uint8_t head; /* bytes of the TCP header */
} segments[] = {
	{ "data",
	  { 0xfffffffe, 0x80000001, 0xfffe, 0, TCP_ACK | TCP_PSH, 0xff },
	  20 },
	{ "every flag but SYN", { 1, 2, 3, 0, 0xfd, 0xff }, 20 },
	{ "SYN, both options", { 7, 0, 65535, 1460, TCP_SYN, 7 }, 28 },
	{ "SYN, scale 0", { 7, 0, 65535, 65535, TCP_SYN | TCP_ACK, 0 }, 28 },
	{ "SYN, MSS only", { 7, 9, 1, 536, TCP_SYN, 0xff }, 24 },
	{ "SYN, scale only", { 7, 9, 1, 0, TCP_SYN, 14 }, 24 },
	{ "SYN, no option", { 7, 9, 1, 0, TCP_SYN, 0xff }, 20 },
};

/* As heads(), of each kind of segment */
static void tcp_heads(void)
{
	static const uint32_t len[] = { 0, 1, 999, 65487 };

	for (unsigned i = 0; i < COUNT(segments) * COUNT(len) * 4; i++) {
		unsigned k = i / 4 / COUNT(len), at = i / 4 % COUNT(len);
		bool is_v4 = i % 2, partial = i / 2 % 2;

		build_tcp(is_v4, &segments[k].tcp, len[at], len[at], partial);
		ok(is_sound(s.raw, s.len) && s.raw[0] == partial,
		   "%s, %u bytes, IPv%c: sound", segments[k].name, len[at],
		   is_v4 ? '4' : '6');
		is_int(l4()[12] >> 4, segments[k].head / 4, "... data offset");
		if (!is_int(parse(), PKT_TCP, "... parsed"))
			continue;
		ok(tcp_eq(&p.tcp, &segments[k].tcp), "... header");
		ok(end_eq(&p.src, is_v4 ? &B.v4 : &B.v6) &&
			   end_eq(&p.dst, is_v4 ? &A.v4 : &A.v6),
		   "... ends");
		is_int(p.body.len, len[at], "... length");
		is_mem(p.body.buf, payload, len[at], "... bytes");
		is_mem(&p.body.mark, ((uint8_t[]){ 0x2e, 255, 1, 0 }), 4,
		       "... TOS, hops, DF");
	}
}

/* Options belong to a SYN */
static void tcp_no_options(void)
{
	struct pkt_tcp tcp = { .flags = TCP_ACK, .mss = 1460, .wscale = 7 };

	build_tcp(true, &tcp, 3, 3, false);
	ok(is_sound(s.raw, s.len), "without SYN");
	is_int(l4()[12], 5 << 4, "... no options");
	tcp.flags = TCP_SYN;
	tcp.wscale = 9;
	build_tcp(false, &tcp, 0, 0, true);
	is_mem(l4() + 20, ((uint8_t[]){ 2, 4, 5, 180, 1, 3, 3, 9 }), 8,
	       "a SYN's");
}

static void tcp_super_head(void)
{
	struct pkt_tcp tcp = segments[0].tcp;

	for (unsigned i = 0; i < 4; i++) {
		bool is_v4 = i % 2, partial = i / 2;
		uint32_t l3len = is_v4 ? 20 : 40;
		struct vnet_hdr v;

		build_tcp(is_v4, &tcp, 4000, 1460, partial);
		memcpy(&v, s.raw, sizeof(v));
		ok(is_sound(s.raw, s.len), "TCP super-frame %u: sound", i);
		ok(v.flags == 1 && v.gso_type == (is_v4 ? 1 : 4),
		   "... flags, type");
		is_int(v.gso_size, 1460, "... gso_size");
		is_int(v.hdr_len, 14 + l3len + 20, "... hdr_len");
		ok(v.csum_start == 14 + l3len && v.csum_offset == 16,
		   "... csum");
		is_int(be16_get(l4() + 16),
		       plain_fold(plain_pseudo(l3(), 6, 4020)),
		       "... sum over the whole length");
		is_int(parse(), PKT_TCP, "... parsed");
		ok(p.body.len == 4000 && !p.body.seg && tcp_eq(&p.tcp, &tcp) &&
			   !memcmp(p.body.buf, payload, 4000),
		   "... all of it");
		build_tcp(is_v4, &tcp, 1460, 1460, partial);
		is_int(s.raw[1], 0, "... one segment is none");
		build_tcp(is_v4, &tcp, 65495, 65494, partial);
		ok(is_sound(s.raw, s.len) && parse() == PKT_TCP,
		   "... the largest");
	}
}

static void icmp6(void)
{
	uint8_t msg[HEAD_ICMP6 + 24] = { [HEAD_ICMP6] = 136,
					 [HEAD_ICMP6 + 2] = 1,
					 2 };

	memset(&s, 0, sizeof(s));
	s.len = VNET_LEN +
		head_wrap_icmp6(msg, &LINK, &B.v6.addr, &A.v6.addr, 24);
	memcpy(s.raw + VNET_LEN, msg, sizeof(msg));
	ok(is_sound(s.raw, s.len), "sound");
	is_int(parse(), PKT_ICMP, "parsed");
	ok(addr_eq(&p.src.addr, &B.v6.addr) && addr_eq(&p.dst.addr, &A.v6.addr),
	   "addresses");
	ok(p.body.mark.hops == 255 && p.body.len == 24, "hop limit, message");
}

int main(void)
{
	for (uint32_t i = 0; i < sizeof(payload); i++)
		payload[i] = payload_byte(i);
	heads();
	super_head();
	tcp_heads();
	tcp_no_options();
	tcp_super_head();
	icmp6();
	return done();
}
