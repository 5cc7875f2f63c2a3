/* tcpload.h - what the parts of tcpload share
 * Knows: options, the request that begins a connection, its bytes.
 * Does not know: what is measured with them. */

#ifndef TCPLOAD_H
#define TCPLOAD_H

#include "lib/load.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC 0x31646170504354ull /* a server that is somebody else's */
#define SIZE_MAX_OF_ANSWER 65536 /* bytes of a request or an answer */
#define PARALLEL_MAX 1024
#define CHUNK (256 << 10) /* bytes of one call of a transfer */

/** enum kind - what a connection is for, said by its client */
enum kind {
	KIND_ECHO, /* @size bytes are answered by as many, until the end */
	KIND_ONE, /* one answer of @size bytes, then the server closes */
	KIND_TRANSFER, /* @up bytes to the server, @down bytes to the client */
};

/** struct request - the first bytes of each connection, in host order: both
 * ends are on one machine
 * @pause_ms: of a transfer: the longest pause of either end, 0: none
 * @seed:     of its bytes and pauses */
struct request {
	uint64_t magic;
	uint32_t kind;
	uint32_t size;
	uint64_t up;
	uint64_t down;
	uint64_t seed;
	uint64_t pause_ms;
};

/** struct lane_result - what one end of a transfer saw in one direction
 * @bytes:    that came or were sent
 * @bad_at:   first byte that came and was wrong, UINT64_MAX if none was
 * @stall_ns: longest time in which nothing moved and this end did not pause
 * @pauses:   that this end made */
struct lane_result {
	uint64_t bytes;
	uint64_t bad_at;
	uint64_t stall_ns;
	uint64_t pauses;
};

/** struct options - one set for all subcommands
 * @addr, @port: remote for clients, local for serve
 * @ports:       consecutive ports from @port on; crr takes them in turn
 * @size:        bytes of request and answer    @count: exchanges, 0: by time
 * @parallel:    connections of crr at a time
 * @up, @down:   bytes of a transfer            @pause_ms, @seed: its pauses
 * @secs:        duration; of a transfer: when it is given up
 * @wait_s:      for an answer
 * @warm:        exchanges at the start that are in no figure
 * @hist:        print the histogram */
struct options {
	const char *addr;
	const char *port;
	unsigned ports;
	unsigned size;
	unsigned parallel;
	unsigned pause_ms;
	uint64_t count;
	uint64_t up;
	uint64_t down;
	uint64_t seed;
	uint64_t warm;
	double secs;
	double wait_s;
	bool hist;
};

/** tcp_open() - a socket for @addr, and that address with port @port + @add
 * Returns: the socket, TCP_NODELAY set */
int tcp_open(const struct options *o, unsigned add,
	     struct sockaddr_storage *ret_sa, socklen_t *ret_len);

/** tcp_connect() - a connected, blocking socket */
int tcp_connect(const struct options *o);

/** send_all(), recv_all() - exactly @len bytes by a blocking socket
 * Returns: false after an error, or at the end of the stream */
bool send_all(int fd, const void *buf, size_t len);
bool recv_all(int fd, void *buf, size_t len);

/** transfer() - move bytes both ways over @fd until all are through
 * @out, @in: bytes to send and to expect    @from_server: which end this is
 * @limit_s:  gives up then
 * Returns: true if everything arrived in time; what was wrong with it is in
 * the results, which are always set */
bool transfer(int fd, const struct request *r, bool from_server, double limit_s,
	      struct lane_result ret[2]);

int cmd_serve(const struct options *o);
int cmd_rr(const struct options *o);
int cmd_crr(const struct options *o);
int cmd_transfer(const struct options *o);

#endif
