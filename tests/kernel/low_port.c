/* low_port.c - binding a port below 1024 asks who calls bind()
 *
 * Proves: a process without rights over the namespace of a socket cannot bind
 * it to port 53, though it holds the socket; the maker can, and the socket so
 * bound works for the other. Why an agent inside hands out bound sockets. */

#include "lib.h"

static void bare_and_bound(int via)
{
	int bare = socket(AF_INET, SOCK_DGRAM, 0);

	fd_send(via, bare);
	fd_send(via, udp_at("127.0.0.1", 53));
	fd_send(via, socket(AF_INET, SOCK_DGRAM, 0));
}

int main(void)
{
	struct sockaddr_in low = at("127.0.0.2", 53);
	struct sockaddr_in high = at("127.0.0.2", 5000);
	struct sockaddr_in to = at("127.0.0.1", 53);
	int bare, bound, sender;
	struct room r;
	char buf[8];

	r = room_open(bare_and_bound);
	bare = fd_recv(r.via);
	bound = fd_recv(r.via);
	sender = fd_recv(r.via);
	enter_user(0); /* beside the other user namespace, not above it */
	ok(bind(bare, SA(&low)) && errno == EACCES, "port 53 is refused");
	ok(!bind(bare, SA(&high)), "port 5000 is not");
	must(send_to(sender, "a", 1, &to) == 1);
	is_int(recv(bound, buf, sizeof(buf), 0), 1,
	       "a socket that was bound inside receives");
	room_close(&r);
	return done();
}
