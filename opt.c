/* opt.c - a table of options: its help text and its walk over a command line
 *
 * Problem: help text, short options, long options and dispatch are four lists
 * of the same things, and four lists do not stay equal.
 *
 * Idea: the table is the only list. getopt_long(3) gets its two arrays from it,
 * built anew on each call: that takes less time than reading one file, and no
 * state is left but getopt's own. A walk may be repeated from the start.
 *
 * Not here: conversion of arguments, and what to do about bad ones. */

#include "opt.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

#define ROW_VALUE 256 /* getopt_long() returns this plus the row's number */
#define HELP_COLUMN 34

static void arrays(const struct opt_walk *w, struct option *ret_long,
		   char *ret_short)
{
	*ret_short++ = '+'; /* stop at the first word */
	for (size_t i = 0; i < w->n; i++) {
		const struct opt *o = &w->opt[i];

		ret_long[i] = (struct option){
			.name = o->name,
			.has_arg = o->arg ? required_argument : no_argument,
			.val = ROW_VALUE + (int)i,
		};
		if (o->letter)
			*ret_short++ = o->letter;
		if (o->letter && o->arg)
			*ret_short++ = ':';
	}
	ret_long[w->n] = (struct option){ 0 };
	*ret_short = '\0';
}

static const struct opt *row_find(const struct opt_walk *w, int value)
{
	if (value >= ROW_VALUE)
		return &w->opt[value - ROW_VALUE];
	for (size_t i = 0; i < w->n; i++)
		if (w->opt[i].letter == value)
			return &w->opt[i];
	return NULL;
}

enum opt_found opt_next(struct opt_walk *w, const struct opt **ret_opt,
			const char **ret_arg)
{
	struct option longs[OPT_MAX + 1];
	char shorts[2 * OPT_MAX + 2];
	const struct opt *o;
	int value;

	assert(w->n <= OPT_MAX);
	arrays(w, longs, shorts);
	if (!w->i)
		optind = 0; /* glibc and musl: start anew */
	value = getopt_long(w->argc, w->argv, shorts, longs, NULL);
	w->i = optind;
	if (value == -1)
		return OPT_END;
	o = row_find(w, value);
	if (!o)
		return OPT_BAD;
	*ret_opt = o;
	*ret_arg = optarg;
	return OPT_ONE;
}

void opt_help(FILE *f, const struct opt_walk *w, unsigned hide)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct opt *o = &w->opt[i];
		char left[80];

		if (o->flags & hide)
			continue;
		snprintf(left, sizeof(left), "  %c%c%c --%s%s%s",
			 o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter ? ',' : ' ', o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
		if (strlen(left) < HELP_COLUMN)
			fprintf(f, "%-*s %s\n", HELP_COLUMN, left, o->help);
		else
			fprintf(f, "%s\n%-*s %s\n", left, HELP_COLUMN, "",
				o->help);
	}
}
