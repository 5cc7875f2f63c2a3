/* trial.c - try namespaces and a tap, and leave nothing behind
 *
 * Problem: whether a user may make namespaces, and what the tap in them can do,
 * depends on sysctls, security modules, a container's filter and the kernel's
 * age. Reading all of these does not tell what they do together.
 *
 * Idea: a child makes the namespaces and a tap in them, notes how far it came,
 * and exits; the namespaces go with it. Its own identity is not mapped, which
 * nothing here needs.
 *
 * Not here: what follows from the outcome (precheck.c). */

#include "trial.h"

#include "netlink.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *trial_tun_cure(int error)
{
	switch (error) {
	case ENOENT:
		return "the device is missing: modprobe tun; a container needs "
		       "--device /dev/net/tun";
	case ENODEV:
	case ENXIO:
		return "the kernel has no driver for it: modprobe tun";
	case ENOTTY:
	case ENOTDIR:
	case EISDIR:
		return "it is not the tun device: mknod /dev/net/tun c 10 200";
	case EACCES:
		return "it should be character device 10, 200 of mode 0666: "
		       "chmod 0666 /dev/net/tun";
	case EPERM:
		return "a container needs --device /dev/net/tun, and the user "
		       "namespace must own the network namespace";
	case EBUSY:
	case EINVAL:
		return "the namespace has an interface of this name, or none "
		       "can have it: choose another by --ns-ifname";
	default:
		return "modprobe tun, or look at its mode";
	}
}

static void try_tap(struct trial *t)
{
	static struct tap tap;
	struct nl_link_conf queue = { .tx_queue = TAP_QUEUE };
	const struct head_link ends = { 0 };
	const char *what = "";
	struct stats stats = { 0 };
	struct nl_link link;
	int fd = tap_tun_open("check0", &what);
	int rtnl;

	if (fd < 0) {
		t->tap = -fd;
		snprintf(t->what, sizeof(t->what), "%s", what);
		return;
	}
	tap_init(&tap, fd, OFFLOAD_USO, &ends, &stats);
	t->offload = tap.offload;
	rtnl = netlink_open(NETLINK_ROUTE);
	if (rtnl < 0) {
		t->tx_queue = -rtnl;
		return;
	}
	t->tx_queue = -netlink_link_by_name(rtnl, "check0", &link);
	if (!t->tx_queue)
		t->tx_queue = -netlink_link_set(rtnl, link.ifindex, &queue);
}

/* Root needs no user namespace for the rest */
static void try_namespaces(struct trial *t)
{
	if (unshare(CLONE_NEWUSER))
		t->userns = errno;
	if (unshare(CLONE_NEWNET))
		t->netns = errno;
	else
		try_tap(t);
}

void trial_run(struct trial *ret)
{
	struct trial t = { 0 };
	ssize_t len = 0;
	int fd[2];
	pid_t pid;

	ret->error = EIO;
	if (pipe2(fd, O_CLOEXEC)) {
		ret->error = errno;
		return;
	}
	pid = fork();
	if (pid < 0)
		ret->error = errno;
	if (!pid) {
		try_namespaces(&t);
		_exit(write(fd[1], &t, sizeof(t)) != sizeof(t));
	}
	close(fd[1]);
	if (pid > 0) {
		len = read(fd[0], &t, sizeof(t));
		waitpid(pid, NULL, 0);
	}
	close(fd[0]);
	if (len == sizeof(t))
		*ret = t;
}
