/* cmdline.h - the command line
 * Knows: every option, one row each.
 * Does not know: what the parts do with the values. */

#ifndef CMDLINE_H
#define CMDLINE_H

#include "conf.h"

/**
 * cmdline_parse() - read the command line; messages bear the program's name
 * @c: zeroed by the caller
 * On bad input it prints one line (what, which input, why, cure) and exits 1;
 * an option unknown to getopt_long() also prints the usage. --help and
 * --version print on stdout and exit 0.
 */
void cmdline_parse(struct conf *c, int argc, char **argv);

/** cmdline_version() - of the program */
const char *cmdline_version(void);

#endif
