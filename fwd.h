/* fwd.h - from one side's endpoints to the other's: pure policy
 * Knows: aliases, gateways, loopback rules.  Does not know: tables, sockets.
 * Source: RFC 4787; the rules that callers of pasta rely on. */

#ifndef FWD_H
#define FWD_H

#include "addr.h"
#include "limits.h"

#define LOOPBACK_IFINDEX 1 /* of every network namespace */

/** enum fwd_filter - who may answer on a map, RFC 4787 5
 * address: any port of an address that was spoken to (REQ-8's default) */
enum fwd_filter {
	FILTER_ADDRESS,
	FILTER_ENDPOINT, /* anybody: endpoint-independent */
	FILTER_PORT /* address and port spoken to */
};

/** struct fwd - what translation depends on; unset addresses are all zero
 * @guest:     address assigned to the guest, per family
 * @host:      address of the host's own now; was @guest when that was assigned
 * @seen:      source address last seen from the guest, else @guest
 * @own, @n_own: all addresses given to the guest's link
 * @guest_ll:  the guest's link-local address
 * @ours:      our address on the guest's link: the gateway (v4), or link-local
 * @host_loopback: guest-visible alias of the host's loopback
 * @guest_alias:   guest-visible alias of @host
 * @dns_forward, @dns_host: guest-visible resolver, and the real one
 * @by_query:  what @dns_forward gets at port 53 is FWD_QUERY
 * @link:      interface index of the guest's link in its namespace
 * @scope:     interface that link-local destinations and groups of the guest
 *             leave by, 0: none
 * @broadcast: IPv4 broadcast address of the guest's subnet
 * @no_splice: loopback traffic takes the tap path
 * @to_loopback: spliced traffic goes to the namespace's loopback address */
struct fwd {
	struct addr guest[FAMILY_COUNT];
	struct addr host[FAMILY_COUNT];
	struct addr seen[FAMILY_COUNT];
	struct addr own[HOST_ADDRS_MAX];
	unsigned n_own;
	struct addr guest_ll;
	struct addr ours[FAMILY_COUNT];
	struct addr host_loopback[FAMILY_COUNT];
	struct addr guest_alias[FAMILY_COUNT];
	struct addr broadcast;
	struct addr dns_forward[FAMILY_COUNT];
	struct addr dns_host[FAMILY_COUNT];
	uint32_t link;
	uint32_t scope[FAMILY_COUNT];
	bool by_query;
	bool no_splice;
	bool to_loopback;
	enum fwd_filter filter;
};

/** enum fwd_kind - what sort of socket a conversation of the guest needs */
enum fwd_kind {
	FWD_SHARED, /* a map's socket, serves every remote */
	FWD_OWN, /* translated or loopback remote: a connected socket */
	FWD_OWN_ANY_PORT, /* DNS: the same on a kernel-chosen port */
	FWD_QUERY, /* DNS, @by_query: no flow, each on its own */
	FWD_GROUP, /* multicast, broadcast: a map's socket, anybody answers */
	FWD_REFUSE /* not a destination */
};

/** fwd_is_group() - multicast, or broadcast as the guest knows it? */
bool fwd_is_group(const struct fwd *f, const struct addr *dst);

/**
 * fwd_from_guest() - where a datagram of the guest goes
 * @dst:      as the guest addressed it
 * @ret_host: the same remote as the host sees it, untouched on FWD_REFUSE,
 *            FWD_QUERY; a
 *            group's scope is the interface to leave by, IPv4 too
 */
enum fwd_kind fwd_from_guest(const struct fwd *f, const struct end *dst,
			     struct end *ret_host);

/**
 * fwd_from_host() - how the guest sees a remote, and where it is reached
 * @peer:      remote as the host sees it
 * @ret_peer:  remote as the guest sees it, same port
 * @ret_guest: the guest's address to use with it; port 0
 * Returns: false if the guest cannot see this remote
 */
bool fwd_from_host(const struct fwd *f, const struct end *peer,
		   struct end *ret_peer, struct end *ret_guest);

#define FWD_PORT_TRIES 128 /* before there is no telling them apart */

/** fwd_other_port() - a port for a remote that would look to the guest like one
 * that is there already; @n: another number each time, for other ports */
uint16_t fwd_other_port(uint16_t port, uint32_t n);

/**
 * fwd_is_splice() - may traffic of this host peer go socket to socket?
 * @peer: remote     @is_lo: the datagram arrived on the loopback device
 */
bool fwd_is_splice(const struct fwd *f, const struct end *peer, bool is_lo);

/** fwd_splice_target() - namespace endpoint that spliced traffic goes to; its
 * address is unset if the guest has none */
struct end fwd_splice_target(const struct fwd *f, enum family family,
			     uint16_t port);

#endif
