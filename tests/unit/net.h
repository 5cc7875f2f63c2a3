/* net.h - a network namespace of the test's own, and plain sockets in it
 * Knows: unshare(2), lo.  Does not know: sock, so that it is a second opinion.
 *
 * Nothing else is bound there, so ports may be fixed, and nothing leaves. */

#ifndef NET_H
#define NET_H

#include "addr.h"
#include "check.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NET_WAIT_MS 2000 /* for what must come: longer than any stall */

/** A_() - an address from its text */
static inline struct addr A_(const char *text) {
	struct addr a = { 0 };

	if (!addr_parse(text, &a))
		ok(false, "not an address: %s", text);
	return a;
}

/** E() - an endpoint from text and port */
static inline struct end
E(const char *text, uint16_t port) {
	struct addr a = A_(text);

	return end_make(&a, port, 0);
}

#define END_TEXT 72

/** end_text() - "address port", with the scope if there is one; returns @buf */
static inline const char *
end_text(const struct end *e, char buf[static END_TEXT])
{
	char text[ADDR_STRLEN], scope[16] = "";

	if (e->scope)
		snprintf(scope, sizeof(scope), "%%%u", e->scope);
	snprintf(buf, END_TEXT, "%s%s %u", addr_format(&e->addr, text), scope,
		 e->port);
	return buf;
}

static inline int net_lo_flags(int fd, int add)
{
	struct ifreq r = { .ifr_name = "lo" };

	if (ioctl(fd, SIOCGIFFLAGS, &r))
		return -1;
	r.ifr_flags = (short)(r.ifr_flags | add);
	return ioctl(fd, SIOCSIFFLAGS, &r);
}

/** net_enter() - into a fresh namespace with lo up, or end the test */
static inline void net_enter(void)
{
	int fd;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		skip_all("no network namespace: %s", strerror(errno));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || net_lo_flags(fd, IFF_UP))
		skip_all("lo: %s", strerror(errno));
	close(fd);
}

/** net_has_v6() - does this kernel have IPv6? */
static inline bool net_has_v6(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/** net_is_up() - has address @a come into use: may it be bound and reached? */
static inline bool net_is_up(const struct addr *a)
{
	struct end e = end_make(a, 0, 0);
	int family = addr_is_v4(a) ? AF_INET : AF_INET6;
	int rc, fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union sockaddr_ip sa;
	socklen_t len = end_to_sockaddr(&e, family, &sa);

	rc = bind(fd, &sa.sa, len);
	e.port = 9;
	end_to_sockaddr(&e, family, &sa);
	rc = rc || connect(fd, &sa.sa, len);
	close(fd);
	return !rc;
}

/** net_addr() - an address of lo; @i: 1.. for IPv4, its label "lo:i" */
static inline void net_addr(const char *text, int i)
{
	struct {
		uint8_t addr[16];
		uint32_t len;
		int index;
	} in6 = { .len = 128, .index = 1 };
	struct addr a = A_(text);
	int fd, rc;

	if (addr_is_v4(&a)) {
		union sockaddr_ip sa;
		struct ifreq r = { 0 };

		snprintf(r.ifr_name, sizeof(r.ifr_name), "lo:%d", i);
		end_to_sockaddr(&(struct end){ .addr = a }, AF_INET, &sa);
		memcpy(&r.ifr_addr, &sa.v4, sizeof(sa.v4));
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		rc = ioctl(fd, SIOCSIFADDR, &r);
		/* The mask it derives would make neighbours of ours local */
		memset(&r.ifr_addr, 0, sizeof(r.ifr_addr));
		r.ifr_addr.sa_family = AF_INET;
		memset(r.ifr_addr.sa_data + 2, 255, 4);
		rc |= ioctl(fd, SIOCSIFNETMASK, &r);
	} else {
		memcpy(in6.addr, a.b, 16);
		fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		rc = ioctl(fd, SIOCSIFADDR, &in6);
		/* The kernel takes it into use a moment later */
		for (i = 0; !rc && i < NET_WAIT_MS && !net_is_up(&a); i++)
			poll(NULL, 0, 1);
	}
	if (rc)
		ok(false, "address %s: %s", text, strerror(errno));
	close(fd);
}

/** net_mtu() - of lo */
static inline void net_mtu(int mtu)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_mtu = mtu };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (ioctl(fd, SIOCSIFMTU, &r))
		ok(false, "MTU: %s", strerror(errno));
	close(fd);
}

/** net_udp() - a program's socket, bound */
static inline int net_udp(const char *text, uint16_t port)
{
	struct end e = E(text, port);
	int on = 1, family = addr_is_v4(&e.addr) ? AF_INET : AF_INET6;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union sockaddr_ip sa;
	socklen_t len = end_to_sockaddr(&e, family, &sa);

	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, &sa.sa, len))
		ok(false, "bind %s %u: %s", text, port, strerror(errno));
	return fd;
}

/** net_port() - where a socket is bound */
static inline uint16_t net_port(int fd)
{
	union sockaddr_ip sa = { 0 };
	socklen_t len = sizeof(sa);

	getsockname(fd, &sa.sa, &len);
	return end_from_sockaddr(&sa).port;
}

static inline bool net_send(int fd, const struct end *to, const void *data,
			    size_t len)
{
	union sockaddr_ip sa;
	socklen_t n = end_to_sockaddr(
		to, addr_is_v4(&to->addr) ? AF_INET : AF_INET6, &sa);

	return sendto(fd, data, len, 0, &sa.sa, n) == (ssize_t)len;
}

/** net_waits() - is there something to read, now or within NET_WAIT_MS? */
static inline bool net_waits(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, NET_WAIT_MS) == 1;
}

/** net_recv() - one datagram; returns its bytes, -1 if none comes */
static inline ssize_t net_recv(int fd, void *buf, size_t size,
			       struct end *ret_from)
{
	union sockaddr_ip sa = { 0 };
	socklen_t len = sizeof(sa);
	ssize_t n;

	if (!net_waits(fd))
		return -1;
	n = recvfrom(fd, buf, size, MSG_DONTWAIT, &sa.sa, &len);
	if (n >= 0 && ret_from)
		*ret_from = end_from_sockaddr(&sa);
	return n;
}

/** net_silent() - is nothing there? */
static inline bool net_silent(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/** net_fds() - open descriptors of this process */
static inline unsigned net_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!d)
		return 0;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

#endif
