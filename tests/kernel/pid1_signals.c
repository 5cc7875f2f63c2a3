/* pid1_signals.c - signals and PID 1 of a PID namespace
 *
 * Proves: PID 1 of a PID namespace is not ended by a SIGTERM from outside that
 * it neither handles nor blocks; blocked, the signal waits for it and is read
 * from a signalfd. */

#include <sys/signalfd.h>
#include "lib.h"

/* PID 1: says it is ready, waits for SIGTERM, says what it got. */
static void init(int say, bool blocked)
{
	struct signalfd_siginfo info;
	struct pollfd p = { .events = POLLIN };
	char what = 'n';
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (blocked)
		sigprocmask(SIG_BLOCK, &set, NULL);
	p.fd = signalfd(-1, &set, SFD_CLOEXEC);
	must(write(say, "r", 1) == 1);
	if (poll(&p, 1, blocked ? 2000 : 100) == 1 &&
	    read(p.fd, &info, sizeof(info)) == sizeof(info) &&
	    info.ssi_signo == SIGTERM)
		what = 's';
	must(write(say, &what, 1) == 1);
	_exit(0);
}

static char term_init(bool blocked)
{
	char byte = 0;
	int say[2];
	pid_t pid;

	must(!pipe(say));
	pid = fork();
	must(pid >= 0);
	if (!pid)
		init(say[1], blocked);
	close(say[1]);
	must(read(say[0], &byte, 1) == 1);
	must(!kill(pid, SIGTERM));
	if (read(say[0], &byte, 1) != 1)
		byte = 'd';
	must(waitpid(pid, NULL, 0) == pid);
	close(say[0]);
	return byte;
}

/* A PID namespace dies with its PID 1: each test needs its own. */
static char in_own_namespace(bool blocked)
{
	int status;
	pid_t pid = fork();

	must(pid >= 0);
	if (!pid) {
		must(!unshare(CLONE_NEWPID));
		_exit(term_init(blocked));
	}
	must(waitpid(pid, &status, 0) == pid);
	return (char)WEXITSTATUS(status);
}

int main(void)
{
	enter_user(0);
	signal(SIGTERM, SIG_DFL);
	is_int(in_own_namespace(false), 'n', "by default it is ignored");
	is_int(in_own_namespace(true), 's', "blocked, a signalfd reads it");
	return done();
}
