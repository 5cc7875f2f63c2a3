/* permit_test.c - the permits against a model that counts */

#include "permit.h"

#include "check.h"
#include "model.h"

#define MAPS 24
#define ADDRS 6
#define STEPS 40000

static struct permit_table t = { .key = { { 0x1234, 0x5678 } } };

static unsigned model[MAPS][ADDRS];

static struct addr remote(uint32_t k)
{
	return addr_v4(0x0a000000 + k);
}

static bool is_as_model(uint32_t map)
{
	for (uint32_t k = 0; k < ADDRS; k++) {
		struct addr a = remote(k);

		if (permit_has(&t, map, &a) != !!model[map][k])
			return false;
	}
	return true;
}

static void step(uint32_t map)
{
	uint32_t k = rnd(ADDRS);
	struct addr a = remote(k);

	if (rnd(3)) {
		permit_add(&t, map, &a);
		model[map][k]++;
	} else if (model[map][k]) {
		permit_del(&t, map, &a);
		model[map][k]--;
	}
}

static void forget(uint32_t map)
{
	for (uint32_t k = 0; k < ADDRS; k++) {
		struct addr a = remote(k);

		for (; model[map][k]; model[map][k]--)
			permit_del(&t, map, &a);
	}
}

static void property(void)
{
	bool is_right = true;
	unsigned i;

	for (i = 0; i < STEPS && is_right; i++) {
		uint32_t map = rnd(MAPS);

		if (rnd(20))
			step(map);
		else
			forget(map);
		is_right = is_as_model(map) && is_as_model(rnd(MAPS));
	}
	ok(is_right, "%u random steps, seed fixed: as the model", i);
	ok(t.high <= MAPS * ADDRS, "entries are used again: %u", t.high);
}

/* As many as there can be flows, each with an entry of its own. */
static void bounds(void)
{
	uint32_t had = t.high, i;
	struct addr a;

	for (i = 0; i < MAPS; i++)
		forget(i);
	for (i = 0; i < FLOW_MAX; i++) {
		a = remote(i);
		permit_add(&t, MAPS + i % 3, &a);
	}
	is_int(t.high, FLOW_MAX, "the %u that were freed came first", had);
	a = remote(FLOW_MAX - 1);
	ok(permit_has(&t, MAPS + (FLOW_MAX - 1) % 3, &a), "the last one");
	ok(!permit_has(&t, MAPS + FLOW_MAX % 3, &a), "but not for each map");
}

int main(void)
{
	property();
	bounds();
	return done();
}
