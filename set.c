/* set.c - the argument of one option into struct conf
 *
 * Problem: some ninety options have arguments of a dozen kinds, and what is
 * wrong with one must be said in a line that names the option, its argument and
 * the cure, since the reader may be a person who sees only podman's output.
 *
 * Idea: a setter per kind of argument, shared by all rows of that kind; the row
 * says which field. Notations are read by word.c, which says what is wrong in a
 * few words; here the option and the argument are put in front, and the cure
 * behind it. Of several occurrences the last wins, since each overwrites; lists
 * are the exception.
 *
 * Not here: what follows from several options together (cmdline.c), and whether
 * interfaces, namespaces or files exist: those who use them find out. */

#include "set.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_MAX 86400 /* of any option that takes a time */

/* One line about the argument of an option, and the end */
__attribute__((format(printf, 2, 3))) _Noreturn static void
bad(const struct parse *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("--%s '%s': %s", p->row->name, p->arg, text);
}

/* The end, if something is @wrong with the argument of an option */
static void judge(const struct parse *p, const char *wrong, const char *cure)
{
	if (wrong)
		bad(p, "%s%s%s", wrong, cure ? ", " : "", cure ? cure : "");
}

static void *field(const struct parse *p)
{
	return (char *)p->c + p->row->at;
}

void set_flag(struct parse *p)
{
	*(bool *)field(p) = true;
}

void set_text(struct parse *p)
{
	if (!*p->arg)
		bad(p, "it is empty, a path is needed");
	*(const char **)field(p) = p->arg;
}

void set_false(struct parse *p)
{
	*(bool *)field(p) = false;
}

void set_nothing(struct parse *p)
{
	(void)p;
}

void set_absent(struct parse *p)
{
	die("--%s: it is not part of this version", p->row->name);
}

void set_stderr(struct parse *p)
{
	if (!p->has_warned)
		warn("--%s is deprecated and has no effect", p->row->name);
	p->has_warned = true;
}

/* -d and --trace cancel -q, -q cancels both */
void set_level(struct parse *p)
{
	enum log_level *level = &p->c->level;

	if (p->row->letter == 'q')
		*level = LEVEL_WARN;
	else if (p->row->letter != 'd')
		*level = LEVEL_TRACE;
	else if (*level < LEVEL_DEBUG)
		*level = LEVEL_DEBUG;
}

void set_only(struct parse *p)
{
	p->c->has[FAMILY_V4] = p->row->letter == '4';
	p->c->has[FAMILY_V6] = p->row->letter == '6';
}

void set_seconds(struct parse *p)
{
	unsigned long n;

	if (!word_number(p->arg, 10, SECONDS_MAX, &n) || !n)
		bad(p, "give seconds, 1 to %d", SECONDS_MAX);
	*(unsigned *)field(p) = (unsigned)n;
}

/* Below this, cutting would be all that a busy log does */
void set_log_size(struct parse *p)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned long least = 5UL *
			      (page > BUFSIZ ? (unsigned long)page : BUFSIZ);
	unsigned long n;

	if (!word_number(p->arg, 0, UINT32_MAX, &n) || n < least)
		bad(p, "give %lu to %lu bytes", least,
		    (unsigned long)UINT32_MAX);
	p->c->log_size = (uint32_t)n;
}

/* --fd and --socket are two ways to the guest: the last one wins */
void set_fd(struct parse *p)
{
	unsigned long n;

	if (!word_number(p->arg, 0, INT32_MAX, &n) || n <= 2)
		bad(p, "give the number of an open socket above 2");
	p->c->fd = (int)n;
}

void set_socket(struct parse *p)
{
	if (!*p->arg)
		bad(p, "it is empty, a path is needed");
	p->c->fd = -1;
}

void set_mtu(struct parse *p)
{
	unsigned long n;

	if (!word_number(p->arg, 0, MTU_MAX, &n) || (n && n < MTU_MIN))
		bad(p, "give %d to %d bytes, or 0 to leave it alone", MTU_MIN,
		    MTU_MAX);
	p->c->mtu = (uint32_t)n;
}

void set_runas(struct parse *p)
{
	judge(p, word_identity(p->arg, &p->c->uid, &p->c->gid), NULL);
	p->c->has_runas = true;
}

void set_domain(struct parse *p)
{
	judge(p, word_domain(p->arg), NULL);
	*(const char **)field(p) = p->arg;
}

void set_interface(struct parse *p)
{
	judge(p, word_ifname(p->arg), NULL);
	*(const char **)field(p) = p->arg;
}

void set_ns_ifname(struct parse *p)
{
	judge(p, word_ifname(p->arg), NULL);
	snprintf(p->c->ifname, sizeof(p->c->ifname), "%s", p->arg);
}

void set_mac(struct parse *p)
{
	judge(p, word_mac(p->arg, field(p)), NULL);
}

void set_ns_mac(struct parse *p)
{
	set_mac(p);
	p->c->has_ns_mac = true;
}

void set_addr(struct parse *p)
{
	struct addr *pair = field(p);
	struct addr a;

	if (p->row->flags & NONE_OK && !strcmp(p->arg, "none")) {
		pair[FAMILY_V4] = addr_any6;
		pair[FAMILY_V6] = addr_any6;
		if (pair == p->c->map_host_loopback)
			p->c->no_map_gw = true;
		return;
	}
	judge(p, word_addr(p->arg, p->row->flags & ADDR_FLAGS, &a),
	      p->row->flags & NONE_OK ? "give another, or none" :
					"give another");
	pair[addr_family(&a)] = a;
}

/* "none" takes back all that is said about resolvers, and resolv.conf's word;
 * what exceeds the list is left out, as libc does with resolv.conf */
void set_dns(struct parse *p)
{
	struct conf *c = p->c;
	struct addr a;
	enum family f;

	if (!strcmp(p->arg, "none")) {
		for (f = FAMILY_V4; f < FAMILY_COUNT; f++) {
			c->n_dns[f] = 0;
			c->has_dns[f] = true;
			c->dns_forward[f] = addr_any6;
			c->dns_host[f] = addr_any6;
		}
		return;
	}
	judge(p, word_addr(p->arg, p->row->flags & ADDR_FLAGS, &a),
	      "give another, or none");
	f = addr_family(&a);
	c->has_dns[f] = true;
	if (c->n_dns[f] < CONF_DNS_MAX)
		c->dns[f][c->n_dns[f]++] = a;
}

/* One domain, or several with blanks between, as QEMU passes them */
void set_search(struct parse *p)
{
	struct conf *c = p->c;
	const char *s = p->arg + strspn(p->arg, " ");
	char name[CONF_NAME_SIZE];

	if (!*s)
		bad(p, "it is empty, give domains, or none");
	c->has_search = true;
	if (!strcmp(s, "none")) {
		c->n_search = 0;
		return;
	}
	while (*s) {
		size_t len = strcspn(s, " ");

		snprintf(name, sizeof(name), "%.*s", (int)len, s);
		judge(p, len < sizeof(name) ? word_domain(name) : "too long",
		      NULL);
		if (c->n_search < CONF_SEARCH_MAX)
			memcpy(c->search[c->n_search++], name, sizeof(name));
		s += len;
		s += strspn(s, " ");
	}
}

/* An IPv6 subnet has 64 bits, RFC 4862 5.5.3 d */
void set_address(struct parse *p)
{
	struct addr a;
	int plen;

	judge(p, word_addr_plen(p->arg, p->row->flags & ADDR_FLAGS, &a, &plen),
	      "give another");
	if (addr_is_v4(&a))
		p->plen4 = plen;
	else if (plen != -1 && plen != 64)
		bad(p, "the prefix length of IPv6 must be 64");
	p->c->addr[addr_family(&a)] = a;
}

void set_netmask(struct parse *p)
{
	judge(p, word_netmask(p->arg, &p->mask4), NULL);
}

void set_userns(struct parse *p)
{
	set_text(p);
	p->c->is_netns_only = false;
}

void set_netns_only(struct parse *p)
{
	set_flag(p);
	p->c->userns = NULL;
}

void set_netns(struct parse *p)
{
	set_text(p);
	if (strchr(p->arg, '/'))
		return;
	if (strlen(p->arg) >= CONF_NAME_SIZE)
		bad(p, "this name is too long");
	snprintf(p->c->netns_path, sizeof(p->c->netns_path), "%s%s",
		 CONF_NETNS_DIR, p->arg);
	p->c->netns = p->c->netns_path;
}

/* Index of a word in the list that the row calls its argument */
static int choice(const struct parse *p)
{
	int i = word_choice(p->arg, p->row->arg);

	if (i < 0)
		bad(p, "give one of %s", p->row->arg);
	return i;
}

#define RULE_CURE "give ADDR[/LEN][:PORTS], or all[:PORTS]"

void set_allow(struct parse *p)
{
	judge(p, policy_add(&p->c->policy, p->arg, true), RULE_CURE);
}

void set_deny(struct parse *p)
{
	judge(p, policy_add(&p->c->policy, p->arg, false), RULE_CURE);
}

void set_filter(struct parse *p)
{
	static_assert(FILTER_ADDRESS == 0 && FILTER_ENDPOINT == 1 &&
			      FILTER_PORT == 2,
		      "the order of the words");
	p->c->udp_filter = (enum fwd_filter)choice(p);
}

void set_offload(struct parse *p)
{
	static_assert(OFFLOAD_NONE == 0 && OFFLOAD_CSUM == 1 &&
			      OFFLOAD_TSO == 2 && OFFLOAD_USO == 3,
		      "the order of the words");
	p->c->offload = (enum offload)choice(p);
}

void set_ports(struct parse *p)
{
	char text[PORTS_ERR_MAX];

	p->env.is_outbound = p->row->flags & PASS_OUT;
	if (ports_parse(field(p), p->arg, &p->env, text))
		bad(p, "%s", text);
	if (*text)
		warn("--%s '%s': %s", p->row->name, p->arg, text);
}
