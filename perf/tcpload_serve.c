/* tcpload_serve.c - the server of tcpload: answers whatever was asked for
 *
 * Exchanges are answered by one loop. A transfer pauses and compares, so it
 * gets a process of its own, which ends with its connection; the loop goes on.
 *
 * A request may come in pieces, as after a cut segment. Answers are small
 * enough for the send buffer: one that does not fit ends the connection. */

#include "tcpload.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#define EVENTS 64
#define BACKLOG 1024
#define PEERS_MAX 65536 /* by descriptor */
#define TICK_MS 200
#define TRANSFER_MAX_S 600

/** struct peer - of one connection: the request, and bytes of it so far */
struct peer {
	struct request request;
	size_t got;
	uint64_t owed; /* bytes of the exchange under way that have come */
	bool is_listener;
};

static struct peer peers[PEERS_MAX];
static uint8_t buf[SIZE_MAX_OF_ANSWER];
static uint64_t n_accepted, n_answered;

static void watch(int epfd, int fd, bool is_listener)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (fd >= PEERS_MAX)
		fail("more than %d descriptors", PEERS_MAX);
	peers[fd] = (struct peer){ .is_listener = is_listener };
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev))
		fail("epoll_ctl: %s", strerror(errno));
}

static int listen_on(const struct options *o, unsigned add)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd = tcp_open(o, add, &sa, &len);
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sa, len) || listen(fd, BACKLOG))
		fail("port %s + %u: %s", o->port, add, strerror(errno));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* What an accepted socket inherits is TCP_NODELAY, not O_NONBLOCK */
static void accept_all(int epfd, int fd)
{
	int one;

	while ((one = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
	       0) {
		n_accepted++;
		watch(epfd, one, false);
	}
}

/* The set of the loop would go on watching a socket that another process has */
static void run_transfer(int epfd, int fd, const struct request *r)
{
	struct lane_result result[2];

	epoll_ctl(epfd, EPOLL_CTL_DEL, fd, NULL);
	if (fork())
		return;
	signal(SIGTERM, SIG_DFL);
	for (int i = 3; i < PEERS_MAX; i++) {
		if (i != fd)
			close(i);
	}
	transfer(fd, r, true, TRANSFER_MAX_S, result);
	_exit(0);
}

/* Returns false if the connection is over */
static bool answer(int fd, struct peer *p, uint64_t n)
{
	p->owed += n;
	while (p->owed >= p->request.size) {
		if (send(fd, buf, p->request.size, MSG_NOSIGNAL) !=
		    (ssize_t)p->request.size)
			return false;
		n_answered++;
		p->owed -= p->request.size;
	}
	return true;
}

static bool begin(int epfd, int fd, struct peer *p)
{
	const struct request *r = &p->request;

	if (r->magic != MAGIC || r->size > sizeof(buf))
		return false;
	if (r->kind == KIND_TRANSFER) {
		run_transfer(epfd, fd, r);
		return false;
	}
	if (r->kind == KIND_ONE) {
		answer(fd, p, r->size);
		return false;
	}
	/* The client counts from when this one is answered */
	return r->size && send(fd, buf, 1, MSG_NOSIGNAL) == 1;
}

/* Returns false if the connection is over */
static bool serve_one(int epfd, int fd, struct peer *p)
{
	ssize_t n;

	if (p->got == sizeof(p->request)) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		return answer(fd, p, (uint64_t)n);
	}
	n = recv(fd, (char *)&p->request + p->got, sizeof(p->request) - p->got,
		 0);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	p->got += (size_t)n;
	return p->got < sizeof(p->request) || begin(epfd, fd, p);
}

int cmd_serve(const struct options *o)
{
	uint64_t end = now_ns() + (uint64_t)(o->secs * 1e9);
	struct rlimit rl = { PEERS_MAX, PEERS_MAX };
	struct epoll_event ev[EVENTS];
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	signal(SIGCHLD, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &rl);
	for (unsigned i = 0; i < o->ports; i++)
		watch(epfd, listen_on(o, i), true);
	while (!stopped && now_ns() < end) {
		int n = epoll_wait(epfd, ev, EVENTS, TICK_MS);

		for (int i = 0; i < n; i++) {
			int fd = ev[i].data.fd;

			if (peers[fd].is_listener)
				accept_all(epfd, fd);
			else if (!serve_one(epfd, fd, &peers[fd]))
				close(fd);
		}
	}
	printf("{\"cmd\":\"serve\",\"accepted\":%" PRIu64
	       ",\"answered\":%" PRIu64 ",\"cpu_us\":%.0f}\n",
	       n_accepted, n_answered, cpu_us());
	return 0;
}
