/* loop.c - wait for descriptors and deadlines
 *
 * Problem: one thread serves thousands of sockets and a handful of tables with
 * idle times, and must sleep without a tick when there is nothing to do.
 *
 * Idea: level-triggered epoll(7) carries a pointer to the owner's struct watch,
 * so an event is one indirect call and needs no table here. Deadlines are
 * asked for before each wait: the smallest becomes the time-out, and no timer
 * means no time-out. Each wake-up handles all of its events before the timers,
 * so that a late timer cannot drop what has arrived already.
 *
 * To sleep and be woken takes longer than a short exchange, and as much of the
 * processor's time as to look again and again meanwhile. So while small events
 * follow each other closely, it looks for a moment before it sleeps. Whoever else
 * wants the processor goes first, and if that takes long, it does not look for a
 * while (doc/decisions/0051).
 *
 * A handler may delete any watch, also one whose event was fetched with its
 * own: such an event is taken out of the batch.
 *
 * Not here: priorities, signals (they arrive by a descriptor), fairness within
 * a handler: each limits its own rounds. */

#include "loop.h"

#include "clock.h"
#include "limits.h"
#include "log.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>

#define EVENTS_MAX 64 /* of one wake-up */

int loop_init(struct loop *l)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	*l = (struct loop){ .epfd = fd, .now_ms = clock_ms() };
	return 0;
}

/* seccomp(forwarder): epoll_ctl */
static int control(struct loop *l, int op, struct watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	return epoll_ctl(l->epfd, op, w->fd, &ev) < 0 ? -errno : 0;
}

int loop_add(struct loop *l, struct watch *w, uint32_t events)
{
	return control(l, EPOLL_CTL_ADD, w, events);
}

int loop_mod(struct loop *l, struct watch *w, uint32_t events)
{
	return control(l, EPOLL_CTL_MOD, w, events);
}

/* Its memory may have another owner before the batch is over */
void loop_forget(struct loop *l, struct watch *w)
{
	int i;

	for (i = 0; i < l->n_batch; i++) {
		if (l->batch[i].data.ptr == w)
			l->batch[i].data.ptr = NULL;
	}
	w->fn = NULL;
}

void loop_del(struct loop *l, struct watch *w)
{
	control(l, EPOLL_CTL_DEL, w, 0);
	loop_forget(l, w);
}

void loop_timer(struct loop *l, struct timer *t)
{
	assert(l->n_timers < LOOP_TIMERS_MAX);
	l->timer[l->n_timers++] = t;
}

void loop_end(struct loop *l, int status)
{
	l->is_over = 1;
	l->status = status;
}

/* Milliseconds until the earliest deadline as epoll_wait() takes them. The
 * clock is read again: handlers may have used up part of the time. */
static int wait_ms(const struct loop *l)
{
	int64_t next = NEVER;
	int64_t left;

	for (unsigned i = 0; i < l->n_timers; i++) {
		int64_t ms = l->timer[i]->next_ms(l->timer[i]);

		if (ms < next)
			next = ms;
	}
	if (next == NEVER)
		return -1;
	left = next - clock_ms();
	if (left < 0)
		return 0;
	return left < INT32_MAX ? (int)left : INT32_MAX;
}

static void fire_timers(struct loop *l)
{
	for (unsigned i = 0; i < l->n_timers; i++)
		if (l->timer[i]->next_ms(l->timer[i]) <= l->now_ms)
			l->timer[i]->fire(l->timer[i], l->now_ms);
}

void loop_handle(struct loop *l, struct epoll_event *ev, int n)
{
	l->batch = ev;
	l->n_batch = n;
	for (int i = 0; i < n; i++) {
		struct watch *w = ev[i].data.ptr;

		if (w && w->fn)
			w->fn(w, ev[i].events);
	}
	l->n_batch = 0;
}

/* A program that computes takes its whole slice when we yield; to sleep would
 * give us the processor back at once.
 * seccomp(forwarder): sched_yield */
static int busy_poll(struct loop *l, struct epoll_event *ev, int64_t start_us)
{
	int64_t used_us;
	int n;

	do {
		sched_yield();
		n = epoll_wait(l->epfd, ev, EVENTS_MAX, 0);
		used_us = clock_us() - start_us;
	} while (!n && used_us < LOOP_POLL_US);
	if (used_us >= LOOP_POLL_LATE_US)
		l->poll_us = start_us + LOOP_POLL_PAUSE_US;
	return n;
}

/* seccomp(forwarder): epoll_wait epoll_pwait clock_gettime */
static int wait_for_events(struct loop *l, struct epoll_event *ev)
{
	int64_t start_us = clock_us();
	int n = 0;

	if (start_us - l->now_us >= LOOP_POLL_US)
		l->n_short = 0; /* much is done at once: let it gather */
	if (l->n_short >= LOOP_POLL_AFTER && start_us >= l->poll_us)
		n = busy_poll(l, ev, start_us);
	if (!n)
		n = epoll_wait(l->epfd, ev, EVENTS_MAX, wait_ms(l));
	l->now_us = clock_us();
	l->now_ms = l->now_us / 1000;
	if (n <= 0 || l->now_us - start_us >= LOOP_POLL_US)
		l->n_short = 0;
	else if (l->n_short < LOOP_POLL_AFTER)
		l->n_short++;
	return n;
}

int loop_run(struct loop *l)
{
	struct epoll_event ev[EVENTS_MAX];

	while (!l->is_over) {
		int n = wait_for_events(l, ev);

		if (n < 0 && errno != EINTR) {
			err("epoll_wait: %s", strerror(errno));
			return 1;
		}
		loop_handle(l, ev, n);
		fire_timers(l);
	}
	return l->status;
}
