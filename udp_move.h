/* udp_move.h - conversations follow the host's network
 * Knows: which flows a change of addresses and routes has cut off.
 * Does not know: how such changes are heard of. */

#ifndef UDP_MOVE_H
#define UDP_MOVE_H

#include "nlmsg.h"
#include "udp_map.h"

/** struct udp_move - a walk over all flows
 * @u:     set by the caller        @timer: while the walk lasts
 * @facts: the host's network, borrowed until the walk is over
 * @at:    next flow, FLOW_NONE: no walk is on */
struct udp_move {
	struct udp *u;
	const struct nl_facts *facts;
	uint32_t at;
	struct timer timer;
};

void udp_move_init(struct udp_move *m);

/**
 * udp_move_start() - look at all flows, and end those that lead nowhere
 * @facts: as it is now; a walk that is on begins anew
 * What the guest sends next begins them anew, with a map that has the right
 * address. Done in portions, each in a turn of the loop.
 */
void udp_move_start(struct udp_move *m, const struct nl_facts *facts);

#endif
