/* tcp_splice.h - TCP between loopback and loopback, socket to socket
 * Knows: pairs of sockets, what of one was not taken by the other yet.
 * Does not know: which ports are published; who accepts tells.
 * Sources: RFC 9293 3.6 (half-close); splice(2); epoll(7) EPOLLET. */

#ifndef TCP_SPLICE_H
#define TCP_SPLICE_H

#include "agent.h"
#include "fwd.h"
#include "limits.h"
#include "loop.h"
#include "lru.h"
#include "stats.h"

/** enum splice_side - the sockets of a connection: the accepted one, and ours
 * to the server. A direction has the number of the side it comes from. */
enum splice_side { SPLICE_NEAR, SPLICE_FAR, SPLICE_SIDES };

/** enum splice_list - connections by age; the entry is free in the last */
enum splice_list { SPLICE_CONNECTING, SPLICE_OPEN, SPLICE_FREE, SPLICE_LISTS };

/** struct splice_dir - what flows one way
 * @pipe: reading and writing end of its pipe, which it has only while bytes
 *        are in it; 0: none
 * @held: bytes in the pipe      @flags: private */
struct splice_dir {
	int pipe[2];
	uint32_t held;
	uint32_t flags;
};

/** struct splice_conn - one connection
 * @side: its sockets        @dir: its directions
 * @age:  node in a list of enum splice_list, which is @list
 * @turn: node of those that have more to move in this wake-up
 * @target: port of the server      @flags: private */
struct splice_conn {
	struct watch side[SPLICE_SIDES];
	struct splice_dir dir[SPLICE_SIDES];
	struct lru_node age;
	struct lru_node turn;
	uint16_t target;
	uint8_t list;
	uint8_t flags;
};

/** struct tcp_splice - all spliced connections; zero-filled before init
 * Set by the caller, what is borrowed outlives it:
 * @loop, @stats, @fwd
 * @agent: makes sockets in the namespace, NULL: there is none
 * @max:   connections allowed, at most TCP_MAX; each has two descriptors
 * @has:   families in use, for the turn to IPv4 alone
 * Its own:
 * @n:     connections      @high: entries ever used
 * @idle, @n_idle: empty pipes at hand      @n_pipes: pipes open
 * @pipe_ms: when to try for another one */
struct tcp_splice {
	struct loop *loop;
	struct agent *agent;
	struct stats *stats;
	const struct fwd *fwd;
	uint32_t max;
	bool has[FAMILY_COUNT];
	struct timer timer;
	uint32_t n;
	uint32_t high;
	struct lru lists[SPLICE_LISTS];
	struct lru turns;
	unsigned n_pipes;
	unsigned n_idle;
	int64_t pipe_ms;
	int idle[PIPES_IDLE][2];
	uint8_t buf[SPLICE_LOOK];
	struct splice_conn conn[TCP_MAX];
};

/** struct splice_new - a connection to be carried
 * @fd:     accepted and set up (stream_accept())
 * @local:  where the client reached it; of a dual-stack listener maybe IPv4
 * @in_ns:  the server is in the namespace, else on the host
 * @is_any: the listener has no address: the client may not have meant a family
 * @target: port of the server */
struct splice_new {
	int fd;
	struct end local;
	bool in_ns;
	bool is_any;
	uint16_t target;
};

/** tcp_splice_init() - makes it work; registers one timer, opens some pipes */
void tcp_splice_init(struct tcp_splice *s);

/**
 * tcp_splice_begin() - carry a connection from now on
 * The server is at fwd_splice_target() in the namespace, or at the loopback
 * address that the client used on the host. Whom ::1 refuses is reached by IPv4
 * if @is_any: a client of "localhost" tries IPv6 first.
 * Returns: false if that cannot be: counted, and @new->fd reset and closed
 */
bool tcp_splice_begin(struct tcp_splice *s, const struct splice_new *new);

/** tcp_splice_make_room() - reset the connection that is idle for longest
 * Returns: false if none is for TCP_EVICT_MS */
bool tcp_splice_make_room(struct tcp_splice *s);

#endif
