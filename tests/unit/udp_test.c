/* udp_test.c - datagrams of the guest out, answers in, over real sockets */

#include "bench.h"

#include <sys/resource.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct shot shots[64];

/* One map serves all remotes, and answers come from where they came from. */
static void out_and_back(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000);
	struct end c = E(at_c[f], 7000), from;
	int at6000 = net_udp(at_b[f], 6000), at7000 = net_udp(at_c[f], 7000);

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &b, "one", 3, 0);
	from = host_gets(at6000, "one", "first remote");
	is_int(from.port, 5000, "the guest's own port is kept");
	ok(addr_eq(&from.addr, &bench.u->conf.outbound[f]), "from -o");
	guest_says(&a, &c, "two", 3, 0);
	from = host_gets(at7000, "two", "second remote");
	is_int(from.port, 5000, "same port for every remote");
	is_int(bench.u->maps.n, 1, "one map");
	is_int(bench.u->flows.n, 2, "two flows");

	net_send(at6000, &from, "uno", 3);
	bench_wait();
	guest_gets(&b, &a, "uno", "first answer");
	net_send(at7000, &from, "due", 3);
	bench_wait();
	guest_gets(&c, &a, "due", "second answer");
	guest_says(&a, &b, "", 0, 0);
	host_gets(at6000, "", "empty datagram");
	net_send(at6000, &from, "", 0);
	bench_wait();
	guest_gets(&b, &a, "", "empty answer");
	is_int(bench.u->flows.n, 2, "still two flows");
	is_balanced(3, "out and back");
	bench_stop();
	close(at6000);
	close(at7000);
}

static void other_port(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000), from;
	int at6000 = net_udp(at_b[f], 6000), taken;

	bench_start(OFFLOAD_USO, 64);
	taken = net_udp(at_host[f], 5000);
	guest_says(&a, &b, "x", 1, 0);
	from = host_gets(at6000, "x", "port in use");
	ok(from.port && from.port != 5000, "another port: %u", from.port);
	is_int(bench.u->maps.map[0].port, from.port, "the map knows it");
	close(taken);
	a.port = 5001;
	port_set_put(&bench.u->reserved, 5001, true);
	guest_says(&a, &b, "x", 1, 0);
	from = host_gets(at6000, "x", "reserved port");
	ok(from.port && from.port != 5001, "another port: %u", from.port);
	bench_stop();
	close(at6000);
}

/* Without -o: the address that the route chooses, one map for each. */
static void by_route(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000), from;
	struct end c = E(at_c[f], 6000);
	int to_b = net_udp(at_b[f], 6000), to_c = net_udp(at_c[f], 6000);

	bench_start(OFFLOAD_USO, 64);
	bench.u->conf.outbound[f] = (struct addr){ 0 };
	guest_says(&a, &b, "x", 1, 0);
	from = host_gets(to_b, "x", "by route");
	ok(addr_eq(&from.addr, &b.addr), "the route's source");
	guest_says(&a, &c, "x", 1, 0);
	from = host_gets(to_c, "x", "by another route");
	ok(addr_eq(&from.addr, &c.addr), "its source");
	is_int(bench.u->maps.n, 2, "one map for each source");
	is_int(from.port, 5000, "the same port");
	c = E(f ? "2001:db8:1::1" : "203.0.113.9", 1);
	guest_says(&a, &c, "x", 1, 0);
	is_int(count(DROP_NO_ROUTE), 1, "no route: counted");
	is_balanced(3, "by route");
	bench_stop();
	close(to_b);
	close(to_c);
}

/* RFC 4787 REQ-8: who gets in. */
static void filter(unsigned f)
{
	static const struct {
		enum fwd_filter filter;
		bool other_port, stranger;
	} row[] = {
		{ FILTER_ADDRESS, true, false },
		{ FILTER_ENDPOINT, true, true },
		{ FILTER_PORT, false, false },
	};
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000);
	struct end b2 = E(at_b[f], 6001), d = E(at_d[f], 6000), from;
	int fd[3] = { net_udp(at_b[f], 6000), net_udp(at_b[f], 6001),
		      net_udp(at_d[f], 6000) };

	for (unsigned i = 0; i < COUNT(row); i++) {
		bench_start(OFFLOAD_CSUM, 64);
		bench.fwd.filter = row[i].filter;
		guest_says(&a, &b, "x", 1, 0);
		from = host_gets(fd[0], "x", "who is asked");
		net_send(fd[1], &from, "port", 4);
		bench_wait();
		if (row[i].other_port)
			guest_gets(&b2, &a, "port", "other port");
		else
			guest_silence("other port");
		net_send(fd[2], &from, "stranger", 8);
		bench_wait();
		if (row[i].stranger)
			guest_gets(&d, &a, "stranger", "stranger");
		else
			guest_silence("stranger");
		net_send(fd[0], &from, "answer", 6);
		bench_wait();
		guest_gets(&b, &a, "answer", "who was asked");
		is_int(count(DROP_FILTERED),
		       !row[i].other_port + !row[i].stranger, "filtered");
		is_balanced(1, "filter");

		/* No answer from an address whose last flow has ended */
		bench_later(400);
		is_int(bench.u->maps.n, 0, "all over");
		bench_stop();
	}
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
}

/* Remotes behind an alias have a socket of their own. */
static void own(unsigned f)
{
	struct end a = guest_end(f, 5000), gate = E(f ? GATE6 : GATE, 7001);
	struct end b = E(at_b[f], 6000),
		   dns = E(f ? "fd00::53" : "10.9.9.9", 53), from;
	const char *lo = f ? "::1" : "127.0.0.1";
	int server = net_udp(lo, 7001), other = net_udp(lo, 7002);
	int resolver = net_udp(lo, 53), to_b = net_udp(at_b[f], 6000);

	bench_start(OFFLOAD_USO, 64);
	bench.fwd.dns_forward[f] = dns.addr;
	bench.fwd.dns_host[f] = A_(lo);
	guest_says(&a, &b, "x", 1, 0);
	host_gets(to_b, "x", "ordinary remote");
	guest_says(&a, &gate, "hi", 2, 0);
	from = host_gets(server, "hi", "loopback alias");
	is_int(from.port, 5000, "the guest's port at loopback");
	ok(addr_is_loopback(&from.addr), "from loopback");
	is_int(bench.u->maps.n, 2, "a map of its own");
	net_send(other, &from, "me too", 6);
	is_int(bench_turn(0), 0, "the kernel refuses others");
	net_send(server, &from, "lo", 2);
	bench_wait();
	guest_gets(&gate, &a, "lo", "answer of the alias");

	guest_says(&a, &dns, "query", 5, 0);
	from = host_gets(resolver, "query", "resolver alias");
	ok(from.port != 5000, "on a port the kernel chose");
	net_send(resolver, &from, "answer", 6);
	bench_wait();
	guest_gets(&dns, &a, "answer", "answer of the resolver");
	bench_later(31);
	is_int(bench.u->flows.n, 2, "an answered query is over after 30 s");
	is_int(bench.u->maps.n, 2, "its socket too");
	is_balanced(3, "own");
	bench_stop();
	close(server);
	close(other);
	close(resolver);
	close(to_b);
}

static void refused(void)
{
	struct end a = guest_end(0, 5000), to = E("224.0.0.251", 5353);

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &to, "abcdef", 6, 2);
	is_int(count(DROP_NO_TARGET), 3, "a super-frame to a group: three");
	to = E("10.9.9.9", 53);
	bench.fwd.dns_forward[0] = to.addr;
	guest_says(&a, &to, "x", 1, 0);
	is_int(count(DROP_NO_TARGET), 4, "no resolver on the host");
	is_int(bench.u->maps.n, 0, "no map");
	is_balanced(4, "refused");
	bench_stop();
}

/* Idle time, seen from the loop's clock. */
static void expiry(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000), from;
	int fd = net_udp(at_b[f], 6000);
	unsigned fds;

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &b, "x", 1, 0);
	from = host_gets(fd, "x", "first");
	fds = net_fds();
	bench_later(100);
	net_send(fd, &from, "y", 1);
	bench_wait();
	guest_gets(&b, &a, "y", "answer after 100 s");
	bench_later(180);
	is_int(bench.u->flows.n, 1, "the answer made it last: 180 s");
	bench_later(1);
	is_int(bench.u->flows.n, 0, "a second more: over");
	is_int(bench.u->maps.n, 0, "with its map");
	is_int(count(FLOWS_EXPIRED), 1, "counted");
	is_int(net_fds(), fds - 1, "and its descriptor");
	is_int(bench.u->expiry.next_ms(&bench.u->expiry), INT64_MAX,
	       "nothing is due any more");
	net_send(fd, &from, "z", 1);
	is_int(bench_turn(0), 0, "nobody is there for a late answer");
	guest_says(&a, &b, "again", 5, 0);
	from = host_gets(fd, "again", "second datagram after expiry");
	is_int(from.port, 5000, "from the same port");
	net_send(fd, &from, "w", 1);
	bench_wait();
	guest_gets(&b, &a, "w", "its answer");
	is_int(count(FLOWS_NEW), 2, "two flows in all");
	is_balanced(2, "expiry");
	bench_stop();
	close(fd);
}

/* A long-lived flow outlives any number of one-shots. */
static void eviction(unsigned f)
{
	struct end live = guest_end(f, 4000), b = E(at_b[f], 6000), from, home;
	struct end shot = live;
	int fd = net_udp(at_b[f], 6000);

	bench_start(OFFLOAD_USO, 4);
	guest_says(&live, &b, "1", 1, 0);
	home = host_gets(fd, "1", "long-lived");
	net_send(fd, &home, "2", 1);
	bench_wait();
	guest_gets(&b, &live, "2", "long-lived");
	guest_says(&live, &b, "3", 1, 0);
	host_gets(fd, "3", "long-lived");
	for (unsigned i = 0; i < 20; i++) {
		shot.port = (uint16_t)(5000 + i);
		bench.loop.now_ms += 1000;
		guest_says(&shot, &b, "q", 1, 0);
		from = host_gets(fd, "q", "one-shot");
		is_int(from.port, shot.port, "from its port");
		net_send(fd, &from, "a", 1);
		bench_wait();
		guest_gets(&b, &shot, "a", "answer of a one-shot");
	}
	is_int(bench.u->maps.n, 4, "maps are at their limit");
	is_int(bench.u->flows.n, 4, "flows with them");
	is_int(count(MAPS_EVICTED), 17, "one-shots gave way");
	net_send(fd, &home, "4", 1);
	bench_wait();
	guest_gets(&b, &live, "4", "long-lived, afterwards");
	is_balanced(22, "eviction");
	is_int(drops(), 0, "none lost");
	bench_stop();
	close(fd);
}

/* More new endpoints in one round than there are maps: what is pending is sent
 * before its flow gives way, and to nobody else. */
static void eviction_pending(unsigned f)
{
	struct end b = E(at_b[f], 6000), src = guest_end(f, 0), from;
	int fd = net_udp(at_b[f], 6000);
	bool seen[32] = { 0 };
	unsigned wrong = 0;
	char c;

	bench_start(OFFLOAD_USO, 4);
	for (unsigned i = 0; i < 32; i++) {
		c = (char)i;
		src.port = (uint16_t)(5000 + i);
		udp_data(&shots[i], &src, &b, &c, 1);
		guest_adds(&shots[i]);
	}
	udp_flush(bench.u);
	for (unsigned i = 0; i < 32; i++) {
		if (net_recv(fd, &c, 1, &from) != 1)
			break;
		wrong += c != from.port - 5000 || seen[c & 31];
		seen[c & 31] = true;
	}
	is_int(wrong, 0, "each from its own port");
	for (unsigned i = 0; i < 32; i++)
		wrong += !seen[i];
	is_int(wrong, 0, "all 32 arrive");
	is_balanced(32, "pending");
	bench_stop();
	close(fd);
}

/* The descriptor limit is one more reason to evict. */
static void few_descriptors(unsigned f)
{
	struct end b = E(at_b[f], 6000), src = guest_end(f, 0);
	int fd = net_udp(at_b[f], 6000);
	struct rlimit was, few;

	bench_start(OFFLOAD_USO, 64);
	getrlimit(RLIMIT_NOFILE, &was);
	few = was;
	few.rlim_cur = (rlim_t)dup(fd) + 4;
	close((int)few.rlim_cur - 4);
	setrlimit(RLIMIT_NOFILE, &few);
	for (unsigned i = 0; i < 12; i++) {
		src.port = (uint16_t)(5000 + i);
		guest_says(&src, &b, "x", 1, 0);
	}
	setrlimit(RLIMIT_NOFILE, &was);
	for (unsigned i = 0; i < 12; i++)
		host_gets(fd, "x", "few descriptors");
	is_int(drops(), 0, "none refused");
	is_balanced(12, "few descriptors");
	ok(count(MAPS_EVICTED) >= 8, "maps evicted: %u",
	   (unsigned)count(MAPS_EVICTED));
	bench_stop();
	close(fd);
}

/* A full flow table; the victim is the only flow of the map that the new one
 * is for. */
static void table_full(void)
{
	struct end a = guest_end(0, 5000), b = E(at_b[0], 6000), from;
	struct end c = E(at_c[0], 6000);
	int to_b = net_udp(at_b[0], 6000), to_c = net_udp(at_c[0], 6000);
	struct map proto = { .kind = MAP_LISTEN_HOST, .family = AF_INET };
	struct flow fill = { .proto = PROTO_UDP, .inner = a };
	struct map *m;

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &b, "x", 1, 0);
	host_gets(to_b, "x", "oldest flow");
	bench.loop.now_ms += 5000;
	m = udp_map_open(bench.u, &proto, sock_open(AF_INET));
	fill.map = map_number(&bench.u->maps, m);
	for (uint32_t i = 0; bench.u->flows.n < FLOW_MAX; i++) {
		fill.host.addr = addr_v4(0x0a000000 + i);
		fill.visible = fill.host;
		flow_add(&bench.u->flows, &fill, &m->flows, udp_now_s(bench.u));
	}
	guest_says(&a, &c, "y", 1, 0);
	from = host_gets(to_c, "y", "one more flow");
	is_int(from.port, 5000, "on the map of the victim");
	is_int(drops(), 0, "not refused");
	is_int(count(FLOWS_EVICTED), 1, "one evicted");
	is_int(bench.u->flows.n, FLOW_MAX, "the table is full again");
	net_send(to_b, &from, "late", 4);
	bench_wait();
	is_int(count(DROP_FILTERED), 1, "who was evicted is a stranger");
	net_send(to_c, &from, "z", 1);
	bench_wait();
	guest_gets(&c, &a, "z", "the new flow");
	bench_stop();
	close(to_b);
	close(to_c);
}

/* Sizes that force new runs, two flows in turns: order within each stays. */
static void order(unsigned f)
{
	static const uint16_t size[] = { 100, 100, 40,	100, 0, 7, 7, 7, 8,  1,
					 900, 900, 900, 0,   0, 3, 2, 1, 500 };
	struct end src[2] = { guest_end(f, 5000), guest_end(f, 5001) };
	struct end b = E(at_b[f], 6000), from;
	int fd = net_udp(at_b[f], 6000);
	unsigned at[2] = { 0, 0 }, wrong = 0;
	uint8_t buf[2048];
	ssize_t n;

	bench_start(OFFLOAD_USO, 64);
	for (unsigned i = 0; i < 2 * COUNT(size); i++) {
		udp_len(&shots[i], &src[i & 1], &b, size[i / 2]);
		guest_adds(&shots[i]);
	}
	udp_flush(bench.u);
	for (unsigned i = 0; i < 2 * COUNT(size); i++) {
		n = net_recv(fd, buf, sizeof(buf), &from);
		if (n < 0)
			break;
		wrong += n != size[at[from.port & 1]++];
		wrong += n && buf[n - 1] != payload_byte((uint32_t)n - 1);
	}
	is_int(wrong, 0, "in order within each flow");
	is_int(at[0] + at[1], 2 * COUNT(size), "all arrive");
	ok(count(HOST_TX_CALLS) < count(HOST_TX_DGRAMS),
	   "%u datagrams in %u calls", (unsigned)count(HOST_TX_DGRAMS),
	   (unsigned)count(HOST_TX_CALLS));
	is_balanced(2 * COUNT(size), "order");
	bench_stop();
	close(fd);
}

/* A segmented send of a remote: one super-frame, or singles. */
static void segmented_in(unsigned f, enum offload level)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000), from;
	int seg = 1000, fd = net_udp(at_b[f], 6000);
	static uint8_t data[2500];
	unsigned n = 0, frames = 0;
	struct pkt p;

	bench_start(level, 64);
	guest_says(&a, &b, "x", 1, 0);
	from = host_gets(fd, "x", "asked");
	setsockopt(fd, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg));
	net_send(fd, &from, data, sizeof(data));
	bench_wait();
	for (; guest_hears(&p); frames++)
		n += piece_segs(&p.body);
	is_int(n, 3, "level %d: three datagrams", level);
	is_int(frames, level == OFFLOAD_USO ? 1 : 3, "level %d: frames", level);
	is_int(count(HOST_RX_DGRAMS), 3, "counted as three");
	is_balanced(1, "segmented in");

	/* Many singles: none lost, and joined where that pays */
	seg = 0;
	setsockopt(fd, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg));
	for (unsigned i = 0; i < 200; i++)
		net_send(fd, &from, data, 50 + (i >= 150));
	bench_wait();
	while (guest_hears(&p))
		n += piece_segs(&p.body);
	is_int(n, 203, "level %d: 200 more", level);
	is_balanced(1, "many in");
	bench_stop();
	close(fd);
}

/* A closed port: its error is nobody else's. */
static void closed_port(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000), from;
	struct end closed = E(at_b[f], 9);
	int fd = net_udp(at_b[f], 6000);

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &closed, "x", 1, 0);
	guest_says(&a, &b, "y", 1, 0);
	from = host_gets(fd, "y", "after an error");
	guest_told(f ? 1 : 3, f ? 4 : 3, &a, &closed, "closed port");
	guest_says(&a, &closed, "x", 1, 0);
	net_send(fd, &from, "z", 1);
	bench_wait();
	guest_told(f ? 1 : 3, f ? 4 : 3, &a, &closed, "closed port, again");
	guest_gets(&b, &a, "z", "answer after an error");
	ok(count(SOCK_ERRORS) >= 2, "errors drained: %u",
	   (unsigned)count(SOCK_ERRORS));
	is_int(drops(), 0, "none lost");
	is_int(bench_turn(0), 0, "and nothing is pending");
	bench_stop();
	close(fd);
}

/* Segments larger than the path takes go one by one, for a while. */
static void gso_refused(unsigned f)
{
	static uint8_t data[4200];
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000);
	int fd = net_udp(at_b[f], 6000);
	unsigned n = 0;

	net_mtu(1300);
	bench_start(OFFLOAD_USO, 64);
	for (unsigned i = 0; i < 2; i++)
		guest_says(&a, &b, data, sizeof(data), 1400);
	is_int(count(GSO_REFUSED), 1, "refused once, then remembered");
	guest_says(&a, &b, data, 3000, 1000);
	is_int(count(GSO_REFUSED), 1, "smaller ones are not meant");
	is_int(count(HOST_TX_CALLS), 7, "6 alone, then a run");
	bench.loop.now_ms += 60000;
	guest_says(&a, &b, data, sizeof(data), 1400);
	is_int(count(GSO_REFUSED), 2, "tried again after a minute");
	while (n < 12 && net_recv(fd, data, sizeof(data), NULL) > 0)
		n++;
	is_int(n, 12, "all arrive");
	is_balanced(12, "refused segments");
	is_int(drops(), 0, "none lost");
	bench_stop();
	net_mtu(65536);
	close(fd);
}

/* Many flows at once: the table of runs is flushed when full. */
static void many_flows(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 0), from;
	static struct shot s[RUNS_MAX + 20];
	int fd[RUNS_MAX + 20];
	unsigned n = 0;

	bench_start(OFFLOAD_USO, 64);
	for (unsigned i = 0; i < COUNT(fd); i++) {
		fd[i] = net_udp(at_b[f], (uint16_t)(6000 + i));
		b.port = (uint16_t)(6000 + i);
		udp_data(&s[i], &a, &b, "x", 1);
		guest_adds(&s[i]);
	}
	udp_flush(bench.u);
	for (unsigned i = 0; i < COUNT(fd); i++) {
		char c;

		n += net_recv(fd[i], &c, 1, &from) == 1 && from.port == 5000;
		close(fd[i]);
	}
	is_int(n, COUNT(fd), "every remote got its datagram");
	is_balanced(COUNT(fd), "many flows");
	bench_stop();
}

/* Dropped for want of room at our socket: the kernel's count is ours. */
static void socket_drops(void)
{
	struct end a = guest_end(0, 5000), b = E(at_b[0], 6000), from;
	int small = 4096, fd = net_udp(at_b[0], 6000);
	static uint8_t data[1000];
	uint64_t lost;

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &b, "x", 1, 0);
	from = host_gets(fd, "x", "asked");
	setsockopt(bench.u->maps.map[0].watch.fd, SOL_SOCKET, SO_RCVBUF, &small,
		   sizeof(small));
	for (unsigned i = 0; i < 50; i++)
		net_send(fd, &from, data, sizeof(data));
	bench_wait();
	lost = udp_socket_drops(bench.u);
	ok(lost > 0, "drops at our socket");
	is_int(count(HOST_RX_DGRAMS) + lost, 50, "received or counted");
	bench_later(200);
	is_int(bench.u->maps.n, 0, "its socket is closed");
	is_int(udp_socket_drops(bench.u), lost, "the count is kept");
	bench_stop();
	close(fd);
}

int main(void)
{
	bench_host();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		printf("# IPv%u\n", f ? 6 : 4);
		out_and_back(f);
		other_port(f);
		by_route(f);
		filter(f);
		own(f);
		expiry(f);
		eviction(f);
		eviction_pending(f);
		few_descriptors(f);
		order(f);
		segmented_in(f, OFFLOAD_USO);
		segmented_in(f, OFFLOAD_TSO);
		segmented_in(f, OFFLOAD_NONE);
		closed_port(f);
		gso_refused(f);
		many_flows(f);
	}
	refused();
	table_full();
	socket_drops();
	return done();
}
