/* brief.c - what the guest is to be told about its network
 *
 * The guest is given the host's address, and us as its gateway: the same that
 * --config-net would set. A host without a gateway, as behind a tunnel, has no
 * address there that the guest could use; ours on the link stands in for it.
 *
 * Resolvers need a thought more. Those of options are passed on as they are.
 * The host's own can be reached by their addresses, unless that address means
 * something else to the guest: loopback, which is its own, or the alias of the
 * host's loopback. In place of those the guest is told the address whose
 * queries are forwarded (hostfwd_policy() made sure that there is one). */

#include "brief.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define SECONDS_TO_2000 946684800 /* from 1970 */

static_assert(ANNOUNCE_DNS_MAX >= CONF_DNS_MAX, "-D fits");
static_assert(ANNOUNCE_DNS_MAX >= RESOLV_DNS_MAX, "name servers fit");
static_assert(ANNOUNCE_NAME_SIZE >= CONF_NAME_SIZE, "-S fits");
static_assert(ANNOUNCE_NAME_SIZE >= RESOLV_NAME_SIZE, "search list fits");

static void add_dns(struct announce *a, const struct addr *dns)
{
	enum family f;
	unsigned i;

	if (!addr_is_set(dns))
		return;
	f = addr_family(dns);
	for (i = 0; i < a->n_dns[f]; i++)
		if (addr_eq(&a->dns[f][i], dns))
			return;
	if (i < ANNOUNCE_DNS_MAX)
		a->dns[f][a->n_dns[f]++] = *dns;
}

static void tell_resolvers(const struct conf *c, const struct fwd *fwd,
			   const struct resolv *r, enum family f,
			   struct announce *a)
{
	const struct addr *dns;
	unsigned i;

	if (c->has_dns[f]) {
		for (i = 0; i < c->n_dns[f]; i++)
			add_dns(a, &c->dns[f][i]);
		return;
	}
	for (i = 0; i < r->n_dns[f]; i++) {
		dns = &r->dns[f][i];
		if (addr_is_loopback(dns) ||
		    addr_eq(dns, &fwd->host_loopback[f]))
			dns = &fwd->dns_forward[f];
		add_dns(a, dns);
	}
}

static void add_search(struct announce *a, const char *name)
{
	if (a->n_search < ANNOUNCE_SEARCH_MAX)
		memcpy(a->search[a->n_search++], name, strlen(name) + 1);
}

void brief_dns(const struct conf *c, const struct fwd *f,
	       const struct resolv *r, struct announce *a)
{
	enum family family;
	unsigned i;

	memset(a->n_dns, 0, sizeof(a->n_dns));
	a->n_search = 0;
	for (family = 0; c->has_dhcp_dns && family < FAMILY_COUNT; family++)
		tell_resolvers(c, f, r, family, a);
	if (!c->has_dhcp_search)
		return;
	for (i = 0; c->has_search && i < c->n_search; i++)
		add_search(a, c->search[i]);
	for (i = 0; !c->has_search && i < r->n_search; i++)
		add_search(a, r->search[i]);
}

static uint32_t seconds_since_2000(void)
{
	time_t now = time(NULL);

	return now > SECONDS_TO_2000 ? (uint32_t)(now - SECONDS_TO_2000) : 0;
}

void brief_guest(const struct conf *c, const struct guest_net *net,
		 const struct fwd *f, const struct resolv *r,
		 struct announce *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->guest, f->guest, sizeof(ret->guest));
	memcpy(ret->ours, f->ours, sizeof(ret->ours));
	ret->plen4 = net->plen[FAMILY_V4];
	ret->mac = c->mac;
	ret->mtu = c->mtu;
	ret->duid_s = seconds_since_2000();
	ret->hostname = c->hostname;
	ret->fqdn = c->fqdn;
	brief_dns(c, f, r, ret);
}
