/* mcast.c - which groups the guest is a member of
 *
 * A host joins a group by telling the routers of its link, and on the guest's
 * link that is us. Each message is a list of groups, joined or left; three
 * versions of IGMP and two of MLD differ only in how the list is written, so
 * they are all brought into one form here.
 *
 * Memberships are soft state: a general query every 125 s makes the guest
 * repeat them, and one that it does not repeat is forgotten after twice that
 * time (RFC 3376 8.4). As long as no group is known nobody is asked.
 *
 * Deliberately not done: sources. "Include these" is a membership, "exclude
 * those" too; the guest's kernel drops what its programs did not ask for. No
 * querier election either: there is no other router on this link. Router alert
 * options are not demanded, since a hop limit of 1 already proves that the
 * message was made on the link. */

#include "mcast.h"

#include "be.h"
#include "csum.h"

#include <assert.h>
#include <string.h>

#define IGMP_QUERY 0x11
#define IGMP_V1_REPORT 0x12
#define IGMP_V2_REPORT 0x16
#define IGMP_V2_LEAVE 0x17
#define IGMP_V3_REPORT 0x22
#define MLD_QUERY 130
#define MLD_REPORT 131
#define MLD_DONE 132
#define MLD_V2_REPORT 143

#define RECORDS_AT 8 /* bytes before the records; 4: before a single group */
#define RECORD_LEN 4 /* bytes before the group's address */
#define IS_INCLUDE 1 /* record types, RFC 3376 4.2.12 */
#define TO_INCLUDE 3
#define BLOCK_OLD 6

#define IP4_LEN 24 /* with a router alert option */
#define IP6_LEN 48 /* with a hop-by-hop header */
#define IGMP_LEN 12
#define MLD_LEN 28
#define RESPONSE_MS 1000
#define ROBUSTNESS 2

static_assert(FRAME_MIN + IP6_LEN + MLD_LEN == MCAST_QUERY_FRAME,
	      "room for a query");

static bool is_of_link(const struct addr *group)
{
	static const struct addr solicited = { { 0xff, 2, [11] = 1, 0xff } };
	const uint8_t *b = group->b;

	if (addr_is_v4(group))
		return b[12] == 224 && !b[13] && !b[14] && b[15] == 1;
	if ((b[1] & 0xf) <= 1) /* interface-local, RFC 4291 2.7 */
		return true;
	if (addr_in_prefix(group, &solicited, 104))
		return true;
	return b[1] == 2 && b[15] == 1 && !memcmp(b + 2, solicited.b + 2, 9) &&
	       !b[11] && !b[12] && !b[13] && !b[14];
}

bool mcast_is_report(const struct pkt *p)
{
	uint8_t type;

	if (!p->body.len)
		return false;
	type = p->body.buf[0];
	if (p->proto == PROTO_IGMP)
		return addr_is_v4(&p->src.addr) &&
		       (type == IGMP_V1_REPORT || type == IGMP_V2_REPORT ||
			type == IGMP_V2_LEAVE || type == IGMP_V3_REPORT);
	return p->proto == PROTO_ICMP6 && !addr_is_v4(&p->src.addr) &&
	       (type == MLD_REPORT || type == MLD_DONE ||
		type == MLD_V2_REPORT);
}

static bool is_csum_ok(const struct pkt *p)
{
	uint64_t sum = 0;

	if (p->proto == PROTO_ICMP6)
		sum = csum_pseudo(&p->src.addr, &p->dst.addr, PROTO_ICMP6,
				  p->body.len);
	return csum_fold(csum_add(sum, p->body.buf, p->body.len)) == 0xffff;
}

/* @bytes: the group in the message. An IPv6 one may look like a mapped IPv4
 * address, which no IPv6 group is. */
static unsigned add(struct mcast_change *change, unsigned n,
		    const uint8_t *bytes, enum family family, bool is_join)
{
	struct addr group = addr_from_bytes(bytes, family);

	if (n >= MCAST_CHANGES_MAX || addr_family(&group) != family ||
	    !addr_is_multicast(&group) || is_of_link(&group))
		return n;
	change[n] = (struct mcast_change){ group, is_join };
	return n + 1;
}

/* Does a record mean membership? Those that include none mean the end. */
static bool is_joined(uint8_t type, uint32_t n_sources)
{
	if (type == IS_INCLUDE || type == TO_INCLUDE)
		return n_sources > 0;
	return true;
}

static unsigned records(const struct pkt *p, enum family family,
			struct mcast_change *change)
{
	uint32_t alen = family == FAMILY_V4 ? 4 : 16, len, n_sources;
	const uint8_t *b = p->body.buf;
	uint32_t at = RECORDS_AT, left;
	unsigned n = 0;

	if (p->body.len < RECORDS_AT)
		return 0;
	for (left = be16_get(b + 6); left; left--) {
		if (p->body.len - at < RECORD_LEN + alen)
			return 0;
		n_sources = be16_get(b + at + 2);
		len = RECORD_LEN + alen + n_sources * alen + b[at + 1] * 4u;
		if (p->body.len - at < len)
			return 0;
		/* Blocking a source says nothing about the membership */
		if (b[at] >= IS_INCLUDE && b[at] < BLOCK_OLD)
			n = add(change, n, b + at + RECORD_LEN, family,
				is_joined(b[at], n_sources));
		at += len;
	}
	return n;
}

static unsigned single(const struct pkt *p, enum family family,
		       struct mcast_change *change, bool is_join)
{
	uint32_t at = family == FAMILY_V4 ? 4 : 8;

	if (p->body.len < at + (family == FAMILY_V4 ? 4u : 16u))
		return 0;
	return add(change, 0, p->body.buf + at, family, is_join);
}

unsigned mcast_parse(const struct pkt *p,
		     struct mcast_change ret_change[static MCAST_CHANGES_MAX])
{
	if (!mcast_is_report(p) || p->body.mark.hops != 1 || !is_csum_ok(p))
		return 0;
	switch (p->body.buf[0]) {
	case IGMP_V1_REPORT:
	case IGMP_V2_REPORT:
		return single(p, FAMILY_V4, ret_change, true);
	case IGMP_V2_LEAVE:
		return single(p, FAMILY_V4, ret_change, false);
	case IGMP_V3_REPORT:
		return records(p, FAMILY_V4, ret_change);
	case MLD_REPORT:
		return single(p, FAMILY_V6, ret_change, true);
	case MLD_DONE:
		return single(p, FAMILY_V6, ret_change, false);
	case MLD_V2_REPORT:
		return records(p, FAMILY_V6, ret_change);
	default:
		return 0;
	}
}

static struct mcast_group *find(const struct mcast *m, const struct addr *group)
{
	const struct mcast_group *g;

	for (g = m->group; g < m->group + MCAST_GROUPS_MAX; g++) {
		if (g->ends_ms && addr_eq(&g->group, group))
			return (struct mcast_group *)(uintptr_t)g;
	}
	return NULL;
}

static struct mcast_group *find_free(struct mcast *m)
{
	struct mcast_group *g;

	for (g = m->group; g < m->group + MCAST_GROUPS_MAX; g++) {
		if (!g->ends_ms)
			return g;
	}
	return NULL;
}

bool mcast_update(struct mcast *m, const struct mcast_change *c, int64_t now_ms)
{
	struct mcast_group *g = find(m, &c->group);
	bool was_member = g;

	if (!c->is_join) {
		if (g) {
			g->ends_ms = 0;
			m->n--;
		}
		return was_member;
	}
	if (!g)
		g = find_free(m);
	if (!g)
		return false;
	if (!was_member && !m->n++)
		m->query_ms = now_ms + MCAST_QUERY_MS;
	*g = (struct mcast_group){ c->group, now_ms + MCAST_IDLE_MS };
	return !was_member;
}

bool mcast_is_member(const struct mcast *m, const struct addr *group)
{
	return m->n && find(m, group);
}

bool mcast_expired(struct mcast *m, int64_t now_ms, struct addr *ret_group)
{
	struct mcast_group *g;

	for (g = m->group; m->n && g < m->group + MCAST_GROUPS_MAX; g++) {
		if (!g->ends_ms || g->ends_ms > now_ms)
			continue;
		*ret_group = g->group;
		g->ends_ms = 0;
		m->n--;
		return true;
	}
	return false;
}

int64_t mcast_next_query(const struct mcast *m)
{
	return m->n ? m->query_ms : MCAST_NEVER;
}

void mcast_queried(struct mcast *m, int64_t now_ms)
{
	m->query_ms = now_ms + MCAST_QUERY_MS;
}

/* RFC 3376 4.1, 2113 */
static uint32_t query4(const struct addr *src, uint8_t *ip)
{
	static const uint8_t all[4] = { 224, 0, 0, 1 };
	uint8_t *msg = ip + IP4_LEN;
	uint16_t c;

	memset(ip, 0, IP4_LEN + IGMP_LEN);
	ip[0] = 0x46;
	be16_put(ip + 2, IP4_LEN + IGMP_LEN);
	ip[8] = 1;
	ip[9] = PROTO_IGMP;
	memcpy(ip + 12, addr_bytes(src), 4);
	memcpy(ip + 16, all, 4);
	ip[20] = 0x94; /* router alert */
	ip[21] = 4;
	c = csum_done(csum_add(0, ip, IP4_LEN));
	memcpy(ip + 10, &c, sizeof(c));
	msg[0] = IGMP_QUERY;
	msg[1] = RESPONSE_MS / 100;
	msg[8] = ROBUSTNESS;
	msg[9] = MCAST_QUERY_MS / 1000;
	c = csum_done(csum_add(0, msg, IGMP_LEN));
	memcpy(msg + 2, &c, sizeof(c));
	return IP4_LEN + IGMP_LEN;
}

/* RFC 3810 5.1, 2711 */
static uint32_t query6(const struct addr *src, uint8_t *ip)
{
	static const uint8_t alert[8] = { PROTO_ICMP6, 0, 5, 2, 0, 0, 1, 0 };
	static const struct addr all = { { 0xff, 2, [15] = 1 } };
	uint8_t *msg = ip + IP6_LEN;
	uint64_t sum;
	uint16_t c;

	memset(ip, 0, IP6_LEN + MLD_LEN);
	ip[0] = 0x60;
	be16_put(ip + 4, IP6_LEN - 40 + MLD_LEN);
	ip[7] = 1; /* hop limit; next header 0 is hop-by-hop */
	memcpy(ip + 8, src->b, 16);
	memcpy(ip + 24, all.b, 16);
	memcpy(ip + 40, alert, sizeof(alert));
	msg[0] = MLD_QUERY;
	be16_put(msg + 4, RESPONSE_MS);
	msg[24] = ROBUSTNESS;
	msg[25] = MCAST_QUERY_MS / 1000;
	sum = csum_pseudo(src, &all, PROTO_ICMP6, MLD_LEN);
	c = csum_done(csum_add(sum, msg, MLD_LEN));
	memcpy(msg + 2, &c, sizeof(c));
	return IP6_LEN + MLD_LEN;
}

uint32_t mcast_query(const struct head_link *link, const struct addr *src,
		     uint8_t ret_frame[static MCAST_QUERY_FRAME])
{
	bool is_v4 = addr_is_v4(src);
	struct eth_hdr eth = { .src = link->ours };
	static const struct mac mac4 = { { 0x01, 0, 0x5e, 0, 0, 1 } };
	static const struct mac mac6 = { { 0x33, 0x33, 0, 0, 0, 1 } };
	uint8_t *ip = ret_frame + sizeof(eth);

	eth.dst = is_v4 ? mac4 : mac6;
	be16_put(&eth.type_be, is_v4 ? ETH_P_IP : ETH_P_IPV6);
	memcpy(ret_frame, &eth, sizeof(eth));
	return (uint32_t)sizeof(eth) +
	       (is_v4 ? query4(src, ip) : query6(src, ip));
}
