/* gso_limits.c - the messages UDP_GRO and UDP_SEGMENT, and their limits
 *
 * Proves: UDP_SEGMENT is a 16-bit number and an int is refused; UDP_GRO is an
 * int and absent when one datagram was read. 64 segments pass everywhere, 129
 * nowhere; a payload of 65,508 bytes is EMSGSIZE; one that fits a segment is an
 * ordinary datagram. */

#include "lib.h"

static uint8_t data[MAX_FRAME], buf[MAX_FRAME];

static void int_is_refused(int s, const struct sockaddr_in *to)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = { 0 };
	struct sockaddr_in sa = *to;
	struct iovec iov = { .iov_base = data, .iov_len = 2000 };
	struct msghdr m = { .msg_name = &sa,
			    .msg_namelen = sizeof(sa),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int seg = 1000;

	c->cmsg_level = SOL_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(seg));
	memcpy(CMSG_DATA(c), &seg, sizeof(seg));
	ok(sendmsg(s, &m, 0) < 0 && errno == EINVAL, "an int is refused");
}

/* Loopback splits what is longer than its gso_max_size with its headers */
static long recv_all(int r)
{
	long n, total = 0;
	int seg;

	while (total < 65507 && (n = recv_gro(r, buf, sizeof(buf), &seg)) > 0)
		total += n;
	return total;
}

int main(void)
{
	struct sockaddr_in to = at("127.0.0.1", 5000);
	int s, r, seg;

	enter();
	s = udp_at("127.0.0.1", 0);
	r = udp_at("127.0.0.1", 5000);
	must(!set_int(r, SOL_UDP, UDP_GRO, 1));

	int_is_refused(s, &to);
	is_int(send_seg(s, data, 6400, 100, &to), 6400, "64 segments");
	is_int(recv_gro(r, buf, sizeof(buf), &seg), 6400, "in one read");
	is_int(seg, 100, "of 100 bytes each");
	ok(send_seg(s, data, 12900, 100, &to) < 0 && errno == EINVAL,
	   "129 segments are refused");
	is_int(send_seg(s, data, 65507, 1200, &to), 65507, "65,507 bytes");
	is_int(recv_all(r), 65507, "arrive");
	ok(send_seg(s, data, 65508, 1200, &to) < 0 && errno == EMSGSIZE,
	   "65,508 are refused");
	is_int(send_seg(s, data, 100, 100, &to), 100, "one segment");
	is_int(recv_gro(r, buf, sizeof(buf), &seg), 100, "arrives");
	is_int(seg, 0, "without a message");
	return done();
}
