/* stream.h - what the kernel programs about TCP share: connections over lo
 * Knows: lib.h.  Does not know: the project. */

#ifndef KERNEL_STREAM_H
#define KERNEL_STREAM_H

#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sys/epoll.h>
#include "lib.h"

#ifndef SO_PEEK_OFF
#define SO_PEEK_OFF 42
#endif
#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

/** struct stream - a connection: @to connected, @of was accepted */
struct stream {
	int to, of;
};

static inline int get_int(int s, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	must(!getsockopt(s, level, name, &value, &len));
	return value;
}

/** mem() - one figure of SO_MEMINFO, SK_MEMINFO_SNDBUF and so on */
static inline uint32_t mem(int s, int which)
{
	uint32_t m[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(m);

	must(!getsockopt(s, SOL_SOCKET, SO_MEMINFO, m, &len));
	return m[which];
}

static inline const char *family_name(int family)
{
	return family == AF_INET ? "IPv4" : "IPv6";
}

/** loopback_listener() - on a port of the kernel's choice; its address goes to
 * @ret_sa, its length is returned through @len */
static inline int loopback_listener(int family, struct sockaddr_in6 *ret_sa,
				    socklen_t *ret_len)
{
	int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in v4 = at("127.0.0.1", 0);

	if (s < 0)
		skip_all("%s: %s", family_name(family), strerror(errno));
	*ret_sa = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					 .sin6_addr = in6addr_loopback };
	*ret_len = sizeof(*ret_sa);
	if (family == AF_INET) {
		memcpy(ret_sa, &v4, sizeof(v4));
		*ret_len = sizeof(v4);
	}
	must(!bind(s, (struct sockaddr *)ret_sa, *ret_len));
	must(!listen(s, 1));
	must(!getsockname(s, (struct sockaddr *)ret_sa, ret_len));
	return s;
}

/** stream_open() - a connection over lo, both ends non-blocking */
static inline struct stream stream_open(int family)
{
	struct sockaddr_in6 sa;
	socklen_t len;
	int l = loopback_listener(family, &sa, &len);
	struct stream c = { .to = socket(family, SOCK_STREAM | SOCK_CLOEXEC,
					 0) };

	must(c.to >= 0 && !connect(c.to, (struct sockaddr *)&sa, len));
	c.of = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	must(c.of >= 0 && !fcntl(c.to, F_SETFL, O_NONBLOCK));
	close(l);
	return c;
}

static inline void stream_close(struct stream *c)
{
	close(c->to);
	close(c->of);
}

/** stream_has() - wait until this much has arrived; it is left there */
static inline void stream_has(int s, int n)
{
	int have = -1;

	for (int i = 0; i < 1000 && have < n; i++) {
		must(!ioctl(s, FIONREAD, &have));
		poll(NULL, 0, have < n);
	}
	must(have >= n);
}

/** stream_state() - TCP_ESTABLISHED and so on */
static inline int stream_state(int s)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	must(!getsockopt(s, IPPROTO_TCP, TCP_INFO, &info, &len));
	return info.tcpi_state;
}

/** both_families() - what a main() does that looks at each */
static inline int both_families(void (*look)(int family))
{
	enter();
	look(AF_INET);
	look(AF_INET6);
	return done();
}

/** events() - poll() without waiting */
static inline short events(int s, short want)
{
	struct pollfd p = { .fd = s, .events = want };

	must(poll(&p, 1, 0) >= 0);
	return p.revents;
}

#endif
