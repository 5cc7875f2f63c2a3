/* netns_test.c - how the end of a target is seen, and the spawned command
 *
 * Needs no rights where user namespaces are allowed: targets are processes and
 * links to our own network namespace. Nothing is entered. */

#include "netns.h"

#include "check.h"
#include "log.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/netns_test.XXXXXX";

/* A process to attach to; it ends with us */
static pid_t start_target(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static void stop_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void open_path(struct netns *n, const char *path)
{
	struct conf c = { .target = TARGET_NETNS,
			  .netns = path,
			  .is_netns_only = true };

	netns_open(n, &c);
}

/* What netns_open() opened of @n */
static void close_all(struct netns *n)
{
	netns_forget(n);
	if (n->pidfd >= 0)
		close(n->pidfd);
	if (n->dir >= 0)
		close(n->dir);
	if (n->inotify >= 0)
		close(n->inotify);
}

static void test_process(bool is_pid_form)
{
	const char *form = is_pid_form ? "PID" : "/proc/PID/ns/net";
	struct conf c = { .target = TARGET_PID, .pid = start_target() };
	char path[64];
	struct netns n;
	struct loop l;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)c.pid);
	loop_init(&l);
	if (is_pid_form)
		netns_open(&n, &c);
	else
		open_path(&n, path);
	ok(n.pidfd >= 0, "%s: seen by process descriptor", form);
	is_int(n.user, -1, "%s: our own user namespace is not joined", form);
	ok(n.dir < 0 && n.inotify < 0, "%s: nothing else is open", form);
	netns_watch(&n, &l);
	stop_target(c.pid);
	is_int(loop_run(&l), 0, "%s: its end ends the loop", form);
	close_all(&n);
	close(l.epfd);
}

static void test_no_quit(void)
{
	struct conf c = { .target = TARGET_PID,
			  .pid = getpid(),
			  .no_netns_quit = true };
	struct netns n;
	struct loop l;

	loop_init(&l);
	netns_open(&n, &c);
	netns_watch(&n, &l);
	ok(n.pidfd < 0 && n.dir < 0 && n.inotify < 0 && !l.n_timers,
	   "--no-netns-quit: nothing is watched");
	close_all(&n);
	close(l.epfd);
}

/* A name of a namespace in an ordinary directory */
static void make_name(const char *name, char path[static 64])
{
	snprintf(path, 64, "%s/%s", dir, name);
	if (symlink("/proc/self/ns/net", path))
		perror(path);
}

static void test_name(bool is_renamed)
{
	const char *how = is_renamed ? "rename" : "unlink";
	char path[64], other[64], moved[64];
	struct netns n;
	struct loop l;

	loop_init(&l);
	make_name("target", path);
	make_name("other", other);
	snprintf(moved, sizeof(moved), "%s/moved", dir);
	open_path(&n, path);
	netns_watch(&n, &l);
	ok(n.inotify >= 0 && n.pidfd < 0, "%s: seen by inotify", how);
	is_int(n.dir, -1, "%s: the directory is not kept open", how);
	unlink(other);
	n.watch.fn(&n.watch, 0);
	ok(!l.is_over, "%s: another name is none of our business", how);
	if (is_renamed)
		rename(path, moved);
	else
		unlink(path);
	is_int(loop_run(&l), 0, "%s: ends the loop", how);
	unlink(moved);
	close_all(&n);
	close(l.epfd);
}

/* More names removed than the kernel's queue holds: the next is seen again */
static void test_overflow(void)
{
	char path[64], other[64];
	struct netns n;
	struct loop l;
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
	int i, max = 0;

	if (!f || fscanf(f, "%d", &max) != 1 || max > 100000)
		max = 0;
	if (f)
		fclose(f);
	loop_init(&l);
	make_name("target", path);
	open_path(&n, path);
	netns_watch(&n, &l);
	for (i = 0; i < max + 10; i++) {
		/* Equal events in a row are one */
		make_name(i & 1 ? "odd" : "even", other);
		unlink(other);
	}
	n.watch.fn(&n.watch, 0);
	ok(!l.is_over, "overflow: goes on");
	unlink(path);
	is_int(loop_run(&l), 0, "overflow: a removal after it is seen");
	close_all(&n);
	close(l.epfd);
}

/* On procfs, where the path names no process by itself */
static void test_poll(void)
{
	pid_t pid = start_target();
	char path[64];
	struct netns n;
	struct loop l;
	int64_t at;

	loop_init(&l);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/ns/net", (int)pid,
		 (int)pid);
	open_path(&n, path);
	netns_watch(&n, &l);
	ok(n.dir >= 0 && n.inotify < 0 && n.pidfd < 0, "poll: no inotify");
	at = n.timer.next_ms(&n.timer);
	n.timer.fire(&n.timer, at);
	ok(!l.is_over, "poll: still there");
	is_int(n.timer.next_ms(&n.timer), at + 1000, "poll: once per second");
	stop_target(pid);
	n.timer.fire(&n.timer, at + 1000);
	ok(l.is_over && !l.status, "poll: gone");
	close_all(&n);
	close(l.epfd);
}

static void open_missing(void)
{
	struct netns n;
	char path[64];

	snprintf(path, sizeof(path), "%s/missing", dir);
	open_path(&n, path);
}

static void open_file(void)
{
	struct netns n;

	open_path(&n, "/proc/self/status");
}

static void open_fifo(void)
{
	struct netns n;
	char path[64];

	snprintf(path, sizeof(path), "%s/fifo", dir);
	mkfifo(path, 0600);
	open_path(&n, path);
}

static void open_user(void)
{
	struct netns n;

	open_path(&n, "/proc/self/ns/user");
}

static void open_no_process(void)
{
	struct conf c = { .target = TARGET_PID, .pid = 0x7fffffff };
	struct netns n;

	netns_open(&n, &c);
}

/* Wait status of a child that runs @fn without a word on stderr */
static int in_child(void (*fn)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		log_stderr(false);
		fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_refused(void)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} row[] = {
		{ "missing path", open_missing },
		{ "ordinary file", open_file },
		{ "FIFO, without waiting for a writer", open_fifo },
		{ "user namespace", open_user },
		{ "no such process", open_no_process },
	};
	char path[64];

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		is_int(in_child(row[i].fn), 1, "%s: dies", row[i].name);
	snprintf(path, sizeof(path), "%s/fifo", dir);
	unlink(path);
}

static bool may_spawn(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0);
	return waitpid(pid, &status, 0) == pid && !status;
}

/* Run a shell command to its end, or kill it; returns the loop's status */
static int run_command(char *script, bool is_killed)
{
	char name[] = "sh", flag[] = "-c";
	char *argv[] = { name, flag, script, NULL };
	struct conf c = { .target = TARGET_COMMAND, .command = argv };
	struct rlimit nofile = { 77, 99 };
	struct netns n;
	struct loop l;
	int status;

	loop_init(&l);
	netns_spawn(&n, &c, &nofile);
	netns_forget(&n);
	netns_watch(&n, &l);
	netns_release(&n);
	if (is_killed)
		kill(n.child, SIGKILL);
	status = loop_run(&l);
	close_all(&n);
	close(l.epfd);
	return status;
}

static void test_command(void)
{
	static const struct {
		const char *name;
		const char *script;
		int want;
	} row[] = {
		{ "exit status", "exit 7", 7 },
		{ "success", "true", 0 },
		{ "root inside", "test $(id -u) = 0", 0 },
		{ "process 1", "test $$ = 1", 0 },
		{ "its limit of descriptors is the caller's",
		  "test $(ulimit -Sn) = 77 && test $(ulimit -Hn) = 99", 0 },
		{ "no descriptor but 0 to 2",
		  "for f in 3 4 5 6 7 8 9; do "
		  "test -e /proc/self/fd/$f && exit 1; done; exit 0",
		  0 },
	};

	char script[128] = "sleep inf";

	is_int(run_command(script, true), 128 + SIGKILL, "command: signal");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		snprintf(script, sizeof(script), "%s", row[i].script);
		is_int(run_command(script, false), row[i].want, "command: %s",
		       row[i].name);
	}
}

/* The child of a dying process is handed to us: see that it ends */
static void test_orphan(bool is_released)
{
	const char *when = is_released ? "running" : "waiting";
	char name[] = "sleep", arg[] = "inf";
	char *argv[] = { name, arg, NULL };
	struct conf c = { .target = TARGET_COMMAND, .command = argv };
	struct rlimit nofile = { 64, 64 };
	struct netns n;
	int sv[2];
	pid_t pid, child = 0;
	int status;

	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		netns_spawn(&n, &c, &nofile);
		if (is_released)
			netns_release(&n);
		if (write(sv[1], &n.child, sizeof(n.child)) > 0)
			raise(SIGKILL);
		_exit(1);
	}
	ok(read(sv[0], &child, sizeof(child)) == sizeof(child),
	   "orphan: spawned");
	waitpid(pid, NULL, 0);
	is_int(waitpid(child, &status, 0), child,
	       "a %s command ends with its killed parent", when);
	close(sv[0]);
	close(sv[1]);
}

int main(void)
{
	log_init("netns_test");
	log_level(LEVEL_ERR);
	if (!mkdtemp(dir))
		skip_all("/tmp: %s", strerror(errno));
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	test_process(true);
	test_process(false);
	test_no_quit();
	test_name(false);
	test_name(true);
	test_overflow();
	test_poll();
	test_refused();
	if (may_spawn()) {
		test_command();
		test_orphan(false);
		test_orphan(true);
	} else {
		printf("# no user namespaces here: commands not tested\n");
	}
	rmdir(dir);
	return done();
}
