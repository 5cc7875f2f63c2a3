/* pkt_fuzz.c - any bytes are a frame, a reason, and never a read too far
 *
 * Input: virtio-net header and frame. Bit 7 of its flags, which means nothing,
 * asks for a right IPv4 header checksum: a fuzzer cannot guess one. */

#include "pkt.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair(struct frame *f)
{
	uint8_t *l3 = f->l2 + FRAME_MIN;
	uint32_t hlen;
	uint16_t c;

	if (!(f->vnet.flags & 0x80) || f->len < FRAME_MIN + 20)
		return;
	hlen = (l3[0] & 0xf) * 4u;
	if (f->len < FRAME_MIN + hlen || hlen < 20 || l3[0] >> 4 != 4)
		return;
	be16_put(l3 + 10, 0);
	c = plain_fold(plain_sum(0, l3, hlen));
	be16_put(l3 + 10, (uint16_t)~c);
}

static void check_ip(const struct pkt *p)
{
	const struct addr *src = &p->src.addr, *dst = &p->dst.addr;

	must(addr_is_v4(src) == addr_is_v4(dst));
	must(!addr_is_loopback(src) && !addr_is_loopback(dst));
	must(!addr_is_multicast(src) && !addr_is_broadcast(src));
	must(!addr_is_any(dst) && !p->src.scope && !p->dst.scope);
	must(!p->src.pad && !p->dst.pad && !p->body.mark.pad);
}

static void check_udp(const struct pkt *p)
{
	must(p->src.port && p->dst.port && addr_is_set(&p->src.addr));
	must(p->body.len <= RUN_LEN_MAX + 20);
	must(piece_segs(&p->body) <= PIECE_SEGS_MAX);
	must(!p->body.seg || p->body.seg < p->body.len);
}

static void check_tcp(const struct pkt *p)
{
	must(p->src.port && p->dst.port && addr_is_unicast(&p->src.addr));
	must(addr_is_unicast(&p->dst.addr) && !p->body.seg);
	must(p->body.len <= DGRAM_MAX - 20);
	must(p->tcp.wscale <= TCP_WSCALE_MAX || p->tcp.wscale == TCP_NO_WSCALE);
	must(p->tcp.flags & TCP_SYN ||
	     (!p->tcp.mss && p->tcp.wscale == TCP_NO_WSCALE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame f;
	struct pkt p, q;
	enum pkt_what what;

	if (!fuzz_frame(data, size, &f))
		return 0;
	repair(&f);
	what = pkt_parse(&f, &p);
	must(what < PKT_WHAT_COUNT);
	if (what > PKT_ARP)
		return 0;

	must(p.body.buf >= f.l2 && p.body.buf + p.body.len <= f.l2 + f.len);
	if (what != PKT_ARP)
		check_ip(&p);
	if (what == PKT_UDP)
		check_udp(&p);
	else if (what == PKT_TCP)
		check_tcp(&p);
	else
		must(!p.src.port && !p.dst.port && !p.body.seg);
	if (what == PKT_FRAGMENT) {
		must(p.frag.off % 8 == 0 && (p.frag.off || p.frag.more));
		/* Read as if it were the whole */
		q = p;
		what = pkt_transport(&q);
		must(what != PKT_FRAGMENT && what != PKT_ARP);
		if (what == PKT_UDP)
			check_udp(&q);
		if (what == PKT_TCP)
			check_tcp(&q);
	}
	return 0;
}
