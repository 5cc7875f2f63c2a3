/* ndp_fuzz.c - no answer, or one that is well formed: to neighbours, that claims
 * no address of the guest's; to who looks for routers, within a small link's
 * MTU. Input as for pkt_fuzz, bit 7 of the flags asks for a right ICMPv6
 * checksum */

#include "ndp.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct addr ours = { { 0xfe, 0x80, [15] = 0xbb } };

static void repair(struct frame *f, const struct pkt *p)
{
	uint8_t *l4 = f->l2 + (p->body.buf - f->l2);
	uint32_t sum;

	if (!(f->vnet.flags & 0x80) || p->body.len < 4)
		return;
	be16_put(l4 + 2, 0);
	sum = plain_pseudo(f->l2 + FRAME_MIN, PROTO_ICMP6, p->body.len);
	sum = plain_sum(sum, l4, p->body.len);
	be16_put(l4 + 2, (uint16_t)~plain_fold(sum));
}

static void router(const struct pkt *p)
{
	static const struct announce a = {
		.guest[FAMILY_V6] = { { 0x20, 1, 0x0d, 0xb8, [15] = 0xa } },
		.ours[FAMILY_V6] = { { 0xfe, 0x80, [15] = 0xbb } },
		.mtu = 65520,
		.search = { "a.example", "b" },
		.n_search = 2,
	};
	uint8_t reply[VNET_LEN + NDP_RA_FRAME] = { 0 };
	uint32_t n = ndp_router_reply(p, &LINK, &a, reply + VNET_LEN);

	must(n <= NDP_RA_FRAME);
	if (!n)
		return;
	must(ndp_is_solicit(p) && p->body.mark.hops == 255);
	must(is_sound(reply, VNET_LEN + n));
	must(addr_is_any(&p->src.addr) ||
	     !memcmp(reply + SHOT_L3 + 24, &p->src.addr, 16));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t reply[VNET_LEN + NDP_NA_FRAME] = { 0 };
	struct frame f;
	struct pkt p;
	uint32_t n;

	if (!fuzz_frame(data, size, &f) || pkt_parse(&f, &p) != PKT_ICMP)
		return 0;
	if (!addr_is_v4(&p.src.addr))
		repair(&f, &p);
	if (ndp_is_ours(&p))
		router(&p);
	n = ndp_reply(&p, &LINK, &ours, &A.v6.addr, reply + VNET_LEN);
	must(!n || n == NDP_NA_FRAME);
	if (!n)
		return 0;

	must(ndp_is_ours(&p) && is_sound(reply, sizeof(reply)));
	must(!memcmp(reply + VNET_LEN, f.l2 + 6, 6));
	must(!memcmp(reply + SHOT_L3 + 24, &p.src.addr, 16));
	must(memcmp(reply + SHOT_L3 + 48, &A.v6.addr, 16) != 0);
	must(!memcmp(reply + SHOT_L3 + 48, p.body.buf + 8, 16));
	return 0;
}
