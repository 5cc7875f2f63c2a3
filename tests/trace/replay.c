/* replay.c - a fixed trace through the whole forwarder, for counting
 *
 * Each scene of UDP sends the same datagrams twice: what is made for a first
 * datagram is made the first time, unless that is what the scene is about. The
 * second time replay_counted() is on the stack, and that is where
 * instructions.py makes valgrind count. A line on stdout for each scene: its
 * name, datagrams, system calls of what is counted, and drops, which must be
 * none. Scenes of TCP are in replay_tcp.c. */

#include "replay.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define TAP_FD 99

enum way { OUT, IN, SPLICE, SPLICE_BACK };

/** struct scene - @n: different flows, dealt in turn    @total: frames or buffers
 * @len: payload of each     @seg: of each datagram in it, 0: one
 * @is_first: a flow's first datagram is what counts
 * @offload:  of the link */
struct scene {
	const char *name;
	enum way way;
	enum family family;
	unsigned n, total;
	uint32_t len;
	uint16_t seg;
	bool is_first;
	enum offload offload;
};

/* 44 datagrams of 1472 bytes are the largest train */
#define TRAIN (44 * 1472)

static const struct scene scenes[] = {
	{ "out", OUT, FAMILY_V4, 1, 512, 1400, 0, false, OFFLOAD_USO },
	{ "out-v6", OUT, FAMILY_V6, 1, 512, 1400, 0, false, OFFLOAD_USO },
	{ "out-64-flows", OUT, FAMILY_V4, 64, 512, 1400, 0, false,
	  OFFLOAD_USO },
	{ "out-trains", OUT, FAMILY_V4, 1, 32, TRAIN, 1472, false,
	  OFFLOAD_USO },
	{ "out-plain", OUT, FAMILY_V4, 1, 512, 64, 0, false, OFFLOAD_NONE },
	{ "out-new", OUT, FAMILY_V4, 256, 256, 64, 0, true, OFFLOAD_USO },
	{ "in", IN, FAMILY_V4, 1, 512, 1400, 0, false, OFFLOAD_USO },
	{ "in-v6", IN, FAMILY_V6, 1, 512, 1400, 0, false, OFFLOAD_USO },
	{ "in-64-flows", IN, FAMILY_V4, 64, 512, 1400, 0, false, OFFLOAD_USO },
	{ "in-trains", IN, FAMILY_V4, 1, 32, TRAIN, 1472, false, OFFLOAD_USO },
	{ "in-plain", IN, FAMILY_V4, 1, 512, 64, 0, false, OFFLOAD_NONE },
	{ "in-new", IN, FAMILY_V4, 256, 256, 64, 0, true, OFFLOAD_USO },
	{ "splice", SPLICE, FAMILY_V4, 1, 512, 1400, 0, false, OFFLOAD_USO },
	{ "splice-back", SPLICE_BACK, FAMILY_V4, 1, 512, 1400, 0, false,
	  OFFLOAD_USO },
	{ "splice-v6", SPLICE, FAMILY_V6, 1, 512, 1400, 0, false, OFFLOAD_USO },
};

static const struct end gate_at[] = { END4(192, 0, 2, 254, 0), END6(0xfe, 0) };

struct shot shots[ROOM];
static struct arrival arrivals[ROOM];

static void nobody(struct guest *g, int error)
{
	(void)g, (void)error;
}

static void start_udp(struct replay *r)
{
	static const struct hash_key key = { { 1, 2 } };
	struct udp *u = &r->udp;

	u->loop = &r->loop;
	u->tap = &r->tap;
	u->stats = &r->stats;
	u->fwd = &r->fwd;
	u->agent = &r->agent;
	u->conf.idle_s = 180;
	u->conf.n_maps = 1024;
	udp_init(u, &key);
}

static void start_tcp(struct replay *r)
{
	static const struct hash_key key = { { 3, 4 } };
	struct tcp *t = &r->tcp;

	t->loop = &r->loop;
	t->tap = &r->tap;
	t->stats = &r->stats;
	t->fwd = &r->fwd;
	t->tell = &r->udp.tell;
	t->conf.max = 1024;
	t->conf.mtu = 1500;
	tcp_init(t, &key);
	r->splice.loop = &r->loop;
	r->splice.agent = &r->agent;
	r->splice.stats = &r->stats;
	r->splice.fwd = &r->fwd;
	r->splice.max = 1024;
	tcp_splice_init(&r->splice);
	r->listen.loop = &r->loop;
	tcp_listen_init(&r->listen);
	r->accept.tcp = t;
	r->accept.splice = &r->splice;
	r->accept.listen = &r->listen;
	r->accept.max = 1024;
	tcp_accept_init(&r->accept);
}

static void start_family(struct replay *r, enum family f)
{
	r->fwd.guest[f] = r->fwd.seen[f] = guest_at[f].addr;
	r->fwd.ours[f] = r->fwd.host_loopback[f] = gate_at[f].addr;
	r->udp.conf.outbound[f] = host_at[f].addr;
	r->udp.conf.has[f] = r->tcp.conf.has[f] = r->splice.has[f] =
		r->guest.has[f] = true;
	r->agent.pool[AGENT_DGRAM][f].n = 1;
	r->agent.pool[AGENT_DGRAM][f].fd[0] = sock_open(sock_family(f));
}

struct replay *replay_start(enum offload offload)
{
	struct replay *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
				0);
	struct guest *g = &r->guest;

	assert(r != MAP_FAILED);
	kernel_init();
	r->agent = (struct agent){ .sock = -1, .stats = &r->stats };
	for (unsigned f = 0; f < FAMILY_COUNT; f++)
		start_family(r, f);
	r->loop.epfd = -1;
	r->loop.now_ms = 1000000;
	tap_init(&r->tap, TAP_FD, offload, &LINK, &r->stats);
	start_udp(r);
	start_tcp(r);
	g->loop = &r->loop;
	g->tap = &r->tap;
	g->stats = &r->stats;
	g->fwd = &r->fwd;
	g->udp = &r->udp;
	g->tcp = &r->tcp;
	g->gone = nobody;
	assert(!guest_init(g));
	return r;
}

/* Port 5000 is published */
static struct map *listener(struct replay *r, enum family f)
{
	struct map proto = { .kind = MAP_LISTEN_HOST,
			     .family = (uint8_t)sock_family(f),
			     .port = 5000,
			     .inner = { .port = 5000 } };
	struct map *m = udp_map_open(&r->udp, &proto, sock_open(proto.family));

	assert(m);
	return m;
}

static void lay_frames(const struct scene *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct end src = guest_at[s->family];
		struct end dst = remote_at[s->family];

		if (s->is_first)
			src.port = (uint16_t)(src.port + i);
		else
			dst.port = (uint16_t)(dst.port + i);
		udp_len(&shots[i], &src, &dst, s->len);
		if (s->seg)
			make_super(&shots[i], s->seg);
		else if (s->offload >= OFFLOAD_CSUM)
			make_partial(&shots[i]);
	}
}

static void lay_arrivals(const struct scene *s, struct end from,
			 const struct addr *to)
{
	for (unsigned i = 0; i < s->n; i++) {
		arrivals[i] = (struct arrival){ from, *to, s->len, s->seg };
		arrivals[i].from.port = (uint16_t)(from.port + i);
	}
}

/* What the loop does, with nothing in between */
void replay_plain(struct watch *w, uint32_t events)
{
	do
		w->fn(w, events);
	while (!kernel_is_idle());
}

__attribute__((noinline)) void replay_counted(struct watch *w, uint32_t events)
{
	replay_plain(w, events);
}

static void lay(const struct scene *s)
{
	if (s->way == OUT)
		kernel_frames(shots, s->n, s->total);
	else
		kernel_arrivals(arrivals, s->n, s->total,
				sock_family(s->family));
}

/* Everything ready; returns who is to be woken */
static struct watch *prepare(const struct scene *s, struct replay *r)
{
	bool is_lo = s->way != IN;
	struct end from = remote_at[s->family];
	const struct addr *to = &host_at[s->family].addr;
	static const struct addr unset;
	struct map *m;

	if (s->way == OUT) {
		lay_frames(s);
		return &r->guest.watch;
	}
	if (is_lo) {
		to = addr_loopback(s->family);
		from.addr = *to;
	}
	m = listener(r, s->family);
	lay_arrivals(s, from, to);
	if (s->way != SPLICE_BACK)
		return &m->watch;
	lay(s);
	replay_plain(&m->watch, EPOLLIN);
	m = &r->udp.maps.map[flow_of_map(&r->udp.flows, m->flows)->peer];
	lay_arrivals(s, m->inner, &unset);
	return &m->watch;
}

static uint64_t drops(const struct stats *s)
{
	uint64_t n = 0;

	for (unsigned i = STAT_DROPS; i < STAT_COUNT; i++)
		n += s->n[i];
	return n;
}

__attribute__((noinline)) bool replay_end(struct replay *r, const char *name,
					  unsigned n)
{
	uint64_t lost = drops(&r->stats);

	printf("%s %u %u %llu\n", name, n, kernel_calls(),
	       (unsigned long long)lost);
	return !munmap(r, sizeof(*r)) && !lost;
}

static bool play(const struct scene *s)
{
	unsigned segs = s->seg ? (s->len + s->seg - 1U) / s->seg : 1;
	struct replay *r = replay_start(s->offload);
	struct watch *w = prepare(s, r);

	if (!s->is_first) {
		lay(s);
		replay_plain(w, EPOLLIN);
	}
	r->loop.now_ms += 1000;
	lay(s);
	kernel_calls();
	replay_counted(w, EPOLLIN);
	return replay_end(r, s->name, s->total * segs);
}

int main(void)
{
	bool is_fine = true;

	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
		is_fine &= play(&scenes[i]);
	is_fine &= replay_tcp();
	return !is_fine;
}
