/* policy_test.c - rules as they are written, and what they cover */

#include "policy.h"

#include "check.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct end E(const char *addr, unsigned port) {
	struct addr a = { 0 };

	if (!addr_parse(addr, &a))
		ok(false, "not an address: %s", addr);
	return end_make(&a, (uint16_t)port, 0);
}

static const struct {
	const char *word;
	const char *wrong; /* NULL: good */
} words[] = {
	{ "192.0.2.1", NULL },
	{ "192.0.2.0/24", NULL },
	{ "192.0.2.0/24:53", NULL },
	{ "192.0.2.1:1-1023", NULL },
	{ "2001:db8::1", NULL },
	{ "2001:db8::/32", NULL },
	{ "2001:db8::/32:53", NULL },
	{ "[2001:db8::1]:53", NULL },
	{ "[2001:db8::]/32:53-54", NULL },
	{ "all", NULL },
	{ "all:53", NULL },
	{ "0.0.0.0/0", NULL },
	{ "", "not an address" },
	{ "allow", "not an address" },
	{ "example.org", "not an address" },
	{ "[2001:db8::1", "not an address" },
	{ "192.0.2.0/33", "prefix length" },
	{ "192.0.2.0/x", "prefix length" },
	{ "192.0.2.1:0", "empty" },
	{ "192.0.2.1:9-8", "empty" },
	{ "192.0.2.1:x", "port" },
	{ "192.0.2.1:1-70000", "last port" },
	{ "192.0.2.1:53,54", "something follows" },
	{ "192.0.2.0/24x", "something follows" },
	{ "11111111111111111111111111111111111111111111111111111111111111111",
	  "not an address" },
};

/* @rules: words, + allows, - denies; @host: "" if it has the same name */
static const struct {
	const char *name;
	const char *rules;
	const char *dst;
	unsigned port;
	const char *host;
	bool want;
} cases[] = {
	{ "no rule", "", "192.0.2.1", 53, "", true },
	{ "denied", "-192.0.2.0/24", "192.0.2.1", 53, "", false },
	{ "not covered by a denial", "-192.0.2.0/24", "192.0.3.1", 53, "",
	  true },
	{ "other family", "-0.0.0.0/0", "2001:db8::1", 53, "", true },
	{ "allowed", "+192.0.2.0/24", "192.0.2.1", 53, "", true },
	{ "not covered, something is allowed", "+192.0.2.0/24", "192.0.3.1", 53,
	  "", false },
	{ "first match: exception to a denial",
	  "+192.0.2.1:53 -192.0.2.0/24 +all", "192.0.2.1", 53, "", true },
	{ "first match: other port", "+192.0.2.1:53 -192.0.2.0/24 +all",
	  "192.0.2.1", 54, "", false },
	{ "first match: other address", "+192.0.2.1:53 -192.0.2.0/24 +all",
	  "198.51.100.1", 54, "", true },
	{ "all is both families", "-all:25", "2001:db8::1", 25, "", false },
	{ "all, other port", "-all:25", "2001:db8::1", 26, "", true },
	{ "range", "-[2001:db8::]/32:10-20", "2001:db8:9::1", 20, "", false },
	{ "behind the range", "-[2001:db8::]/32:10-20", "2001:db8:9::1", 21, "",
	  true },
	{ "alias by its inner name", "-192.0.2.254", "192.0.2.254", 7,
	  "127.0.0.1", false },
	{ "alias by its outer name", "-127.0.0.0/8", "192.0.2.254", 7,
	  "127.0.0.1", false },
	{ "no ports: covered by a rule without", "-192.0.2.1", "192.0.2.1", 0,
	  "", false },
	{ "no ports: not covered by a rule with", "-192.0.2.1:7", "192.0.2.1",
	  0, "", true },
};

static void writing(void)
{
	unsigned i;

	for (i = 0; i < COUNT(words); i++) {
		struct policy p = { .n = 0 }, before = p;
		const char *wrong = policy_add(&p, words[i].word, false);

		if (!words[i].wrong) {
			ok(!wrong, "'%s' is a rule", words[i].word);
			continue;
		}
		ok(wrong && strstr(wrong, words[i].wrong), "'%s': %s",
		   words[i].word, wrong ? wrong : "(taken)");
		is_mem(&p, &before, sizeof(p), "nothing changed");
	}
}

static void read_rules(const char *text, struct policy *ret)
{
	char copy[128], *save, *word;

	*ret = (struct policy){ .n = 0 };
	strcpy(copy, text);
	for (word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		ok(!policy_add(ret, word + 1, *word == '+'), "rule %s", word);
}

static void deciding(void)
{
	struct policy p;
	unsigned i;

	for (i = 0; i < COUNT(cases); i++) {
		struct end dst = E(cases[i].dst, cases[i].port), host = dst;

		if (*cases[i].host)
			host = E(cases[i].host, cases[i].port);
		read_rules(cases[i].rules, &p);
		is_int(policy_permits(&p, &dst, &host), cases[i].want, "%s",
		       cases[i].name);
	}
}

static void full(void)
{
	struct policy p = { .n = 0 };
	unsigned i;

	for (i = 0; i < POLICY_MAX - 1; i++)
		ok(!policy_add(&p, "192.0.2.1", false), "rule %u", i);
	ok(policy_add(&p, "192.0.2.1", false) != NULL, "one too many");
}

int main(void)
{
	writing();
	deciding();
	full();
	return done();
}
