/* uso_offload.c - the offload flags of a tap come in groups
 *
 * Proves: TUNSETOFFLOAD wants TUN_F_CSUM with every segmentation flag, takes
 * USO4 and USO6 together only, and leaves the flags as they were when it
 * refuses. With USO on, a segmented send inside arrives as one frame. */

#include "lib.h"

#define TSO (TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN)
#define USO (TUN_F_USO4 | TUN_F_USO6)

static void one_frame(int fd)
{
	static uint8_t data[4400], frame[MAX_FRAME];
	struct sockaddr_in to = at("10.9.0.2", 7);
	int s = udp_at("10.9.0.1", 0);
	struct virtio_net_hdr v = { 0 };
	long n;

	must(send_seg(s, data, sizeof(data), 1100, &to) == sizeof(data));
	n = tap_read(fd, frame, &v);
	is_int(n, UDP_HEAD + sizeof(data), "one frame holds all segments");
	is_int(v.gso_type, VIRTIO_NET_HDR_GSO_UDP_L4, "its type");
	is_int(v.gso_size, 1100, "its segment size");
	is_int(v.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM, "partial checksum");
	is_int(v.csum_start, 34, "where the checksum begins");
	is_int(v.csum_offset, 6, "where the checksum goes");
	close(s);
}

int main(void)
{
	int fd;

	enter();
	fd = tap_up(1500);
	ok(ioctl(fd, TUNSETOFFLOAD, TUN_F_TSO4) && errno == EINVAL,
	   "TSO without CSUM is refused");
	ok(!ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM), "CSUM alone is taken");
	ok(!ioctl(fd, TUNSETOFFLOAD, TSO), "TSO is taken");
	if (ioctl(fd, TUNSETOFFLOAD, TSO | USO)) {
		is_int(errno, EINVAL, "an unknown flag is EINVAL");
		skip_all("no USO on this kernel (Linux 6.2 has it)");
	}
	ok(1, "USO is taken");
	ok(ioctl(fd, TUNSETOFFLOAD, TSO | TUN_F_USO4) && errno == EINVAL,
	   "USO4 alone is refused");
	ok(ioctl(fd, TUNSETOFFLOAD, TSO | TUN_F_USO6) && errno == EINVAL,
	   "USO6 alone is refused");
	one_frame(fd);
	return done();
}
