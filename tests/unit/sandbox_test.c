/* sandbox_test.c - what is left to a process that gave its rights up
 *
 * Each case runs in a child: a filter cannot be taken off again. */

#include "sandbox.h"

#include "check.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define USERNS_INITIAL 0xeffffffdU /* inode */
#define X32_GETPID (0x40000000 + 39)

/* Wait status of a child that runs @fn */
static int in_child(void (*fn)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void seal_forwarder(void)
{
	sandbox_caps(-1);
	sandbox_seal(ROLE_FORWARDER);
}

static void seal_agent(void)
{
	sandbox_seal(ROLE_AGENT);
}

static void do_nothing(void)
{
	seal_forwarder();
}

static void do_allowed(void)
{
	int fd;

	seal_forwarder();
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		_exit(1);
	close(fd);
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (fd < 0 && errno != EAFNOSUPPORT)
		_exit(2);
}

static void do_open(void)
{
	seal_forwarder();
	open("/", O_RDONLY);
}

static void do_exec(void)
{
	char name[] = "/bin/true";
	char *argv[] = { name, NULL };

	seal_forwarder();
	execv(name, argv);
}

static void do_fork(void)
{
	seal_forwarder();
	fork();
}

static void do_packet_socket(void)
{
	seal_forwarder();
	socket(AF_PACKET, SOCK_RAW, 0);
}

static void do_unix_socket(void)
{
	seal_forwarder();
	socket(AF_UNIX, SOCK_STREAM, 0);
}

static void do_ptrace(void)
{
	seal_forwarder();
	ptrace(PTRACE_TRACEME, 0, 0, 0);
}

static void do_setns(void)
{
	seal_forwarder();
	setns(0, 0);
}

static void do_x32(void)
{
	seal_forwarder();
	syscall(X32_GETPID);
}

static void do_agent_socket(void)
{
	seal_agent();
	close(socket(AF_INET, SOCK_DGRAM, 0));
}

static void do_agent_open(void)
{
	seal_agent();
	open("/", O_RDONLY);
}

static void do_agent_connect(void)
{
	seal_agent();
	connect(0, NULL, 0);
}

static void test_filter(void)
{
	static const struct {
		const char *name;
		void (*fn)(void);
		bool is_killed;
	} row[] = {
		{ "nothing", do_nothing, false },
		{ "sockets of both families", do_allowed, false },
		{ "open", do_open, true },
		{ "exec", do_exec, true },
		{ "fork", do_fork, true },
		{ "packet socket", do_packet_socket, true },
		{ "unix socket", do_unix_socket, true },
		{ "ptrace", do_ptrace, true },
		{ "setns", do_setns, true },
		{ "x32 call", do_x32, true },
		{ "agent: socket", do_agent_socket, false },
		{ "agent: open", do_agent_open, true },
		{ "agent: connect", do_agent_connect, true },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int status = in_child(row[i].fn);

		if (row[i].is_killed)
			ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS,
			   "%s: killed (status 0x%x)", row[i].name, status);
		else
			is_int(status, 0, "%s: allowed", row[i].name);
	}
}

/* One line of /proc/PID/status, without its name */
static const char *proc_status(pid_t pid, const char *name,
			       char buf[static 256])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(buf, 256, f))
		if (!strncmp(buf, name, strlen(name))) {
			fclose(f);
			buf[strcspn(buf, "\n")] = 0;
			return buf + strlen(name);
		}
	if (f)
		fclose(f);
	return "";
}

/* Real root becomes somebody else; only its user namespace knows nobody */
static uid_t final_uid(void)
{
	struct stat st;

	if (!getuid() && !stat("/proc/self/ns/user", &st) &&
	    st.st_ino == USERNS_INITIAL)
		return NOBODY;
	return getuid();
}

/* Everything, then say so and wait to be looked at */
static _Noreturn void live_locked_in(int sock)
{
	char byte;

	if (final_uid() == NOBODY)
		sandbox_identity(NOBODY, NOBODY, true);
	sandbox_enclose(false);
	byte = (char)(mkdir("/x", 0700) ? errno : 0);
	seal_forwarder();
	if (send(sock, &byte, 1, 0) == 1)
		recv(sock, &byte, 1, 0);
	_exit(0);
}

static bool may_have_userns(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0);
	return waitpid(pid, &status, 0) == pid && !status;
}

static void test_enclosed(void)
{
	static const char *const none = "\t0000000000000000";
	static const char *const set[] = { "CapInh:", "CapPrm:", "CapEff:",
					   "CapBnd:", "CapAmb:" };
	char buf[256];
	char path[64];
	struct stat st;
	char byte = -1;
	int sv[2];
	pid_t pid;

	if (!may_have_userns()) {
		printf("# no user namespaces here: enclosing not tested\n");
		return;
	}
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv);
	pid = fork();
	if (!pid) {
		close(sv[0]);
		live_locked_in(sv[1]);
	}
	close(sv[1]);
	is_int(recv(sv[0], &byte, 1, 0), 1, "enclosed, capless and sealed");
	is_int(byte, EROFS, "the root directory takes no entry");
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		is_str(proc_status(pid, set[i], buf), none, "%s empty", set[i]);
	is_str(proc_status(pid, "NoNewPrivs:", buf), "\t1", "NoNewPrivs");
	is_str(proc_status(pid, "Seccomp:", buf), "\t2", "Seccomp");
	if (final_uid() == NOBODY) {
		is_str(proc_status(pid, "Groups:", buf), "\t ", "no groups");
		snprintf(path, sizeof(path), "/proc/%d/root/proc", (int)pid);
		ok(access(path, F_OK) && errno == ENOENT, "the root is empty");
	}
	/* The kernel gives what is not dumpable to root */
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (final_uid())
		ok(!stat(path, &st) && st.st_uid != final_uid(),
		   "not dumpable");
	close(sv[0]);
	waitpid(pid, NULL, 0);
}

/* Exit code: number of the first thing that is not as it should be */
static void do_fds(void)
{
	struct rlimit before, reported, after;
	int keep = 9;

	getrlimit(RLIMIT_NOFILE, &before);
	before.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &before);
	dup2(1, keep);
	dup2(1, keep + 1);
	close(0);
	sandbox_fds(keep, &reported);
	getrlimit(RLIMIT_NOFILE, &after);
	if (fcntl(0, F_GETFD) || fcntl(2, F_GETFD) < 0)
		_exit(1);
	if (fcntl(keep, F_GETFD) < 0)
		_exit(2);
	for (int fd = 3; fd < 64; fd++)
		if (fd != keep && fcntl(fd, F_GETFD) >= 0)
			_exit(3);
	if (reported.rlim_cur != 64 || after.rlim_cur != after.rlim_max ||
	    after.rlim_max < before.rlim_max)
		_exit(4);
}

static void do_close_all(void)
{
	dup2(1, 3);
	dup2(1, 9);
	sandbox_close(-1, -1);
	if (fcntl(2, F_GETFD) < 0 || fcntl(3, F_GETFD) >= 0 ||
	    fcntl(9, F_GETFD) >= 0)
		_exit(1);
}

/* Neighbours and ends of the gap; in 0 to 2 nothing is closed anyway */
static void do_close_but_two(void)
{
	static const int pair[][2] = { { 9, 6 }, { 6, 7 }, { 3, 9 }, { 0, 9 } };

	for (size_t i = 0; i < sizeof(pair) / sizeof(*pair); i++) {
		for (int fd = 3; fd < 12; fd++)
			dup2(1, fd);
		sandbox_close(pair[i][0], pair[i][1]);
		for (int fd = 0; fd < 12; fd++) {
			bool is_kept = fd < 3 || fd == pair[i][0] ||
				       fd == pair[i][1];

			if ((fcntl(fd, F_GETFD) >= 0) != is_kept)
				_exit((int)i + 1);
		}
	}
}

static void do_stdio(void)
{
	struct stat a, b;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	fstat(null, &a);
	sandbox_stdio(null);
	for (int fd = 0; fd < 3; fd++)
		if (fstat(fd, &b) || a.st_rdev != b.st_rdev ||
		    fcntl(fd, F_GETFD))
			_exit(1);
	if (fcntl(null, F_GETFD) >= 0)
		_exit(2);
}

static void do_same_identity(void)
{
	sandbox_identity(getuid(), getgid(), true);
}

static void do_same_root(void)
{
	gid_t groups[] = { 4, 5 };

	if (setgroups(2, groups)) /* forbidden: root of a user namespace */
		_exit(0);
	sandbox_identity(getuid(), getgid(), true);
	_exit(getgroups(0, NULL) ? 2 : 0);
}

static void do_other_identity(void)
{
	log_stderr(false);
	sandbox_identity(getuid() + 1, getgid(), true);
}

static void test_small(void)
{
	is_int(in_child(do_fds), 0, "sandbox_fds: closes, fills, raises");
	is_int(in_child(do_close_all), 0, "sandbox_close: all above 2");
	is_int(in_child(do_close_but_two), 0, "sandbox_close: all but two");
	is_int(in_child(do_stdio), 0, "sandbox_stdio: /dev/null in 0 to 2");
	is_int(in_child(do_same_identity), 0, "same identity: no-op");
	if (!geteuid())
		is_int(in_child(do_same_root), 0, "but no other groups");
	else
		is_int(WEXITSTATUS(in_child(do_other_identity)), 1,
		       "another identity without the right: dies");
}

int main(void)
{
	log_init("sandbox_test");
#ifdef __SANITIZE_ADDRESS__
	skip_all("there is no filter under the address sanitizer");
#endif
	test_small();
	test_filter();
	test_enclosed();
	return done();
}
