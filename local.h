/* local.h - what the guest asks that is answered here, never passed on
 * Knows: ARP, discovery, DHCP, DHCPv6 and which of them are wanted.
 * Does not know: how the answers are worded (arp.h, ndp.h, dhcp.h, dhcp6.h). */

#ifndef LOCAL_H
#define LOCAL_H

#include "announce.h"
#include "fwd.h"
#include "hash.h"
#include "loop.h"
#include "pkt.h"
#include "stats.h"
#include "tap.h"

/** struct local - the answering side
 * @tap, @fwd, @loop, @stats: borrowed; @fwd learns the guest's addresses
 * @announce: what the guest is told, may change at any time
 * @key:     source of random intervals
 * @no_dhcp, @no_dhcpv6, @no_ndp, @no_ra: requests are swallowed
 * @advert, @advert_ms: next router advertisement that nobody asked for */
struct local {
	struct tap *tap;
	struct fwd *fwd;
	struct loop *loop;
	struct stats *stats;
	struct announce announce;
	struct hash_key key;
	bool no_dhcp;
	bool no_dhcpv6;
	bool no_ndp;
	bool no_ra;
	struct timer advert;
	int64_t advert_ms;
};

/** local_init() - schedule router advertisements, if wanted; the other members
 * are set */
void local_init(struct local *l);

/** local_arp() - take in a PKT_ARP */
void local_arp(struct local *l, const struct pkt *p);

/** local_icmp() - take in a PKT_ICMP if it is neighbour or router discovery
 * Returns: false if it is not */
bool local_icmp(struct local *l, const struct pkt *p);

/** local_udp() - take in a PKT_UDP if it is for a DHCP or DHCPv6 server,
 * whichever the guest means
 * Returns: false if it is not */
bool local_udp(struct local *l, const struct pkt *p);

#endif
