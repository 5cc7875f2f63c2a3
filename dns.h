/* dns.h - what the guest asks its resolver goes to the host's
 * Knows: the host's resolvers, which of them lives, queries under way.
 * Does not know: DNS messages, but for the two bytes that an answer repeats.
 * Source: RFC 1035 4.1.1 (ID), 4.2.1; RFC 5452 9 (ports, who may answer).
 *
 * Each query has a socket of its own, connected to the resolver asked, on a
 * port that the kernel chooses. Port 53 only: what else the alias of the
 * resolver gets (853) is a flow like others, to the resolver of the moment.
 * Zero-filled memory is a valid empty table. */

#ifndef DNS_H
#define DNS_H

#include "resolv.h"
#include "udp_map.h"

#define DNS_SERVERS_MAX (FAMILY_COUNT * RESOLV_DNS_MAX)

/** struct dns_servers - whom to ask for one family of the guest's resolver
 * @addr, @n: in order; those of the other family stand behind
 * @now:      the one that is asked first: the last that was seen to live
 * @is_fixed: said by an option: resolv.conf does not matter */
struct dns_servers {
	struct addr addr[DNS_SERVERS_MAX];
	unsigned n;
	unsigned now;
	bool is_fixed;
};

/** enum dns_list - waiting: another resolver is asked when time is up
 * last: there is no other, or an answer came: only the socket remains */
enum dns_list { DNS_WAITING, DNS_LAST, DNS_LISTS };

/** struct dns_query - a query, or its repetition to another resolver
 * @watch: its socket, @watch.fn NULL in a free entry
 * @inner, @visible: who asked, and whom, as the guest sees it
 * @host:   the resolver      @due_ms: when its list has it do something
 * @left:   resolvers not asked yet      @chain: next free entry + 1
 * @is_settled: answered, asked of another resolver too, or too long to be kept
 * @is_again: others were asked before: an answer makes this one the first
 * @data, @len: the query, to be sent again */
struct dns_query {
	struct watch watch;
	struct lru_node node;
	struct end inner;
	struct end visible;
	struct end host;
	int64_t due_ms;
	uint32_t left;
	uint32_t chain;
	uint8_t list;
	bool is_again;
	bool is_settled;
	uint16_t len;
	uint8_t data[DNS_QUERY_BYTES];
};

/** struct dns - all of it
 * @u:    whose link and counters they are        @fwd: learns whom to ask
 * @reader: tells resolv.conf, its fd -1 if nobody does
 * @changed: called with what resolv.conf says now, unless NULL
 * @asked_ms: when it was asked last    @max: queries allowed */
struct dns {
	struct udp_query hook;
	struct udp *u;
	struct fwd *fwd;
	struct watch reader;
	void (*changed)(struct dns *d, const struct resolv *r);
	int64_t asked_ms;
	uint32_t max;
	uint32_t high;
	uint32_t free;
	struct timer timer;
	struct lru lists[DNS_LISTS];
	struct dns_servers servers[FAMILY_COUNT];
	struct dns_query query[DNS_QUERIES_MAX];
};

/**
 * dns_init() - take over what @u gets for the guest's resolver
 * @d:      zeroed; @u, @fwd are set, and what is fixed of @servers
 * @reader: socket of reader_start(), or -1
 * @max:    descriptors it may use for queries
 * Returns: 0 or -errno
 */
int dns_init(struct dns *d, const struct resolv *r, int reader, uint32_t max);

/**
 * dns_servers() - the host's resolvers are these now
 * One that says nothing changes nothing: the file is about to be replaced.
 * Queries that wait for a resolver that is gone go to the new first one.
 */
void dns_servers(struct dns *d, const struct resolv *r);

#endif
