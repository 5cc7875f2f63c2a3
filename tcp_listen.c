/* tcp_listen.c - published ports of TCP
 *
 * A listener waits with its own watch, level-triggered: a queue of connections
 * that is not emptied in one go wakes us again. That would be a spin when no
 * descriptor is left to accept with, so a listener can be paused alone, which
 * costs one call for each that is ready, however many ports are published.
 * Paused ones form a list through their numbers: the next one + 1. */

#include "tcp_listen.h"

#include "log.h"
#include "sock_stream.h"

#include <sys/epoll.h>
#include <unistd.h>

/* The number of one that is not paused */
#define WAITING UINT32_MAX

static struct tcp_listen *tcp_listen_of(struct listen *l)
{
	return container_of(l, struct tcp_listen, l);
}

static void ready(struct watch *w, uint32_t events)
{
	struct tcp_listen *t = w->ctx;
	struct listener *x = container_of(w, struct listener, watch);

	if (!(events & EPOLLHUP)) {
		t->accept(t->ctx, x);
		return;
	}
	/* It listens no more, of which we would be told without end */
	warn("somebody ended the listener of TCP port %u", (unsigned)x->port);
	loop_del(t->loop, w);
}

static int take(struct listen *l, struct listener *x, int fd)
{
	struct tcp_listen *t = tcp_listen_of(l);
	int rc = stream_listen(fd);

	x->watch = (struct watch){ .fn = ready, .ctx = t, .fd = fd };
	x->number = WAITING;
	if (!rc)
		rc = loop_add(t->loop, &x->watch, EPOLLIN);
	if (!rc)
		return 0;
	close(fd);
	x->watch = (struct watch){ .fd = -1 };
	return rc;
}

void tcp_listen_pause(struct tcp_listen *t, struct listener *x)
{
	if (x->number != WAITING || loop_mod(t->loop, &x->watch, 0))
		return;
	x->number = t->paused;
	t->paused = (uint32_t)(x - t->l.listener) + 1;
}

void tcp_listen_resume(struct tcp_listen *t)
{
	while (t->paused) {
		struct listener *x = &t->l.listener[t->paused - 1];

		t->paused = x->number;
		x->number = WAITING;
		(void)loop_mod(t->loop, &x->watch, EPOLLIN);
	}
}

static void close_it(struct listen *l, struct listener *x)
{
	struct tcp_listen *t = tcp_listen_of(l);
	uint32_t *at = &t->paused;

	while (*at && *at - 1 != (uint32_t)(x - l->listener))
		at = &l->listener[*at - 1].number;
	if (*at)
		*at = x->number;
	loop_del(t->loop, &x->watch);
	close(x->watch.fd);
	x->watch.fd = -1;
}

static const struct listen_proto proto = {
	.name = "TCP",
	.type = SOCK_STREAM,
	.open = stream_open,
	.inside = agent_stream,
	.setup = stream_setup_listener,
	.take = take,
	.close = close_it,
};

void tcp_listen_init(struct tcp_listen *t)
{
	t->l.proto = &proto;
}
