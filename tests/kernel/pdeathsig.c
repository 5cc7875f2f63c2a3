/* pdeathsig.c - PID 1 of a PID namespace dies with its parent if it asks to
 *
 * Proves: PR_SET_PDEATHSIG with SIGKILL works for PID 1 of a PID namespace when
 * its parent outside is killed by SIGKILL, and takes the namespace with it. */

#include <sys/prctl.h>
#include "lib.h"

/* PID 1 and a child of it: both hold @alive until they die. */
static void init(int alive, int ready)
{
	must(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	must(fork() >= 0);
	must(write(ready, "r", 1) == 1);
	close(ready);
	for (;;)
		pause();
	close(alive);
}

int main(void)
{
	int alive[2], ready[2];
	struct pollfd p = { .events = POLLIN };
	char buf[2];
	pid_t pid;

	enter_user(0);
	must(!pipe(alive) && !pipe(ready));
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		must(!unshare(CLONE_NEWPID));
		if (!fork())
			init(alive[1], ready[1]);
		for (;;)
			pause();
	}
	close(alive[1]);
	close(ready[1]);
	must(read(ready[0], buf, 1) == 1 && read(ready[0], buf, 1) == 1);
	p.fd = alive[0];
	is_int(poll(&p, 1, 50), 0, "both live while the parent does");
	must(!kill(pid, SIGKILL));
	ok(poll(&p, 1, 2000) == 1 && read(alive[0], buf, 1) == 0,
	   "both are gone after its SIGKILL");
	must(waitpid(pid, NULL, 0) == pid);
	return done();
}
