/* errqueue_full.c - unread errors stop all reception
 *
 * Proves: entries of the error queue are charged to the receive buffer; some
 * hundred unread ones and the socket receives nothing any more. Reading them
 * cures it. */

#include "lib.h"

#define BURST 20

/* How many of BURST datagrams to @s are received */
static int received(int from, int s)
{
	struct sockaddr_in ours = at("127.0.0.1", 5000);
	static char data[1472];
	int i, n = 0;

	for (i = 0; i < BURST; i++)
		must(send_to(from, data, sizeof(data), &ours) > 0);
	/* The first may return an error that is pending instead */
	for (i = 0; i < BURST + 1; i++)
		n += recv(s, data, sizeof(data), MSG_DONTWAIT) > 0;
	return n;
}

int main(void)
{
	struct sockaddr_in closed = at("127.0.0.1", 1);
	int s, other, i, n, errors = 0;
	char buf[64];

	enter();
	s = udp_at("127.0.0.1", 5000);
	other = udp_at("127.0.0.1", 0);
	must(!set_int(s, IPPROTO_IP, IP_RECVERR, 1));
	must(!set_int(s, SOL_SOCKET, SO_RCVBUF, 106496));

	is_int(received(other, s), BURST, "it receives");
	for (i = 0; i < 2000; i++)
		send_to(s, "x", 1, &closed); /* half of them fail: spill */
	n = received(other, s);
	ok(n <= 1, "with a full error queue it does not: %d of %d", n, BURST);
	while (recv(s, buf, sizeof(buf), MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		errors++;
	ok(errors > 50 && errors < 1000, "%d errors were queued", errors);
	is_int(received(other, s), BURST, "drained, it receives again");
	return done();
}
