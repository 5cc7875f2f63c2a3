/* tcp_listen_test.c - published ports of TCP, and what "auto" makes of them
 *
 * Host and namespace are the same one here; only "auto" needs a second one, to
 * look into. */

#include "tcp_listen.h"

#include "listen_auto.h"
#include "log.h"
#include "netlink.h"
#include "sock_stream.h"
#include "udp_listen.h"

#include "bench.h"

#include <linux/netlink.h>

static struct ports rules[2 * LISTEN_SIDES];
static struct tcp_listen tcp;
static struct udp_listen udp;
static struct listen_auto auto_;
static struct listen_fail fail;

/* What the handler was told last */
static struct {
	unsigned n;
	struct listener *at;
	struct end peer, local;
	bool takes;
	bool pauses;
} heard;

static void on_connection(void *ctx, struct listener *x)
{
	int fd;

	heard.n++;
	heard.at = x;
	ok(ctx == &heard, "context");
	if (heard.pauses)
		tcp_listen_pause(&tcp, x);
	if (!heard.takes)
		return;
	fd = stream_accept(x->watch.fd, &heard.peer, &heard.local);
	ok(fd >= 0, "accepted");
	close(fd);
}

static int inside_here(struct agent *a, enum family family)
{
	(void)a;
	return stream_open(sock_family(family));
}

static void add_rule(struct ports *p, const char *spec)
{
	const struct ports_env env = { 32768, 60999, false, { true, true } };
	char text[PORTS_ERR_MAX];

	if (*spec && ports_parse(p, spec, &env, text))
		ok(false, "%s: %s", spec, text);
}

/* An empty forwarder with rules of TCP; "" for none */
static void start(const char *host, const char *ns)
{
	static struct listen_proto proto;

	bench_start(OFFLOAD_USO, 64);
	memset(rules, 0, sizeof(rules));
	memset(&heard, 0, sizeof(heard));
	memset(&tcp, 0, sizeof(tcp));
	memset(&udp, 0, sizeof(udp));
	heard.takes = true;
	tcp_listen_init(&tcp);
	proto = *tcp.l.proto;
	proto.inside = inside_here;
	tcp.l.proto = &proto;
	tcp.loop = &bench.loop;
	tcp.accept = on_connection;
	tcp.ctx = &heard;
	udp_listen_init(&udp, bench.u);
	tcp.l.fwd = udp.l.fwd = &bench.fwd;
	memcpy(tcp.l.has, bench.u->conf.has, sizeof(tcp.l.has));
	memcpy(udp.l.has, bench.u->conf.has, sizeof(udp.l.has));
	for (unsigned side = 0; side < LISTEN_SIDES; side++) {
		tcp.l.rules[side] = &rules[side];
		udp.l.rules[side] = &rules[LISTEN_SIDES + side];
	}
	add_rule(&rules[LISTEN_HOST], host);
	add_rule(&rules[LISTEN_NS], ns);
	auto_ = (struct listen_auto){ .loop = &bench.loop,
				      .tcp = &tcp.l,
				      .udp = &udp.l,
				      .diag = { -1, -1 } };
}

static void stop(void)
{
	for (uint32_t i = 0; i < tcp.l.high; i++)
		if (tcp.l.listener[i].port)
			tcp.l.proto->close(&tcp.l, &tcp.l.listener[i]);
	is_int(tcp.paused, 0, "none is paused any more");
	bench_stop();
}

static int open_side(enum listen_side side)
{
	return listen_open(&tcp.l, side, &fail);
}

static int program(const char *text, uint16_t port)
{
	struct end e = E(text, port);
	int family = addr_is_v4(&e.addr) ? AF_INET : AF_INET6;
	int on = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	union sockaddr_ip sa;
	socklen_t len = end_to_sockaddr(&e, family, &sa);

	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, &sa.sa, len) || listen(fd, 1))
		ok(false, "listen %s %u: %s", text, port, strerror(errno));
	return fd;
}

/* A client that connects; -1 if it is refused */
static int client(const char *text, uint16_t port)
{
	struct end e = E(text, port);
	int family = addr_is_v4(&e.addr) ? AF_INET : AF_INET6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	union sockaddr_ip sa;
	socklen_t len = end_to_sockaddr(&e, family, &sa);

	if (!connect(fd, &sa.sa, len))
		return fd;
	close(fd);
	return -1;
}

static void served(unsigned f, bool is_dual)
{
	struct end want;
	int fd;

	start("5000-5001:6000-6001", "");
	tcp.l.is_dual = is_dual;
	is_int(open_side(LISTEN_HOST), 0, "opened");
	is_int(tcp.l.n, is_dual ? 2 : 4, "sockets of two ports");
	fd = client(at_host[f], 5001);
	ok(fd >= 0, "a client");
	bench_wait();
	is_int(heard.n, 1, "the handler is called");
	is_int(heard.at->target, 6001, "it is told the target");
	is_int(heard.at->side, LISTEN_HOST, "and the side");
	is_int(heard.at->device, 0, "at any interface");
	ok(!addr_is_set(&heard.at->ours), "at any address");
	want = E(at_host[f], 5001);
	ok(end_eq(&heard.local, &want), "where it was reached");
	is_int(bench_turn(0), 0, "nothing else waits");
	close(fd);
	stop();

	start(f ? "[::1]%lo/5000:6000" : "127.0.0.1%lo/5000:6000", "");
	is_int(open_side(LISTEN_HOST), 0, "opened at one place");
	is_int(tcp.l.n, 1, "one socket");
	fd = client(f ? "::1" : "127.0.0.1", 5000);
	bench_wait();
	is_int(heard.at->device, LOOPBACK_IFINDEX, "the interface");
	ok(addr_is_loopback(&heard.at->ours), "the address");
	close(fd);
	is_int(client(at_host[f], 5000), -1, "not at another address");

	/* Connections in TIME_WAIT are of an earlier run */
	stop();
	start("5000", "");
	is_int(open_side(LISTEN_HOST), 0, "the port is free at once");
	stop();
}

static void inside(void)
{
	int fd;

	start("", "5000:6000");
	is_int(open_side(LISTEN_NS), 0, "opened inside");
	is_int(tcp.l.n, 2, "both families");
	fd = client("127.0.0.7", 5000);
	ok(fd >= 0, "any loopback address");
	bench_wait();
	is_int(heard.at->side, LISTEN_NS, "the side");
	is_int(heard.at->target, 6000, "the target");
	close(fd);
	stop();

	start("5000:5001", "5001:5000,5003");
	add_rule(&rules[LISTEN_NS], "5002");
	bench.fwd.to_loopback = true;
	is_int(open_side(LISTEN_HOST), 0, "out");
	is_int(open_side(LISTEN_NS), -ELOOP, "and back: refused");
	is_int(fail.port, 5001, "by its port");
	is_int(tcp.l.n, 6, "the others are there");
	stop();
}

/* Connections that cannot be taken wait, and do not keep us busy */
static void paused(void)
{
	int fd[3];

	start("5000-5002", "");
	is_int(open_side(LISTEN_HOST), 0, "opened");
	heard.takes = false;
	heard.pauses = true;
	for (unsigned i = 0; i < 3; i++)
		fd[i] = client(at_host[0], (uint16_t)(5000 + i));
	is_int(bench_turn(0), 3, "three wait");
	is_int(heard.n, 3, "told of each");
	is_int(bench_turn(0), 0, "and not again");
	tcp_listen_pause(&tcp, heard.at);
	tcp.l.proto->close(&tcp.l, heard.at); /* as "auto" does */
	heard.at->port = 0;
	heard.takes = true;
	heard.pauses = false;
	heard.n = 0;
	is_int(bench_turn(0), 0, "still paused");
	tcp_listen_resume(&tcp);
	is_int(bench_turn(0), 2, "resumed");
	is_int(heard.n, 2, "those that are left");
	tcp_listen_resume(&tcp);
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
	stop();
}

/* A socket that was ended by somebody else (ss -K) says so for ever */
static void killed(void)
{
	int fd;

	start("5000-5001", "");
	is_int(open_side(LISTEN_HOST), 0, "opened");
	shutdown(tcp.l.listener[0].watch.fd, SHUT_RD);
	bench_turn(0);
	is_int(bench_turn(0), 0, "told once");
	is_int(heard.n, 0, "nothing to be accepted");
	fd = client(at_host[0], 5001);
	bench_wait();
	is_int(heard.n, 1, "the others go on");
	close(fd);
	stop();
}

static void in_use(void)
{
	int busy = program("127.0.0.1", 5001);

	start("5000-5002", "");
	is_int(open_side(LISTEN_HOST), -EADDRINUSE, "a port in use");
	is_int(fail.port, 5001, "which one");
	stop();
	close(busy);

	start("127.0.0.1/5000:6000", "");
	add_rule(&rules[LISTEN_HOST], "127.0.0.1/5000:6001");
	is_int(open_side(LISTEN_HOST), 0, "given twice");
	busy = client("127.0.0.1", 5000);
	bench_wait();
	is_int(heard.at->target, 6001, "the last target counts");
	close(busy);
	stop();
}

/* The guest's namespace for "auto": a second one, entered for a moment */
static int ns_inside = -1, ns_outside = -1;

static void go(int ns)
{
	if (setns(ns, CLONE_NEWNET))
		skip_all("namespace: %s", strerror(errno));
}

static int diag_inside(void)
{
	int fd;

	go(ns_inside);
	fd = netlink_open(NETLINK_SOCK_DIAG);
	go(ns_outside);
	return fd;
}

static int program_inside(uint16_t port)
{
	int fd;

	go(ns_inside);
	fd = program("127.0.0.1", port);
	go(ns_outside);
	return fd;
}

static bool follows(const struct listen *l, uint16_t port)
{
	return port_set_has(&l->open[LISTEN_HOST], port);
}

static void follow(void)
{
	int prog[2];

	start("auto,~7001", "");
	add_rule(&rules[LISTEN_SIDES + LISTEN_HOST], "auto,~7000");
	add_rule(&rules[LISTEN_NS], "7002:8000");
	add_rule(&rules[LISTEN_SIDES + LISTEN_NS], "none");
	auto_.diag[LISTEN_NS] = diag_inside();
	is_int(open_side(LISTEN_NS), 0, "one of the other direction");
	prog[0] = program_inside(7000);
	prog[1] = program_inside(7001);
	listen_auto_start(&auto_);
	ok(follows(&tcp.l, 7000), "TCP is followed");
	ok(!follows(&tcp.l, 7001), "excluded for TCP");
	ok(follows(&udp.l, 7001), "UDP follows TCP");
	ok(!follows(&udp.l, 7000), "excluded for UDP");
	close(prog[0]);
	prog[0] = program_inside(7002);
	bench_later(1);
	ok(!follows(&tcp.l, 7000), "gone");
	ok(!follows(&tcp.l, 7002) && !follows(&udp.l, 7002),
	   "a port of the other direction is not followed");
	close(prog[0]);
	close(prog[1]);
	bench_later(1);
	ok(!follows(&udp.l, 7001), "gone for UDP, too");
	is_int(udp.l.n, 0, "no listener of UDP is left");
	close(auto_.diag[LISTEN_NS]);
	stop();

	/* TCP that is not carried is not followed by UDP either */
	start("", "");
	add_rule(&rules[LISTEN_SIDES + LISTEN_HOST], "auto");
	auto_.diag[LISTEN_NS] = diag_inside();
	auto_.tcp = NULL;
	prog[0] = program_inside(7000);
	listen_auto_start(&auto_);
	is_int(udp.l.n, 0, "without TCP");
	close(prog[0]);
	close(auto_.diag[LISTEN_NS]);
	stop();

	start("", "");
	is_int(bench.loop.n_timers, 1, "one timer, of UDP");
	listen_auto_start(&auto_);
	is_int(bench.loop.n_timers, 1, "nothing to follow: no clock");
	stop();
}

/* Named ports are followed where they lead to */
static void follow_named(void)
{
	int prog[2];

	start("7010-7011:7000-7001,auto", "");
	auto_.udp = NULL;
	auto_.diag[LISTEN_NS] = diag_inside();
	prog[0] = program_inside(7000);
	prog[1] = program_inside(7011);
	listen_auto_start(&auto_);
	ok(follows(&tcp.l, 7010), "what it leads to is bound");
	ok(!follows(&tcp.l, 7011), "what it bears is no matter");
	close(prog[0]);
	prog[0] = program_inside(7001);
	bench_later(1);
	ok(!follows(&tcp.l, 7010), "gone");
	ok(follows(&tcp.l, 7011), "the next one");
	close(prog[0]);
	close(prog[1]);
	bench_later(1);
	is_int(tcp.l.n, 0, "no listener is left");
	close(auto_.diag[LISTEN_NS]);
	stop();

	/* One port, by two rules: each follows its own, beside a fixed one */
	start("127.0.0.1/7010:7000,auto", "");
	add_rule(&rules[LISTEN_HOST], "127.0.0.2/7010:7001,auto");
	add_rule(&rules[LISTEN_HOST], "127.0.0.3/7010");
	auto_.udp = NULL;
	auto_.diag[LISTEN_NS] = diag_inside();
	prog[0] = program_inside(7000);
	is_int(open_side(LISTEN_HOST), 0, "a fixed one");
	listen_auto_start(&auto_);
	is_int(tcp.l.n, 2, "the first is there");
	prog[1] = program_inside(7001);
	bench_later(1);
	is_int(tcp.l.n, 3, "the second as well");
	bench_later(1);
	is_int(tcp.l.n, 3, "once");
	close(prog[0]);
	bench_later(1);
	is_int(tcp.l.n, 2, "gone without the other");
	close(prog[1]);
	bench_later(1);
	is_int(tcp.l.n, 1, "the fixed one stays");
	close(auto_.diag[LISTEN_NS]);
	stop();
}

int main(void)
{
	bench_host();
	log_init("test");
	log_level(LEVEL_ERR);
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		printf("# IPv%u\n", f ? 6 : 4);
		served(f, false);
		served(f, true);
	}
	inside();
	paused();
	killed();
	in_use();
	ns_outside = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	net_enter();
	ns_inside = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	go(ns_outside);
	follow();
	follow_named();
	return done();
}
