/* flow.h - conversations, found from either side
 * Knows: endpoints of both sides, age.  Does not know: protocols (a number in
 * the key), sockets (the number of a map), policy.
 *
 * A flow has two sides. On the host's, a remote speaks with a map; over a
 * listener the local address it used is part of its identity. On the guest's,
 * the inner endpoint speaks with the remote as the guest sees it. A spliced
 * flow has no guest side in here: the socket of its far end belongs to it
 * alone. Zero-filled memory is a valid empty table. */

#ifndef FLOW_H
#define FLOW_H

#include "addr.h"
#include "hash.h"
#include "limits.h"
#include "lru.h"

#define FLOW_NONE UINT32_MAX
#define FLOW_BUCKETS 131072

/** enum flow_list - in the order in which flows are given up
 * over:     a side has gone; kept for a second, in case it comes back
 * answered: a query that was answered; short idle time
 * short:    echo requests, RFC 5508 REQ-2
 * done:     spliced, and answered once: few are worth a descriptor
 * oneshot:  at most one exchange so far       live: more than that */
enum flow_list {
	FLOW_OVER,
	FLOW_ANSWERED,
	FLOW_SHORT,
	FLOW_DONE,
	FLOW_ONESHOT,
	FLOW_LIVE,
	FLOW_LISTS
};

/** enum flow_flag - facts about a flow
 * by_guest: the guest spoke first    replied: the other side has spoken
 * query:    one answer is probably all there is (DNS)
 * spliced:  @peer is its far socket, there is no guest side
 * permit:   its remote is noted at its map
 * group:    by the guest to a multicast or broadcast address
 * echo:     requests and replies, with an idle time of their own
 * init_gone: over because who spoke first is gone, not the other side */
enum flow_flag {
	FLOW_BY_GUEST = 1,
	FLOW_REPLIED = 2,
	FLOW_QUERY = 4,
	FLOW_SPLICED = 8,
	FLOW_PERMIT = 16,
	FLOW_GROUP = 32,
	FLOW_INIT_GONE = 64,
	FLOW_ECHO = 128
};

/** struct flow - one conversation
 * @host:    remote as the host sees it
 * @ours:    local address the remote spoke to, a group's too; unset where the
 *           map tells
 * @visible: remote as the guest sees it
 * @inner:   the guest's endpoint
 * @map:     socket on the host's side (spliced: the listener)
 * @peer:    spliced: the connected socket on the far side
 * @proto:   0 in an entry that is not in use
 * @gso_refused: segment size from which on sends go one by one, 0 none;
 *           tried again once @gso_retry_s has passed
 * The rest is private to flow.c */
struct flow {
	struct end host;
	struct addr ours;
	struct end visible;
	struct end inner;
	uint32_t map;
	uint32_t peer;
	uint32_t gso_retry_s;
	uint16_t gso_refused;
	uint8_t proto;
	uint8_t flags;
	uint8_t list;
	uint8_t pad[3];
	struct lru_node lru;
	uint32_t chain_host;
	uint32_t chain_guest;
	uint32_t map_prev;
	uint32_t map_next;
};

/** struct flow_table - all flows; @idle_s: idle time per list, seconds */
struct flow_table {
	struct hash_key key;
	uint32_t idle_s[FLOW_LISTS];
	uint32_t n;
	uint32_t high;
	uint32_t free;
	struct lru lists[FLOW_LISTS];
	uint32_t host_bucket[FLOW_BUCKETS];
	uint32_t guest_bucket[FLOW_BUCKETS];
	struct flow flow[FLOW_MAX];
};

/** flow_table_init() - @idle_s: for one-shot and live, @answered_s: for
 * answered queries */
void flow_table_init(struct flow_table *t, const struct hash_key *key,
		     uint32_t idle_s, uint32_t answered_s);

/** flow_number() - number of a flow of the table */
uint32_t flow_number(const struct flow_table *t, const struct flow *f);

/** flow_find_host() - by what a host socket sees; NULL if there is none
 * @ours: as in struct flow */
struct flow *flow_find_host(struct flow_table *t, uint32_t map,
			    const struct end *remote, const struct addr *ours);

/** flow_find_guest() - by what a frame of the guest says; NULL if none */
struct flow *flow_find_guest(struct flow_table *t, uint8_t proto,
			     const struct end *inner,
			     const struct end *visible);

/**
 * flow_add() - enter a conversation
 * @f: endpoints, map, peer, proto and flags are taken over
 * @map_flows: list head of the map (struct map), linked here
 * Returns: NULL if the table is full: delete flow_victim() and call again
 */
struct flow *flow_add(struct flow_table *t, const struct flow *f,
		      uint32_t *map_flows, uint32_t now_s);

/** flow_del() - forget a conversation; @map_flows as in flow_add() */
void flow_del(struct flow_table *t, struct flow *f, uint32_t *map_flows);

/** flow_of_map() - first flow in a map's list, or NULL */
struct flow *flow_of_map(struct flow_table *t, uint32_t map_flows);

/** flow_touch() - a datagram passed; @by_init: from who spoke first
 * Returns: true if the flow became, or is, live */
bool flow_touch(struct flow_table *t, struct flow *f, bool by_init,
		uint32_t now_s);

/** flow_end() - a side of it is gone: give it up within a second or two
 * @is_init: who spoke first is gone. A datagram from that side takes it back. */
void flow_end(struct flow_table *t, struct flow *f, bool is_init,
	      uint32_t now_s);

/** flow_victim() - the flow to give up first, or NULL */
struct flow *flow_victim(struct flow_table *t);

/** flow_surplus() - the oldest of the spliced flows that are done, if there are
 * more than FLOW_DONE_MAX of them, else NULL */
struct flow *flow_surplus(struct flow_table *t);

/** flow_expired() - one flow whose idle time is over, or NULL */
struct flow *flow_expired(struct flow_table *t, uint32_t now_s);

/** flow_next_deadline() - second at which flow_expired() may have one;
 * UINT32_MAX: never */
uint32_t flow_next_deadline(const struct flow_table *t);

#endif
