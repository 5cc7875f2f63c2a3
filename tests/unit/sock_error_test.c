/* sock_error_test.c - errors of the loopback interface, read from the queue */

#include "sock_error.h"

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* Where nobody listens: a port that was ours a moment ago. */
static struct end closed_end(int family, union sockaddr_ip *ret_sa)
{
	int fd = socket(family, SOCK_DGRAM, 0);
	socklen_t len = sizeof(*ret_sa);

	memset(ret_sa, 0, sizeof(*ret_sa));
	ret_sa->sa.sa_family = (sa_family_t)family;
	if (family == AF_INET)
		ret_sa->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		ret_sa->v6.sin6_addr = in6addr_loopback;
	ok(!bind(fd, &ret_sa->sa, len) && !getsockname(fd, &ret_sa->sa, &len),
	   "a port");
	close(fd);
	return end_from_sockaddr(ret_sa);
}

static void refused(int family, enum sock_error_origin origin, uint8_t type,
		    uint8_t code)
{
	bool is_v4 = family == AF_INET;
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0), one = 1, rc;
	struct pollfd p = { .fd = fd };
	struct sock_error e = { 0 };
	union sockaddr_ip sa;
	struct end to = closed_end(family, &sa);

	ok(!sock_error_read(fd, &e), "nothing yet, IPv%c", is_v4 ? '4' : '6');
	setsockopt(fd, is_v4 ? IPPROTO_IP : IPPROTO_IPV6,
		   is_v4 ? IP_RECVERR : IPV6_RECVERR, &one, sizeof(one));
	is_int(sendto(fd, "hello", 5, 0, &sa.sa, sizeof(sa)), 5, "sent");
	is_int(poll(&p, 1, 5000), 1, "an error is told");

	ok(sock_error_read(fd, &e), "it is in the queue");
	ok(end_eq(&e.to, &to), "where it was sent");
	is_int(e.origin, origin, "who made it");
	is_int(e.error, ECONNREFUSED, "what it means");
	ok(e.type == type && e.code == code, "ICMP type and code");
	ok(addr_eq(&e.offender, &to.addr), "who reported it");
	ok(!addr_is_set(&e.from), "our address is not known");
	is_int(e.len, 5, "payload");
	is_mem(e.buf, "hello", 5, "bytes");

	ok(!sock_error_read(fd, &e), "the only one");
	rc = (int)sendto(fd, "again", 5, 0, &sa.sa, sizeof(sa));
	is_int(rc, 5, "no error is left for the next send");
	close(fd);
}

int main(void)
{
	refused(AF_INET, SOCK_ERROR_ICMP, 3, 3);
	refused(AF_INET6, SOCK_ERROR_ICMP6, 1, 4);
	return done();
}
