/* hostfwd.c - translation policy from the guest's network and the options
 *
 * Options say which aliases there shall be; what they leave open is decided by
 * the network that was chosen: the gateway is our own address on the link and,
 * unless somebody objects, stands for the host's loopback; the host's first
 * name server of a family is the one that is asked. Where it has an address
 * that the guest cannot use, and no alias was given, the loopback's alias
 * stands for it, too.
 *
 * Not here: what the policy does with a datagram (fwd.c), and how it follows
 * the host afterwards (follow.c). */

#include "hostfwd.h"

static struct addr first_set(const struct addr *a, const struct addr *b)
{
	return addr_is_set(a) ? *a : *b;
}

/* RFC 3021: subnets of 31 and 32 bits have none */
static struct addr broadcast_of(const struct guest_net *net)
{
	unsigned plen = net->plen[FAMILY_V4];
	struct addr a = net->addr[FAMILY_V4];
	unsigned i;

	if (!net->has[FAMILY_V4] || !addr_is_set(&a) || !plen || plen > 30)
		return addr_any6;
	for (i = plen; i < 32; i++)
		a.b[12 + i / 8] |= (uint8_t)(0x80 >> i % 8);
	return a;
}

/* Does a resolver of the host have an address that the guest would take for
 * its own, or that means the host's loopback to it? */
static bool needs_alias(const struct conf *c, const struct resolv *r,
			const struct addr *host_loopback, enum family f)
{
	unsigned i;

	for (i = 0; !c->has_dns[f] && i < r->n_dns[f]; i++)
		if (addr_is_loopback(&r->dns[f][i]) ||
		    addr_eq(&r->dns[f][i], host_loopback))
			return true;
	return false;
}

void hostfwd_policy(const struct conf *c, const struct guest_net *net,
		    const struct resolv *resolv, struct fwd *ret_fwd)
{
	struct addr alone = addr_v4(LOCAL_V4_GW);
	struct fwd fwd = {
		.no_splice = c->no_splice || c->target == TARGET_FD,
		.to_loopback = c->host_lo_to_ns_lo,
		.filter = c->udp_filter,
	};
	enum family f;
	unsigned i;

	for (f = 0; f < FAMILY_COUNT; f++) {
		if (!net->has[f])
			continue;
		fwd.guest[f] = net->addr[f];
		fwd.host[f] = net->addr[f];
		fwd.seen[f] = net->addr[f];
		fwd.ours[f] = f == FAMILY_V6 ? net->our_ll :
					       first_set(&net->gw[f], &alone);
		fwd.host_loopback[f] = hostnet_loopback(c, net, f);
		fwd.guest_alias[f] = c->map_guest_addr[f];
		fwd.dns_forward[f] = c->dns_forward[f];
		if (!addr_is_set(&fwd.dns_forward[f]) &&
		    needs_alias(c, resolv, &fwd.host_loopback[f], f))
			fwd.dns_forward[f] = fwd.host_loopback[f];
		fwd.dns_host[f] = first_set(&c->dns_host[f],
					    &resolv->dns[f][0]);
		fwd.scope[f] = net->ifindex[f];
	}
	fwd.broadcast = broadcast_of(net);
	for (i = 0; c->config_net && i < net->n_addrs; i++)
		fwd.own[fwd.n_own++] = net->addrs[i].addr;
	fwd.guest_ll = net->guest_ll;
	/* Link-local neighbours are there whether or not IPv6 has a template */
	if (!fwd.scope[FAMILY_V6])
		fwd.scope[FAMILY_V6] = net->ifindex[FAMILY_V4];
	*ret_fwd = fwd;
}
