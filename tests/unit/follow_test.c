/* follow_test.c - what stands behind the guest's view after a change */

#include "follow.h"

#include "check.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct nl_facts facts;

static struct addr A(const char *text) {
	struct addr a = { 0 };

	if (*text && !addr_parse(text, &a))
		ok(false, "not an address: %s", text);
	return a;
}

/* A plan; "": family without template, NULL: off */
static struct guest_net
plan(const char *v4, uint32_t ifindex)
{
	struct guest_net n = { .has = { v4 != NULL, false } };

	if (!v4)
		return n;
	n.is_local[FAMILY_V4] = !*v4;
	n.addr[FAMILY_V4] = A(*v4 ? v4 : "169.254.2.1");
	n.ifindex[FAMILY_V4] = ifindex;
	return n;
}

/* "192.0.2.1 127.0.0.1": addresses that the host has; -X is deprecated */
static void host_has(const char *list)
{
	char text[ADDR_STRLEN + 1];
	int n;

	memset(&facts, 0, sizeof(facts));
	for (; sscanf(list, "%46s%n", text, &n) == 1; list += n) {
		struct nl_addr *a = &facts.addr[facts.n_addrs++];
		bool is_old = *text == '-';

		a->addr = A(text + is_old);
		a->flags = is_old ? IFA_F_DEPRECATED : 0;
		if (addr_is_loopback(&a->addr))
			a->scope = RT_SCOPE_HOST;
	}
}

static const struct {
	const char *name;
	const char *promised;
	const char *now;
	const char *has;
	const char *want; /* the host's own address */
	uint32_t scope;
} rows[] = {
	{ "nothing changed", "192.0.2.1", "192.0.2.1", "127.0.0.1 192.0.2.1",
	  "192.0.2.1", 5 },
	{ "another address besides", "192.0.2.1", "192.0.2.7",
	  "192.0.2.7 192.0.2.1", "192.0.2.1", 5 },
	{ "a new lease", "192.0.2.1", "192.0.2.7", "127.0.0.1 192.0.2.7",
	  "192.0.2.7", 5 },
	{ "late network", "", "192.0.2.7", "127.0.0.1 192.0.2.7", "192.0.2.7",
	  5 },
	{ "no template, but an address", "192.0.2.1", "",
	  "127.0.0.1 -192.0.2.9 192.0.2.8", "192.0.2.8", 0 },
	{ "-a: not the host's", "10.0.2.100", "10.0.2.100", "192.0.2.1",
	  "192.0.2.1", 5 },
	{ "no network", "192.0.2.1", "", "127.0.0.1", "", 0 },
	{ "never had one", "", "", "127.0.0.1", "", 0 },
};

int main(void)
{
	char got[ADDR_STRLEN], want[ADDR_STRLEN];

	for (unsigned i = 0; i < COUNT(rows); i++) {
		struct guest_net promised = plan(rows[i].promised, 5);
		struct guest_net now = plan(rows[i].now, *rows[i].now ? 5 : 0);
		struct addr a = A(rows[i].want);
		struct fwd f = { .guest = { A("192.0.2.1") },
				 .seen = { A("192.0.2.3") },
				 .ours = { A("192.0.2.254") } };
		struct fwd before = f;

		host_has(rows[i].has);
		follow_policy(&promised, &now, &facts, &f);
		is_str(addr_format(&f.host[FAMILY_V4], got),
		       addr_format(&a, want), "%s", rows[i].name);
		is_int(f.scope[FAMILY_V4], rows[i].scope, "%s: interface",
		       rows[i].name);
		is_int(f.scope[FAMILY_V6], rows[i].scope,
		       "%s: IPv6's, without a template", rows[i].name);
		memset(f.host, 0, sizeof(f.host));
		memset(f.scope, 0, sizeof(f.scope));
		is_mem(&f, &before, sizeof(f), "%s: the rest stays",
		       rows[i].name);
	}
	return done();
}
