/* stream_ns.c - a TCP socket connects and listens where it was made
 *
 * Proves: TCP sockets made in another user and network namespace, bound to
 * nothing, and passed by SCM_RIGHTS are set up, bound, connected and listened
 * on by the receiver, without any capability there; all of it, and what is
 * accepted, happens in the maker's namespace, also once its processes are
 * gone. */

#include "stream.h"

static void sockets(int via)
{
	for (int i = 0; i < 3; i++)
		fd_send(via, socket(AF_INET, SOCK_STREAM, 0));
}

int main(void)
{
	struct sockaddr_in sa = at("127.0.0.1", 5000);
	struct room r;
	int l, a, b, of, here;
	char c;

	enter();
	r = room_open(sockets);
	l = fd_recv(r.via);
	a = fd_recv(r.via);
	b = fd_recv(r.via);
	here = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(here >= 0);
	ok(!set_int(a, IPPROTO_TCP, TCP_NODELAY, 1), "the receiver sets up");
	ok(connect(a, SA(&sa)) && errno == ECONNREFUSED, "nobody there");
	ok(!bind(l, SA(&sa)) && !listen(l, 1), "the receiver listens there");
	ok(connect(here, SA(&sa)) && errno == ECONNREFUSED, "and not here");
	ok(!connect(a, SA(&sa)), "and connects there");
	of = accept(l, NULL, NULL);
	ok(send(a, "x", 1, 0) == 1 && recv(of, &c, 1, 0) == 1, "bytes pass");
	room_close(&r);
	ok(send(of, "y", 1, 0) == 1 && recv(a, &c, 1, 0) == 1,
	   "the maker is gone: bytes pass");
	ok(!connect(b, SA(&sa)), "and a new one connects");
	return done();
}
