/* splice.h - spliced connections for a test, turned by hand
 * Knows: struct tcp_splice and what it borrows.  Does not know: what is tested.
 *
 * Clients, servers and the splice are this one process, in a network namespace
 * of its own; loopback delivers within the system call, so a turn of the loop
 * finds all there is. Time stands still unless a test moves it. */

#ifndef SPLICE_H
#define SPLICE_H

#include "tcp_splice.h"

#include "net.h"
#include "sock.h"
#include "sock_stream.h"

#include <signal.h>
#include <sys/epoll.h>

#define PORT 6000

static struct {
	struct loop loop;
	struct stats stats;
	struct fwd fwd;
	struct agent agent;
	struct tcp_splice s;
	unsigned fds;
} t;

static const char *const lo[] = { "127.0.0.1", "::1" };

static inline void start(void)
{
	t.fds = net_fds();
	t.stats = (struct stats){ 0 };
	t.fwd = (struct fwd){ 0 };
	memset(&t.s, 0, sizeof(t.s));
	t.s.loop = &t.loop;
	t.s.agent = &t.agent;
	t.s.stats = &t.stats;
	t.s.fwd = &t.fwd;
	t.s.max = 100;
	t.s.has[FAMILY_V4] = t.s.has[FAMILY_V6] = true;
	t.agent.sock = -1;
	t.agent.stats = &t.stats;
	if (loop_init(&t.loop))
		ok(false, "loop: %s", strerror(errno));
	t.loop.now_ms = 1000000;
	tcp_splice_init(&t.s);
}

/* One wake-up; returns the number of events */
static inline int turn(void)
{
	struct epoll_event ev[64];
	int n = epoll_wait(t.loop.epfd, ev, 64, 0);

	loop_handle(&t.loop, ev, n);
	if (t.s.timer.next_ms(&t.s.timer) <= t.loop.now_ms)
		t.s.timer.fire(&t.s.timer, t.loop.now_ms);
	return n;
}

/* Until nothing happens any more; false if that never comes */
static inline bool settle(void)
{
	for (unsigned i = 0; i < 10000; i++)
		if (!turn() && !t.s.turns.n)
			return true;
	ok(false, "the loop spins");
	return false;
}

static inline void stop(void)
{
	settle();
	is_int(t.s.n, 0, "no connection is left");
	for (unsigned i = 0; i < t.s.n_idle; i++) {
		close(t.s.idle[i][0]);
		close(t.s.idle[i][1]);
	}
	is_int(t.s.n_pipes, t.s.n_idle, "every pipe came back");
	close(t.loop.epfd);
	is_int(net_fds(), t.fds, "no descriptor is left");
}

static inline int tcp_bound(const char *text, uint16_t port, int backlog)
{
	struct end e = E(text, port);
	int family = addr_is_v4(&e.addr) ? AF_INET : AF_INET6;
	int fd = stream_open(family);

	stream_setup_listener(fd, family, 0);
	if (sock_bind(fd, family, &e, "") || listen(fd, backlog))
		ok(false, "%s %u: %s", text, port, strerror(errno));
	return fd;
}

/* A client that was accepted at @text; what is accepted is in @ret */
static inline int client(const char *text, struct splice_new *ret)
{
	int fd, l = tcp_bound(text, 5000, 8);
	struct end e = E(text, 5000), peer;

	fd = stream_open(addr_is_v4(&e.addr) ? AF_INET : AF_INET6);
	stream_connect(fd, addr_is_v4(&e.addr) ? AF_INET : AF_INET6, &e);
	*ret = (struct splice_new){ .target = PORT };
	ret->fd = stream_accept(l, &peer, &ret->local);
	if (ret->fd < 0)
		ok(false, "accept: %s", strerror(-ret->fd));
	close(l);
	return fd;
}

/* A connection through the splice from a client to a server at @text */
static inline int pair(const char *text, int *ret_server)
{
	int l = tcp_bound(text, PORT, 8);
	struct splice_new new;
	struct end peer, local;
	int fd = client(text, &new);

	ok(tcp_splice_begin(&t.s, &new), "begin");
	settle();
	*ret_server = stream_accept(l, &peer, &local);
	if (*ret_server < 0)
		ok(false, "server: %s", strerror(-*ret_server));
	close(l);
	return fd;
}

static inline void says(int from, int to, const char *text, const char *what)
{
	char buf[256] = "";

	if (send(from, text, strlen(text), 0) < 0)
		ok(false, "send: %s", strerror(errno));
	settle();
	(void)stream_read(to, buf, sizeof(buf) - 1);
	is_str(buf, text, "%s", what);
}

static inline uint8_t pattern(size_t at)
{
	return (uint8_t)(at * 7 + (at >> 13) + (at >> 21));
}

/* Write what fits, up to @end; returns where it stands now */
static inline size_t write_on(int fd, size_t at, size_t end)
{
	static uint8_t buf[100000];

	while (at < end) {
		size_t len = end - at < sizeof(buf) ? end - at : sizeof(buf);
		ssize_t n;

		for (size_t i = 0; i < len; i++)
			buf[i] = pattern(at + i);
		n = send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			break;
		at += (size_t)n;
	}
	return at;
}

/* Read at most @max; false if a byte is wrong */
static inline bool read_on(int fd, size_t *at, size_t max)
{
	static uint8_t buf[70000];

	while (max) {
		size_t len = max < sizeof(buf) ? max : sizeof(buf);
		ssize_t n = stream_read(fd, buf, len);

		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			if (buf[i] != pattern(*at + (size_t)i))
				return false;
		*at += (size_t)n;
		max -= (size_t)n;
	}
	return true;
}

static inline int left(void)
{
	return (int)(net_fds() - t.fds);
}

#endif
