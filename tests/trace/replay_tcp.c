/* replay_tcp.c - the scenes of TCP, for counting
 *
 * A scene opens its connections, and then counts what it is about. The guest is
 * this file: it reads headers of what was written to the link, so that it can
 * acknowledge it. It does so, and lays out what it sends, while nothing is
 * counted. The far end of each socket of the host is the replayed kernel. */

#include "replay.h"
#include "sock_stream.h"

#include <sys/epoll.h>

#define CONNS 32
#define SEGMENT 1460 /* bytes of a segment */
#define TRAIN (44 * SEGMENT) /* of a super-frame */
#define TRAINS (4 * TRAIN) /* what one look finds */

enum way { WAY_OUT, WAY_IN, WAY_LOOPBACK };

/** struct talk - the guest's end of a connection over the link
 * @seq: next that it sends     @ack: next that it expects */
struct talk {
	struct end me, it;
	uint32_t seq, ack;
};

struct play;

/** struct scene - @way: how its connections are opened
 * @act: what is counted, NULL: that they are
 * @n: connections     @rounds: times of @act
 * @len: bytes it moves at once
 * @units: how many each time counts for
 * @offload: of the link */
struct scene {
	const char *name;
	enum way way;
	void (*act)(struct play *p);
	enum family family;
	unsigned n, rounds;
	uint32_t len;
	unsigned units;
	enum offload offload;
};

/** struct play - a scene being played */
struct play {
	const struct scene *s;
	struct replay *r;
	struct listener *listener;
	struct talk talk[CONNS];
	void (*wake)(struct watch *w, uint32_t events);
};

/* What the guest is sent it will acknowledge */
static void hear(struct play *p)
{
	const struct written *w;
	uint32_t l4 = SHOT_L3 + (p->s->family == FAMILY_V4 ? 20 : 40);

	while ((w = kernel_written())) {
		const uint8_t *t = w->head + l4;
		struct talk *k = &p->talk[be16_get(t) - p->talk[0].it.port];

		assert(!(t[13] & TCP_RST) && k < p->talk + p->s->n);
		k->ack = be32_get(t + 4) + w->len - l4 - (t[12] >> 4) * 4u +
			 !!(t[13] & (TCP_SYN | TCP_FIN));
	}
}

static void lay_segment(const struct play *p, struct shot *s, struct talk *k,
			uint8_t flags, uint32_t len)
{
	/* MSS 1460, a scale of 7 */
	static const uint8_t options[] = { 2, 4, 5, 0xb4, 1, 3, 3, 7 };
	struct pkt_tcp h = { .seq = k->seq,
			     .ack = flags & TCP_ACK ? k->ack : 0,
			     .window = 65535,
			     .flags = flags };

	tcp_data(s, &k->me, &k->it, &h, payload_bytes(len), len);
	if (flags & TCP_SYN)
		tcp_option(s, options, sizeof(options));
	if (len > SEGMENT)
		make_super(s, SEGMENT);
	else if (p->s->offload > OFFLOAD_NONE)
		make_partial(s);
	k->seq += len + !!(flags & (TCP_SYN | TCP_FIN));
}

/* @n segments of the guest, of each connection in turn */
static void says(struct play *p, unsigned n, uint8_t flags, uint32_t len)
{
	for (unsigned i = 0; i < n; i++)
		lay_segment(p, &shots[i], &p->talk[i % p->s->n], flags, len);
	kernel_frames(shots, n, n);
	p->wake(&p->r->guest.watch, EPOLLIN);
	hear(p);
}

/* Each connection's socket of the host received @len bytes, or an end, or is
 * told of something else */
static void happens(struct play *p, uint32_t events, uint32_t len)
{
	for (unsigned i = 0; i < p->s->n; i++) {
		struct talk *k = &p->talk[i];
		struct tcp_conn *c = tcp_conn_find(&p->r->tcp, &k->me, &k->it);

		assert(c);
		kernel_receive(c->watch.fd, len, events & EPOLLRDHUP);
		p->wake(&c->watch, events);
	}
	hear(p);
}

/* The same of one side of spliced connections */
static void happens_at(struct play *p, enum splice_side side, uint32_t events,
		       uint32_t len)
{
	for (unsigned i = 0; i < p->s->n; i++) {
		struct watch *w = &p->r->splice.conn[i].side[side];

		assert(w->fd >= 0);
		kernel_receive(w->fd, len, events & EPOLLRDHUP);
		p->wake(w, events);
	}
}

/* What it says first opens a window for trains */
static void greet(struct play *p)
{
	if (p->s->act)
		says(p, p->s->n, TCP_ACK | TCP_PSH, 64);
}

static void open_out(struct play *p)
{
	says(p, p->s->n, TCP_SYN, 0);
	happens(p, EPOLLOUT, 0);
	says(p, p->s->n, TCP_ACK, 0);
	greet(p);
}

static void open_in(struct play *p)
{
	kernel_waiting(&p->talk[0].it, p->s->n, 0);
	p->wake(&p->listener->watch, EPOLLIN);
	hear(p);
	says(p, p->s->n, TCP_SYN | TCP_ACK, 0);
	greet(p);
}

/* The client has asked by the time it is accepted */
static void open_loopback(struct play *p)
{
	struct end from = end_make(addr_loopback(p->s->family), 7000, 0);

	kernel_waiting(&from, p->s->n, 64);
	p->wake(&p->listener->watch, EPOLLIN);
	happens_at(p, SPLICE_FAR, EPOLLOUT, 0);
	happens_at(p, SPLICE_NEAR, EPOLLOUT, 0);
}

/* One asks, the other answers, which acknowledges the question */
static void guest_asks(struct play *p)
{
	says(p, p->s->n, TCP_ACK | TCP_PSH, p->s->len);
	happens(p, EPOLLIN, p->s->len);
}

static void host_asks(struct play *p)
{
	happens(p, EPOLLIN, p->s->len);
	says(p, p->s->n, TCP_ACK | TCP_PSH, p->s->len);
}

static void bulk_in(struct play *p)
{
	happens(p, EPOLLIN, TRAINS);
	says(p, p->s->n, TCP_ACK, 0);
}

static void bulk_out(struct play *p)
{
	says(p, p->s->units, TCP_ACK, p->s->len);
}

static void guest_ends(struct play *p)
{
	says(p, p->s->n, TCP_ACK | TCP_FIN, 0);
	happens(p, EPOLLIN | EPOLLRDHUP, 0);
	says(p, p->s->n, TCP_ACK, 0);
	assert(!p->r->tcp.n);
}

static void host_ends(struct play *p)
{
	happens(p, EPOLLIN | EPOLLRDHUP, p->s->len);
	says(p, p->s->n, TCP_ACK, 0);
	says(p, p->s->n, TCP_ACK | TCP_FIN, 0);
	assert(!p->r->tcp.n);
}

static void loopback_asks(struct play *p)
{
	happens_at(p, SPLICE_NEAR, EPOLLIN, p->s->len);
	happens_at(p, SPLICE_FAR, EPOLLIN, p->s->len);
}

static void loopback_bulk(struct play *p)
{
	happens_at(p, SPLICE_NEAR, EPOLLIN, TRAINS);
}

static void loopback_ends(struct play *p)
{
	happens_at(p, SPLICE_NEAR, EPOLLIN | EPOLLRDHUP, 0);
	happens_at(p, SPLICE_FAR, EPOLLIN | EPOLLRDHUP, 0);
	assert(!p->r->splice.n);
}

#define SCENE(name, way, act, v, n, rounds, len, units, offload) \
	{ \
		name, way, act, FAMILY_##v, n, rounds, len, units, \
			OFFLOAD_##offload \
	}
/* Beside a scene: what is one of what it counts */
static const struct scene scenes[] = {
	/* a connection */
	SCENE("tcp-open", WAY_OUT, NULL, V4, 32, 1, 0, 32, USO),
	SCENE("tcp-open-v6", WAY_OUT, NULL, V6, 32, 1, 0, 32, USO),
	SCENE("tcp-accept", WAY_IN, NULL, V4, 32, 1, 0, 32, USO),
	SCENE("tcp-end", WAY_OUT, guest_ends, V4, 32, 1, 0, 32, USO),
	SCENE("tcp-end-host", WAY_OUT, host_ends, V4, 32, 1, 64, 32, USO),
	/* question and answer */
	SCENE("tcp-ask", WAY_OUT, guest_asks, V4, 1, 64, 64, 1, USO),
	SCENE("tcp-ask-v6", WAY_OUT, guest_asks, V6, 1, 64, 64, 1, USO),
	SCENE("tcp-ask-32", WAY_OUT, guest_asks, V4, 32, 8, 64, 32, USO),
	SCENE("tcp-ask-host", WAY_IN, host_asks, V4, 1, 64, 64, 1, USO),
	/* a super-frame, or a segment where those are not offered */
	SCENE("tcp-in", WAY_OUT, bulk_in, V4, 1, 16, 0, 4, USO),
	SCENE("tcp-in-v6", WAY_OUT, bulk_in, V6, 1, 16, 0, 4, USO),
	SCENE("tcp-in-plain", WAY_IN, bulk_in, V4, 1, 1, 0, 176, NONE),
	SCENE("tcp-out", WAY_OUT, bulk_out, V4, 1, 16, TRAIN, 4, USO),
	SCENE("tcp-out-v6", WAY_OUT, bulk_out, V6, 1, 16, TRAIN, 4, USO),
	SCENE("tcp-out-plain", WAY_IN, bulk_out, V4, 1, 4, SEGMENT, 64, NONE),
	/* a connection, question and answer, 64 KB, a connection */
	SCENE("lo-open", WAY_LOOPBACK, NULL, V4, 32, 1, 0, 32, USO),
	SCENE("lo-ask", WAY_LOOPBACK, loopback_asks, V4, 1, 64, 64, 1, USO),
	SCENE("lo-bulk", WAY_LOOPBACK, loopback_bulk, V4, 1, 16, 0, 4, USO),
	SCENE("lo-end", WAY_LOOPBACK, loopback_ends, V4, 32, 1, 0, 32, USO),
};

static void prepare(struct play *p)
{
	struct replay *r = p->r;
	enum family f = p->s->family;
	struct agent_pool *pool = &r->agent.pool[AGENT_STREAM][f];

	for (unsigned i = 0; i < p->s->n; i++) {
		p->talk[i] = (struct talk){ .me = guest_at[f],
					    .it = remote_at[f],
					    .seq = 1000000 * i };
		p->talk[i].it.port = (uint16_t)(remote_at[f].port + i);
		pool->fd[pool->n++] = stream_open(sock_family(f));
	}
	p->listener = r->listen.l.listener;
	*p->listener = (struct listener){ .target = guest_at[f].port,
					  .side = LISTEN_HOST };
	assert(!r->listen.l.proto->take(&r->listen.l, p->listener,
					stream_open(sock_family(f))));
}

static bool play(const struct scene *s)
{
	static void (*const open[])(struct play * p) = {
		[WAY_OUT] = open_out,
		[WAY_IN] = open_in,
		[WAY_LOOPBACK] = open_loopback,
	};
	struct play p = { .s = s,
			  .r = replay_start(s->offload),
			  .wake = s->act ? replay_plain : replay_counted };

	prepare(&p);
	kernel_calls();
	open[s->way](&p);
	if (s->act)
		kernel_calls();
	p.wake = replay_counted;
	for (unsigned i = 0; s->act && i < s->rounds; i++)
		s->act(&p);
	return replay_end(p.r, s->name, s->rounds * s->units);
}

bool replay_tcp(void)
{
	bool is_fine = true;

	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
		is_fine &= play(&scenes[i]);
	return is_fine;
}
