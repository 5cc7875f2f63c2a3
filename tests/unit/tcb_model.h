/* tcb_model.h - two control blocks at the ends of a bad link
 * Knows: what a caller of tcb.h has to do, in its simplest form; a link that
 * loses, repeats and delays.  Does not know: sockets, frames.
 *
 * Bytes are not carried, but their place in the stream: each that is taken must
 * be the next one. */

#ifndef TCB_MODEL_H
#define TCB_MODEL_H

#include "tcb.h"

#include "check.h"
#include "model.h"

#define LINK_MAX 512
#define READ_CAP 60000 /* bytes that a side stores for its reader */
#define MODEL_MS 600000 /* no run is longer */

/** struct model_conf - of one run
 * @loss, @twice: segments of 1000     @delay_ms: at most; so they overtake
 * @total: bytes of each side          @mss: of the link
 * @iss:   of each side                @read_ms: between reads of READ_CAP
 * @both:  both sides begin            @later: acknowledge only now and then */
struct model_conf {
	uint32_t loss, twice, delay_ms;
	uint32_t total[2];
	uint32_t iss[2];
	uint16_t mss;
	uint32_t read_ms;
	bool both, later;
};

/** struct model_seg - on its way to side @to, from @at_ms on */
struct model_seg {
	struct pkt_tcp h;
	uint32_t len, place;
	int64_t at_ms;
	unsigned to;
	bool is_used;
};

/** struct side - @acked: bytes of its own    @got, @read: of the other's */
struct side {
	struct tcb t;
	uint32_t total, acked, got, read;
	bool is_open, is_over, is_failed;
};

static struct {
	struct model_conf conf;
	struct side side[2];
	struct model_seg link[LINK_MAX];
	int64_t now_ms;
	uint64_t n_segs;
} model;

static inline void model_put(unsigned from, const struct pkt_tcp *h,
			     uint32_t len, uint32_t place)
{
	unsigned i = 0, copies = 1 + (rnd(1000) < model.conf.twice);

	model.n_segs++;
	if (rnd(1000) < model.conf.loss)
		return;
	for (; copies && i < LINK_MAX; i++) {
		if (model.link[i].is_used)
			continue;
		model.link[i] = (struct model_seg){
			*h,    len,
			place, model.now_ms + 1 + rnd(model.conf.delay_ms + 1),
			!from, true
		};
		copies--;
	}
}

/* A segment without payload; its SYN counts as sent */
static inline void model_tell(unsigned i, uint32_t seq, uint8_t flags)
{
	struct tcb *t = &model.side[i].t;
	struct pkt_tcp h = tcb_header(t, seq, flags);

	model_put(i, &h, 0, 0);
	if (h.flags & TCP_SYN && t->snd_nxt == t->snd_una)
		tcb_sent(t, 0, false, model.now_ms);
}

static inline uint32_t model_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Send bytes at @snd_nxt, or FIN behind the last; 0 if there is neither */
static inline uint32_t model_send(unsigned i, uint32_t room)
{
	struct side *s = &model.side[i];
	uint32_t place = s->acked + (s->t.snd_nxt - s->t.snd_una), n;
	struct pkt_tcp h;

	if (place > s->total) /* behind the FIN */
		return 0;
	n = model_min(model_min(room, 4 * s->t.mss), s->total - place);
	h = tcb_header(&s->t, s->t.snd_nxt, n ? 0 : TCP_FIN);
	model_put(i, &h, n, place);
	tcb_sent(&s->t, n, !n, model.now_ms);
	return n;
}

static inline void model_pull(unsigned i)
{
	struct side *s = &model.side[i];
	uint32_t room;

	if (s->t.state != TCB_OPEN)
		return;
	s->t.flags &= (uint8_t)~TCB_STALLED;
	while ((room = tcb_room(&s->t)) > 0)
		if (!model_send(i, room))
			return;
	if (s->t.snd_nxt == s->t.snd_una && !(s->t.flags & TCB_FIN_ACKED))
		tcb_stall(&s->t, model.now_ms);
}

static inline void model_resend(unsigned i)
{
	struct tcb *t = &model.side[i].t;
	uint32_t next = t->snd_nxt;

	t->snd_nxt = t->snd_una;
	(void)model_send(i, next - t->snd_una);
	t->snd_nxt = next;
}

static inline void model_settle(unsigned i)
{
	struct side *s = &model.side[i];
	struct tcb *t = &s->t;
	uint32_t ack = model.conf.later && rnd(4) ? t->rcv_ack : t->rcv_nxt;
	uint32_t edge = t->rcv_edge, step = model_min(READ_CAP / 2, t->mss);

	if (t->state < TCB_SYN_RCVD)
		return;
	if (tcb_offer(t, ack, READ_CAP - (s->got - s->read), step))
		model_tell(i, tcb_seq(t), 0);
	if ((int32_t)(t->rcv_edge - edge) < 0)
		s->is_failed = true;
	s->is_over = tcb_is_over(t);
}

static inline void model_input(unsigned i, const struct model_seg *g)
{
	struct side *s = &model.side[i];
	struct tcb_in in;

	if (s->t.state == TCB_NONE && g->h.flags == TCP_SYN) {
		tcb_accept(&s->t, &g->h, model.conf.iss[i], model.conf.mss);
		tcb_answer(&s->t);
		model_tell(i, s->t.snd_una, 0);
		return;
	}
	if (s->t.state == TCB_NONE || s->is_over) /* the caller forgot it */
		return;
	in = tcb_input(&s->t, &g->h, g->len, model.now_ms);
	if (in.todo & TCB_DO_RESET || in.skip + in.take > g->len ||
	    (in.take && g->place + in.skip != s->got))
		s->is_failed = true;
	s->is_open |= in.todo & TCB_DO_OPENED;
	s->acked += in.acked;
	s->got += in.take;
	if (in.todo & TCB_DO_RESEND)
		model_resend(i);
	tcb_took(&s->t, in.take, in.todo & TCB_DO_FIN);
	if (in.todo & TCB_DO_PULL)
		model_pull(i);
	model_settle(i);
}

static inline void model_timeout(unsigned i)
{
	struct side *s = &model.side[i];

	if (!tcb_timeout(&s->t, model.now_ms)) {
		s->is_failed = true;
		return;
	}
	if (s->t.due_ms == TCB_NEVER)
		return;
	if (s->t.state != TCB_OPEN)
		model_tell(i, s->t.snd_una, 0);
	else if (tcb_room(&s->t))
		model_pull(i);
	else
		model_tell(i, s->t.snd_una - 1, 0);
}

static inline void model_step(void)
{
	for (unsigned i = 0; i < LINK_MAX; i++) {
		struct model_seg g = model.link[i];

		if (!g.is_used || g.at_ms > model.now_ms)
			continue;
		model.link[i].is_used = false;
		model_input(g.to, &g);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct side *s = &model.side[i];

		if (s->is_over || s->t.state == TCB_NONE)
			continue;
		if (s->t.due_ms <= model.now_ms)
			model_timeout(i);
		if (model.now_ms % model.conf.read_ms == 0) {
			s->read = s->got;
			model_settle(i);
		}
	}
	model.now_ms++;
}

static inline bool model_ends(void)
{
	const struct side *s = model.side;

	if (s[0].is_failed || s[1].is_failed || model.now_ms >= MODEL_MS)
		return true;
	/* Who has forgotten it answers by RST: the other is done, too */
	return s[0].is_over || s[1].is_over;
}

static inline void model_run(const struct model_conf *conf, const char *what)
{
	struct side *s = model.side;

	memset(&model, 0, sizeof(model));
	model.conf = *conf;
	for (unsigned i = 0; i < 2; i++)
		s[i].total = conf->total[i];
	for (unsigned i = 0; i <= conf->both; i++) {
		tcb_connect(&s[i].t, conf->iss[i], conf->mss);
		model_tell(i, s[i].t.snd_una, 0);
	}
	while (!model_ends())
		model_step();
	if (!ok(!s[0].is_failed && !s[1].is_failed && s[0].got == s[1].total &&
			s[1].got == s[0].total,
		"%s: complete after %lld ms and %llu segments", what,
		(long long)model.now_ms, (unsigned long long)model.n_segs))
		printf("# got %u of %u, %u of %u\n", s[0].got, s[1].total,
		       s[1].got, s[0].total);
}

#endif
