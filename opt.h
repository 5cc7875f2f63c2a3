/* opt.h - a table of options: its help text and its walk over a command line
 * Knows: getopt_long(3), how help is laid out.
 * Does not know: what an option means. */

#ifndef OPT_H
#define OPT_H

#include <stddef.h>
#include <stdio.h>

#define OPT_MAX 120 /* rows of a table */

struct parse; /* of the table's owner */

/** struct opt - one option
 * @name:   long name           @letter: short one, or 0
 * @flags:  for the owner, and @hide of opt_help()
 * @arg:    what its argument is called, NULL: takes none
 * @help:   what it does, in a few words
 * @set:    takes it            @at: for @set */
struct opt {
	const char *name;
	char letter;
	unsigned flags;
	const char *arg;
	const char *help;
	void (*set)(struct parse *p);
	size_t at;
};

/** struct opt_walk - @opt, @n: the table; @argc, @argv: the command line;
 * @i: index of the next word, 0 before the first call */
struct opt_walk {
	const struct opt *opt;
	size_t n;
	int argc;
	char **argv;
	int i;
};

/** enum opt_found - OPT_BAD: not in the table, or argument missing; what is
 * wrong was printed as getopt_long() words it, which callers rely on */
enum opt_found { OPT_END, OPT_BAD, OPT_ONE };

/**
 * opt_next() - step to the next option; stops at the first other word
 * @ret_opt: its row    @ret_arg: its argument or NULL
 */
enum opt_found opt_next(struct opt_walk *w, const struct opt **ret_opt,
			const char **ret_arg);

/** opt_help() - print the table, without rows that have a flag of @hide */
void opt_help(FILE *f, const struct opt_walk *w, unsigned hide);

#endif
