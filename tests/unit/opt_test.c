/* opt_test.c - a small table: every way to write an option, and its help */

#include "check.h"
#include "opt.h"

#include <unistd.h>

static const struct opt table[] = {
	{ "all", 'a', 0, NULL, "flag with a letter", NULL, 0 },
	{ "bare", 0, 1, NULL, "flag without", NULL, 0 },
	{ "count", 'c', 0, "N", "argument with a letter", NULL, 0 },
	{ "a-very-long-name-of-an-option", 0, 2, "ARGUMENT", "wraps", NULL, 0 },
};

#define N_ROWS (sizeof(table) / sizeof(table[0]))
#define WORDS_MAX 16

/* Walk over words separated by blanks; "all= count=7 : REST" is what was found,
 * "!" a bad one */
static const char *walk(const char *line)
{
	static char text[256];
	char copy[256];
	char *argv[WORDS_MAX] = { 0 };
	char *save = NULL;
	struct opt_walk w = { table, N_ROWS, 0, argv, 0 };
	const struct opt *o = NULL;
	const char *arg = NULL;
	enum opt_found found;
	size_t at = 0;

	snprintf(copy, sizeof(copy), "prog %s", line);
	for (char *s = strtok_r(copy, " ", &save); s;
	     s = strtok_r(NULL, " ", &save))
		argv[w.argc++] = s;
	text[0] = '\0';
	while ((found = opt_next(&w, &o, &arg)) == OPT_ONE)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s=%s ",
				       o->name, arg ? arg : "");
	at += (size_t)snprintf(text + at, sizeof(text) - at, "%s",
			       found == OPT_BAD ? "!" : ":");
	while (found == OPT_END && w.i < w.argc)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s",
				       argv[w.i++]);
	return text;
}

static void test_walk(void)
{
	static const struct {
		const char *line;
		const char *want;
	} row[] = {
		{ "", ":" },
		{ "-a", "all= :" },
		{ "--all", "all= :" },
		{ "--bare -a", "bare= all= :" },
		{ "-c 7", "count=7 :" },
		{ "-c7", "count=7 :" },
		{ "-ac7", "all= count=7 :" },
		{ "--count 7", "count=7 :" },
		{ "--count=7", "count=7 :" },
		{ "--cou 7", "count=7 :" },
		{ "-c -a", "count=-a :" },
		{ "-a x -c 7", "all= : x -c 7" },
		{ "-a -- -c 7", "all= : -c 7" },
		{ "-a -x", "all= !" },
		{ "--nothing", "!" },
		{ "--a", "!" },
		{ "--all=1", "!" },
		{ "--count", "!" },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		is_str(walk(row[i].line), row[i].want, "'%s'", row[i].line);
		is_str(walk(row[i].line), row[i].want, "once more");
	}
}

static void test_help(void)
{
	struct opt_walk w = { table, N_ROWS, 0, NULL, 0 };
	static char text[4096];
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (!f)
		return;
	opt_help(f, &w, 1);
	fclose(f);
	is_str(text,
	       "  -a, --all                        flag with a letter\n"
	       "  -c, --count N                    argument with a letter\n"
	       "      --a-very-long-name-of-an-option ARGUMENT\n"
	       "                                   wraps\n",
	       "help without rows of flag 1");
}

int main(void)
{
	/* getopt_long() complains as it should: not here */
	if (!freopen("/dev/null", "w", stderr))
		skip_all("no /dev/null");
	test_walk();
	test_help();
	return done();
}
