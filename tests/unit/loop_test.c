/* loop_test.c - events, stale events, timers
 *
 * Event descriptors that are ready before the loop runs, and deadlines in the
 * past: nothing here waits, but for a moment of busy polling. */

#include "check.h"
#include "clock.h"
#include "limits.h"
#include "loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

struct owner {
	struct watch watch;
	struct loop *l;
	struct owner *victim;
	int n_calls;
	uint32_t events;
};

static void on_event(struct watch *w, uint32_t events)
{
	struct owner *o = container_of(w, struct owner, watch);

	o->n_calls++;
	o->events = events;
	if (o->victim)
		loop_del(o->l, &o->victim->watch);
	loop_end(o->l, 42);
}

static void owner_init(struct owner *o, struct loop *l)
{
	*o = (struct owner){ .l = l };
	o->watch.fn = on_event;
	o->watch.fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
	is_int(loop_add(l, &o->watch, EPOLLIN), 0, "add");
}

static void test_events(void)
{
	struct owner a, b;
	struct loop l;

	is_int(loop_init(&l), 0, "init");
	owner_init(&a, &l);
	owner_init(&b, &l);
	is_int(loop_mod(&l, &b.watch, EPOLLOUT), 0, "modify");
	is_int(loop_run(&l), 42, "status");
	is_int(a.n_calls, 1, "called");
	is_int(a.events, EPOLLIN, "its events");
	is_int(b.n_calls, 1, "the rest of the wake-up is handled, too");
	is_int(b.events, EPOLLOUT, "its modified events");
	ok(clock_ms() - l.now_ms < 10000, "time of the wake-up");
	close(a.watch.fd);
	close(b.watch.fd);
	close(l.epfd);
}

static void test_stale(void)
{
	struct owner a, b;
	struct loop l;

	loop_init(&l);
	owner_init(&a, &l);
	owner_init(&b, &l);
	a.victim = &b;
	b.victim = &a;
	loop_run(&l);
	is_int(a.n_calls + b.n_calls, 1, "a deleted watch is not called");
	ok(!a.watch.fn != !b.watch.fn, "its handler is forgotten");
	close(a.watch.fd);
	close(b.watch.fd);
	is_int(loop_add(&l, &a.watch, EPOLLIN), -9, "closed descriptor: EBADF");
	close(l.epfd);
}

struct alarm {
	struct timer timer;
	struct loop *l;
	int64_t next_ms;
	int n_calls;
	int64_t now_ms;
};

static int64_t alarm_next(const struct timer *t)
{
	return container_of(t, struct alarm, timer)->next_ms;
}

static void alarm_fire(struct timer *t, int64_t now_ms)
{
	struct alarm *a = container_of(t, struct alarm, timer);

	a->n_calls++;
	a->now_ms = now_ms;
	if (a->n_calls == 3)
		loop_end(a->l, 7);
	if (a->n_calls == 2)
		a->next_ms = now_ms; /* reached at once: fires next time */
}

static void test_timers(void)
{
	struct loop l;
	struct alarm past = { .timer = { alarm_next, alarm_fire }, .l = &l };
	struct alarm far = past, never = past;

	loop_init(&l);
	far.next_ms = clock_ms() + 3600 * 1000LL * 24 * 365;
	never.next_ms = NEVER;
	loop_timer(&l, &never.timer);
	loop_timer(&l, &far.timer);
	loop_timer(&l, &past.timer);
	is_int(loop_run(&l), 7, "status");
	is_int(past.n_calls, 3, "fires while its deadline has passed");
	is_int(past.now_ms, l.now_ms, "with the time of the wake-up");
	is_int(far.n_calls, 0, "a year ahead does not overflow");
	is_int(never.n_calls, 0, "never");
	close(l.epfd);
}

/* Always ready, until waits that were short have made the loop poll */
static void on_stream(struct watch *w, uint32_t events)
{
	struct owner *o = container_of(w, struct owner, watch);

	(void)events;
	if (++o->n_calls == 100000 || o->l->n_short == LOOP_POLL_AFTER)
		loop_del(o->l, w);
}

static void silence_ends(struct timer *t, int64_t now_ms)
{
	(void)now_ms;
	loop_end(container_of(t, struct alarm, timer)->l, 9);
}

static int64_t cpu_us(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
	       r.ru_utime.tv_usec + r.ru_stime.tv_usec;
}

static void test_busy_poll(void)
{
	struct alarm end = { .timer = { alarm_next, silence_ends } };
	struct owner a;
	struct loop l;
	int64_t used;

	loop_init(&l);
	owner_init(&a, &l);
	a.watch.fn = on_stream;
	end.l = &l;
	end.next_ms = clock_ms() + 300;
	loop_timer(&l, &end.timer);
	used = cpu_us();
	is_int(loop_run(&l), 9, "status");
	used = cpu_us() - used;
	ok(a.n_calls >= LOOP_POLL_AFTER && a.n_calls < 100000,
	   "%d events in a row: it polls", a.n_calls);
	is_int(l.n_short, 0, "nothing comes: it does not poll again");
	ok(used < 150000, "and it sleeps meanwhile: %d us of 300 ms",
	   (int)used);
	close(a.watch.fd);
	close(l.epfd);
}

int main(void)
{
	test_events();
	test_stale();
	test_timers();
	test_busy_poll();
	return done();
}
