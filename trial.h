/* trial.h - try namespaces and a tap, and leave nothing behind
 * Knows: what is to be tried, in which order; what cures a failing tun device.
 * Does not know: how bad a failure is. */

#ifndef TRIAL_H
#define TRIAL_H

#include "tap.h"

/** struct trial - how far it came: errno values, 0 where it worked
 * @error:  of the trial itself: then nothing else is known
 * @userns: making a user namespace     @netns: a network namespace
 * @tap:    making a tap there, @what is the step that failed: "/dev/net/tun"
 *          or an ioctl's name; not tried after @netns
 * @tx_queue: making its queue longer   @offload: what it can */
struct trial {
	int error;
	int userns;
	int netns;
	int tap;
	int tx_queue;
	char what[32];
	enum offload offload;
};

/** trial_run() - try everything in a child process; root goes on without a
 * user namespace */
void trial_run(struct trial *ret);

/** trial_tun_cure() - what to do if /dev/net/tun or a tap fails with @error */
const char *trial_tun_cure(int error);

#endif
