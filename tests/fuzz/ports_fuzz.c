/* ports_fuzz.c - SPECs from arbitrary bytes
 *
 * The first byte chooses the environment, each further line is a SPEC for the
 * same table. Whatever they say: a refused one changes nothing and has a
 * message; a taken one leaves rules that are ordered, in range, and disjoint
 * for equal places to bind. */

#include "ports.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX 512 /* longer ones are slow and say nothing new */

static void check_rules(const struct ports_rule *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		assert(r[i].first && r[i].first <= r[i].last);
		assert(r[i].target &&
		       r[i].target + (r[i].last - r[i].first) <= 65535);
		assert(memchr(r[i].ifname, 0, IFNAME_SIZE));
		assert(r[i].has_bind || !addr_is_set(&r[i].bind));
		for (unsigned k = 0; k < i; k++)
			assert(r[k].last < r[i].first ||
			       r[k].first > r[i].last ||
			       r[k].has_bind != r[i].has_bind ||
			       !addr_eq(&r[k].bind, &r[i].bind) ||
			       strcmp(r[k].ifname, r[i].ifname));
	}
}

static void check_all(const struct ports *p, const struct ports_env *env)
{
	assert(p->n <= PORTS_RULES_MAX && p->n_auto <= PORTS_AUTO_MAX);
	assert(p->is_auto == (p->n_auto > 0));
	assert(!p->is_none || (!p->n && !p->n_auto));
	check_rules(p->rule, p->n);
	check_rules(p->auto_rule, p->n_auto);
	for (unsigned i = 0; i < p->n; i++) {
		const struct ports_rule *r = &p->rule[i];

		assert(!env->is_outbound || (!r->has_bind && !r->ifname[0]));
		assert(!r->has_bind || env->has[addr_family(&r->bind)]);
		assert(!r->is_weak || r->last < env->ephemeral_first ||
		       r->first > env->ephemeral_last);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ports p, before;
	struct ports_env env = { .ephemeral_first = 32768,
				 .ephemeral_last = 60999 };
	char msg[PORTS_ERR_MAX];
	char text[INPUT_MAX + 1];
	char *line = text;

	if (size < 1 || size > INPUT_MAX)
		return 0;
	env.is_outbound = data[0] & 1;
	env.has[FAMILY_V4] = !(data[0] & 2);
	env.has[FAMILY_V6] = !(data[0] & 4);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';

	memset(&p, 0, sizeof(p));
	while (line) {
		char *end = strchr(line, '\n');
		int rc;

		if (end)
			*end++ = '\0';
		memcpy(&before, &p, sizeof(p));
		memset(msg, 'x', sizeof(msg));
		rc = ports_parse(&p, line, &env, msg);
		assert(memchr(msg, 0, sizeof(msg)));
		assert(!rc || (msg[0] && !memcmp(&p, &before, sizeof(p))));
		check_all(&p, &env);
		line = end;
	}
	return 0;
}
