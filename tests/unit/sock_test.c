/* sock_test.c - what one call sends arrives; who sent it, and where to */

#include "sock.h"

#include "net.h"
#include "sock_error.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct sock_rx rx;
static uint8_t data[DGRAM_MAX];

/* The three kinds of sockets, and an address of ours for each */
static const struct kind {
	const char *name;
	int family;
	unsigned flags;
	const char *any;
	const char *peer; /* address of the far end */
	const char *other; /* another address of ours */
} kinds[] = {
	{ "IPv4", AF_INET, 0, "0.0.0.0", "127.0.0.1", "127.0.0.5" },
	{ "IPv6", AF_INET6, 0, "::", "::1", "2001:db8::5" },
	{ "dual, IPv4", AF_INET6, SOCK_DUAL, "::", "127.0.0.1", "127.0.0.5" },
	{ "dual, IPv6", AF_INET6, SOCK_DUAL, "::", "::1", "2001:db8::5" },
};

static int open_bound(const struct kind *k, unsigned flags, uint16_t port)
{
	struct end local = E(k->any, port);
	int rc, fd = sock_open(k->family);

	sock_setup(fd, k->family, k->flags | flags);
	rc = sock_bind(fd, k->family, &local, "");
	if (rc)
		ok(false, "%s: bind: %s", k->name, strerror(-rc));
	return fd;
}

static struct run run_of(uint32_t len, uint32_t seg)
{
	struct piece p = { .buf = data, .len = len, .seg = seg };
	struct run r;

	run_start(&r, 0, &p);
	return r;
}

/* All that is queued, in one array of lengths; waits for the first. */
static unsigned lengths(int fd, uint32_t *len, unsigned max)
{
	unsigned n = 0;

	if (!net_waits(fd))
		return 0;
	for (int got; (got = sock_recv(&rx, fd, ROUND_MSGS)) > 0;)
		for (int i = 0; i < got && n < max; i++)
			len[n++] = rx.msg[i].body.len;
	return n;
}

/* Three datagrams in one call: three for a plain socket, one buffer with the
 * segment size for ours. */
static void segmented(const struct kind *k)
{
	struct run r = run_of(2500, 1000), one;
	struct sock_dest d = { .family = k->family };
	struct end to = E(k->peer, 7000);
	int plain = net_udp(k->peer, 7000);
	struct piece p = { .buf = data, .len = 700 };
	uint8_t buf[4096];

	d.fd = open_bound(k, 0, 0);
	d.to = &to;
	is_int(sock_send(&d, &r), 0, "%s: run of three", k->name);
	is_int(net_recv(plain, buf, sizeof(buf), NULL), 1000, "first");
	is_mem(buf, data, 1000, "its bytes");
	is_int(net_recv(plain, buf, sizeof(buf), NULL), 1000, "second");
	is_mem(buf, data + 1000, 1000, "its bytes");
	is_int(net_recv(plain, buf, sizeof(buf), NULL), 500, "third");
	is_mem(buf, data + 2000, 500, "its bytes");
	ok(net_silent(plain), "and no more");
	close(plain);

	/* Gathered from slices of several places */
	one = run_of(700, 0);
	p.buf = data + 5000;
	ok(run_append(&one, &p), "a second slice");
	p.len = 1;
	ok(run_append(&one, &p), "a third");
	plain = open_bound(k, 0, 7000);
	is_int(sock_send(&d, &one), 0, "%s: slices", k->name);
	ok(net_waits(plain) && sock_recv(&rx, plain, 8) == 1,
	   "one buffer for a socket of ours");
	is_int(rx.msg[0].body.len, 1401, "all bytes");
	is_int(rx.msg[0].body.seg, 700, "segment size");
	is_int(piece_segs(&rx.msg[0].body), 3, "three datagrams");
	is_mem(rx.msg[0].body.buf + 700, data + 5000, 700, "second slice");
	ok(!rx.msg[0].is_cut, "nothing cut");
	is_int(sock_recv(&rx, plain, 8), 0, "then nothing");
	close(plain);
	close(d.fd);
}

static void sizes(const struct kind *k)
{
	static const uint32_t want[] = { 1, 0, 65507, 0, 1472 };
	struct sock_dest d = { .family = k->family };
	struct end to = E(k->peer, 7000), from;
	uint32_t got[8];
	int fd = open_bound(k, SOCK_PKTINFO, 7000);

	d.fd = open_bound(k, 0, 7001);
	d.to = &to;
	/* The longest, with IPv6's header, is more than lo takes whole */
	sock_mark(d.fd, addr_family(&to.addr), &sock_mark_set,
		  &(struct mark){ 0 });
	for (unsigned i = 0; i < COUNT(want); i++) {
		struct run r = run_of(want[i], 0);

		is_int(sock_send(&d, &r), 0, "%s: %u bytes", k->name, want[i]);
	}
	is_int(lengths(fd, got, 8), COUNT(want), "%s: as many come", k->name);
	is_mem(got, want, sizeof(want), "in order, empty ones too");
	ok(!rx.msg[0].is_cut && !rx.msg[COUNT(want) - 1].is_cut, "none cut");
	from = E(k->peer, 7001);
	ok(end_eq(&rx.msg[2].from, &from), "%s: sender", k->name);
	ok(addr_eq(&rx.msg[2].to, &to.addr), "%s: local address", k->name);
	is_int(rx.msg[2].ifindex, 1, "%s: interface", k->name);
	is_mem(rx.msg[2].body.buf, data, 65507, "%s: content", k->name);
	close(fd);

	fd = open_bound(k, 0, 7000);
	sock_send(&d, &(struct run){ .n_slices = 0, .n_segs = 1 });
	ok(net_waits(fd) && sock_recv(&rx, fd, 1) == 1 && !rx.msg[0].body.len,
	   "%s: a run without bytes", k->name);
	ok(!addr_is_set(&rx.msg[0].to) && !rx.msg[0].ifindex,
	   "%s: not asked: no local address", k->name);
	close(fd);
	close(d.fd);
}

/* Answers leave from the address that was spoken to. */
static void sources(const struct kind *k)
{
	struct sock_dest d = { .family = k->family };
	struct run r = run_of(10, 0), three = run_of(30, 10);
	struct end to, from, client = E(k->peer, 7005);
	int fd = net_udp(k->peer, 7005);
	uint8_t buf[64];

	d.fd = open_bound(k, SOCK_PKTINFO, 7000);
	to = E(k->other, 7000);
	net_send(fd, &to, "hi", 2);
	ok(net_waits(d.fd) && sock_recv(&rx, d.fd, 1) == 1, "%s: asked",
	   k->name);
	ok(addr_eq(&rx.msg[0].to, &to.addr), "%s: at its other address",
	   k->name);
	d.to = &rx.msg[0].from;
	d.from = &to.addr;
	is_int(sock_send(&d, &r), 0, "%s: answer", k->name);
	is_int(net_recv(fd, buf, sizeof(buf), &from), 10, "comes");
	ok(end_eq(&from, &to), "%s: from there", k->name);
	is_int(sock_send(&d, &three), 0, "%s: three answers", k->name);
	is_int(net_recv(fd, buf, sizeof(buf), &from), 10, "come");
	ok(end_eq(&from, &to), "%s: from there", k->name);

	d.to = NULL;
	d.from = NULL;
	ok(sock_send(&d, &r) < 0, "%s: nowhere to: refused", k->name);
	is_int(sock_connect(d.fd, k->family, &client), 0, "%s: connect",
	       k->name);
	while (!net_silent(fd))
		net_recv(fd, buf, sizeof(buf), NULL);
	is_int(sock_send(&d, &r), 0, "%s: connected send", k->name);
	is_int(net_recv(fd, buf, sizeof(buf), &from), 10, "comes");
	close(fd);
	close(d.fd);
}

static unsigned drain(int fd)
{
	struct sock_error e;
	unsigned n = 0;

	while (sock_error_read(fd, &e))
		n++;
	return n;
}

/* Errors of one remote: drained, then other remotes are served again. */
static void errors(const struct kind *k)
{
	struct sock_dest d = { .family = k->family };
	struct run r = run_of(10, 0);
	struct end closed = E(k->peer, 9), open = E(k->peer, 7000);
	int fd = net_udp(k->peer, 7000);

	d.fd = open_bound(k, 0, 0);
	d.to = &closed;
	sock_send(&d, &r);
	ok(net_waits(d.fd), "%s: an error is pending", k->name);
	d.to = &open;
	is_int(sock_send(&d, &r), -ECONNREFUSED, "%s: the next send has it",
	       k->name);
	d.to = &closed;
	sock_send(&d, &r);
	ok(drain(d.fd) >= 1, "%s: drained", k->name);
	d.to = &open;
	is_int(sock_send(&d, &r), 0, "%s: and sends", k->name);
	ok(net_waits(fd), "%s: it arrives", k->name);
	is_int(drain(d.fd), 0, "%s: nothing left to drain", k->name);
	d.to = &closed;
	sock_send(&d, &r);
	is_int(sock_recv(&rx, d.fd, 1), -ECONNREFUSED,
	       "%s: or the next receive", k->name);
	drain(d.fd);
	is_int(sock_recv(&rx, d.fd, 1), 0, "%s: then nothing", k->name);
	close(fd);
	close(d.fd);
}

static void binding(const struct kind *k)
{
	struct end local = E(k->any, 7000), e;
	int fd = open_bound(k, 0, 7000), other = sock_open(k->family);

	sock_setup(other, k->family, k->flags);
	is_int(sock_bind(other, k->family, &local, ""), -EADDRINUSE,
	       "%s: a port is had once", k->name);
	is_int(sock_bind(other, k->family, &local, "no-such-device"), -ENODEV,
	       "%s: device", k->name);
	local.port = 0;
	local.addr = addr_any6;
	is_int(sock_bind(other, k->family, &local, "lo"), 0,
	       "%s: unset address is the wildcard", k->name);
	is_int(sock_local(other, &e), 0, "%s: local end", k->name);
	ok(e.port && addr_is_any(&e.addr), "%s: a port was chosen", k->name);
	is_int(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK, "non-blocking");
	is_int(fcntl(fd, F_GETFD), FD_CLOEXEC, "close on exec");
	close(other);
	close(fd);
}

static void families(void)
{
	struct end v6 = E("::1", 7000), v4 = E("127.0.0.1", 7000), e;
	struct addr a = { 0 };
	struct run r = run_of(1, 0);
	struct sock_dest d = { .family = AF_INET, .to = &v6 };
	int fd = sock_open(AF_INET), fd6, both;

	d.fd = fd;
	is_int(sock_bind(fd, AF_INET, &v6, ""), -EAFNOSUPPORT, "bind IPv6");
	is_int(sock_connect(fd, AF_INET, &v6), -EAFNOSUPPORT, "connect IPv6");
	ok(sock_send(&d, &r) < 0, "send to IPv6");
	is_int(sock_family(FAMILY_V4), AF_INET, "family");
	is_int(sock_family(FAMILY_V6), AF_INET6, "family");

	is_int(sock_source(fd, AF_INET, &v4, &a), 0, "source for loopback");
	ok(addr_eq(&a, &addr_loopback4), "is loopback");
	e = E("198.51.100.1", 7);
	a = addr_any4;
	is_int(sock_source(fd, AF_INET, &e, &a), -ENETUNREACH, "no route");
	ok(addr_eq(&a, &addr_any4), "untouched");
	v4.addr = A_("127.0.0.5");
	is_int(sock_source(fd, AF_INET, &v4, &a), 0, "asked again");
	sock_local(fd, &e);
	ok(!e.port && addr_is_any(&e.addr), "the socket is unbound as before");
	close(fd);

	/* Not dual unless asked: each family has the port for itself */
	fd = open_bound(&kinds[0], 0, 7000);
	fd6 = open_bound(&kinds[1], 0, 7000);
	ok(fd >= 0 && fd6 >= 0, "both families on one port");
	both = sock_open(AF_INET6);
	sock_setup(both, AF_INET6, SOCK_DUAL);
	e = E("::", 7000);
	is_int(sock_bind(both, AF_INET6, &e, ""), -EADDRINUSE, "no third one");
	close(both);
	close(fd);
	close(fd6);
}

/* The kernel's own count of what did not fit. */
static void drops(void)
{
	struct end to = E("127.0.0.1", 7000);
	int small = 4096, fd = open_bound(&kinds[0], 0, 7000);
	int from = net_udp("127.0.0.1", 7001);
	uint32_t got[64];
	unsigned n;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	is_int(sock_drops(fd), 0, "no drops yet");
	for (unsigned i = 0; i < 50; i++)
		net_send(from, &to, data, 1000);
	n = lengths(fd, got, 64);
	ok(n < 50 && n + sock_drops(fd) == 50, "%u received, %u dropped", n,
	   sock_drops(fd));
	is_int(sock_drops(-1), 0, "of no socket: none");
	close(fd);
	close(from);
}

/* What was sent to everybody is answered from an address of ours. */
static void broadcast(int family, unsigned flags)
{
	struct end to = E("127.255.255.255", 7000);
	struct end any = end_make(addr_any(FAMILY_V6), 7000, 0);
	int on = 1, fd = sock_open(family);
	int from = net_udp("127.0.0.1", 7001);

	sock_setup(fd, family, SOCK_PKTINFO | flags);
	is_int(sock_bind(fd, family, &any, ""), 0, "bound");
	setsockopt(from, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
	ok(net_send(from, &to, "x", 1) && net_waits(fd) &&
		   sock_recv(&rx, fd, 1) == 1,
	   "broadcast: received");
	ok(addr_is_loopback(&rx.msg[0].to) && !addr_eq(&rx.msg[0].to, &to.addr),
	   "broadcast: an address to answer from");
	ok(addr_eq(&rx.msg[0].group, &to.addr), "broadcast: known as one");
	close(fd);
	close(from);
}

int main(void)
{
	unsigned fds;

	net_enter();
	if (!net_has_v6())
		skip_all("no IPv6");
	net_addr("2001:db8::5", 1);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8));
	sock_rx_init(&rx);
	fds = net_fds();
	for (unsigned i = 0; i < COUNT(kinds); i++) {
		segmented(&kinds[i]);
		sizes(&kinds[i]);
		sources(&kinds[i]);
		errors(&kinds[i]);
		binding(&kinds[i]);
	}
	families();
	drops();
	broadcast(AF_INET, 0);
	broadcast(AF_INET6, SOCK_DUAL);
	is_int(net_fds(), fds, "no descriptor is left");
	return done();
}
