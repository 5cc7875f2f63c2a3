/* tcb_fuzz.c - any segments and any calls in any order: bounded and in order
 *
 * Input: one byte that says who begins, then six bytes each: what happens; for
 * a segment its flags, which number of the control block it is near, and how
 * near, what it acknowledges likewise, window and length. What a caller owes
 * (tcb.h) is done: what is taken is told, what is sent is at most what may be. */

#include "tcb.h"

#include <stddef.h>
#include <stdlib.h>

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* What always holds */
static void check(const struct tcb *t)
{
	must(!before(t->snd_nxt, t->snd_una) &&
	     !before(t->snd_max, t->snd_nxt));
	must(!before(t->rcv_nxt, t->rcv_ack) &&
	     !before(t->rcv_edge, t->rcv_nxt));
	must(t->rcv_edge - t->rcv_ack <= (65535u << t->rcv_scale) + 1 ||
	     t->state < TCB_OPEN);
	must(t->rto_ms >= TCB_RTO_MIN_MS && t->rto_ms <= TCB_RTO_MAX_MS);
	must(t->mss <= t->link_mss && t->state <= TCB_OPEN);
	must(t->tries <= TCB_TRIES + 1);
	must(!(t->flags & TCB_FIN_ACKED) || t->flags & TCB_FIN_SENT);
	must(t->state < TCB_OPEN || t->snd_una == t->snd_max ||
	     t->due_ms != TCB_NEVER);
	must(tcb_room(t) == 0 || t->state == TCB_OPEN);
}

/* A number that means something to @t, and @d[1] beside it */
static uint32_t near(const struct tcb *t, const uint8_t d[static 2])
{
	const uint32_t at[] = { t->rcv_nxt,
				t->rcv_ack,
				t->rcv_edge,
				t->snd_una,
				t->snd_nxt,
				t->snd_max,
				t->snd_una - t->max_wnd,
				(uint32_t)d[1] << 24 };

	return at[d[0] % 8] + (uint32_t)(int8_t)d[1];
}

static void segment(struct tcb *t, const uint8_t d[static 6], int64_t now)
{
	const uint8_t seq[2] = { d[2], d[3] }, ack[2] = { d[2] >> 4, d[4] };
	struct pkt_tcp s = {
		.seq = near(t, seq),
		.ack = near(t, ack),
		.flags = d[1],
		.window = (uint16_t)(d[5] << 8 | d[4]),
		.mss = (uint16_t)(d[4] * 256),
		.wscale = d[5] % 16 < 15 ? d[5] % 16 : TCP_NO_WSCALE,
	};
	uint32_t len = d[0] & 0x80 ? d[5] * 300u : d[5] % 4, una = t->snd_una;
	bool was_open = t->state == TCB_OPEN;
	struct pkt_tcp rst;
	struct tcb_in in = tcb_input(t, &s, len, now);

	must(in.skip <= len && in.take <= len - in.skip);
	must(in.take <= t->rcv_edge - t->rcv_nxt);
	must(!in.take || s.seq + in.skip == t->rcv_nxt);
	must(!(in.todo & TCB_DO_ACKED) || t->snd_una - una - in.acked <= 1);
	must(!(in.todo & TCB_DO_OPENED) || !was_open);
	if (in.todo & (TCB_DO_RESET | TCB_DO_REFUSE)) {
		must(!in.take && !(in.todo & TCB_DO_FIN));
		if (tcb_refuse(&s, len, &rst))
			must(rst.flags & TCP_RST && !(s.flags & TCP_RST));
	}
	if (in.todo & TCB_DO_RESEND) {
		must(t->snd_una != t->snd_max);
		(void)tcb_header(t, t->snd_una, 0);
	}
	tcb_took(t, d[0] & 0x40 ? in.take / 2 : in.take,
		 in.todo & TCB_DO_FIN && !(d[0] & 0x40));
}

static void offer(struct tcb *t, const uint8_t d[static 6])
{
	uint32_t edge = t->rcv_edge, old = t->rcv_ack;
	uint32_t ack = d[1] % 2 ? t->rcv_nxt :
				  old + (t->rcv_nxt - old) / 256 * d[2];
	struct pkt_tcp h;

	(void)tcb_offer(t, ack, (uint32_t)d[3] << d[4] % 17, d[5]);
	must(!before(t->rcv_edge, edge) && !before(t->rcv_ack, old));
	if (t->state == TCB_CONNECTING) /* nobody to tell */
		return;
	h = tcb_header(t, tcb_seq(t), 0);
	must(!(t->flags & TCB_ACK_NOW) && h.flags & (TCP_ACK | TCP_SYN));
	if (!(h.flags & TCP_SYN))
		must(!before(t->rcv_edge,
			     h.ack + ((uint32_t)h.window << t->rcv_scale)));
}

static void sent(struct tcb *t, uint32_t n, bool fin, int64_t now)
{
	uint32_t room = tcb_room(t), end = t->snd_nxt + n;

	if (t->state == TCB_SYN_SENT || t->state == TCB_SYN_RCVD) {
		if (t->snd_nxt == t->snd_una)
			tcb_sent(t, 0, false, now);
		return;
	}
	if (!room)
		return;
	if (n > room)
		end = t->snd_nxt + room;
	if (t->flags & TCB_FIN_SENT && !before(end, t->snd_max)) {
		end = t->snd_max - 1; /* nothing is behind a FIN */
		fin = true;
		if (before(end, t->snd_nxt))
			return;
	}
	if (before(end, t->snd_max) && !(t->flags & TCB_FIN_SENT))
		fin = false; /* nor anything that was sent already */
	else if (t->flags & TCB_FIN_SENT && end != t->snd_max - 1)
		fin = false;
	tcb_sent(t, end - t->snd_nxt, fin, now);
}

/* Returns: false if the connection ends */
static bool step(struct tcb *t, const uint8_t d[static 6], int64_t *now)
{
	switch (d[0] % 8) {
	case 0:
		offer(t, d);
		break;
	case 1:
		sent(t, (uint32_t)d[1] << d[2] % 12, d[3] % 8 == 0, *now);
		break;
	case 2:
		if (t->due_ms == TCB_NEVER)
			break;
		if (*now < t->due_ms)
			*now = t->due_ms;
		if (!tcb_timeout(t, *now))
			return false;
		must(t->due_ms > *now);
		break;
	case 3:
		tcb_stall(t, *now);
		break;
	case 4:
		*now += d[1];
		if (t->state == TCB_CONNECTING)
			tcb_answer(t);
		break;
	default:
		segment(t, d, *now);
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcb t;
	int64_t now = 1000;

	if (!size)
		return 0;
	if (data[0] & 1) {
		tcb_connect(&t, (uint32_t)data[0] << 24, 1460);
	} else {
		struct pkt_tcp syn = {
			.seq = (uint32_t)data[0] << 25,
			.flags = TCP_SYN,
			.window = 1000,
			.wscale = data[0] & 2 ? data[0] >> 4 : TCP_NO_WSCALE,
		};

		if (syn.wscale != TCP_NO_WSCALE && syn.wscale > TCP_WSCALE_MAX)
			syn.wscale = TCP_WSCALE_MAX;
		tcb_accept(&t, &syn, (uint32_t)data[0] << 24, 1460);
	}
	for (data++, size--; size >= 6; data += 6, size -= 6) {
		if (!step(&t, data, &now))
			break;
		check(&t);
	}
	return 0;
}
