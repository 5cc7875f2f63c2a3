/* sock_stream.c - TCP sockets: connect, accept, look ahead, take, send
 *
 * What was received stays in the kernel's queue until whoever it is for has
 * acknowledged it: so it is peeked, and later discarded without copying. With
 * SO_PEEK_OFF the kernel remembers how far the peeks have come; a retransmission
 * is a change of that number.
 *
 * Buffers have no size of ours: SO_SNDBUF and SO_RCVBUF would end the kernel's
 * own growing of them, and are capped lower than it goes.
 *
 * Sockets that listen have SO_REUSEADDR. For TCP that shares nothing: it only
 * lets a port be bound while connections of an earlier run are in TIME_WAIT.
 *
 * Not here: what a connection is, keepalive, waiting of any kind. */

#include "sock_stream.h"

#include "limits.h"
#include "sock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* seccomp(forwarder): socket(0=AF_INET|AF_INET6) listen accept4 getsockname */
/* seccomp(forwarder): connect bind setsockopt getsockopt close */

#ifndef SO_PEEK_OFF
#define SO_PEEK_OFF 42
#endif
#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

/* More failures in a row are not those of single connections */
#define ACCEPT_TRIES 16

/* The beginning of the kernel's struct tcp_info, linux/tcp.h; headers of libc
 * end earlier, and a kernel may fill less than this. */
struct info {
	uint8_t state[8];
	uint32_t timers[4];
	uint32_t counts[5];
	uint32_t last[4];
	uint32_t pmtu;
	uint32_t rcv_ssthresh;
	uint32_t rtt; /* microseconds, as all of them */
	uint32_t rttvar;
	uint32_t window[6];
	uint32_t total_retrans;
	uint64_t pacing[2];
	uint64_t bytes_acked; /* 4.1 */
	uint64_t bytes_received;
	uint32_t segs[2];
	uint32_t notsent_bytes;
	uint32_t min_rtt; /* 4.6; all ones: unknown */
	uint32_t data_segs[2];
	uint64_t rates[4];
	uint32_t delivered[2];
	uint64_t bytes[2];
	uint32_t seen[3];
	uint32_t snd_wnd; /* 5.4 */
};

static_assert(offsetof(struct info, total_retrans) == 100 &&
		      offsetof(struct info, bytes_acked) == 120 &&
		      offsetof(struct info, min_rtt) == 148,
	      "the layout of linux/tcp.h");

/* Did the kernel fill this field of an info, of which it gave @len bytes? */
#define TOLD(len, field) \
	((len) >= \
	 offsetof(struct info, field) + sizeof(((struct info *)NULL)->field))

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

int stream_open(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

void stream_setup(int fd)
{
	(void)set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	(void)set(fd, SOL_SOCKET, SO_OOBINLINE, 1);
}

void stream_setup_listener(int fd, int family, unsigned flags)
{
	(void)set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	sock_setup_bind(fd, family, flags);
	stream_setup(fd); /* accepted ones have the options of their listener */
}

int stream_listen(int fd)
{
	return listen(fd, SOMAXCONN) ? -errno : 0;
}

/* Does an error of accept(2) concern that one connection? */
static bool is_of_one(int error)
{
	switch (error) {
	case ECONNABORTED:
	case EINTR:
	case EPERM: /* a firewall's */
	case EPROTO:
	case ENOPROTOOPT:
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ENONET:
		return true;
	default:
		return false;
	}
}

int stream_accept(int fd, struct end *ret_peer, struct end *ret_local)
{
	union sockaddr_ip sa = { 0 };
	socklen_t len;
	int rc, one, tries = 0;

	do {
		len = sizeof(sa);
		one = accept4(fd, &sa.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	} while (one < 0 && is_of_one(errno) && ++tries < ACCEPT_TRIES);
	if (one < 0)
		return -errno;
	if (ret_peer)
		*ret_peer = end_from_sockaddr(&sa);
	rc = ret_local ? sock_local(one, ret_local) : 0;
	if (!rc)
		return one;
	close(one);
	return rc;
}

int stream_source(int fd, int family, const struct addr *from,
		  const char *device)
{
	struct end local = end_make(from, 0, 0);

	/* IPv6 sockets take it by the same name */
	(void)set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	return sock_bind(fd, family, &local, device);
}

int stream_connect(int fd, int family, const struct end *remote)
{
	return sock_connect(fd, family, remote);
}

int stream_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
		return -errno;
	return -error;
}

bool stream_peek_start(int fd)
{
	return !set(fd, SOL_SOCKET, SO_PEEK_OFF, 0);
}

void stream_peek_seek(int fd, uint32_t offset)
{
	(void)set(fd, SOL_SOCKET, SO_PEEK_OFF, (int)offset);
}

/* One message header of @iov, which recvmsg(2) and sendmsg(2) only read */
static struct msghdr gather(const struct iovec *iov, unsigned n)
{
	union {
		const struct iovec *in;
		struct iovec *out;
	} list = { .in = iov };

	return (struct msghdr){ .msg_iov = list.out, .msg_iovlen = n };
}

/* seccomp(forwarder): recvmsg recvfrom */
ssize_t stream_peek(int fd, const struct iovec *iov, unsigned n)
{
	struct msghdr m = gather(iov, n);
	ssize_t len = recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT);

	return len < 0 ? -errno : len;
}

/* A single call ends at the mark of urgent data */
int stream_discard(int fd, uint32_t len)
{
	while (len) {
		ssize_t n = recv(fd, NULL, len, MSG_TRUNC | MSG_DONTWAIT);

		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		len -= (uint32_t)n;
	}
	return 0;
}

ssize_t stream_read(int fd, void *buf, size_t len)
{
	ssize_t n = recv(fd, buf, len, MSG_DONTWAIT);

	return n < 0 ? -errno : n;
}

/* seccomp(forwarder): sendmsg */
static ssize_t send_iov(int fd, const struct iovec *iov, unsigned n, int flags)
{
	struct msghdr m = gather(iov, n);
	ssize_t len = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT | flags);

	return len < 0 ? -errno : len;
}

ssize_t stream_send(int fd, const struct iovec *iov, unsigned n)
{
	return send_iov(fd, iov, n, 0);
}

ssize_t stream_send_last(int fd, const struct iovec *iov, unsigned n)
{
	return send_iov(fd, iov, n, MSG_MORE);
}

/* seccomp(forwarder): shutdown(1=SHUT_WR) */
void stream_shutdown(int fd)
{
	(void)shutdown(fd, SHUT_WR);
}

void stream_reset(int fd)
{
	struct linger none = { .l_onoff = 1 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

bool stream_info(int fd, struct stream_info *ret_info)
{
	struct info i;
	socklen_t len = sizeof(i);

	*ret_info = (struct stream_info){ 0 };
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len))
		return false;
	if (TOLD(len, rtt))
		ret_info->rtt_us = i.rtt;
	if (TOLD(len, total_retrans))
		ret_info->retrans = i.total_retrans;
	if (TOLD(len, bytes_acked)) {
		ret_info->acked = i.bytes_acked;
		ret_info->has_acked = true;
	}
	if (TOLD(len, min_rtt) && i.min_rtt != UINT32_MAX)
		ret_info->min_rtt_us = i.min_rtt;
	if (TOLD(len, snd_wnd)) {
		ret_info->window = i.snd_wnd;
		ret_info->has_window = true;
	}
	return true;
}

struct stream_room stream_room(int fd)
{
	uint32_t m[SK_MEMINFO_VARS];

	sock_meminfo(fd, m);
	return (struct stream_room){ .queued = m[SK_MEMINFO_WMEM_QUEUED],
				     .size = m[SK_MEMINFO_SNDBUF] };
}

void stream_tos(int fd, enum family family, uint8_t tos)
{
	struct mark other = { .tos = (uint8_t)~tos }, want = { .tos = tos };

	sock_mark(fd, family, &other, &want);
}

/* Beyond the user's limit, pipes begin with two pages, and do not grow
 * seccomp(forwarder): pipe2 fcntl(1=F_SETPIPE_SZ) */
int stream_pipe(int ret_fds[2], int size)
{
	int fds[2], rc;

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC))
		return -errno;
	if (fcntl(fds[1], F_SETPIPE_SZ, size) < 0 &&
	    fcntl(fds[1], F_SETPIPE_SZ, PIPE_LEAST) < 0) {
		rc = -errno;
		close(fds[0]);
		close(fds[1]);
		return rc;
	}
	ret_fds[0] = fds[0];
	ret_fds[1] = fds[1];
	return 0;
}

/* seccomp(forwarder): splice */
ssize_t stream_splice(int from, int to, size_t len)
{
	ssize_t n = splice(from, NULL, to, NULL, len,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	return n < 0 ? -errno : n;
}
