/* tcp_test.c - connections over the guest's link, against real sockets
 *
 * The guest is this file: it writes segments, and reads those that come. Hosts
 * are sockets of a namespace of the test's own; time stands still unless a test
 * moves it. */

#include "tcp.h"

#include "frames.h"
#include "net.h"
#include "sock.h"
#include "sock_stream.h"
#include "tcp_open.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#define PORT 6000

static struct {
	struct loop loop;
	struct stats stats;
	struct fwd fwd;
	struct tap tap;
	struct tell tell;
	struct tcp *t;
	int guest;
	unsigned fds;
} t;

/** struct talk - the guest's end of a connection
 * @seq: next of its bytes     @ack: next that it expects */
struct talk {
	struct end me, it;
	uint32_t seq, ack;
};

static const char *const at_guest[] = { "192.0.2.99", "2001:db8::63" };
static const char *const at_b[] = { "198.51.100.2", "2001:db8::b" };
static struct pkt got;

static void start(void)
{
	static const struct hash_key key = { { 1, 2 } };
	const struct head_link ends = { B.mac, A.mac };
	int sv[2];

	t.fds = net_fds();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv) ||
	    loop_init(&t.loop))
		skip_all("no socket pair: %s", strerror(errno));
	t.loop.now_ms = 1000000;
	t.guest = sv[1];
	t.stats = (struct stats){ 0 };
	t.fwd = (struct fwd){
		.guest = { A_(at_guest[0]), A_(at_guest[1]) },
		.seen = { A_(at_guest[0]), A_(at_guest[1]) },
		.ours = { A_("192.0.2.1"), A_("fe80::99") },
	};
	t.tap.pcap = NULL;
	tap_init(&t.tap, sv[0], OFFLOAD_USO, &ends, &t.stats);
	t.tell = (struct tell){
		.tap = &t.tap, .stats = &t.stats, .loop = &t.loop, .fwd = &t.fwd
	};
	t.t = mmap(NULL, sizeof(*t.t), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t.t == MAP_FAILED)
		skip_all("%zu bytes: %s", sizeof(*t.t), strerror(errno));
	t.t->loop = &t.loop;
	t.t->tap = &t.tap;
	t.t->stats = &t.stats;
	t.t->fwd = &t.fwd;
	t.t->tell = &t.tell;
	t.t->conf = (struct tcp_conf){ .has = { true, true },
				       .max = 16,
				       .mtu = 65520 };
	tcp_init(t.t, &key);
}

static void stop(void)
{
	for (uint32_t i = 0; i < t.t->high; i++)
		if (t.t->conn[i].watch.fn)
			tcp_conn_abort(t.t, &t.t->conn[i], false);
	is_int(t.t->n, 0, "no connection is left");
	close(t.tap.fd);
	close(t.guest);
	close(t.loop.epfd);
	munmap(t.t, sizeof(*t.t));
	is_int(net_fds(), t.fds, "no descriptor is left");
}

static void turn(void)
{
	struct epoll_event ev[16];
	int n;

	for (unsigned i = 0; i < 1000; i++) {
		n = epoll_wait(t.loop.epfd, ev, 16, i ? 0 : 20);
		if (n <= 0)
			return;
		loop_handle(&t.loop, ev, n);
	}
	ok(false, "the loop spins");
}

static void later(int64_t ms)
{
	struct timer *timer = &t.t->timer;

	t.loop.now_ms += ms;
	if (timer->next_ms(timer) <= t.loop.now_ms)
		timer->fire(timer, t.loop.now_ms);
}

static void adds(struct talk *k, uint8_t flags, const void *data, uint32_t len)
{
	static struct shot s;
	struct pkt_tcp h = { .seq = k->seq,
			     .ack = flags & TCP_ACK ? k->ack : 0,
			     .window = 65535,
			     .flags = flags };
	struct frame f;
	struct pkt p;

	tcp_data(&s, &k->me, &k->it, &h, data, len);
	f = (struct frame){ .l2 = s.raw + VNET_LEN, .len = s.len - VNET_LEN };
	memcpy(&f.vnet, s.raw, sizeof(f.vnet));
	if (!ok(pkt_parse(&f, &p) == PKT_TCP, "a segment"))
		return;
	k->seq += len + !!(flags & (TCP_SYN | TCP_FIN));
	tcp_from_guest(t.t, &p);
}

static void says(struct talk *k, uint8_t flags, const void *data, uint32_t len)
{
	adds(k, flags, data, len);
	tcp_flush(t.t);
}

/* The next frame to the guest, in @got */
static enum pkt_what hears(void)
{
	static struct shot s;
	ssize_t n = read(t.guest, s.raw, sizeof(s.raw));
	struct frame f;

	got = (struct pkt){ 0 };
	if (n <= 0)
		return PKT_WHAT_COUNT;
	s.len = (uint32_t)n;
	ok(is_sound(s.raw, s.len), "a frame that the kernel would take");
	f = (struct frame){ .l2 = s.raw + VNET_LEN, .len = s.len - VNET_LEN };
	memcpy(&f.vnet, s.raw, sizeof(f.vnet));
	return pkt_parse(&f, &got);
}

/* The next segment has these flags */
static bool gets(struct talk *k, uint8_t flags, const char *what)
{
	if (!ok(hears() == PKT_TCP, "%s: a segment", what))
		return false;
	k->ack = got.tcp.seq + got.body.len +
		 !!(got.tcp.flags & (TCP_SYN | TCP_FIN));
	return is_int(got.tcp.flags, flags, "%s: its flags", what);
}

static void quiet(const char *what)
{
	ok(hears() == PKT_WHAT_COUNT, "%s: nothing comes", what);
}

static int listener(unsigned f, int backlog)
{
	struct end e = E(at_b[f], PORT);
	int family = f ? AF_INET6 : AF_INET, fd = stream_open(family);

	stream_setup_listener(fd, family, 0);
	if (sock_bind(fd, family, &e, "") || listen(fd, backlog))
		ok(false, "%s: %s", at_b[f], strerror(errno));
	return fd;
}

static struct talk talk_of(unsigned f, uint16_t port)
{
	return (struct talk){ .me = E(at_guest[f], port),
			      .it = E(at_b[f], PORT),
			      .seq = 1000 };
}

static struct tcp_conn *conn(const struct talk *k)
{
	return tcp_conn_find(t.t, &k->me, &k->it);
}

/* A connection of the guest to @listener; returns the server's end */
static int opened(struct talk *k, int listener_fd)
{
	int fd;

	says(k, TCP_SYN, NULL, 0);
	turn();
	gets(k, TCP_SYN | TCP_ACK, "opened");
	says(k, TCP_ACK, NULL, 0);
	fd = stream_accept(listener_fd, NULL, NULL);
	ok(fd >= 0, "accepted");
	return fd;
}

/* Everything there is to read */
static uint32_t takes(int fd, const uint8_t *want, uint32_t at)
{
	static uint8_t buf[65536];
	ssize_t n;

	while ((n = stream_read(fd, buf, sizeof(buf))) > 0) {
		if (memcmp(buf, want + at, (size_t)n))
			ok(false, "other bytes at %u", at);
		at += (uint32_t)n;
	}
	return at;
}

static void whole_life(unsigned f)
{
	struct talk k = talk_of(f, 5000);
	int l = listener(f, 8), fd;
	char c[8] = "";

	start();
	says(&k, TCP_SYN, NULL, 0);
	quiet("before the remote has answered");
	k.seq--;
	says(&k, TCP_SYN, NULL, 0);
	is_int(t.t->n, 1, "the same SYN is the same connection");
	turn();
	gets(&k, TCP_SYN | TCP_ACK, "answer");
	is_int(got.tcp.ack, 1001, "it acknowledges the SYN");
	says(&k, TCP_ACK, NULL, 0);
	fd = stream_accept(l, NULL, NULL);
	says(&k, TCP_ACK | TCP_PSH, "ask", 3);
	is_int(stream_read(fd, c, sizeof(c)), 3, "the request arrives");
	is_mem(c, "ask", 3, "whole");
	while (hears() == PKT_TCP)
		;
	send(fd, "told", 4, 0);
	turn();
	gets(&k, TCP_ACK | TCP_PSH, "response");
	is_int(got.body.len, 4, "its length");
	is_mem(got.body.buf, "told", 4, "whole");
	is_int(got.tcp.ack, k.seq, "and acknowledges");
	says(&k, TCP_ACK | TCP_FIN, NULL, 0);
	is_int(stream_read(fd, c, 1), 0, "its end");
	gets(&k, TCP_ACK, "end acknowledged");
	close(fd);
	turn();
	gets(&k, TCP_ACK | TCP_FIN, "the other end");
	says(&k, TCP_ACK, NULL, 0);
	is_int(t.t->n, 0, "over at once");
	is_int(t.stats.n[TCP_CLOSED], 1, "counted");
	says(&k, TCP_ACK, NULL, 0);
	gets(&k, TCP_RST, "of no connection");
	stop();
	close(l);
}

static void refused(unsigned f)
{
	struct talk k = talk_of(f, 5000);

	start();
	says(&k, TCP_SYN, NULL, 0);
	turn();
	gets(&k, TCP_RST | TCP_ACK, "nobody listens");
	is_int(got.tcp.ack, 1001, "it acknowledges the SYN");
	is_int(t.t->n, 0, "nothing is kept");
	k.seq = 1000;
	k.it = E(f ? "2001:db8:9::9" : "203.0.113.9", PORT);
	says(&k, TCP_SYN, NULL, 0);
	turn();
	is_int(hears(), PKT_ICMP, "no way there: an error");
	is_int(got.body.buf[0], f ? 1 : 3, "unreachable");
	is_int(t.stats.n[DROP_NO_ROUTE], 1, "counted");
	is_int(t.t->n, 0, "nothing is kept");
	stop();
}

static void denied(unsigned f)
{
	static struct policy policy;
	struct talk k = talk_of(f, 5000);
	int l = listener(f, 8);

	start();
	memset(&policy, 0, sizeof(policy));
	ok(!policy_add(&policy, f ? "2001:db8::b" : "198.51.100.2", false),
	   "a rule");
	t.t->policy = &policy;
	says(&k, TCP_SYN, NULL, 0);
	is_int(hears(), PKT_ICMP, "denied: an error");
	ok(got.body.buf[1] == (f ? 1 : 13), "prohibited");
	is_int(t.stats.n[DROP_DENIED], 1, "counted");
	ok(stream_accept(l, NULL, NULL) == -EAGAIN, "nobody has come");
	stop();
	close(l);
}

static void full(unsigned f)
{
	struct talk k[3] = { talk_of(f, 5000), talk_of(f, 5001),
			     talk_of(f, 5002) };
	int l = listener(f, 8), fd[3];
	char c;

	start();
	t.t->conf.max = 2;
	fd[0] = opened(&k[0], l);
	later(1000);
	fd[1] = opened(&k[1], l);
	says(&k[2], TCP_SYN, NULL, 0);
	turn();
	quiet("no place: the guest asks again");
	is_int(t.stats.n[DROP_TABLE_FULL], 1, "counted");
	is_int(t.t->n, 2, "none gave way");
	t.loop.now_ms += TCP_EVICT_MS - 1000;
	k[2].seq = 1000;
	says(&k[2], TCP_SYN, NULL, 0);
	gets(&k[0], TCP_RST | TCP_ACK, "the oldest is told");
	is_int(stream_read(fd[0], &c, 1), -ECONNRESET, "so is its remote");
	is_int(t.stats.n[TCP_EVICTED], 1, "counted");
	turn();
	gets(&k[2], TCP_SYN | TCP_ACK, "who came is served");
	ok(conn(&k[1]), "the younger one is there");
	for (unsigned i = 0; i < 2; i++)
		close(fd[i]);
	stop();
	close(l);
}

/* An entry that is taken again in the same batch hears nothing of what was for
 * the one before */
static void reuse(unsigned f)
{
	struct talk k[2] = { talk_of(f, 5000), talk_of(f, 5001) };
	int n, fd, l = listener(f, 8);
	struct epoll_event ev[16];
	struct tcp_conn *c;

	start();
	fd = opened(&k[0], l);
	c = conn(&k[0]);
	stream_reset(fd);
	n = epoll_wait(t.loop.epfd, ev, 16, 100);
	ok(n == 1, "an event waits");
	t.loop.batch = ev;
	t.loop.n_batch = n;
	tcp_conn_abort(t.t, c, false);
	says(&k[1], TCP_SYN, NULL, 0);
	ok(conn(&k[1]) == c, "the entry is another's now");
	loop_handle(&t.loop, ev, n);
	is_int(c->tcb.state, TCB_CONNECTING, "which heard nothing");
	turn();
	gets(&k[1], TCP_SYN | TCP_ACK, "until its own event");
	stop();
	close(l);
}

static void idle(unsigned f)
{
	struct talk k[2] = { talk_of(f, 5000), talk_of(f, 5001) };
	int l = listener(f, 8), fd[2];
	char c;

	start();
	fd[0] = opened(&k[0], l);
	fd[1] = opened(&k[1], l);
	shutdown(fd[1], SHUT_WR);
	turn();
	gets(&k[1], TCP_ACK | TCP_FIN, "one direction ends");
	says(&k[1], TCP_ACK, NULL, 0);
	later(TCP_CLOSING_MS - 1000);
	is_int(t.t->n, 2, "both are kept");
	later(2000);
	ok(!conn(&k[1]) && conn(&k[0]), "four minutes for a half");
	gets(&k[1], TCP_RST | TCP_ACK, "the guest is told");
	later(TCP_IDLE_MS - TCP_CLOSING_MS - 2000);
	ok(conn(&k[0]), "kept");
	later(2000);
	ok(!conn(&k[0]), "two hours and four minutes for a whole");
	gets(&k[0], TCP_RST | TCP_ACK, "the guest is told");
	is_int(stream_read(fd[0], &c, 1), -ECONNRESET, "and the remote");
	is_int(t.stats.n[TCP_EXPIRED], 2, "counted");
	close(fd[0]);
	close(fd[1]);
	stop();
	close(l);
}

/* Two remotes that look the same to the guest */
static void alike(unsigned f)
{
	struct end peer = E(at_b[f], 7000);
	int l = listener(f, 8), fd[2];
	struct talk k = { 0 };

	start();
	for (unsigned i = 0; i < 2; i++) {
		struct end e = E(at_b[f], PORT);
		int family = f ? AF_INET6 : AF_INET, a;

		fd[i] = stream_open(family);
		stream_connect(fd[i], family, &e);
		a = stream_accept(l, NULL, NULL);
		tcp_open_to_guest(t.t, a, &peer, 80);
		gets(&k, TCP_SYN, "asked");
		is_int(got.dst.port, 80, "at its port");
		if (i)
			ok(got.src.port >= 49152, "from another port");
		else
			is_int(got.src.port, 7000, "from its port");
	}
	is_int(t.stats.n[TCP_ACCEPTED], 2, "counted");
	close(fd[0]);
	close(fd[1]);
	stop();
	close(l);
}

/* A kernel without SO_PEEK_OFF: what is in flight is passed over */
static void no_offset(unsigned f)
{
	struct talk k = talk_of(f, 5000);
	int l = listener(f, 8), fd, off = -1;
	struct tcp_conn *c;

	start();
	fd = opened(&k, l);
	c = conn(&k);
	c->flags &= (uint16_t)~TCP_SEEKS;
	setsockopt(c->watch.fd, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof(off));
	send(fd, "one", 3, 0);
	turn();
	gets(&k, TCP_ACK | TCP_PSH, "first");
	send(fd, "two", 3, 0);
	turn();
	gets(&k, TCP_ACK | TCP_PSH, "second");
	is_int(got.body.len, 3, "only what is new");
	is_mem(got.body.buf, "two", 3, "whole");
	later(1000);
	gets(&k, TCP_ACK | TCP_PSH, "not acknowledged");
	is_int(got.body.len, 6, "all of it again");
	is_mem(got.body.buf, "onetwo", 6, "whole");
	says(&k, TCP_ACK, NULL, 0);
	close(fd);
	turn();
	gets(&k, TCP_ACK | TCP_FIN, "the end");
	stop();
	close(l);
}

/* What a socket had is read already, which only a look in vain tells: the
 * acknowledgement that would have gone with it goes alone. */
static void vain_look(unsigned f)
{
	struct talk k = talk_of(f, 5000);
	int l = listener(f, 8), fd;

	start();
	fd = opened(&k, l);
	conn(&k)->flags |= TCP_READABLE | TCP_PULL;
	says(&k, TCP_ACK | TCP_PSH, "ask", 3);
	for (unsigned i = 0; i < 20; i++)
		later(5);
	gets(&k, TCP_ACK, "after a look in vain");
	is_int(got.tcp.ack, k.seq, "acknowledged");
	close(fd);
	stop();
	close(l);
}

/* The remote ended before its last bytes were read: they and FIN are one
 * segment, also when it is sent again */
static void last_words(unsigned f)
{
	struct talk k = talk_of(f, 5000);
	int l = listener(f, 8), fd;
	uint32_t seq;

	start();
	fd = opened(&k, l);
	send(fd, "bye", 3, 0);
	close(fd);
	turn();
	seq = k.ack;
	for (unsigned i = 0; i < 2; i++) {
		gets(&k, TCP_ACK | TCP_PSH | TCP_FIN, "the last");
		is_int(got.tcp.seq, seq, "where they belong");
		is_int(got.body.len, 3, "all of it");
		quiet("nothing behind it");
		if (!i)
			later(1000);
	}
	says(&k, TCP_ACK | TCP_FIN, NULL, 0);
	gets(&k, TCP_ACK, "acknowledged");
	is_int(t.t->n, 0, "over");
	stop();
	close(l);
}

/* The socket takes less than it had promised */
static void cut_short(unsigned f)
{
	enum { PART = 60000, PARTS = 3 };
	struct talk k = talk_of(f, 5000);
	const uint8_t *data = payload_bytes(PART);
	int l = listener(f, 8), fd, small = 4096;
	uint32_t n = 0;

	start();
	setsockopt(l, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	fd = opened(&k, l);
	small = 1;
	setsockopt(conn(&k)->watch.fd, SOL_SOCKET, SO_SNDBUF, &small,
		   sizeof(small));
	conn(&k)->tcb.rcv_edge = k.seq + PART; /* promised before */
	says(&k, TCP_ACK, data, PART);
	ok(t.stats.n[TCP_RESTS] > 0, "cut short");
	is_int(t.stats.n[DROP_TCP_ROOM], 0, "nothing is dropped");
	for (unsigned i = 0; i < 1000 && n < PART; i++) {
		n = takes(fd, data, n);
		turn();
	}
	is_int(n, PART, "all of it arrives");
	ok(rest_is_empty(&conn(&k)->rest), "no rest is left");
	close(fd);
	stop();
	close(l);
}

int main(void)
{
	static void (*const tests[])(unsigned f) = {
		whole_life, refused,   denied,	  full,	     reuse,	idle,
		alike,	    no_offset, cut_short, vain_look, last_words
	};

	signal(SIGPIPE, SIG_IGN);
	net_enter();
	if (!net_has_v6())
		skip_all("no IPv6");
	for (unsigned f = 0; f < FAMILY_COUNT; f++)
		net_addr(at_b[f], 1);
	for (unsigned f = 0; f < FAMILY_COUNT; f++)
		for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++)
			tests[i](f);
	return done();
}
