/* userns_caps.c - a process in its own user namespace has no rights outside
 *
 * Proves: after unshare(CLONE_NEWUSER) a process holds capabilities in the new
 * namespace only: it cannot change the network it came from. Once it drops them
 * CapEff is 0 and they do not come back. */

#include <linux/capability.h>
#include <sys/syscall.h>
#include "lib.h"

static int cap_set(uint32_t mask)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct d[2] = { { 0 } };

	d[0].effective = d[0].permitted = mask;
	return (int)syscall(SYS_capset, &h, d);
}

static uint32_t cap_eff(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct d[2] = { { 0 } };

	must(!syscall(SYS_capget, &h, d));
	return d[0].effective;
}

int main(void)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = 0 };
	int s;

	enter(); /* the network that is left behind */
	enter_user(0);
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(s >= 0);
	ok(cap_eff() & 1u << CAP_NET_ADMIN, "it holds CAP_NET_ADMIN");
	ok(ioctl(s, SIOCSIFFLAGS, &r) && errno == EPERM,
	   "and may not bring a link of the old network down");
	ok(!cap_set(0), "it drops all");
	is_int(cap_eff(), 0, "CapEff");
	ok(cap_set(1u << CAP_NET_ADMIN) && errno == EPERM, "none comes back");
	return done();
}
