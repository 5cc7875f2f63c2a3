/* frag_test.c - datagrams come back whole, or are given up for a reason */

#include "frag.h"

#include "check.h"
#include "frames.h"

static struct frag fr;
static struct pkt whole;
static unsigned evicted;

/* A fragment without frame: of @host's datagram @id, IPv4 for @is_v4 */
struct part {
	const struct host *host;
	bool is_v4;
	uint32_t id, off, len;
	bool more;
};

static uint8_t data[70000];

static enum frag_what add_at(struct part a, int64_t now_ms)
{
	struct pkt p = {
		.src = a.is_v4 ? a.host->v4 : a.host->v6,
		.dst = a.is_v4 ? B.v4 : B.v6,
		.proto = PROTO_UDP,
		.frag = { .id = a.id, .off = a.off, .more = a.more },
	};

	p.src.port = p.dst.port = 0;
	p.body.buf = guarded(data + a.off, a.len);
	p.body.len = a.len;
	p.body.mark.tos = (uint8_t)(a.off / 8 + 1);
	return frag_add(&fr, &p, now_ms, &whole, &evicted);
}

static enum frag_what add(uint32_t off, uint32_t len, bool more)
{
	return add_at((struct part){ &A, true, 1, off, len, more }, 0);
}

static void reset(void)
{
	memset(&fr, 0, sizeof(fr));
	memset(&whole, 0, sizeof(whole));
	evicted = 0;
}

static void is_whole(uint32_t len, const char *name)
{
	is_int(whole.body.len, len, "%s: length", name);
	is_mem(whole.body.buf, data, len, "%s: bytes", name);
	is_int(whole.body.mark.tos, 1, "%s: mark of the first", name);
}

/* Every order of four fragments */
static void orders(void)
{
	static const uint32_t len[] = { 800, 8, 1480, 3 };
	static const uint32_t off[] = { 0, 800, 808, 2288 };

	for (unsigned code = 0; code < 256; code++) {
		unsigned seen = 0, i;
		enum frag_what got = FRAG_BAD;

		for (i = 0; i < 4; i++)
			seen |= 1u << (code >> i * 2 & 3);
		if (seen != 15)
			continue;
		reset();
		for (i = 0; i < 4; i++) {
			unsigned k = code >> i * 2 & 3;

			got = add(off[k], len[k], k < 3);
			if (got != (i < 3 ? FRAG_WAIT : FRAG_DONE))
				break;
		}
		ok(got == FRAG_DONE && whole.body.len == 2291 &&
			   !memcmp(whole.body.buf, data, 2291),
		   "order %02x", code);
	}
	is_int(frag_next_deadline(&fr), INT64_MAX, "nothing is left");
}

static void sizes(void)
{
	reset();
	for (uint32_t off = 0; off < 65528; off += 8)
		if (add(off, 8, true) != FRAG_WAIT)
			ok(false, "block at %u", off);
	is_int(add(65528, 7, false), FRAG_DONE, "65,535 bytes");
	is_whole(65535, "8,192 fragments");
	is_int(add(0, 1, false), FRAG_DONE, "a datagram of one fragment");
	is_whole(1, "one");
	is_int(add(8, 8, false), FRAG_WAIT, "the same buffer again");
	is_int(add(0, 8, true), FRAG_DONE, "... is clean");
	is_whole(16, "again");
}

static void malformed(void)
{
	reset();
	is_int(add(0, 0, true), FRAG_BAD, "empty");
	is_int(add(8, 0, false), FRAG_BAD, "empty last");
	is_int(add(0, 9, true), FRAG_BAD, "not a multiple of 8");
	is_int(add(4, 8, true), FRAG_BAD, "odd offset");
	is_int(add(65528, 8, true), FRAG_BAD, "65,536 bytes");
	is_int(add(65528, 8, false), FRAG_BAD, "65,536 bytes, last");
	is_int(frag_next_deadline(&fr), INT64_MAX, "nothing is kept");
}

/* Fragments behind 80..160: what contradicts it gives all of it up */
static const struct {
	const char *name;
	uint32_t off, len;
	bool more;
	enum frag_what want;
} overlap[] = {
	{ "before", 0, 80, true, FRAG_WAIT },
	{ "behind", 160, 80, true, FRAG_WAIT },
	{ "last behind", 160, 5, false, FRAG_WAIT },
	{ "exact copy", 80, 80, true, FRAG_WAIT },
	{ "copy of a part", 88, 8, true, FRAG_WAIT },
	{ "overlaps the beginning", 0, 88, true, FRAG_OVERLAP },
	{ "overlaps the end", 152, 16, true, FRAG_OVERLAP },
	{ "covers it", 0, 240, true, FRAG_OVERLAP },
	{ "ends inside it", 80, 8, false, FRAG_OVERLAP },
	{ "ends before it", 0, 8, false, FRAG_OVERLAP },
};

static void overlaps(void)
{
	for (unsigned i = 0; i < sizeof(overlap) / sizeof(overlap[0]); i++) {
		reset();
		add(80, 80, true);
		is_int(add(overlap[i].off, overlap[i].len, overlap[i].more),
		       overlap[i].want, "%s", overlap[i].name);
		is_int(frag_expire(&fr, FRAG_IDLE_MS),
		       overlap[i].want != FRAG_OVERLAP, "... given up or not");
	}

	reset();
	add(80, 80, true);
	data[90] ^= 1;
	is_int(add(80, 80, true), FRAG_OVERLAP, "a copy that differs");
	data[90] ^= 1;
	reset();
	add(80, 80, false);
	is_int(add(80, 80, false), FRAG_WAIT, "copy of the last");
	is_int(add(160, 8, true), FRAG_OVERLAP, "behind the last");
	reset();
	add(80, 80, false);
	is_int(add(80, 80, true), FRAG_OVERLAP, "last or not");
	reset();
	add(80, 80, false);
	is_int(add(80, 79, false), FRAG_OVERLAP, "two ends");
}

/* What comes of a datagram that was given up is dropped with it, RFC 8200 4.5,
 * and that is one datagram, not two. */
static void once(void)
{
	reset();
	add(80, 80, true);
	is_int(add(72, 16, true), FRAG_OVERLAP, "given up");
	is_int(add(72, 16, true), FRAG_WAIT, "the same again: known");
	is_int(add(0, 80, true), FRAG_WAIT, "the beginning");
	is_int(add(160, 8, false), FRAG_WAIT, "the end: still dropped");
	is_int(frag_next_deadline(&fr), FRAG_IDLE_MS, "its time goes by");
	is_int(frag_expire(&fr, FRAG_IDLE_MS), 0, "not counted again");
	is_int(frag_next_deadline(&fr), INT64_MAX, "over");
	is_int(add(0, 80, true), FRAG_WAIT, "a fresh start");
	is_int(add(80, 8, false), FRAG_DONE, "... to the end");

	add_at((struct part){ &A, true, 90, 0, 16, true }, 0);
	add_at((struct part){ &A, true, 90, 8, 16, true }, 0);
	for (unsigned i = 0; i < FRAG_PER_SOURCE; i++)
		add_at((struct part){ &A, true, i, 0, 8, true }, 1 + i);
	is_int(evicted, 0, "nor if it gives way to another");
}

/* What belongs together: source, destination, id, and for IPv4 the protocol */
static void identity(void)
{
	struct pkt p = { .src = A.v6,
			 .dst = B.v6,
			 .proto = PROTO_UDP,
			 .body = { data, 8, 0, { 1, 0, 0, 0 } },
			 .frag = { 7, 0, true } };

	reset();
	add_at((struct part){ &A, true, 1, 0, 8, true }, 0);
	add_at((struct part){ &A, false, 1, 0, 8, true }, 0);
	add_at((struct part){ &C, true, 1, 0, 8, true }, 0);
	add_at((struct part){ &A, true, 2, 0, 8, true }, 0);
	is_int(frag_expire(&fr, FRAG_IDLE_MS), 4, "four datagrams");

	frag_add(&fr, &p, 0, &whole, &evicted);
	p.proto = 44;
	p.frag = (struct pkt_frag){ 7, 8, false };
	p.body.buf = data + 8;
	is_int(frag_add(&fr, &p, 0, &whole, &evicted), FRAG_DONE,
	       "IPv6: another next header behind");
	is_int(whole.proto, PROTO_UDP, "... the first one's counts");

	p.src = A.v4;
	p.dst = B.v4;
	frag_add(&fr, &p, 0, &whole, &evicted);
	p.proto = PROTO_UDP;
	p.frag = (struct pkt_frag){ 7, 0, true };
	p.body.buf = data;
	is_int(frag_add(&fr, &p, 0, &whole, &evicted), FRAG_WAIT,
	       "IPv4: another protocol is another datagram");
}

static struct host nth_host(unsigned i)
{
	struct host h = A;

	h.v4.addr = addr_v4(0x0a000000 + i);
	return h;
}

static void limits(void)
{
	struct host h;
	unsigned i;

	reset();
	for (i = 0; i < FRAG_PER_SOURCE + 3; i++)
		add_at((struct part){ &A, true, i, 0, 8, true }, i);
	is_int(evicted, 3, "a source beyond its share loses its oldest");
	is_int(add_at((struct part){ &A, true, 3, 8, 8, false }, 90), FRAG_DONE,
	       "... the fourth is still there");
	is_int(add_at((struct part){ &A, true, 2, 8, 8, false }, 90), FRAG_WAIT,
	       "... the third is not");

	reset();
	for (i = 0; i < FRAG_MAX; i++) {
		h = nth_host(i);
		add_at((struct part){ &h, true, 1, 0, 8, true }, 100 + i);
	}
	is_int(evicted, 0, "64 sources");
	add(0, 8, true);
	is_int(evicted, 1, "one more: the oldest of all goes");
	h = nth_host(0);
	is_int(add_at((struct part){ &h, true, 1, 8, 8, false }, 200),
	       FRAG_WAIT, "... that was the first");
	h = nth_host(5);
	is_int(add_at((struct part){ &h, true, 1, 8, 8, false }, 200),
	       FRAG_DONE, "... the sixth lives");
}

static void times(void)
{
	reset();
	is_int(frag_next_deadline(&fr), INT64_MAX, "empty: never");
	add_at((struct part){ &A, true, 1, 0, 8, true }, 1000);
	add_at((struct part){ &A, true, 2, 0, 8, true }, 500);
	add_at((struct part){ &A, true, 1, 8, 8, true }, 9000);
	is_int(frag_next_deadline(&fr), 500 + FRAG_IDLE_MS, "the older one");
	is_int(frag_expire(&fr, 499 + FRAG_IDLE_MS), 0, "not yet");
	is_int(frag_expire(&fr, 500 + FRAG_IDLE_MS), 1, "one");
	is_int(frag_next_deadline(&fr), 1000 + FRAG_IDLE_MS,
	       "the other one: its first fragment counts");
	is_int(frag_expire(&fr, 1000 + FRAG_IDLE_MS), 1, "that too");
	is_int(frag_next_deadline(&fr), INT64_MAX, "empty again");
}

/* Frames in, datagram out, as the guest's kernel fragments at MTU 1500 */
static void from_frames(void)
{
	static struct shot s, part;
	struct frame f;
	struct pkt p;

	for (unsigned i = 0; i < 2; i++) {
		enum frag_what got = FRAG_WAIT;
		uint32_t off, step = i ? 1448 : 1480, n = 0;

		reset();
		if (i)
			udp6(&s, &A, &B, 65000);
		else
			udp4(&s, &A, &B, 65000);
		for (off = 0; off < s.len - s.l4; off += step, n++) {
			uint32_t left = s.len - s.l4 - off;

			frag_of(&part, &s, 77, off, left < step ? left : step);
			f = shot_frame(&part);
			if (pkt_parse(&f, &p) != PKT_FRAGMENT)
				break;
			got = frag_add(&fr, &p, 0, &whole, &evicted);
		}
		is_int(got, FRAG_DONE, "%u frames", n);
		is_int(pkt_transport(&whole), PKT_UDP, "a datagram");
		ok(end_eq(&whole.src, i ? &A.v6 : &A.v4) &&
			   end_eq(&whole.dst, i ? &B.v6 : &B.v4),
		   "its ends");
		is_int(whole.body.len, 65000, "its length");
		is_int(whole.body.mark.hops, 64, "its hops");
		is_mem(whole.body.buf, s.raw + s.l4 + 8, 65000, "its bytes");
	}
}

int main(void)
{
	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = payload_byte(i);
	orders();
	sizes();
	malformed();
	overlaps();
	once();
	identity();
	limits();
	times();
	from_frames();
	return done();
}
