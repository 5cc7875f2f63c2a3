/* hosttext.h - a host and a command line as text, for tests of hostnet
 *
 * A host is a few lines, one fact each:
 *
 *   link INDEX NAME [mtu N] [lo] [ptp]
 *   addr INDEX ADDRESS/LEN [link] [old] [failed] [noprefix]
 *   route INDEX PREFIX/LEN [via GATEWAY] [metric N] [mtu N] [weight N] [onlink]
 *         [kernel] [blackhole]
 *
 * read_host() and read_options() fill facts and conf. */

#ifndef HOSTTEXT_H
#define HOSTTEXT_H

#include "check.h"
#include "hostnet.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

/* A host with loopback alone, and one with a network */
#define LO "link 1 lo mtu 65536 lo\naddr 1 127.0.0.1/8\naddr 1 ::1/128\n"
#define ETH0 \
	LO "link 2 eth0\n" \
	   "addr 2 192.0.2.1/24\naddr 2 2001:db8::11/64\n" \
	   "addr 2 2001:db8::1/64\naddr 2 fe80::1:1/64 link\n" \
	   "route 2 0.0.0.0/0 via 192.0.2.254\nroute 2 192.0.2.0/24 kernel\n" \
	   "route 2 2001:db8::/64 kernel metric 256\n" \
	   "route 2 fe80::/64 metric 256\nroute 2 ::/0 via fe80::99 metric 9\n"

static struct conf conf;
static struct nl_facts facts;

static bool next_word(const char **at, char word[64])
{
	size_t len;

	*at += strspn(*at, " ");
	len = strcspn(*at, " \n");
	if (!len || len > 63)
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at += len;
	return true;
}

static struct addr need_addr(const char *word)
{
	struct addr a = addr_any6;

	if (strcmp(word, "::") && !addr_parse(word, &a))
		skip_all("broken test: %s", word);
	return a;
}

static uint8_t split_prefix(char *word, struct addr *ret)
{
	char *slash = strchr(word, '/');

	if (!slash)
		skip_all("broken test: %s", word);
	*slash = '\0';
	*ret = need_addr(word);
	return (uint8_t)atoi(slash + 1);
}

static void fact_link(const char *at, unsigned ifindex)
{
	struct nl_link *l = &facts.link[facts.n_links++];
	char word[64];

	l->ifindex = ifindex;
	l->mtu = 1500;
	next_word(&at, word);
	snprintf(l->name, sizeof(l->name), "%.15s", word);
	while (next_word(&at, word)) {
		if (!strcmp(word, "mtu") && next_word(&at, word))
			l->mtu = (uint32_t)atoi(word);
		else if (!strcmp(word, "lo"))
			l->flags |= IFF_LOOPBACK;
		else if (!strcmp(word, "ptp"))
			l->flags |= IFF_POINTOPOINT;
	}
}

static void fact_addr(const char *at, unsigned ifindex)
{
	struct nl_addr *a = &facts.addr[facts.n_addrs++];
	char word[64];

	a->ifindex = ifindex;
	next_word(&at, word);
	a->plen = split_prefix(word, &a->addr);
	while (next_word(&at, word)) {
		if (!strcmp(word, "link"))
			a->scope = RT_SCOPE_LINK;
		else if (!strcmp(word, "old"))
			a->flags |= IFA_F_DEPRECATED;
		else if (!strcmp(word, "failed"))
			a->flags |= IFA_F_DADFAILED;
		else if (!strcmp(word, "noprefix"))
			a->flags |= IFA_F_NOPREFIXROUTE;
	}
}

static void fact_route(const char *at, unsigned ifindex)
{
	struct nl_route *r = &facts.route[facts.n_routes++];
	char word[64], value[64];

	r->ifindex = ifindex;
	r->type = RTN_UNICAST;
	next_word(&at, word);
	r->plen = split_prefix(word, &r->dst);
	while (next_word(&at, word)) {
		if (!strcmp(word, "onlink"))
			r->flags = RTNH_F_ONLINK;
		else if (!strcmp(word, "blackhole"))
			r->type = RTN_BLACKHOLE;
		else if (!strcmp(word, "kernel"))
			r->proto = RTPROT_KERNEL;
		else if (!next_word(&at, value))
			skip_all("broken test: %s", word);
		else if (!strcmp(word, "via"))
			r->gw = need_addr(value);
		else if (!strcmp(word, "metric"))
			r->metric = (uint32_t)atoi(value);
		else if (!strcmp(word, "mtu"))
			r->mtu = (uint32_t)atoi(value);
		else if (!strcmp(word, "weight"))
			r->weight = (uint16_t)atoi(value);
	}
}

static void read_host(const char *at)
{
	char word[64], index[64];

	memset(&facts, 0, sizeof(facts));
	while (at && *at) {
		if (next_word(&at, word) && next_word(&at, index)) {
			if (!strcmp(word, "link"))
				fact_link(at, (unsigned)atoi(index));
			else if (!strcmp(word, "addr"))
				fact_addr(at, (unsigned)atoi(index));
			else if (!strcmp(word, "route"))
				fact_route(at, (unsigned)atoi(index));
		}
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
}

static void read_options(const char *at)
{
	static char keep[8][64];
	unsigned n_keep = 0;
	char word[64];
	struct addr a;

	memset(&conf, 0, sizeof(conf));
	conf.has[FAMILY_V4] = true;
	conf.has[FAMILY_V6] = true;
	conf.plen4 = -1;
	conf.mtu = MTU_DEFAULT;
	while (at && next_word(&at, word)) {
		char *value = keep[n_keep++];

		if (!strcmp(word, "-4")) {
			conf.has[FAMILY_V6] = false;
			continue;
		}
		if (!strcmp(word, "-6")) {
			conf.has[FAMILY_V4] = false;
			continue;
		}
		next_word(&at, value);
		if (!strcmp(word, "-i")) {
			conf.interface = value;
		} else if (!strcmp(word, "-I")) {
			snprintf(conf.ifname, sizeof(conf.ifname), "%.15s",
				 value);
		} else if (!strcmp(word, "-n")) {
			conf.plen4 = atoi(value);
		} else if (!strcmp(word, "-m")) {
			conf.mtu = (uint32_t)atoi(value);
		} else if (!strcmp(word, "--outbound-if4")) {
			conf.outbound_if[FAMILY_V4] = value;
		} else if (!strcmp(word, "--outbound-if6")) {
			conf.outbound_if[FAMILY_V6] = value;
		} else {
			a = need_addr(value);
			if (!strcmp(word, "-a"))
				conf.addr[addr_family(&a)] = a;
			else if (!strcmp(word, "-g"))
				conf.gw[addr_family(&a)] = a;
		}
	}
}

#endif
