/* sock_diag.c - the bound ports of a namespace, listed from outside
 *
 * Proves: a NETLINK_SOCK_DIAG socket made in a namespace lists that namespace's
 * UDP sockets to whoever holds it, without a capability. An unconnected UDP
 * socket has state 7. */

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include "lib.h"

static void diag_and_port(int via)
{
	udp_at("0.0.0.0", 5123);
	fd_send(via, socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG));
}

static void ask(int fd)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 q;
	} m = { .h = { .nlmsg_len = sizeof(m),
		       .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.q = { .sdiag_family = AF_INET,
		       .sdiag_protocol = IPPROTO_UDP,
		       .idiag_states = ~0u } };

	must(send(fd, &m, sizeof(m), 0) == sizeof(m));
}

static void look(const struct nlmsghdr *h, int *ret_count, int *ret_state)
{
	const struct inet_diag_msg *d = NLMSG_DATA(h);

	++*ret_count;
	if (ntohs(d->id.idiag_sport) == 5123)
		*ret_state = d->idiag_state;
}

int main(void)
{
	union {
		struct nlmsghdr h;
		char buf[32768];
	} u;
	struct nlmsghdr *h;
	struct room r;
	int fd, count = 0, state = -1, is_over = 0;
	long n;

	r = room_open(diag_and_port);
	fd = fd_recv(r.via);
	enter_user(0);
	ask(fd);
	while (!is_over && (n = recv(fd, u.buf, sizeof(u.buf), 0)) > 0) {
		for (h = &u.h; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_ERROR)
				skip_all("no udp_diag in this kernel");
			is_over = h->nlmsg_type == NLMSG_DONE;
			if (!is_over)
				look(h, &count, &state);
		}
	}
	is_int(count, 1, "one socket is listed");
	is_int(state, 7, "state of an unconnected UDP socket");
	room_close(&r);
	return done();
}
