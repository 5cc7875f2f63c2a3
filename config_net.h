/* config_net.h - give a tap its addresses and routes (--config-net)
 * Knows: in which order the kernel wants things.
 * Does not know: how they were chosen (hostnet.h). */

#ifndef CONFIG_NET_H
#define CONFIG_NET_H

#include "hostnet.h"

/** config_net_lo() - "lo" up; dies on failure
 * @fd: rtnetlink socket of the namespace, with CAP_NET_ADMIN there */
void config_net_lo(int fd);

/**
 * config_net_link() - what every tap gets: queue length, MAC
 * @fd: rtnetlink socket of the namespace, with CAP_NET_ADMIN there
 * @ret_link: the tap: ifindex, MAC as it now is
 * Dies with one line on failure; runs in the process that set-up runs in.
 */
void config_net_link(int fd, const struct conf *c, const struct guest_net *net,
		     struct nl_link *ret_link);

/**
 * config_net_apply() - MTU, up, addresses, routes
 * @tap: from config_net_link()
 * @ret_guest_ll: link-local address given to the tap; unset if IPv6 is off
 * IPv6 addresses are usable at once (no duplicate address detection). A host
 * route that this namespace cannot hold is skipped with a notice; a failing
 * address dies.
 */
void config_net_apply(int fd, const struct conf *c, const struct guest_net *net,
		      const struct nl_link *tap, struct addr *ret_guest_ll);

#endif
