/* tcp_splice.c - TCP between loopback and loopback, socket to socket
 *
 * Problem: carry bytes between two sockets at the speed of loopback, with small
 * messages not a bit later than they could be, bounded memory when a reader
 * stalls, and two descriptors per connection however many are idle.
 *
 * Idea: a direction begins by looking (MSG_PEEK), sending, and then dropping
 * what was taken. What the reader has no room for stays in the socket it came
 * from, so nothing is ever left over in our hands, and TCP's own window holds
 * the sender back. Dropping costs a system call per message, but it comes after
 * the message is on its way.
 *
 * When a look sees much, the direction goes over to splice(2) through a
 * pipe, which copies nothing. The pipe is a direction's only while bytes are in
 * it; without one, looking goes on. A wake-up that moves little ends that mode.
 *
 * Events are edge-triggered and asked for once: there is no call to change them
 * when a side stalls, and a stalled one cannot spin. The price is that every
 * edge must be answered until the kernel says EAGAIN, or that is sure to be
 * next: after a short look without end, error or urgent data. A direction that
 * has used up its share of a wake-up goes on in a timer that is due at once, so
 * everybody else has a turn before.
 *
 *	CONNECTING ──writable──> OPEN ──both ended──> closed
 *	    │ refused              │ error of either
 *	    └─> turn to IPv4,      └─> what can still be read is passed on,
 *	        else reset             then reset
 *
 * Deliberately not done: keeping the client's port on the far side, as UDP
 * does (it would be in TIME_WAIT for the next one); marking urgent data. */

#include "tcp_splice.h"

#include "clock.h"
#include "sock.h"
#include "sock_stream.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS (EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET)
#define EVENTS_END (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

/** enum dir_flag - of a direction
 * blocked: its far end takes nothing, or is not connected yet
 * bulk:    a look saw much: by pipe, if one can be had
 * urgent:  urgent data came, at which splice(2) stops for good: no pipe
 * more:    it has a turn at the end of this wake-up
 * last:    FIN is known to have come: what is before it goes in one segment
 *          with it, which is one wake-up less for who waits for both
 * done:    FIN was seen and passed on */
enum dir_flag {
	DIR_BLOCKED = 1,
	DIR_BULK = 2,
	DIR_URGENT = 4,
	DIR_MORE = 8,
	DIR_LAST = 16,
	DIR_DONE = 32
};

/** enum conn_flag - of a connection: where its server is, and whether it may
 * be reached by IPv4 instead */
enum conn_flag { CONN_IN_NS = 1, CONN_MAY_TURN = 2 };

/** enum step - what is next for a direction */
enum step {
	STEP_GO,
	STEP_SEEN, /* a short look was all there is, but for an end */
	STEP_WAIT, /* for an event */
	STEP_MORE, /* its share is used up */
	STEP_FIN, /* all was moved, and the end is reached */
	STEP_READ_ERROR,
	STEP_SEND_ERROR
};

static void ready(struct watch *w, uint32_t events);

static const uint32_t list_ms[SPLICE_LISTS] = {
	[SPLICE_CONNECTING] = TCP_CONNECT_MS,
	[SPLICE_OPEN] = TCP_IDLE_MS,
};

static struct lru_table ages(struct tcp_splice *s)
{
	return (struct lru_table){ &s->conn[0].age, sizeof(s->conn[0]) };
}

static struct lru_table turns(struct tcp_splice *s)
{
	return (struct lru_table){ &s->conn[0].turn, sizeof(s->conn[0]) };
}

static uint32_t number(const struct tcp_splice *s, const struct splice_conn *c)
{
	return (uint32_t)(c - s->conn);
}

static uint32_t now_s(const struct tcp_splice *s)
{
	return (uint32_t)(s->loop->now_ms / 1000);
}

static void move(struct tcp_splice *s, struct splice_conn *c,
		 enum splice_list list)
{
	struct lru_table t = ages(s);

	lru_del(&t, &s->lists[c->list], number(s, c));
	c->list = (uint8_t)list;
	lru_add(&t, &s->lists[list], number(s, c), now_s(s));
}

static struct splice_conn *take_entry(struct tcp_splice *s)
{
	struct lru_table t = ages(s);
	uint32_t i = lru_oldest(&s->lists[SPLICE_FREE]);

	if (i != LRU_NONE)
		lru_del(&t, &s->lists[SPLICE_FREE], i);
	else
		i = s->high++;
	assert(i < TCP_MAX);
	s->conn[i] = (struct splice_conn){ .list = SPLICE_CONNECTING };
	lru_add(&t, &s->lists[SPLICE_CONNECTING], i, now_s(s));
	s->n++;
	return &s->conn[i];
}

/* Descriptors 0 to 2 are open in every process, so 0 is never a pipe's */
static bool take_pipe(struct tcp_splice *s, struct splice_dir *d)
{
	if (d->pipe[0])
		return true;
	if (s->n_idle) {
		s->n_idle--;
		d->pipe[0] = s->idle[s->n_idle][0];
		d->pipe[1] = s->idle[s->n_idle][1];
		return true;
	}
	if (s->n_pipes == PIPES_MAX || s->loop->now_ms < s->pipe_ms)
		return false;
	if (stream_pipe(d->pipe, PIPE_SIZE)) {
		s->pipe_ms = s->loop->now_ms + PIPE_AGAIN_MS;
		return false;
	}
	s->n_pipes++;
	return true;
}

/* Bytes of a connection that was reset go with their pipe. */
static void give_pipe(struct tcp_splice *s, struct splice_dir *d)
{
	if (!d->pipe[0])
		return;
	if (d->held || s->n_idle == PIPES_IDLE) {
		close(d->pipe[0]);
		close(d->pipe[1]);
		s->n_pipes--;
	} else {
		s->idle[s->n_idle][0] = d->pipe[0];
		s->idle[s->n_idle][1] = d->pipe[1];
		s->n_idle++;
	}
	d->pipe[0] = d->pipe[1] = 0;
	d->held = 0;
}

static void close_side(struct loop *l, struct watch *w, bool is_reset)
{
	if (w->fd < 0)
		return;
	loop_forget(l, w);
	if (is_reset)
		stream_reset(w->fd);
	else
		close(w->fd);
	w->fd = -1;
}

static bool has_turn(const struct tcp_splice *s, const struct splice_conn *c)
{
	return c->turn.prev || c->turn.next ||
	       lru_oldest(&s->turns) == number(s, c);
}

static void end(struct tcp_splice *s, struct splice_conn *c, bool is_reset)
{
	struct lru_table t = turns(s);

	for (unsigned i = 0; i < SPLICE_SIDES; i++) {
		close_side(s->loop, &c->side[i], is_reset);
		give_pipe(s, &c->dir[i]);
	}
	if (has_turn(s, c))
		lru_del(&t, &s->turns, number(s, c));
	move(s, c, SPLICE_FREE);
	s->n--;
}

/* Look, send, drop what was taken. */
static enum step copy(struct tcp_splice *s, struct splice_dir *d, int from,
		      int to, uint32_t *moved)
{
	struct iovec iov = { s->buf, sizeof(s->buf) };
	ssize_t sent, n = stream_peek(from, &iov, 1);

	if (n <= 0)
		return !n	    ? STEP_FIN :
		       n == -EAGAIN ? STEP_WAIT :
				      STEP_READ_ERROR;
	if (n >= SPLICE_BULK)
		d->flags |= DIR_BULK;
	iov.iov_len = (size_t)n;
	sent = d->flags & DIR_LAST ? stream_send_last(to, &iov, 1) :
				     stream_send(to, &iov, 1);
	if (sent == -EAGAIN) {
		d->flags |= DIR_BLOCKED;
		return STEP_WAIT;
	}
	if (sent < 0)
		return STEP_SEND_ERROR;
	(void)stream_discard(from, (uint32_t)sent);
	*moved += (uint32_t)sent;
	return sent == n && n < SPLICE_BULK ? STEP_SEEN : STEP_GO;
}

/* What splice(2) takes for the end may be urgent data before it: a look tells. */
static enum step fill(struct splice_dir *d, int from)
{
	ssize_t n = stream_splice(from, d->pipe[1], PIPE_SIZE);

	if (n == -EAGAIN)
		return STEP_WAIT;
	if (n < 0)
		return STEP_READ_ERROR;
	if (!n)
		d->flags &= ~(uint32_t)DIR_BULK;
	d->held = (uint32_t)n;
	return STEP_GO;
}

static enum step empty(struct splice_dir *d, int to, uint32_t *moved)
{
	ssize_t n = stream_splice(d->pipe[0], to, d->held);

	if (n == -EAGAIN) {
		d->flags |= DIR_BLOCKED;
		return STEP_WAIT;
	}
	if (n <= 0)
		return STEP_SEND_ERROR;
	d->held -= (uint32_t)n;
	*moved += (uint32_t)n;
	return STEP_GO;
}

/* Move what there is, a share of it at most. @is_all: until EAGAIN, else a
 * short look is enough. */
static enum step work(struct tcp_splice *s, struct splice_conn *c, unsigned i,
		      bool is_all)
{
	struct splice_dir *d = &c->dir[i];
	int from = c->side[i].fd, to = c->side[!i].fd;
	uint32_t moved = 0;
	enum step step;

	do {
		if (d->held)
			step = empty(d, to, &moved);
		else if (moved >= SPLICE_ROUND)
			step = STEP_MORE;
		else if ((d->flags & (DIR_BULK | DIR_URGENT)) == DIR_BULK &&
			 take_pipe(s, d))
			step = fill(d, from);
		else
			step = copy(s, d, from, to, &moved);
		if (step == STEP_SEEN)
			step = is_all ? STEP_GO : STEP_WAIT;
	} while (step == STEP_GO);
	if (step == STEP_WAIT && moved < SPLICE_BULK &&
	    !(d->flags & DIR_BLOCKED))
		d->flags &= ~(uint32_t)DIR_BULK;
	if (!d->held)
		give_pipe(s, d);
	stats_add(s->stats, TCP_SPLICE_BYTES, moved);
	return step;
}

/* One side is dead. What it sent before is still for the other to have. */
static void fall(struct tcp_splice *s, struct splice_conn *c, unsigned dead)
{
	c->dir[dead].flags &= ~(uint32_t)DIR_LAST; /* it would be held back */
	while (work(s, c, dead, true) == STEP_MORE)
		;
	end(s, c, true);
}

/* Work on a direction, and what follows from it; false if that was the end of
 * the connection */
static bool go(struct tcp_splice *s, struct splice_conn *c, unsigned i,
	       bool is_all)
{
	struct splice_dir *d = &c->dir[i];
	struct lru_table t = turns(s);

	switch (work(s, c, i, is_all)) {
	case STEP_MORE:
		d->flags |= DIR_MORE;
		if (!has_turn(s, c))
			lru_add(&t, &s->turns, number(s, c), 0);
		return true;
	case STEP_FIN:
		if (c->dir[!i].flags & DIR_DONE) {
			end(s, c, false);
			return false;
		}
		d->flags |= DIR_DONE;
		stream_shutdown(c->side[!i].fd);
		return true;
	case STEP_READ_ERROR:
		end(s, c, true);
		return false;
	case STEP_SEND_ERROR:
		fall(s, c, !i);
		return false;
	default:
		return true;
	}
}

static int far_socket(struct tcp_splice *s, const struct splice_conn *c,
		      enum family family)
{
	if (!(c->flags & CONN_IN_NS))
		return stream_open(sock_family(family));
	return s->agent ? agent_stream(s->agent, family) : -ENOTCONN;
}

/* Begin to connect the far side. */
static int reach(struct tcp_splice *s, struct splice_conn *c,
		 const struct end *target)
{
	enum family family = addr_family(&target->addr);
	struct watch *w = &c->side[SPLICE_FAR];
	int rc, fd;

	if (!addr_is_set(&target->addr)) /* :: would be the loopback */
		return -EADDRNOTAVAIL;
	fd = far_socket(s, c, family);
	if (sock_is_exhausted(fd) && tcp_splice_make_room(s))
		fd = far_socket(s, c, family);
	if (fd < 0)
		return fd;
	stream_setup(fd);
	*w = (struct watch){ ready, s, fd };
	rc = stream_connect(fd, sock_family(family), target);
	if (!rc || rc == -EINPROGRESS)
		rc = loop_add(s->loop, w, EVENTS);
	if (rc)
		close_side(s->loop, w, true);
	return rc;
}

/* Reach by IPv4 a server that IPv6 does not lead to; nothing was taken from the
 * client yet. */
static int turn(struct tcp_splice *s, struct splice_conn *c)
{
	struct end target = end_make(&addr_loopback4, c->target, 0);

	if (c->flags & CONN_IN_NS)
		target = fwd_splice_target(s->fwd, FAMILY_V4, c->target);
	c->flags &= (uint8_t)~CONN_MAY_TURN;
	close_side(s->loop, &c->side[SPLICE_FAR], true);
	stats_add(s->stats, SPLICE_TURNED, 1);
	return reach(s, c, &target);
}

/* The far side was not reached, @error says why; false if this is the end */
static bool try_other(struct tcp_splice *s, struct splice_conn *c, int error)
{
	if (c->flags & CONN_MAY_TURN &&
	    (error == -ECONNREFUSED || error == -EADDRNOTAVAIL))
		error = turn(s, c);
	if (!error)
		return true;
	stats_add(s->stats, TCP_REFUSED, 1);
	end(s, c, true);
	return false;
}

/* Is the far side connected? False also if the connection is over. */
static bool join(struct tcp_splice *s, struct splice_conn *c, uint32_t events)
{
	int error;

	if (!(events & EPOLLERR)) {
		if (!(events & EPOLLOUT))
			return false;
		move(s, c, SPLICE_OPEN);
		return true;
	}
	error = stream_error(c->side[SPLICE_FAR].fd);
	if (error == -ECONNRESET || error == -EPIPE)
		fall(s, c, SPLICE_FAR); /* it was, and is over already */
	else if (error)
		(void)try_other(s, c, error);
	return false;
}

static void ready(struct watch *w, uint32_t events)
{
	struct tcp_splice *s = w->ctx;
	size_t at = (size_t)((uint8_t *)w - (uint8_t *)s->conn);
	struct splice_conn *c = &s->conn[at / sizeof(*c)];
	unsigned i = w == &c->side[SPLICE_FAR];
	struct splice_dir *in = &c->dir[i], *out = &c->dir[!i];
	struct lru_table t = ages(s);

	if (c->list == SPLICE_CONNECTING && i == SPLICE_FAR &&
	    !join(s, c, events))
		return;
	if (c->list == SPLICE_OPEN)
		lru_touch(&t, &s->lists[SPLICE_OPEN], number(s, c), now_s(s),
			  false);
	if (events & EPOLLPRI)
		in->flags |= DIR_URGENT;
	if ((events & EVENTS_END) == EPOLLRDHUP)
		in->flags |= DIR_LAST;
	if (events & (EPOLLIN | EPOLLPRI | EVENTS_END) &&
	    !(in->flags & (DIR_BLOCKED | DIR_MORE | DIR_DONE)) &&
	    !go(s, c, i, events & (EPOLLPRI | EVENTS_END)))
		return;
	if (out->flags & DIR_BLOCKED &&
	    events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
		out->flags &= ~(uint32_t)DIR_BLOCKED;
		if (!go(s, c, !i, true))
			return;
	}
	/* Nobody reads on, or the last to be read was read before */
	if (events & EPOLLERR && !(in->flags & DIR_MORE))
		end(s, c, true);
}

static void expire(struct tcp_splice *s, enum splice_list list)
{
	while (s->lists[list].n) {
		struct splice_conn *c = &s->conn[lru_oldest(&s->lists[list])];

		if (now_s(s) - c->age.used < list_ms[list] / 1000)
			return;
		stats_add(s->stats,
			  list == SPLICE_OPEN ? TCP_EXPIRED : TCP_REFUSED, 1);
		end(s, c, true);
	}
}

static void take_turn(struct tcp_splice *s, struct splice_conn *c)
{
	for (unsigned i = 0; i < SPLICE_SIDES; i++) {
		if (!(c->dir[i].flags & DIR_MORE))
			continue;
		c->dir[i].flags &= ~(uint32_t)DIR_MORE;
		if (!go(s, c, i, true))
			return;
	}
}

static void fire(struct timer *timer, int64_t now_ms)
{
	struct tcp_splice *s = container_of(timer, struct tcp_splice, timer);
	struct lru_table t = turns(s);
	uint32_t n = s->turns.n;

	(void)now_ms;
	while (n--) {
		uint32_t i = lru_oldest(&s->turns);

		lru_del(&t, &s->turns, i);
		take_turn(s, &s->conn[i]);
	}
	expire(s, SPLICE_CONNECTING);
	expire(s, SPLICE_OPEN);
}

static int64_t next_ms(const struct timer *timer)
{
	const struct tcp_splice *s = container_of(timer, struct tcp_splice,
						  timer);
	int64_t next = NEVER;

	if (s->turns.n)
		return 0;
	for (unsigned i = 0; i < SPLICE_FREE; i++) {
		uint32_t oldest = lru_oldest(&s->lists[i]);
		int64_t ms = list_ms[i];

		if (oldest != LRU_NONE)
			ms += s->conn[oldest].age.used * 1000LL;
		if (oldest != LRU_NONE && ms < next)
			next = ms;
	}
	return next;
}

void tcp_splice_init(struct tcp_splice *s)
{
	while (s->n_idle < PIPES_FIRST &&
	       !stream_pipe(s->idle[s->n_idle], PIPE_SIZE))
		s->n_idle++;
	s->n_pipes = s->n_idle;
	s->timer = (struct timer){ next_ms, fire };
	loop_timer(s->loop, &s->timer);
}

bool tcp_splice_make_room(struct tcp_splice *s)
{
	uint32_t i = lru_oldest(&s->lists[SPLICE_OPEN]);

	if (i == LRU_NONE ||
	    now_s(s) - s->conn[i].age.used < TCP_EVICT_MS / 1000)
		return false;
	stats_add(s->stats, TCP_EVICTED, 1);
	end(s, &s->conn[i], true);
	return true;
}

static struct end far_end(const struct tcp_splice *s,
			  const struct splice_new *new)
{
	enum family family = addr_family(&new->local.addr);

	if (new->in_ns)
		return fwd_splice_target(s->fwd, family, new->target);
	return end_make(addr_is_loopback(&new->local.addr) ?
				&new->local.addr :
				addr_loopback(family),
			new->target, 0);
}

/* On loopback, connect(2) has mostly done it when it returns, and the client
 * has spoken: then that need not wait for an event. Returns 0 or -errno */
static int greet(struct tcp_splice *s, struct splice_conn *c)
{
	struct iovec iov = { s->buf, sizeof(s->buf) };
	ssize_t n = stream_peek(c->side[SPLICE_NEAR].fd, &iov, 1);

	if (n <= 0)
		return 0; /* an end or an error is found again */
	iov.iov_len = (size_t)n;
	n = stream_send(c->side[SPLICE_FAR].fd, &iov, 1);
	if (n < 0)
		return n == -EAGAIN ? 0 : (int)n;
	(void)stream_discard(c->side[SPLICE_NEAR].fd, (uint32_t)n);
	stats_add(s->stats, TCP_SPLICE_BYTES, (uint64_t)n);
	c->dir[SPLICE_NEAR].flags &= ~(uint32_t)DIR_BLOCKED;
	move(s, c, SPLICE_OPEN);
	return 0;
}

bool tcp_splice_begin(struct tcp_splice *s, const struct splice_new *new)
{
	struct end target = far_end(s, new);
	struct splice_conn *c;
	int rc;

	if (s->n >= s->max && !tcp_splice_make_room(s)) {
		stats_add(s->stats, TCP_REFUSED, 1);
		stream_reset(new->fd);
		return false;
	}
	c = take_entry(s);
	c->side[SPLICE_NEAR] = (struct watch){ ready, s, new->fd };
	c->side[SPLICE_FAR].fd = -1;
	c->dir[SPLICE_NEAR].flags = DIR_BLOCKED;
	c->target = new->target;
	c->flags = (new->in_ns ? CONN_IN_NS : 0);
	if (new->is_any && !addr_is_v4(&new->local.addr) && s->has[FAMILY_V4])
		c->flags |= CONN_MAY_TURN;
	rc = reach(s, c, &target);
	if (!rc)
		rc = greet(s, c);
	if (!try_other(s, c, rc))
		return false;
	if (loop_add(s->loop, &c->side[SPLICE_NEAR], EVENTS))
		return try_other(s, c, -ENOMEM);
	stats_add(s->stats, TCP_SPLICED, 1);
	return true;
}
