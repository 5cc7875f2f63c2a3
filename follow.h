/* follow.h - take over what changes in the host's network while we run
 * Knows: rtnetlink events, what of our policy depends on the host.
 * Does not know: what is done with a datagram.
 *
 * What the guest was promised at start stays: its addresses, its gateway, the
 * aliases it sees. What stands behind them on the host follows. */

#ifndef FOLLOW_H
#define FOLLOW_H

#include "hostnet.h"
#include "listen.h"
#include "udp_group.h"
#include "udp_move.h"

/** struct follow - the host's network as it is now
 * @conf, @promised, @loop, @fwd, @move: borrowed, set by the caller
 * @tcp_ports, @udp_ports: listeners, NULL: none
 * @rtnl:   to ask                      @events: tells of changes
 * @due_ms: when changes are looked at, NEVER: there are none
 * @wait_ms: how long they may settle
 * @host, @facts: what was found last */
struct follow {
	const struct conf *conf;
	const struct guest_net *promised;
	struct loop *loop;
	struct fwd *fwd;
	struct udp_move *move;
	struct listen *tcp_ports, *udp_ports;
	int rtnl;
	int64_t due_ms;
	int64_t wait_ms;
	struct watch events;
	struct timer timer;
	struct guest_net host;
	struct nl_facts facts;
};

/**
 * follow_init() - open the sockets, and look for the first time
 * Called in the namespace that is to be followed, before the sandbox.
 * Returns: 0 or -errno: the network is not followed
 */
int follow_init(struct follow *f);

/**
 * follow_policy() - what of @fwd depends on the host, from its network now
 * @promised: the guest's network as it was planned at start
 * @host:     as it would be planned now
 * Pure.
 */
void follow_policy(const struct guest_net *promised,
		   const struct guest_net *host, const struct nl_facts *facts,
		   struct fwd *fwd);

#endif
