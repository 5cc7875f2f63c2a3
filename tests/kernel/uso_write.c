/* uso_write.c - a UDP super-frame may be written whatever was offered
 *
 * Proves: a GSO_UDP_L4 frame written to a tap without any TUNSETOFFLOAD is
 * delivered: to a plain socket as single datagrams, to a UDP_GRO socket in one
 * read that tells the segment size. A shorter last segment is allowed. */

#include "lib.h"

int main(void)
{
	struct dgram d = { .port = 5000,
			   .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			   .gso_size = 1000,
			   .len = 2500 };
	static uint8_t buf[MAX_FRAME];
	int fd, plain, gro, seg;

	enter();
	fd = tap_up(1500);
	plain = udp_at("10.9.0.1", 5000);
	gro = udp_at("10.9.0.1", 5001);
	must(!set_int(gro, SOL_UDP, UDP_GRO, 1));
	if (tap_write(fd, &d) < 0 && errno == EINVAL)
		skip_all("no USO on this kernel (Linux 6.2 has it)");
	is_int(recv(plain, buf, sizeof(buf), 0), 1000, "plain: first");
	is_int(recv(plain, buf, sizeof(buf), 0), 1000, "plain: second");
	is_int(recv(plain, buf, sizeof(buf), 0), 500, "plain: the rest");

	d.port = 5001;
	must(tap_write(fd, &d) > 0);
	is_int(recv_gro(gro, buf, sizeof(buf), &seg), 2500, "GRO: all at once");
	is_int(seg, 1000, "GRO: segment size");
	return done();
}
