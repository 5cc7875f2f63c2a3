/* tcb.c - one TCP connection as the guest's kernel sees it
 *
 * What RFC 9293 asks of a connection is decided here, by numbers alone: which
 * segment is acceptable, what of it is new, what it acknowledges, and when to
 * send again. Moving bytes is the caller's work; it tells what it has done.
 *
 * The guest's link loses next to nothing and keeps order, and the host's kernel
 * does congestion control on the way that has any. So there is none here, nor
 * selective acknowledgement, nor time stamps (doc/decisions/0040). What is lost
 * all the same, since the link was down or the guest had no memory, is sent
 * again: one super-frame after three duplicate acknowledgements (RFC 6582), all
 * from the first missing byte on after a time-out (RFC 6298).
 *
 * The window offered to the guest is what the host's socket can take. Its edge
 * never moves back, RFC 9293 3.8.6. */

#include "tcb.h"

#define DUP_ACKS 3 /* RFC 5681 3.2 */
#define WINDOW_MAX 65535 /* of the header's field */

static bool is_syn_state(const struct tcb *t)
{
	return t->state < TCB_OPEN;
}

static uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* An MSS of a SYN; without one RFC 9293 3.7.1's default, which is IPv4's, and
 * fits IPv6 as well */
static uint16_t mss_of(const struct pkt_tcp *syn, uint16_t mss_max)
{
	uint16_t mss = syn->mss ? syn->mss : TCP_MSS_DEFAULT;

	if (mss < TCP_MSS_MIN)
		mss = TCP_MSS_MIN;
	return mss < mss_max ? mss : mss_max;
}

/* RFC 7323 2.2: both say it, or nobody scales */
static void take_syn(struct tcb *t, const struct pkt_tcp *syn)
{
	t->mss = mss_of(syn, t->link_mss);
	t->snd_scale = t->rcv_scale = 0;
	if (syn->wscale != TCP_NO_WSCALE) {
		t->snd_scale = syn->wscale;
		t->rcv_scale = TCB_SCALE;
	}
	t->rcv_nxt = syn->seq + 1;
	t->rcv_ack = t->rcv_nxt;
	t->rcv_edge = t->rcv_nxt + TCB_SYN_WINDOW;
}

static void begin(struct tcb *t, enum tcb_state state, uint32_t iss,
		  uint16_t mss_max)
{
	*t = (struct tcb){
		.snd_una = iss,
		.snd_nxt = iss,
		.snd_max = iss,
		.link_mss = mss_max,
		.state = (uint8_t)state,
		.rto_ms = TCB_RTO_SYN_MS,
		.due_ms = TCB_NEVER,
		.rcv_edge = TCB_SYN_WINDOW,
		.rcv_scale = TCB_SCALE,
	};
}

void tcb_connect(struct tcb *t, uint32_t iss, uint16_t mss_max)
{
	begin(t, TCB_SYN_SENT, iss, mss_max);
}

void tcb_accept(struct tcb *t, const struct pkt_tcp *syn, uint32_t iss,
		uint16_t mss_max)
{
	begin(t, TCB_CONNECTING, iss, mss_max);
	take_syn(t, syn);
}

void tcb_answer(struct tcb *t)
{
	t->state = TCB_SYN_RCVD;
}

/* RFC 6298 2.2 and 2.3, in fractions as its appendix of old had them */
static void measure(struct tcb *t, int64_t now_ms)
{
	int32_t r = (int32_t)(now_ms - t->timed_ms), delta;

	t->is_timed = false;
	if (r < 1)
		r = 1;
	if (!t->srtt_ms8) {
		t->srtt_ms8 = 8 * (uint32_t)r;
		t->rttvar_ms4 = 2 * (uint32_t)r;
		return;
	}
	delta = r - (int32_t)(t->srtt_ms8 / 8);
	t->srtt_ms8 = (uint32_t)((int32_t)t->srtt_ms8 + delta);
	if (delta < 0)
		delta = -delta;
	t->rttvar_ms4 += (uint32_t)delta - t->rttvar_ms4 / 4;
}

static uint32_t rto(const struct tcb *t)
{
	uint32_t ms = t->srtt_ms8 / 8 + t->rttvar_ms4;

	if (!t->srtt_ms8)
		return TCB_RTO_SYN_MS;
	if (ms < TCB_RTO_MIN_MS)
		return TCB_RTO_MIN_MS;
	return min(ms, TCB_RTO_MAX_MS);
}

/* Everything is well up to @ack */
static void advance(struct tcb *t, uint32_t ack, int64_t now_ms)
{
	if (t->is_timed && !seq_before(ack, t->timed))
		measure(t, now_ms);
	t->snd_una = ack;
	if (seq_before(t->snd_nxt, ack))
		t->snd_nxt = ack;
	t->dup_acks = 0;
	t->rto_ms = rto(t);
	t->due_ms = ack == t->snd_max ? TCB_NEVER : now_ms + t->rto_ms;
}

static void open_window(struct tcb *t, const struct pkt_tcp *seg, uint8_t scale)
{
	t->snd_wnd = (uint32_t)seg->window << scale;
	t->snd_wl1 = seg->seq;
	t->snd_wl2 = seg->ack;
	if (t->snd_wnd > t->max_wnd)
		t->max_wnd = t->snd_wnd;
}

static void established(struct tcb *t, const struct pkt_tcp *seg, uint8_t scale,
			int64_t now_ms, struct tcb_in *in)
{
	t->state = TCB_OPEN;
	t->tries = 0;
	advance(t, seg->ack, now_ms);
	open_window(t, seg, scale);
	in->todo |= TCB_DO_OPENED | TCB_DO_PULL;
}

/* RFC 9293 3.10.7.3 */
static void in_syn_sent(struct tcb *t, const struct pkt_tcp *seg,
			int64_t now_ms, struct tcb_in *in)
{
	bool is_ack = seg->flags & TCP_ACK;

	if (is_ack && seg->ack != t->snd_max) {
		in->todo |= TCB_DO_REFUSE;
	} else if (seg->flags & TCP_RST) {
		in->todo |= is_ack ? TCB_DO_RESET : 0;
	} else if (seg->flags & TCP_SYN) {
		take_syn(t, seg);
		t->flags |= TCB_ACK_NOW;
		if (is_ack)
			established(t, seg, 0, now_ms, in);
		else
			t->state = TCB_SYN_RCVD; /* both at once */
	}
}

/* What comes before the guest has heard of us is its SYN again, or its end */
static void in_connecting(const struct tcb *t, const struct pkt_tcp *seg,
			  struct tcb_in *in)
{
	if (seg->flags & TCP_RST && seg->seq == t->rcv_nxt)
		in->todo |= TCB_DO_RESET;
}

/* RFC 9293 3.10.7.4, first: in the window? Sequence numbers that SYN and FIN
 * take up count. */
static bool is_acceptable(const struct tcb *t, const struct pkt_tcp *seg,
			  uint32_t len)
{
	uint32_t end = seg->seq + len + !!(seg->flags & TCP_SYN) +
		       !!(seg->flags & TCP_FIN);

	if (seq_before(t->rcv_edge, seg->seq))
		return false;
	return end == seg->seq ? !seq_before(seg->seq, t->rcv_nxt) :
				 seq_before(t->rcv_nxt, end);
}

/* RFC 9293 3.10.7.4, second and fourth; RFC 5961 3.2 and 4.2: a stranger who
 * guesses gets an acknowledgement, from which our peer would know.
 * Returns: is there more to look at? */
static bool check_control(struct tcb *t, const struct pkt_tcp *seg)
{
	if (seg->flags & (TCP_RST | TCP_SYN)) {
		t->flags |= TCB_ACK_NOW;
		return false;
	}
	return seg->flags & TCP_ACK;
}

/* The guest repeats itself: is something missing there? RFC 5681 2 */
static void take_duplicate(struct tcb *t, const struct pkt_tcp *seg,
			   uint32_t len, struct tcb_in *in)
{
	if (len || seg->flags & TCP_FIN || t->snd_una == t->snd_max ||
	    (uint32_t)seg->window << t->snd_scale != t->snd_wnd)
		return;
	if (t->dup_acks < DUP_ACKS)
		t->dup_acks++;
	if (t->dup_acks < DUP_ACKS || t->is_lossy)
		return;
	t->is_lossy = t->is_fast = true;
	t->is_timed = false;
	t->recover = t->snd_max;
	in->todo |= TCB_DO_RESEND;
}

static void take_new_ack(struct tcb *t, uint32_t ack, int64_t now_ms,
			 struct tcb_in *in)
{
	bool is_all = ack == t->snd_max && t->flags & TCB_FIN_SENT;

	in->acked = ack - t->snd_una - is_all;
	in->todo |= TCB_DO_ACKED | TCB_DO_PULL;
	if (is_all)
		t->flags |= TCB_FIN_ACKED;
	advance(t, ack, now_ms);
	if (!t->is_lossy)
		return;
	if (!seq_before(ack, t->recover))
		t->is_lossy = t->is_fast = false;
	else if (t->is_fast)
		in->todo |= TCB_DO_RESEND; /* RFC 6582 3.2: a partial one */
}

/* RFC 9293 3.10.7.4, fifth; RFC 5961 5.2 */
static bool take_ack(struct tcb *t, const struct pkt_tcp *seg, uint32_t len,
		     int64_t now_ms, struct tcb_in *in)
{
	uint32_t edge = t->snd_wl2 + t->snd_wnd;

	if (seq_before(t->snd_max, seg->ack) ||
	    seq_before(seg->ack, t->snd_una - t->max_wnd)) {
		t->flags |= TCB_ACK_NOW;
		return false;
	}
	t->tries = 0;
	if (seq_before(t->snd_una, seg->ack))
		take_new_ack(t, seg->ack, now_ms, in);
	else if (seg->ack == t->snd_una)
		take_duplicate(t, seg, len, in);
	if (seq_before(seg->ack, t->snd_una) ||
	    seq_before(seg->seq, t->snd_wl1) ||
	    (seg->seq == t->snd_wl1 && seq_before(seg->ack, t->snd_wl2)))
		return true;
	open_window(t, seg, t->snd_scale);
	if (seq_before(edge, t->snd_wl2 + t->snd_wnd)) {
		in->todo |= TCB_DO_PULL;
		if (t->snd_una == t->snd_max) /* probes backed off, no loss */
			t->rto_ms = rto(t);
	}
	return true;
}

/* RFC 9293 3.10.7.4, seventh and eighth: what of the payload comes next */
static void take_payload(struct tcb *t, const struct pkt_tcp *seg, uint32_t len,
			 struct tcb_in *in)
{
	uint32_t end = seg->seq + len;

	if (!len && !(seg->flags & TCP_FIN))
		return;
	if (t->flags & TCB_FIN_RCVD) {
		t->flags |= TCB_ACK_NOW;
		return;
	}
	if (seq_before(t->rcv_nxt, seg->seq)) {
		t->flags |= TCB_ACK_NOW; /* something before it is missing */
		in->ahead = min(len, t->rcv_edge - seg->seq);
		return;
	}
	if (seg->seq != t->rcv_nxt)
		t->flags |= TCB_ACK_NOW; /* it was told already */
	if (seq_before(t->rcv_edge, end)) {
		t->flags |= TCB_ACK_NOW;
		end = t->rcv_edge;
	} else if (seg->flags & TCP_FIN) {
		in->todo |= TCB_DO_FIN;
	}
	in->skip = t->rcv_nxt - seg->seq;
	in->take = end - t->rcv_nxt;
}

static bool is_answered(struct tcb *t, const struct pkt_tcp *seg,
			int64_t now_ms, struct tcb_in *in)
{
	if (seg->ack != t->snd_max) {
		in->todo |= TCB_DO_REFUSE;
		return false;
	}
	established(t, seg, t->snd_scale, now_ms, in);
	return true;
}

/* RFC 5961 3.2: exactly what is expected. A guest that has forgotten the
 * connection answers by what it was told last, which may lie before it. */
static bool is_reset(const struct tcb *t, const struct pkt_tcp *seg)
{
	return seg->flags & TCP_RST &&
	       (seg->seq == t->rcv_nxt || seg->seq == t->rcv_ack);
}

/* Both began at once, and each answers the other's SYN, RFC 9293 3.5, figure 7:
 * by the numbers this SYN is an old one, but what it acknowledges is new. */
static bool is_crossing(const struct tcb *t, const struct pkt_tcp *seg)
{
	return t->state == TCB_SYN_RCVD && seg->flags & TCP_SYN &&
	       seg->flags & TCP_ACK && seg->seq + 1 == t->rcv_nxt &&
	       seg->ack == t->snd_max;
}

static void in_window(struct tcb *t, const struct pkt_tcp *seg, uint32_t len,
		      int64_t now_ms, struct tcb_in *in)
{
	if (is_reset(t, seg)) {
		in->todo |= TCB_DO_RESET;
		return;
	}
	if (is_crossing(t, seg)) {
		t->flags |= TCB_ACK_NOW;
		established(t, seg, 0, now_ms, in);
		return;
	}
	if (!is_acceptable(t, seg, len)) {
		if (!(seg->flags & TCP_RST))
			t->flags |= TCB_ACK_NOW;
		return;
	}
	if (!check_control(t, seg))
		return;
	if (t->state == TCB_SYN_RCVD && !is_answered(t, seg, now_ms, in))
		return;
	if (take_ack(t, seg, len, now_ms, in))
		take_payload(t, seg, len, in);
}

struct tcb_in tcb_input(struct tcb *t, const struct pkt_tcp *seg, uint32_t len,
			int64_t now_ms)
{
	struct tcb_in in = { 0 };

	if (t->state == TCB_CONNECTING)
		in_connecting(t, seg, &in);
	else if (t->state == TCB_SYN_SENT)
		in_syn_sent(t, seg, now_ms, &in);
	else
		in_window(t, seg, len, now_ms, &in);
	return in;
}

bool tcb_refuse(const struct pkt_tcp *seg, uint32_t len,
		struct pkt_tcp *ret_rst)
{
	struct pkt_tcp rst = { .flags = TCP_RST, .wscale = TCP_NO_WSCALE };

	if (seg->flags & TCP_RST)
		return false;
	if (seg->flags & TCP_ACK) {
		rst.seq = seg->ack;
	} else {
		rst.flags |= TCP_ACK;
		rst.ack = seg->seq + len + !!(seg->flags & TCP_SYN) +
			  !!(seg->flags & TCP_FIN);
	}
	*ret_rst = rst;
	return true;
}

void tcb_took(struct tcb *t, uint32_t n, bool fin)
{
	t->rcv_nxt += n + fin;
	if (fin)
		t->flags |= TCB_FIN_RCVD;
	if (seq_before(t->rcv_edge, t->rcv_nxt))
		t->rcv_edge = t->rcv_nxt;
}

/* Windows have a unit. Where the old edge is none of this one, a little more is
 * offered rather than taking some back, if there is room: @most. If not, the
 * header says a little less, and the old edge holds, RFC 7323 2.4: to give more
 * for each small segment would never close the window. */
static uint32_t edge_from(const struct tcb *t, uint32_t want, uint32_t most)
{
	uint8_t scale = is_syn_state(t) ? 0 : t->rcv_scale;
	uint32_t unit = 1u << scale, left = t->rcv_edge - t->rcv_ack;
	uint32_t wnd = min((want - t->rcv_ack) >> scale, WINDOW_MAX), edge;

	if (wnd << scale >= left)
		return t->rcv_ack + (wnd << scale);
	edge = t->rcv_ack +
	       (min((left + unit - 1) >> scale, WINDOW_MAX) << scale);
	return seq_before(edge, t->rcv_edge) || seq_before(most, edge) ?
		       t->rcv_edge :
		       edge;
}

bool tcb_offer(struct tcb *t, uint32_t ack, uint32_t room, uint32_t step)
{
	uint32_t old = t->rcv_edge, most = t->rcv_nxt + room;

	if (t->flags & TCB_FIN_RCVD)
		ack = t->rcv_nxt;
	if (seq_before(t->rcv_ack, ack)) {
		t->rcv_ack = ack;
		t->flags |= TCB_ACK_NOW;
	}
	t->rcv_edge = edge_from(t, seq_before(most, old + step) ? old : most,
				most);
	/* A guest with room left asks by itself, by what it sends next */
	if (seq_before(old, t->rcv_edge) && old - t->rcv_nxt < TCB_EDGE_NEAR)
		t->flags |= TCB_ACK_NOW;
	return t->flags & TCB_ACK_NOW;
}

static uint8_t state_flags(const struct tcb *t)
{
	if (t->state == TCB_SYN_SENT)
		return TCP_SYN;
	return t->state == TCB_SYN_RCVD ? TCP_SYN | TCP_ACK : TCP_ACK;
}

struct pkt_tcp tcb_header(struct tcb *t, uint32_t seq, uint8_t flags)
{
	bool is_syn = is_syn_state(t) && !(flags & TCP_RST);
	struct pkt_tcp h = {
		.seq = seq,
		.flags = flags | (is_syn ? state_flags(t) : TCP_ACK),
		.wscale = TCP_NO_WSCALE,
	};

	if (h.flags & TCP_ACK)
		h.ack = t->rcv_ack;
	if (is_syn) {
		h.window = (uint16_t)min(t->rcv_edge - t->rcv_ack, WINDOW_MAX);
		h.mss = t->link_mss;
		h.wscale = t->rcv_scale ? t->rcv_scale : TCP_NO_WSCALE;
	} else {
		h.window = (uint16_t)min(
			(t->rcv_edge - t->rcv_ack) >> t->rcv_scale, WINDOW_MAX);
	}
	t->flags &= (uint8_t)~TCB_ACK_NOW;
	return h;
}

uint32_t tcb_seq(const struct tcb *t)
{
	uint32_t edge = t->snd_wl2 + t->snd_wnd;

	if (t->state != TCB_OPEN)
		return t->snd_una;
	/* A window that was taken back has nothing behind it; less than its unit
	 * was rounded off, RFC 7323 2.4 */
	if (seq_before(edge + (1u << t->snd_scale), t->snd_max + 1) &&
	    !seq_before(edge, t->snd_una))
		return edge;
	return t->snd_max;
}

uint32_t tcb_room(const struct tcb *t)
{
	uint32_t edge = t->snd_wl2 + t->snd_wnd, room;

	if (t->state != TCB_OPEN || !seq_before(t->snd_nxt, edge))
		return 0;
	room = edge - t->snd_nxt;
	return room < t->mss && room < t->max_wnd / 2 && !t->is_probing ? 0 :
									  room;
}

void tcb_sent(struct tcb *t, uint32_t n, bool fin, int64_t now_ms)
{
	uint32_t end = t->snd_nxt + n + fin + is_syn_state(t);
	bool is_first = t->snd_una == t->snd_max;

	t->flags &= (uint8_t)~TCB_STALLED;
	t->is_probing = false;
	if (fin)
		t->flags |= TCB_FIN_SENT;
	if (!t->is_timed && !t->is_lossy && t->snd_nxt == t->snd_max) {
		t->is_timed = true;
		t->timed = end;
		t->timed_ms = now_ms;
	}
	t->snd_nxt = end;
	if (seq_before(t->snd_max, end))
		t->snd_max = end;
	if (is_first || t->due_ms == TCB_NEVER) /* not that of a stall */
		t->due_ms = now_ms + t->rto_ms;
}

void tcb_stall(struct tcb *t, int64_t now_ms)
{
	t->flags |= TCB_STALLED;
	if (t->due_ms == TCB_NEVER)
		t->due_ms = now_ms + t->rto_ms;
}

bool tcb_timeout(struct tcb *t, int64_t now_ms)
{
	bool is_syn = is_syn_state(t);

	if (t->snd_una == t->snd_max && !(t->flags & TCB_STALLED)) {
		t->due_ms = TCB_NEVER;
		return true;
	}
	if (++t->tries > (is_syn ? TCB_SYN_TRIES : TCB_TRIES))
		return false;
	t->is_timed = false;
	t->is_lossy = t->snd_una != t->snd_max && !is_syn;
	t->is_fast = false; /* RFC 6582 4: all of it is sent again anyway */
	t->is_probing = !is_syn;
	t->recover = t->snd_max;
	t->snd_nxt = t->snd_una;
	t->dup_acks = 0;
	t->rto_ms = min(2 * t->rto_ms, TCB_RTO_MAX_MS);
	t->due_ms = now_ms + t->rto_ms;
	return true;
}

bool tcb_is_over(const struct tcb *t)
{
	return t->flags & TCB_FIN_ACKED && t->flags & TCB_FIN_RCVD &&
	       t->rcv_ack == t->rcv_nxt;
}
