/* udp_splice_test.c - from the host's loopback into the namespace, and nothing
 * of it over the guest's link
 *
 * The guest's namespace and the host's are the same one here, so the client's
 * port is never free on the far side. */

#include "udp_splice.h"

#include "bench.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void start(unsigned f)
{
	bench_start(OFFLOAD_USO, 64);
	bench.fwd.seen[f] = A_(at_host[f]);
	bench_listen(f);
}

/* Two clients on the host's loopback, one server inside. */
static void clients(unsigned f)
{
	const char *lo = f ? "::1" : "127.0.0.1";
	int client = net_udp(lo, 4000), client2 = net_udp(lo, 4001);
	int server = net_udp(at_host[f], 6000);
	struct end to = E(lo, 5000), from, far, far2;

	start(f);
	bench_agent(2);
	net_send(client, &to, "in", 2);
	bench_wait();
	far = host_gets(server, "in", "spliced");
	ok(far.port != 4000, "the client's port is in use here: another");
	net_send(client2, &to, "in2", 3);
	bench_wait();
	far2 = host_gets(server, "in2", "second client");
	ok(!end_eq(&far, &far2), "the server can tell them apart");
	net_send(server, &far2, "out2", 4);
	bench_wait();
	from = host_gets(client2, "out2", "its answer");
	ok(end_eq(&from, &to), "from where it was asked");
	net_send(server, &far, "out", 3);
	bench_wait();
	from = host_gets(client, "out", "the first one's answer");
	ok(end_eq(&from, &to), "from where it was asked");
	net_send(client2, &far, "stranger", 8);
	is_int(bench_turn(0), 0, "the kernel refuses strangers");
	is_int(bench.u->maps.n, 2, "a far socket for each");
	is_balanced(0, "clients");
	guest_silence("spliced");

	/* The pool is empty and nobody fills it */
	close(client2);
	client2 = net_udp(lo, 4002);
	net_send(client2, &to, "x", 1);
	bench_wait();
	is_int(count(DROP_NO_SOCKET), 1, "no socket to be had: counted once");
	is_balanced(0, "no socket");
	bench_later(181);
	is_int(bench.u->maps.n, 0, "idle: far sockets are closed");
	is_int(bench.u->flows.n, 0, "flows are over");
	bench_stop();
	close(client);
	close(client2);
	close(server);
}

/* Segmented and empty datagrams. */
static void sizes(unsigned f)
{
	const char *lo = f ? "::1" : "127.0.0.1";
	int client = net_udp(lo, 0), server = net_udp(at_host[f], 6000);
	struct end to = E(lo, 5000), far;
	static uint8_t buf[4096], data[3000];
	int seg = 1000;

	start(f);
	bench_agent(1);
	net_send(client, &to, "1", 1);
	bench_wait();
	far = host_gets(server, "1", "first");
	setsockopt(client, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg));
	net_send(client, &to, data, sizeof(data));
	bench_wait();
	for (unsigned i = 0; i < 3; i++)
		is_int(net_recv(server, buf, sizeof(buf), NULL), 1000,
		       "segment %u", i);
	seg = 0;
	setsockopt(client, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg));
	net_send(client, &to, "", 0);
	bench_wait();
	host_gets(server, "", "empty, in");
	net_send(server, &far, "", 0);
	bench_wait();
	host_gets(client, "", "empty, out");
	is_int(count(SPLICE_DGRAMS), 6, "all counted as spliced");
	is_balanced(0, "sizes");
	bench_stop();
	close(client);
	close(server);
}

/* Nothing to splice with, or nowhere to. */
static void splice_refused(void)
{
	int client = net_udp("127.0.0.1", 4000);
	int client6 = net_udp("::1", 4000);
	struct end to = E("127.0.0.1", 5000), to6 = E("::1", 5000);
	int lo6 = net_udp("::1", 6000);

	start(FAMILY_V4);
	bench_listen(FAMILY_V6);
	net_send(client, &to, "x", 1);
	bench_wait();
	is_int(count(DROP_NO_SOCKET), 1, "no agent: counted");
	bench_agent(2);
	bench.fwd.seen[FAMILY_V6] = addr_any6;
	bench.fwd.guest[FAMILY_V6] = addr_any6;
	bench.fwd.guest_ll = addr_any6;
	net_send(client6, &to6, "x", 1);
	bench_wait();
	is_int(drops(), 2, "no address of the guest: counted");
	ok(net_silent(lo6), "and not sent to its loopback instead");
	is_int(bench.u->flows.n, 0, "no flows");
	is_int(bench.agent.pool[AGENT_DGRAM][FAMILY_V6].n, 2,
	       "no socket wasted");
	is_balanced(0, "splice refused");
	bench_stop();
	close(client);
	close(client6);
	close(lo6);
}

/* A spliced flow gives way, with what is pending on it sent before. */
static void splice_evicted(void)
{
	int server = net_udp(HOST, 6000), fd[8];
	struct end to = E("127.0.0.1", 5000);
	unsigned n = 0;
	char c;

	start(FAMILY_V4);
	bench.u->maps.max = 2;
	bench_agent(8);
	for (unsigned i = 0; i < COUNT(fd); i++) {
		fd[i] = net_udp("127.0.0.1", (uint16_t)(4000 + i));
		c = (char)i;
		net_send(fd[i], &to, &c, 1);
	}
	bench_wait();
	for (unsigned i = 0; i < COUNT(fd); i++) {
		n += net_recv(server, &c, 1, NULL) == 1 && c == (char)i;
		close(fd[i]);
	}
	is_int(n, COUNT(fd), "all arrive, in order");
	is_int(bench.u->maps.n, 2, "two far sockets at most");
	is_int(bench.u->flows.n, 2, "and their flows");
	is_int(count(MAPS_EVICTED), COUNT(fd) - 2, "others gave way");
	is_balanced(0, "splice evicted");
	bench_stop();
	close(server);
}

int main(void)
{
	bench_host();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		clients(f);
		sizes(f);
	}
	splice_refused();
	splice_evicted();
	return done();
}
