/* run_test.c - what may be joined, and that joining loses and mixes nothing */

#include "run.h"

#include "check.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const uint8_t data[DGRAM_MAX + 1];

static struct piece piece(uint32_t len, uint32_t seg)
{
	return (struct piece){ .buf = data, .len = len, .seg = seg };
}

static void counts(void)
{
	static const struct {
		uint32_t len, seg;
		unsigned want;
	} row[] = {
		{ 0, 0, 1 },	 { 1, 0, 1 },	      { 100, 100, 1 },
		{ 100, 200, 1 }, { 100, 50, 2 },      { 101, 50, 3 },
		{ 0, 50, 1 },	 { 65535, 1, 65535 }, { 65535, UINT32_MAX, 1 },
	};

	for (unsigned i = 0; i < COUNT(row); i++) {
		struct piece p = piece(row[i].len, row[i].seg);

		is_int(piece_segs(&p), row[i].want, "%u bytes by %u",
		       row[i].len, row[i].seg);
	}
}

/* A run of @a, is @b accepted behind it? */
static const struct {
	const char *name;
	uint32_t a_len, a_seg, b_len, b_seg;
	bool joins;
} pair_table[] = {
	{ "equal", 100, 0, 100, 0, true },
	{ "shorter", 100, 0, 99, 0, true },
	{ "one byte", 100, 0, 1, 0, true },
	{ "longer", 100, 0, 101, 0, false },
	{ "empty behind", 100, 0, 0, 0, false },
	{ "behind empty", 0, 0, 100, 0, false },
	{ "two empty", 0, 0, 0, 0, false },
	{ "merged and single", 300, 100, 100, 0, true },
	{ "merged and shorter", 300, 100, 50, 0, true },
	{ "merged with short end", 250, 100, 100, 0, false },
	{ "single and merged", 100, 0, 300, 100, true },
	{ "single and merged with short end", 100, 0, 250, 100, true },
	{ "single and merged of other size", 100, 0, 300, 50, false },
	{ "shorter merged", 100, 0, 80, 40, false },
	{ "merged with merged", 300, 100, 400, 100, true },
	{ "segment size beyond the datagram", 100, 900, 100, 900, true },
	{ "the same, shorter", 100, 900, 60, 900, true },
	{ "64 datagrams", 6300, 100, 100, 0, true },
	{ "65 datagrams", 6400, 100, 100, 0, false },
	{ "65 datagrams, merged behind", 6300, 100, 200, 100, false },
	{ "as it came: 128", 12800, 100, 100, 0, false },
	{ "65,507 bytes", 60468, 5039, 5039, 0, true },
	{ "largest payload", 65500, 6550, 7, 0, true },
	{ "beyond the largest payload", 65500, 6550, 8, 0, false },
};

static void pairs(void)
{
	for (unsigned i = 0; i < COUNT(pair_table); i++) {
		struct piece a = piece(pair_table[i].a_len,
				       pair_table[i].a_seg);
		struct piece b = piece(pair_table[i].b_len,
				       pair_table[i].b_seg);
		struct run r, before;

		memset(&r, 0, sizeof(r));
		run_start(&r, 7, &a);
		before = r;
		is_int(run_append(&r, &b), pair_table[i].joins, "%s",
		       pair_table[i].name);
		if (!pair_table[i].joins)
			is_mem(&r, &before, sizeof(r), "... run unchanged");
		else
			ok(r.len == a.len + b.len && r.n_slices == 2 &&
				   r.n_segs ==
					   piece_segs(&a) + piece_segs(&b) &&
				   r.owner == 7,
			   "... sums are right");
	}
}

static void marks(void)
{
	static const struct mark other[] = {
		{ 2, 64, 1, 0 },
		{ 1, 63, 1, 0 },
		{ 1, 64, 0, 0 },
	};
	struct piece a = piece(10, 0);
	struct run r;

	a.mark = (struct mark){ 1, 64, 1, 0 };
	run_start(&r, 0, &a);
	ok(run_append(&r, &a), "same mark");
	for (unsigned i = 0; i < COUNT(other); i++) {
		a.mark = other[i];
		ok(!run_append(&r, &a), "other mark, row %u", i);
	}
	is_int(r.mark.hops, 64, "mark is kept");
}

static void walk_of_empty(void)
{
	struct piece p = piece(0, 0);
	const uint8_t *buf = NULL;
	uint32_t pos = 0, len = 9;
	struct run r;

	run_start(&r, 0, &p);
	ok(run_next(&r, &pos, &buf, &len), "an empty datagram is one");
	is_int(len, 0, "without bytes");
	ok(!run_next(&r, &pos, &buf, &len), "and no other");
}

static void walk_of_largest(void)
{
	struct piece p = piece(65535, 0);
	const uint8_t *buf;
	uint32_t pos = 0, len, n = 0;
	struct run r;

	run_start(&r, 0, &p);
	ok(run_next(&r, &pos, &buf, &len) && len == 65535, "65,535 bytes");
	ok(!run_next(&r, &pos, &buf, &len), "end");

	p.seg = 1;
	run_start(&r, 0, &p);
	for (pos = 0; run_next(&r, &pos, &buf, &len); n++)
		if (len != 1 || buf != data + n)
			break;
	is_int(n, 65535, "65,535 datagrams of one byte");
}

/* Pieces of three owners, mixed; split(join(x)) = x for each owner */
static void split_of_join(void)
{
	static const uint32_t size[] = { 100, 100, 60, 100, 0, 100,
					 200, 200, 1,  1,   1, 1000 };
	static struct runs rs;
	uint32_t at = 0, seen[3] = { 0 }, bad = 0, n = 0;

	for (uint32_t i = 0; i < 60; i++) {
		uint32_t len = size[i % 12];
		struct piece p = { .buf = data + at, .len = len };

		ok(runs_add(&rs, i % 3, &p), "piece %u", i);
		at += len;
	}
	ok(rs.n < 60, "%u runs of 60 pieces", rs.n);

	for (unsigned i = 0; i < rs.n; i++) {
		const struct run *r = &rs.run[i];
		const uint8_t *buf;
		uint32_t pos = 0, len;

		while (run_next(r, &pos, &buf, &len)) {
			uint32_t k = seen[r->owner]++ * 3 + r->owner;
			uint32_t off = 0;

			for (uint32_t j = 0; j < k; j++)
				off += size[j % 12];
			bad += len != size[k % 12] || buf != data + off;
			n++;
		}
	}
	is_int(n, 60, "60 datagrams again");
	is_int(bad, 0, "each where it belongs");
}

static void full_table(void)
{
	static struct runs rs;
	struct piece p = piece(10, 0), longer = piece(11, 0);

	for (uint32_t i = 0; i < RUNS_MAX; i++)
		runs_add(&rs, i, &p);
	is_int(rs.n, RUNS_MAX, "table full");
	ok(runs_add(&rs, 0, &p), "the oldest still grows");
	ok(!runs_add(&rs, 0, &longer), "a new one is refused");
	ok(!runs_add(&rs, RUNS_MAX, &p), "a new owner is refused");
	is_int(rs.run[0].n_segs, 2, "nothing was lost");
	rs.n = 0;
	ok(runs_add(&rs, 5, &longer) && rs.n == 1, "empty again");
}

/* Only the last run of an owner may grow, though an older one would fit */
static void order(void)
{
	static struct runs rs;
	struct piece a = piece(10, 0), b = piece(20, 0);

	runs_add(&rs, 1, &a);
	runs_add(&rs, 1, &b);
	runs_add(&rs, 1, &a);
	runs_add(&rs, 1, &a);
	is_int(rs.n, 3, "10 | 20 10 | 10");
	is_int(rs.run[0].n_segs, 1, "the first run did not grow");
}

int main(void)
{
	counts();
	pairs();
	marks();
	walk_of_empty();
	walk_of_largest();
	split_of_join();
	full_table();
	order();
	return done();
}
