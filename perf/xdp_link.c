/* xdp_link.c - attach an XDP program to an interface, by rtnetlink
 *
 * The request fails if the interface has a program already: taking away what
 * somebody else attached is not ours to do. Why a driver refuses is said in
 * words by the kernel's extended acknowledgement, which is passed on. */

#include "xdp.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	struct nlmsghdr nlh;
	struct ifinfomsg ifi;
	struct nlattr xdp;
	struct nlattr fd_attr;
	int32_t fd;
	struct nlattr flags_attr;
	uint32_t flags;
};

static const char *kernel_words(const struct nlmsghdr *nlh, unsigned len)
{
	/* Behind the error and the header it answers to; the rest is cut off */
	const char *at = (const char *)nlh + NLMSG_HDRLEN +
			 sizeof(struct nlmsgerr);
	const char *end = (const char *)nlh + len;

	while (nlh->nlmsg_flags & NLM_F_ACK_TLVS &&
	       at + sizeof(struct nlattr) <= end) {
		struct nlattr a;

		memcpy(&a, at, sizeof(a));
		if (a.nla_len < sizeof(a))
			break;
		if ((a.nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			return at + sizeof(a);
		at += NLA_ALIGN(a.nla_len);
	}
	return "";
}

static void check_answer(int fd, const char *what)
{
	static union {
		struct nlmsghdr nlh;
		char buf[8192];
	} u;
	ssize_t n = recv(fd, u.buf, sizeof(u.buf) - 1, 0);
	struct nlmsgerr e;

	if (n < (ssize_t)(NLMSG_HDRLEN + sizeof(e)))
		exit(1);
	memcpy(&e, NLMSG_DATA(&u.nlh), sizeof(e));
	if (!e.error)
		return;
	fprintf(stderr, "xdp: %s: %s. %s\n", what, strerror(-e.error),
		kernel_words(&u.nlh, (unsigned)n));
	exit(1);
}

void link_attach(int ifindex, int prog_fd, bool is_native)
{
	struct request r = {
		.nlh = { .nlmsg_len = sizeof(r),
			 .nlmsg_type = RTM_SETLINK,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.ifi = { .ifi_index = ifindex },
		.xdp = { sizeof(r) - offsetof(struct request, xdp),
			 NLA_F_NESTED | IFLA_XDP },
		.fd_attr = { 8, IFLA_XDP_FD },
		.fd = prog_fd,
		.flags_attr = { 8, IFLA_XDP_FLAGS },
		.flags = is_native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int on = 1;

	if (prog_fd >= 0)
		r.flags |= XDP_FLAGS_UPDATE_IF_NOEXIST;
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	if (fd < 0 || send(fd, &r, sizeof(r), 0) != sizeof(r)) {
		perror("xdp: netlink");
		exit(1);
	}
	check_answer(fd, prog_fd >= 0 ? "attach" : "detach");
	close(fd);
}
