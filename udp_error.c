/* udp_error.c - what is said about datagrams that did not arrive
 *
 * An error pending on a shared socket belongs to somebody's earlier datagram.
 * The queue says whose: the address it was sent to and, over a listener, the
 * address it was sent from name the flow, and the flow knows how the guest
 * sees both. So the guest hears of it as it would on a real link, and nobody
 * else does. What the host itself refuses to send is told the same way.
 *
 * A mapping outlives errors (RFC 4787 REQ-12). What ends are conversations
 * nobody answers: a client gone, a published port closed. They are put on a
 * list that expires within a second, not deleted, since a run of theirs may be
 * pending.
 *
 * The guest's own errors cannot be passed on: no unprivileged socket sends
 * ICMP. Closing a far socket is the one thing that a socket can say, and the
 * kernel then refuses what comes for it. */

#include "udp_error.h"

#include "be.h"
#include "sock_error.h"
#include "udp_splice.h"

#include <errno.h>

#define DRAIN_MAX 512 /* more than a default buffer can hold: 255 */
#define ECHO_HEAD 8 /* bytes of an echo request's header, RFC 792 */
#define ECHO_SEQ 6 /* where in it the sequence number is */
#define QUOTE_WHOLE 1184 /* from here on a quote may have been cut */

/* A datagram of a flow. What ping sockets send begins with a header that is
 * the quote's own: the sequence number is all of it that we do not know. */
static struct icmperr_quote quote_of(const struct flow *f,
				     const struct mark *mark,
				     const uint8_t *buf, uint32_t len)
{
	struct icmperr_quote q = { .src = f->inner,
				   .dst = f->visible,
				   .proto = f->proto,
				   .mark = *mark,
				   .data = buf,
				   .len = len,
				   .dlen = len };

	if (f->proto == PROTO_UDP || len < ECHO_HEAD)
		return q;
	q.seq = be16_get(buf + ECHO_SEQ);
	q.data += ECHO_HEAD;
	q.len -= ECHO_HEAD;
	q.dlen = q.len;
	return q;
}

/* Who reported @e, as the guest sees it; unset: it cannot be told. */
static struct addr offender_of(const struct udp *u, const struct flow *f,
			       const struct sock_error *e)
{
	struct end offender = end_make(&e->offender, 0, 0), seen, guest;

	if (!addr_is_set(&e->offender) || addr_eq(&e->offender, &f->host.addr))
		return f->visible.addr;
	if (!fwd_from_host(u->fwd, &offender, &seen, &guest))
		return (struct addr){ 0 };
	return seen.addr;
}

static void tell_remote(struct udp *u, const struct map *m,
			const struct flow *f, const struct sock_error *e)
{
	struct icmperr_quote q = quote_of(f, &m->mark, e->buf, e->len);
	struct icmperr icmp = { e->type, e->code, e->info };
	struct addr from = offender_of(u, f, e);

	if (addr_is_set(&from))
		tell_guest(&u->tell, &icmp, &from, &q);
}

/* The flow that an error is about. A listener's flows are told apart by our
 * own address, too. */
static struct flow *flow_of(struct udp *u, const struct map *m,
			    const struct sock_error *e)
{
	static const struct addr unset;
	uint32_t i = map_number(&u->maps, m);
	struct flow *f;

	if (m->kind == MAP_OWN)
		return flow_of_map(&u->flows, m->flows);
	f = flow_find_host(&u->flows, i, &e->to, &e->from);
	return f ? f : flow_find_host(&u->flows, i, &e->to, &unset);
}

static void attribute(struct udp *u, struct map *m, const struct sock_error *e)
{
	struct flow *f = flow_of(u, m, e);

	if (!f) {
		stats_add(u->stats, ICMP_UNMATCHED, 1);
		return;
	}
	if (!(f->flags & FLOW_SPLICED)) {
		tell_remote(u, m, f, e);
		return;
	}
	stats_add(u->stats, SPLICE_REFUSED, 1);
	flow_end(&u->flows, f, true, udp_now_s(u));
}

uint32_t udp_error_drain(struct udp *u, struct map *m)
{
	struct sock_error e;
	uint32_t mtu = 0;
	unsigned n;

	for (n = 0; n < DRAIN_MAX && sock_error_read(m->watch.fd, &e); n++) {
		stats_add(u->stats, SOCK_ERRORS, 1);
		if (e.origin != SOCK_ERROR_LOCAL)
			attribute(u, m, &e);
		else if (e.error == EMSGSIZE)
			mtu = e.info;
	}
	return mtu;
}

/* What the server refused, once more. It is counted already. */
static void resend(const struct map *m, const struct sock_error *e)
{
	struct sock_dest d = { .fd = m->watch.fd, .family = m->family };
	struct piece p = { .buf = e->buf, .len = e->len };
	struct run r;

	run_start(&r, 0, &p);
	(void)sock_send(&d, &r);
}

bool udp_error_splice(struct udp *u, struct map *far)
{
	struct flow *f = flow_of_map(&u->flows, far->flows);
	struct map *new = NULL;
	bool is_refused = false;
	struct sock_error e;
	unsigned n;

	for (n = 0; n < DRAIN_MAX && sock_error_read(far->watch.fd, &e); n++) {
		stats_add(u->stats, SOCK_ERRORS, 1);
		if (e.error != ECONNREFUSED)
			continue;
		if (!is_refused)
			new = udp_splice_turn(u, f);
		is_refused = true;
		if (new &&e.len < QUOTE_WHOLE)
			resend(new, &e);
	}
	if (new) {
		udp_map_drop(u, far);
		return false;
	}
	if (is_refused) {
		stats_add(u->stats, SPLICE_REFUSED, 1);
		flow_end(&u->flows, f, false, udp_now_s(u));
	}
	return true;
}

void udp_error_send(struct udp *u, const struct flow *f, const struct run *r,
		    int error, uint32_t mtu)
{
	struct icmperr_quote q;
	uint32_t len, pos = 0;
	const uint8_t *buf;

	if (f->flags & FLOW_SPLICED || !run_next(r, &pos, &buf, &len))
		return;
	q = quote_of(f, &r->mark, buf, len);
	tell_local(&u->tell, error, mtu, &q);
}

void udp_error_refused(struct udp *u, const struct pkt *p, int error)
{
	struct icmperr_quote q = { .src = p->src,
				   .dst = p->dst,
				   .proto = p->proto,
				   .mark = p->body.mark,
				   .data = p->body.buf,
				   .len = p->body.len };

	if (p->proto != PROTO_UDP) {
		q.src.port = be16_get(p->body.buf + 4);
		q.seq = be16_get(p->body.buf + 6);
		q.data += ECHO_HEAD;
		q.len -= ECHO_HEAD;
	}
	if (p->body.seg && p->body.seg < q.len)
		q.len = p->body.seg;
	q.dlen = q.len;
	tell_local(&u->tell, error, 0, &q);
}

bool udp_error_from_guest(struct udp *u, const struct pkt *p)
{
	struct icmperr_quote q;
	struct icmperr e;
	struct flow *f;

	if (!icmperr_parse(p, &e, &q))
		return false;
	f = flow_find_guest(&u->flows, PROTO_UDP, &q.dst, &q.src);
	if (!f) {
		stats_add(u->stats, DROP_ICMP, 1);
		return true;
	}
	stats_add(u->stats, ICMP_FROM_GUEST, 1);
	if (u->maps.map[f->map].kind == MAP_LISTEN_HOST &&
	    icmperr_is_port(&e, addr_family(&q.dst.addr)))
		flow_end(&u->flows, f, f->flags & FLOW_BY_GUEST, udp_now_s(u));
	return true;
}
