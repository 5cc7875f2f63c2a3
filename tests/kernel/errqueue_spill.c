/* errqueue_spill.c - an error of one peer hits the next send to another
 *
 * Proves: on an unconnected socket with IP_RECVERR, an ICMP error makes the
 * next send fail, whoever it is for, and that datagram is not sent. Reading the
 * error queue to its end clears it beforehand. */

#include "lib.h"

int main(void)
{
	struct sockaddr_in closed = at("127.0.0.1", 1);
	struct sockaddr_in open_at = at("127.0.0.1", 5000);
	char buf[64];
	int s, r;

	enter();
	s = udp_at("127.0.0.1", 0);
	r = udp_at("127.0.0.1", 5000);
	must(!set_int(s, IPPROTO_IP, IP_RECVERR, 1));

	must(send_to(s, "a", 1, &closed) == 1);
	ok(send_to(s, "bb", 2, &open_at) < 0 && errno == ECONNREFUSED,
	   "the next send fails, though for another peer");
	is_int(send_to(s, "ccc", 3, &open_at), 3, "the one after passes");
	is_int(recv(r, buf, sizeof(buf), 0), 3, "what failed was not sent");
	while (recv(s, buf, sizeof(buf), MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		;

	must(send_to(s, "a", 1, &closed) == 1);
	is_int(recv(s, buf, sizeof(buf), MSG_ERRQUEUE | MSG_DONTWAIT), 1,
	       "the error queue quotes the payload");
	ok(recv(s, buf, sizeof(buf), MSG_ERRQUEUE | MSG_DONTWAIT) < 0,
	   "and is read to its end");
	is_int(send_to(s, "dddd", 4, &open_at), 4, "no send fails then");
	is_int(recv(r, buf, sizeof(buf), 0), 4, "and arrives");
	return done();
}
