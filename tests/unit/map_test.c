/* map_test.c - the map table against a model that does everything naively */

#include "map.h"

#include "check.h"
#include "model.h"

#define MAX 24 /* dynamic maps in the random test */
#define STEPS 40000

static struct map_table t, t2, full;

static const struct hash_key key = { { 0x1234, 0x5678 } };

static struct map proto(uint8_t kind, uint32_t host, uint16_t port,
			uint32_t ours)
{
	struct addr a = addr_v4(0xc0000200 + host);

	return (struct map){ .kind = kind,
			     .family = AF_INET,
			     .inner = end_make(&a, port, 0),
			     .ours = addr_v4(0xcb007100 + ours) };
}

/* Model: what is in use, lists as arrays */
static struct {
	bool used[MAX];
	uint8_t kind[MAX];
	struct end inner[MAX];
	struct addr ours[MAX];
	struct ages ages;
	unsigned n;
} m;

static uint32_t model_find(const struct end *inner, const struct addr *ours)
{
	for (uint32_t i = 0; i < MAX; i++)
		if (m.used[i] && m.kind[i] == MAP_SHARED &&
		    end_eq(&m.inner[i], inner) && addr_eq(&m.ours[i], ours))
			return i;
	return MAP_NONE;
}

static uint32_t number(const struct map *e)
{
	return e ? map_number(&t, e) : MAP_NONE;
}

static const char *step_new(uint32_t now_s)
{
	struct map p = proto(rnd(3) ? MAP_SHARED : MAP_OWN, rnd(3),
			     (uint16_t)(1 + rnd(8)), rnd(2));
	uint32_t had = model_find(&p.inner, &p.ours), i;
	struct map *e;

	if (p.kind == MAP_SHARED) {
		if (number(map_find(&t, &p.inner, &p.ours)) != had)
			return "find";
		if (had != MAP_NONE)
			return NULL;
	}
	e = map_new(&t, &p, now_s);
	if (!e)
		return m.n < MAX ? "refused though there is room" : NULL;
	i = number(e);
	if (i >= MAX || m.used[i])
		return "an entry in use was given out";
	if (e->flows || e->kind != p.kind || !end_eq(&e->inner, &p.inner))
		return "not what was asked for";
	m.used[i] = true;
	m.kind[i] = p.kind;
	m.inner[i] = p.inner;
	m.ours[i] = p.ours;
	m.n++;
	ages_append(&m.ages, i, MAP_ONESHOT, now_s);
	return NULL;
}

static void touch(uint32_t i, uint32_t now_s, bool is_live)
{
	unsigned list = is_live ? MAP_LIVE : m.ages.list_of[i];

	map_touch(&t, &t.map[i], now_s, is_live);
	if (list == m.ages.list_of[i] && m.ages.used_s[i] == now_s && m.n < MAX)
		return;
	ages_remove(&m.ages, i);
	ages_append(&m.ages, i, list, now_s);
}

static void step_use(uint32_t now_s)
{
	uint32_t i = rnd(MAX);

	if (!m.used[i])
		return;
	if (rnd(3)) {
		touch(i, now_s, !rnd(4));
		return;
	}
	map_free(&t, &t.map[i]);
	ages_remove(&m.ages, i);
	m.used[i] = false;
	m.n--;
}

static void property(void)
{
	const char *bad = NULL;
	uint32_t now_s = 100;
	unsigned step;

	map_table_init(&t, &key, MAX);
	ok(!map_victim(&t), "an empty table has no victim");
	for (step = 0; step < STEPS && !bad; step++) {
		now_s += !rnd(3);
		if (rnd(2))
			bad = step_new(now_s);
		else
			step_use(now_s);
		if (!bad && number(map_victim(&t)) !=
				    ages_oldest(&m.ages, MAP_LISTS, MAP_NONE))
			bad = "victim";
		if (!bad && t.n != m.n)
			bad = "count";
	}
	ok(!bad, "%u random steps, seed fixed: %s", step,
	   bad ? bad : "as the model");
}

static void listeners(void)
{
	struct map p = proto(MAP_LISTEN_HOST, 0, 6000, 0), q;
	struct map *a, *b, *c;

	map_table_init(&t2, &key, 1);
	a = map_new(&t2, &p, 1);
	p.kind = MAP_LISTEN_NS;
	b = map_new(&t2, &p, 1);
	ok(a && b && a != b, "listeners do not count as dynamic maps");
	is_int(map_number(&t2, a), MAP_DYNAMIC_MAX, "they follow those");
	is_int(t2.n, 0, "none in use");
	ok(!map_victim(&t2), "a listener is no victim");
	ok(!map_find(&t2, &p.inner, &p.ours), "nor found as a shared map");
	map_touch(&t2, a, 2, true);
	ok(!map_victim(&t2), "not even after use");
	map_free(&t2, a);
	c = map_new(&t2, &p, 1);
	ok(c == a, "a freed listener is used again");
	is_int(t2.n_listen, 2, "two were ever made");

	q = proto(MAP_SHARED, 1, 5, 1);
	a = map_new(&t2, &q, 1);
	is_int(map_number(&t2, a), 0, "dynamic maps begin at 0");
	ok(!map_new(&t2, &q, 1), "the limit is the table's @max");
	ok(map_victim(&t2) == a, "its only map is the victim");
	map_free(&t2, a);
	ok(!map_find(&t2, &q.inner, &q.ours), "freed: not found");
	ok(!map_victim(&t2), "freed: no victim");
}

static void order(void)
{
	struct map p[4], *e[4];

	map_table_init(&full, &key, 4);
	for (unsigned i = 0; i < 4; i++) {
		p[i] = proto(MAP_SHARED, 0, (uint16_t)(10 + i), 0);
		e[i] = map_new(&full, &p[i], 10 + i);
	}
	map_touch(&full, e[0], 20, true);
	ok(map_victim(&full) == e[1], "live maps outlast one-shots");
	map_touch(&full, e[1], 21, false);
	ok(map_victim(&full) == e[2], "the least recently used goes first");
	map_touch(&full, e[2], 21, false);
	map_touch(&full, e[3], 21, false);
	map_touch(&full, e[1], 21, false);
	ok(map_victim(&full) == e[2], "in a full table, within a second, too");
	map_touch(&full, e[2], 22, true);
	map_free(&full, e[1]);
	map_free(&full, e[3]);
	ok(map_victim(&full) == e[0], "no one-shot left: the oldest live one");
}

/* Every number of @max can be had, and none beyond the region. */
static void bounds(void)
{
	static struct map_table all;
	struct map p = proto(MAP_OWN, 0, 1, 0);
	uint32_t n = 0;

	map_table_init(&all, &key, UINT32_MAX);
	while (map_new(&all, &p, 1))
		n++;
	is_int(n, MAP_DYNAMIC_MAX, "dynamic maps, whatever was asked for");
	p.kind = MAP_LISTEN_NS;
	for (n = 0; map_new(&all, &p, 1);)
		n++;
	is_int(n, MAP_LISTEN_MAX, "listeners");
}

int main(void)
{
	property();
	listeners();
	order();
	bounds();
	return done();
}
