/* local_test.c - what ends here, what is learnt from it, when routers speak
 * What answers look like is tested by arp, ndp, dhcp and dhcp6. */

#include "local.h"

#include "dhcp.h"
#include "dhcp6.h"
#include "ndp.h"

#include "check.h"
#include "frames.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct addr guest_ll = { { 0xfe, 0x80, [15] = 0xa } };
static const struct addr our_ll = { { 0xfe, 0x80, [15] = 0xb } };
static const struct addr servers = { { 0xff, 2, [13] = 1, [15] = 2 } };

static struct local l;
static struct tap tap;
static struct fwd fwd;
static struct loop loop;
static struct stats stats;
static int guest;
static struct shot s;
static struct pkt p;
static uint8_t got[VNET_LEN + FRAME_MIN + 1400];

static void start(void)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv))
		skip_all("socketpair: %s", strerror(errno));
	guest = sv[1];
	stats = (struct stats){ 0 };
	loop = (struct loop){ .now_ms = 5000 };
	fwd = (struct fwd){ .guest = { A.v4.addr, A.v6.addr },
			    .seen = { A.v4.addr, C.v6.addr },
			    .ours = { B.v4.addr, our_ll } };
	tap_init(&tap, sv[0], OFFLOAD_CSUM, &LINK, &stats);
	l = (struct local){ .tap = &tap,
			    .fwd = &fwd,
			    .loop = &loop,
			    .stats = &stats,
			    .key = { { 1, 2 } } };
	l.announce = (struct announce){ .guest = { A.v4.addr, A.v6.addr },
					.ours = { B.v4.addr, our_ll },
					.mac = B.mac,
					.plen4 = 24 };
}

static void stop(void)
{
	close(tap.fd);
	close(guest);
}

static uint32_t answer(void)
{
	ssize_t n = read(guest, got, sizeof(got));

	return n > 0 ? (uint32_t)n : 0;
}

static enum pkt_what parsed(void)
{
	struct frame f = shot_frame(&s);

	return pkt_parse(&f, &p);
}

/* The smallest request; from nobody to everybody */
static void dhcp_request(void)
{
	uint8_t data[240] = { 1, 1, 6, [236] = 0x63, 0x82, 0x53, 0x63 };
	struct addr all = addr_v4(0xffffffff);
	struct end src = end_make(&addr_any4, 68, 0);
	struct end dst = end_make(&all, DHCP_PORT_SERVER, 0);

	udp_data(&s, &src, &dst, data, sizeof(data));
}

static void dhcp6_solicit(const struct addr *from, const struct addr *to)
{
	static const uint8_t data[] = { 1, 0xab, 0xcd, 0xef, 0, 1, 0, 1, 'x' };
	struct end src = end_make(from, DHCP6_PORT_CLIENT, 0);
	struct end dst = end_make(to, DHCP6_PORT_SERVER, 0);

	udp_data(&s, &src, &dst, data, sizeof(data));
}

static void router_solicit(const struct addr *from)
{
	struct addr all = { { 0xff, 2, [15] = 2 } };

	put_ip(&s, from, &all, PROTO_ICMP6, 8);
	s.raw[SHOT_L3 + 7] = 255;
	memset(s.raw + s.l4, 0, 8);
	s.raw[s.l4] = 133;
	fix_icmp6(&s);
}

static void dhcp(void)
{
	uint32_t len;

	start();
	dhcp_request();
	is_int(parsed(), PKT_UDP, "from 0.0.0.0 to port 67");
	ok(local_udp(&l, &p), "DHCP is taken");
	len = answer();
	is_int(len, VNET_LEN + 342, "an answer");
	ok(is_sound(got, len), "sound");
	is_int(got[0], 0, "checksum is full though it may be partial");
	is_mem(got + VNET_LEN, &A.mac, ETH_ALEN, "to who asked");
	is_mem(got + SHOT_L3 + 12, B.v4.addr.b + 12, 4, "from the gateway");
	is_mem(got + SHOT_L3 + 16, A.v4.addr.b + 12, 4, "to its address");
	is_int(be32_get(got + SHOT_L3 + 20), 67 << 16 | 68, "ports");
	is_int(stats.n[LOCAL_ANSWERS], 1, "counted");
	ok(addr_eq(&fwd.seen[FAMILY_V4], &A.v4.addr), "nothing learnt");

	s.raw[s.l4 + 8] = 2;
	fix_csums(&s);
	parsed();
	ok(local_udp(&l, &p), "what cannot be answered is taken");
	is_int(stats.n[DROP_DHCP], 1, "counted");
	dhcp_request();
	make_super(&s, 100);
	parsed();
	ok(local_udp(&l, &p), "a super-frame is taken");
	is_int(stats.n[DROP_DHCP], 4, "each datagram counted");
	l.no_dhcp = true;
	dhcp_request();
	parsed();
	ok(local_udp(&l, &p), "taken though off");
	is_int(stats.n[DROP_SERVICE_OFF], 1, "counted");
	is_int(answer(), 0, "no answers");

	udp4(&s, &A, &B, 10);
	parsed();
	ok(!local_udp(&l, &p), "another port is not");
	p.dst.port = DHCP6_PORT_SERVER;
	ok(!local_udp(&l, &p), "nor DHCPv6's over IPv4");
	stop();
}

static void dhcp6(void)
{
	uint32_t len;

	start();
	dhcp6_solicit(&guest_ll, &servers);
	is_int(parsed(), PKT_UDP, "a SOLICIT");
	ok(local_udp(&l, &p), "DHCPv6 is taken");
	len = answer();
	ok(len && is_sound(got, len), "a sound answer");
	is_int(be32_get(got + SHOT_L3), 0x600bcdef, "flow label");
	is_mem(got + SHOT_L3 + 8, &our_ll, 16, "from our link-local address");
	is_mem(got + SHOT_L3 + 24, &guest_ll, 16, "to who asked");
	is_int(be32_get(got + SHOT_L3 + 40), 547 << 16 | 546, "ports");
	ok(addr_eq(&fwd.guest_ll, &guest_ll), "its link-local is learnt");
	ok(addr_eq(&fwd.seen[FAMILY_V6], &A.v6.addr),
	   "it will use the address assigned");

	dhcp6_solicit(&guest_ll, &our_ll);
	parsed();
	ok(local_udp(&l, &p), "unicast is taken");
	dhcp6_solicit(&A.v6.addr, &servers);
	parsed();
	ok(local_udp(&l, &p), "so is a global source");
	is_int(stats.n[DROP_DHCP], 2, "both counted");
	l.no_dhcpv6 = true;
	ok(local_udp(&l, &p), "taken though off");
	is_int(stats.n[DROP_SERVICE_OFF], 1, "counted");
	is_int(answer(), 0, "no answers");
	stop();
}

static void discovery(void)
{
	start();
	router_solicit(&guest_ll);
	is_int(parsed(), PKT_ICMP, "a router solicitation");
	ok(local_icmp(&l, &p), "is taken");
	ok(is_sound(got, answer()), "a sound answer");
	is_int(got[SHOT_L3 + 40], 134, "an advertisement");
	ok(addr_eq(&fwd.guest_ll, &guest_ll), "link-local address is learnt");
	neigh_solicit(&s, &guest_ll, &our_ll);
	parsed();
	ok(local_icmp(&l, &p), "a neighbour solicitation is taken");
	ok(is_sound(got, answer()), "a sound answer");
	is_int(got[SHOT_L3 + 40], ICMP6_NA, "an advertisement");

	l.no_ra = true;
	router_solicit(&guest_ll);
	parsed();
	ok(local_icmp(&l, &p), "no routers: taken");
	is_int(answer(), 0, "no answer");
	neigh_solicit(&s, &guest_ll, &our_ll);
	parsed();
	ok(local_icmp(&l, &p) && answer(), "neighbours are answered");
	l.no_ra = false;
	l.no_ndp = true;
	ok(local_icmp(&l, &p), "no discovery: taken");
	router_solicit(&guest_ll);
	parsed();
	ok(local_icmp(&l, &p), "both");
	is_int(answer(), 0, "no answer");
	is_int(stats.n[DROP_SERVICE_OFF], 3, "counted");
	s.raw[s.l4] = 128;
	fix_icmp6(&s);
	parsed();
	ok(!local_icmp(&l, &p), "an echo request is not taken");
	stop();
}

/* Turn until the next advertisement; its time, 0 if there is none to come */
static int64_t next_advert(void)
{
	int64_t due = loop.n_timers ? l.advert.next_ms(&l.advert) : 0;

	if (due)
		l.advert.fire(&l.advert, due);
	return due;
}

static void adverts(void)
{
	int64_t last = 5000, at, least = INT64_MAX, most = 0;

	start();
	local_init(&l);
	is_int(loop.n_timers, 1, "a timer");
	is_int(answer(), 0, "nothing at start");
	for (int i = 0; i < 200; i++) {
		at = next_advert();
		least = at - last < least ? at - last : least;
		most = at - last > most ? at - last : most;
		last = at;
		if (!is_sound(got, answer()) || got[SHOT_L3 + 40] != 134 ||
		    got[SHOT_L3 + 24] != 0xff)
			ok(false, "advertisement %d", i);
	}
	ok(least >= 200000 && least < 230000, "least: %lld ms",
	   (long long)least);
	ok(most <= 600000 && most > 570000, "most: %lld ms", (long long)most);
	is_int(stats.n[ROUTER_ADVERTS], 200, "counted");
	stop();

	for (int i = 0; i < 2; i++) {
		start();
		l.no_ra = !i;
		l.no_ndp = i;
		local_init(&l);
		is_int(loop.n_timers, 0, "none if off");
		stop();
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	dhcp();
	dhcp6();
	discovery();
	adverts();
	return done();
}
