/* hostnet.h - what the guest's network takes over from the host's
 * Knows: how a template interface, gateway and addresses are chosen.
 * Does not know: netlink messages, how a link is configured. Pure. */

#ifndef HOSTNET_H
#define HOSTNET_H

#include "conf.h"
#include "netlink.h"
#include "resolv.h"

/* 169.254.2.2: our own address on the link where there is no gateway */
#define LOCAL_V4_GW 0xa9fe0202u

/** struct guest_net - the guest's network as it shall be
 * @has:     family is in use
 * @is_local: family has no template on the host: link-local addresses only
 * @addr, @plen: assigned address     @gw: default gateway; unset: none
 * @our_ll:  our IPv6 link-local address on the link
 * @guest_ll: the guest's; unset until known (config_net gives it)
 * @ifindex, @ifname: template interface per family; 0 and "" if none
 * @tap_name: name of the tap      @mtu: of the tap, 0: do not assign
 * @link_mtu: of the host's link, if smaller than the tap's; else 0
 * @addrs:   of the tap, in the order of the host
 * @routes:  in the order that the kernel takes them, @ifindex 0; those that
 *           leave by a gateway over a smaller host link carry its MTU */
struct guest_net {
	bool has[FAMILY_COUNT];
	bool is_local[FAMILY_COUNT];
	struct addr addr[FAMILY_COUNT];
	uint8_t plen[FAMILY_COUNT];
	struct addr gw[FAMILY_COUNT];
	struct addr our_ll;
	struct addr guest_ll;
	uint32_t ifindex[FAMILY_COUNT];
	char ifname[FAMILY_COUNT][IFNAME_SIZE];
	char tap_name[IFNAME_SIZE];
	uint32_t mtu;
	uint32_t link_mtu[FAMILY_COUNT];
	struct nl_addr addrs[HOST_ADDRS_MAX];
	unsigned n_addrs;
	struct nl_route routes[HOST_ROUTES_MAX];
	unsigned n_routes;
};

#define HOSTNET_ERR_MAX 160

/**
 * hostnet_plan() - choose everything
 * Returns: 0; -EINVAL with one line of text: a named interface is missing, an
 * outbound interface has no usable family, or both families are off. IPv6 is
 * off where the host has no IPv6 address at all, ::1 included.
 */
int hostnet_plan(const struct conf *c, const struct nl_facts *facts,
		 struct guest_net *ret_net,
		 char ret_err[static HOSTNET_ERR_MAX]);

/** hostnet_loopback() - what stands for the host's loopback address in the
 * guest; unset: nothing */
struct addr hostnet_loopback(const struct conf *c, const struct guest_net *net,
			     enum family f);

#endif
