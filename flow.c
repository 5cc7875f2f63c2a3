/* flow.c - conversations, found from either side
 *
 * Two sets of buckets, one per side, chain the entries of one table; the hash
 * is keyed, since remotes choose what is hashed. Three lists keep flows in the
 * order of their last use, one per idle time and worth: what is oldest in a
 * list is what expires next, so neither expiry nor eviction ever searches.
 *
 * A flow is live once anything passes after a first answer: a query and its
 * answer, even 25,000 of them, stay one-shots and give way first. */

#include "flow.h"

#include <assert.h>
#include <string.h>

static struct lru_table nodes(struct flow_table *t)
{
	return (struct lru_table){ &t->flow[0].lru, sizeof(t->flow[0]) };
}

void flow_table_init(struct flow_table *t, const struct hash_key *key,
		     uint32_t idle_s, uint32_t answered_s)
{
	t->key = *key;
	t->idle_s[FLOW_OVER] = 0;
	t->idle_s[FLOW_ANSWERED] = answered_s < idle_s ? answered_s : idle_s;
	t->idle_s[FLOW_DONE] = idle_s;
	t->idle_s[FLOW_SHORT] = ECHO_IDLE_MS / 1000;
	t->idle_s[FLOW_ONESHOT] = idle_s;
	t->idle_s[FLOW_LIVE] = idle_s;
}

uint32_t flow_number(const struct flow_table *t, const struct flow *f)
{
	return (uint32_t)(f - t->flow);
}

static uint32_t *host_bucket(struct flow_table *t, uint32_t map,
			     const struct end *remote, const struct addr *ours)
{
	uint64_t w[6];

	memcpy(w, remote, sizeof(*remote));
	memcpy(w + 3, ours, sizeof(*ours));
	w[5] = map;
	return &t->host_bucket[hash_words(&t->key, w, 6) % FLOW_BUCKETS];
}

static uint32_t *guest_bucket(struct flow_table *t, uint8_t proto,
			      const struct end *inner,
			      const struct end *visible)
{
	uint64_t w[7];

	memcpy(w, inner, sizeof(*inner));
	memcpy(w + 3, visible, sizeof(*visible));
	w[6] = proto;
	return &t->guest_bucket[hash_words(&t->key, w, 7) % FLOW_BUCKETS];
}

struct flow *flow_find_host(struct flow_table *t, uint32_t map,
			    const struct end *remote, const struct addr *ours)
{
	uint32_t i = *host_bucket(t, map, remote, ours);

	while (i) {
		struct flow *f = &t->flow[i - 1];

		if (f->map == map && end_eq(&f->host, remote) &&
		    addr_eq(&f->ours, ours))
			return f;
		i = f->chain_host;
	}
	return NULL;
}

struct flow *flow_find_guest(struct flow_table *t, uint8_t proto,
			     const struct end *inner, const struct end *visible)
{
	uint32_t i = *guest_bucket(t, proto, inner, visible);

	while (i) {
		struct flow *f = &t->flow[i - 1];

		if (f->proto == proto && end_eq(&f->visible, visible) &&
		    end_eq(&f->inner, inner))
			return f;
		i = f->chain_guest;
	}
	return NULL;
}

static struct flow *take(struct flow_table *t)
{
	uint32_t i = t->free;

	if (i) {
		t->free = t->flow[i - 1].chain_host;
		return &t->flow[i - 1];
	}
	return t->high < FLOW_MAX ? &t->flow[t->high++] : NULL;
}

static void link_sides(struct flow_table *t, struct flow *f)
{
	uint32_t *b = host_bucket(t, f->map, &f->host, &f->ours);
	uint32_t i = flow_number(t, f) + 1;

	f->chain_host = *b;
	*b = i;
	f->chain_guest = 0;
	if (f->flags & FLOW_SPLICED)
		return;
	b = guest_bucket(t, f->proto, &f->inner, &f->visible);
	f->chain_guest = *b;
	*b = i;
}

struct flow *flow_add(struct flow_table *t, const struct flow *f,
		      uint32_t *map_flows, uint32_t now_s)
{
	struct lru_table lru = nodes(t);
	struct flow *new = take(t);
	uint32_t i;

	if (!new)
		return NULL;
	i = flow_number(t, new);
	*new = *f;
	new->list = f->flags &FLOW_ECHO ? FLOW_SHORT : FLOW_ONESHOT;
	new->lru = (struct lru_node){ 0 };
	link_sides(t, new);
	lru_add(&lru, &t->lists[new->list], i, now_s);
	new->map_prev = 0;
	new->map_next = *map_flows;
	if (*map_flows)
		t->flow[*map_flows - 1].map_prev = i + 1;
	*map_flows = i + 1;
	t->n++;
	return new;
}

static void unlink_host(struct flow_table *t, struct flow *f, uint32_t i)
{
	uint32_t *at = host_bucket(t, f->map, &f->host, &f->ours);

	while (*at && *at != i)
		at = &t->flow[*at - 1].chain_host;
	assert(*at);
	*at = f->chain_host;
}

static void unlink_guest(struct flow_table *t, struct flow *f, uint32_t i)
{
	uint32_t *at;

	if (f->flags & FLOW_SPLICED)
		return;
	at = guest_bucket(t, f->proto, &f->inner, &f->visible);
	while (*at && *at != i)
		at = &t->flow[*at - 1].chain_guest;
	assert(*at);
	*at = f->chain_guest;
}

void flow_del(struct flow_table *t, struct flow *f, uint32_t *map_flows)
{
	struct lru_table lru = nodes(t);
	uint32_t i = flow_number(t, f) + 1;

	unlink_host(t, f, i);
	unlink_guest(t, f, i);
	lru_del(&lru, &t->lists[f->list], i - 1);
	if (f->map_prev)
		t->flow[f->map_prev - 1].map_next = f->map_next;
	else
		*map_flows = f->map_next;
	if (f->map_next)
		t->flow[f->map_next - 1].map_prev = f->map_prev;
	f->proto = 0;
	f->chain_host = t->free;
	t->free = i;
	t->n--;
}

struct flow *flow_of_map(struct flow_table *t, uint32_t map_flows)
{
	return map_flows ? &t->flow[map_flows - 1] : NULL;
}

static void move(struct flow_table *t, struct flow *f, uint8_t list,
		 uint32_t now_s)
{
	struct lru_table lru = nodes(t);
	uint32_t i = flow_number(t, f);

	lru_del(&lru, &t->lists[f->list], i);
	f->list = list;
	lru_add(&lru, &t->lists[list], i, now_s);
}

void flow_end(struct flow_table *t, struct flow *f, bool is_init,
	      uint32_t now_s)
{
	if (f->list != FLOW_OVER)
		move(t, f, FLOW_OVER, now_s);
	f->flags = (uint8_t)(f->flags & ~FLOW_INIT_GONE);
	if (is_init)
		f->flags |= FLOW_INIT_GONE;
}

/* The list for a flow once a datagram has passed. One answer may be all there
 * is; whatever follows it shows that the conversation goes on. */
static uint8_t next_list(struct flow *f, bool by_init)
{
	bool was_replied = f->flags & FLOW_REPLIED;

	if (!by_init)
		f->flags |= FLOW_REPLIED;
	if (f->list == FLOW_ANSWERED || f->list == FLOW_SHORT ||
	    (by_init && !was_replied))
		return f->list;
	if (was_replied)
		return FLOW_LIVE;
	if (f->flags & FLOW_QUERY)
		return FLOW_ANSWERED;
	return f->flags & FLOW_SPLICED ? FLOW_DONE : FLOW_ONESHOT;
}

bool flow_touch(struct flow_table *t, struct flow *f, bool by_init,
		uint32_t now_s)
{
	struct lru_table lru = nodes(t);
	uint8_t list = f->list;

	if (list == FLOW_OVER) {
		if (by_init == !!(f->flags & FLOW_INIT_GONE))
			move(t, f, FLOW_ONESHOT, now_s);
		return false;
	}
	list = next_list(f, by_init);
	if (list != f->list)
		move(t, f, list, now_s);
	else
		lru_touch(&lru, &t->lists[list], flow_number(t, f), now_s,
			  t->n >= FLOW_MAX);
	return list == FLOW_LIVE;
}

struct flow *flow_victim(struct flow_table *t)
{
	uint32_t i = lru_victim(t->lists, FLOW_LISTS);

	return i == LRU_NONE ? NULL : &t->flow[i];
}

struct flow *flow_surplus(struct flow_table *t)
{
	const struct lru *done = &t->lists[FLOW_DONE];

	if (done->n <= FLOW_DONE_MAX)
		return NULL;
	return &t->flow[lru_oldest(done)];
}

/* Second at which the oldest flow of a list expires, UINT32_MAX: none. */
static uint32_t list_deadline(const struct flow_table *t, unsigned list)
{
	uint32_t i = lru_oldest(&t->lists[list]);

	if (i == LRU_NONE)
		return UINT32_MAX;
	return t->flow[i].lru.used + t->idle_s[list] + 1; /* whole seconds */
}

struct flow *flow_expired(struct flow_table *t, uint32_t now_s)
{
	unsigned list;

	for (list = 0; list < FLOW_LISTS; list++) {
		if (list_deadline(t, list) <= now_s)
			return &t->flow[lru_oldest(&t->lists[list])];
	}
	return NULL;
}

uint32_t flow_next_deadline(const struct flow_table *t)
{
	uint32_t first = UINT32_MAX;
	unsigned list;

	for (list = 0; list < FLOW_LISTS; list++) {
		uint32_t at = list_deadline(t, list);

		if (at < first)
			first = at;
	}
	return first;
}
