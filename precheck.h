/* precheck.h - what this host offers, and what would have to change: --check
 * Knows: each precondition of the program, how it is tried, its cure.
 * Does not know: how the program meets a missing one; nothing is changed.
 *
 * Verdicts: ok; warn: it works with less; fail: namespaces cannot be served. */

#ifndef PRECHECK_H
#define PRECHECK_H

#include "hostnet.h"

/** struct precheck - what is known without trying
 * @resolv: the host's resolv.conf     @gid: group that the program will have */
struct precheck {
	const struct conf *conf;
	const struct resolv *resolv;
	gid_t gid;
};

/**
 * precheck_run() - try everything and print one line each on stdout: verdict,
 * name, state, cure; or JSON if conf says so:
 * {"version": .., "checks": [{"name", "verdict", "state", "cure"}..], "ok": ..}
 * Returns: the program's exit status: 0 if nothing failed, else 1
 */
int precheck_run(const struct precheck *c);

#endif
