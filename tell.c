/* tell.c - ICMP errors to the guest, as often as they may be sent
 *
 * A program in the guest learns of a failure on the host as it would of one on
 * a router: by an error about what it sent. A flood of them would only be
 * another load, so that all protocols share one rate. */

#include "tell.h"

#include <errno.h>

void tell_guest(struct tell *t, const struct icmperr *e,
		const struct addr *from, const struct icmperr_quote *q)
{
	uint8_t frame[ICMPERR_FRAME];
	uint32_t len = icmperr_frame(e, &t->tap->ends, from, q, frame);

	if (!len)
		return;
	if (!icmperr_allowed(&t->rate, t->loop->now_ms)) {
		stats_add(t->stats, ICMP_LIMITED, 1);
		return;
	}
	tap_send_frame(t->tap, frame, len);
	stats_add(t->stats, ICMP_TO_GUEST, 1);
}

/* The form in which a failed send is told; false: there is none. */
static bool form_of(int error, enum family family, uint32_t mtu,
		    struct icmperr *ret_e)
{
	enum icmperr_what what;

	switch (error) {
	case ENETUNREACH:
	case ENETDOWN:
		what = ICMPERR_NET;
		break;
	case EHOSTUNREACH:
	case EHOSTDOWN:
		what = ICMPERR_HOST;
		break;
	case EACCES:
	case EPERM:
		what = ICMPERR_PROHIBITED;
		break;
	case ECONNREFUSED:
		what = ICMPERR_PORT;
		break;
	case EMSGSIZE:
		if (!mtu)
			return false;
		what = ICMPERR_TOO_BIG;
		break;
	default:
		return false;
	}
	*ret_e = icmperr_make(what, family, mtu);
	return true;
}

/* What the host itself says comes from the guest's gateway; where there is
 * none of that family, from whom the datagram was for. */
void tell_local(struct tell *t, int error, uint32_t mtu,
		const struct icmperr_quote *q)
{
	enum family family = addr_family(&q->src.addr);
	const struct addr *from = &t->fwd->ours[family];
	struct icmperr e;

	if (!addr_is_set(from))
		from = &q->dst.addr;
	if (form_of(error, family, mtu, &e))
		tell_guest(t, &e, from, q);
}
