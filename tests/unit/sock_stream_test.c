/* sock_stream_test.c - connections over loopback, both ends of them ours
 *
 * Each thing is done by every kind of socket. What arrives is waited for by
 * poll(2), so nothing here waits for time. */

#include "sock_stream.h"

#include "net.h"
#include "sock.h"

#include <netinet/tcp.h>
#include <signal.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define BIG (256 * 1024)

static uint8_t data[4 * BIG], got[4 * BIG];

static const struct kind {
	const char *name;
	int family;
	unsigned flags;
	const char *any;
	const char *addr;
} kinds[] = {
	{ "IPv4", AF_INET, 0, "0.0.0.0", "127.0.0.1" },
	{ "IPv6", AF_INET6, 0, "::", "::1" },
	{ "dual, IPv4", AF_INET6, SOCK_DUAL, "::", "127.0.0.1" },
	{ "dual, IPv6", AF_INET6, SOCK_DUAL, "::", "::1" },
};

/* A connection: @to was made by connect(2), @of by accept(2) */
struct pair {
	int listener;
	int to, of;
	struct end peer, local;
};

static int option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, level, name, &value, &len);
	return value;
}

/* The first field of TCP_INFO */
static int state(int fd)
{
	return option(fd, IPPROTO_TCP, TCP_INFO) & 0xff;
}

static int listener_at(const struct kind *k, const char *addr, uint16_t port)
{
	struct end at = E(addr, port);
	int rc, fd = stream_open(k->family);

	stream_setup_listener(fd, k->family, k->flags);
	rc = sock_bind(fd, k->family, &at, "");
	if (!rc)
		rc = stream_listen(fd);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static struct pair pair_open(const struct kind *k)
{
	struct pair p = { .listener = listener_at(k, k->any, 0) };
	struct end to = E(k->addr, net_port(p.listener));
	int rc;

	p.to = stream_open(k->family);
	stream_setup(p.to);
	rc = stream_connect(p.to, k->family, &to);
	ok(!rc || rc == -EINPROGRESS, "%s: connect", k->name);
	net_waits(p.listener);
	p.of = stream_accept(p.listener, &p.peer, &p.local);
	ok(p.of >= 0, "%s: accept", k->name);
	is_int(stream_error(p.to), 0, "%s: connected", k->name);
	return p;
}

static void pair_close(struct pair *p)
{
	close(p->to);
	close(p->of);
	close(p->listener);
}

static ssize_t put(int fd, const void *buf, size_t len)
{
	union {
		const void *in;
		void *out;
	} b = { .in = buf };

	return stream_send(fd, &(struct iovec){ b.out, len }, 1);
}

/* Wait, and see up to @len bytes */
static ssize_t peek(int fd, size_t len)
{
	struct iovec iov[2] = { { got, len / 2 }, { got + len / 2, 0 } };

	iov[1].iov_len = len - len / 2;
	net_waits(fd);
	memset(got, 0, len);
	return stream_peek(fd, iov, 2);
}

static void open_close(const struct kind *k)
{
	unsigned fds = net_fds();
	struct pair p = pair_open(k);
	struct end here, at = E(k->addr, net_port(p.listener));

	ok(end_eq(&p.local, &at), "%s: the end that was asked for", k->name);
	sock_local(p.to, &here);
	ok(end_eq(&p.peer, &here), "%s: and who asked", k->name);
	ok(fcntl(p.of, F_GETFL) & O_NONBLOCK && fcntl(p.of, F_GETFD) &&
		   fcntl(p.to, F_GETFL) & O_NONBLOCK && fcntl(p.to, F_GETFD),
	   "%s: both non-blocking and close-on-exec", k->name);
	for (int i = 0; i < 2; i++) {
		int fd = i ? p.to : p.of;

		ok(option(fd, IPPROTO_TCP, TCP_NODELAY) > 0 &&
			   option(fd, SOL_SOCKET, SO_OOBINLINE) > 0,
		   "%s: set up, %d", k->name, i);
	}
	is_int(stream_accept(p.listener, &p.peer, &p.local), -EAGAIN,
	       "%s: no other", k->name);
	pair_close(&p);
	is_int(net_fds(), fds, "%s: no descriptor left", k->name);
}

static void refused(const struct kind *k)
{
	int rc, fd = stream_open(k->family);
	struct end to = E(k->addr, 9);

	rc = stream_connect(fd, k->family, &to);
	if (rc == -EINPROGRESS && net_waits(fd))
		rc = stream_error(fd);
	is_int(rc, -ECONNREFUSED, "%s: nobody listens", k->name);
	is_int(stream_error(fd), 0, "%s: said once", k->name);
	close(fd);
}

static void peeks(const struct kind *k)
{
	struct pair p = pair_open(k);

	if (!stream_peek_start(p.of)) {
		printf("# %s: no SO_PEEK_OFF\n", k->name);
		pair_close(&p);
		return;
	}
	is_int(put(p.to, "0123456789", 10), 10, "%s: send", k->name);
	is_int(peek(p.of, 4), 4, "%s: look at some", k->name);
	is_mem(got, "0123", 4, "%s: the first", k->name);
	is_int(peek(p.of, 99), 6, "%s: at the rest", k->name);
	is_mem(got, "456789", 6, "%s: which follows", k->name);
	is_int(peek(p.of, 99), -EAGAIN, "%s: all was seen", k->name);
	is_int(stream_discard(p.of, 3), 0, "%s: discard", k->name);
	is_int(peek(p.of, 99), -EAGAIN, "%s: all was still seen", k->name);
	stream_peek_seek(p.of, 2);
	is_int(peek(p.of, 99), 5, "%s: again from the sixth", k->name);
	is_mem(got, "56789", 5, "%s: those", k->name);
	is_int(stream_discard(p.of, 8), -EAGAIN, "%s: more than there are",
	       k->name);
	put(p.to, "end", 3);
	stream_shutdown(p.to);
	is_int(peek(p.of, 99), 3, "%s: what stands before FIN", k->name);
	is_int(peek(p.of, 99), 0, "%s: then FIN", k->name);
	is_int(peek(p.of, 99), 0, "%s: for ever", k->name);
	is_int(stream_discard(p.of, 4), -ENODATA, "%s: FIN is not discarded",
	       k->name);
	is_int(stream_read(p.of, got, 9), 0, "%s: the end", k->name);
	is_int(put(p.of, "back", 4), 4, "%s: the other way is open", k->name);
	net_waits(p.to);
	is_int(stream_read(p.to, got, 3), 3, "%s: read some", k->name);
	is_int(stream_read(p.to, got, 3), 1, "%s: read the rest", k->name);
	is_int(stream_read(p.to, got, 3), -EAGAIN, "%s: no more", k->name);
	pair_close(&p);
}

/* As on kernels without SO_PEEK_OFF: from the beginning each time */
static void peeks_without(const struct kind *k)
{
	struct pair p = pair_open(k);

	put(p.to, "0123", 4);
	is_int(peek(p.of, 9), 4, "%s: look", k->name);
	is_int(peek(p.of, 9), 4, "%s: at the same", k->name);
	is_int(stream_discard(p.of, 3), 0, "%s: discard", k->name);
	is_int(peek(p.of, 9), 1, "%s: the rest", k->name);
	is_mem(got, "3", 1, "%s: it is", k->name);
	pair_close(&p);
}

static void urgent(const struct kind *k)
{
	struct pair p = pair_open(k);
	unsigned n = 0;

	put(p.to, "ab", 2);
	is_int(send(p.to, "c", 1, MSG_OOB), 1, "%s: urgent", k->name);
	put(p.to, "de", 2);
	stream_peek_start(p.of);
	for (ssize_t len; n < 5 && (len = peek(p.of, 9)) > 0;) {
		is_mem(got, "abcde" + n, (size_t)len, "%s: inline", k->name);
		n += (unsigned)len;
	}
	is_int(n, 5, "%s: all of it", k->name);
	is_int(stream_discard(p.of, 5), 0, "%s: over the mark", k->name);
	pair_close(&p);
}

static void resets(const struct kind *k)
{
	struct pair p = pair_open(k);

	put(p.to, "last", 4);
	net_waits(p.of);
	stream_peek_start(p.of);
	stream_reset(p.to);
	p.to = -1;
	for (int i = 0; i < NET_WAIT_MS && state(p.of) != TCP_CLOSE; i++)
		poll(NULL, 0, 1);
	is_int(peek(p.of, 9), 4, "%s: what came before a reset", k->name);
	is_int(stream_discard(p.of, 4), 0, "%s: take it", k->name);
	is_int(peek(p.of, 9), -ECONNRESET, "%s: the reset", k->name);
	is_int(peek(p.of, 9), 0, "%s: then nothing", k->name);
	is_int(put(p.of, "x", 1), -EPIPE, "%s: after a reset", k->name);
	pair_close(&p);

	p = pair_open(k);
	stream_reset(p.to);
	p.to = -1;
	net_waits(p.of);
	is_int(stream_error(p.of), -ECONNRESET, "%s: reset", k->name);
	pair_close(&p);
}

static bool acked(int fd, uint64_t want, struct stream_info *ret_info)
{
	for (int i = 0; i < NET_WAIT_MS; i++) {
		if (stream_info(fd, ret_info) && ret_info->acked >= want)
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

static void infos(const struct kind *k)
{
	struct pair p = pair_open(k);
	struct stream_room r = stream_room(p.to);
	struct stream_info base, i;
	size_t sum = 0;

	is_int(r.queued, 0, "%s: nothing is queued", k->name);
	ok(r.size > 0, "%s: there is room", k->name);
	ok(stream_info(p.to, &base), "%s: the kernel tells", k->name);
	ok(base.has_acked && base.rtt_us && base.min_rtt_us, "%s: all",
	   k->name);
	is_int(base.retrans, 0, "%s: nothing was sent again", k->name);
	put(p.to, data, 1000);
	ok(acked(p.to, base.acked + 1000, &i), "%s: acknowledged", k->name);
	is_int(i.acked - base.acked, 1000, "%s: by bytes", k->name);
	for (ssize_t n; (n = put(p.to, data, sizeof(data))) > 0;)
		sum += (size_t)n;
	r = stream_room(p.to);
	ok(sum > sizeof(data) && r.queued && r.queued >= r.size,
	   "%s: %zu bytes, then full: %u of %u", k->name, sum, r.queued,
	   r.size);
	is_int(put(p.to, data, 1), -EAGAIN, "%s: not one more", k->name);
	pair_close(&p);

	r = stream_room(-1);
	ok(!r.queued && !r.size && !stream_info(-1, &i) && !i.acked,
	   "of no socket: none");
}

static void marks(const struct kind *k)
{
	struct pair p = pair_open(k);
	struct addr a = A_(k->addr);
	bool is_v4 = addr_is_v4(&a);

	stream_tos(p.to, addr_family(&a), 0xb8);
	is_int(option(p.to, is_v4 ? IPPROTO_IP : IPPROTO_IPV6,
		      is_v4 ? IP_TOS : IPV6_TCLASS) &
		       0xfc,
	       0xb8, "%s: DSCP", k->name);
	stream_tos(p.to, addr_family(&a), 0);
	is_int(option(p.to, is_v4 ? IPPROTO_IP : IPPROTO_IPV6,
		      is_v4 ? IP_TOS : IPV6_TCLASS) &
		       0xfc,
	       0, "%s: none", k->name);
	pair_close(&p);
}

/* A port may leave towards two remotes; a listener may come back at once */
static void sources(const struct kind *k)
{
	struct pair p = pair_open(k);
	struct addr a = A_(k->addr);
	struct end to = E(k->addr, net_port(p.listener)), here;
	uint16_t port = net_port(p.listener);
	int fd = stream_open(k->family);

	is_int(stream_source(fd, k->family, &a, "lo"), 0, "%s: from", k->name);
	is_int(net_port(fd), 0, "%s: no port yet", k->name);
	stream_connect(fd, k->family, &to);
	sock_local(fd, &here);
	ok(here.port && addr_eq(&here.addr, &a), "%s: connected", k->name);
	close(fd);
	stream_shutdown(p.of);
	net_waits(p.to);
	pair_close(&p);
	fd = listener_at(k, k->any, port);
	ok(fd >= 0, "%s: a port of closed connections", k->name);
	is_int(listener_at(k, k->any, port), -EADDRINUSE, "%s: one listener",
	       k->name);
	is_int(listener_at(k, k->addr, port), -EADDRINUSE,
	       "%s: not for one address either", k->name);
	close(fd);
	fd = listener_at(&(struct kind){ "freebind", k->family,
					 k->flags | SOCK_FREEBIND, "", "" },
			 k->family == AF_INET ? "192.0.2.77" : "2001:db8::77",
			 0);
	ok(fd >= 0, "%s: an address to come", k->name);
	close(fd);
}

static void splices(const struct kind *k)
{
	struct pair a = pair_open(k), b = pair_open(k);
	int fds[2], size;
	ssize_t n;

	is_int(stream_pipe(fds, BIG), 0, "%s: a pipe", k->name);
	size = fcntl(fds[0], F_GETPIPE_SZ);
	ok(size == BIG || getuid(), "%s: of %d bytes", k->name, size);
	is_int(stream_splice(a.of, fds[1], BIG), -EAGAIN, "%s: empty", k->name);
	for (size_t i = 0; i < BIG; i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
	put(a.to, data, 100000);
	stream_shutdown(a.to);
	for (size_t in = 0, out = 0;;) {
		net_waits(a.of);
		n = stream_splice(a.of, fds[1], BIG);
		if (n <= 0)
			break;
		in += (size_t)n;
		for (; out < in; out += (size_t)n) {
			n = stream_splice(fds[0], b.to, in - out);
			if (n <= 0)
				break;
		}
	}
	is_int(n, 0, "%s: the end", k->name);
	stream_shutdown(b.to);
	for (size_t i = 0;
	     net_waits(b.of) && (n = stream_read(b.of, got + i, BIG)) > 0;)
		i += (size_t)n;
	is_mem(got, data, 100000, "%s: what came out", k->name);

	is_int(write(fds[1], "x", 1), 1, "%s: into the pipe", k->name);
	is_int(stream_splice(fds[0], b.to, 1), -EPIPE, "%s: nobody reads",
	       k->name);
	close(fds[0]);
	close(fds[1]);
	pair_close(&a);
	pair_close(&b);
	ok(stream_pipe(fds, 1 << 30) == 0 && fcntl(fds[0], F_GETPIPE_SZ) > 0,
	   "%s: more than allowed: some", k->name);
	close(fds[0]);
	close(fds[1]);
}

static void odd(void)
{
	struct end v6 = E("::1", 1);
	struct pair p;
	int fd = stream_open(AF_INET);

	is_int(stream_connect(fd, AF_INET, &v6), -EAFNOSUPPORT, "other family");
	is_int(stream_accept(fd, &p.peer, &p.local), -EINVAL, "no listener");
	is_int(stream_read(fd, got, 1), -ENOTCONN, "not connected");
	close(fd);
	ok(stream_open(AF_MAX) < 0, "no such family");
}

int main(void)
{
	static void (*const fns[])(const struct kind *k) = {
		open_close, refused, peeks, peeks_without, urgent,
		resets,	    infos,   marks, sources,	   splices,
	};

	signal(SIGPIPE, SIG_IGN);
	net_enter();
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (kinds[i].family == AF_INET6 && !net_has_v6())
			continue;
		for (size_t f = 0; f < COUNT(fns); f++)
			fns[f](&kinds[i]);
	}
	odd();
	return done();
}
