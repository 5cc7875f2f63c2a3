/* announce.h - what the guest is told about its network
 * Knows: one struct, the source of all answers of DHCP, DHCPv6 and router
 * advertisements.  Does not know: how they are worded, where it comes from. */

#ifndef ANNOUNCE_H
#define ANNOUNCE_H

#include "addr.h"
#include "wire.h"

#define ANNOUNCE_DNS_MAX 4 /* of each family */
#define ANNOUNCE_SEARCH_MAX 6
#define ANNOUNCE_NAME_SIZE 256

/** struct announce - plain data; unset addresses are all zero
 * @guest:  address the guest shall have     @plen4: its prefix, IPv4
 * @ours:   our address on the link: gateway and server of IPv4; link-local
 * @mac:    our Ethernet address             @mtu:   0: not to be told
 * @duid_s: seconds from 2000 to our start: part of what we are called in DHCPv6
 * @dns, @search: resolvers and search list, @n_dns and @n_search of them
 * @hostname, @fqdn: the guest's names, NULL if it chooses itself; borrowed */
struct announce {
	struct addr guest[FAMILY_COUNT];
	struct addr ours[FAMILY_COUNT];
	uint8_t plen4;
	struct mac mac;
	uint32_t mtu;
	uint32_t duid_s;
	struct addr dns[FAMILY_COUNT][ANNOUNCE_DNS_MAX];
	unsigned n_dns[FAMILY_COUNT];
	char search[ANNOUNCE_SEARCH_MAX][ANNOUNCE_NAME_SIZE];
	unsigned n_search;
	const char *hostname;
	const char *fqdn;
};

#endif
