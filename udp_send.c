/* udp_send.c - one run out of one socket, header bits and refusals included
 *
 * What a datagram's IP header said is set on the socket when it changes, which
 * it hardly ever does; where two of one round differ it goes along with the
 * call instead, so that two flows on one map do not cost a call for each.
 *
 * "Don't fragment" has no such message: the socket's mode is changed. A
 * datagram that has it and is longer than the host's link is sent in fragments
 * all the same, and the guest is told the MTU: behind a link of 65,520 bytes
 * ordinary programs set it on everything, and would lose the first.
 *
 * A pending error on a shared socket belongs to somebody's earlier datagram:
 * the error queue is drained and the send tried once more, and only the second
 * answer counts. Far sockets of spliced flows are drained elsewhere, since what
 * they say may end their flow.
 *
 * Segmented sends that are refused are sent again one by one, and the flow
 * remembers the size for a while. */

#include "udp_send.h"

#include "udp_error.h"

#include <errno.h>

/** struct way - out of which socket, for whom
 * @mark: of this call alone, if @dest points to it
 * @mtu:  that the last refused send was told, 0 none */
struct way {
	struct udp *u;
	struct flow *flow;
	struct map *map;
	struct sock_dest dest;
	struct mark mark;
	uint32_t mtu;
};

static enum counter drop_of(int rc)
{
	switch (rc) {
	case -EAGAIN:
	case -ENOBUFS:
	case -ENOMEM:
		return DROP_HOST_AGAIN;
	case -EMSGSIZE:
		return DROP_HOST_SIZE;
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -ENETDOWN:
		return DROP_NO_ROUTE;
	default:
		return DROP_HOST_ERROR;
	}
}

/* Must TOS and hop limit go along with the call? Groups have a hop limit of
 * their own on a socket; one for both families has two of everything. */
static bool is_by_message(const struct way *w)
{
	const struct end *to = w->dest.to;

	return w->flow->flags & FLOW_GROUP ||
	       (w->map->family == AF_INET6 && to && addr_is_v4(&to->addr));
}

static enum family family_of(const struct map *m)
{
	return m->family == AF_INET ? FAMILY_V4 : FAMILY_V6;
}

/* Make the next send say what @want says; hops 0 says nothing. */
static void set_mark(struct way *w, const struct mark *want)
{
	struct map *m = w->map;
	struct mark now = *want;

	w->dest.mark = NULL;
	if (!now.hops)
		now.hops = m->mark.hops;
	if (mark_eq(&now, &m->mark) && !is_by_message(w))
		return;
	if (is_by_message(w) || m->marked == w->u->round) {
		w->mark = *want;
		w->dest.mark = &w->mark;
		now.tos = m->mark.tos;
		now.hops = m->mark.hops;
	} else {
		m->marked = w->u->round;
	}
	sock_mark(w->dest.fd, family_of(m), &m->mark, &now);
	m->mark = now;
}

static void drain(struct way *w)
{
	if (w->map->kind != MAP_SPLICE)
		w->mtu = udp_error_drain(w->u, w->map);
}

/* Send, past an error that an earlier datagram left on the socket. */
static int try_send(struct way *w, const struct mark *mark, const struct run *r)
{
	int rc;

	set_mark(w, mark);
	w->mtu = 0;
	rc = sock_send(&w->dest, r);
	if (rc && rc != -EAGAIN) {
		drain(w);
		if (rc != -EMSGSIZE || !w->mtu)
			rc = sock_send(&w->dest, r);
		if (rc == -EMSGSIZE && !w->mtu)
			drain(w);
	}
	if (rc)
		return rc;
	stats_add(w->u->stats, HOST_TX_CALLS, 1);
	stats_add(w->u->stats, HOST_TX_DGRAMS, r->n_segs);
	return 0;
}

static void failed(const struct way *w, const struct run *r, int rc)
{
	stats_add(w->u->stats, drop_of(rc), r->n_segs);
	udp_error_send(w->u, w->flow, r, -rc, w->mtu);
}

static void send_whole(struct way *w, const struct run *r)
{
	int rc = try_send(w, &r->mark, r);
	struct mark mark = r->mark;

	if (rc == -EMSGSIZE && w->mtu && mark.df) {
		udp_error_send(w->u, w->flow, r, EMSGSIZE, w->mtu);
		mark.df = false;
		rc = try_send(w, &mark, r);
	}
	if (rc)
		failed(w, r, rc);
}

static void send_singly(struct way *w, const struct run *r)
{
	struct piece p = { .mark = r->mark };
	struct run one;
	uint32_t pos = 0;

	while (run_next(r, &pos, &p.buf, &p.len)) {
		run_start(&one, r->owner, &p);
		send_whole(w, &one);
	}
}

/* Were segments of this size refused on this flow, not long ago? */
static bool is_gso_refused(const struct way *w, uint32_t seg)
{
	const struct flow *f = w->flow;

	return f->gso_refused && seg >= f->gso_refused &&
	       udp_now_s(w->u) < f->gso_retry_s;
}

/* A refused server's datagrams are sent again by another family, from what the
 * refusal quotes: of a segmented send it would not tell them apart. */
static bool is_on_trial(const struct way *w)
{
	return w->map->kind == MAP_SPLICE && w->map->family == AF_INET6 &&
	       !(w->flow->flags & FLOW_REPLIED) &&
	       (uint32_t)w->u->loop->now_ms - w->map->born_ms < TRIAL_MS;
}

static bool is_gso_error(int rc)
{
	return rc == -EMSGSIZE || rc == -EINVAL || rc == -EIO;
}

/* One call per run; singly where the path does not take segments of this size:
 * the kernel then fragments or says what is wrong with each. */
void udp_send(struct udp *u, struct flow *f, struct map *m,
	      const struct sock_dest *d, const struct run *r)
{
	struct way w = { .u = u, .flow = f, .map = m, .dest = *d };
	int rc;

	if (r->n_segs == 1) {
		send_whole(&w, r);
		return;
	}
	if (!is_gso_refused(&w, r->seg) && !is_on_trial(&w)) {
		rc = try_send(&w, &r->mark, r);
		if (!rc)
			return;
		if (!is_gso_error(rc)) {
			failed(&w, r, rc);
			return;
		}
		f->gso_refused = (uint16_t)r->seg;
		f->gso_retry_s = udp_now_s(u) + GSO_RETRY_MS / 1000;
		stats_add(u->stats, GSO_REFUSED, 1);
	}
	send_singly(&w, r);
}
