/* agent.h - a tiny process that makes sockets in another namespace
 * Knows: fork(2), SCM_RIGHTS, the one request struct.
 * Does not know: which namespace it is in (the caller's setup function puts it
 * there), what sockets are for.
 *
 * The agent is forked, never exec'd, not dumpable, and ends at the EOF of its
 * socket, so it cannot outlive its forwarder. After set-up it keeps
 * CAP_NET_BIND_SERVICE alone, under a seccomp filter of its own. A request is
 * one struct, an answer one errno with descriptors. */

#ifndef AGENT_H
#define AGENT_H

#include "addr.h"
#include "limits.h"
#include "stats.h"

#include <sys/types.h>

/** enum agent_what - what the agent is asked to make */
enum agent_what {
	AGENT_SOCKETS, /* n bare sockets */
	AGENT_BOUND /* one socket bound to end, device */
};

/** struct agent_req - a request; all fields always filled */
struct agent_req {
	uint32_t what;
	int32_t family;
	int32_t type;
	uint32_t n;
	struct end end;
	char device[IFNAME_SIZE];
};

/** enum agent_type - index of a pool: UDP or TCP sockets */
enum agent_type { AGENT_DGRAM, AGENT_STREAM, AGENT_TYPES };

/** struct agent_pool - bare sockets of one type and family, at hand */
struct agent_pool {
	int fd[AGENT_POOL];
	unsigned n;
};

/** struct agent - the forwarder's end
 * @sock: SOCK_SEQPACKET to the agent, -1 once it is dead
 * @pool: per enum agent_type and enum family
 * @cookie: SO_NETNS_COOKIE of its namespace, 0 unknown
 * @stats: where failures are counted, borrowed
 * @place: where it lives, for messages; may be changed */
struct agent {
	int sock;
	pid_t pid;
	uint64_t cookie;
	struct agent_pool pool[AGENT_TYPES][FAMILY_COUNT];
	struct stats *stats;
	const char *place;
};

/**
 * agent_start() - fork an agent
 * @setup: runs in the agent with all rights of the caller: enters namespaces,
 *         configures, hands descriptors over with agent_give(), takes its
 *         final identity; exits 1 after one line of its own on failure
 * @arg:   for @setup
 * Returns: 0 or -errno. A failed @setup shows as -EPIPE in agent_take() or
 * agent_ready().
 */
int agent_start(struct agent *a, void (*setup)(void *arg, int sock), void *arg,
		struct stats *stats);

/** agent_give() - from @setup: send @len bytes (may be 0) and @n descriptors,
 * which the caller may close afterwards; returns 0 or -errno */
int agent_give(int sock, const void *data, size_t len, const int *fds,
	       unsigned n);

/** agent_take() - receive what agent_give() sent, exactly @len bytes and @n
 * descriptors, CLOEXEC; returns 0, -EPIPE if the agent died, or -errno */
int agent_take(struct agent *a, void *ret_data, size_t len, int *ret_fds,
	       unsigned n);

/** agent_ready() - wait until set-up is over and the agent is locked in;
 * returns 0, -EPIPE if it died on the way, or -errno */
int agent_ready(struct agent *a);

/**
 * agent_udp() - an unbound UDP socket of the agent's namespace, non-blocking
 * agent_stream() - the same of TCP
 * Taken from the pool; an empty pool is refilled, which waits for
 * AGENT_DEADLINE_MS at most.
 * Returns: descriptor, now the caller's; or -errno (counted in @a->stats)
 */
int agent_udp(struct agent *a, enum family family);
int agent_stream(struct agent *a, enum family family);

/**
 * agent_bound() - a socket bound by the agent, for ports below 1024
 * @type:   SOCK_DGRAM or SOCK_STREAM; the latter may take a port that old
 *          connections still hold
 * @family: AF_INET, or AF_INET6 with IPV6_V6ONLY
 * @end:    its address unset or any: wildcard    @device: interface, or ""
 * Returns: as agent_udp()
 */
int agent_bound(struct agent *a, int type, int family, const struct end *end,
		const char *device);

#endif
