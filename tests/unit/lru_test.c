/* lru_test.c - lists keep the order of last use, and zero memory is empty */

#include "lru.h"

#include "check.h"

#define N 8

/* An entry as a table would have it: the node is not at its beginning */
struct entry {
	uint64_t other;
	struct lru_node node;
	uint8_t tail[9];
};

static struct entry entries[N];
static struct lru list;
static const struct lru_table table = { &entries[0].node,
					sizeof(struct entry) };

/* The list from old to new as a string of digits, checked from both ends */
static const char *order(void)
{
	static char text[N + 1];
	uint32_t i, n = 0, back = 0;

	for (i = list.oldest; i && n < N; i = entries[i - 1].node.next)
		text[n++] = (char)('0' + i - 1);
	text[n] = 0;
	for (i = list.newest; i && back < n; i = entries[i - 1].node.prev)
		if (text[n - ++back] != (char)('0' + i - 1))
			return "links differ";
	return n == list.n && back == n ? text : "count differs";
}

static void add_and_delete(void)
{
	is_str(order(), "", "zero is empty");
	is_int(lru_oldest(&list), LRU_NONE, "nobody is oldest");

	for (uint32_t i = 0; i < 5; i++)
		lru_add(&table, &list, i, 100);
	is_str(order(), "01234", "added");
	is_int(lru_oldest(&list), 0, "oldest");

	lru_del(&table, &list, 2);
	is_str(order(), "0134", "one from the middle");
	lru_del(&table, &list, 0);
	is_str(order(), "134", "the oldest");
	lru_del(&table, &list, 4);
	is_str(order(), "13", "the newest");
	lru_add(&table, &list, 0, 101);
	is_str(order(), "130", "one again");
}

static void touch(void)
{
	lru_touch(&table, &list, 1, 100, false);
	is_str(order(), "130", "same second: stays");
	lru_touch(&table, &list, 1, 100, true);
	is_str(order(), "301", "exact: moves");
	lru_touch(&table, &list, 3, 100, true);
	lru_touch(&table, &list, 0, 100, true);
	lru_touch(&table, &list, 0, 100, true);
	is_str(order(), "130", "and back, the newest stays");
	lru_touch(&table, &list, 1, 102, false);
	is_str(order(), "301", "moves");
	is_int(lru_used(&table, 1), 102, "time of use");
	is_int(lru_used(&table, 3), 100, "others keep theirs");
	lru_touch(&table, &list, 1, 103, false);
	is_str(order(), "301", "the newest stays the newest");
	is_int(lru_used(&table, 1), 103, "with a new time");
}

static void victims(void)
{
	struct lru l[3] = { { 0, 0, 0 }, { 5, 5, 1 }, { 9, 9, 3 } };

	is_int(lru_victim(l, 3), 4, "a new one, of a quarter");
	l[2].n = 6;
	is_int(lru_victim(l, 3), 8, "below a quarter they stay");
	l[1] = (struct lru){ 0, 0, 0 };
	is_int(lru_victim(l, 3), 8, "no new one");
	l[0] = (struct lru){ 3, 3, 1 };
	is_int(lru_victim(l, 3), 2, "earlier lists first");
	l[0] = l[2] = l[1];
	is_int(lru_victim(l, 3), LRU_NONE, "nobody");
}

static void empty_again(void)
{
	struct lru zero = { 0, 0, 0 };

	while (lru_oldest(&list) != LRU_NONE)
		lru_del(&table, &list, lru_oldest(&list));
	is_mem(&list, &zero, sizeof(zero), "all gone");
	lru_touch(&table, &list, 7, 0, false);
	is_int(list.n, 0, "an entry never used, second 0: in no list, stays");
	lru_add(&table, &list, 7, 0);
	lru_touch(&table, &list, 7, 5, false);
	is_str(order(), "7", "alone");
}

int main(void)
{
	add_and_delete();
	touch();
	victims();
	empty_again();
	for (uint32_t i = 0; i < N; i++)
		ok(!entries[i].other && !entries[i].tail[0],
		   "entry %u: nothing but the node is written", i);
	return done();
}
