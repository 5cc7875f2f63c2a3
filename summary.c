/* summary.c - what was chosen, for people
 *
 * Most reports of a network that does not work are answered by one look at what
 * was taken from the host: the interface, the gateway, the resolvers. So it is
 * said at the start, unless --quiet was given, a fact a line. Lines that begin
 * a block have nothing behind their colon, the lines of a block are indented.
 *
 * What is off is left out. Not here: facts about single flows. */

#include "summary.h"

#include "log.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_LEN 256 /* two addresses or names, and words */

static const char *const family_name[FAMILY_COUNT] = { "IPv4", "IPv6" };

/* "title: X (IPv4), Y (IPv6)", without what is empty; no line if both are */
static void per_family(const char *title, const char *v4, const char *v6)
{
	const char *text[FAMILY_COUNT] = { v4, v6 };
	char line[LINE_MAX_LEN] = "";
	size_t n = 0;
	int f;

	for (f = 0; f < FAMILY_COUNT; f++)
		if (text[f] && *text[f])
			n += (size_t)snprintf(line + n, sizeof(line) - n,
					      "%s%s (%s)", n ? ", " : "",
					      text[f], family_name[f]);
	if (n)
		info("%s: %s", title, line);
}

/* The same for addresses, which show their family */
static void per_address(const char *title, const struct addr a[FAMILY_COUNT])
{
	char text[FAMILY_COUNT][ADDR_STRLEN] = { "", "" };
	int f;

	for (f = 0; f < FAMILY_COUNT; f++)
		if (addr_is_set(&a[f]))
			addr_format(&a[f], text[f]);
	if (*text[0] || *text[1])
		info("%s: %s%s%s", title, text[0],
		     *text[0] && *text[1] ? ", " : "", text[1]);
}

/* A line of a block */
static void fact(const char *name, const struct addr *a)
{
	char text[ADDR_STRLEN];

	if (addr_is_set(a))
		info("    %s%s%s", name, *name ? ": " : "",
		     addr_format(a, text));
}

static void log_mac(const char *name, const struct mac *m)
{
	info("    %s: %02x:%02x:%02x:%02x:%02x:%02x", name, m->b[0], m->b[1],
	     m->b[2], m->b[3], m->b[4], m->b[5]);
}

static void log_links(const struct conf *c, const struct guest_net *net)
{
	per_family("Template interface", net->ifname[FAMILY_V4],
		   net->ifname[FAMILY_V6]);
	per_family("Outbound interface", c->outbound_if[FAMILY_V4],
		   c->outbound_if[FAMILY_V6]);
	per_address("Outbound address", c->outbound);
	if (c->target != TARGET_FD)
		info("Namespace interface: %s", net->tap_name);
	info("MAC:");
	log_mac("host", &c->mac);
}

static void log_dhcp(const struct guest_net *net, const struct announce *told)
{
	uint32_t bits = net->plen[FAMILY_V4] ?
				UINT32_MAX << (32 - net->plen[FAMILY_V4]) :
				0;
	const struct addr mask = addr_v4(bits);

	info("DHCP:");
	fact("assign", &told->guest[FAMILY_V4]);
	fact("mask", &mask);
	fact("router", &net->gw[FAMILY_V4]);
}

static void log_ndp(const struct guest_net *net, const struct announce *told)
{
	info("NDP/DHCPv6:");
	fact("assign", &told->guest[FAMILY_V6]);
	fact("router", &net->gw[FAMILY_V6]);
	fact("our link-local", &net->our_ll);
}

static void log_names(const struct fwd *f, const struct announce *told)
{
	unsigned family, i;

	per_address("DNS forwarding from", f->dns_forward);
	if (told->n_dns[FAMILY_V4] + told->n_dns[FAMILY_V6])
		info("DNS:");
	for (family = 0; family < FAMILY_COUNT; family++)
		for (i = 0; i < told->n_dns[family]; i++)
			fact("", &told->dns[family][i]);
	if (told->n_search)
		info("DNS search list:");
	for (i = 0; i < told->n_search; i++)
		info("    %s", told->search[i]);
}

void summary_log(const struct conf *c, const struct guest_net *net,
		 const struct fwd *f, const struct announce *told)
{
	log_links(c, net);
	per_address("Host loopback", f->host_loopback);
	if (net->has[FAMILY_V4] && !c->no_dhcp)
		log_dhcp(net, told);
	if (net->has[FAMILY_V6] && !(c->no_ndp && c->no_dhcpv6))
		log_ndp(net, told);
	log_names(f, told);
}
