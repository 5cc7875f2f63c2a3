/* udpload_sock.c - UDP sockets of udpload: bound, connected, thousands of them
 *
 * Queues are asked for with SO_RCVBUFFORCE first: the endpoints must not be
 * what loses. */

#include "udpload_sock.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/resource.h>

socklen_t resolve(const char *addr, const char *port,
		  struct sockaddr_storage *ret_sa)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *ai;
	socklen_t len;
	int rc = getaddrinfo(addr, port, &hints, &ai);

	if (rc)
		fail("%s port %s: %s", addr, port, gai_strerror(rc));
	len = ai->ai_addrlen;
	memcpy(ret_sa, ai->ai_addr, len);
	freeaddrinfo(ai);
	return len;
}

void set_timeout(int fd, double s)
{
	struct timeval tv;

	tv.tv_sec = (time_t)s;
	tv.tv_usec = (suseconds_t)((s - (double)tv.tv_sec) * 1e6);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

void ask_queue(int fd, unsigned bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

void need_files(unsigned n)
{
	struct rlimit rl = { n + 64, n + 64 };
	struct rlimit old;

	getrlimit(RLIMIT_NOFILE, &old);
	if (old.rlim_cur >= rl.rlim_cur)
		return;
	if (rl.rlim_max < old.rlim_max)
		rl.rlim_max = old.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &rl))
		fail("%u sockets are more than the %lu open files allowed; "
		     "use more destination ports: -P",
		     n, (unsigned long)old.rlim_max);
}

void port_add(struct sockaddr_storage *sa, unsigned add)
{
	/* The port is at the same place in both families */
	struct sockaddr_in *in = (struct sockaddr_in *)sa;

	in->sin_port = htons((uint16_t)(ntohs(in->sin_port) + add));
}

int open_bound(const struct options *o, unsigned add)
{
	struct sockaddr_storage sa;
	socklen_t len = resolve(o->addr, o->port, &sa);
	int fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int off = 0;

	if (fd < 0)
		fail("socket: %s", strerror(errno));
	port_add(&sa, add);
	if (sa.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (struct sockaddr *)&sa, len))
		fail("bind to %s port %s: %s", o->addr, o->port,
		     strerror(errno));
	ask_queue(fd, o->queue);
	set_timeout(fd, TICK_MS / 1e3);
	return fd;
}

int open_from(int family, unsigned src_port)
{
	struct sockaddr_in6 any = { 0 };
	socklen_t len = family == AF_INET6 ? sizeof(any) :
					     sizeof(struct sockaddr_in);
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	/* Family and port are at the same place in both families */
	any.sin6_family = (sa_family_t)family;
	any.sin6_port = htons((uint16_t)src_port);
	if (!src_port || !bind(fd, (struct sockaddr *)&any, len))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int open_connected(const struct options *o, unsigned src_port)
{
	struct sockaddr_storage sa;
	socklen_t len = resolve(o->addr, o->port, &sa);
	int fd = open_from(sa.ss_family, src_port);
	int rc;

	if (fd < 0 || !connect(fd, (struct sockaddr *)&sa, len))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}
