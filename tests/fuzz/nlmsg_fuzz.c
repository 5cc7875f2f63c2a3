/* nlmsg_fuzz.c - any bytes as an answer of the kernel
 *
 * The first byte says what is asked for, the rest is one datagram. Besides not
 * reading outside (the address sanitizer sees that): counts stay within their
 * tables, names end, prefixes fit their family, the verdict is one of those
 * promised, and reading twice gives the same. */

#include "nlmsg.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct nl_facts facts, again;
static struct port_set ports;

static void check(const struct nl_facts *f)
{
	const struct nl_route *r;
	unsigned i;

	assert(f->n_links <= HOST_ADDRS_MAX);
	assert(f->n_addrs <= HOST_ADDRS_MAX);
	assert(f->n_routes <= HOST_ROUTES_MAX);
	for (i = 0; i < f->n_links; i++) {
		assert(memchr(f->link[i].name, '\0', IFNAME_SIZE));
		assert(f->link[i].ifindex);
	}
	for (i = 0; i < f->n_addrs; i++)
		assert(f->addr[i].plen <= 8 * addr_len(&f->addr[i].addr));
	for (i = 0; i < f->n_routes; i++) {
		r = &f->route[i];
		assert(r->plen <= 8 * addr_len(&r->dst));
		assert(!(r->flags & ~4u)); /* RTNH_F_ONLINK */
	}
}

/* Clears only what the last input used: the tables are large */
static void clear(struct nl_facts *f)
{
	memset(f->link, 0, f->n_links * sizeof(*f->link));
	memset(f->addr, 0, f->n_addrs * sizeof(*f->addr));
	memset(f->route, 0, f->n_routes * sizeof(*f->route));
	f->n_links = 0;
	f->n_addrs = 0;
	f->n_routes = 0;
	f->is_cut = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nl_link link = { 0 };
	struct nl_drops drops = { 0 };
	struct nl_sink to = { 0 };
	int rc;

	if (!size)
		return 0;
	to.take_torn = data[0] & 0x80;
	if (data[0] & 1)
		to.ports = &ports;
	else if (data[0] & 2)
		to = (struct nl_sink){ .link = &link, .drops = &drops };
	else
		to.facts = &facts;

	clear(&facts);
	rc = nlmsg_read(data + 1, size - 1, &to);
	assert(rc <= 1 && rc > -4096);
	assert(memchr(link.name, '\0', IFNAME_SIZE));
	assert(!port_set_has(&ports, 0));
	check(&facts);

	if (!to.facts)
		return 0;
	clear(&again);
	to.facts = &again;
	assert(nlmsg_read(data + 1, size - 1, &to) == rc);
	assert(again.n_links == facts.n_links);
	assert(again.n_addrs == facts.n_addrs);
	assert(again.n_routes == facts.n_routes);
	return 0;
}
