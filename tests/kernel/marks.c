/* marks.c - one send carries segments, source address, TOS and TTL
 *
 * Proves: UDP_SEGMENT, IP_PKTINFO (ipi_spec_dst), IP_TOS and IP_TTL go in one
 * message of an unconnected socket, and every segment gets them all. */

#include "lib.h"

static void add(struct msghdr *m, int level, int type, const void *data,
		size_t len)
{
	struct cmsghdr *c = (void *)((char *)m->msg_control +
				     m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	m->msg_controllen += CMSG_SPACE(len);
}

static void send_all(int s, struct sockaddr_in *to)
{
	static char data[2000];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	union {
		char buf[256];
		struct cmsghdr align;
	} u = { 0 };
	struct msghdr m = { .msg_name = to,
			    .msg_namelen = sizeof(*to),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.buf };
	struct in_pktinfo info = { 0 };
	int tos = 0xb8, ttl = 77;
	uint16_t seg = 1000;

	info.ipi_spec_dst.s_addr = inet_addr("127.0.0.9");
	add(&m, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg));
	add(&m, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	add(&m, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	add(&m, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl));
	is_int(sendmsg(s, &m, 0), 2000, "one send");
}

static void check_one(int r, const char *which)
{
	union {
		char buf[256];
		struct cmsghdr align;
	} u;
	char data[2000];
	struct sockaddr_in from;
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct msghdr m = { .msg_name = &from,
			    .msg_namelen = sizeof(from),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	uint8_t tos = 0;
	int ttl = 0;
	struct cmsghdr *c;

	is_int(recvmsg(r, &m, 0), 1000, "%s segment", which);
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_type == IP_TOS)
			memcpy(&tos, CMSG_DATA(c), sizeof(tos));
		if (c->cmsg_type == IP_TTL)
			memcpy(&ttl, CMSG_DATA(c), sizeof(ttl));
	}
	is_int(tos, 0xb8, "%s: TOS", which);
	is_int(ttl, 77, "%s: TTL", which);
	is_int(from.sin_addr.s_addr, inet_addr("127.0.0.9"), "%s: source",
	       which);
}

int main(void)
{
	struct sockaddr_in to = at("127.0.0.1", 5000);
	int s, r;

	enter();
	s = udp_at("0.0.0.0", 0);
	r = udp_at("127.0.0.1", 5000);
	must(!set_int(r, IPPROTO_IP, IP_RECVTOS, 1));
	must(!set_int(r, IPPROTO_IP, IP_RECVTTL, 1));
	send_all(s, &to);
	check_one(r, "first");
	check_one(r, "second");
	return done();
}
