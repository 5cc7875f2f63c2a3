/* tcp_conn.h - TCP connections over the guest's link, and how they end
 * Knows: the table, deadlines, who gives way; control segments.
 * Does not know: who may begin one (tcp_open.h), how bytes are moved
 * (tcp_guest.h, tcp_host.h). */

#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "fwd.h"
#include "hash.h"
#include "heap.h"
#include "loop.h"
#include "lru.h"
#include "policy.h"
#include "rest.h"
#include "stats.h"
#include "tap.h"
#include "tcb.h"
#include "tell.h"

/** enum tcp_list - closing: one direction has ended; short idle time */
enum tcp_list { TCP_CLOSING, TCP_LIVE, TCP_LISTS };

/** enum tcp_flag
 * BY_GUEST: the guest opened it    SEEKS: the socket has a peek offset
 * READABLE: the socket may have something not peeked
 * HOST_FIN: its FIN came, and lies behind what is unread
 * PULL:     the guest may take more now       TOUCHED: in this round's list
 * SHUT:     our FIN is behind all that was written
 * WAITS:    for room to send, too, until it is told once
 * URGENT:   a look may end at urgent data, and more lie behind it
 * ASKED:    it is known whether it is HONEST: what the remote acknowledged is
 *           what the guest is told */
enum tcp_flag {
	TCP_BY_GUEST = 1,
	TCP_SEEKS = 2,
	TCP_READABLE = 4,
	TCP_HOST_FIN = 8,
	TCP_PULL = 16,
	TCP_TOUCHED = 32,
	TCP_SHUT = 64,
	TCP_WAITS = 128,
	TCP_ASKED = 256,
	TCP_HONEST = 512,
	TCP_URGENT = 1024
};

#define TCP_ASK_ANEW UINT32_MAX /* what the socket can take is not known */

/** struct tcp_conn - one connection
 * @watch:   the host's socket, edge-triggered; @watch.fn NULL in a free entry
 * @inner, @visible: the guest's end, and the remote as the guest sees it
 * @start:   the guest's sequence number when it stood
 * @offered: bytes of window it was last given, or TCP_ASK_ANEW
 * @most:    the largest window it was ever given
 * @far_most: the largest window the remote ever had
 * @look_ms: when to look again what it acknowledged, TCB_NEVER not
 * @wait_ms: the time between two looks     @owed_ms: when the last news came
 * @rest:    of the guest's bytes, what the socket did not take yet
 * @ahead:   those from @ahead_seq to @ahead_end, before which some are missing
 * @tos:     DSCP set on the socket      @list, @lru, @chain: private */
struct tcp_conn {
	struct watch watch;
	struct tcb tcb;
	struct end inner, visible;
	int64_t look_ms, owed_ms;
	uint32_t start, offered, most, far_most;
	uint32_t wait_ms, ahead_seq, ahead_end;
	uint32_t chain;
	struct lru_node lru;
	struct rest rest, ahead;
	uint16_t flags;
	uint8_t list;
	uint8_t tos;
};

/** struct tcp_conf - what does not change while running
 * @outbound, @device: of connections of the guest, unset or "": by route
 * @has: families in use     @max: connections allowed
 * @mtu: of the guest's link */
struct tcp_conf {
	struct addr outbound[FAMILY_COUNT];
	char device[FAMILY_COUNT][IFNAME_SIZE];
	bool has[FAMILY_COUNT];
	uint32_t max;
	uint32_t mtu;
};

/** struct tcp - all of it; what it borrows outlives it
 * @policy: where the guest may connect to, NULL: everywhere
 * @tell:   errors to the guest
 * @touched: connections with something to do at the end of the round */
struct tcp {
	struct loop *loop;
	struct tap *tap;
	struct stats *stats;
	const struct fwd *fwd;
	const struct policy *policy;
	struct tell *tell;
	struct tcp_conf conf;
	struct hash_key key;
	struct timer timer;
	void (*ready)(struct watch *w, uint32_t events);
	void (*due)(struct tcp *t, struct tcp_conn *c);
	uint32_t n, high, free, n_touched;
	struct lru lists[TCP_LISTS];
	struct heap heap;
	uint32_t touched[TAP_FRAMES];
	uint8_t buf[TCP_PEEK];
	uint8_t seen[TCP_SEEN];
	struct rest_pool rests;
	uint32_t bucket[TCP_BUCKETS];
	uint32_t place[TCP_MAX];
	struct heap_node node[TCP_MAX];
	struct tcp_conn conn[TCP_MAX];
};

/** tcp_conn_init() - tables and timers; members above @key are set */
void tcp_conn_init(struct tcp *t, const struct hash_key *key);

/** tcp_conn_find() - by what a segment of the guest says; NULL: none */
struct tcp_conn *tcp_conn_find(struct tcp *t, const struct end *inner,
			       const struct end *visible);

/**
 * tcp_conn_new() - enter a connection; there must not be one with these ends
 * @fd: the host's socket, waited for from now on; the caller's still on failure
 * @flags: enum tcp_flag; WAITS: until it is connected
 * Returns: NULL if there are too many, and none is idle
 */
struct tcp_conn *tcp_conn_new(struct tcp *t, int fd, const struct end *inner,
			      const struct end *visible, uint16_t flags);

/** tcp_conn_again() - tell anew what is there already */
void tcp_conn_again(struct tcp *t, struct tcp_conn *c);

/** tcp_conn_wait_room() - tell once when there is room to send */
void tcp_conn_wait_room(struct tcp *t, struct tcp_conn *c);

/** tcp_conn_iss() - initial sequence number, RFC 6528 */
uint32_t tcp_conn_iss(const struct tcp *t, const struct end *inner,
		      const struct end *visible);

/** tcp_conn_mss() - largest segment of the guest's link */
uint16_t tcp_conn_mss(const struct tcp *t, const struct end *visible);

/** tcp_conn_touch() - something passed: it is not idle */
void tcp_conn_touch(struct tcp *t, struct tcp_conn *c);

/** tcp_conn_arm() - its deadlines may have come nearer */
void tcp_conn_arm(struct tcp *t, struct tcp_conn *c);

/** tcp_conn_tell() - a segment without payload: an acknowledgement, a SYN by
 * the state, or with @flags
 * Returns: false if the link did not take it */
bool tcp_conn_tell(struct tcp *t, struct tcp_conn *c, uint32_t seq,
		   uint8_t flags);

/** tcp_conn_refuse() - RST for a segment of no connection, unless it is one */
void tcp_conn_refuse(struct tcp *t, const struct pkt *p);

/** tcp_conn_close() - forget it; both sides have ended it */
void tcp_conn_close(struct tcp *t, struct tcp_conn *c);

/** tcp_conn_abort() - RST to the remote; @tell_guest: and to the guest */
void tcp_conn_abort(struct tcp *t, struct tcp_conn *c, bool tell_guest);

/** tcp_conn_make_room() - end the connection that is idle longest
 * Returns: false if none was idle for TCP_EVICT_MS */
bool tcp_conn_make_room(struct tcp *t);

#endif
