/* map.c - maps: which host socket stands for which inner endpoint
 *
 * The table has two regions. Dynamic maps come first: taken from a list of
 * freed entries, else from the first one never used, so that memory is touched
 * as it is needed. Listeners follow and come and go only with "auto".
 *
 * Shared maps hang in buckets by inner endpoint and bound address.
 *
 * Maps have no idle time of their own: a map is closed with its last flow, and
 * a flow lasts as long as RFC 4787 asks of a mapping. */

#include "map.h"

#include <assert.h>
#include <string.h>

static struct lru_table nodes(struct map_table *t)
{
	return (struct lru_table){ &t->map[0].lru, sizeof(t->map[0]) };
}

void map_table_init(struct map_table *t, const struct hash_key *key,
		    uint32_t max)
{
	t->key = *key;
	t->max = max < MAP_DYNAMIC_MAX ? max : MAP_DYNAMIC_MAX;
}

uint32_t map_number(const struct map_table *t, const struct map *m)
{
	return (uint32_t)(m - t->map);
}

static bool is_listener(uint8_t kind)
{
	return kind == MAP_LISTEN_HOST || kind == MAP_LISTEN_NS ||
	       kind == MAP_GROUP;
}

/* Found by inner endpoint; those for echo have no address of ours. */
static bool is_shared(uint8_t kind)
{
	return kind == MAP_SHARED || kind == MAP_ECHO;
}

static uint32_t *shared_bucket(struct map_table *t, const struct end *inner,
			       const struct addr *ours)
{
	uint64_t w[5];

	memcpy(w, inner, sizeof(*inner));
	memcpy(w + 3, ours, sizeof(*ours));
	return &t->bucket[hash_words(&t->key, w, 5) % MAP_BUCKETS];
}

struct map *map_find(struct map_table *t, const struct end *inner,
		     const struct addr *ours)
{
	uint32_t i = *shared_bucket(t, inner, ours);

	while (i) {
		struct map *m = &t->map[i - 1];

		if (end_eq(&m->inner, inner) && addr_eq(&m->ours, ours))
			return m;
		i = m->chain;
	}
	return NULL;
}

/* Number of a free entry in the region that @kind belongs to. */
static uint32_t take(struct map_table *t, uint8_t kind)
{
	bool is_listen = is_listener(kind);
	uint32_t *freed = is_listen ? &t->free_listen : &t->free;
	uint32_t *high = is_listen ? &t->n_listen : &t->high;
	uint32_t first = is_listen ? MAP_DYNAMIC_MAX : 0;
	uint32_t i;

	if (*freed) {
		i = *freed - 1;
		*freed = t->map[i].chain;
		return i;
	}
	if (*high >= (is_listen ? MAP_LISTEN_MAX : t->max))
		return MAP_NONE;
	return first + (*high)++;
}

struct map *map_new(struct map_table *t, const struct map *proto,
		    uint32_t now_s)
{
	struct lru_table lru = nodes(t);
	struct map *m;
	uint32_t i;

	if (!is_listener(proto->kind) && t->n >= t->max)
		return NULL;
	i = take(t, proto->kind);
	if (i == MAP_NONE)
		return NULL;
	m = &t->map[i];
	*m = *proto;
	m->flows = 0;
	m->chain = 0;
	m->list = MAP_ONESHOT;
	m->lru = (struct lru_node){ 0 };
	if (is_listener(m->kind))
		return m;
	t->n++;
	lru_add(&lru, &t->lists[m->list], i, now_s);
	if (is_shared(m->kind)) {
		uint32_t *b = shared_bucket(t, &m->inner, &m->ours);

		m->chain = *b;
		*b = i + 1;
	}
	return m;
}

static void unchain(struct map_table *t, struct map *m)
{
	uint32_t i = map_number(t, m) + 1;
	uint32_t *at = shared_bucket(t, &m->inner, &m->ours);

	while (*at && *at != i)
		at = &t->map[*at - 1].chain;
	assert(*at);
	*at = m->chain;
}

void map_free(struct map_table *t, struct map *m)
{
	struct lru_table lru = nodes(t);
	uint32_t i = map_number(t, m);
	uint32_t *freed = &t->free;

	assert(m->kind != MAP_FREE && !m->flows);
	if (is_shared(m->kind))
		unchain(t, m);
	if (is_listener(m->kind)) {
		freed = &t->free_listen;
	} else {
		lru_del(&lru, &t->lists[m->list], i);
		t->n--;
	}
	m->kind = MAP_FREE;
	m->chain = *freed;
	*freed = i + 1;
}

void map_touch(struct map_table *t, struct map *m, uint32_t now_s, bool is_live)
{
	struct lru_table lru = nodes(t);
	uint32_t i = map_number(t, m);

	if (is_listener(m->kind))
		return;
	if (is_live && m->list != MAP_LIVE) {
		lru_del(&lru, &t->lists[m->list], i);
		m->list = MAP_LIVE;
		lru_add(&lru, &t->lists[m->list], i, now_s);
	} else {
		lru_touch(&lru, &t->lists[m->list], i, now_s, t->n >= t->max);
	}
}

struct map *map_victim(struct map_table *t)
{
	uint32_t i = lru_victim(t->lists, MAP_LISTS);

	return i == LRU_NONE ? NULL : &t->map[i];
}
