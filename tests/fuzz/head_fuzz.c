/* head_fuzz.c - what was understood, put into a frame of ours, is understood
 * the same
 *
 * Input: virtio-net header and frame, as for pkt_fuzz.c. */

#include "head.h"

#include "frames.h"
#include "pkt.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void there_and_back(const struct pkt *p)
{
	static uint8_t raw[sizeof(((struct shot *)NULL)->raw)];
	struct frame f = { .l2 = raw + VNET_LEN };
	struct head h;
	struct pkt q;
	struct run r;

	run_start(&r, 0, &p->body);
	h = head_make_udp(&LINK, &p->src, &p->dst, &r, r.n_segs > 1);
	memcpy(raw, h.buf, h.len);
	if (r.len)
		memcpy(raw + h.len, p->body.buf, r.len);
	must(is_sound(raw, h.len + r.len));
	memcpy(&f.vnet, raw, sizeof(f.vnet));
	f.len = h.len + r.len - VNET_LEN;
	must(pkt_parse(&f, &q) == PKT_UDP);
	must(end_eq(&p->src, &q.src) && end_eq(&p->dst, &q.dst));
	must(p->body.len == q.body.len && p->body.seg == q.body.seg);
	must(p->body.mark.tos == q.body.mark.tos);
	must(!r.len || !memcmp(p->body.buf, q.body.buf, r.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame f;
	struct pkt p;

	if (!fuzz_frame(data, size, &f))
		return 0;
	switch (pkt_parse(&f, &p)) {
	case PKT_FRAGMENT: /* Read as if it were the whole */
		if (pkt_udp(&p) == PKT_UDP)
			there_and_back(&p);
		break;
	case PKT_UDP:
		there_and_back(&p);
		break;
	default:
		break;
	}
	return 0;
}
