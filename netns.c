/* netns.c - spawn a command in new namespaces, or attach to existing ones
 *
 * Spawning: one clone(2) makes all namespaces, so the command is process 1 of
 * its own PID namespace, and whatever kills it kills everything inside. It
 * asks to be killed when we die, tells us by a byte on a socket that it did,
 * and waits there, where EOF means that we are dead already. First answer:
 * identities are mapped; second one: the network works. Signals are as the
 * caller of the program left them, because we change ours later, but for two
 * of which it gets the default: SIGCHLD and SIGXFSZ.
 *
 * Attaching: our descriptors (the tap, sockets) keep a network namespace alive
 * and healthy when nobody else is in it, so its end is seen from outside: by a
 * process descriptor where the target is a process; else by the name that
 * leads to it. inotify(7) tells of its removal at once, but not on procfs and
 * the like, and it can be refused: then the name is looked up every second.
 * "No such file" is an end; any other error says nothing.
 *
 * Not here: the set-up inside, and removal by unmounting only: the name is
 * still there then. */

#include "netns.h"

#include "clock.h"
#include "log.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROC "/proc/"
#define POLL_MS 1000
#define HOSTNAME_MAX 64 /* linux/utsname.h __NEW_UTS_LEN */
#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | \
	 CLONE_NEWUTS)

static const struct netns closed = { .user = -1,
				     .net = -1,
				     .pidfd = -1,
				     .release = -1,
				     .dir = -1,
				     .inotify = -1 };

/* The likely cure for a namespace that cannot be used */
static const char *cure(int error)
{
	switch (error) {
	case ENOENT:
	case ESRCH:
		return "; does the target still exist?";
	case EACCES:
	case EPERM:
		return "; it must belong to you (see also --userns), and "
		       "AppArmor or SELinux may forbid it";
	default:
		return "";
	}
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The command */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = (ssize_t)strlen(text);

	if (fd < 0 || write(fd, text, (size_t)len) != len)
		debug("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* What a fresh set of namespaces lacks. None of it is worth failing for: the
 * command may never need it. */
static void furnish(bool has_pidns)
{
	char old[HOSTNAME_MAX + 1] = "";
	char name[sizeof(old) + 8];

	if (has_pidns && mount("proc", "/proc", "proc",
			       MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		warn("cannot mount a /proc for the command: %s",
		     strerror(errno));
	write_file("/proc/sys/net/ipv4/ping_group_range", "0 0");
	gethostname(old, sizeof(old) - 1);
	snprintf(name, sizeof(name), "pasta-%s", old);
	name[HOSTNAME_MAX] = 0;
	if (sethostname(name, strlen(name)))
		debug("sethostname: %s", strerror(errno));
}

static _Noreturn void execute(char **command)
{
	const char *shell = getenv("SHELL");
	char login[NAME_MAX + 2];
	char *argv[2] = { login, NULL };
	const char *file;
	int error;

	if (command) {
		file = command[0];
	} else {
		file = shell && *shell ? shell : "/bin/sh";
		snprintf(login, sizeof(login), "-%s",
			 strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
		command = argv;
	}
	execvp(file, command);
	error = errno;
	err("cannot run %s: %s", file, strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

/* In the new namespaces, until it has become the command. @sock is the only
 * descriptor left, so that nothing of ours lives on here. */
static _Noreturn void live(int sock, const struct conf *c,
			   const struct rlimit *nofile)
{
	char go;

	sandbox_close(sock, -1);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (send(sock, "", 1, MSG_NOSIGNAL) != 1 || read(sock, &go, 1) != 1)
		_exit(1);
	furnish(!c->no_pidns);
	if (read(sock, &go, 1) != 1)
		_exit(1);
	close(sock);
	setrlimit(RLIMIT_NOFILE, nofile);
	signal(SIGXFSZ, SIG_DFL);
	execute(c->command);
}

static void map_id(pid_t pid, const char *file, const char *text)
{
	char path[64];
	ssize_t len = (ssize_t)strlen(text);
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)len) != len)
		die("cannot set up a user namespace: %s: %s%s", path,
		    strerror(errno), cure(errno));
	close(fd);
}

/* Inside, our identity is root */
static void map_ids(pid_t pid)
{
	char text[32];

	map_id(pid, "setgroups", "deny");
	snprintf(text, sizeof(text), "0 %u 1", (unsigned)geteuid());
	map_id(pid, "uid_map", text);
	snprintf(text, sizeof(text), "0 %u 1", (unsigned)getegid());
	map_id(pid, "gid_map", text);
}

static int open_ns(const char *path, int type)
{
	/* Whatever @path is, opening it must not block */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		die("%s: %s%s", path, strerror(errno), cure(errno));
	if (ioctl(fd, NS_GET_NSTYPE) != type)
		die("%s: not a %s namespace", path,
		    type == CLONE_NEWNET ? "network" : "user");
	return fd;
}

static const char *proc_path(struct netns *n, pid_t pid, const char *ns)
{
	snprintf(n->proc, sizeof(n->proc), "/proc/%d/ns/%s", (int)pid, ns);
	return n->proc;
}

/* Like fork(2): no stack of its own. Where the last arguments have another
 * order, these are 0. */
static long clone_process(unsigned long flags, int *ret_pidfd)
{
#ifdef __s390x__
	return syscall(__NR_clone, 0, flags, ret_pidfd, 0, 0);
#else
	return syscall(__NR_clone, flags, 0, ret_pidfd, 0, 0);
#endif
}

void netns_spawn(struct netns *n, const struct conf *c,
		 const struct rlimit *nofile)
{
	unsigned long pidns = c->no_pidns ? 0 : CLONE_NEWPID;
	char armed;
	int sv[2];
	long pid;

	*n = closed;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		die("socketpair: %s", strerror(errno));
	pid = clone_process(NAMESPACES | pidns | CLONE_PIDFD | SIGCHLD,
			    &n->pidfd);
	if (pid < 0)
		die("cannot make namespaces for the command: %s; sysctl "
		    "user.max_user_namespaces, kernel.unprivileged_userns_clone "
		    "or AppArmor may forbid them",
		    strerror(errno));
	if (!pid)
		live(sv[1], c, nofile);
	close(sv[1]);
	n->release = sv[0];
	n->child = (pid_t)pid;
	if (recv(n->release, &armed, 1, 0) != 1)
		die("the command's process ended during set-up");
	map_ids(n->child);
	n->user = open_ns(proc_path(n, n->child, "user"), CLONE_NEWUSER);
	n->path = proc_path(n, n->child, "net");
	n->net = open_ns(n->path, CLONE_NEWNET);
	if (send(n->release, "", 1, MSG_NOSIGNAL) != 1)
		die("the command's process ended during set-up");
}

/* seccomp(forwarder): sendto close */
void netns_release(struct netns *n)
{
	if (n->release < 0)
		return;
	/* A command that is dead already is seen by the loop */
	send(n->release, "", 1, MSG_NOSIGNAL);
	close_fd(&n->release);
}

/* Attaching */

static bool is_same(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Do numbers in /proc mean the same processes as in our system calls? */
static bool is_proc_ours(void)
{
	char want[16];
	char text[16];
	ssize_t len = readlink("/proc/self", text, sizeof(text) - 1);

	if (len <= 0)
		return false;
	text[len] = 0;
	snprintf(want, sizeof(want), "%d", (int)getpid());
	return !strcmp(text, want);
}

/* A descriptor of the process that /proc/PID/ns/net names, -1 if there is none
 * to be had. Its number may have been reused while we opened one after the
 * other: then the namespace is another. */
static int open_process(const char *path, int net)
{
	char *end;
	long pid;
	int fd;

	if (strncmp(path, PROC, strlen(PROC)) != 0)
		return -1;
	pid = strtol(path + strlen(PROC), &end, 10);
	if (pid <= 0 || pid > INT32_MAX || strcmp(end, "/ns/net") != 0 ||
	    !is_proc_ours())
		return -1;
	fd = (int)syscall(__NR_pidfd_open, pid, 0);
	if (fd >= 0 && !is_same(net, path))
		die("%s: the process has ended", path);
	return fd;
}

/* 1: the name is gone. Other errors than its absence tell nothing.
 * seccomp(forwarder): newfstatat fstatat64 */
static bool is_gone(const struct netns *n)
{
	struct stat st;

	return fstatat(n->dir, n->base, &st, AT_SYMLINK_NOFOLLOW) &&
	       (errno == ENOENT || errno == ESRCH);
}

/* inotify sees what programs do to a file system, not what appears and goes
 * by itself */
static bool is_inotify_good(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type != PROC_SUPER_MAGIC &&
	       fs.f_type != SYSFS_MAGIC && fs.f_type != DEVPTS_SUPER_MAGIC;
}

static void start_inotify(struct netns *n, const char *dir)
{
	n->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (n->inotify >= 0 &&
	    inotify_add_watch(n->inotify, dir,
			      IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) >= 0)
		return;
	warn("%s: cannot be watched: %s; looking once per second instead", dir,
	     strerror(errno));
	close_fd(&n->inotify);
}

static void prepare_watch(struct netns *n, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";

	n->pidfd = open_process(path, n->net);
	if (n->pidfd >= 0)
		return;
	n->base = slash ? slash + 1 : path;
	if (slash && (size_t)(n->base - path) < sizeof(dir))
		snprintf(dir, sizeof(dir), "%.*s", (int)(n->base - path), path);
	n->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (n->dir < 0)
		die("%s: %s", dir, strerror(errno));
	if (is_inotify_good(n->dir))
		start_inotify(n, dir);
	/* From here on its removal is seen; before, it was not */
	if (is_gone(n))
		die("%s: %s", path, strerror(ENOENT));
	if (n->inotify >= 0)
		close_fd(&n->dir);
}

void netns_open(struct netns *n, const struct conf *c)
{
	bool is_pid = c->target == TARGET_PID;
	const char *user = c->userns;
	const char *net = c->netns;

	*n = closed;
	if (!user && is_pid && !c->is_netns_only)
		user = proc_path(n, c->pid, "user");
	if (user && !c->is_netns_only) {
		n->user = open_ns(user, CLONE_NEWUSER);
		/* setns(2) refuses to enter where we are already */
		if (is_same(n->user, "/proc/self/ns/user"))
			close_fd(&n->user);
	}
	if (is_pid)
		net = proc_path(n, c->pid, "net");
	n->path = net;
	n->net = open_ns(net, CLONE_NEWNET);
	if (!c->no_netns_quit)
		prepare_watch(n, net);
}

/* The guest's addresses and routes would become the host's */
static void refuse_own(const struct netns *n)
{
	if (is_same(n->net, "/proc/self/ns/net"))
		die("%s: this is the network namespace of the host itself: "
		    "name another, or a command",
		    n->path);
}

void netns_enter(const struct netns *n)
{
	refuse_own(n);
	if (n->user >= 0 && setns(n->user, CLONE_NEWUSER))
		die("cannot enter the user namespace of %s: %s%s", n->path,
		    strerror(errno), cure(errno));
	if (setns(n->net, CLONE_NEWNET))
		die("cannot enter the network namespace %s: %s%s", n->path,
		    strerror(errno), cure(errno));
}

void netns_forget(struct netns *n)
{
	close_fd(&n->user);
	close_fd(&n->net);
}

/* The end */

/* seccomp(forwarder): waitid(0=P_PIDFD) */
static void on_process(struct watch *w, uint32_t events)
{
	struct netns *n = container_of(w, struct netns, watch);
	siginfo_t si = { 0 };
	int status = 0;

	(void)events;
	loop_del(n->loop, w);
	if (n->child && !waitid(P_PIDFD, (id_t)n->pidfd, &si, WEXITED))
		status = si.si_status + (si.si_code == CLD_EXITED ? 0 : 128);
	info("the target has ended");
	loop_end(n->loop, status);
}

/* IN_IGNORED comes when the whole file system has gone. Events are lost only
 * by who is stopped while thousands of names go; a look at the path would need
 * its directory, and whoever keeps that open keeps its file system mounted.
 * seccomp(forwarder): read */
static void on_inotify(struct watch *w, uint32_t events)
{
	struct netns *n = container_of(w, struct netns, watch);
	_Alignas(struct inotify_event) char buf[4096];
	ssize_t len;

	(void)events;
	while ((len = read(w->fd, buf, sizeof(buf))) > 0) {
		const struct inotify_event *e;

		for (ssize_t i = 0; i < len;
		     i += (ssize_t)sizeof(*e) + e->len) {
			e = (const void *)(buf + i);
			if (e->mask & IN_Q_OVERFLOW)
				warn("names were removed too fast to see "
				     "whether the target's is among them");
			if (!(e->mask & IN_IGNORED) &&
			    (!e->len || strcmp(e->name, n->base) != 0))
				continue;
			info("the target's name has been removed");
			loop_end(n->loop, 0);
		}
	}
}

static int64_t next_poll(const struct timer *t)
{
	return container_of(t, struct netns, timer)->poll_ms;
}

static void poll_name(struct timer *t, int64_t now_ms)
{
	struct netns *n = container_of(t, struct netns, timer);

	n->poll_ms = now_ms + POLL_MS;
	if (!is_gone(n))
		return;
	n->poll_ms = NEVER;
	info("the target's name is gone");
	loop_end(n->loop, 0);
}

void netns_watch(struct netns *n, struct loop *l)
{
	int rc = 0;

	n->loop = l;
	n->watch.fd = n->pidfd >= 0 ? n->pidfd : n->inotify;
	n->watch.fn = n->pidfd >= 0 ? on_process : on_inotify;
	if (n->watch.fd >= 0)
		rc = loop_add(l, &n->watch, EPOLLIN);
	if (rc)
		die("cannot wait for the target's end: %s", strerror(-rc));
	if (n->dir < 0)
		return;
	n->poll_ms = clock_ms() + POLL_MS;
	n->timer.next_ms = next_poll;
	n->timer.fire = poll_name;
	loop_timer(l, &n->timer);
}
