/* model.h - what tests of tables compare with: chance, and lists by age
 * Knows: arrays.  Does not know: lru, so that it is a second opinion on it. */

#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>
#include <string.h>

#define MODEL_MAX 200 /* entries */
#define MODEL_LISTS 8

/** rnd() - the next number of a fixed sequence, below @n */
static inline uint32_t rnd(uint32_t n)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

/** struct ages - entries by number, each in one of some lists, oldest first */
struct ages {
	unsigned list_of[MODEL_MAX];
	uint32_t used_s[MODEL_MAX];
	uint32_t list[MODEL_LISTS][MODEL_MAX];
	unsigned n_list[MODEL_LISTS];
};

static inline void ages_remove(struct ages *a, uint32_t i)
{
	uint32_t *l = a->list[a->list_of[i]];
	unsigned *n = &a->n_list[a->list_of[i]], at = 0;

	while (l[at] != i)
		at++;
	memmove(l + at, l + at + 1, (--*n - at) * sizeof(*l));
}

static inline void ages_append(struct ages *a, uint32_t i, unsigned list,
			       uint32_t now_s)
{
	a->list_of[i] = list;
	a->used_s[i] = now_s;
	a->list[list][a->n_list[list]++] = i;
}

/** ages_oldest() - of the first of @n lists that has entries, but of the last
 * two the first only while it has a quarter; @none: there is none */
static inline uint32_t ages_oldest(const struct ages *a, unsigned n,
				   uint32_t none)
{
	unsigned i;

	for (i = 0; i < n - 2; i++)
		if (a->n_list[i])
			return a->list[i][0];
	if (a->n_list[i] && a->n_list[i] >= a->n_list[i + 1] / 3)
		return a->list[i][0];
	return a->n_list[i + 1] ? a->list[i + 1][0] : none;
}

#endif
