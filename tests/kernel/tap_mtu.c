/* tap_mtu.c - the MTU of a tap limits what it sends, not what it gets
 *
 * Proves: a single frame with the largest IPv4 payload, 65,507 bytes, is
 * delivered at MTU 1280. */

#include "lib.h"

int main(void)
{
	struct dgram d = { .port = 5000,
			   .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			   .len = 65507 };
	static uint8_t buf[MAX_FRAME];
	int fd, s;

	enter();
	fd = tap_up(1280);
	s = udp_at("10.9.0.1", 5000);
	ok(tap_write(fd, &d) > 0, "a long frame is written");
	is_int(recv(s, buf, sizeof(buf), 0), 65507, "and arrives whole");
	return done();
}
