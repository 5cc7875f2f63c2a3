/* frag_fuzz.c - any fragments in any order: bounded, and whole or nothing
 *
 * Input: five bytes per fragment: bits (family, more, source, content), id and
 * time, offset in blocks, length. Bytes of a datagram depend on their position
 * and on one content bit: each byte of a whole must be one of the two that were
 * sent for its place. */

#include "frag.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct frag fr;
static uint8_t content[2][DGRAM_MAX + 2048];

static void check_bounds(void)
{
	unsigned n = 0, per_source[4] = { 0 };

	for (unsigned i = 0; i < FRAG_MAX; i++) {
		const struct frag_slot *s = &fr.slot[i];

		if (!s->used)
			continue;
		must(s->n_have && s->n_have <= sizeof(fr.have[i]) * 8);
		n++;
		if (addr_is_v4(&s->src))
			per_source[s->src.b[15] % 4]++;
	}
	must(n <= FRAG_MAX);
	for (unsigned i = 0; i < 4; i++)
		must(per_source[i] <= FRAG_PER_SOURCE);
	must((frag_next_deadline(&fr) == INT64_MAX) == (n == 0));
}

/* Each byte is one that was sent for its place */
static void check_whole(const struct pkt *p)
{
	must(p->body.len && p->body.len <= DGRAM_MAX && !p->body.seg);
	for (uint32_t i = 0; i < p->body.len; i++)
		must(p->body.buf[i] == content[0][i] ||
		     p->body.buf[i] == content[1][i]);
}

static void one(const uint8_t d[static 5], int64_t *now_ms)
{
	bool is_v4 = d[0] & 1;
	uint32_t off = (uint32_t)(d[2] << 8 | d[3]) % 8192 * 8;
	uint32_t len = d[4] * 8u;
	struct pkt p = { .src = is_v4 ? A.v4 : A.v6,
			 .dst = is_v4 ? B.v4 : B.v6,
			 .proto = PROTO_UDP,
			 .frag = { d[1] & 31, off, d[0] & 2 } };
	struct pkt whole = { .proto = 99 };
	unsigned evicted = 0;
	enum frag_what what;

	p.src.addr.b[15] = (uint8_t)(d[0] >> 2 & 3);
	if (!p.frag.more)
		len += d[0] >> 5;
	p.body.buf = guarded(content[d[0] >> 4 & 1] + off, len);
	p.body.len = len;
	*now_ms += d[1] >> 5 << 10;

	what = frag_add(&fr, &p, *now_ms, &whole, &evicted);
	must(what < FRAG_WHAT_COUNT && evicted <= 1);
	if (what == FRAG_DONE)
		check_whole(&whole);
	else
		must(whole.proto == 99);
	check_bounds();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t now_ms = 0;

	if (!content[0][1])
		for (uint32_t i = 0; i < sizeof(content[0]); i++) {
			content[0][i] = payload_byte(i);
			content[1][i] = (uint8_t)~payload_byte(i);
		}
	memset(fr.slot, 0, sizeof(fr.slot));
	for (; size >= 5; data += 5, size -= 5)
		one(data, &now_ms);
	while ((now_ms = frag_next_deadline(&fr)) != INT64_MAX) {
		frag_expire(&fr, now_ms);
		must(frag_next_deadline(&fr) > now_ms);
	}
	return 0;
}
