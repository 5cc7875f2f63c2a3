/* sandbox.c - give rights up
 *
 * Problem: the process that handles every byte of the guest and of strangers
 * is the one to be attacked. Whoever takes it over must find nothing: no file,
 * no capability, no other process, no system call beyond the few it lives on.
 *
 * Idea: everything that needs a right is done before, and its descriptor kept.
 * Then, in this order: a user namespace of our own, which maps no identity and
 * lies beside the guest's, gives the rights to leave all other namespaces and
 * to swap the root directory for an empty read-only one; all capabilities go,
 * those of the new user namespace too; a filter of system calls closes the
 * rest. No uid mapping is written: nothing is left that could use one.
 *
 * The filter is a list of allowed numbers from comments beside the calls. It
 * is checked in their order, and kernels since 5.11 remember the answer for
 * calls without a condition. Conditions are for arguments of type int, so only
 * their low 32 bits are compared, as the kernel does. An x32 call has a number
 * of its own (bit 30) and is thus never in the list.
 *
 * Not here: which rights are needed for set-up, and when set-up is over. */

#include "sandbox.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH_OURS AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH_OURS AUDIT_ARCH_AARCH64
#elif defined(__i386__)
#define ARCH_OURS AUDIT_ARCH_I386
#elif defined(__arm__)
#define ARCH_OURS AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_OURS AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH_OURS AUDIT_ARCH_PPC64LE
#elif defined(__s390x__)
#define ARCH_OURS AUDIT_ARCH_S390X
#endif /* another one does not compile before it is named here */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW_WORD 4
#else
#define LOW_WORD 0
#endif

/* The address sanitizer makes system calls of its own, at any moment: a build
 * for debugging has no filter */
#ifdef __SANITIZE_ADDRESS__
#define HAS_FILTER false
#else
#define HAS_FILTER true
#endif

#define VALUES_MAX 4
#define FILTER_MAX 1024 /* instructions: two per call, the kernel takes 4096 */

/** struct sandbox_row - one allowed system call
 * @nr:  number, -1 ends the list     @arg: argument with a condition, or -1
 * @n:   values it may have */
struct sandbox_row {
	int nr;
	int arg;
	unsigned n;
	uint32_t value[VALUES_MAX];
};

/* What libc makes of calls that are named elsewhere: where addresses have 32
 * bits it prefers calls with wide numbers, on s390x and i386 all about sockets
 * is one call.
 * seccomp(forwarder): socketcall recvmmsg_time64 clock_gettime64 statx
 * seccomp(forwarder): fcntl64(1=F_GETFL)
 * seccomp(agent): socketcall clock_gettime64
 * seccomp(reader): socketcall */
#if __SIZEOF_POINTER__ == 8
#undef __NR_statx
#endif
#if !defined(__i386__) && !defined(__s390x__)
#undef __NR_socketcall
#endif
#include "seccomp.h"

/* seccomp(forwarder): close_range */
static void close_between(int low, int high)
{
	if (high - low > 1)
		close_range((unsigned)low + 1, (unsigned)high - 1, 0);
}

void sandbox_close(int keep, int also)
{
	int low = keep < also ? keep : also;
	int high = keep < also ? also : keep;

	low = low > STDERR_FILENO ? low : STDERR_FILENO;
	high = high > STDERR_FILENO ? high : STDERR_FILENO;
	close_between(STDERR_FILENO, low);
	close_between(low, high);
	close_range((unsigned)high + 1, ~0U, 0);
}

/* The most that RLIMIT_NOFILE may be, 0 if unreadable */
static rlim_t nr_open(void)
{
	char text[32] = "";
	int fd = open("/proc/sys/fs/nr_open", O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	return len > 0 ? strtoul(text, NULL, 10) : 0;
}

void sandbox_fds(int keep, struct rlimit *ret_nofile)
{
	struct rlimit most = { 0 };
	int fd = -1;

	sandbox_close(keep, -1);
	/* open() takes the lowest free number: stop once that is above 2 */
	while (fd <= STDERR_FILENO) {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			die("/dev/null: %s; the program cannot do without it",
			    strerror(errno));
		if (fd <= STDERR_FILENO)
			fcntl(fd, F_SETFD, 0);
	}
	close(fd);

	if (getrlimit(RLIMIT_NOFILE, ret_nofile))
		die("RLIMIT_NOFILE: %s", strerror(errno));
	most.rlim_cur = most.rlim_max = nr_open();
	if (most.rlim_max > ret_nofile->rlim_max &&
	    !setrlimit(RLIMIT_NOFILE, &most))
		return;
	most.rlim_cur = most.rlim_max = ret_nofile->rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
}

/* seccomp(forwarder): dup3 close
 * seccomp(agent): dup3 close
 * seccomp(reader): dup3 close */
void sandbox_stdio(int null)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup3(null, fd, 0);
	close(null);
}

/* Capabilities by number, as two words */
static uint64_t cap_bit(int cap)
{
	return cap < 0 ? 0 : 1ULL << cap;
}

/* Make @want, as far as they are permitted, the only capabilities */
static int caps_set(uint64_t want)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct d[2] = { { 0 } };

	if (syscall(__NR_capget, &h, d))
		return -errno;
	for (int i = 0; i < 2; i++) {
		d[i].permitted &= (uint32_t)(want >> i * 32);
		d[i].effective = d[i].permitted;
		d[i].inheritable = 0;
	}
	return syscall(__NR_capset, &h, d) ? -errno : 0;
}

bool sandbox_has(int cap)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct d[2] = { { 0 } };

	return !syscall(__NR_capget, &h, d) &&
	       d[cap / 32].effective >> cap % 32 & 1;
}

static bool is_already(uid_t uid, gid_t gid)
{
	return getuid() == uid && geteuid() == uid && getgid() == gid &&
	       getegid() == gid;
}

void sandbox_identity(uid_t uid, gid_t gid, bool keep_caps)
{
	/* A user namespace may forbid setgroups(); then there is no gain from
	 * groups either, and what follows fails if we have no right at all */
	bool is_bad = setgroups(0, NULL) && errno != EPERM;

	if (!is_bad && is_already(uid, gid))
		return;

	prctl(PR_SET_KEEPCAPS, keep_caps, 0, 0, 0);
	if (is_bad || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		die("cannot become UID %u, GID %u: %s; --runas needs root, and "
		    "both must exist in this user namespace",
		    (unsigned)uid, (unsigned)gid, strerror(errno));
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	if (keep_caps)
		caps_set(cap_bit(CAP_NET_BIND_SERVICE) |
			 cap_bit(CAP_SYS_ADMIN) | cap_bit(CAP_SETPCAP));
	/* The change has taken /proc/self from us, and our children's entries,
	 * where their user namespaces are set up. sandbox_seal() ends this. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Detaching the old root takes everything that was mounted with it. The new
 * one is mounted on /proc because that is always there. */
static void empty_root(void)
{
	unsigned long flags = MS_RDONLY | MS_NODEV | MS_NOEXEC | MS_NOSUID;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", flags,
		  "nr_inodes=2,size=4k,mode=0555") ||
	    chdir("/proc") || syscall(__NR_pivot_root, ".", ".") ||
	    umount2(".", MNT_DETACH) || chdir("/"))
		warn("the sandbox goes without an empty root: %s",
		     strerror(errno));
}

void sandbox_enclose(bool new_pid)
{
	int flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
	int error = 0;

	if (new_pid)
		flags |= CLONE_NEWPID;
	if (chdir("/"))
		warn("/: %s", strerror(errno));
	if (unshare(CLONE_NEWUSER))
		error = errno;
	if (unshare(flags)) {
		warn("the sandbox goes without namespaces: %s; a sysctl or "
		     "AppArmor may restrict them",
		     strerror(error ? error : errno));
		return;
	}
	if (error)
		warn("the sandbox goes without a user namespace: %s; a sysctl "
		     "or AppArmor may restrict them",
		     strerror(error));
	empty_root();
}

void sandbox_caps(int cap)
{
	int rc;

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Without CAP_SETPCAP the bounding set stays. It limits what exec gives
	 * and the filter forbids exec. */
	for (int i = 0; i <= 63; i++)
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0))
			break;
	rc = caps_set(cap_bit(cap));
	if (rc)
		die("cannot drop capabilities: %s", strerror(-rc));
}

static struct sock_filter stmt(unsigned code, uint32_t k)
{
	return (struct sock_filter){ .code = (uint16_t)code, .k = k };
}

/* Skip @yes instructions if equal, else @no */
static struct sock_filter branch(uint32_t k, unsigned yes, unsigned no)
{
	return (struct sock_filter){ .code = BPF_JMP | BPF_JEQ | BPF_K,
				     .jt = (uint8_t)yes,
				     .jf = (uint8_t)no,
				     .k = k };
}

static struct sock_filter load(size_t offset)
{
	return stmt(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Instructions that allow one call; returns their number */
static unsigned row_program(const struct sandbox_row *r, struct sock_filter *f)
{
	struct sock_filter kill = stmt(BPF_RET | BPF_K,
				       SECCOMP_RET_KILL_PROCESS);
	unsigned n = 0;

	if (r->arg < 0) {
		f[n++] = branch((uint32_t)r->nr, 0, 1);
	} else {
		f[n++] = branch((uint32_t)r->nr, 0, r->n + 3);
		f[n++] = load(offsetof(struct seccomp_data, args) +
			      (size_t)r->arg * sizeof(uint64_t) + LOW_WORD);
		for (unsigned i = 0; i < r->n; i++)
			f[n++] = branch(r->value[i], r->n - i, 0);
		f[n++] = kill;
	}
	f[n++] = stmt(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return n;
}

static void filter_calls(const struct sandbox_row *r)
{
	struct sock_filter f[FILTER_MAX];
	struct sock_fprog prog = { .filter = f };
	unsigned n = 0;

	f[n++] = load(offsetof(struct seccomp_data, arch));
	f[n++] = branch(ARCH_OURS, 1, 0);
	f[n++] = stmt(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[n++] = load(offsetof(struct seccomp_data, nr));
	for (; r->nr >= 0; r++) {
		if (n + VALUES_MAX + 5 > FILTER_MAX)
			die("the system call list is too long");
		n += row_program(r, f + n);
	}
	f[n++] = stmt(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	prog.len = (unsigned short)n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0))
		die("cannot filter system calls: %s; the kernel must have "
		    "CONFIG_SECCOMP_FILTER",
		    strerror(errno));
}

/* seccomp(forwarder): exit_group
 * seccomp(agent): exit_group
 * seccomp(reader): exit_group */
void sandbox_seal(enum sandbox_role role)
{
	static const struct sandbox_row *const list[] = {
		[ROLE_FORWARDER] = sandbox_forwarder,
		[ROLE_AGENT] = sandbox_agent,
		[ROLE_READER] = sandbox_reader,
	};

	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("prctl: %s", strerror(errno));
	if (HAS_FILTER)
		filter_calls(list[role]);
}
