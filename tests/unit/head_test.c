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

/* Head and payload of @r as one frame in @s */
static void build(bool is_v4, const struct run *r, bool partial)
{
	struct head h = head_make_udp(&LINK, is_v4 ? &B.v4 : &B.v6,
				      is_v4 ? &A.v4 : &A.v6, r, partial);

	memcpy(s.raw, h.buf, h.len);
	s.len = h.len;
	s.l4 = h.len - 8;
	for (unsigned i = 0; i < r->n_slices; i++) {
		memcpy(s.raw + s.len, r->slice[i].iov_base,
		       r->slice[i].iov_len);
		s.len += (uint32_t)r->slice[i].iov_len;
	}
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
	icmp6();
	return done();
}
