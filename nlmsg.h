/* nlmsg.h - what the kernel's netlink messages say, as plain facts
 * Knows: rtnetlink(7), sock_diag(7) messages.  Does not know: sockets, what to
 * do with the facts. Pure. */

#ifndef NLMSG_H
#define NLMSG_H

#include "addr.h"
#include "limits.h"
#include "ports.h"
#include "wire.h"

#include <stddef.h>

/** struct nl_link - a network interface; @flags: IFF_*, @type: ARPHRD_* */
struct nl_link {
	uint32_t ifindex;
	uint32_t mtu;
	uint32_t flags;
	uint16_t type;
	char name[IFNAME_SIZE];
	struct mac mac;
};

/** struct nl_addr - an address of an interface
 * @flags: IFA_F_*   @scope: RT_SCOPE_*   @plen: prefix length */
struct nl_addr {
	struct addr addr;
	uint32_t ifindex;
	uint32_t flags;
	uint8_t plen;
	uint8_t scope;
};

/** struct nl_route - a route of the main table, one next hop
 * @dst, @plen: prefix; plen 0 is a default route
 * @gw:      next hop; not set: on-link     @metric: RTA_PRIORITY
 * @src:     preferred source; only written, never read
 * @ifindex: output interface               @mtu: RTAX_MTU, 0 none
 * @weight:  hops of a multipath route have it > 0, others 0
 * @flags:   RTNH_F_ONLINK only             @type: RTN_*, @scope: RT_SCOPE_* */
struct nl_route {
	struct addr dst;
	struct addr gw;
	struct addr src;
	uint32_t ifindex;
	uint32_t metric;
	uint32_t mtu;
	uint32_t flags;
	uint16_t weight;
	uint8_t plen;
	uint8_t scope;
	uint8_t type;
	uint8_t proto;
};

/** struct nl_facts - everything the kernel said, in its order
 * Full tables are cut, and @is_cut says so. */
struct nl_facts {
	struct nl_link link[HOST_ADDRS_MAX];
	struct nl_addr addr[HOST_ADDRS_MAX];
	struct nl_route route[HOST_ROUTES_MAX];
	unsigned n_links;
	unsigned n_addrs;
	unsigned n_routes;
	bool is_cut;
};

/** struct nl_drops - drop counters of a link, in frames */
struct nl_drops {
	uint64_t tx_dropped;
	uint64_t rx_dropped;
};

/** struct nl_sink - what an answer is read into; NULL: not wanted
 * @ports:     set for sock_diag answers, then nothing else
 * @take_torn: read on where the kernel says that the table has changed */
struct nl_sink {
	struct nl_facts *facts;
	struct nl_link *link;
	struct nl_drops *drops;
	struct port_set *ports;
	bool take_torn;
};

/**
 * nlmsg_read() - read one datagram of an answer; pure, any bytes will do
 * Unknown and malformed attributes and messages are passed over.
 * Returns: 0 if more datagrams follow; 1 at the end of the answer; the
 * kernel's -errno; -EINTR: table changed, ask again; -EBADMSG
 */
int nlmsg_read(const void *buf, size_t len, const struct nl_sink *to);

#endif
