/* netns.h - spawn a command in new namespaces, or attach to existing ones
 * Knows: clone(2), setns(2), user mappings, how the end of a target is seen.
 * Does not know: what happens inside. */

#ifndef NETNS_H
#define NETNS_H

#include "conf.h"
#include "loop.h"

#include <sys/resource.h>

#define NETNS_PROC_MAX 32 /* "/proc/PID/ns/user" and the like */

/** struct netns - the target
 * @user, @net: namespace descriptors; @user -1: stay in ours
 * @child:      spawned command, 0 if attached     @pidfd: it, or the PID
 *              attached to; -1: watched by path
 * @release:    our end of the spawned command's start signal, -1 if attached
 * @proc:       path made from a PID   @path: of the network namespace
 * @dir, @base: directory and name to poll; @dir -1: not polled
 * @inotify:    -1: poll once per second
 * @poll_ms:    next poll */
struct netns {
	int user;
	int net;
	pid_t child;
	int pidfd;
	int release;
	char proc[NETNS_PROC_MAX];
	const char *path;
	int dir;
	const char *base;
	int inotify;
	struct watch watch;
	struct timer timer;
	int64_t poll_ms;
	struct loop *loop;
};

/** netns_spawn() - clone the command into new user, network, mount, PID, IPC
 * and UTS namespaces; it waits there for netns_release() and dies with us
 * @nofile: RLIMIT_NOFILE that the command gets */
void netns_spawn(struct netns *n, const struct conf *c,
		 const struct rlimit *nofile);

/** netns_open() - open the namespaces of a PID or path, and what is needed to
 * see its end, unless --no-netns-quit. Dies on failure. */
void netns_open(struct netns *n, const struct conf *c);

/** netns_enter() - in the agent: join both. Dies on failure. */
void netns_enter(const struct netns *n);

/** netns_forget() - close the namespaces' descriptors: set-up is over */
void netns_forget(struct netns *n);

/** netns_watch() - end the loop when the target ends: with the command's exit
 * status (128 + signal), or 0 for an attached target */
void netns_watch(struct netns *n, struct loop *l);

/** netns_release() - let the spawned command run; no-op if attached */
void netns_release(struct netns *n);

#endif
