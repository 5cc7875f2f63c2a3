/* head_fuzz.c - what was understood, put into a frame of ours, is understood
 * the same
 *
 * Input: virtio-net header and frame, as for pkt_fuzz.c. */

#include "head.h"

#include "frames.h"
#include "pkt.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* @h and the payload of @p as a frame */
static void there_and_back(const struct head *h, const struct pkt *p,
			   enum pkt_what what)
{
	static uint8_t raw[sizeof(((struct shot *)NULL)->raw)];
	struct frame f = { .l2 = raw + VNET_LEN };
	uint32_t len = p->body.len;
	struct pkt q;

	memcpy(raw, h->buf, h->len);
	if (len)
		memcpy(raw + h->len, p->body.buf, len);
	must(is_sound(raw, h->len + len));
	memcpy(&f.vnet, raw, sizeof(f.vnet));
	f.len = h->len + len - VNET_LEN;
	must(pkt_parse(&f, &q) == what);
	must(end_eq(&p->src, &q.src) && end_eq(&p->dst, &q.dst));
	must(len == q.body.len && p->body.seg == q.body.seg);
	must(p->body.mark.tos == q.body.mark.tos);
	must(!len || !memcmp(p->body.buf, q.body.buf, len));
	must(what != PKT_TCP || tcp_eq(&p->tcp, &q.tcp));
}

static void udp_again(const struct pkt *p)
{
	struct head h;
	struct run r;

	run_start(&r, 0, &p->body);
	h = head_make_udp(&LINK, &p->src, &p->dst, &r, r.n_segs > 1);
	there_and_back(&h, p, PKT_UDP);
}

/* In one piece, and in segments of @seg bytes */
static void tcp_again(const struct pkt *p, uint32_t seg)
{
	struct iovec body = { (uint8_t *)(uintptr_t)p->body.buf, p->body.len };
	struct head h;

	h = head_make_tcp(&LINK, &p->src, &p->dst, &p->tcp, p->body.mark, body,
			  p->body.len, false);
	there_and_back(&h, p, PKT_TCP);
	if (!seg)
		return;
	h = head_make_tcp(&LINK, &p->src, &p->dst, &p->tcp, p->body.mark, body,
			  seg, true);
	there_and_back(&h, p, PKT_TCP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum pkt_what what;
	struct frame f;
	struct pkt p;

	if (!fuzz_frame(data, size, &f))
		return 0;
	what = pkt_parse(&f, &p);
	if (what == PKT_FRAGMENT) /* Read as if it were the whole */
		what = pkt_transport(&p);
	if (what == PKT_UDP)
		udp_again(&p);
	if (what == PKT_TCP)
		tcp_again(&p, f.vnet.gso_size);
	return 0;
}
