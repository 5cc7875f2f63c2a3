/* udp_map.h - sockets of UDP in use, and how conversations on them end
 * Knows: maps, flows and permits together; sockets, the loop; who gives way.
 * Does not know: which socket a datagram needs (udp_flow.h), how datagrams are
 * fetched and passed on (udp.h). */

#ifndef UDP_MAP_H
#define UDP_MAP_H

#include "agent.h"
#include "flow.h"
#include "fwd.h"
#include "loop.h"
#include "map.h"
#include "permit.h"
#include "pkt.h"
#include "policy.h"
#include "ports.h"
#include "sock.h"
#include "stats.h"
#include "tap.h"
#include "tell.h"

/** struct udp_conf - what does not change while running
 * @outbound: source address of guest-initiated flows, unset: by route
 * @device:   interface they are bound to, "": any
 * @idle_s:   idle time of flows      @n_maps: dynamic maps allowed
 * @has:      families in use */
struct udp_conf {
	struct addr outbound[FAMILY_COUNT];
	char device[FAMILY_COUNT][IFNAME_SIZE];
	uint32_t idle_s;
	uint32_t n_maps;
	bool has[FAMILY_COUNT];
};

struct udp_group; /* udp_group.h */

/** struct udp_query - @take: a query to be sent on, and counted */
struct udp_query {
	void (*take)(struct udp_query *q, const struct pkt *p);
};

/** struct udp - all of UDP; the parts it borrows outlive it
 * @policy: where the guest may begin to speak to, NULL: everywhere
 * @group:  what is known about groups, NULL: none are carried inwards
 * @emit:   sends a finished run of the current round
 * @ready:  handler of every map's socket
 * @query:  takes FWD_QUERY, set together with that
 * @refused: told of a datagram of the guest that gets no flow, and why (errno)
 * @round:  number of the round, so that two of one can be told
 * @tell:   errors to the guest; filled by udp_init()
 * @source: unbound sockets that are asked for source addresses, -1: none yet
 * @reserved:  ports never taken for a guest's own
 * @by_target: listener + 1 whose traffic goes to a port of the guest
 * @closed_drops: kernel drops of sockets that are closed by now */
struct udp {
	struct loop *loop;
	struct tap *tap;
	struct agent *agent;
	struct stats *stats;
	const struct fwd *fwd;
	struct udp_group *group;
	const struct policy *policy;
	struct udp_conf conf;
	void (*emit)(struct udp *u, const struct run *r);
	void (*ready)(struct watch *w, uint32_t events);
	struct udp_query *query;
	void (*refused)(struct udp *u, const struct pkt *p, int error);
	struct timer expiry;
	uint32_t round;
	struct tell tell;
	int source[FAMILY_COUNT];
	uint64_t closed_drops;
	struct port_set reserved;
	uint32_t by_target[FAMILY_COUNT][65536];
	struct runs runs;
	struct sock_rx rx;
	struct map_table maps;
	struct permit_table permits;
	struct flow_table flows;
};

/** udp_map_init() - tables and timers; members above @conf are set already */
void udp_map_init(struct udp *u, const struct hash_key *key);

/** udp_flush() - emit all runs of the round; flows may be deleted only with
 * no run pending, so whatever deletes flushes first */
void udp_flush(struct udp *u);

/** udp_now_s() - second of this wake-up, for tables */
uint32_t udp_now_s(const struct udp *u);

/**
 * udp_map_open() - take a socket into use
 * @proto: the map as it shall be    @fd: set up and bound, becomes ours
 * Returns: the map; NULL and @fd closed if there is no room or epoll failed
 */
struct map *udp_map_open(struct udp *u, const struct map *proto, int fd);

/** udp_map_drop() - end a map, unless it has flows or is a listener */
void udp_map_drop(struct udp *u, struct map *m);

/** udp_map_close() - end a map with all its flows */
void udp_map_close(struct udp *u, struct map *m);

/** udp_map_make_room() - end the dynamic map that is missed least
 * Returns: false if there is none */
bool udp_map_make_room(struct udp *u);

/**
 * udp_map_add_flow() - enter a flow, evicting one if the table is full
 * Returns: NULL if that did not help (not counted)
 */
struct flow *udp_map_add_flow(struct udp *u, const struct flow *f);

/** udp_map_end_flow() - end a flow, and its map or far socket if it was the
 * only one */
void udp_map_end_flow(struct udp *u, struct flow *f);

#endif
