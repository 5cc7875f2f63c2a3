/* hostfwd.h - translation policy from the guest's network and the options
 * Knows: which address stands for what if nobody says otherwise.
 * Does not know: datagrams, changes of the host's network. Pure. */

#ifndef HOSTFWD_H
#define HOSTFWD_H

#include "hostnet.h"

/**
 * hostfwd_policy() - who is whom on the other side
 * @resolv: the host's; the first name server of a family is its resolver
 */
void hostfwd_policy(const struct conf *c, const struct guest_net *net,
		    const struct resolv *resolv, struct fwd *ret_fwd);

#endif
