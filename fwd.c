/* fwd.c - from one side's endpoints to the other's: pure policy
 *
 * The guest and the host may share one address, and the host has addresses
 * (loopback) that no guest can name. Aliases bridge both: an alias seen by the
 * guest stands for the host's loopback, for the host's own address, or for its
 * resolver. Everything else passes unchanged, so that a server sees the true
 * address of its client.
 *
 * Translation is by first match, the same order in which callers of pasta know
 * it. Nothing here keeps state: the flow that results does. */

#include "fwd.h"

#define PORT_DNS 53
#define PORT_DNS_TLS 853
#define PORT_DYNAMIC 49152 /* RFC 6335 6 */
#define PORTS_DYNAMIC 16384

static bool is_alias(const struct addr *a, const struct addr *alias)
{
	return addr_is_set(alias) && addr_eq(a, alias);
}

static bool is_dns(const struct fwd *f, const struct end *dst)
{
	return (dst->port == PORT_DNS || dst->port == PORT_DNS_TLS) &&
	       is_alias(&dst->addr, &f->dns_forward[addr_family(&dst->addr)]);
}

bool fwd_is_group(const struct fwd *f, const struct addr *dst)
{
	return addr_is_multicast(dst) || addr_is_broadcast(dst) ||
	       is_alias(dst, &f->broadcast);
}

/* Groups are of a link, and the guest's link stands for the template's. Those
 * of an interface (ff01::/16) never leave it, RFC 4291 2.7. */
static enum fwd_kind to_group(const struct fwd *f, const struct end *dst,
			      struct end *ret_host)
{
	enum family family = addr_family(&dst->addr);

	if (!f->scope[family] ||
	    (family == FAMILY_V6 && (dst->addr.b[1] & 0xf) <= 1))
		return FWD_REFUSE;
	*ret_host = end_make(&dst->addr, dst->port, f->scope[family]);
	return FWD_GROUP;
}

enum fwd_kind fwd_from_guest(const struct fwd *f, const struct end *dst,
			     struct end *ret_host)
{
	enum family family = addr_family(&dst->addr);
	const struct addr *to = &dst->addr;
	enum fwd_kind kind = FWD_OWN;

	if (is_dns(f, dst)) {
		if (f->by_query && dst->port == PORT_DNS)
			return FWD_QUERY;
		to = &f->dns_host[family];
		kind = FWD_OWN_ANY_PORT;
	} else if (is_alias(to, &f->host_loopback[family])) {
		to = addr_loopback(family);
	} else if (is_alias(to, &f->guest_alias[family])) {
		to = &f->host[family];
	} else {
		if (addr_is_loopback(to))
			return FWD_REFUSE;
		if (fwd_is_group(f, to))
			return to_group(f, dst, ret_host);
		kind = FWD_SHARED;
	}
	if (!addr_is_unicast(to))
		return FWD_REFUSE;
	*ret_host = end_make(to, dst->port,
			     addr_needs_scope(to) ? f->scope[family] : 0);
	return kind;
}

static bool is_own(const struct fwd *f, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < f->n_own; i++) {
		if (addr_eq(a, &f->own[i]))
			return true;
	}
	return false;
}

/* An address the guest cannot take for somebody else's. */
static bool is_unusable(const struct fwd *f, const struct addr *a)
{
	enum family family = addr_family(a);

	return addr_is_loopback(a) || addr_is_any(a) || is_own(f, a) ||
	       is_alias(a, &f->guest[family]) || is_alias(a, &f->seen[family]);
}

static const struct addr *visible(const struct fwd *f, const struct addr *peer)
{
	enum family family = addr_family(peer);

	if (addr_eq(peer, addr_loopback(family)) &&
	    addr_is_set(&f->host_loopback[family]))
		return &f->host_loopback[family];
	if (is_alias(peer, &f->host[family]) &&
	    addr_is_set(&f->guest_alias[family]))
		return &f->guest_alias[family];
	return is_unusable(f, peer) ? &f->ours[family] : peer;
}

bool fwd_from_host(const struct fwd *f, const struct end *peer,
		   struct end *ret_peer, struct end *ret_guest)
{
	enum family family = addr_family(&peer->addr);
	const struct addr *seen = visible(f, &peer->addr);
	const struct addr *guest = &f->seen[family];

	if (family == FAMILY_V6 && addr_is_linklocal(seen))
		guest = &f->guest_ll;
	if (!addr_is_set(guest))
		guest = &f->guest[family];
	if (!addr_is_set(guest) && family == FAMILY_V6)
		guest = &f->guest_ll; /* all it has: it routes by our gateway */
	if (!addr_is_set(seen) || !addr_is_set(guest))
		return false;
	*ret_peer = end_make(seen, peer->port, 0);
	*ret_guest = end_make(guest, 0, 0);
	return true;
}

uint16_t fwd_other_port(uint16_t port, uint32_t n)
{
	return (uint16_t)(PORT_DYNAMIC + (port + n) % PORTS_DYNAMIC);
}

bool fwd_is_splice(const struct fwd *f, const struct end *peer, bool is_lo)
{
	return !f->no_splice && is_lo && addr_is_loopback(&peer->addr);
}

/* The guest's own address of a family; link-local if it has no other. */
static const struct addr *own_address(const struct fwd *f, enum family family)
{
	if (addr_is_set(&f->seen[family]))
		return &f->seen[family];
	if (family == FAMILY_V6 && !addr_is_set(&f->guest[family]))
		return &f->guest_ll;
	return &f->guest[family];
}

struct end fwd_splice_target(const struct fwd *f, enum family family,
			     uint16_t port)
{
	const struct addr *a = f->to_loopback ? addr_loopback(family) :
						own_address(f, family);

	return end_make(a, port, addr_needs_scope(a) ? f->link : 0);
}
