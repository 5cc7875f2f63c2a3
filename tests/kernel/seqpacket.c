/* seqpacket.c - a socket pair carries the longest frame whole
 *
 * Proves: a SOCK_SEQPACKET pair keeps the boundaries of messages of 10 + 65,549
 * bytes, so that it can stand for a tap, and reads 0 once the peer is gone. */

#include "lib.h"

#define LONGEST (10 + 65549)

int main(void)
{
	static uint8_t data[LONGEST], buf[LONGEST + 1];
	int pair[2];

	data[LONGEST - 1] = 7;
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	is_int(write(pair[0], data, sizeof(data)), LONGEST, "written");
	is_int(write(pair[0], data, 24), 24, "and a short one");
	is_int(read(pair[1], buf, sizeof(buf)), LONGEST, "read whole");
	is_mem(buf, data, LONGEST, "the same bytes");
	is_int(read(pair[1], buf, sizeof(buf)), 24, "then the short one");
	close(pair[0]);
	is_int(read(pair[1], buf, sizeof(buf)), 0, "then the end");
	return done();
}
