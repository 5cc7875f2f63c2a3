/* udpload_chan.c - many flows, or frames, used as one
 *
 * One flow is a connected socket that is read and polled directly; more are
 * behind an epoll, which is polled in their place, so that waiting is the same
 * for both. Sockets are looked at once per event and not until they are empty:
 * an answer that came meanwhile shows in the next look, and the extra call that
 * finds nothing is saved.
 *
 * The flow is a source port and a destination port. With several destination
 * ports each socket, then not connected, sends to all of them: a process may
 * not have as many sockets as flows are wanted. The kernel picks the source
 * ports; with --bind they are counted up, past those that are taken. */

#include "udpload_chan.h"

#include <poll.h>

static void watch(struct chan *c, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (c->poll_fd < 0)
		c->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(c->poll_fd, EPOLL_CTL_ADD, fd, &ev))
		fail("epoll: %s", strerror(errno));
}

static void start(struct chan *c, const struct options *o, unsigned sockets)
{
	c->n = o->flows;
	c->sockets = sockets;
	c->size = o->size;
	c->poll_fd = -1;
	payload_init(message[0], o->size);
	need_files(sockets);
}

static int next_socket(const struct chan *c, const struct options *o,
		       unsigned *port)
{
	int fd = -EADDRINUSE;

	while (fd == -EADDRINUSE && *port <= 65535) {
		fd = o->ports > 1 ? open_from(c->to.ss_family, *port) :
				    open_connected(o, *port);
		if (*port)
			++*port;
	}
	return fd;
}

void chan_open(struct chan *c, const struct options *o)
{
	unsigned port = o->bind_port;

	start(c, o, o->raw ? 1 : (o->flows + o->ports - 1) / o->ports);
	c->ports = o->ports;
	if (o->raw) {
		c->is_raw = true;
		c->fd[0] = c->poll_fd = raw_open(&c->raw, o, true);
		return;
	}
	c->to_len = resolve(o->addr, o->port, &c->to);
	for (unsigned i = 0; i < c->sockets; i++) {
		c->fd[i] = next_socket(c, o, &port);
		if (c->fd[i] < 0)
			fail("socket %u to %s port %s: %s", i, o->addr, o->port,
			     strerror(-c->fd[i]));
		/* The sum is what must not be lost, and memory has an end */
		ask_queue(c->fd[i], c->sockets < 64 ? o->queue : o->queue / 64);
		if (c->sockets > 1)
			watch(c, c->fd[i]);
	}
	if (c->sockets == 1)
		c->poll_fd = c->fd[0];
}

void chan_bind(struct chan *c, const struct options *o)
{
	start(c, o, o->ports);
	for (unsigned i = 0; i < o->ports; i++) {
		c->fd[i] = open_bound(o, i);
		if (o->ports > 1)
			watch(c, c->fd[i]);
	}
	if (o->ports == 1)
		c->poll_fd = c->fd[0];
}

/* To one of several destination ports */
static ssize_t send_spread(struct chan *c, unsigned flow)
{
	struct sockaddr_storage to = c->to;

	port_add(&to, flow % c->ports);
	return sendto(c->fd[flow / c->ports], message[0], c->size, MSG_DONTWAIT,
		      (struct sockaddr *)&to, c->to_len);
}

int chan_send(struct chan *c, uint64_t seq)
{
	unsigned flow = c->n > 1 ? (unsigned)(seq % c->n) : 0;
	ssize_t n;

	if (c->is_raw)
		return raw_send(&c->raw, c->fd[0], seq);
	payload_stamp(message[0], c->size, seq);
	n = c->ports > 1 ? send_spread(c, flow) :
			   send(c->fd[flow], message[0], c->size, MSG_DONTWAIT);
	return n < 0 ? -errno : 0;
}

int chan_ready(struct chan *c)
{
	if (c->sockets == 1)
		return c->fd[0];
	if (c->next >= c->events) {
		c->next = 0;
		c->events = epoll_wait(c->poll_fd, c->event, BATCH_MAX, 0);
	}
	return c->next < c->events ? c->event[c->next++].data.fd : -1;
}

int chan_recv(struct chan *c, const uint8_t **ret_buf)
{
	int fd = chan_ready(c);
	ssize_t n;

	if (fd < 0)
		return -EAGAIN;
	if (c->is_raw)
		return raw_recv(&c->raw, fd, ret_buf);
	n = recv(fd, message[1], BUF_MAX, MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	*ret_buf = message[1];
	return (int)n;
}

void chan_wait(struct chan *c, uint64_t until_ns)
{
	struct pollfd pfd = { .fd = c->poll_fd, .events = POLLIN };
	uint64_t t = now_ns();
	uint64_t left = until_ns > t ? until_ns - t : 0;
	struct timespec ts;

	ts.tv_sec = (time_t)(left / 1000000000);
	ts.tv_nsec = (long)(left % 1000000000);
	ppoll(&pfd, 1, &ts, NULL);
}

void chan_json(const struct chan *c, FILE *out)
{
	if (c->is_raw)
		fprintf(out, ",\"wrapped\":%" PRIu64 ",\"mistagged\":%" PRIu64,
			c->raw.wrapped, c->raw.mistagged);
}
