/* rights_ns.c - a socket acts in the namespace that made it
 *
 * Proves: UDP sockets made in another user and network namespace and passed by
 * SCM_RIGHTS are bound and used by the receiver, without any capability there,
 * and what they do happens in the maker's namespace, even when all its
 * processes are gone. */

#include "lib.h"

static void two_sockets(int via)
{
	fd_send(via, socket(AF_INET, SOCK_DGRAM, 0));
	fd_send(via, socket(AF_INET, SOCK_DGRAM, 0));
}

int main(void)
{
	struct timeval second = { .tv_sec = 1 };
	struct sockaddr_in sa = at("127.0.0.1", 5000);
	struct room r;
	int a, b, here;
	char buf[8];

	enter();
	r = room_open(two_sockets);
	a = fd_recv(r.via);
	b = fd_recv(r.via);
	must(!setsockopt(a, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second)));
	here = udp_at("127.0.0.1", 5000);
	ok(!bind(a, SA(&sa)), "its port space is another");
	is_int(send_to(b, "a", 1, &sa), 1, "the receiver sends");
	is_int(recv(a, buf, sizeof(buf), 0), 1, "it arrives in that namespace");
	ok(recv(here, buf, sizeof(buf), MSG_DONTWAIT) < 0, "and not in ours");
	room_close(&r);
	is_int(send_to(b, "bb", 2, &sa), 2, "the maker is gone: still sends");
	is_int(recv(a, buf, sizeof(buf), 0), 2, "still arrives");
	return done();
}
