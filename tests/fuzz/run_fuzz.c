/* run_fuzz.c - whatever is joined comes apart the same
 *
 * Input: five bytes per piece: owner and mark, length, segment size. The model
 * is a list of the datagrams of each owner in the order they came. */

#include "run.h"

#include <stddef.h>
#include <stdlib.h>

#define PIECES_MAX 512
#define OWNERS 4

static const uint8_t bytes[DGRAM_MAX + 1];
static struct piece piece[PIECES_MAX];
static uint32_t owner_of[PIECES_MAX];
static struct runs runs;

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where an owner's next datagram is to be found: a piece and a byte of it */
struct place {
	uint32_t i;
	uint32_t off;
};

static struct place expect[OWNERS];

/* The next datagram of @owner that went in must be this one */
static void check_one(uint32_t owner, const struct run *r, const uint8_t *buf,
		      uint32_t len)
{
	struct place *e = &expect[owner];
	uint32_t left, want;

	while (owner_of[e->i] != owner)
		e->i++;
	left = piece[e->i].len - e->off;
	want = piece[e->i].seg && piece[e->i].seg < left ? piece[e->i].seg :
							   left;
	must(len == want && buf == piece[e->i].buf + e->off);
	must(r->mark.tos == piece[e->i].mark.tos);
	must(r->mark.df == piece[e->i].mark.df);
	e->off += len;
	if (e->off == piece[e->i].len)
		*e = (struct place){ e->i + 1, 0 };
}

static void flush(void)
{
	for (unsigned i = 0; i < runs.n; i++) {
		const struct run *r = &runs.run[i];
		uint32_t pos = 0, len, sum = 0, n = 0;
		const uint8_t *buf;

		must(r->n_slices >= 1 && r->n_slices <= RUN_SEGS_MAX);
		must(r->n_slices == 1 ||
		     (r->n_segs <= RUN_SEGS_MAX && r->len <= RUN_LEN_MAX));
		while (run_next(r, &pos, &buf, &len)) {
			check_one(r->owner, r, buf, len);
			sum += len;
			n++;
			must(len == r->seg || (n == r->n_segs && len < r->seg));
		}
		must(sum == r->len && n == r->n_segs);
	}
	runs.n = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < OWNERS; i++)
		expect[i] = (struct place){ 0, 0 };
	for (; size >= 5 && n < PIECES_MAX; data += 5, size -= 5, n++) {
		struct piece *p = &piece[n];

		owner_of[n] = data[0] % OWNERS;
		p->buf = bytes;
		p->len = (uint32_t)data[1] << 8 | data[2];
		p->seg = (uint32_t)data[3] << 8 | data[4];
		p->mark.tos = data[0] >> 2 & 1;
		p->mark.df = data[0] >> 3 & 1;
		if (!runs_add(&runs, owner_of[n], p)) {
			flush();
			must(runs_add(&runs, owner_of[n], p));
		}
		must(piece_segs(p) >= 1);
	}
	flush();
	for (uint32_t i = 0; i < n; i++)
		must(expect[owner_of[i]].i > i);
	return 0;
}
