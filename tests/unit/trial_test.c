/* trial_test.c - the outcome hangs together, whatever this machine allows */

#include "trial.h"

#include "check.h"

#include <errno.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

static void cures(void)
{
	for (int error = 1; error < 134; error++)
		if (!*trial_tun_cure(error))
			ok(false, "a cure for error %d", error);
	ok(!!strstr(trial_tun_cure(ENOENT), "modprobe tun"), "missing device");
	ok(!!strstr(trial_tun_cure(ENOTTY), "mknod"), "another device");
	ok(!!strstr(trial_tun_cure(EACCES), "chmod"), "mode");
}

static void outcome(void)
{
	struct trial t;

	memset(&t, 0xee, sizeof(t));
	trial_run(&t);
	is_int(t.error, 0, "a child could be made");
	ok(!t.netns || t.userns || geteuid(), "root needs no user namespace");
	ok(!t.netns || !t.tap, "no tap is tried without a namespace");
	ok(!t.tap == !*t.what, "a failed step has a name");
	ok(t.offload <= OFFLOAD_USO, "offload is a level");
	ok(!if_nametoindex("check0"), "no interface is left here");
	is_int(waitpid(-1, NULL, WNOHANG), -1, "no child is left");
}

int main(void)
{
	cures();
	outcome();
	return done();
}
