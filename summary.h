/* summary.h - what was chosen, for people
 * Knows: which facts a person looks for when the network is not what was meant.
 * Does not know: how they were chosen. */

#ifndef SUMMARY_H
#define SUMMARY_H

#include "announce.h"
#include "fwd.h"
#include "hostnet.h"

/** summary_log() - a few lines at level info; others read some of them: the
 * block "DHCP:" with its lines "assign:", "mask:" and "router:" */
void summary_log(const struct conf *c, const struct guest_net *net,
		 const struct fwd *f, const struct announce *told);

#endif
