/* listen_test.c - how many sockets published ports need
 *
 * What listeners do is tested with their protocols: udp_listen_test.c,
 * tcp_listen_test.c. */

#include "listen.h"

#include "check.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct ports rules[2];

static void put(struct ports *p, const char *spec)
{
	const struct ports_env env = { 32768, 60999, false, { true, true } };
	char text[PORTS_ERR_MAX];

	*p = (struct ports){ 0 };
	if (ports_parse(p, spec, &env, text))
		ok(false, "%s: %s", spec, text);
}

int main(void)
{
	static const struct {
		const char *tcp, *udp;
		uint64_t limit;
		bool want;
	} row[] = {
		{ "none", "5000", 1024, false },
		{ "none", "5000-14999", 1024, true },
		{ "none", "5000-14999", 524288, false },
		{ "none", "1-448", 1024, false }, /* 896 + 64 + 64 = 1024 */
		{ "none", "1-449", 1024, true },
		{ "1-448", "none", 1024, false },
		{ "1-224", "1-224", 1024, false },
		{ "1-225", "1-224", 1024, true },
	};
	const struct ports *const p[] = { &rules[0], &rules[1] };

	for (unsigned i = 0; i < COUNT(row); i++) {
		put(&rules[0], row[i].tcp);
		put(&rules[1], row[i].udp);
		is_int(listen_dual(p, 2, row[i].limit), row[i].want,
		       "TCP %s and UDP %s with %u descriptors", row[i].tcp,
		       row[i].udp, (unsigned)row[i].limit);
	}
	return done();
}
