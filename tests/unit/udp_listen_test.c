/* udp_listen_test.c - published ports, over the tap and spliced
 *
 * The guest's namespace and the host's are the same one here; only "auto" needs
 * a second one, to look into. */

#include "listen_auto.h"
#include "udp_listen.h"

#include "bench.h"
#include "log.h"
#include "netlink.h"

#include <linux/netlink.h>

static struct ports rules[LISTEN_SIDES];
static struct udp_listen listen_;
static struct listen_auto auto_;
static struct listen_fail fail;

static void add_rule(enum listen_side side, const char *spec)
{
	const struct ports_env env = {
		32768, 60999, side == LISTEN_NS, { true, true }
	};
	char text[PORTS_ERR_MAX];

	if (ports_parse(&rules[side], spec, &env, text))
		ok(false, "%s: %s", spec, text);
}

/* An empty forwarder with rules; "" for none */
static void start(const char *host, const char *ns)
{
	bench_start(OFFLOAD_USO, 64);
	memset(rules, 0, sizeof(rules));
	memset(&fail, 0xee, sizeof(fail));
	if (*host)
		add_rule(LISTEN_HOST, host);
	if (*ns)
		add_rule(LISTEN_NS, ns);
	memset(&listen_, 0, sizeof(listen_));
	udp_listen_init(&listen_, bench.u);
	listen_.l.agent = &bench.agent;
	listen_.l.fwd = &bench.fwd;
	listen_.l.has[FAMILY_V4] = listen_.l.has[FAMILY_V6] = true;
	listen_.l.rules[LISTEN_HOST] = &rules[LISTEN_HOST];
	listen_.l.rules[LISTEN_NS] = &rules[LISTEN_NS];
	auto_ = (struct listen_auto){ .loop = &bench.loop,
				      .udp = &listen_.l,
				      .diag = { -1, -1 } };
}

static void open_host(void)
{
	int rc = listen_open(&listen_.l, LISTEN_HOST, &fail);

	if (rc)
		ok(false, "port %u: %s", fail.port, strerror(-rc));
}

static unsigned n_listeners(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < bench.u->maps.n_listen; i++)
		n += bench.u->maps.map[MAP_DYNAMIC_MAX + i].kind != MAP_FREE;
	return n;
}

/* A client from outside, at two of the host's addresses, and answers. */
static void served(unsigned f, bool is_dual)
{
	int client = net_udp(at_b[f], 4000);
	struct end at[2] = { E(at_host[f], 5000), E(at_d[f], 5000) };
	struct end b = E(at_b[f], 4000), inner = E(at_guest[f], 6000), from;
	struct end shown;
	struct pkt p;

	start("5000:6000", "");
	listen_.l.is_dual = is_dual;
	open_host();
	is_int(n_listeners(), is_dual ? 1 : 2, "sockets of one port");
	net_send(client, &at[0], "hello", 5);
	bench_wait();
	guest_gets(&b, &inner, "hello", "client");
	is_int(bench.u->maps.n, 0, "no socket of its own");
	guest_says(&inner, &b, "olleh", 5, 0);
	from = host_gets(client, "olleh", "answer");
	ok(end_eq(&from, &at[0]), "from where the client sent it");

	/* The same client port at another address of the host */
	net_send(client, &at[1], "other", 5);
	bench_wait();
	ok(guest_hears(&p), "heard");
	shown = p.src;
	ok(addr_eq(&shown.addr, &b.addr) && shown.port != b.port,
	   "the later one has another visible port");
	guest_says(&inner, &shown, "rehto", 5, 0);
	from = host_gets(client, "rehto", "its answer");
	ok(end_eq(&from, &at[1]), "from that address");
	guest_says(&inner, &b, "again", 5, 0);
	from = host_gets(client, "again", "the first one, still");
	ok(end_eq(&from, &at[0]), "from its address");
	net_send(client, &at[1], "", 0);
	bench_wait();
	guest_gets(&shown, &inner, "", "empty datagram");
	is_int(count(FLOWS_NEW), 2, "two conversations");
	is_balanced(3, "served");
	bench_stop();
	close(client);
}

/* Two published ports lead to one inner port. */
static void two_to_one(unsigned f)
{
	int client = net_udp(at_b[f], 4000);
	struct end one = E(at_host[f], 5000), two = E(at_host[f], 5001);
	struct end b = E(at_b[f], 4000), inner = E(at_guest[f], 6000), from;
	struct end shown;
	struct pkt p;

	start("5000:6000", "");
	add_rule(LISTEN_HOST, "5001:6000");
	open_host();
	net_send(client, &one, "1", 1);
	bench_wait();
	guest_gets(&b, &inner, "1", "first port");
	net_send(client, &two, "2", 1);
	bench_wait();
	ok(guest_hears(&p) && p.src.port != b.port, "second: another port");
	shown = p.src;
	guest_says(&inner, &shown, "ii", 2, 0);
	from = host_gets(client, "ii", "answer of the second");
	is_int(from.port, 5001, "from the second");
	guest_says(&inner, &b, "i", 1, 0);
	from = host_gets(client, "i", "answer of the first");
	is_int(from.port, 5000, "from the first");
	bench_stop();
	close(client);
}

/* What a published port sends first leaves from that port. */
static void speaks_first(unsigned f)
{
	int server = net_udp(at_b[f], 4000);
	struct end b = E(at_b[f], 4000), inner = E(at_guest[f], 6000), from;
	struct end other = E(at_guest[f], 6001);

	start("5000:6000", "");
	open_host();
	guest_says(&inner, &b, "first", 5, 0);
	from = host_gets(server, "first", "guest speaks first");
	is_int(from.port, 5000, "from its published port");
	is_int(bench.u->maps.n, 0, "by the listener");
	net_send(server, &from, "then", 4);
	bench_wait();
	guest_gets(&b, &inner, "then", "answer");
	guest_says(&other, &b, "x", 1, 0);
	from = host_gets(server, "x", "another port of the guest");
	is_int(from.port, 6001, "is not published");
	is_balanced(2, "first");
	bench_stop();

	/* One of an interface reaches nothing behind the others */
	start("%lo/5000:6000", "");
	open_host();
	guest_says(&inner, &b, "x", 1, 0);
	from = host_gets(server, "x", "published at one interface");
	is_int(from.port, 6000, "not from there either");
	bench.fwd.scope[f] = 1;
	bench.fwd.host[f] = A_(at_host[f]);
	other.port = 6000;
	other.addr = A_(at_guest[f]);
	b.port = 4001;
	guest_says(&other, &b, "x", 1, 0);
	b.port = 4000;
	ok(bench.u->maps.map[MAP_DYNAMIC_MAX].flows ||
		   bench.u->maps.map[MAP_DYNAMIC_MAX + 1].flows,
	   "but from the guest's own: by the listener");
	bench_stop();

	/* A listener that cannot have the source address is no choice, and
	 * one that can is found behind it */
	start(f ? "[::1]/5000:6000" : "127.0.0.1/5000:6000", "");
	open_host();
	guest_says(&inner, &b, "x", 1, 0);
	from = host_gets(server, "x", "published at loopback only");
	is_int(from.port, 6000, "not from there");
	bench_stop();
	start(f ? "[::1]/5001:6000" : "127.0.0.1/5001:6000", "");
	add_rule(LISTEN_HOST, "5000:6000");
	open_host();
	guest_says(&inner, &b, "x", 1, 0);
	from = host_gets(server, "x", "published at loopback, and everywhere");
	is_int(from.port, 5000, "from everywhere");
	bench_stop();
	close(server);
}

/* Clients that the guest can only see as the gateway. */
static void shown_as_gateway(void)
{
	static const char *const who[] = { "127.0.0.1", "127.0.0.2",
					   "127.0.0.3" };
	struct end inner = E(GUEST, 6000), gate = E(GATE, 4000), from;
	struct end to = E("127.0.0.1", 5000), shown[3];
	struct pkt p;
	int fd[3];

	start("5000:6000", "");
	bench.fwd.no_splice = true;
	open_host();
	for (unsigned i = 0; i < 3; i++) {
		fd[i] = net_udp(who[i], 4000);
		net_send(fd[i], &to, "x", 1);
		bench_wait();
		ok(guest_hears(&p), "client %s", who[i]);
		shown[i] = p.src;
		ok(addr_eq(&p.src.addr, &gate.addr), "seen as the gateway");
	}
	is_int(shown[0].port, 4000, "the first keeps its port");
	ok(shown[1].port != 4000 && shown[2].port != 4000 &&
		   shown[1].port != shown[2].port,
	   "each has a port");
	for (unsigned i = 0; i < 3; i++) {
		guest_says(&inner, &shown[i], who[i], 9, 0);
		from = host_gets(fd[i], who[i], "its own answer");
		ok(end_eq(&from, &to), "from the published port");
		close(fd[i]);
	}
	is_balanced(3, "gateway");
	bench_stop();
}

/* The namespace's loopback to the host. */
static void spliced_out(unsigned f)
{
	const char *lo = f ? "::1" : "127.0.0.1";
	const char *me = f ? "::1" : "127.0.0.7";
	int client = net_udp(me, 4000), server = net_udp(lo, 8001);
	struct end to = E(lo, 9001), from, far, local;

	start("", "9001:8001");
	bench_agent(4);
	is_int(listen_open(&listen_.l, LISTEN_NS, &fail), 0, "-U");
	is_int(n_listeners(), 2, "both families");
	net_send(client, &to, "out", 3);
	bench_wait();
	far = host_gets(server, "out", "spliced out");
	local = E(me, far.port);
	ok(end_eq(&far, &local), "from the same loopback address");
	net_send(server, &far, "back", 4);
	bench_wait();
	from = host_gets(client, "back", "answer");
	ok(end_eq(&from, &to), "from where it was asked");
	is_balanced(0, "spliced out");

	/* An address that is not loopback, though it arrives on lo */
	close(client);
	client = net_udp(at_b[f], 4000);
	to = E(at_host[f], 9001);
	net_send(client, &to, "x", 1);
	bench_wait();
	is_int(count(DROP_NOT_LOOPBACK), 1, "other addresses: refused");
	is_balanced(0, "not loopback");
	bench_stop();
	close(client);
	close(server);
}

/* Two ports that lead to each other, loopback to loopback */
static void ring(void)
{
	struct end lo = E("127.0.0.1", 5000);
	int client = net_udp("127.0.0.1", 4000);

	start("5000:5001", "5001:5000");
	bench_agent(8);
	bench.fwd.to_loopback = true;
	open_host();
	is_int(listen_open(&listen_.l, LISTEN_NS, &fail), -ELOOP,
	       "the second is refused");
	is_int(fail.port, 5001, "by its port");
	is_int(n_listeners(), 2, "the first one stays");
	net_send(client, &lo, "x", 1);
	for (unsigned i = 0; i < 20; i++)
		bench_turn(1);
	is_int(count(HOST_RX_DGRAMS), 1, "nothing goes round");
	bench_stop();
	close(client);
}

/* The same over more ports, and what only looks like it */
static void long_ring(void)
{
	start("5000:5001", "5001:5002");
	add_rule(LISTEN_HOST, "5002:5003");
	add_rule(LISTEN_NS, "5003:5004");
	add_rule(LISTEN_HOST, "5004:5005");
	add_rule(LISTEN_NS, "5005:5000");
	bench_agent(8);
	bench.fwd.to_loopback = true;
	open_host();
	is_int(listen_open(&listen_.l, LISTEN_NS, &fail), -ELOOP,
	       "the one that closes it is refused");
	is_int(fail.port, 5005, "by its port");
	bench_stop();

	start("198.51.100.2/5000:5001", "5001:5000");
	bench_agent(8);
	bench.fwd.to_loopback = true;
	open_host();
	is_int(listen_open(&listen_.l, LISTEN_NS, &fail), 0,
	       "a port that does not hear loopback leads nowhere");
	bench_stop();
}

static void in_use(void)
{
	int busy = net_udp("127.0.0.1", 5001), busy6 = net_udp("::1", 7000);

	start("5000-5002", "");
	is_int(listen_open(&listen_.l, LISTEN_HOST, &fail), -EADDRINUSE,
	       "a port in use is an error");
	is_int(fail.port, 5001, "which one");
	is_int(fail.error, EADDRINUSE, "why");
	ok(!addr_is_set(&fail.addr), "at any address");
	bench_stop();

	start("7000", "");
	is_int(listen_open(&listen_.l, LISTEN_HOST, &fail), -EADDRINUSE,
	       "also in one family only");
	bench_stop();

	start("127.0.0.2/5001", "");
	is_int(listen_open(&listen_.l, LISTEN_HOST, &fail), 0,
	       "another address is free");
	is_int(n_listeners(), 1, "one socket");
	bench_stop();

	start("203.0.113.77/5001", "");
	is_int(listen_open(&listen_.l, LISTEN_HOST, &fail), -EADDRNOTAVAIL,
	       "an address the host lacks");
	is_int(fail.error, EADDRNOTAVAIL, "why");
	bench_stop();

	/* Only weak rules, as of "all" */
	start("~1-5000,~5002-65535", "");
	is_int(rules[0].n, 1, "one rule");
	is_int(listen_open(&listen_.l, LISTEN_HOST, &fail), -EADDRINUSE,
	       "no port of a weak rule is free");
	is_int(fail.port, 5001, "which one");
	bench_stop();
	start("~1-5000,~5003-65535", "");
	is_int(listen_open(&listen_.l, LISTEN_HOST, &fail), 0,
	       "one of them is");
	bench_stop();
	close(busy);
	close(busy6);
}

/* A port given in two ways */
static void twice(void)
{
	int client = net_udp(at_b[0], 4000), server = net_udp(at_b[0], 4001);
	struct end b = E(at_b[0], 4000), to = E(HOST, 5000);
	struct end inner = E(GUEST, 6000), second = E(GUEST, 6001), from;

	start("0.0.0.0/5000:6000", "");
	add_rule(LISTEN_HOST, "5000:6001");
	log_init("test");
	log_level(LEVEL_ERR);
	is_int(listen_open(&listen_.l, LISTEN_HOST, &fail), 0,
	       "the same port again");
	net_send(client, &to, "x", 1);
	bench_wait();
	guest_gets(&b, &second, "x", "the last target counts");
	bench_stop();

	start("0.0.0.0/5000:6000", "");
	add_rule(LISTEN_HOST, "5000:6001");
	listen_open(&listen_.l, LISTEN_HOST, &fail);
	guest_says(&second, &b, "y", 1, 0);
	from = host_gets(client, "y", "the last target speaks first");
	is_int(from.port, 5000, "from the published port");
	b.port = 4001;
	guest_says(&inner, &b, "z", 1, 0);
	from = host_gets(server, "z", "the first target speaks");
	is_int(from.port, 6000, "from its own port");
	bench_stop();

	/* "all" beside it takes what is left */
	start("0.0.0.0/5000:6000", "");
	add_rule(LISTEN_HOST, "~1-4999,~5001-65535");
	listen_open(&listen_.l, LISTEN_HOST, &fail);
	net_send(client, &to, "x", 1);
	bench_wait();
	b.port = 4000;
	guest_gets(&b, &inner, "x", "a named port stays");
	bench_stop();
	close(client);
	close(server);
}

/* The guest's namespace for "auto": a second one, entered for a moment */
static int inside = -1, outside = -1;

static int in_ns(int (*make)(uint16_t), uint16_t arg)
{
	int fd;

	if (setns(inside, CLONE_NEWNET))
		return -1;
	fd = make(arg);
	if (setns(outside, CLONE_NEWNET))
		skip_all("cannot go back: %s", strerror(errno));
	return fd;
}

static int make_program(uint16_t port)
{
	return net_udp("0.0.0.0", port);
}

static int make_diag(uint16_t unused)
{
	(void)unused;
	return netlink_open(NETLINK_SOCK_DIAG);
}

static unsigned listens(uint16_t port)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < bench.u->maps.n_listen; i++) {
		struct map *m = &bench.u->maps.map[MAP_DYNAMIC_MAX + i];

		n += m->kind == MAP_LISTEN_HOST && m->port == port;
	}
	return n;
}

static void second_ns(void)
{
	outside = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	net_enter();
	inside = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (setns(outside, CLONE_NEWNET))
		skip_all("cannot go back: %s", strerror(errno));
}

static void follow(void)
{
	struct end inner = E(GUEST, 7001), b = E(at_b[0], 4000), from;
	int server = net_udp(at_b[0], 4000), busy, prog[3];

	start("5000:7001", "");
	add_rule(LISTEN_HOST, "auto,~7002");
	auto_.diag[LISTEN_NS] = in_ns(make_diag, 0);
	if (auto_.diag[LISTEN_NS] < 0) {
		ok(true, "no sock_diag: not tested");
		bench_stop();
		return;
	}
	open_host();
	listen_auto_start(&auto_);
	is_int(n_listeners(), 2, "nothing to follow");
	for (unsigned i = 0; i < 3; i++)
		prog[i] = in_ns(make_program, (uint16_t)(7001 + i));
	is_int(n_listeners(), 2, "not noticed yet");
	bench_later(1);
	is_int(listens(7001), 2, "a second later: followed");
	is_int(listens(7002), 0, "excluded");
	is_int(listens(7003), 2, "followed");
	close(prog[2]);
	bench_later(1);
	is_int(listens(7003), 0, "gone with its program");
	busy = net_udp("127.0.0.1", 7003);
	prog[2] = in_ns(make_program, 7003);
	bench_later(1);
	is_int(listens(7003), 0, "in use on the host: not followed");
	close(busy);
	bench_later(1);
	is_int(listens(7003), 2, "free again: followed");

	/* The end of a followed port is not the end of a fixed one that leads
	 * to the same inner port */
	close(prog[0]);
	bench_later(1);
	is_int(listens(7001), 0, "gone");
	guest_says(&inner, &b, "x", 1, 0);
	from = host_gets(server, "x", "a fixed port speaks first");
	is_int(from.port, 5000, "from there, as before");

	/* A flow of a followed port ends with it */
	inner = E(at_b[0], 4000);
	from = E(HOST, 5000);
	net_send(server, &from, "y", 1);
	bench_wait();
	is_int(bench.u->flows.n, 1, "the flow goes on");
	close(prog[1]);
	close(prog[2]);
	bench_later(1);
	is_int(n_listeners(), 2, "fixed ones are left");
	close(auto_.diag[LISTEN_NS]);
	bench_stop();
	close(server);
}

/* Followed ports listen where the rule says. */
static void follow_at(void)
{
	int prog, client = net_udp(at_b[0], 4000);
	struct end b = E(at_b[0], 4000), to = E(HOST, 7001);
	struct end inner = E(GUEST, 7001);

	start(HOST "/auto", "");
	auto_.diag[LISTEN_NS] = in_ns(make_diag, 0);
	if (auto_.diag[LISTEN_NS] < 0) {
		ok(true, "no sock_diag: not tested");
		bench_stop();
		return;
	}
	prog = in_ns(make_program, 7001);
	listen_auto_start(&auto_);
	is_int(n_listeners(), 1, "at one address only");
	net_send(client, &to, "x", 1);
	bench_wait();
	guest_gets(&b, &inner, "x", "followed");
	is_int(bench.u->flows.n, 1, "a flow");
	close(prog);
	bench_later(1);
	is_int(n_listeners(), 0, "the program ends: closed");
	is_int(bench.u->flows.n, 0, "and its flows with it");
	close(auto_.diag[LISTEN_NS]);
	bench_stop();
	close(client);
}

/* Of two listeners for an inner port, who is left speaks for it. */
static void speaks_again(void)
{
	int prog, server = net_udp(at_b[0], 4000);
	struct end b = E(at_b[0], 4000), inner = E(GUEST, 7001), from;

	start(HOST "/5000:7001", "");
	add_rule(LISTEN_HOST, "auto");
	auto_.diag[LISTEN_NS] = in_ns(make_diag, 0);
	if (auto_.diag[LISTEN_NS] < 0) {
		ok(true, "no sock_diag: not tested");
		bench_stop();
		return;
	}
	open_host();
	prog = in_ns(make_program, 7001);
	listen_auto_start(&auto_);
	guest_says(&inner, &b, "x", 1, 0);
	from = host_gets(server, "x", "a wildcard listener speaks first");
	is_int(from.port, 7001, "from its port");
	close(prog);
	bench_later(1);
	guest_says(&inner, &b, "y", 1, 0);
	from = host_gets(server, "y", "it is gone");
	is_int(from.port, 5000, "the other one speaks");
	close(auto_.diag[LISTEN_NS]);
	bench_stop();
	close(server);
}

int main(void)
{
	bench_host();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		printf("# IPv%u\n", f ? 6 : 4);
		served(f, false);
		served(f, true);
		two_to_one(f);
		speaks_first(f);
		spliced_out(f);
	}
	shown_as_gateway();
	ring();
	long_ring();
	in_use();
	twice();
	second_ns();
	follow();
	follow_at();
	speaks_again();
	return done();
}
