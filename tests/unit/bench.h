/* bench.h - UDP put together for a test
 * Knows: struct udp and what it borrows.  Does not know: what is tested.
 *
 * The guest's link is a socket pair, time stands still unless a test moves
 * bench.loop.now_ms, and the loop is turned by hand. The host is a namespace of
 * the test's own (net.h) with these addresses on lo:
 *
 *	HOST   192.0.2.10     2001:db8::a	what flows of the guest leave from
 *	B C D  198.51.100.2 to .4, 2001:db8::b to ::d	remotes */

#ifndef BENCH_H
#define BENCH_H

#include "udp.h"

#include "frames.h"
#include "net.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#define GUEST "192.0.2.99"
#define GUEST6 "2001:db8::63"
#define GATE "192.0.2.1"
#define GATE6 "fe80::99"
#define GUEST_LL "fe80::63"
#define HOST "192.0.2.10"
#define HOST6 "2001:db8::a"

static struct {
	struct loop loop;
	struct stats stats;
	struct fwd fwd;
	struct tap tap;
	struct agent agent;
	struct udp *u;
	int guest;
	unsigned fds;
} bench;

/* Names of remotes, per family */
static const char *const at_b[] = { "198.51.100.2", "2001:db8::b" };
static const char *const at_c[] = { "198.51.100.3", "2001:db8::c" };
static const char *const at_d[] = { "198.51.100.4", "2001:db8::d" };
static const char *const at_guest[] = { GUEST, GUEST6 };
static const char *const at_host[] = { HOST, HOST6 };

/** guest_end() - an endpoint of the guest */
static inline struct end guest_end(unsigned f, uint16_t port)
{
	return E(at_guest[f], port);
}

/** bench_host() - once: the namespace and its addresses */
static inline void bench_host(void)
{
	signal(SIGPIPE, SIG_IGN);
	net_enter();
	if (!net_has_v6())
		skip_all("no IPv6");
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		net_addr(at_host[f], 1);
		net_addr(at_b[f], 2);
		net_addr(at_c[f], 3);
		net_addr(at_d[f], 4);
	}
}

/** bench_start() - an empty forwarder; policies may be changed afterwards */
static inline void bench_start(enum offload offload, uint32_t n_maps)
{
	static const struct hash_key key = { { 1, 2 } };
	const struct head_link ends = { B.mac, A.mac };
	int sv[2], size = 4 * 1024 * 1024;

	bench.fds = net_fds();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv))
		skip_all("socketpair: %s", strerror(errno));
	for (int i = 0; i < 2; i++)
		setsockopt(sv[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	bench.guest = sv[1];
	bench.agent = (struct agent){ .sock = -1, .stats = &bench.stats };
	bench.stats = (struct stats){ 0 };
	bench.fwd = (struct fwd){
		.guest = { A_(GUEST), A_(GUEST6) },
		.seen = { A_(GUEST), A_(GUEST6) },
		.guest_ll = A_(GUEST_LL),
		.ours = { A_(GATE), A_(GATE6) },
		.host_loopback = { A_(GATE), A_(GATE6) },
	};
	loop_init(&bench.loop);
	tap_init(&bench.tap, sv[0], offload, &ends, &bench.stats);
	bench.u = mmap(NULL, sizeof(*bench.u), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bench.u == MAP_FAILED)
		skip_all("%zu bytes: %s", sizeof(*bench.u), strerror(errno));
	bench.u->loop = &bench.loop;
	bench.u->tap = &bench.tap;
	bench.u->stats = &bench.stats;
	bench.u->fwd = &bench.fwd;
	bench.u->conf = (struct udp_conf){
		.outbound = { A_(HOST), A_(HOST6) },
		.idle_s = 180,
		.n_maps = n_maps,
		.has = { true, true },
	};
	udp_init(bench.u, &key);
}

/** bench_agent() - @n sockets of each family, as if an agent had made them: a
 * pool without a process behind it, in the host's own namespace */
static inline void bench_agent(unsigned n)
{
	struct agent_pool *p = bench.agent.pool[AGENT_DGRAM];

	for (; p[0].n < n; p[0].n++, p[1].n++) {
		p[0].fd[p[0].n] = sock_open(AF_INET);
		p[1].fd[p[1].n] = sock_open(AF_INET6);
	}
	bench.u->agent = &bench.agent;
}

/** bench_listen() - publish port 5000 for port 6000 inside, at every address */
static inline struct map *bench_listen(unsigned f)
{
	int family = sock_family((enum family)f), fd = sock_open(family);
	struct map proto = { .kind = MAP_LISTEN_HOST,
			     .family = (uint8_t)family,
			     .port = 5000,
			     .inner = { .port = 6000 } };
	struct end local = end_make(&addr_any6, 5000, 0);

	sock_setup(fd, family, SOCK_PKTINFO);
	if (sock_bind(fd, family, &local, ""))
		ok(false, "port 5000: %s", strerror(errno));
	return udp_map_open(bench.u, &proto, fd);
}

/** bench_stop() - give everything back; nothing may be left open */
static inline void bench_stop(void)
{
	struct agent_pool *pool = bench.agent.pool[AGENT_DGRAM];
	struct map_table *t = &bench.u->maps;

	for (uint32_t i = 0; i < MAP_DYNAMIC_MAX + t->n_listen; i++) {
		if (i == t->high)
			i = MAP_DYNAMIC_MAX;
		if (i < MAP_DYNAMIC_MAX + t->n_listen &&
		    t->map[i].kind != MAP_FREE)
			udp_map_close(bench.u, &t->map[i]);
	}
	is_int(bench.u->flows.n, 0, "no flow without its map");
	is_int(t->n, 0, "no map left");
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		if (bench.u->source[f] >= 0)
			close(bench.u->source[f]);
		while (pool[f].n)
			close(pool[f].fd[--pool[f].n]);
	}
	close(bench.tap.fd);
	close(bench.guest);
	close(bench.loop.epfd);
	munmap(bench.u, sizeof(*bench.u));
	is_int(net_fds(), bench.fds, "no descriptor left");
}

/** bench_turn() - handle all events; waits @ms for the first */
static inline unsigned bench_turn(int ms)
{
	struct epoll_event ev[16];
	unsigned total = 0;
	int n;

	while ((n = epoll_wait(bench.loop.epfd, ev, 16, ms)) > 0) {
		for (int i = 0; i < n; i++) {
			struct watch *w = ev[i].data.ptr;

			if (w->fn)
				w->fn(w, ev[i].events);
		}
		total += (unsigned)n;
		ms = 0;
	}
	return total;
}

/** bench_wait() - handle events, of which there must be one */
static inline void bench_wait(void)
{
	if (!bench_turn(NET_WAIT_MS))
		ok(false, "no event");
}

/** bench_later() - let time pass, and do what is due then */
static inline void bench_later(uint32_t seconds)
{
	bench.loop.now_ms += (int64_t)seconds * 1000;
	for (unsigned i = 0; i < bench.loop.n_timers; i++) {
		struct timer *t = bench.loop.timer[i];

		while (t->next_ms(t) <= bench.loop.now_ms)
			t->fire(t, bench.loop.now_ms);
	}
}

/** guest_adds() - a frame of the guest, its round not over yet */
static inline void guest_adds(struct shot *s)
{
	struct frame f = { .l2 = s->raw + VNET_LEN, .len = s->len - VNET_LEN };
	struct pkt p;

	memcpy(&f.vnet, s->raw, sizeof(f.vnet));
	if (pkt_parse(&f, &p) != PKT_UDP)
		ok(false, "not UDP");
	else
		udp_from_guest(bench.u, &p);
}

/** guest_says() - a round of one datagram, or of several if @seg */
static inline void guest_says(const struct end *src, const struct end *dst,
			      const void *data, uint32_t len, uint16_t seg)
{
	static struct shot s;

	udp_data(&s, src, dst, data, len);
	if (seg)
		make_super(&s, seg);
	guest_adds(&s);
	udp_flush(bench.u);
}

/** guest_hears() - the next frame to the guest; false if there is none
 * @ret_pkt: its payload is valid until the next call */
static inline bool guest_hears(struct pkt *ret_pkt)
{
	static struct shot s;
	ssize_t n = read(bench.guest, s.raw, sizeof(s.raw));
	struct frame f;

	*ret_pkt = (struct pkt){ 0 };
	if (n <= 0)
		return false;
	s.len = (uint32_t)n;
	if (!is_sound(s.raw, s.len))
		ok(false, "a frame that the kernel would not take");
	f = (struct frame){ .l2 = s.raw + VNET_LEN, .len = s.len - VNET_LEN };
	memcpy(&f.vnet, s.raw, sizeof(f.vnet));
	return pkt_parse(&f, ret_pkt) == PKT_UDP;
}

/** guest_gets() - check that just this datagram came for the guest */
static inline void guest_gets(const struct end *src, const struct end *dst,
			      const char *text, const char *what)
{
	char want[2][END_TEXT], got[2][END_TEXT];
	struct pkt p;

	if (!ok(guest_hears(&p), "%s: reaches the guest", what))
		return;
	is_str(end_text(&p.src, got[0]), end_text(src, want[0]), "%s: from",
	       what);
	is_str(end_text(&p.dst, got[1]), end_text(dst, want[1]), "%s: to",
	       what);
	ok(p.body.len == strlen(text) && !memcmp(p.body.buf, text, p.body.len),
	   "%s: content", what);
}

/** guest_told() - check that just this error came for the guest
 * @src, @dst: of the datagram of the guest that it is about
 * Returns: its second word */
static inline uint32_t guest_told(uint8_t type, uint8_t code,
				  const struct end *src, const struct end *dst,
				  const char *what)
{
	char want[2][END_TEXT], got[2][END_TEXT];
	struct icmperr_quote q;
	struct icmperr e;
	struct pkt p;

	if (guest_hears(&p) || !icmperr_parse(&p, &e, &q)) {
		ok(false, "%s: told the guest", what);
		return 0;
	}
	ok(e.type == type && e.code == code, "%s: type %u code %u", what,
	   e.type, e.code);
	is_str(end_text(&q.src, got[0]), end_text(src, want[0]),
	       "%s: about a datagram from", what);
	is_str(end_text(&q.dst, got[1]), end_text(dst, want[1]), "%s: to",
	       what);
	return e.info;
}

/** guest_silence() - nothing came for the guest */
static inline void guest_silence(const char *what)
{
	struct pkt p;

	ok(!guest_hears(&p), "%s: the guest hears nothing", what);
}

/** host_gets() - check that this text comes to a program; returns from where */
static inline struct end host_gets(int fd, const char *text, const char *what)
{
	struct end from = { 0 };
	char buf[2048];
	ssize_t n = net_recv(fd, buf, sizeof(buf), &from);

	ok(n == (ssize_t)strlen(text) && !memcmp(buf, text, (size_t)n),
	   "%s: reaches the program (%zd bytes)", what, n);
	return from;
}

static inline uint64_t count(enum counter c)
{
	return bench.stats.n[c];
}

/** drops() - all of them */
static inline uint64_t drops(void)
{
	uint64_t n = 0;

	for (unsigned i = STAT_DROPS; i < STAT_COUNT; i++)
		n += bench.stats.n[i];
	return n;
}

/** is_balanced() - every datagram that came is sent or dropped
 * @n: datagrams the guest has sent */
static inline void is_balanced(uint64_t n, const char *what)
{
	is_int(n + count(HOST_RX_DGRAMS),
	       count(HOST_TX_DGRAMS) + count(TAP_TX_DGRAMS) + drops(),
	       "%s: in = out + dropped", what);
}

#endif
