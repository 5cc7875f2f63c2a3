/* flow_test.c - the flow table against a model that does everything naively */

#include "flow.h"

#include "check.h"
#include "model.h"

#define MAX MODEL_MAX /* flows in the random test */
#define MAPS 5
#define STEPS 60000
#define IDLE_S 180
#define ANSWERED_S 30

static struct flow_table t, t2, full;

static const struct hash_key key = { { 0x1234, 0x5678 } };

static struct end end(uint32_t net, uint32_t host, uint32_t port)
{
	struct addr a = addr_v4(net + host);

	return end_make(&a, (uint16_t)port, 0);
}

static struct flow proto(uint32_t n, uint32_t map, uint8_t flags)
{
	return (struct flow){ .host = end(0xc6336400, n % 7, 1 + n / 7),
			      .visible = end(0xc6336400, n % 7, 1 + n / 7),
			      .inner = end(0xc0000200, 1, 5000 + map),
			      .map = map,
			      .proto = 17,
			      .flags = flags };
}

/* Model: entries by number, lists as arrays */
static struct {
	bool used[MAX];
	struct flow f[MAX];
	struct ages ages;
	unsigned n;
} m;

static uint32_t map_flows[MAPS];
static const uint32_t idle[FLOW_LISTS] = {
	[FLOW_ANSWERED] = ANSWERED_S, [FLOW_SHORT] = 60,
	[FLOW_DONE] = IDLE_S,	      [FLOW_ONESHOT] = IDLE_S,
	[FLOW_LIVE] = IDLE_S,
};

static uint32_t model_find_host(const struct flow *f)
{
	for (uint32_t i = 0; i < MAX; i++)
		if (m.used[i] && m.f[i].map == f->map &&
		    end_eq(&m.f[i].host, &f->host) &&
		    addr_eq(&m.f[i].ours, &f->ours))
			return i;
	return FLOW_NONE;
}

static uint32_t model_find_guest(const struct flow *f)
{
	for (uint32_t i = 0; i < MAX; i++)
		if (m.used[i] && !(m.f[i].flags & FLOW_SPLICED) &&
		    m.f[i].proto == f->proto &&
		    end_eq(&m.f[i].inner, &f->inner) &&
		    end_eq(&m.f[i].visible, &f->visible))
			return i;
	return FLOW_NONE;
}

static uint32_t number(const struct flow *f)
{
	return f ? flow_number(&t, f) : FLOW_NONE;
}

static uint32_t find_host(const struct flow *f)
{
	return number(flow_find_host(&t, f->map, &f->host, &f->ours));
}

static uint32_t find_guest(const struct flow *f)
{
	return number(flow_find_guest(&t, f->proto, &f->inner, &f->visible));
}

static const char *step_add(uint32_t now_s)
{
	static const uint8_t kinds[] = { 0, FLOW_BY_GUEST,
					 FLOW_BY_GUEST | FLOW_QUERY,
					 FLOW_SPLICED };
	struct flow f = proto(rnd(60), rnd(MAPS), kinds[rnd(4)]);
	uint32_t i;

	f.ours = rnd(2) ? addr_v4(0x7f000001) : addr_any6;
	if (find_host(&f) != model_find_host(&f))
		return "find by host";
	if (find_guest(&f) != model_find_guest(&f))
		return "find by guest";
	if (model_find_host(&f) != FLOW_NONE ||
	    model_find_guest(&f) != FLOW_NONE || m.n == MAX)
		return NULL;
	i = number(flow_add(&t, &f, &map_flows[f.map], now_s));
	if (i >= MAX || m.used[i])
		return "an entry in use was given out";
	m.used[i] = true;
	m.f[i] = f;
	m.n++;
	ages_append(&m.ages, i, FLOW_ONESHOT, now_s);
	return NULL;
}

static void del(uint32_t i)
{
	flow_del(&t, &t.flow[i], &map_flows[m.f[i].map]);
	ages_remove(&m.ages, i);
	m.used[i] = false;
	m.n--;
}

static const char *step_touch(uint32_t i, bool by_init, uint32_t now_s)
{
	bool is_live = flow_touch(&t, &t.flow[i], by_init, now_s);
	unsigned list = m.ages.list_of[i];

	if (!by_init && !(m.f[i].flags & FLOW_REPLIED)) {
		m.f[i].flags |= FLOW_REPLIED;
		if (m.f[i].flags & FLOW_QUERY)
			list = FLOW_ANSWERED;
		else if (m.f[i].flags & FLOW_SPLICED)
			list = FLOW_DONE;
	} else if (m.f[i].flags & FLOW_REPLIED && list != FLOW_ANSWERED) {
		list = FLOW_LIVE;
	}
	if (list != m.ages.list_of[i] || m.ages.used_s[i] != now_s) {
		ages_remove(&m.ages, i);
		ages_append(&m.ages, i, list, now_s);
	}
	return is_live == (list == FLOW_LIVE) ? NULL : "liveness";
}

static const char *step_expire(uint32_t now_s)
{
	uint32_t next = flow_next_deadline(&t),
		 i = number(flow_expired(&t, now_s));
	uint32_t want = UINT32_MAX;

	for (unsigned k = 0; k < FLOW_LISTS; k++) {
		uint32_t at = m.ages.n_list[k] ?
				      m.ages.used_s[m.ages.list[k][0]] +
					      idle[k] + 1 :
				      UINT32_MAX;

		want = at < want ? at : want;
	}
	if (next != want)
		return "deadline";
	if ((i != FLOW_NONE) != (next <= now_s))
		return "expiry and deadline differ";
	if (i == FLOW_NONE)
		return NULL;
	if (now_s - m.ages.used_s[i] <= idle[m.ages.list_of[i]])
		return "expired too early";
	del(i);
	return NULL;
}

/* The flows of each map, by its list, and no others. */
static const char *check_maps(void)
{
	unsigned n = 0;

	for (uint32_t map = 0; map < MAPS; map++) {
		struct flow *f = flow_of_map(&t, map_flows[map]);

		for (; f; f = flow_of_map(&t, f->map_next), n++)
			if (!m.used[number(f)] || m.f[number(f)].map != map ||
			    n > m.n)
				return "list of a map";
	}
	return n == m.n ? NULL : "maps have lost flows";
}

static const char *step(uint32_t now_s)
{
	uint32_t i = rnd(MAX);
	unsigned what = rnd(10);

	if (what < 4)
		return step_add(now_s);
	if (what < 5)
		return step_expire(now_s);
	if (!m.used[i])
		return NULL;
	if (what > 5)
		return step_touch(i, rnd(2), now_s);
	del(i);
	return NULL;
}

static void property(void)
{
	const char *bad = NULL;
	uint32_t now_s = 1000;
	unsigned n;

	flow_table_init(&t, &key, IDLE_S, ANSWERED_S);
	ok(!flow_victim(&t), "an empty table has no victim");
	ok(!flow_expired(&t, UINT32_MAX - 1), "nor anything to expire");
	is_int(flow_next_deadline(&t), UINT32_MAX, "nor a deadline");
	for (n = 0; n < STEPS && !bad; n++) {
		now_s += rnd(40) ? !rnd(4) : rnd(60);
		bad = step(now_s);
		if (!bad && number(flow_victim(&t)) !=
				    ages_oldest(&m.ages, FLOW_LISTS, FLOW_NONE))
			bad = "victim";
		if (!bad && t.n != m.n)
			bad = "count";
		if (!bad && !(n % 64))
			bad = check_maps();
	}
	ok(!bad, "%u random steps, seed fixed: %s", n,
	   bad ? bad : "as the model");
}

/* Exactly when a flow ends: never before its idle time has passed. */
static void times(void)
{
	struct flow p = proto(1, 0, FLOW_BY_GUEST | FLOW_QUERY);
	uint32_t head = 0;
	struct flow *f;

	flow_table_init(&t2, &key, IDLE_S, ANSWERED_S);
	f = flow_add(&t2, &p, &head, 1000);
	flow_touch(&t2, f, true, 1000);
	is_int(flow_next_deadline(&t2), 1181, "unanswered query: full time");
	ok(!flow_touch(&t2, f, false, 1001), "an answer does not make it live");
	is_int(flow_next_deadline(&t2), 1032, "answered query: short time");
	ok(!flow_expired(&t2, 1031), "30 s later, to the second: kept");
	ok(flow_expired(&t2, 1032) == f, "one more: expired");
	ok(!flow_touch(&t2, f, true, 1010), "asked again: still a query");
	is_int(flow_next_deadline(&t2), 1041, "but its time starts again");
	flow_del(&t2, f, &head);
	is_int(head, 0, "the map's list is empty");

	p.flags = 0;
	f = flow_add(&t2, &p, &head, 2000);
	ok(!flow_touch(&t2, f, true, 2000), "first datagram: one-shot");
	ok(!flow_touch(&t2, f, true, 2000), "second one: one-shot");
	ok(!flow_touch(&t2, f, false, 2000), "answer: one-shot");
	ok(flow_touch(&t2, f, true, 2001), "initiator speaks again: live");
	ok(!flow_expired(&t2, 2181) && flow_expired(&t2, 2182) == f,
	   "180 s after the last datagram");
	flow_del(&t2, f, &head);

	f = flow_add(&t2, &p, &head, 3000);
	flow_touch(&t2, f, true, 3000);
	flow_touch(&t2, f, false, 3000);
	ok(flow_touch(&t2, f, false, 3001), "a second answer: live");
	flow_del(&t2, f, &head);

	flow_table_init(&t2, &key, 10, ANSWERED_S);
	is_int(t2.idle_s[FLOW_ANSWERED], 10,
	       "a short --udp-timeout holds for queries too");
}

/* Spliced flows that were answered once are kept up to a number. */
static void surplus(void)
{
	static struct flow_table t3;
	struct flow *f, *first = NULL;
	uint32_t head = 0;

	flow_table_init(&t3, &key, IDLE_S, ANSWERED_S);
	for (unsigned i = 0; i <= FLOW_DONE_MAX; i++) {
		struct flow p = proto((uint16_t)(i + 1), 0, FLOW_SPLICED);

		ok(!flow_surplus(&t3), "%u are kept", i);
		f = flow_add(&t3, &p, &head, 1000);
		flow_touch(&t3, f, true, 1000);
		flow_touch(&t3, f, false, 1000);
		first = i == 0 ? f : first;
	}
	ok(flow_surplus(&t3) == first, "one more: the oldest is surplus");
	ok(flow_touch(&t3, first, true, 1001), "it goes on: live");
	ok(!flow_surplus(&t3), "so none is");
}

static void worth(void)
{
	struct flow p[3] = { proto(1, 0, FLOW_BY_GUEST | FLOW_QUERY),
			     proto(2, 0, 0), proto(3, 0, 0) };
	struct flow *f[3];
	uint32_t head = 0;

	for (unsigned i = 0; i < 3; i++)
		f[i] = flow_add(&t2, &p[i], &head, 10 - i);
	flow_touch(&t2, f[2], false, 8);
	flow_touch(&t2, f[2], true, 8);
	flow_touch(&t2, f[0], false, 20);
	ok(flow_victim(&t2) == f[0], "answered queries go first");
	flow_del(&t2, f[0], &head);
	ok(flow_victim(&t2) == f[1], "then one-shots");
	flow_del(&t2, f[1], &head);
	ok(flow_victim(&t2) == f[2], "live ones last, however old");
	flow_del(&t2, f[2], &head);
	ok(!flow_victim(&t2) && !head && !t2.n, "all gone");
}

/* A spliced flow is invisible from the guest's side. */
static void spliced(void)
{
	struct flow p = proto(1, 0, FLOW_SPLICED), q = proto(1, 1, 0);
	uint32_t head[2] = { 0, 0 };
	struct flow *a, *b;

	q.inner = p.inner;
	a = flow_add(&t2, &p, &head[0], 1);
	ok(!flow_find_guest(&t2, 17, &p.inner, &p.visible), "not by guest");
	b = flow_add(&t2, &q, &head[1], 1);
	ok(flow_find_guest(&t2, 17, &q.inner, &q.visible) == b,
	   "one with the same ends is");
	ok(!flow_find_guest(&t2, 6, &q.inner, &q.visible), "other protocol");
	ok(flow_find_host(&t2, 0, &p.host, &p.ours) == a, "by host: first");
	ok(flow_find_host(&t2, 1, &p.host, &p.ours) == b, "by host: other map");
	flow_del(&t2, a, &head[0]);
	ok(flow_find_guest(&t2, 17, &q.inner, &q.visible) == b,
	   "its end leaves the other alone");
	flow_del(&t2, b, &head[1]);
}

static void bounds(void)
{
	uint32_t n = 0, head = 0;
	struct flow p = proto(0, 0, 0), *f;

	flow_table_init(&full, &key, IDLE_S, ANSWERED_S);
	for (;;) {
		p.host = end(0x0a000000, n, 1);
		p.visible = p.host;
		if (!flow_add(&full, &p, &head, 1))
			break;
		n++;
	}
	is_int(n, FLOW_MAX, "flows at once");
	is_int(full.n, FLOW_MAX, "counted");
	f = flow_victim(&full);
	is_int(flow_number(&full, f), 0, "the oldest is the victim");
	flow_del(&full, f, &head);
	ok(flow_add(&full, &p, &head, 2) == f, "its place is used again");
	ok(!flow_add(&full, &p, &head, 2), "and there is just one");
}

int main(void)
{
	property();
	times();
	worth();
	surplus();
	spliced();
	bounds();
	return done();
}
