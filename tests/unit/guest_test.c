/* guest_test.c - every kind of frame: answered, passed on, or counted */

#include "guest.h"

#include "bench.h"
#include "model.h"
#include "ndp.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct guest *guest;
static struct shot s, whole;
static int gone_error;

static void on_gone(struct guest *g, int error)
{
	gone_error = error;
	loop_del(&bench.loop, &g->watch);
}

static void start(enum offload level)
{
	bench_start(level, 64);
	guest = mmap(NULL, sizeof(*guest), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (guest == MAP_FAILED)
		skip_all("%zu bytes: %s", sizeof(*guest), strerror(errno));
	guest->tap = &bench.tap;
	guest->udp = bench.u;
	guest->fwd = &bench.fwd;
	guest->loop = &bench.loop;
	guest->stats = &bench.stats;
	guest->has[FAMILY_V4] = guest->has[FAMILY_V6] = true;
	guest->gone = on_gone;
	gone_error = 0;
	is_int(guest_init(guest), 0, "ready");
}

static void stop(void)
{
	bench_stop();
	munmap(guest, sizeof(*guest));
}

/* Put a frame on the link; handled at the next turn */
static void put(const struct shot *frame)
{
	if (write(bench.guest, frame->raw, frame->len) != (ssize_t)frame->len)
		ok(false, "write: %s", strerror(errno));
}

static void put_now(const struct shot *frame)
{
	put(frame);
	bench_wait();
}

/* Bytes of the next frame to the guest, 0 if none */
static uint32_t answer(uint8_t *buf, size_t size)
{
	ssize_t n = read(bench.guest, buf, size);

	return n > 0 ? (uint32_t)n : 0;
}

static void arp(void)
{
	struct addr me = A_(GUEST), gate = A_(GATE);
	uint8_t buf[200], *reply = buf + SHOT_L3;

	start(OFFLOAD_USO);
	arp_request(&s, &me, &gate);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), VNET_LEN + 42, "ARP: answered");
	is_int(reply[7], ARP_REPLY, "a reply");
	is_mem(reply + 8, &B.mac, ETH_ALEN, "with our address");
	is_mem(buf + VNET_LEN, &A.mac, ETH_ALEN, "to who asked");
	is_int(count(LOCAL_ANSWERS), 1, "counted");
	arp_request(&s, &gate, &me);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), 0, "for the guest itself: silence");
	is_int(count(DROP_NOT_OURS), 1, "counted");
	guest->has[FAMILY_V4] = false;
	arp_request(&s, &me, &gate);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), 0, "no IPv4: silence");
	is_int(count(DROP_FAMILY_OFF), 1, "counted");
	is_int(count(TAP_RX_FRAMES), 3, "three frames");
	stop();
}

static void ndp(void)
{
	struct addr ll = A_("fe80::77"), me = A_(GUEST6), gate = A_(GATE6);
	uint8_t buf[200], *msg = buf + SHOT_L3 + 40;

	start(OFFLOAD_USO);
	neigh_solicit(&s, &ll, &gate);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), VNET_LEN + NDP_NA_FRAME,
	       "solicitation: answered");
	ok(is_sound(buf, VNET_LEN + NDP_NA_FRAME), "a sound frame");
	is_int(msg[0], ICMP6_NA, "an advertisement");
	is_mem(msg + 8, gate.b, 16, "of what was asked");
	is_mem(buf + SHOT_L3 + 24, ll.b, 16, "to who asked");
	ok(addr_eq(&bench.fwd.guest_ll, &ll), "its link-local is learnt");
	neigh_solicit(&s, &ll, &me);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), 0, "for the guest itself: silence");
	neigh_solicit(&s, &addr_any6, &gate);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), 0, "duplicate detection: silence");
	is_int(count(DROP_NOT_OURS), 2, "counted");
	ok(addr_eq(&bench.fwd.guest_ll, &ll), "nothing learnt from ::");
	guest->has[FAMILY_V6] = false;
	neigh_solicit(&s, &ll, &gate);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), 0, "no IPv6: silence");
	is_int(count(DROP_FAMILY_OFF), 1, "counted");

	/* Discovery in fragments is not answered, RFC 6980 */
	guest->has[FAMILY_V6] = true;
	neigh_solicit(&whole, &ll, &gate);
	frag_of(&s, &whole, 1, 0, 16);
	put_now(&s);
	frag_of(&s, &whole, 1, 16, 16);
	put_now(&s);
	is_int(answer(buf, sizeof(buf)), 0, "in fragments: silence");
	is_int(count(DROP_PROTO), 1, "counted");
	stop();
}

static void make_type(void)
{
	udp4(&s, &A, &B, 4);
	be16_put(s.raw + VNET_LEN + 12, 0x88cc);
}

static void make_short(void)
{
	udp4(&s, &A, &B, 4);
	s.len = SHOT_L3 + 12;
}

static void make_bad_ip(void)
{
	udp4(&s, &A, &B, 4);
	s.raw[SHOT_L3] = 0x55;
}

static void make_bad_l4(void)
{
	udp4(&s, &A, &B, 4);
	be16_put(s.raw + s.l4 + 4, 7);
}

static void make_bad_csum(void)
{
	udp4(&s, &A, &B, 4);
	s.raw[s.len - 1] ^= 1;
}

static void make_bad_addr(void)
{
	struct end lo = E("127.0.0.1", 1);

	udp_data(&s, &A.v4, &lo, "x", 1);
}

static void make_bad_port(void)
{
	struct end zero = B.v4;

	zero.port = 0;
	udp_data(&s, &A.v4, &zero, "x", 1);
}

static void make_sctp(void)
{
	put_ip(&s, &A.v4.addr, &B.v4.addr, 132, 20);
	memset(s.raw + s.l4, 0, 20);
}

static void make_ping(void)
{
	put_ip(&s, &A.v6.addr, &B.v6.addr, PROTO_ICMP6, 8);
	memset(s.raw + s.l4, 0, 8);
	s.raw[s.l4] = 129; /* a reply: nobody asked from here */
	fix_icmp6(&s);
}

static void make_frag_bad(void)
{
	udp4(&whole, &A, &B, 100);
	frag_of(&s, &whole, 1, 8, 13);
}

static void make_tiny(void)
{
	udp4(&s, &A, &B, 4);
	s.len = 9;
}

/* Frames that end here: one counter moves, by one, and nothing is sent */
static void refused(void)
{
	static const struct {
		const char *name;
		void (*make)(void);
		enum counter why;
	} row[] = {
		{ "other EtherType", make_type, DROP_ETHERTYPE },
		{ "short", make_short, DROP_SHORT },
		{ "shorter", make_tiny, DROP_SHORT },
		{ "IP header", make_bad_ip, DROP_BAD_IP },
		{ "UDP length", make_bad_l4, DROP_BAD_L4 },
		{ "checksum", make_bad_csum, DROP_BAD_CSUM },
		{ "loopback", make_bad_addr, DROP_BAD_ADDR },
		{ "port 0", make_bad_port, DROP_BAD_PORT },
		{ "SCTP", make_sctp, DROP_PROTO },
		{ "echo reply", make_ping, DROP_PROTO },
		{ "fragment", make_frag_bad, DROP_FRAG_BAD },
	};

	start(OFFLOAD_USO);
	for (unsigned i = 0; i < COUNT(row); i++) {
		uint64_t had = drops();
		uint64_t had_this = count(row[i].why);

		row[i].make();
		put_now(&s);
		is_int(drops() - had, 1, "%s: one counter", row[i].name);
		is_int(count(row[i].why) - had_this, 1, "%s: the right one",
		       row[i].name);
	}
	is_int(count(TAP_RX_FRAMES), COUNT(row), "all were frames");
	is_int(count(TAP_RX_DGRAMS), 0, "none a datagram");
	is_int(bench.u->flows.n, 0, "no flow");
	stop();
}

/* A round of many: super-frames and singles of two flows, in order. */
static void carried(unsigned f, enum offload level)
{
	int fd = net_udp(at_b[f], 6000);
	struct end a = E(at_guest[f], 5000), a2 = E(at_guest[f], 5001);
	struct end b = E(at_b[f], 6000), from;
	uint8_t buf[2048];
	unsigned n[2] = { 0, 0 }, wrong = 0;

	start(level);
	for (unsigned i = 0; i < 90; i++) {
		udp_len(&s, i & 1 ? &a2 : &a, &b, 200);
		s.raw[s.l4 + 8] = (uint8_t)(i / 2);
		fix_csums(&s);
		if (i % 3 == 1)
			make_partial(&s);
		if (i % 10 == 9) /* two datagrams, the same content counts */
			make_super(&s, 100);
		put(&s);
	}
	bench_wait();
	for (ssize_t len; n[0] + n[1] < 99; n[from.port & 1]++) {
		len = net_recv(fd, buf, sizeof(buf), &from);
		if (len < 0)
			break;
		wrong += len != 200 && len != 100;
	}
	is_int(wrong, 0, "sizes");
	is_int(n[0] + n[1], 99, "all datagrams");
	is_int(count(TAP_RX_FRAMES), 90, "frames counted");
	is_int(count(TAP_RX_DGRAMS), 99, "datagrams counted");
	is_int(drops(), 0, "none dropped");
	ok(count(HOST_TX_CALLS) < 30, "few calls: %u",
	   (unsigned)count(HOST_TX_CALLS));
	is_balanced(count(TAP_RX_DGRAMS), "carried");
	ok(!memcmp(&bench.tap.ends.guest, &A.mac, ETH_ALEN),
	   "the guest's Ethernet address is learnt");
	stop();
	close(fd);
}

static void learns(void)
{
	struct end a = E("192.0.2.55", 5000), b = E("198.51.100.2", 6000);
	struct end a6 = E("2001:db8::55", 5000), b6 = E("2001:db8::b", 6000);
	struct end ll = E("fe80::55", 5000);

	start(OFFLOAD_USO);
	udp_data(&s, &a, &b, "x", 1);
	s.raw[VNET_LEN + 11] = 0x77;
	put_now(&s);
	ok(addr_eq(&bench.fwd.seen[FAMILY_V4], &a.addr), "IPv4 address");
	is_int(bench.tap.ends.guest.b[5], 0x77, "Ethernet address");
	udp_data(&s, &a6, &b6, "x", 1);
	put_now(&s);
	ok(addr_eq(&bench.fwd.seen[FAMILY_V6], &a6.addr), "IPv6 address");
	udp_data(&s, &ll, &b6, "x", 1);
	put_now(&s);
	ok(addr_eq(&bench.fwd.seen[FAMILY_V6], &a6.addr), "not link-local");
	ok(addr_eq(&bench.fwd.guest_ll, &ll.addr), "link-local apart");
	stop();
}

/* Asked at the address that it spoke from, it answers from another one. */
static void answers_from_another(void)
{
	struct end a = E("192.0.2.55", 5000), b = E("198.51.100.2", 6000);
	struct end other = E("192.0.2.56", 7000), asked = E("192.0.2.55", 7000);
	struct flow f = {
		.host = b, .visible = b, .inner = asked, .proto = PROTO_UDP
	};
	int fd = net_udp("198.51.100.2", 6000);
	struct addr ours = A_(HOST);

	start(OFFLOAD_USO);
	udp_data(&s, &a, &b, "x", 1);
	put_now(&s);
	f.map = map_number(&bench.u->maps, map_find(&bench.u->maps, &a, &ours));
	f.ours = ours;
	ok(udp_map_add_flow(bench.u, &f), "a flow of a client");
	udp_data(&s, &other, &b, "answer", 6);
	put_now(&s);
	is_int(bench.u->flows.n, 2, "no conversation of its own");
	stop();
	close(fd);
}

static void switched_off(void)
{
	start(OFFLOAD_USO);
	guest->no_udp = true;
	udp_len(&s, &A.v4, &B.v4, 100);
	make_super(&s, 30);
	put_now(&s);
	is_int(count(DROP_PROTO), 4, "no UDP: four datagrams");
	guest->no_udp = false;
	guest->has[FAMILY_V4] = false;
	put_now(&s);
	is_int(count(DROP_FAMILY_OFF), 4, "no IPv4: four datagrams");
	udp6(&s, &A, &B, 1);
	guest->has[FAMILY_V6] = false;
	put_now(&s);
	is_int(count(DROP_FAMILY_OFF), 5, "no IPv6: one");
	is_int(count(TAP_RX_DGRAMS), 9, "all counted");
	is_balanced(9, "switched off");
	ok(addr_eq(&bench.fwd.seen[FAMILY_V4], &bench.fwd.guest[FAMILY_V4]),
	   "nothing learnt");
	stop();
}

/* Fragments in any order, another flow between them. */
static void fragments(unsigned f)
{
	int fd = net_udp(at_b[f], 6000);
	struct end a = E(at_guest[f], 5000), b = E(at_b[f], 6000), from;
	static uint8_t buf[DGRAM_MAX];
	static const uint32_t off[] = { 20000, 0, 40000 };

	start(OFFLOAD_USO);
	udp_len(&whole, &a, &b, 59000);
	for (unsigned i = 0; i < COUNT(off); i++) {
		uint32_t left = whole.len - whole.l4 - off[i];

		frag_of(&s, &whole, 77, off[i], left < 20000 ? left : 20000);
		put(&s);
		udp_data(&s, &a, &b, "between", 7);
		put(&s);
	}
	bench_wait();
	host_gets(fd, "between", "what is whole goes at once");
	host_gets(fd, "between", "the second too");
	is_int(net_recv(fd, buf, sizeof(buf), &from), 59000, "all of it");
	is_int(buf[58999], payload_byte(58999), "its content");
	host_gets(fd, "between", "the third, behind it");
	is_int(count(TAP_RX_DGRAMS), 4, "four datagrams");
	is_balanced(4, "fragments");

	/* One that is never finished */
	frag_of(&s, &whole, 78, 0, 800);
	put_now(&s);
	bench_later(29);
	is_int(count(DROP_FRAG_LOST), 0, "29 s: waits");
	bench_later(2);
	is_int(count(DROP_FRAG_LOST), 1, "31 s: lost, counted");

	/* Contradictions */
	frag_of(&s, &whole, 79, 0, 800);
	put_now(&s);
	frag_of(&s, &whole, 79, 400, 800);
	put_now(&s);
	is_int(count(DROP_FRAG_OVERLAP), 1, "overlap");

	/* A sum that is wrong over the whole */
	udp_len(&whole, &a, &b, 100);
	whole.raw[whole.len - 1] ^= 1;
	frag_of(&s, &whole, 80, 0, 56);
	put_now(&s);
	frag_of(&s, &whole, 80, 56, 52);
	put_now(&s);
	is_int(count(DROP_BAD_CSUM), 1, "checksum of the whole");
	stop();
	close(fd);
}

/* A destination options header behind the fragment header */
static void fragment_with_options(void)
{
	int fd = net_udp(at_b[1], 6000);
	struct end a = E(GUEST6, 5000), b = E(at_b[1], 6000);
	uint8_t pad[8] = { 0, 0, 1, 4 }, ext[8] = { 60, 0, 0, 1, 0, 0, 0, 9 };
	uint32_t rest;

	start(OFFLOAD_USO);
	udp_data(&whole, &a, &b, "sixteen bytes ok", 16);
	add_ext(&whole, 60, pad, sizeof(pad));
	rest = whole.len - SHOT_L3 - 40;
	for (uint32_t off = 0; off < rest; off += 16) {
		uint32_t n = rest - off < 16 ? rest - off : 16;

		memcpy(s.raw, whole.raw, SHOT_L3 + 40);
		be16_put(ext + 2, (uint16_t)(off | (off + n < rest)));
		memcpy(s.raw + SHOT_L3 + 40, ext, 8);
		memcpy(s.raw + SHOT_L3 + 48, whole.raw + SHOT_L3 + 40 + off, n);
		s.raw[SHOT_L3 + 6] = 44;
		be16_put(s.raw + SHOT_L3 + 4, (uint16_t)(8 + n));
		s.len = SHOT_L3 + 48 + n;
		put_now(&s);
	}
	host_gets(fd, "sixteen bytes ok", "options and fragments");
	is_int(drops(), 0, "none dropped");
	stop();
	close(fd);
}

static void head_link(void)
{
	start(OFFLOAD_USO);
	udp4(&s, &A, &B, 1);
	put(&s);
	close(bench.guest);
	bench_wait();
	is_int(gone_error, EPIPE, "the peer closed: the link is gone");
	is_int(count(TAP_RX_DGRAMS), 1, "what it sent before was read");
	bench.guest = open("/dev/null", O_RDONLY);
	stop();
}

/* More frames than one wake-up takes: the loop gets its turn, none is lost. */
static void flood(void)
{
	int fd = net_udp(at_b[0], 6000);
	struct end a = E(GUEST, 5000), b = E(at_b[0], 6000);
	unsigned n = 0;

	start(OFFLOAD_USO);
	udp_data(&s, &a, &b, "x", 1);
	while (n < 2000 && write(bench.guest, s.raw, s.len) == (ssize_t)s.len)
		n++;
	bench_wait();
	is_int(count(TAP_RX_DGRAMS), n, "all read");
	is_balanced(n, "flood");
	is_int(drops(), 0, "none dropped");
	stop();
	close(fd);
}

/* Many endpoints, few maps, time that jumps: nothing ever reaches anybody it
 * was not meant for, and every datagram is sent or counted. Payloads name the
 * inner port and the remote. */

#define INNER 40
#define REMOTES 4
#define STEPS 500

struct tag {
	uint16_t inner;
	uint16_t remote;
	uint32_t seq;
};

static unsigned shots(unsigned f, uint32_t seq)
{
	unsigned n = 1 + rnd(20);

	for (unsigned i = 0; i < n; i++) {
		struct tag t = { (uint16_t)rnd(INNER), (uint16_t)rnd(REMOTES),
				 seq + i };
		struct end a = E(at_guest[f], (uint16_t)(5000 + t.inner));
		struct end b = E(at_b[f], (uint16_t)(6000 + t.remote));

		udp_data(&s, &a, &b, &t, sizeof(t));
		put(&s);
	}
	bench_wait();
	return n;
}

/* What remote @i got; each is sent back. Returns how many were wrong. */
static unsigned echo(int fd, unsigned i, unsigned *got)
{
	unsigned wrong = 0;
	struct end from;
	struct tag t;

	while (!net_silent(fd)) {
		wrong += net_recv(fd, &t, sizeof(t), &from) != sizeof(t) ||
			 t.remote != i;
		(*got)++;
		net_send(fd, &from, &t, sizeof(t)); /* or refused: evicted */
	}
	return wrong;
}

static unsigned heard(unsigned f, unsigned *got)
{
	struct addr b = A_(at_b[f]);
	unsigned wrong = 0;
	struct tag t;
	struct pkt p;

	for (; guest_hears(&p); (*got)++) {
		memcpy(&t, p.body.buf, sizeof(t));
		wrong += p.body.len % sizeof(t) || !p.body.len ||
			 p.dst.port != 5000 + t.inner ||
			 p.src.port != 6000 + t.remote ||
			 !addr_eq(&p.src.addr, &b);
	}
	return wrong;
}

static void random_walk(unsigned f)
{
	unsigned sent = 0, out = 0, back = 0, wrong = 0;
	int fd[REMOTES];

	for (unsigned i = 0; i < REMOTES; i++)
		fd[i] = net_udp(at_b[f], (uint16_t)(6000 + i));
	start(OFFLOAD_CSUM);
	bench.u->maps.max = 8;
	for (unsigned step = 0; step < STEPS; step++) {
		sent += shots(f, sent);
		for (unsigned i = 0; i < REMOTES; i++)
			wrong += echo(fd[i], i, &out);
		bench_turn(0);
		wrong += heard(f, &back);
		bench_later(rnd(8) ? rnd(3) : rnd(200));
		if (bench.u->maps.n > 8)
			wrong++;
	}
	is_int(wrong, 0, "%u steps, seed fixed: none misled", STEPS);
	is_int(out, sent, "all reach their remotes");
	is_int(count(HOST_TX_DGRAMS), sent, "counted");
	is_int(back, count(TAP_TX_DGRAMS), "answers counted");
	ok(back > sent / 3, "answers of who was not evicted: %u of %u", back,
	   sent);
	is_balanced(count(TAP_RX_DGRAMS), "random walk");
	stop();
	for (unsigned i = 0; i < REMOTES; i++)
		close(fd[i]);
}

int main(void)
{
	bench_host();
	arp();
	ndp();
	refused();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		carried(f, OFFLOAD_USO);
		carried(f, OFFLOAD_NONE);
		fragments(f);
		random_walk(f);
	}
	fragment_with_options();
	learns();
	answers_from_another();
	switched_off();
	head_link();
	flood();
	return done();
}
