/* replay_kernel.c - a kernel that always does the same, for replay
 *
 * A real one decides by itself how many datagrams one call fetches, and needs
 * namespaces for addresses; here both are given, so that each run of a trace
 * takes the same instructions. */

#include "replay_kernel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FD_FIRST 100
#define FD_MAX 4096

static struct {
	const struct shot *shot;
	const struct arrival *arrival;
	unsigned n, at, left, calls;
	int family;
	int fd;
	union sockaddr_ip bound[FD_MAX];
} k = { .fd = FD_FIRST };

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

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	(void)fd, (void)m, (void)flags;
	called();
	return again();
}

/* What is sent */

static ssize_t bytes(const struct iovec *iov, size_t n)
{
	size_t i, len = 0;

	called();
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	return (ssize_t)len;
}

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	(void)fd;
	return bytes(iov, (size_t)n);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	(void)fd, (void)flags;
	return bytes(m->msg_iov, m->msg_iovlen);
}

/* Sockets */

int socket(int family, int type, int proto)
{
	(void)type, (void)proto;
	called();
	assert(k.fd < FD_MAX);
	k.bound[k.fd].sa.sa_family = (sa_family_t)family;
	return k.fd++;
}

int bind(int fd, const struct sockaddr *sa, socklen_t len)
{
	called();
	memcpy(&k.bound[fd], sa, len);
	return 0;
}

int getsockname(int fd, struct sockaddr *sa, socklen_t *len)
{
	called();
	*len = sizeof(k.bound[fd]);
	memcpy(sa, &k.bound[fd], *len);
	return 0;
}

int connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	(void)fd, (void)sa, (void)len;
	return called();
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)fd, (void)level, (void)name, (void)value, (void)len;
	return called();
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	(void)fd, (void)level, (void)name;
	memset(value, 0, *len);
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
