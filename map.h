/* map.h - maps: which host socket stands for which inner endpoint
 * Knows: sockets by number, their age.
 * Does not know: how sockets are made, what a flow is beyond its number, whom
 * a map lets in (permit.h).
 * Source: RFC 4787 REQ-1 (endpoint-independent mapping).
 *
 * A map is any UDP socket of ours that carries datagrams: shared by all
 * remotes of one inner endpoint, owned by one flow, or listening for a
 * published port. Numbers are stable for the life of a map. Zero-filled memory
 * is a valid empty table. */

#ifndef MAP_H
#define MAP_H

#include "addr.h"
#include "hash.h"
#include "limits.h"
#include "loop.h"
#include "lru.h"
#include "run.h"

#define MAP_NONE UINT32_MAX

/** enum map_kind - what a map's socket is for */
enum map_kind {
	MAP_FREE,
	MAP_SHARED, /* one inner endpoint, every remote: not connected */
	MAP_OWN, /* one flow over the tap: connected to its remote */
	MAP_SPLICE, /* one spliced flow: connected, on the far side */
	MAP_LISTEN_HOST, /* a published port, on the host */
	MAP_LISTEN_NS, /* a port of the host offered inside the namespace */
	MAP_ECHO, /* a ping socket: one inner address and identifier */
	MAP_GROUP /* hears a group at a port that is not published */
};

/** enum map_list - one-shot maps are given up before live ones */
enum map_list { MAP_ONESHOT, MAP_LIVE, MAP_LISTS };

/** struct map - one socket
 * @watch: its descriptor and handler
 * @inner: SHARED, OWN: the guest's endpoint; listeners: port of the far side
 * @ours:  SHARED, listeners: address the socket is bound to, unset: wildcard
 * @port:  local port of an unconnected socket
 * @family: AF_INET or AF_INET6 as the socket was made
 * @device: listeners: interface index bound to, 0 any
 * @mark:   header bits that are set on the socket
 * @marked: round in which they were last changed
 * @born_ms: when it was opened, truncated   @batch: of the last round
 * @flows: first flow + 1 of the list that flow.h keeps, 0 none
 * @lru, @list, @chain: private to map.c */
struct map {
	struct watch watch;
	struct end inner;
	struct addr ours;
	struct lru_node lru;
	uint32_t flows;
	uint32_t chain;
	uint32_t device;
	uint32_t marked;
	uint32_t born_ms;
	struct mark mark;
	uint16_t port;
	uint8_t family;
	uint8_t kind;
	uint8_t list, batch;
};

#define MAP_BUCKETS 16384

/** struct map_table - all maps
 * @max: dynamic maps allowed      @n: dynamic maps in use
 * @n_listen: listeners ever made; they are never freed, only reused */
struct map_table {
	struct hash_key key;
	uint32_t max;
	uint32_t n;
	uint32_t high;
	uint32_t free;
	uint32_t n_listen;
	uint32_t free_listen;
	struct lru lists[MAP_LISTS];
	uint32_t bucket[MAP_BUCKETS];
	struct map map[MAP_MAX];
};

/** map_table_init() - @max: dynamic maps, at most MAP_DYNAMIC_MAX */
void map_table_init(struct map_table *t, const struct hash_key *key,
		    uint32_t max);

/** map_number() - number of a map of the table */
uint32_t map_number(const struct map_table *t, const struct map *m);

/** map_find() - shared map of an inner endpoint bound to @ours, or NULL; with
 * @ours unset: its MAP_ECHO */
struct map *map_find(struct map_table *t, const struct end *inner,
		     const struct addr *ours);

/**
 * map_new() - take a free entry
 * @proto: kind, family, inner, ours, port are taken over; watch too
 * Returns: NULL if all are in use: evict map_victim() and call again
 */
struct map *map_new(struct map_table *t, const struct map *proto,
		    uint32_t now_s);

/** map_free() - give an entry back that has no flows; its descriptor is the
 * caller's */
void map_free(struct map_table *t, struct map *m);

/** map_touch() - it was used now; @is_live: keep it longer than one-shots */
void map_touch(struct map_table *t, struct map *m, uint32_t now_s,
	       bool is_live);

/** map_victim() - the dynamic map to give up first, or NULL: the least
 * recently used one-shot, unless they are few (lru_victim()), else live one */
struct map *map_victim(struct map_table *t);

#endif
