/* agent.c - a tiny process that makes sockets in another namespace
 *
 * Problem: sockets of the guest's namespace are needed for as long as we run,
 * but the process that handles traffic must not be able to enter namespaces,
 * or to do anything else that takes a right.
 *
 * Idea: a socket belongs to the namespace of its maker, wherever it is used.
 * So a process forked at start enters the namespace, does the set-up there,
 * and then only makes sockets on request and hands them over (SCM_RIGHTS). It
 * reads one fixed struct and writes one errno: there is nothing to parse, and
 * neither side trusts the other. Bare sockets come 64 at a time, which costs
 * 6 us each instead of 20.
 *
 * An answer that is late, odd, or carries a socket of a wrong kind or network
 * namespace ends the relation: the agent counts as dead from then on, because
 * the next answer could belong to the previous question.
 *
 * The agent lives in a session of its own and blocks all signals, so that what
 * a terminal or a service manager sends to everybody ends it only when it ends
 * the forwarder: by the EOF.
 *
 * Not here: raw sockets, a second thread, starting the agent again. */

#include "agent.h"

#include "log.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* Linux 5.14 */
#endif

/** struct answer - in front of every message of the agent
 * @error: errno or 0     @n: descriptors that were sent along
 * @cookie: SO_NETNS_COOKIE, in the last message of set-up only */
struct answer {
	int32_t error;
	uint32_t n;
	uint64_t cookie;
};

/* Room for descriptors, aligned as the kernel wants it */
union control {
	struct cmsghdr head;
	char buf[CMSG_SPACE(AGENT_POOL * sizeof(int))];
};

static uint64_t socket_cookie(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		return 0;
	return cookie;
}

static void close_all(const int *fds, unsigned n)
{
	while (n--)
		close(fds[n]);
}

static void put_fds(struct msghdr *msg, union control *c, const int *fds,
		    unsigned n)
{
	memset(c, 0, sizeof(*c));
	msg->msg_control = c->buf;
	msg->msg_controllen = CMSG_SPACE(n * sizeof(int));
	c->head.cmsg_level = SOL_SOCKET;
	c->head.cmsg_type = SCM_RIGHTS;
	c->head.cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(&c->head), fds, n * sizeof(int));
}

/* seccomp(agent): sendmsg */
static int send_answer(int sock, struct answer *a, struct iovec data,
		       const int *fds)
{
	struct iovec iov[2] = { { a, sizeof(*a) }, data };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	union control c;

	if (a->n && fds)
		put_fds(&msg, &c, fds, a->n);
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Descriptors of a received message into @fds, which has room for AGENT_POOL;
 * returns their number */
static unsigned take_fds(struct msghdr *msg, int *fds)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	unsigned n;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	return n;
}

/* With a deadline, a call ends when we are stopped and continued, signal(7) */
static ssize_t receive(int sock, struct msghdr *msg)
{
	ssize_t len;

	do
		len = recvmsg(sock, msg, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	return len;
}

/* Receive one message of exactly @data.iov_len bytes behind the answer. When
 * we run out of descriptors the kernel cuts them: then ret_a->n is smaller. */
static int recv_answer(int sock, struct answer *ret_a, struct iovec data,
		       int fds[static AGENT_POOL])
{
	struct answer a = { 0 };
	struct iovec iov[2] = { { &a, sizeof(a) }, data };
	union control c;
	struct msghdr msg = { .msg_iov = iov,
			      .msg_iovlen = 2,
			      .msg_control = c.buf,
			      .msg_controllen = sizeof(c.buf) };
	ssize_t len = receive(sock, &msg);
	bool is_cut = len > 0 && msg.msg_flags & MSG_CTRUNC;
	unsigned n;

	if (len < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	n = take_fds(&msg, fds);
	if (!len)
		return -EPIPE;
	if ((size_t)len != sizeof(a) + data.iov_len ||
	    msg.msg_flags & MSG_TRUNC || (a.n != n && !is_cut)) {
		close_all(fds, n);
		return -EBADMSG;
	}
	if (is_cut && !n)
		a.error = EMFILE;
	a.n = n;
	*ret_a = a;
	return 0;
}

int agent_give(int sock, const void *data, size_t len, const int *fds,
	       unsigned n)
{
	union {
		const void *in;
		void *out;
	} buf = { .in = data };
	struct answer a = { .n = n };

	if (n > AGENT_POOL)
		return -EINVAL;
	return send_answer(sock, &a, (struct iovec){ buf.out, len }, fds);
}

/* The agent's side */

static int make_socket(const struct agent_req *r)
{
	int fd = socket(r->family, r->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static int bind_socket(int fd, const struct agent_req *r)
{
	union sockaddr_ip sa;
	socklen_t len = end_to_sockaddr(&r->end, r->family, &sa);
	size_t name_len = strnlen(r->device, sizeof(r->device) - 1);
	int one = 1;

	if (!len)
		return -EAFNOSUPPORT;
	if (r->family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)))
		return -errno;
	/* Of TCP that shares nothing: a port is free of old connections */
	if (r->type == SOCK_STREAM &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		return -errno;
	if (name_len && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, r->device,
				   (socklen_t)name_len))
		return -errno;
	return bind(fd, &sa.sa, len) ? -errno : 0;
}

/* Sockets for one request; if some cannot be made, those that can are sent */
static void fill_answer(const struct agent_req *r, struct answer *a, int *fds)
{
	unsigned want = r->what == AGENT_BOUND ? 1 : r->n;
	int rc = 0;

	if ((r->type != SOCK_DGRAM && r->type != SOCK_STREAM) ||
	    (r->family != AF_INET && r->family != AF_INET6) ||
	    want > AGENT_POOL) {
		a->error = EINVAL;
		return;
	}
	while (a->n < want) {
		rc = make_socket(r);
		if (rc < 0)
			break;
		fds[a->n++] = rc;
	}
	if (a->n && r->what == AGENT_BOUND) {
		rc = bind_socket(fds[0], r);
		if (rc) {
			close(fds[0]);
			a->n = 0;
		}
	}
	if (!a->n)
		a->error = -rc;
}

/* seccomp(agent): recvfrom socket(0=AF_INET|AF_INET6) setsockopt bind */
static _Noreturn void serve(int sock)
{
	struct agent_req r;

	while (recv(sock, &r, sizeof(r), 0) == sizeof(r)) {
		struct answer a = { 0 };
		int fds[AGENT_POOL];

		fill_answer(&r, &a, fds);
		if (send_answer(sock, &a, (struct iovec){ NULL, 0 }, fds))
			break;
		close_all(fds, a.n);
	}
	_exit(0);
}

static uint64_t own_cookie(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = fd < 0 ? 0 : socket_cookie(fd);

	if (fd >= 0)
		close(fd);
	return cookie;
}

/* Lock ourselves in. Standard output goes last: it shows our errors. */
static void settle(int sock)
{
	struct answer a = { .cookie = own_cookie() };
	int null;

	sandbox_close(sock, -1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sandbox_caps(CAP_NET_BIND_SERVICE);
	sandbox_seal(ROLE_AGENT);
	if (null >= 0)
		sandbox_stdio(null);
	if (send_answer(sock, &a, (struct iovec){ NULL, 0 }, NULL))
		_exit(1);
}

static _Noreturn void live(int sock, void (*setup)(void *arg, int sock),
			   void *arg)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "pasta-agent", 0, 0, 0);
	if (chdir("/")) {
		err("/: %s", strerror(errno));
		_exit(1);
	}
	setup(arg, sock);
	settle(sock);
	serve(sock);
}

/* The forwarder's side */

int agent_start(struct agent *a, void (*setup)(void *arg, int sock), void *arg,
		struct stats *stats)
{
	int sv[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int error = errno;

		close_all(sv, 2);
		return -error;
	}
	if (!pid) {
		close(sv[0]);
		live(sv[1], setup, arg);
	}
	close(sv[1]);
	memset(a, 0, sizeof(*a));
	a->sock = sv[0];
	a->pid = pid;
	a->stats = stats;
	a->place = "in the namespace";
	return 0;
}

int agent_take(struct agent *a, void *ret_data, size_t len, int *ret_fds,
	       unsigned n)
{
	int fds[AGENT_POOL];
	struct answer got = { 0 };
	int rc = recv_answer(a->sock, &got, (struct iovec){ ret_data, len },
			     fds);

	if (rc)
		return rc;
	if (got.n != n) {
		close_all(fds, got.n);
		return got.error ? -got.error : -EBADMSG;
	}
	if (n)
		memcpy(ret_fds, fds, n * sizeof(int));
	return 0;
}

int agent_ready(struct agent *a)
{
	struct timeval limit = { .tv_sec = AGENT_DEADLINE_MS / 1000,
				 .tv_usec = AGENT_DEADLINE_MS % 1000 * 1000 };
	int fds[AGENT_POOL];
	struct answer got = { 0 };
	int rc = recv_answer(a->sock, &got, (struct iovec){ NULL, 0 }, fds);

	if (rc)
		return rc;
	close_all(fds, got.n);
	a->cookie = got.cookie;
	/* From now on every call has a deadline */
	if (setsockopt(a->sock, SOL_SOCKET, SO_RCVTIMEO, &limit,
		       sizeof(limit)) ||
	    setsockopt(a->sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		return -errno;
	return 0;
}

/* Is this what was asked for?
 * seccomp(forwarder): getsockopt fcntl(1=F_GETFL) */
static bool is_wanted(const struct agent *a, int fd, const struct agent_req *r)
{
	int got = 0;
	socklen_t len = sizeof(got);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &got, &len) ||
	    got != r->family)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &got, &len) || got != r->type)
		return false;
	if (a->cookie && socket_cookie(fd) != a->cookie)
		return false;
	got = fcntl(fd, F_GETFL);
	return got >= 0 && got & O_NONBLOCK;
}

static int bury(struct agent *a, int error)
{
	warn("the agent %s is lost: %s; no new sockets there", a->place,
	     strerror(-error));
	close(a->sock);
	a->sock = -1;
	return error;
}

/* One request and its answer; returns the number of descriptors, or -errno
 * seccomp(forwarder): sendto recvmsg close */
static int call(struct agent *a, const struct agent_req *r,
		int fds[static AGENT_POOL])
{
	struct answer got = { 0 };
	int rc;

	if (a->sock < 0)
		return -EPIPE;
	if (send(a->sock, r, sizeof(*r), MSG_NOSIGNAL) < 0)
		return bury(a, -errno);
	rc = recv_answer(a->sock, &got, (struct iovec){ NULL, 0 }, fds);
	if (rc)
		return bury(a, rc == -EAGAIN ? -ETIMEDOUT : rc);
	for (unsigned i = 0; i < got.n; i++) {
		if (is_wanted(a, fds[i], r))
			continue;
		close_all(fds, got.n);
		return bury(a, -EBADMSG);
	}
	if (!got.n)
		return got.error > 0 ? -got.error : bury(a, -EBADMSG);
	return (int)got.n;
}

static int count(struct agent *a, int rc)
{
	if (rc < 0)
		stats_add(a->stats, AGENT_ERRORS, 1);
	return rc;
}

static const int sock_type[AGENT_TYPES] = { SOCK_DGRAM, SOCK_STREAM };

static int refill(struct agent *a, enum agent_type type, enum family family)
{
	struct agent_pool *pool = &a->pool[type][family];
	struct agent_req r = {
		.what = AGENT_SOCKETS,
		.family = family == FAMILY_V4 ? AF_INET : AF_INET6,
		.type = sock_type[type],
		.n = AGENT_POOL,
	};
	int n = call(a, &r, pool->fd);

	if (n < 0)
		return n;
	pool->n = (unsigned)n;
	return 0;
}

static int draw(struct agent *a, enum agent_type type, enum family family)
{
	struct agent_pool *pool = &a->pool[type][family];
	int rc;

	if (!pool->n) {
		rc = refill(a, type, family);
		if (rc)
			return count(a, rc);
	}
	return pool->fd[--pool->n];
}

int agent_udp(struct agent *a, enum family family)
{
	return draw(a, AGENT_DGRAM, family);
}

int agent_stream(struct agent *a, enum family family)
{
	return draw(a, AGENT_STREAM, family);
}

int agent_bound(struct agent *a, int type, int family, const struct end *end,
		const char *device)
{
	struct agent_req r = {
		.what = AGENT_BOUND,
		.family = family,
		.type = type,
		.n = 1,
		.end = *end,
	};
	int fds[AGENT_POOL] = { -1 };
	int n;

	if (strlen(device) >= sizeof(r.device))
		return count(a, -ENODEV);
	memcpy(r.device, device, strlen(device));
	if (family == AF_INET && !addr_is_set(&end->addr))
		r.end.addr = addr_any4;
	n = call(a, &r, fds);
	if (n > 1) {
		close_all(fds, (unsigned)n);
		n = bury(a, -EBADMSG);
	}
	return n < 0 ? count(a, n) : fds[0];
}
