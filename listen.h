/* listen.h - sockets of published ports, fixed or following
 * Knows: rules (ports.h), families and namespaces, who may bind where, rings.
 * Does not know: what happens to what arrives (udp_listen.h, tcp_listen.h). */

#ifndef LISTEN_H
#define LISTEN_H

#include "agent.h"
#include "fwd.h"
#include "loop.h"
#include "ports.h"

/** enum listen_side - where listeners are: on the host (-t, -u), or in the
 * namespace (-T, -U) */
enum listen_side { LISTEN_HOST, LISTEN_NS, LISTEN_SIDES };

/** struct listener - one socket
 * @watch:  its descriptor and handler, if the protocol waits by it
 * @rule:   where it comes from
 * @ours, @device: address and interface it is bound to, unset and 0: any (in
 *          the namespace: loopback)
 * @number: the protocol's own      @next: private to listen.c
 * @port, @target: its port, and the port of the other side it leads to
 * @side, @family: enum listen_side; AF_INET or AF_INET6 as it was made
 * @is_dual: takes IPv4 too         @is_auto: follows a bound port */
struct listener {
	struct watch watch;
	const struct ports_rule *rule;
	struct addr ours;
	uint32_t device, number, next;
	uint16_t port, target;
	uint8_t side, family;
	bool is_dual, is_auto;
};

struct listen;

/** struct listen_proto - what differs; @retarget, @make_way, @hide may be NULL
 * @name: in messages      @type: SOCK_DGRAM or SOCK_STREAM
 * @open:   a bare socket here       @inside: one of the agent's namespace
 * @setup:  options before it is bound, @flags of sock.h
 * @take:   take a bound socket into use; @x has all but @watch and @number;
 *          returns 0, or -errno with @fd closed         @close: end a listener
 * @retarget: to another port, before it is noted in @x
 * @make_way: end what is ours, no listener, and in the way of a port of the
 *          host; returns whether there was any
 * @hide:   take ports out of what is bound on the host that are bound by
 *          sockets of ours which are no listeners */
struct listen_proto {
	const char *name;
	int type;
	int (*open)(int family);
	int (*inside)(struct agent *a, enum family family);
	void (*setup)(int fd, int family, unsigned flags);
	int (*take)(struct listen *l, struct listener *x, int fd);
	void (*close)(struct listen *l, struct listener *x);
	void (*retarget)(struct listen *l, struct listener *x, uint16_t target);
	bool (*make_way)(struct listen *l, uint16_t port);
	void (*hide)(struct listen *l, struct port_set *bound);
};

/** struct listen - all listeners of a protocol; zeroed but for what is set by
 * the caller: all up to @is_freebind
 * @proto: see there       @rules: per side         @has: families in use
 * @fwd:   who leads to loopback
 * @agent: makes sockets in the namespace, NULL: there is none
 * @outside: binds host ports below 1024 at run time; NULL: nobody may
 * @is_dual: one socket for both families: two would exceed the descriptors
 * @is_freebind: addresses may be absent
 * @open:  ports with a listener     @followed: those that "auto" opened
 * @n:     listeners open            @high: entries of @listener ever used, of
 *         which those with port 0 are free
 * @by_port: first listener of a port + 1, 0 none */
struct listen {
	const struct listen_proto *proto;
	const struct ports *rules[LISTEN_SIDES];
	const struct fwd *fwd;
	struct agent *agent;
	struct agent *outside;
	bool has[FAMILY_COUNT];
	bool is_dual, is_freebind;
	struct port_set open[LISTEN_SIDES], followed[LISTEN_SIDES];
	uint32_t n, high, free;
	uint32_t by_port[LISTEN_SIDES][65536];
	struct listener listener[LISTEN_MAX];
};

/** listen_move() - interfaces of the host may have been made anew: bind to them
 * again what was bound by their names */
void listen_move(struct listen *l);

/** struct listen_fail - why a listener could not be opened; @device: "" any,
 * lives as long as the rules */
struct listen_fail {
	uint16_t port;
	int error;
	struct addr addr;
	const char *device;
};

/** listen_dual() - must listeners share a socket for both families?
 * @p, @n: rules of both sides and all protocols      @limit: RLIMIT_NOFILE */
bool listen_dual(const struct ports *const *p, unsigned n, uint64_t limit);

/**
 * listen_open() - open the sockets of one side's rules
 * A port in use fails in any enabled family unless its rule is weak; a family
 * the host lacks is skipped. A port given twice has the last target. -ELOOP: it
 * leads to a port that leads back to it. In the namespace the others are opened.
 * Returns: 0, or -errno of the first that failed with @ret_fail filled
 */
int listen_open(struct listen *l, enum listen_side side,
		struct listen_fail *ret_fail);

/** listen_follow() - open and close what "auto" opens and closes, given the
 * ports bound on the other side by others */
void listen_follow(struct listen *l, enum listen_side side,
		   const struct port_set *bound);

#endif
