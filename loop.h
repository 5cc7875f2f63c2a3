/* loop.h - descriptors and deadlines
 * Knows: epoll(7).  Does not know: what a descriptor is for.
 *
 * Owners embed a struct watch; its handler finds the owner by container_of().
 * An event that was already fetched for a watch removed meanwhile is not told. */

#ifndef LOOP_H
#define LOOP_H

#include <stddef.h>
#include <stdint.h>

#define LOOP_TIMERS_MAX 16

struct epoll_event;

/** container_of() - the struct that embeds a member */
#define container_of(ptr, type, member) \
	((type *)((uintptr_t)(ptr)-offsetof(type, member)))

/** struct watch - a descriptor the loop waits on
 * @fn:  called with EPOLL* flags; level-triggered   @fd: -1 if unused
 * @ctx: for @fn, where container_of() is not enough */
struct watch {
	void (*fn)(struct watch *w, uint32_t events);
	void *ctx;
	int fd;
};

/** struct timer - work that waits for a point in time
 * @next_ms: its next deadline, NEVER if none; asked before every wait
 * @fire:    called once the deadline has passed */
struct timer {
	int64_t (*next_ms)(const struct timer *t);
	void (*fire)(struct timer *t, int64_t now_ms);
};

/** struct loop - @epfd: epoll descriptor; @now_ms: time of this wake-up;
 * @is_over: set by loop_end(); @status: exit status then
 * @batch, @n_batch: events of this wake-up
 * @n_short: waits in a row that were over soon, as was the work between them;
 * @now_us: @now_ms exactly    @poll_us: no busy polling before */
struct loop {
	int epfd;
	int64_t now_ms, now_us, poll_us;
	struct epoll_event *batch;
	int n_batch;
	int is_over;
	int status;
	unsigned n_timers, n_short;
	struct timer *timer[LOOP_TIMERS_MAX];
};

/** loop_init() - returns 0 or -errno */
int loop_init(struct loop *l);

/** loop_add() / loop_mod() - wait for @events; returns 0 or -errno */
int loop_add(struct loop *l, struct watch *w, uint32_t events);
int loop_mod(struct loop *l, struct watch *w, uint32_t events);

/** loop_del() - stop waiting and forget @w->fn; does not close @w->fd */
void loop_del(struct loop *l, struct watch *w);

/** loop_forget() - the same of a descriptor that is closed at once, and nobody
 * else has open: the kernel then stops by itself */
void loop_forget(struct loop *l, struct watch *w);

/** loop_timer() - register a timer for the life of the loop */
void loop_timer(struct loop *l, struct timer *t);

/** loop_end() - make loop_run() return @status after this wake-up */
void loop_end(struct loop *l, int status);

/** loop_handle() - tell one batch of events; loop_run() does, after each wait */
void loop_handle(struct loop *l, struct epoll_event *ev, int n);

/** loop_run() - handle events until loop_end(); returns its status. Sleeps
 * without limit when no deadline is set. */
int loop_run(struct loop *l);

#endif
