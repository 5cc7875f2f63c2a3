/* sock_error.c - errors that the kernel queues at a UDP socket
 *
 * An ICMP message about a datagram of ours, or a refusal by our own kernel, is
 * kept at the socket with the beginning of what was sent. It is read like a
 * datagram, from a queue of its own; what happened comes in control messages.
 * The error also waits at the socket for whatever call is next: that second
 * report says nothing more, and is cleared with the end of the queue.
 *
 * It does not judge: whom an error is about, and whether anybody hears of it,
 * is for who knows the conversations. */

#include "sock_error.h"

#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* seccomp(forwarder): recvmsg getsockopt */

static void read_extended(const struct sock_extended_err *ee,
			  struct sock_error *e)
{
	union sockaddr_ip offender = { 0 };

	e->origin = ee->ee_origin == SO_EE_ORIGIN_ICMP	? SOCK_ERROR_ICMP :
		    ee->ee_origin == SO_EE_ORIGIN_ICMP6 ? SOCK_ERROR_ICMP6 :
							  SOCK_ERROR_LOCAL;
	e->error = (int)ee->ee_errno;
	e->type = ee->ee_type;
	e->code = ee->ee_code;
	e->info = ee->ee_info;
	memcpy(&offender, SO_EE_OFFENDER(ee), sizeof(offender.v6));
	if (offender.sa.sa_family != AF_UNSPEC)
		e->offender = end_from_sockaddr(&offender).addr;
}

/* PKTINFO of an error names our address in the other member. */
static void read_error(const struct cmsghdr *c, struct sock_error *e)
{
	/* The kernel leaves room for the offender behind the error */
	union {
		struct sock_extended_err ee;
		uint8_t buf[sizeof(struct sock_extended_err) +
			    sizeof(union sockaddr_ip)];
	} err = { 0 };
	size_t len = c->cmsg_len - CMSG_LEN(0);

	if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
	    (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR)) {
		memcpy(&err, CMSG_DATA(c),
		       len < sizeof(err) ? len : sizeof(err));
		read_extended(&err.ee, e);
	} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		struct in_pktinfo info;

		memcpy(&info, CMSG_DATA(c), sizeof(info));
		e->from = addr_v4(ntohl(info.ipi_addr.s_addr));
	} else if (c->cmsg_level == IPPROTO_IPV6 &&
		   c->cmsg_type == IPV6_PKTINFO) {
		struct in6_pktinfo info;

		memcpy(&info, CMSG_DATA(c), sizeof(info));
		e->from = addr_from_bytes(&info.ipi6_addr, FAMILY_V6);
	}
}

bool sock_error_read(int fd, struct sock_error *ret_error)
{
	union {
		struct cmsghdr align;
		uint8_t buf[512];
	} control;
	union sockaddr_ip name = { 0 };
	struct iovec iov = { ret_error->buf, sizeof(ret_error->buf) };
	struct msghdr m = { .msg_name = &name,
			    .msg_namelen = sizeof(name),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	socklen_t size = sizeof(int);
	struct cmsghdr *c;
	ssize_t len = recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT);
	int pending;

	if (len < 0) {
		(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &pending, &size);
		return false;
	}
	ret_error->to = end_from_sockaddr(&name);
	ret_error->from = (struct addr){ 0 };
	ret_error->offender = (struct addr){ 0 };
	ret_error->len = (uint32_t)len;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		read_error(c, ret_error);
	return true;
}
