/* policy.h - where the guest may begin to speak to
 * Knows: lists of prefixes and ports, first match.
 * Does not know: flows, protocols, how a refusal is told. Pure.
 *
 * Answers are not asked about: only what the guest begins. Zeroed memory is a
 * policy that permits everything. */

#ifndef POLICY_H
#define POLICY_H

#include "addr.h"
#include "limits.h"

/** struct policy_rule - destinations that are allowed, or denied
 * @plen: bits of @prefix in its family     @first, @last: ports, inclusive */
struct policy_rule {
	struct addr prefix;
	uint16_t first, last;
	uint8_t plen;
	bool is_allow;
};

/** struct policy - rules in the order they were given
 * @has_allow: what no rule covers is denied, else it is allowed */
struct policy {
	struct policy_rule rule[POLICY_MAX];
	unsigned n;
	bool has_allow;
};

/**
 * policy_add() - take a rule in: PREFIX[:PORTS]
 * PREFIX is ADDR, ADDR/LEN, [IPV6], [IPV6]/LEN, or "all" for both families;
 * PORTS a number or FIRST-LAST.
 * Returns: NULL, or what is wrong with @word, and nothing is changed
 */
const char *policy_add(struct policy *p, const char *word, bool is_allow);

/**
 * policy_permits() - may the guest begin to speak to a destination?
 * @dst: as the guest names it    @host: as the host does, NULL if that is not
 *       known: a rule covers an alias under either name
 * Ports are 0 for protocols without; rules with ports do not cover those.
 */
bool policy_permits(const struct policy *p, const struct end *dst,
		    const struct end *host);

#endif
