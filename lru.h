/* lru.h - entries of a table in the order of their last use
 * Knows: numbers of entries.  Does not know: what an entry is.
 *
 * The table embeds a struct lru_node per entry; lists link them by number + 1,
 * so that all-zero memory is a valid empty state and no page is touched early.
 * An entry is in one list at most. */

#ifndef LRU_H
#define LRU_H

#include <stdbool.h>
#include <stdint.h>

#define LRU_NONE UINT32_MAX

/** struct lru_node - @prev, @next: number + 1, 0 none; @used: seconds */
struct lru_node {
	uint32_t prev;
	uint32_t next;
	uint32_t used;
};

/** struct lru - a list: @oldest, @newest: number + 1, 0 if empty */
struct lru {
	uint32_t oldest;
	uint32_t newest;
	uint32_t n;
};

/** struct lru_table - where the nodes of entries lie
 * @base: node of entry 0      @stride: bytes from one entry to the next */
struct lru_table {
	void *base;
	uint32_t stride;
};

/** lru_add() - put an entry that is in no list at the newest end */
void lru_add(const struct lru_table *t, struct lru *l, uint32_t i,
	     uint32_t now_s);

/** lru_del() - take an entry out of the list it is in */
void lru_del(const struct lru_table *t, struct lru *l, uint32_t i);

/** lru_touch() - mark as used; moves at most once per second, so that a busy
 * entry costs one comparison; @is_exact: each time, since entries are given up
 * that fast */
void lru_touch(const struct lru_table *t, struct lru *l, uint32_t i,
	       uint32_t now_s, bool is_exact);

/** lru_oldest() - number of the least recently used entry, or LRU_NONE */
uint32_t lru_oldest(const struct lru *l);

/** lru_victim() - the entry to give up first, or LRU_NONE
 * @lists, @n: in the order in which they give way, at least two. Of the last
 * two, who is new and who has stayed, the new ones keep a quarter: else many
 * that stay would leave them no time for an answer. */
uint32_t lru_victim(const struct lru *lists, unsigned n);

/** lru_used() - second of an entry's last use */
uint32_t lru_used(const struct lru_table *t, uint32_t i);

#endif
