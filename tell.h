/* tell.h - ICMP errors to the guest, as often as they may be sent
 * Knows: which error stands for which errno, who is to have said it.
 * Does not know: what it is about beyond the quote, who noticed.
 * Sources: RFC 4443 2.4 (f), RFC 1812 4.3.2.8. */

#ifndef TELL_H
#define TELL_H

#include "fwd.h"
#include "icmperr.h"
#include "loop.h"
#include "stats.h"
#include "tap.h"

/** struct tell - what it takes, borrowed; @rate: shared by all protocols */
struct tell {
	struct tap *tap;
	struct stats *stats;
	const struct loop *loop;
	const struct fwd *fwd;
	struct icmperr_rate rate;
};

/** tell_guest() - an error that @from reported; counted, or that it was one too
 * many */
void tell_guest(struct tell *t, const struct icmperr *e,
		const struct addr *from, const struct icmperr_quote *q);

/** tell_local() - what the host itself says about a packet of the guest
 * @error: errno; one without an ICMP form is not told    @mtu: for EMSGSIZE */
void tell_local(struct tell *t, int error, uint32_t mtu,
		const struct icmperr_quote *q);

#endif
