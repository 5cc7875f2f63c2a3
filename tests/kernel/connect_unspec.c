/* connect_unspec.c - a bound socket survives being connected for a while
 *
 * Proves: connect() and then AF_UNSPEC on a socket bound to an address leave
 * address, port and queue as they were; while it is connected it refuses all
 * other remotes. */

#include "lib.h"

int main(void)
{
	struct sockaddr_in ours = at("127.0.0.1", 5000);
	struct sockaddr_in peer = at("127.0.0.1", 5001), now;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	socklen_t len = sizeof(now);
	int s, stranger;
	char buf[16];

	enter();
	s = udp_at("127.0.0.1", 5000);
	stranger = udp_at("127.0.0.1", 0);
	must(!set_int(stranger, IPPROTO_IP, IP_RECVERR, 1));
	must(send_to(stranger, "a", 1, &ours) == 1);
	ok(!connect(s, SA(&peer)), "it connects");
	must(send_to(stranger, "bb", 2, &ours) == 2);
	is_int(recv(stranger, buf, sizeof(buf), MSG_ERRQUEUE), 2,
	       "another remote is refused");
	ok(!connect(s, &none, sizeof(none)), "it disconnects");
	must(!getsockname(s, (struct sockaddr *)(void *)&now, &len));
	is_int(ntohs(now.sin_port), 5000, "the port stays");
	is_int(now.sin_addr.s_addr, ours.sin_addr.s_addr,
	       "so does the address");
	is_int(recv(s, buf, sizeof(buf), 0), 1, "so does the queue");
	(void)recv(stranger, buf, sizeof(buf), MSG_DONTWAIT);
	must(send_to(stranger, "ccc", 3, &ours) == 3);
	is_int(recv(s, buf, sizeof(buf), 0), 3, "all remotes are heard again");
	return done();
}
