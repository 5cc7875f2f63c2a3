/* tcp_splice_test.c - connections from loopback to loopback: every byte, every
 * end, every limit */

#include "tcp_splice.h"

#include "splice.h"

#include <sys/resource.h>

#define BULK (24 * 1024 * 1024)

static void exchange(const char *text)
{
	char c;
	int server, fd;

	start();
	fd = pair(text, &server);
	is_int(t.s.n, 1, "one connection");
	says(fd, server, "request", "there");
	says(server, fd, "answer", "and back");
	says(fd, server, "again", "and there");
	shutdown(fd, SHUT_WR);
	settle();
	is_int(stream_read(server, &c, 1), 0, "the server sees the end");
	says(server, fd, "still open", "the other direction goes on");
	is_int(t.s.n, 1, "one direction ended: not over");
	send(server, "last", 4, 0);
	close(server);
	settle();
	is_int(stream_read(fd, &c, 1), 1, "what came before the end");
	is_int(t.s.n, 0, "both ended: over");
	is_int(t.s.n_idle, PIPES_FIRST, "small messages need no pipe");
	is_int(t.stats.n[TCP_SPLICED], 1, "counted");
	is_int(t.stats.n[TCP_SPLICE_BYTES], 7 + 6 + 5 + 10 + 4, "its bytes");
	close(fd);
	stop();
}

/* The request and its end are there before the server is */
static void early(const char *text)
{
	int fd, server, l = tcp_bound(text, PORT, 8);
	struct splice_new new;
	struct end peer, local;
	char buf[16] = "";

	start();
	t.fds--; /* the listener */
	fd = client(text, &new);
	send(fd, "early", 5, 0);
	shutdown(fd, SHUT_WR);
	ok(tcp_splice_begin(&t.s, &new), "begin");
	settle();
	server = stream_accept(l, &peer, &local);
	is_int(stream_read(server, buf, sizeof(buf)), 5, "%s", buf);
	is_int(stream_read(server, buf, sizeof(buf)), 0, "and the end");
	close(server);
	settle();
	is_int(stream_read(fd, buf, sizeof(buf)), 0, "the client's end");
	close(fd);
	close(l);
	stop();
}

static void refused(const char *text)
{
	struct splice_new new;
	int fd;
	char c;

	start();
	fd = client(text, &new);
	ok(tcp_splice_begin(&t.s, &new), "begin");
	settle();
	is_int(stream_read(fd, &c, 1), -ECONNRESET, "the client is reset");
	is_int(t.stats.n[TCP_REFUSED], 1, "counted");
	close(fd);

	fd = client(text, &new);
	new.in_ns = true;
	ok(!tcp_splice_begin(&t.s, &new), "no address of the guest");
	is_int(stream_read(fd, &c, 1), -ECONNRESET, "the client is reset");
	close(fd);
	stop();
}

/* Small messages until one does not fit, or only a part of it */
static void trickle(void)
{
	size_t out = 0, in = 0, before;
	bool is_right = true;
	int server, fd;

	start();
	fd = pair(lo[0], &server);
	while (t.stats.n[TCP_SPLICE_BYTES] == out && out < BULK) {
		out = write_on(fd, out, out + 3001);
		settle();
	}
	ok(out < BULK, "the reader is stalled");
	is_int(t.s.n_idle, t.s.n_pipes, "no pipe is held");
	for (before = 1; is_right && in != before; settle()) {
		before = in;
		is_right = read_on(server, &in, BULK);
	}
	ok(is_right, "bytes are what they were");
	is_int(in, out, "all arrived");
	close(fd);
	close(server);
	stop();
}

/* No pipe to be had: looking does it */
static void pipeless(void)
{
	size_t out = 0, in = 0;
	bool is_right = true;
	int server, fd;

	start();
	while (t.s.n_idle) {
		t.s.n_idle--;
		close(t.s.idle[t.s.n_idle][0]);
		close(t.s.idle[t.s.n_idle][1]);
	}
	t.s.n_pipes = PIPES_MAX;
	fd = pair(lo[0], &server);
	while (is_right && in < BULK) {
		out = write_on(fd, out, BULK);
		settle();
		is_right = read_on(server, &in, 1 + in % 300000);
		settle();
		if (!net_waits(server))
			break;
	}
	ok(is_right, "bytes are what they were");
	is_int(in, BULK, "all arrived");
	t.s.n_pipes = 0;
	close(fd);
	close(server);
	stop();
}

/* Into the namespace: the guest's address, else by IPv4 */
static void inwards(void)
{
	struct agent_pool *pool = t.agent.pool[AGENT_STREAM];
	int fd, server, l = tcp_bound("127.0.0.1", PORT, 8);
	struct splice_new new;
	struct end peer, local;
	char c;

	start();
	t.fds--;
	t.fwd.seen[FAMILY_V4] = addr_loopback4;
	pool[FAMILY_V4].fd[0] = stream_open(AF_INET);
	pool[FAMILY_V4].n = 1;
	fd = client(lo[FAMILY_V6], &new);
	new.in_ns = true;
	new.is_any = true;
	ok(tcp_splice_begin(&t.s, &new), "no IPv6 inside: by IPv4");
	settle();
	server = stream_accept(l, &peer, &local);
	says(fd, server, "in", "there");
	is_int(pool[FAMILY_V4].n, 0, "by a socket of the agent");
	close(fd);
	close(server);
	settle();

	fd = client(lo[FAMILY_V4], &new);
	new.in_ns = true;
	ok(!tcp_splice_begin(&t.s, &new), "the agent has none");
	is_int(stream_read(fd, &c, 1), -ECONNRESET, "reset");
	close(fd);
	close(l);
	stop();
}

/* ::1 refuses, 127.0.0.1 does not */
static void turned(void)
{
	int l = tcp_bound("127.0.0.1", PORT, 8), fd, server;
	struct splice_new new;
	struct end peer, local;
	char buf[16] = "";

	start();
	t.fds--;
	fd = client("::1", &new);
	new.is_any = true;
	send(fd, "turn", 4, 0);
	ok(tcp_splice_begin(&t.s, &new), "begin");
	settle();
	server = stream_accept(l, &peer, &local);
	is_int(stream_read(server, buf, sizeof(buf)), 4, "by IPv4: %s", buf);
	is_int(t.stats.n[SPLICE_TURNED], 1, "counted");
	says(server, fd, "turned", "and back");
	close(fd);
	settle();
	close(server);

	fd = client("::1", &new); /* the listener has an address */
	ok(tcp_splice_begin(&t.s, &new), "begin");
	settle();
	is_int(stream_read(fd, buf, 1), -ECONNRESET, "IPv6 was meant");
	close(fd);
	close(l);

	fd = client("::1", &new);
	new.is_any = true;
	ok(tcp_splice_begin(&t.s, &new), "begin");
	settle();
	is_int(stream_read(fd, buf, 1), -ECONNRESET, "neither family");
	close(fd);
	stop();
}

/* As much as fits, a reader that comes back, and the end behind all of it */
static void bulk(const char *text, bool is_back)
{
	size_t out = 0, in = 0, before;
	int server, fd, from, to;
	bool is_right = true;
	char c;

	start();
	fd = pair(text, &server);
	from = is_back ? server : fd;
	to = is_back ? fd : server;
	do {
		before = out;
		out = write_on(from, out, BULK);
		settle();
	} while (out != before && out < BULK);
	ok(out < BULK, "a stalled reader holds the sender back");
	is_int(turn(), 0, "nothing spins");
	is_int(t.s.n_idle, t.s.n_pipes - 1, "a pipe is in use");
	while (is_right && in < BULK) {
		before = in;
		is_right = read_on(to, &in, 1 + in % 300000);
		settle();
		out = write_on(from, out, BULK);
		if (out == BULK)
			shutdown(from, SHUT_WR);
		settle();
		if (in == before && !net_waits(to))
			break;
	}
	ok(is_right, "bytes are what they were");
	is_int(in, BULK, "all arrived");
	is_int(stream_read(to, &c, 1), 0, "then the end");
	is_int(t.stats.n[TCP_SPLICE_BYTES], BULK, "counted");
	is_int(t.s.n_idle, t.s.n_pipes, "no pipe is held");
	says(to, from, "thanks", "the other direction");
	close(fd);
	close(server);
	stop();
}

static void reset(int fd)
{
	struct linger none = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

static void resets(const char *text, bool is_back)
{
	int server, fd, from, to;
	char buf[16] = "";

	start();
	fd = pair(text, &server);
	from = is_back ? server : fd;
	to = is_back ? fd : server;
	send(from, "before", 6, 0);
	reset(from);
	settle();
	is_int(stream_read(to, buf, sizeof(buf)), 6, "what came before");
	is_int(stream_read(to, buf, sizeof(buf)), -ECONNRESET, "then reset");
	is_int(t.s.n, 0, "over");
	close(to);

	/* While the reader is stalled */
	fd = pair(text, &server);
	from = is_back ? server : fd;
	to = is_back ? fd : server;
	for (size_t at = 0, was = 1; at != was;) {
		was = at;
		at = write_on(from, at, BULK);
		settle();
	}
	is_int(t.s.n, 1, "stalled");
	reset(from);
	settle();
	is_int(t.s.n, 0, "over");
	reset(to);

	/* The reader goes, with bytes under way */
	fd = pair(text, &server);
	from = is_back ? server : fd;
	to = is_back ? fd : server;
	send(to, "last", 4, 0);
	for (size_t at = 0, was = 1; at != was;) {
		was = at;
		at = write_on(from, at, BULK);
		settle();
	}
	reset(to);
	settle();
	is_int(t.s.n, 0, "over");
	is_int(stream_read(from, buf, sizeof(buf)), 4, "what it said before");
	is_int(stream_read(from, buf, sizeof(buf)), -ECONNRESET, "then reset");
	close(from);
	stop();
}

/* The end was passed on, and then the reader answers with a reset */
static void half_reset(void)
{
	int server, fd;
	char c;

	start();
	fd = pair(lo[0], &server);
	shutdown(fd, SHUT_WR);
	settle();
	is_int(stream_read(server, &c, 1), 0, "the end");
	reset(server);
	settle();
	is_int(stream_read(fd, &c, 1), -ECONNRESET, "reset, not an end");
	is_int(t.s.n, 0, "over");
	close(fd);
	stop();
}

/* splice(2) stops at urgent data for good */
static void urgent(void)
{
	size_t at = 0, in = 0;
	int server, fd, on = 1;
	bool is_right = true;

	start();
	fd = pair(lo[0], &server);
	setsockopt(server, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	for (unsigned i = 0; i < 20; i++) {
		uint8_t c;

		at = write_on(fd, at, at + 300000);
		c = pattern(at);
		if (send(fd, &c, 1, MSG_OOB | MSG_DONTWAIT) == 1)
			at++;
		if (i & 1)
			settle();
		is_right &= read_on(server, &in, 250000);
	}
	at = write_on(fd, at, at + 100000);
	shutdown(fd, SHUT_WR);
	while (settle() && is_right && in < at) {
		size_t was = in;

		is_right &= read_on(server, &in, BULK);
		if (in == was)
			break;
	}
	ok(is_right, "bytes are what they were");
	is_int(in, at, "all arrived");
	close(fd);
	close(server);
	stop();
}

/* More than a share: others have a turn in between */
static void fair(void)
{
	unsigned n_turns = 0, n_served = 0, n = 0;
	int server, server2, fd, fd2;
	size_t out = 0, in = 0;
	char c = 0;

	start();
	fd = pair(lo[0], &server);
	fd2 = pair(lo[0], &server2);
	for (; out < 2 * BULK; n++) {
		out = write_on(fd, out, 2 * BULK);
		send(fd2, "x", 1, 0);
		turn();
		n_turns += t.s.turns.n;
		n_served += stream_read(server2, &c, 1) == 1;
		if (!read_on(server, &in, 2 * BULK))
			ok(false, "bytes are what they were");
	}
	ok(n_turns > 0, "more than a share: another turn");
	is_int(n_served, n, "the small one was served each time");
	reset(fd);
	settle();
	is_int(t.s.turns.n, 0, "no turn for who is gone");
	close(server);
	close(fd2);
	close(server2);
	stop();
}

static void late(void)
{
	int server, fd, fd2, server2;
	char c;

	start();
	is_int(t.s.timer.next_ms(&t.s.timer), INT64_MAX, "empty: no deadline");
	fd = pair(lo[0], &server);
	is_int(t.s.timer.next_ms(&t.s.timer), 1000000 + TCP_IDLE_MS,
	       "idle time");
	ok(!tcp_splice_make_room(&t.s), "not idle for long enough");
	t.loop.now_ms += TCP_EVICT_MS;
	fd2 = pair(lo[0], &server2);
	t.s.max = 2;
	says(fd2, server2, "x", "in use");
	ok(tcp_splice_make_room(&t.s), "the idle one goes");
	is_int(stream_read(fd, &c, 1), -ECONNRESET, "reset");
	is_int(stream_read(server, &c, 1), -ECONNRESET, "on both sides");
	is_int(t.stats.n[TCP_EVICTED], 1, "counted");
	t.loop.now_ms += TCP_IDLE_MS - 1000;
	settle();
	is_int(t.s.n, 1, "not yet");
	t.loop.now_ms += 1000;
	settle();
	is_int(t.s.n, 0, "idle for too long");
	is_int(t.stats.n[TCP_EXPIRED], 1, "counted");
	close(fd);
	close(server);
	close(fd2);
	close(server2);
	stop();
}

/* No more than allowed, by number or by descriptors */
static void limits(void)
{
	struct rlimit was, few;
	struct splice_new new;
	int server, fd, fd2, server2;
	char c;

	start();
	t.s.max = 1;
	fd = pair(lo[0], &server);
	fd2 = client(lo[0], &new);
	ok(!tcp_splice_begin(&t.s, &new), "one too many");
	is_int(stream_read(fd2, &c, 1), -ECONNRESET, "reset");
	close(fd2);
	t.loop.now_ms += TCP_EVICT_MS;
	fd2 = pair(lo[0], &server2);
	is_int(t.s.n, 1, "an idle one gave way");
	is_int(stream_read(fd, &c, 1), -ECONNRESET, "reset");
	close(fd);
	close(server);
	t.s.max = 2;
	t.loop.now_ms += TCP_EVICT_MS;
	fd = client(lo[0], &new);
	server = tcp_bound(lo[0], PORT, 8);
	getrlimit(RLIMIT_NOFILE, &was);
	few = was;
	few.rlim_cur = (rlim_t)dup(0); /* the next one */
	close((int)few.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &few);
	ok(tcp_splice_begin(&t.s, &new), "an idle one's descriptors");
	setrlimit(RLIMIT_NOFILE, &was);
	settle();
	is_int(stream_read(fd2, &c, 1), -ECONNRESET, "it was reset");
	is_int(t.s.n, 1, "one is left");
	close(server);
	settle();
	close(fd);
	close(fd2);
	close(server2);
	stop();
}

/* A server whose backlog is full does not answer */
static void slow(void)
{
	int fd, l = tcp_bound(lo[0], PORT, 0), full[8];
	struct end e = E(lo[0], PORT);
	struct splice_new new;
	char c;

	start();
	t.fds--;
	for (unsigned i = 0; i < 8; i++) {
		full[i] = stream_open(AF_INET);
		stream_connect(full[i], AF_INET, &e);
	}
	fd = client(lo[0], &new);
	send(fd, "x", 1, 0);
	shutdown(fd, SHUT_WR);
	ok(tcp_splice_begin(&t.s, &new), "begin");
	settle();
	is_int(t.s.lists[SPLICE_CONNECTING].n, 1, "connecting");
	ok(!tcp_splice_make_room(&t.s), "which is not idle");
	t.loop.now_ms += TCP_CONNECT_MS;
	settle();
	is_int(stream_read(fd, &c, 1), -ECONNRESET, "given up");
	is_int(t.stats.n[TCP_REFUSED], 1, "counted");
	for (unsigned i = 0; i < 8; i++)
		close(full[i]);
	close(fd);
	close(l);
	stop();
}

/* Entries are used again */
static void churn(void)
{
	int server, fd;

	start();
	for (unsigned i = 0; i < 50; i++) {
		fd = pair(lo[0], &server);
		says(fd, server, "x", "there");
		close(fd);
		close(server);
		settle();
	}
	ok(t.s.high == 1, "entries are used again: %u", t.s.high);
	is_int(left(), 1 + 2 * PIPES_FIRST, "descriptors: epoll's, pipes'");
	stop();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	net_enter();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		if (f == FAMILY_V6 && !net_has_v6())
			continue;
		exchange(lo[f]);
		early(lo[f]);
		refused(lo[f]);
		for (int back = 0; back < 2; back++) {
			bulk(lo[f], back);
			resets(lo[f], back);
		}
	}
	if (net_has_v6()) {
		turned();
		inwards();
	}
	half_reset();
	trickle();
	pipeless();
	urgent();
	fair();
	late();
	limits();
	slow();
	churn();
	return done();
}
