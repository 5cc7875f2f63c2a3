/* policy.c - where the guest may begin to speak to
 *
 * A list of rules, the first that covers a destination decides. What none
 * covers is allowed as long as every rule denies: a list of exceptions. One
 * rule that allows turns it into a list of what is allowed.
 *
 * An alias (the gateway that stands for the host's loopback) is covered by
 * rules about either of its names, so "deny 127.0.0.0/8" means the host's
 * loopback however the guest calls it. Looked at once per conversation, so a
 * walk over the list is fast enough.
 *
 * Not here: what the host publishes, and answers. Those are not the guest's
 * to begin. */

#include "policy.h"

#include <stdlib.h>
#include <string.h>

#define WORD_MAX 64 /* longest address with brackets, and more than enough */

/* Decimal number up to @max; moves on behind it */
static bool number(const char **at, unsigned long max, unsigned long *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*ret = strtoul(*at, &end, 10);
	*at = end;
	return *ret <= max;
}

/* Where the address ends, and its first byte; NULL: brackets do not match */
static const char *split(const char *word, const char **ret_addr)
{
	const char *colon = strchr(word, ':');

	*ret_addr = word;
	if (*word == '[') {
		*ret_addr = word + 1;
		return strchr(word, ']');
	}
	if (strchr(word, '/'))
		return strchr(word, '/');
	if (colon && !strchr(colon + 1, ':'))
		return colon; /* IPv6 has two at least */
	return word + strlen(word);
}

/* [/LEN][:PORTS] */
static const char *tail(const char *at, unsigned bits, struct policy_rule *r)
{
	unsigned long n = bits, first = 1, last = 65535;

	if (*at == '/') {
		at++;
		if (!number(&at, bits, &n))
			return "the prefix length is too long, or no number";
	}
	r->plen = (uint8_t)n;
	if (*at == ':') {
		at++;
		if (!number(&at, 65535, &first))
			return "the port is no number from 1 to 65535";
		last = first;
		if (*at == '-') {
			at++;
			if (!number(&at, 65535, &last))
				return "the last port is no number up to 65535";
		}
		if (!first || last < first)
			return "the range of ports is empty";
	}
	/* Without ports every protocol is meant, those without ports too */
	r->first = (uint16_t)(first == 1 && last == 65535 ? 0 : first);
	r->last = (uint16_t)last;
	return *at ? "something follows that is neither /LEN nor :PORTS" : NULL;
}

static void append(struct policy *p, const struct policy_rule *r)
{
	p->rule[p->n++] = *r;
	p->has_allow |= r->is_allow;
}

const char *policy_add(struct policy *p, const char *word, bool is_allow)
{
	struct policy_rule r = { .is_allow = is_allow };
	bool is_all = !strncmp(word, "all", 3) && (!word[3] || word[3] == ':');
	const char *at, *wrong, *end = split(word, &at);
	char text[WORD_MAX] = "";

	if (p->n + 2 > POLICY_MAX)
		return "there are too many rules";
	if (is_all) {
		wrong = tail(word + 3, 0, &r);
		if (wrong)
			return wrong;
		r.prefix = addr_any4;
		append(p, &r);
		r.prefix = addr_any6;
		append(p, &r);
		return NULL;
	}
	if (!end || (size_t)(end - at) >= sizeof(text))
		return "this is not an address";
	memcpy(text, at, (size_t)(end - at));
	if (!addr_parse(text, &r.prefix))
		return "this is not an address";
	wrong = tail(end + (*end == ']'), addr_len(&r.prefix) * 8, &r);
	if (!wrong)
		append(p, &r);
	return wrong;
}

static bool covers(const struct policy_rule *r, const struct end *e)
{
	return e->port >= r->first && e->port <= r->last &&
	       addr_in_prefix(&e->addr, &r->prefix, r->plen);
}

bool policy_permits(const struct policy *p, const struct end *dst,
		    const struct end *host)
{
	const struct policy_rule *r;

	for (r = p->rule; r < p->rule + p->n; r++) {
		if (covers(r, dst) || (host && covers(r, host)))
			return r->is_allow;
	}
	return !p->has_allow;
}
