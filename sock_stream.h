/* sock_stream.h - TCP sockets: connect, accept, look ahead, take, send
 * Knows: tcp(7) options, SO_PEEK_OFF, SO_MEMINFO, splice(2).
 * Does not know: connections, who asked; binding and names are sock.h's.
 * The program ignores SIGPIPE: splice(2) has no flag that would.
 * Sources: tcp(7), socket(7) SO_PEEK_OFF, recv(2) MSG_TRUNC, linux/tcp.h. */

#ifndef SOCK_STREAM_H
#define SOCK_STREAM_H

#include "addr.h"

#include <sys/types.h>
#include <sys/uio.h>

/** struct stream_info - of TCP_INFO, what is used here
 * @acked: bytes the peer's kernel acknowledged, from a base that the caller
 *         reads once the connection stands: 1 on the side that connected, 0 on
 *         the other. Our FIN counts, too     @has_acked: the kernel tells (4.1)
 * @window: bytes behind those that the peer takes    @has_window: likewise
 * @rtt_us, @min_rtt_us: round trip, 0 unknown  @retrans: segments, ever */
struct stream_info {
	uint64_t acked;
	uint32_t window;
	bool has_acked, has_window;
	uint32_t rtt_us, min_rtt_us, retrans;
};

/** struct stream_room - the send queue, SO_MEMINFO
 * @queued: bytes in it, overhead included      @size: bytes it may have now;
 * stream_send() takes some as long as it is larger than @queued */
struct stream_room {
	uint32_t queued;
	uint32_t size;
};

/** stream_open() - non-blocking, CLOEXEC TCP socket here; descriptor or -errno */
int stream_open(int family);

/** stream_setup() - small writes are not delayed, urgent data is inline */
void stream_setup(int fd);

/** stream_setup_listener() - before sock_bind() of a socket that shall listen:
 * its port may be one that old connections still hold; @flags: SOCK_DUAL,
 * SOCK_FREEBIND (sock.h). What it accepts is set up as by stream_setup() */
void stream_setup_listener(int fd, int family, unsigned flags);

/** stream_listen() - of a bound socket; returns 0 or -errno */
int stream_listen(int fd);

/** stream_accept() - take a connection that waits
 * @ret_peer, @ret_local: its ends; NULL: not asked
 * Returns: descriptor, non-blocking, CLOEXEC, with the options of the listener;
 * -EAGAIN if none waits; -errno. What only concerns one connection
 * (ECONNABORTED and the like, accept(2)) is tried again here. */
int stream_accept(int fd, struct end *ret_peer, struct end *ret_local);

/** stream_source() - leave from this address and by @device ("" any), before
 * stream_connect(), which then chooses the port: unlike with sock_bind() it
 * may be one in use towards another remote. Returns 0 or -errno */
int stream_source(int fd, int family, const struct addr *from,
		  const char *device);

/** stream_connect() - begin; returns 0, -EINPROGRESS or -errno */
int stream_connect(int fd, int family, const struct end *remote);

/** stream_error() - take the pending error; returns 0 or -errno */
int stream_error(int fd);

/** stream_peek_start() - from now on stream_peek() goes forward by what it
 * returned; false if this kernel cannot for this family (before 6.9, IPv6
 * before 6.12): then each peek begins at the first byte not discarded */
bool stream_peek_start(int fd);

/** stream_peek_seek() - the next peek begins @offset bytes behind the first
 * byte not discarded; only after stream_peek_start() was true */
void stream_peek_seek(int fd, uint32_t offset);

/** stream_peek() - look at what was received, leave it there
 * Returns: bytes; 0: the peer has sent FIN and all before it was seen;
 * -EAGAIN: nothing new; -errno: told after all that came before was seen.
 * While bytes that were peeked are not discarded, poll(2) says readable. */
ssize_t stream_peek(int fd, const struct iovec *iov, unsigned n);

/** stream_discard() - drop @len bytes that were peeked; the peek offset goes back
 * as much, to 0 at the least; 0, or -errno: not as many (-ENODATA: and FIN) */
int stream_discard(int fd, uint32_t len);

/** stream_read() - take; returns bytes, 0 at the end, or -errno */
ssize_t stream_read(int fd, void *buf, size_t len);

/** stream_send() - returns bytes taken, maybe fewer, or -errno
 * stream_send_last() holds them back until the end, which follows at once */
ssize_t stream_send(int fd, const struct iovec *iov, unsigned n);
ssize_t stream_send_last(int fd, const struct iovec *iov, unsigned n);

/** stream_shutdown() - send FIN behind what is queued */
void stream_shutdown(int fd);

/** stream_reset() - close with RST instead of FIN, what is queued is lost */
void stream_reset(int fd);

/** stream_info() - false, and all zero, if the kernel tells nothing */
bool stream_info(int fd, struct stream_info *ret_info);

/** stream_room() - all zero if the kernel does not tell */
struct stream_room stream_room(int fd);

/** stream_tos() - DSCP of what is sent from now on; ECN bits are the kernel's
 * own. @family: of the packets, not of a dual-stack socket */
void stream_tos(int fd, enum family family, uint8_t tos);

/** stream_pipe() - non-blocking, with room for @size bytes, or PIPE_LEAST where
 * the user's limits allow no more; returns 0, -errno (-EPERM: not even that) */
int stream_pipe(int ret_fds[2], int size);

/** stream_splice() - move up to @len bytes, one side is a pipe; returns bytes,
 * 0 at the end, or -errno (-EAGAIN: one side is empty or the other full) */
ssize_t stream_splice(int from, int to, size_t len);

#endif
