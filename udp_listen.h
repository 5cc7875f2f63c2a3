/* udp_listen.h - sockets of published ports, fixed or following
 * Knows: rules (ports.h), which families and namespaces they need.
 * Does not know: what happens to a datagram (udp.h). */

#ifndef UDP_LISTEN_H
#define UDP_LISTEN_H

#include "udp.h"

/** enum listen_side - where listeners are: on the host (-u), or in the
 * namespace (-U) */
enum listen_side { LISTEN_HOST, LISTEN_NS, LISTEN_SIDES };

/** struct udp_listen - all listeners
 * @u:     whose maps they are; set by the caller, like the next three
 * @rules: per side      @diag: sock_diag socket of each side's namespace, for
 *         "auto"; -1 if not needed
 * @outside: binds host ports below 1024 at run time, which we may not; NULL:
 *         nobody may
 * @is_dual: one socket for both families: two would exceed the limit of
 *         descriptors
 * @is_freebind: addresses may be absent
 * @open:  ports with a listener     @followed: those that "auto" opened */
struct udp_listen {
	struct udp *u;
	const struct ports *rules[LISTEN_SIDES];
	int diag[LISTEN_SIDES];
	struct agent *outside;
	bool is_dual;
	bool is_freebind;
	struct timer scan;
	int64_t next_ms;
	struct port_set open[LISTEN_SIDES];
	struct port_set followed[LISTEN_SIDES];
};

/** struct listen_fail - why a listener could not be opened; @device: "" any,
 * lives as long as the rules */
struct listen_fail {
	uint16_t port;
	int error;
	struct addr addr;
	const char *device;
};

/** udp_listen_dual() - must listeners share a socket for both families?
 * @limit: RLIMIT_NOFILE */
bool udp_listen_dual(const struct ports *p, uint64_t limit);

/**
 * udp_listen_open() - open the sockets of one side's rules
 * A port in use fails in any enabled family unless its rule is weak; a family
 * the host lacks is skipped. A port given twice has the last target. -ELOOP: it
 * leads to a port that leads back to it.
 * Returns: 0 or -errno with @ret_fail filled
 */
int udp_listen_open(struct udp_listen *l, enum listen_side side,
		    struct listen_fail *ret_fail);

/** udp_listen_follow() - scan for "auto" now and every SCAN_MS, if asked for */
void udp_listen_follow(struct udp_listen *l);

#endif
