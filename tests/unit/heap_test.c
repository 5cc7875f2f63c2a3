/* heap_test.c - deadlines come in their order, whatever moved meanwhile */

#include "heap.h"

#include "check.h"
#include "model.h"

#define N 200
#define STEPS 200000

static struct heap_node node[N];
static uint32_t place[N];
static struct heap h = { .node = node, .place = place };
static int64_t model[N]; /* deadline of each entry */

static int64_t earliest(uint32_t *ret_n)
{
	int64_t at = HEAP_NEVER;

	*ret_n = 0;
	for (uint32_t i = 0; i < N; i++) {
		*ret_n += model[i] != HEAP_NEVER;
		if (model[i] < at)
			at = model[i];
	}
	return at;
}

static bool is_same(uint32_t i)
{
	uint32_t n;
	int64_t at = earliest(&n);

	return heap_next_ms(&h) == at && h.n == n &&
	       heap_at(&h, i) == model[i] &&
	       (!n || model[heap_first(&h)] == at);
}

static void set(uint32_t i, int64_t at)
{
	model[i] = at;
	heap_set(&h, i, at);
}

static void few(void)
{
	ok(is_same(0), "zero is empty");
	set(3, HEAP_NEVER);
	ok(is_same(3), "nothing is taken out of it");
	set(3, 50);
	set(5, 40);
	ok(is_same(3) && heap_first(&h) == 5, "the earlier one");
	set(5, 60);
	ok(is_same(5) && heap_first(&h) == 3, "it moves back");
	set(5, 10);
	ok(is_same(5) && heap_first(&h) == 5, "and forward");
	set(5, HEAP_NEVER);
	ok(is_same(5) && heap_first(&h) == 3, "and out");
	set(3, INT64_MIN);
	ok(is_same(3), "any time will do");
	set(3, HEAP_NEVER);
	ok(is_same(3) && !h.n, "empty again");
}

/* @times: of how many points in time; few mean many equal ones */
static void many(int64_t times)
{
	uint32_t i = 0, n;
	unsigned step;

	for (step = 0; step < STEPS && is_same(i); step++) {
		i = rnd(N);
		set(i, rnd(3) ? rnd(1u << 31) % times : HEAP_NEVER);
	}
	is_int(step, STEPS, "%lld times", (long long)times);
	for (i = 0, n = 0; h.n; n++) {
		int64_t at = heap_next_ms(&h);

		i = heap_first(&h);
		set(i, HEAP_NEVER);
		if (heap_next_ms(&h) < at)
			break;
	}
	ok(is_same(i) && !h.n, "%u came out in order", n);
}

int main(void)
{
	for (uint32_t i = 0; i < N; i++)
		model[i] = HEAP_NEVER;
	few();
	many(5);
	many(1000);
	many(INT64_MAX);
	return done();
}
