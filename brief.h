/* brief.h - what the guest is to be told about its network
 * Knows: options, plan and resolv.conf, and which of them counts.
 * Does not know: who tells it, and how (dhcp.h, dhcp6.h, ndp.h). Pure but for
 * the clock. */

#ifndef BRIEF_H
#define BRIEF_H

#include "announce.h"
#include "fwd.h"
#include "hostnet.h"

/** brief_guest() - everything, from the start
 * @f: translation policy: what the guest may call the host's resolver */
void brief_guest(const struct conf *c, const struct guest_net *net,
		 const struct fwd *f, const struct resolv *r,
		 struct announce *ret);

/** brief_dns() - resolvers and search list anew, after resolv.conf changed;
 * the rest of @a stays */
void brief_dns(const struct conf *c, const struct fwd *f,
	       const struct resolv *r, struct announce *a);

#endif
