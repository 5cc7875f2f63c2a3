/* udp_group_test.c - groups joined and left, heard and spoken to, over lo */

#include "udp_group.h"

#include "bench.h"

#define LO 1

static struct udp_group group;
static const char *const at_group[] = { "239.1.1.1", "ff05::1:1" };

/* A report of version 2 of IGMP, or 1 of MLD */
static void report(unsigned f, bool is_join)
{
	struct addr g = A_(at_group[f]);
	uint8_t msg[24] = { 0 };
	uint32_t at = f ? 8 : 4, len = at + addr_len(&g);
	struct pkt p = { .proto = f ? PROTO_ICMP6 : PROTO_IGMP,
			 .src.addr = f ? A_(GUEST_LL) : A_(GUEST),
			 .dst.addr = g,
			 .body = { .buf = msg, .len = len, .mark.hops = 1 } };
	uint8_t ip6[40] = { 0 };
	uint32_t sum = 0;

	msg[0] = f ? (is_join ? 131 : 132) : (is_join ? 0x16 : 0x17);
	memcpy(msg + at, addr_bytes(&g), addr_len(&g));
	if (f) {
		ip6[0] = 0x60;
		memcpy(ip6 + 8, p.src.addr.b, 16);
		memcpy(ip6 + 24, p.dst.addr.b, 16);
		sum = plain_pseudo(ip6, PROTO_ICMP6, len);
	}
	be16_put(msg + 2, (uint16_t)~plain_fold(plain_sum(sum, msg, len)));
	udp_group_report(&group, &p);
}

static int leave_by_lo(unsigned f, int fd)
{
	struct ip_mreqn by = { .imr_ifindex = LO };
	int lo = LO;

	return f ? setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &lo,
			      sizeof(lo)) :
		   setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof(by));
}

static void start(void)
{
	bench_start(OFFLOAD_USO, 64);
	bench.fwd.scope[FAMILY_V4] = LO;
	bench.fwd.scope[FAMILY_V6] = LO;
	group = (struct udp_group){ .u = bench.u };
	bench.u->group = &group;
	udp_group_init(&group);
}

static void stop(void)
{
	unsigned f, i;

	for (f = 0; f < FAMILY_COUNT; f++) {
		for (i = 0; i < MCAST_HOLDERS; i++) {
			if (group.holder[f][i].fd)
				close(group.holder[f][i].fd - 1);
		}
	}
	bench_stop();
}

/* Frames to the guest: queries, where nobody speaks */
static unsigned queries(void)
{
	uint8_t buf[2048];
	unsigned n = 0;

	while (read(bench.guest, buf, sizeof(buf)) > 0)
		n++;
	return n;
}

static void both_ways(unsigned f)
{
	struct end a = E(at_guest[f], 5353), b = E(at_b[f], 6000);
	struct end to = E(at_group[f], 5353);
	int at6000 = net_udp(at_b[f], 6000);
	struct stats *s = &bench.stats;
	struct pkt p;

	start();
	ok(!leave_by_lo(f, at6000), "by lo");
	report(f, true);
	is_int(s->n[GROUP_REPORTS], 1, "a report");
	is_int(group.groups.n, 1, "one group");
	is_int(group.receiver[0].map, 0, "no port is wanted yet");

	guest_says(&a, &to, "hello all", 9, 0);
	is_int(s->n[HOST_TX_DGRAMS], 1, "sent to the group");
	ok(group.receiver[0].map, "a receiver for the port");
	bench_wait();
	is_int(s->n[DROP_OWN_COPY], 1, "its own copy is dropped");
	ok(!guest_hears(&p), "nothing for the guest");

	to.scope = LO;
	net_send(at6000, &to, "hello guest", 11);
	to.scope = 0;
	bench_wait();
	guest_gets(&b, &to, "hello guest", "from a member");

	report(f, false);
	is_int(group.groups.n, 0, "left");
	is_int(group.receiver[0].map, 0, "no receiver");
	stop();
	close(at6000);
}

/* Whoever answers what was said to a group is let in. */
static void anybody(unsigned f)
{
	struct end a = E(at_guest[f], 5000), c = E(at_c[f], 7000), from;
	struct end to = E(at_group[f], 1900), b = E(at_b[f], 6000);
	int at6000 = net_udp(at_b[f], 6000), at7000 = net_udp(at_c[f], 7000);

	start();
	guest_says(&a, &b, "x", 1, 0);
	from = host_gets(at6000, "x", "a remote");
	net_send(at7000, &from, "stranger", 8);
	bench_wait();
	is_int(bench.stats.n[DROP_FILTERED], 1, "a stranger is not let in");
	guest_says(&a, &to, "search", 6, 0);
	net_send(at7000, &from, "answer", 6);
	bench_wait();
	guest_gets(&c, &a, "answer", "after a search he is");
	bench_later(200);
	is_int(bench.u->flows.n, 0, "all over");
	stop();
	close(at6000);
	close(at7000);
}

/* One that has long been speaking is known among many that come and go. */
static void own_among_many(unsigned f)
{
	struct end a = E(at_guest[f], 5353), to = E(at_group[f], 5353), from;
	struct end all = E(at_group[f], 1900);
	int search = net_udp(f ? "::" : "0.0.0.0", 1900);
	struct stats *s = &bench.stats;
	uint64_t copies;
	struct pkt p;

	start();
	report(f, true);
	guest_says(&a, &to, "me", 2, 0);
	for (unsigned i = 0; i < 2 * MCAST_RECEIVERS_MAX; i++) {
		from = E(at_guest[f], (uint16_t)(40000 + i));
		guest_says(&from, &all, "search", 6, 0);
		bench_turn(0);
		bench_later(i < MCAST_RECEIVERS_MAX ? 0 : 170);
		guest_says(&a, &to, "me", 2, 0);
		report(f, true);
		while (bench_turn(10))
			;
		queries();
	}
	copies = s->n[DROP_OWN_COPY];
	guest_says(&a, &to, "me", 2, 0);
	bench_wait();
	is_int(s->n[DROP_OWN_COPY], copies + 1, "its own copy is dropped");
	ok(!guest_hears(&p), "and does not come back to the guest");
	stop();
	close(search);
}

static void time_passes(unsigned f)
{
	start();
	ok(group.timer.next_ms(&group.timer) == MCAST_NEVER, "nothing to wait "
							     "for");
	report(f, true);
	bench_later(MCAST_QUERY_MS / 1000);
	is_int(queries(), 2, "asked, by both families");
	report(f, true);
	bench_later(MCAST_IDLE_MS / 1000 - 1);
	is_int(group.groups.n, 1, "still known");
	bench_later(MCAST_QUERY_MS / 1000);
	is_int(group.groups.n, 0, "forgotten");
	queries();
	stop();
}

int main(void)
{
	unsigned f;

	bench_host();
	both_ways(FAMILY_V4); /* lo has no route to IPv6 groups */
	own_among_many(FAMILY_V4);
	for (f = 0; f < FAMILY_COUNT; f++) {
		anybody(f);
		time_passes(f);
	}
	return done();
}
