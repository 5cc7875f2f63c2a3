/* udp_error_test.c - who hears of what did not arrive; header bits both ways */

#include "udp_error.h"

#include "bench.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct shot shots[8];

/* Two flows on one map, one of them to a closed port: the error is told to its
 * own and costs the other nothing, whoever notices it first. */
static void shared(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000);
	struct end closed = E(at_c[f], 9);
	int fd = net_udp(at_b[f], 6000);

	bench_start(OFFLOAD_USO, 64);
	for (unsigned i = 0; i < 3; i++) {
		guest_says(&a, &closed, "lost", 4, 0);
		guest_says(&a, &b, "kept", 4, 0);
		host_gets(fd, "kept", "behind an error");
		guest_told(f ? 1 : 3, f ? 4 : 3, &a, &closed, "by a send");
	}
	guest_says(&a, &closed, "lost", 4, 0);
	bench_wait();
	guest_told(f ? 1 : 3, f ? 4 : 3, &a, &closed, "by an event");
	is_int(count(ICMP_TO_GUEST), 4, "counted");
	is_int(bench.u->flows.n, 2, "no flow ends by an error");
	is_int(drops(), 0, "none lost");
	is_balanced(7, "shared");
	bench_stop();
	close(fd);
}

/* An alias' own socket: the offender is the alias. */
static void own(unsigned f)
{
	struct end a = guest_end(f, 5000), gate = E(f ? GATE6 : GATE, 7001);

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &gate, "x", 1, 0);
	bench_wait();
	guest_told(f ? 1 : 3, f ? 4 : 3, &a, &gate, "closed port of loopback");
	bench_stop();
}

/* The rate holds for all of them together. */
static void limited(unsigned f)
{
	struct end a = guest_end(f, 5000), closed = E(at_c[f], 9);
	struct pkt p;

	bench_start(OFFLOAD_USO, 64);
	for (unsigned i = 0; i < ICMP_BURST + 10; i++) {
		guest_says(&a, &closed, "x", 1, 0);
		bench_turn(NET_WAIT_MS);
		guest_hears(&p);
	}
	is_int(count(ICMP_TO_GUEST), ICMP_BURST, "a burst");
	is_int(count(ICMP_LIMITED), 10, "then none without time");
	bench.loop.now_ms += 1000;
	guest_says(&a, &closed, "x", 1, 0);
	bench_wait();
	guest_told(f ? 1 : 3, f ? 4 : 3, &a, &closed, "a second later");
	bench_stop();
}

/* A listener answers a client that is gone, at two of our addresses. */
static void listener(unsigned f)
{
	struct end inner = guest_end(f, 6000), client = E(at_b[f], 4000);
	struct end to = E(at_c[f], 5000), to2 = E(at_d[f], 5000);
	struct end seen[2];
	struct pkt p;
	int fd;

	bench_start(OFFLOAD_USO, 64);
	fd = net_udp(at_b[f], 4000);
	bench_listen(f);
	net_send(fd, &to, "1", 1);
	bench_wait();
	ok(guest_hears(&p), "first address");
	seen[0] = p.src;
	net_send(fd, &to2, "2", 1);
	bench_wait();
	ok(guest_hears(&p), "second address");
	seen[1] = p.src;
	ok(end_eq(&seen[0], &client) && !end_eq(&seen[1], &client),
	   "two conversations, told apart");
	close(fd);
	for (unsigned i = 0; i < 2; i++) {
		guest_says(&inner, &seen[i], "late", 4, 0);
		bench_wait();
		guest_told(f ? 1 : 3, f ? 4 : 3, &inner, &seen[i],
			   i ? "second" : "first");
	}
	bench_stop();
}

static void no_route(unsigned f)
{
	struct end a = guest_end(f, 5000);
	struct end to = E(f ? "2001:db8:1::1" : "203.0.113.9", 1);

	bench_start(OFFLOAD_USO, 64);
	guest_says(&a, &to, "x", 1, 0);
	guest_told(f ? 1 : 3, 0, &a, &to, "a send without a route");
	is_int(count(DROP_NO_ROUTE), 1, "counted");
	bench.u->conf.outbound[f] = (struct addr){ 0 };
	to.port = 2;
	guest_says(&a, &to, "abcd", 4, 2);
	guest_told(f ? 1 : 3, 0, &a, &to, "no flow without a route");
	is_int(count(DROP_NO_ROUTE), 3, "counted");
	is_balanced(3, "no route");
	bench_stop();
}

/* Longer than the device takes: arrives in fragments, and the MTU is told;
 * without DF it is just sent. */
static void too_big(unsigned f)
{
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000);
	int fd = net_udp(at_b[f], 6000);
	static uint8_t data[4000];
	static struct shot s;

	net_mtu(1300);
	bench_start(OFFLOAD_USO, 64);
	for (unsigned i = 0; i < 2; i++) {
		guest_says(&a, &b, data, 3000, 0);
		is_int(net_recv(fd, data, sizeof(data), NULL), 3000,
		       "it arrives");
		is_int(guest_told(f ? 2 : 3, f ? 0 : 4, &a, &b, "too big"),
		       1300, "the MTU");
		guest_says(&a, &b, "y", 1, 0);
		host_gets(fd, "y", "a short one");
		is_int(bench.u->maps.map[0].mark.df, 1, "with DF again");
	}
	is_int(drops(), 0, "none lost");
	if (!f) {
		udp_data(&s, &a, &b, data, 3000);
		be16_put(s.raw + SHOT_L3 + 6, 0);
		fix_ip(&s);
		guest_adds(&s);
		udp_flush(bench.u);
		is_int(net_recv(fd, data, sizeof(data), NULL), 3000,
		       "without DF it arrives, too");
		guest_silence("and nobody complains");
		is_int(bench.u->maps.map[0].mark.df, 0, "sent without DF");
	}
	is_balanced(f ? 4 : 5, "too big");
	bench_stop();
	net_mtu(65536);
	close(fd);
}

/* Two flows of one map whose datagrams differ in TOS and hop limit, in turns
 * and in one round; and TOS on the way back. */
static void header_bits(unsigned f)
{
	static const struct mark mark[] = { { 0xb8, 7, 1, 0 },
					    { 0x02, 33, 1, 0 },
					    { 0x02, 34, 1, 0 } };
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000), from;
	int on = 1, tos = 0x2e, fd = net_udp(at_b[f], 6000);
	static struct sock_rx rx;
	struct pkt p;
	int n = 0;

	bench_start(OFFLOAD_USO, 64);
	sock_rx_init(&rx);
	setsockopt(fd, f ? IPPROTO_IPV6 : IPPROTO_IP,
		   f ? IPV6_RECVTCLASS : IP_RECVTOS, &on, sizeof(on));
	for (unsigned i = 0; i < COUNT(shots); i++) {
		udp_data(&shots[i], &a, &b, "x", 1);
		set_tos(&shots[i], mark[i / 2 % 3].tos);
		set_hops(&shots[i], mark[i / 2 % 3].hops);
		guest_adds(&shots[i]);
		if (i == 5)
			udp_flush(bench.u);
	}
	udp_flush(bench.u);
	is_int(count(HOST_TX_CALLS), 4, "runs do not mix marks");
	for (; n < 8 && net_waits(fd) && sock_recv(&rx, fd, 1) == 1; n++)
		is_int(rx.msg[0].body.mark.tos, mark[n / 2 % 3].tos,
		       "TOS of datagram %d", n);
	is_int(n, 8, "all arrive");
	from = rx.msg[0].from;
	setsockopt(fd, f ? IPPROTO_IPV6 : IPPROTO_IP, f ? IPV6_TCLASS : IP_TOS,
		   &tos, sizeof(tos));
	net_send(fd, &from, "y", 1);
	bench_wait();
	ok(guest_hears(&p), "an answer");
	is_int(p.body.mark.tos, tos, "with its TOS");
	bench_stop();
	close(fd);
}

/* Hop limit as the receiver sees it. */
static void hops(unsigned f)
{
	static const uint8_t want[] = { 7, 64, 64, 1, 255 };
	struct end a = guest_end(f, 5000), b = E(at_b[f], 6000);
	int on = 1, fd = net_udp(at_b[f], 6000);

	bench_start(OFFLOAD_USO, 64);
	setsockopt(fd, f ? IPPROTO_IPV6 : IPPROTO_IP,
		   f ? IPV6_RECVHOPLIMIT : IP_RECVTTL, &on, sizeof(on));
	for (unsigned i = 0; i < COUNT(want); i++) {
		union {
			struct cmsghdr c;
			uint8_t buf[64];
		} u;
		struct msghdr m = { .msg_control = &u,
				    .msg_controllen = sizeof(u) };
		int got = 0;

		udp_data(&shots[0], &a, &b, "x", 1);
		set_hops(&shots[0], want[i]);
		guest_adds(&shots[0]);
		udp_flush(bench.u);
		if (net_waits(fd) && recvmsg(fd, &m, 0) >= 0 &&
		    CMSG_FIRSTHDR(&m))
			memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(got));
		is_int(got, want[i], "hop limit %u", want[i]);
	}
	bench_stop();
	close(fd);
}

/* An ICMP error of the guest about what it was sent. */
static bool guest_refuses(enum icmperr_what what, const struct end *src,
			  const struct end *dst)
{
	static uint8_t frame[ICMPERR_FRAME];
	struct icmperr_quote q = { .src = *src,
				   .dst = *dst,
				   .proto = PROTO_UDP };
	enum family family = addr_family(&src->addr);
	struct icmperr e = icmperr_make(what, family, 1280);
	struct frame f = { .l2 = frame };
	struct pkt p;

	f.len = icmperr_frame(&e, &bench.tap.ends, &dst->addr, &q, frame);
	return pkt_parse(&f, &p) == PKT_ICMP &&
	       udp_error_from_guest(bench.u, &p);
}

static void from_guest(unsigned f)
{
	struct end inner = guest_end(f, 6000), client = E(at_b[f], 4000);
	struct end a = guest_end(f, 5500), to = E(at_c[f], 5000), from;
	int fd = net_udp(at_b[f], 4000);
	struct pkt p;

	bench_start(OFFLOAD_USO, 64);
	bench_listen(f);
	net_send(fd, &to, "1", 1);
	bench_wait();
	ok(guest_hears(&p), "a client");
	ok(guest_refuses(ICMPERR_TOO_BIG, &client, &inner), "too big");
	bench_later(2);
	is_int(bench.u->flows.n, 1, "that ends nothing");
	ok(guest_refuses(ICMPERR_PORT, &client, &inner), "closed port");
	net_send(fd, &to, "2", 1);
	bench_wait();
	bench_later(2);
	is_int(bench.u->flows.n, 0, "the flow ends, though its client goes on");
	is_int(count(ICMP_FROM_GUEST), 2, "counted");
	guest_hears(&p);

	net_send(fd, &to, "3", 1);
	bench_wait();
	ok(guest_hears(&p), "again");
	ok(guest_refuses(ICMPERR_PORT, &client, &inner), "closed port");
	guest_says(&inner, &client, "here", 4, 0);
	from = host_gets(fd, "here", "it is open after all");
	ok(end_eq(&from, &to), "from the published port");
	bench_later(2);
	is_int(bench.u->flows.n, 1, "taken back");
	ok(guest_refuses(ICMPERR_PORT, &inner, &client), "about no flow");
	is_int(count(DROP_ICMP), 1, "counted");

	guest_says(&a, &client, "out", 3, 0);
	from = host_gets(fd, "out", "a flow of the guest");
	ok(guest_refuses(ICMPERR_PORT, &client, &a), "a late answer refused");
	bench_later(2);
	is_int(bench.u->flows.n, 2, "no mapping ends by an error");
	bench_stop();
	close(fd);
}

/* A spliced IPv6 flow is refused; the server speaks IPv4 only. */
static void turned(void)
{
	int client = net_udp("::1", 4000), server = net_udp(HOST, 6000);
	struct end to = E("::1", 5000), far, from;

	bench_start(OFFLOAD_USO, 64);
	bench.fwd.seen[FAMILY_V4] = A_(HOST);
	bench.fwd.seen[FAMILY_V6] = A_(HOST6);
	bench_listen(FAMILY_V6);
	bench_agent(2);
	net_send(client, &to, "one", 3);
	bench_wait();
	far = host_gets(server, "one", "refused by IPv6, sent by IPv4");
	net_send(client, &to, "two", 3);
	bench_wait();
	host_gets(server, "two", "the next goes there, too");
	net_send(server, &far, "three", 5);
	bench_wait();
	from = host_gets(client, "three", "the answer");
	ok(end_eq(&from, &to), "from where it was asked");
	is_int(count(SPLICE_TURNED), 1, "counted");
	is_int(bench.u->maps.n, 1, "one far socket");
	bench_later(5);
	is_int(bench.u->flows.n, 1, "which stays");
	bench_stop();
	close(client);
	close(server);
}

/* Nobody there at all: the flow ends, and its far socket. */
static void splice_refused(unsigned f)
{
	const char *lo = f ? "::1" : "127.0.0.1";
	int client = net_udp(lo, 4000), server;
	struct end to = E(lo, 5000), far;

	bench_start(OFFLOAD_USO, 64);
	bench.fwd.seen[FAMILY_V4] = A_(HOST);
	bench.fwd.seen[FAMILY_V6] = A_(HOST6);
	bench_listen(f);
	bench_agent(4);
	net_send(client, &to, "x", 1);
	bench_wait();
	bench_turn(0);
	is_int(count(SPLICE_REFUSED), 1, "counted");
	bench_later(2);
	is_int(bench.u->flows.n, 0, "over");

	/* The server comes, the client goes: far sockets are closed */
	server = net_udp(at_host[f], 6000);
	net_send(client, &to, "y", 1);
	bench_wait();
	far = host_gets(server, "y", "served now");
	close(client);
	net_send(server, &far, "z", 1);
	bench_wait();
	bench_turn(0);
	bench_later(2);
	is_int(bench.u->flows.n, 0, "the client is gone: over");
	is_int(count(SPLICE_REFUSED), 2, "counted");
	bench_stop();
	close(server);
}

int main(void)
{
	bench_host();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		printf("# IPv%u\n", f ? 6 : 4);
		shared(f);
		own(f);
		limited(f);
		listener(f);
		no_route(f);
		too_big(f);
		header_bits(f);
		hops(f);
		from_guest(f);
		splice_refused(f);
	}
	turned();
	return done();
}
