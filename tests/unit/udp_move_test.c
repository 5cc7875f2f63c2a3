/* udp_move_test.c - which conversations a change of the host's network ends */

#include "udp_move.h"

#include "bench.h"

static struct nl_facts facts;
static struct udp_move move;

/* The host has @a on interface @ifindex; "" ends the list */
static void has(const char *a, uint32_t ifindex)
{
	facts.addr[facts.n_addrs++] = (struct nl_addr){ .addr = A_(a),
							.ifindex = ifindex };
}

static void start(void)
{
	bench_start(OFFLOAD_USO, 64);
	facts.n_addrs = 0;
	facts.is_cut = false;
	move = (struct udp_move){ .u = bench.u };
	udp_move_init(&move);
}

static void look(void)
{
	udp_move_start(&move, &facts);
	bench_later(0);
	is_int(move.timer.next_ms(&move.timer), INT64_MAX, "the walk ends");
}

/* Maps are bound to HOST by -o; then the option is gone, and the route would
 * choose the address of the remote itself */
static void guest_flow(unsigned f)
{
	static const struct addr none;
	struct end a = E(at_guest[f], 5000), b = E(at_b[f], 6000), from;
	int fd = net_udp(at_b[f], 6000);

	start();
	guest_says(&a, &b, "x", 1, 0);
	host_gets(fd, "x", "from HOST");
	has(at_host[f], 2);
	has(at_b[f], 2);
	look();
	is_int(bench.u->flows.n, 1, "nothing has changed");
	bench.u->conf.outbound[f] = none;
	look();
	is_int(bench.u->flows.n, 1, "another address of the interface: stays");
	facts.addr[1].ifindex = 3;
	look();
	is_int(bench.u->flows.n, 0, "another interface: ended");
	is_int(bench.u->maps.n, 0, "its map, too");
	is_int(count(FLOWS_MOVED), 1, "counted");
	guest_says(&a, &b, "y", 1, 0);
	from = host_gets(fd, "y", "begun anew");
	ok(addr_eq(&from.addr, &b.addr) && from.port != 5000 + 1000,
	   "from the address of the route");

	facts.n_addrs = 0;
	look();
	is_int(bench.u->flows.n, 1, "the route's own choice: stays");
	bench_stop();
	close(fd);
}

static void gone(unsigned f)
{
	static const struct addr none;
	struct end a = E(at_guest[f], 5000), b = E(at_b[f], 6000);
	struct end lo = E(f ? GATE6 : GATE, 7001);
	int fd = net_udp(at_b[f], 6000);

	start();
	guest_says(&a, &b, "x", 1, 0);
	guest_says(&a, &lo, "x", 1, 0);
	is_int(bench.u->flows.n, 2, "two flows");
	bench.u->conf.outbound[f] = none;
	facts.is_cut = true;
	look();
	is_int(bench.u->flows.n, 2, "not all is known: stays");
	facts.is_cut = false;
	look();
	is_int(bench.u->flows.n, 1, "the address is gone: ended");
	ok(addr_is_loopback(&bench.u->maps.map[bench.u->maps.high - 1].ours),
	   "loopback stays");
	bench_stop();
	close(fd);
}

int main(void)
{
	bench_host();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		guest_flow(f);
		gone(f);
	}
	return done();
}
