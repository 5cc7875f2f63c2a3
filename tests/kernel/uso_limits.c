/* uso_limits.c - how large a super-frame may be
 *
 * Proves: 64 segments pass on every kernel with USO, 129 on none. An IPv4
 * super-frame with more than 65,507 bytes of payload vanishes, although its
 * write succeeds: the writer must check. */

#include "lib.h"

int main(void)
{
	struct dgram d = { .port = 5000,
			   .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			   .gso_size = 100,
			   .len = 6400 };
	static uint8_t buf[MAX_FRAME];
	int fd, s, seg;

	enter();
	fd = tap_up(1500);
	s = udp_at("10.9.0.1", 5000);
	must(!set_int(s, SOL_UDP, UDP_GRO, 1));
	if (tap_write(fd, &d) < 0 && errno == EINVAL)
		skip_all("no USO on this kernel (Linux 6.2 has it)");
	is_int(recv_gro(s, buf, sizeof(buf), &seg), 6400, "64 segments");

	d.len = 12900;
	ok(tap_write(fd, &d) < 0 && errno == EINVAL, "129 are refused");

	d.gso_size = 1200;
	d.len = 65507;
	ok(tap_write(fd, &d) > 0, "the largest payload is written");
	is_int(recv_gro(s, buf, sizeof(buf), &seg), 65507, "and arrives");

	d.len = 65508;
	ok(tap_write(fd, &d) > 0, "one byte more is written, too");
	d.len = 1300;
	must(tap_write(fd, &d) > 0);
	is_int(recv_gro(s, buf, sizeof(buf), &seg), 1300,
	       "and lost: what was written next is next");
	return done();
}
