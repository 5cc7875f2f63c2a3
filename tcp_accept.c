/* tcp_accept.c - connections that come to published ports
 *
 * What comes from loopback goes to loopback, from socket to socket; everything
 * else crosses the guest's link. When there is no descriptor left, what is idle
 * gives way; if nothing is, connections wait in the kernel's queue for a while,
 * and nothing is asked of it meanwhile. */

#include "tcp_accept.h"

#include "sock.h"
#include "sock_stream.h"

#include <errno.h>

/* The kernel takes no connection from a loopback address off the wire, so the
 * address tells the device */
static bool is_spliced(const struct tcp_accept *a, const struct listener *x,
		       const struct end *peer)
{
	return x->side == LISTEN_NS || fwd_is_splice(a->tcp->fwd, peer, true);
}

/* Towards the host, a server is sought at the address that the client used;
 * of the other way the family is enough. */
static struct end reached_at(const struct listener *x, int fd,
			     const struct end *peer)
{
	struct end local = *peer;

	if (x->side == LISTEN_NS)
		(void)sock_local(fd, &local);
	return local;
}

static void splice(struct tcp_accept *a, const struct listener *x, int fd,
		   const struct end *peer)
{
	struct splice_new new = { .fd = fd,
				  .local = reached_at(x, fd, peer),
				  .in_ns = x->side == LISTEN_HOST,
				  .is_any = !addr_is_set(&x->ours),
				  .target = x->target };

	(void)tcp_splice_begin(a->splice, &new);
}

static void refuse(struct tcp_accept *a, int fd)
{
	stats_add(a->tcp->stats, DROP_NOT_LOOPBACK, 1);
	stream_reset(fd);
}

static void carry(struct tcp_accept *a, const struct listener *x, int fd,
		  const struct end *peer)
{
	if (is_spliced(a, x, peer))
		splice(a, x, fd, peer);
	else if (a->is_loopback_only)
		refuse(a, fd);
	else
		tcp_open_to_guest(a->tcp, fd, peer, x->target);
}

static bool is_exhausted(int rc)
{
	return sock_is_exhausted(rc) || rc == -ENOBUFS || rc == -ENOMEM;
}

static void wait_a_while(struct tcp_accept *a, struct listener *x)
{
	tcp_listen_pause(a->listen, x);
	a->resume_ms = a->tcp->loop->now_ms + TCP_PAUSE_MS;
	stats_add(a->tcp->stats, TCP_PAUSED, 1);
}

static bool make_room(struct tcp_accept *a)
{
	return tcp_splice_make_room(a->splice) || tcp_conn_make_room(a->tcp);
}

/* Which way a connection takes is not known before it is accepted */
static bool is_full(const struct tcp_accept *a)
{
	return a->tcp->n + 2 * a->splice->n + 2 > a->max;
}

/* What is idle gives way, two of them where each has one descriptor */
static int take(struct tcp_accept *a, const struct listener *x,
		struct end *peer)
{
	int fd, tries = 0;

	do
		fd = is_full(a) ? -EMFILE :
				  stream_accept(x->watch.fd, peer, NULL);
	while (fd == -EMFILE && tries++ < 2 && make_room(a));
	return fd;
}

static void on_waiting(void *ctx, struct listener *x)
{
	struct tcp_accept *a = ctx;
	struct end peer;
	unsigned i;
	int fd = 0;

	for (i = 0; i < TCP_ACCEPTS && fd >= 0; i++) {
		if (i && is_full(a))
			return; /* nobody gives way to who may not be there */
		fd = take(a, x, &peer);
		if (fd >= 0)
			carry(a, x, fd, &peer);
		else if (is_exhausted(fd))
			wait_a_while(a, x);
	}
}

static int64_t next_ms(const struct timer *t)
{
	return container_of(t, const struct tcp_accept, timer)->resume_ms;
}

static void resume(struct timer *t, int64_t now_ms)
{
	struct tcp_accept *a = container_of(t, struct tcp_accept, timer);

	(void)now_ms;
	a->resume_ms = INT64_MAX;
	tcp_listen_resume(a->listen);
}

void tcp_accept_init(struct tcp_accept *a)
{
	a->listen->accept = on_waiting;
	a->listen->ctx = a;
	a->resume_ms = INT64_MAX;
	a->timer = (struct timer){ .next_ms = next_ms, .fire = resume };
	loop_timer(a->tcp->loop, &a->timer);
}
