/* gso_mtu.c - a segmented send wants segments that fit the path
 *
 * Proves: where a segment and its headers exceed the MTU the send is refused,
 * although the same datagrams pass one by one (in fragments). The refusal is
 * EMSGSIZE, EINVAL on some kernels, and leaves nothing on the error queue. */

#include "lib.h"

int main(void)
{
	struct sockaddr_in to = at("10.9.0.2", 7);
	static uint8_t data[2944], frame[MAX_FRAME];
	struct virtio_net_hdr v = { 0 };
	int fd, s, pmtu = IP_PMTUDISC_DONT;
	long n;

	enter();
	fd = tap_up(1300);
	must(!ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM));
	s = udp_at("10.9.0.1", 0);
	must(!setsockopt(s, IPPROTO_IP, IP_MTU_DISCOVER, &pmtu, sizeof(pmtu)));
	must(!set_int(s, IPPROTO_IP, IP_RECVERR, 1));
	n = send_seg(s, data, sizeof(data), 1472, &to);
	ok(n < 0 && (errno == EMSGSIZE || errno == EINVAL), "refused: %s",
	   strerror(errno));
	ok(recv(s, frame, sizeof(frame), MSG_ERRQUEUE | MSG_DONTWAIT) < 0,
	   "nothing on the error queue");
	is_int(send_to(s, data, 1472, &to), 1472, "alone it passes");
	is_int(tap_read(fd, frame, &v), 14 + 1300, "first fragment");
	ok(tap_read(fd, frame, &v) > 0, "second fragment");
	is_int(send_seg(s, data, 2000, 1000, &to), 2000,
	       "segments that fit pass on the same socket");
	return done();
}
