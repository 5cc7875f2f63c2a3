/* guest.h - what the guest sends: told apart, answered, or passed on
 * Knows: which kinds of frames there are and who handles them.
 * Does not know: how any of them is carried. */

#ifndef GUEST_H
#define GUEST_H

#include "frag.h"
#include "icmp.h"
#include "local.h"
#include "tcp.h"
#include "udp.h"

/** struct guest - the guest's side
 * @tap, @udp, @fwd, @loop, @stats: borrowed parts, set by the caller; @fwd
 *        learns the addresses the guest uses
 * @tcp:  likewise, NULL: not carried
 * @local: what is announced and what is off are set by the caller
 * @has:  families in use     @gone: called once the link is gone for good */
struct guest {
	struct tap *tap;
	struct udp *udp;
	struct tcp *tcp;
	struct fwd *fwd;
	struct loop *loop;
	struct stats *stats;
	bool has[FAMILY_COUNT];
	bool no_udp;
	bool no_icmp;
	void (*gone)(struct guest *g, int error);
	struct watch watch;
	struct timer timer;
	struct frag frag;
	struct local local;
	struct icmp icmp;
};

/** guest_init() - wait for frames; returns 0 or -errno */
int guest_init(struct guest *g);

#endif
