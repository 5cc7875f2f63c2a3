/* mcast.h - which groups the guest is a member of
 * Knows: IGMP and MLD messages, how long a membership lasts unrefreshed.
 * Does not know: sockets, links. Pure: time is passed in, milliseconds.
 * Sources: RFC 1112, 2236, 3376 (IGMP 1 to 3), RFC 2710, 3810 (MLD 1 and 2). */

#ifndef MCAST_H
#define MCAST_H

#include "head.h"
#include "pkt.h"

#define MCAST_QUERY_FRAME 90 /* the longer one, of MLDv2 */
#define MCAST_NEVER INT64_MAX

/** struct mcast_change - one membership begins or goes on, or ends */
struct mcast_change {
	struct addr group;
	bool is_join;
};

/** struct mcast_group - a group the guest is in, until @ends_ms; 0: free */
struct mcast_group {
	struct addr group;
	int64_t ends_ms;
};

/** struct mcast - all memberships; zeroed memory is a valid empty table
 * @n: entries in use     @query_ms: when to ask again, while any is known */
struct mcast {
	struct mcast_group group[MCAST_GROUPS_MAX];
	unsigned n;
	int64_t query_ms;
};

/**
 * mcast_parse() - take a membership report or leave message apart
 * @p: IGMP (PKT_OTHER with PROTO_IGMP) or MLD (PKT_ICMP with PROTO_ICMP6)
 * A record of sources to include is a join if it names any: what comes from
 * others is for the guest's own kernel to filter. Groups that never leave a
 * link (224.0.0.1, ff02::1, solicited-node and interface-local ones) are left
 * out.
 * Returns: number of changes; 0 also if it is malformed
 */
unsigned mcast_parse(const struct pkt *p,
		     struct mcast_change ret_change[static MCAST_CHANGES_MAX]);

/** mcast_is_report() - is it one of the messages that mcast_parse() takes? */
bool mcast_is_report(const struct pkt *p);

/**
 * mcast_update() - enter a change
 * Returns: true if it is news: a group that was not known, or that was. A full
 * table takes no new group (false).
 */
bool mcast_update(struct mcast *m, const struct mcast_change *c,
		  int64_t now_ms);

bool mcast_is_member(const struct mcast *m, const struct addr *group);

/** mcast_expired() - forget one group that was not confirmed in time
 * Returns: false if there is none */
bool mcast_expired(struct mcast *m, int64_t now_ms, struct addr *ret_group);

/** mcast_next_query() - when to send general queries; MCAST_NEVER while no
 * group is known    mcast_queried() - they were sent */
int64_t mcast_next_query(const struct mcast *m);
void mcast_queried(struct mcast *m, int64_t now_ms);

/**
 * mcast_query() - a general query, so that the guest reports its groups
 * @src: our address on the link, of the family to ask
 * Returns: bytes of the frame
 */
uint32_t mcast_query(const struct head_link *link, const struct addr *src,
		     uint8_t ret_frame[static MCAST_QUERY_FRAME]);

#endif
