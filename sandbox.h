/* sandbox.h - give rights up
 * Knows: capabilities(7), user_namespaces(7), seccomp(2), prctl(2).
 * Does not know: who is being locked in.
 *
 * System calls are allowed by name in comments beside the code that makes
 * them, in any .c file: "seccomp" with the role in brackets and a colon, then
 * names; NAME(0=A|B) asks that argument 0, an int, be A or B. seccomp.awk
 * collects them at build time; everything else kills the process. */

#ifndef SANDBOX_H
#define SANDBOX_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/** enum sandbox_role - whose system call list */
enum sandbox_role { ROLE_FORWARDER, ROLE_AGENT, ROLE_READER };

/* The one way in which ROLE_READER may open a file */
#define SANDBOX_READ (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/** sandbox_fds() - close every inherited descriptor above 2 but @keep (or -1),
 * open /dev/null in place of missing 0 to 2, raise RLIMIT_NOFILE: soft to hard,
 * and hard as far as the kernel allows if we have the right
 * @ret_nofile: the limit as it was, for programs that we start */
void sandbox_fds(int keep, struct rlimit *ret_nofile);

/** sandbox_close() - close every descriptor above 2 but these two (or -1) */
void sandbox_close(int keep, int also);

/** sandbox_stdio() - put @null, a descriptor of /dev/null, in place of 0 to 2,
 * so that nobody waits for the end of our output, and close it */
void sandbox_stdio(int null);

/** sandbox_identity() - become @uid, @gid with no supplementary groups; keeps
 * CAP_NET_BIND_SERVICE and the rights to make and to join namespaces if
 * @keep_caps. Who is that already loses groups only, if he may. Dies on
 * failure. */
void sandbox_identity(uid_t uid, gid_t gid, bool keep_caps);

/** sandbox_enclose() - own user, mount, IPC, UTS and (@new_pid, for children)
 * PID namespace, empty read-only root. The user namespace maps nobody. Where
 * the kernel forbids a part, it goes without, with a warning. */
void sandbox_enclose(bool new_pid);

/** sandbox_caps() - keep only the capability @cap (-1: none), if we have it,
 * and nothing in the inheritable, ambient and bounding sets */
void sandbox_caps(int cap);

/** sandbox_has() - is a capability in our effective set? */
bool sandbox_has(int cap);

/** sandbox_seal() - not dumpable, no_new_privs, system call filter of @role */
void sandbox_seal(enum sandbox_role role);

#endif
