/* replay_kernel.c - a kernel that always does the same, for replay
 *
 * A real one decides by itself how many datagrams one call fetches, and needs
 * namespaces for addresses; here both are given, so that each run of a trace
 * takes the same instructions. */

#include "replay_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SO_PEEK_OFF
#define SO_PEEK_OFF 42
#endif
#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

#define FD_FIRST 100
#define FD_MAX 2048
#define WRITTEN_MAX 512
#define SEND_BUFFER (4 * 1024 * 1024)
#define PEER_WINDOW (1024 * 1024)

/** struct socket - or one end of a pipe
 * @bound: its name      @sent: bytes, as the kernel counts acknowledged ones
 * @left:  received and not taken      @peeked: of them, where it @seeks
 * @feeds: descriptor that reads what is written, 0 none
 * @fin:   behind those @left is the end */
struct socket {
	union sockaddr_ip bound;
	uint64_t sent;
	uint32_t left, peeked;
	int feeds;
	bool seeks, fin;
};

static struct {
	const struct shot *shot;
	const struct arrival *arrival;
	unsigned n, at, left, calls;
	int family;
	int fd;
	struct end peer;
	unsigned waiting;
	uint32_t waiting_len;
	unsigned n_written, n_told;
	struct written written[WRITTEN_MAX];
	struct socket socket[FD_MAX];
} k;

void kernel_init(void)
{
	memset(&k, 0, sizeof(k));
	k.fd = FD_FIRST;
}

void kernel_frames(const struct shot *s, unsigned n, unsigned total)
{
	k.shot = s;
	k.arrival = NULL;
	k.n = n;
	k.left = total;
	k.at = 0;
}

void kernel_arrivals(const struct arrival *a, unsigned n, unsigned total,
		     int family)
{
	k.shot = NULL;
	k.arrival = a;
	k.family = family;
	k.n = n;
	k.left = total;
	k.at = 0;
}

void kernel_waiting(const struct end *peer, unsigned n, uint32_t len)
{
	k.peer = *peer;
	k.waiting = n;
	k.waiting_len = len;
}

void kernel_receive(int fd, uint32_t len, bool fin)
{
	k.socket[fd].left += len;
	k.socket[fd].fin = fin;
}

const struct written *kernel_written(void)
{
	if (k.n_told < k.n_written)
		return &k.written[k.n_told++];
	k.n_told = k.n_written = 0;
	return NULL;
}

bool kernel_is_idle(void)
{
	return !k.left;
}

unsigned kernel_calls(void)
{
	unsigned n = k.calls;

	k.calls = 0;
	return n;
}

static int called(void)
{
	k.calls++;
	return 0;
}

static int again(void)
{
	errno = EAGAIN;
	return -1;
}

/* What is received */

ssize_t read(int fd, void *buf, size_t size)
{
	const struct shot *s;

	(void)fd;
	called();
	if (!k.left || !k.shot)
		return again();
	k.left--;
	s = &k.shot[k.at++ % k.n];
	assert(s->len <= size);
	memcpy(buf, s->raw, s->len);
	return (ssize_t)s->len;
}

static void tell(struct msghdr *m, int level, int type, const void *data,
		 size_t len)
{
	struct cmsghdr *c =
		(struct cmsghdr *)(void *)((uint8_t *)m->msg_control +
					   m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	m->msg_controllen += CMSG_SPACE(len);
}

static void tell_to(struct msghdr *m, const struct addr *to)
{
	unsigned ifindex = addr_is_loopback(to) ? 1 : 2;

	if (addr_is_v4(to)) {
		struct in_pktinfo info = { .ipi_ifindex = (int)ifindex };

		memcpy(&info.ipi_addr, to->b + 12, 4);
		info.ipi_spec_dst = info.ipi_addr;
		tell(m, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_ifindex = ifindex };

		memcpy(&info.ipi6_addr, to->b, 16);
		tell(m, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
}

static void arrive(struct mmsghdr *h, const struct arrival *a)
{
	struct msghdr *m = &h->msg_hdr;
	uint8_t tos = 0;
	int tclass = 0, seg = (int)a->seg;

	h->msg_len = a->len;
	m->msg_namelen = end_to_sockaddr(&a->from, k.family, m->msg_name);
	m->msg_controllen = 0;
	if (addr_is_set(&a->to))
		tell_to(m, &a->to);
	if (k.family == AF_INET)
		tell(m, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else
		tell(m, IPPROTO_IPV6, IPV6_TCLASS, &tclass, sizeof(tclass));
	if (seg)
		tell(m, SOL_UDP, UDP_GRO, &seg, sizeof(seg));
}

int recvmmsg(int fd, struct mmsghdr *h, unsigned n, int flags,
	     struct timespec *t)
{
	unsigned i;

	(void)fd, (void)flags, (void)t;
	called();
	if (!k.left || !k.arrival)
		return again();
	for (i = 0; i < n && k.left; i++, k.left--)
		arrive(&h[i], &k.arrival[k.at++ % k.n]);
	return (int)i;
}

static uint32_t bytes(const struct iovec *iov, size_t n)
{
	size_t i, len = 0;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	return (uint32_t)len;
}

static uint32_t min(size_t a, size_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* Errors: there are none. Bytes of a stream are peeked only, and are whatever
 * the buffer held. */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct socket *s = &k.socket[fd];
	uint32_t n = min(bytes(m->msg_iov, m->msg_iovlen), s->left - s->peeked);

	called();
	if (!(flags & MSG_PEEK) || (!n && !s->fin))
		return again();
	if (s->seeks)
		s->peeked += n;
	return n;
}

/* Only to discard */
ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	struct socket *s = &k.socket[fd];
	uint32_t n = min(len, s->left);

	called();
	assert(!buf && flags & MSG_TRUNC);
	if (!n && !s->fin)
		return again();
	s->left -= n;
	s->peeked -= min(n, s->peeked);
	return n;
}

/* What is sent */

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	uint32_t len = bytes(iov, (size_t)n);

	(void)fd;
	called();
	if (k.n_written < WRITTEN_MAX) {
		struct written *w = &k.written[k.n_written++];

		w->len = len;
		memcpy(w->head, iov->iov_base,
		       min(iov->iov_len, sizeof(w->head)));
	}
	return len;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	uint32_t len = bytes(m->msg_iov, m->msg_iovlen);

	(void)flags;
	called();
	k.socket[fd].sent += len;
	return len;
}

ssize_t splice(int in, off64_t *in_off, int out, off64_t *out_off, size_t len,
	       unsigned flags)
{
	struct socket *from = &k.socket[in], *to = &k.socket[out];
	uint32_t n = min(len, from->left);

	(void)in_off, (void)out_off, (void)flags;
	called();
	if (!n && !from->fin)
		return again();
	from->left -= n;
	k.socket[to->feeds].left += n;
	return n;
}

/* Sockets */

static int new_fd(int family)
{
	assert(k.fd < FD_MAX);
	k.socket[k.fd].bound.sa.sa_family = (sa_family_t)family;
	return k.fd++;
}

int socket(int family, int type, int proto)
{
	(void)type, (void)proto;
	called();
	return new_fd(family);
}

int listen(int fd, int backlog)
{
	(void)fd, (void)backlog;
	return called();
}

int accept4(int fd, struct sockaddr *sa, socklen_t *len, int flags)
{
	int family = k.socket[fd].bound.sa.sa_family, one;

	(void)flags;
	called();
	if (!k.waiting)
		return again();
	k.waiting--;
	*len = end_to_sockaddr(&k.peer, family, (void *)sa);
	k.peer.port++;
	one = new_fd(family);
	k.socket[one].left = k.waiting_len;
	return one;
}

int shutdown(int fd, int how)
{
	(void)fd, (void)how;
	return called();
}

int pipe2(int fds[2], int flags)
{
	(void)flags;
	called();
	fds[0] = new_fd(0);
	fds[1] = new_fd(0);
	k.socket[fds[1]].feeds = fds[0];
	return 0;
}

int fcntl(int fd, int what, ...)
{
	(void)fd, (void)what;
	return called();
}

int bind(int fd, const struct sockaddr *sa, socklen_t len)
{
	called();
	memcpy(&k.socket[fd].bound, sa, len);
	return 0;
}

int getsockname(int fd, struct sockaddr *sa, socklen_t *len)
{
	called();
	*len = sizeof(k.socket[fd].bound);
	memcpy(sa, &k.socket[fd].bound, *len);
	return 0;
}

int connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	(void)sa, (void)len;
	k.socket[fd].sent = 1; /* it counts the SYN */
	return called();
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)len;
	if (level == SOL_SOCKET && name == SO_PEEK_OFF) {
		k.socket[fd].seeks = true;
		memcpy(&k.socket[fd].peeked, value, sizeof(int));
	}
	return called();
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct tcp_info info = { .tcpi_rtt = 50,
				 .tcpi_min_rtt = 50,
				 .tcpi_bytes_acked = k.socket[fd].sent,
				 .tcpi_snd_wnd = PEER_WINDOW };
	uint32_t mem[SK_MEMINFO_VARS] = { [SK_MEMINFO_SNDBUF] = SEND_BUFFER };

	memset(value, 0, *len);
	if (level == IPPROTO_TCP && name == TCP_INFO)
		memcpy(value, &info, min(*len, sizeof(info)));
	if (level == SOL_SOCKET && name == SO_MEMINFO)
		memcpy(value, mem, min(*len, sizeof(mem)));
	return called();
}

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *e)
{
	(void)epfd, (void)op, (void)fd, (void)e;
	return called();
}

int sched_yield(void)
{
	return called();
}

int close(int fd)
{
	(void)fd;
	return called();
}

/* Not a tap: it takes any offload */
int ioctl(int fd, unsigned long what, ...)
{
	(void)fd, (void)what;
	called();
	errno = ENOTTY;
	return -1;
}
