/* tap_test.c - frames over a socket pair, at every offload level */

#include "tap.h"

#include "check.h"
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct tap tap;
static struct stats stats;
static struct shot shot, heard;
static uint8_t data[DGRAM_MAX];
static int peer;

static void start(enum offload level)
{
	const struct head_link ends = { B.mac, A.mac };
	int sv[2], size = 4 * 1024 * 1024;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv))
		skip_all("socketpair: %s", strerror(errno));
	for (int i = 0; i < 2; i++)
		setsockopt(sv[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	memset(&stats, 0, sizeof(stats));
	tap_init(&tap, sv[0], level, &ends, &stats);
	peer = sv[1];
	is_int(tap.offload, level, "a socket takes what is asked for");
}

static void stop(void)
{
	close(tap.fd);
	close(peer);
}

/* The next frame the peer gets, which holds @what; 0 if there is none. */
static uint32_t hear_what(struct pkt *p, enum pkt_what what)
{
	ssize_t n = read(peer, heard.raw, sizeof(heard.raw));
	struct frame f;

	heard.len = n > 0 ? (uint32_t)n : 0;
	if (n <= 0)
		return 0;
	ok(is_sound(heard.raw, heard.len), "a frame the kernel takes");
	f = shot_frame(&heard);
	is_int(pkt_parse(&f, p), what, "it is what was sent");
	return heard.len;
}

static uint32_t hear(struct pkt *p)
{
	return hear_what(p, PKT_UDP);
}

static uint64_t sum_drops(void)
{
	uint64_t n = 0;

	for (unsigned i = STAT_DROPS; i < STAT_COUNT; i++)
		n += stats.n[i];
	return n;
}

static const struct {
	const char *name;
	uint32_t len, seg;
	unsigned n;
} runs[] = {
	{ "one", 100, 0, 1 },
	{ "one empty", 0, 0, 1 },
	{ "three", 300, 100, 3 },
	{ "three, last short", 201, 100, 3 },
	{ "odd sizes", 333, 111, 3 },
	{ "large", 65507, 0, 1 },
	{ "forty-four", 64768, 1472, 44 },
	{ "one-byte ones", 64, 1, 64 },
};

static void send_runs(enum offload level, const struct end *src,
		      const struct end *dst)
{
	for (unsigned i = 0; i < COUNT(runs); i++) {
		struct piece p = { .buf = data,
				   .len = runs[i].len,
				   .seg = runs[i].seg,
				   .mark = { .tos = 0x2e, .hops = 7 } };
		bool is_super = level == OFFLOAD_USO && runs[i].n > 1;
		unsigned frames = 0, n = 0;
		uint32_t at = 0;
		struct run r;
		struct pkt k;

		memset(&stats, 0, sizeof(stats));
		run_start(&r, 1, &p);
		tap_send_run(&tap, src, dst, &r);
		while (hear(&k)) {
			frames++;
			n += piece_segs(&k.body);
			is_mem(k.body.buf, data + at, k.body.len, "payload");
			at += k.body.len;
			ok(end_eq(&k.src, src) && end_eq(&k.dst, dst), "ends");
			is_int(k.body.mark.tos, 0x2e, "tos");
			is_int(k.body.mark.hops, 7, "hops");
			is_int(!!(heard.raw[0] & VNET_NEEDS_CSUM),
			       level > OFFLOAD_NONE || is_super,
			       "partial checksum at level %d", level);
			ok(!memcmp(heard.raw + VNET_LEN, &A.mac, 6) &&
				   !memcmp(heard.raw + VNET_LEN + 6, &B.mac, 6),
			   "Ethernet addresses");
			if (is_super)
				is_int(k.body.seg, runs[i].seg, "segment size");
		}
		is_int(frames, is_super ? 1 : runs[i].n, "level %d, %s: frames",
		       level, runs[i].name);
		is_int(n, runs[i].n, "datagrams");
		is_int(at, runs[i].len, "all bytes");
		is_int(stats.n[TAP_TX_FRAMES], frames, "frames counted");
		is_int(stats.n[TAP_TX_DGRAMS], n, "datagrams counted");
		is_int(sum_drops(), 0, "no drops");
	}
}

static const struct {
	const char *name;
	uint32_t len, seg;
	unsigned n; /* segments */
	uint8_t flags;
} parts[] = {
	{ "no payload", 0, 0, 1, TCP_ACK },
	{ "no payload, a size", 0, 1460, 1, TCP_ACK | TCP_FIN },
	{ "one", 100, 1460, 1, TCP_ACK | TCP_PSH | TCP_FIN },
	{ "one, full", 1460, 1460, 1, TCP_ACK | TCP_PSH },
	{ "a byte more", 1461, 1460, 2, TCP_ACK | TCP_PSH | TCP_FIN },
	{ "three, odd", 333, 111, 3, TCP_ACK | TCP_FIN },
	{ "largest", 65495, 1460, 45, TCP_ACK | TCP_PSH },
	{ "SYN", 0, 0, 1, TCP_SYN },
};

static void send_part(unsigned i, const struct end *src, const struct end *dst)
{
	struct pkt_tcp tcp = { 0xffffff00, 77, 5000, 0, parts[i].flags, 0xff };
	const struct mark mark = { .tos = 2, .hops = 7 };
	const struct iovec body = { parts[i].len ? data : NULL, parts[i].len };
	bool is_super = tap.offload >= OFFLOAD_TSO && parts[i].n > 1;
	uint8_t all = parts[i].flags;
	unsigned frames = 0;
	uint32_t at = 0;
	struct pkt k;

	memset(&stats, 0, sizeof(stats));
	ok(tap_send_tcp(&tap, src, dst, &tcp, mark, body, parts[i].seg),
	   "level %d, %s: sent", tap.offload, parts[i].name);
	for (; hear_what(&k, PKT_TCP); at += k.body.len, frames++) {
		bool is_last = at + k.body.len == parts[i].len;

		is_mem(k.body.buf, data + at, k.body.len, "payload");
		ok(end_eq(&k.src, src) && end_eq(&k.dst, dst), "ends");
		is_int(k.body.mark.tos, 2, "tos");
		is_int(k.body.mark.hops, 7, "hops");
		is_int(k.tcp.seq, tcp.seq + at, "sequence number");
		ok(k.tcp.ack == 77 && k.tcp.window == 5000, "ack, window");
		is_int(k.tcp.flags, is_last ? all : all & TCP_ACK, "flags");
		is_int(heard.raw[1] != 0, is_super, "super-frame?");
		is_int(heard.raw[0], tap.offload > OFFLOAD_NONE,
		       "partial checksum?");
		if (!is_super && !is_last)
			is_int(k.body.len, parts[i].seg, "a full segment");
	}
	is_int(frames, is_super ? 1 : parts[i].n, "frames");
	is_int(at, parts[i].len, "all bytes");
	is_int(stats.n[TAP_TX_FRAMES], frames, "frames counted");
	is_int(stats.n[TAP_TX_SEGS], frames, "as TCP");
	is_int(stats.n[TAP_TX_DGRAMS] + sum_drops(), 0, "and as nothing else");
}

static void send_parts(const struct end *src, const struct end *dst)
{
	for (unsigned i = 0; i < COUNT(parts); i++)
		send_part(i, src, dst);
}

static void receive(void)
{
	struct pkt p;

	start(OFFLOAD_USO);
	is_int(tap_recv(&tap), 0, "nothing queued");
	for (unsigned i = 0; i < 5; i++) {
		udp4(&shot, &A, &B, 10 * i);
		is_int(write(peer, shot.raw, shot.len), shot.len, "written");
	}
	is_int(tap_recv(&tap), 5, "five frames");
	for (unsigned i = 0; i < 5; i++) {
		is_int(pkt_parse(&tap.frame[i], &p), PKT_UDP, "parsed");
		is_int(p.body.len, 10 * i, "in order");
	}
	is_int(tap_recv(&tap), 0, "no more");
	is_int(tap.n, 0, "and none kept");
	is_int(stats.n[TAP_RX_FRAMES], 5, "counted");

	/* Too short to be frames, between good ones */
	udp6(&shot, &A, &B, 1);
	is_int(write(peer, shot.raw, 1), 1, "one byte");
	is_int(write(peer, shot.raw, VNET_LEN), VNET_LEN, "no frame");
	is_int(write(peer, shot.raw, shot.len), shot.len, "whole");
	is_int(write(peer, shot.raw, VNET_LEN + FRAME_MIN - 1),
	       VNET_LEN + FRAME_MIN - 1, "a byte too few");
	is_int(write(peer, shot.raw, VNET_LEN + FRAME_MIN),
	       VNET_LEN + FRAME_MIN, "just the Ethernet header");
	is_int(tap_recv(&tap), 2, "two are frames");
	is_int(stats.n[TAP_RX_FRAMES], 10, "all counted");
	is_int(stats.n[DROP_SHORT], 3, "three dropped");
	is_int(tap.frame[1].len, FRAME_MIN, "header only");
	stop();
}

/* Frames of any size, up to the largest; a round ends when room does. */
static void rounds(void)
{
	unsigned n = 0;
	int got;

	start(OFFLOAD_USO);
	for (unsigned i = 0; i < 12; i++) {
		udp4(&shot, &A, &B, 65507 - i);
		is_int(write(peer, shot.raw, shot.len), shot.len, "large");
	}
	while ((got = tap_recv(&tap)) > 0) {
		for (int i = 0; i < got; i++, n++) {
			struct pkt p;

			pkt_parse(&tap.frame[i], &p);
			is_int(p.body.len, 65507 - n, "large, in order");
			is_int(p.body.buf[p.body.len - 1],
			       payload_byte(p.body.len - 1), "whole");
		}
	}
	is_int(n, 12, "all large ones");
	for (unsigned i = 0; i < TAP_FRAMES + 10; i++) {
		udp4(&shot, &A, &B, 1);
		if (write(peer, shot.raw, shot.len) != (ssize_t)shot.len)
			break;
	}
	is_int(tap_recv(&tap), TAP_FRAMES, "a full round");
	is_int(tap_recv(&tap), 10, "the rest");
	stop();
}

static void tcp_failures(void)
{
	const struct pkt_tcp tcp = { .flags = TCP_ACK };
	const struct iovec body = { data, 300 };
	const struct mark mark = { 0 };

	for (unsigned level = OFFLOAD_NONE; level <= OFFLOAD_USO; level++) {
		start((enum offload)level);
		close(peer);
		ok(!tap_send_tcp(&tap, &B.v4, &A.v4, &tcp, mark, body, 100),
		   "a segment not taken");
		is_int(stats.n[DROP_TAP_ERROR], 1,
		       "is counted, the rest not tried");
		is_int(stats.n[TAP_TX_FRAMES] + stats.n[TAP_TX_SEGS], 0,
		       "none sent");
		close(tap.fd);
	}
}

static void failures(void)
{
	struct piece p = { .buf = data, .len = 300, .seg = 100 };
	struct run r;

	run_start(&r, 0, &p);
	start(OFFLOAD_USO);
	close(peer);
	tap_send_run(&tap, &B.v4, &A.v4, &r);
	is_int(stats.n[DROP_TAP_ERROR], 3, "peer gone: three dropped");
	tap_send_frame(&tap, data, 42);
	is_int(stats.n[DROP_TAP_ERROR], 4, "a frame of our own counts as one");
	is_int(stats.n[TAP_TX_FRAMES], 0, "none sent");
	is_int(tap_recv(&tap), -EPIPE, "the link is gone");
	close(tap.fd);

	start(OFFLOAD_NONE);
	tap_send_frame(&tap, data, 42);
	is_int(stats.n[TAP_TX_FRAMES], 1, "sent");
	close(peer); /* with something unread */
	is_int(tap_recv(&tap), -EPIPE, "closed with frames unread: the same");
	close(tap.fd);

	start(OFFLOAD_CSUM);
	close(tap.fd);
	tap.fd = open("/dev/null", O_RDONLY);
	tap_send_run(&tap, &B.v4, &A.v4, &r);
	is_int(stats.n[DROP_TAP_ERROR], 3, "singles: each counted once");
	stop();
}

static void own_frame(void)
{
	struct frame f;
	struct pkt p;

	start(OFFLOAD_NONE);
	udp4(&shot, &B, &A, 9);
	tap_send_frame(&tap, shot.raw + VNET_LEN, shot.len - VNET_LEN);
	heard.len = (uint32_t)read(peer, heard.raw, sizeof(heard.raw));
	is_int(heard.len, shot.len, "header in front");
	is_mem(heard.raw, shot.raw, shot.len, "zero, and the frame as it was");
	f = shot_frame(&heard);
	is_int(pkt_parse(&f, &p), PKT_UDP, "readable");
	stop();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = payload_byte(i);
	receive();
	rounds();
	for (unsigned level = OFFLOAD_NONE; level <= OFFLOAD_USO; level++) {
		start((enum offload)level);
		send_runs((enum offload)level, &B.v4, &A.v4);
		send_runs((enum offload)level, &B.v6, &A.v6);
		send_parts(&B.v4, &A.v4);
		send_parts(&B.v6, &A.v6);
		stop();
	}
	failures();
	tcp_failures();
	own_frame();
	return done();
}
