/* tap_queue.c - the queue of a tap is as long as txqueuelen says
 *
 * Proves: the owner of a namespace sets txqueuelen of a tap to 4096 without
 * privileges (by rtnetlink; SIOCSIFTXQLEN asks for real root). A burst of 3,000
 * frames then waits for the reader, where the default of 1,000 loses two
 * thirds. The sender is not told of the loss. */

#include "lib.h"

#define BURST 3000

static void set_queue(int len)
{
	char command[64];

	snprintf(command, sizeof(command), "ip link set dev t txqueuelen %d",
		 len);
	ok(system(command) == 0, "queue of %d frames", len);
}

static int burst(int fd, int s)
{
	static uint8_t data[1200], frame[10 + MAX_FRAME];
	struct sockaddr_in to = at("10.9.0.2", 7);
	int i, sent = 0, got = 0;

	for (i = 0; i < BURST; i++)
		sent += send_to(s, data, sizeof(data), &to) > 0;
	is_int(sent, BURST, "no send fails");
	while (read(fd, frame, sizeof(frame)) > 0)
		got++;
	return got;
}

int main(void)
{
	int fd, s, got;

	enter();
	fd = tap_up(1500);
	s = udp_at("10.9.0.1", 0);
	set_queue(1000);
	got = burst(fd, s);
	ok(got <= 1000, "%d frames of %d wait", got, BURST);
	set_queue(4096);
	is_int(burst(fd, s), BURST, "frames that wait");
	return done();
}
