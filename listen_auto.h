/* listen_auto.h - "auto": which ports are bound on the other side
 * Knows: sock_diag of both namespaces, which sockets there are our own.
 * Does not know: how a port is opened (listen.h). */

#ifndef LISTEN_AUTO_H
#define LISTEN_AUTO_H

#include "listen.h"

/** struct listen_auto - one clock for both protocols
 * @tcp, @udp: listeners, NULL: the protocol is not carried
 * @diag: sock_diag socket of each side's namespace, -1: nobody follows it */
struct listen_auto {
	struct loop *loop;
	struct listen *tcp;
	struct listen *udp;
	int diag[LISTEN_SIDES];
	struct timer scan;
	int64_t next_ms;
};

/** listen_auto_wanted() - does the rule set of a side, of either protocol,
 * follow what is bound on the other? */
bool listen_auto_wanted(const struct listen_auto *a, enum listen_side side);

/** listen_auto_start() - scan now and every SCAN_MS, if anything is followed;
 * members above @scan are set, fixed ports are open */
void listen_auto_start(struct listen_auto *a);

#endif
