/* run.c - joining datagrams that can travel as one buffer
 *
 * A system call per datagram is what makes user-mode forwarding slow. The
 * kernel takes many datagrams at once if they are equal in all but content, so
 * what one round of receiving brought is sorted into runs here: one predicate,
 * run_append(), says whether a piece may follow what is already there.
 *
 * Payload is never moved: a run is a list of slices into the buffers of the
 * door that received them. A piece that the kernel merged (GRO, or a segmented
 * frame) stays one slice, so a run has at most as many slices as datagrams.
 *
 * An empty datagram is a run of its own: there is no segment of length 0.
 * Runs of one owner keep their order because only the last one may grow. Runs
 * of different owners are found by walking the table from its newest end; it
 * is as short as a round, so an index would cost more than it saves. */

#include "run.h"

/* Bytes of a piece's first datagram */
static uint32_t first_len(const struct piece *p)
{
	return p->seg && p->seg < p->len ? p->seg : p->len;
}

bool mark_eq(const struct mark *a, const struct mark *b)
{
	return a->tos == b->tos && a->hops == b->hops && a->df == b->df;
}

/* struct iovec has no const form, though a send only reads */
static struct iovec slice_of(const struct piece *p)
{
	return (struct iovec){ (void *)(uintptr_t)p->buf, p->len };
}

unsigned piece_segs(const struct piece *p)
{
	if (!p->seg || !p->len)
		return 1;
	return 1 + (p->len - 1) / p->seg;
}

void run_start(struct run *ret_run, uint32_t owner, const struct piece *p)
{
	ret_run->slice[0] = slice_of(p);
	ret_run->len = p->len;
	ret_run->seg = first_len(p);
	ret_run->owner = owner;
	ret_run->n_slices = 1;
	ret_run->n_segs = (uint16_t)piece_segs(p);
	ret_run->mark = p->mark;
}

bool run_append(struct run *r, const struct piece *p)
{
	unsigned n = piece_segs(p);
	uint32_t first = first_len(p);

	if (!r->len || !p->len)
		return false;
	if (r->len != r->seg * r->n_segs) /* the last one was shorter */
		return false;
	if (n > 1 ? first != r->seg : first > r->seg)
		return false;
	if (r->n_segs + n > RUN_SEGS_MAX || r->len + p->len > RUN_LEN_MAX)
		return false;
	if (!mark_eq(&r->mark, &p->mark))
		return false;

	r->slice[r->n_slices++] = slice_of(p);
	r->len += p->len;
	r->n_segs = (uint16_t)(r->n_segs + n);
	return true;
}

bool runs_add(struct runs *rs, uint32_t owner, const struct piece *p)
{
	for (unsigned i = rs->n; i--;) {
		if (rs->run[i].owner != owner)
			continue;
		if (run_append(&rs->run[i], p))
			return true;
		break;
	}

	if (rs->n == RUNS_MAX)
		return false;
	run_start(&rs->run[rs->n++], owner, p);
	return true;
}

/* @pos is the number of a slice in its upper half and a byte of it in its lower
 * one: a slice is no longer than DGRAM_MAX, and an empty one is seen too. */
bool run_next(const struct run *r, uint32_t *pos, const uint8_t **ret_buf,
	      uint32_t *ret_len)
{
	uint32_t i = *pos >> 16, off = *pos & 0xffff;
	uint32_t left;

	if (i >= r->n_slices)
		return false;

	left = (uint32_t)r->slice[i].iov_len - off;
	*ret_buf = (const uint8_t *)r->slice[i].iov_base + off;
	*ret_len = left < r->seg ? left : r->seg;
	*pos = *ret_len < left ? *pos + *ret_len : (i + 1) << 16;
	return true;
}
