/* udpload_loop.c - the closed and the open loop, against an echo
 *
 * closed keeps W datagrams under way: it drives a forwarder as fast as it goes
 * without losing anything, if W fits the smallest queue of the path. A lost
 * datagram is given up after a while, counted, and replaced by the next.
 *
 * open sends by the clock, whether answers come or not. Each datagram's time
 * counts from the moment it was meant to be sent, so that a stall of the path
 * shows in all that should have been sent meanwhile, and so does a delay of
 * this program. If it falls more than --catch-up datagrams behind, as when it
 * lost its CPU, a burst would measure the queues instead: the schedule is moved
 * then and the time that was given up reported ("behind"). Such a run says
 * less, it does not say more: judge it by the target beside the rate.
 *
 * Neither spins: they sleep until an answer or the next moment. So their CPU
 * time can stand as the reference for that of a forwarder. */

#include "udpload_chan.h"
#include "udpload_track.h"

#include <sys/prctl.h>

#define PAUSE_NS 1000000 /* after a call that failed */
#define LINGER_NS 20000000 /* for what comes unasked */
#define LINGER_LOST_NS 200000000
#define TAKE_MAX 64 /* answers taken before looking at the clock's other end */

/** struct plan - when open sends
 * @base_ns, @base: the moment of datagram @base; the others follow from it
 * @late_sends: datagrams sent more than an interval late, at most @late_max_ns
 * @behind:     how often the schedule was moved, by @behind_ns in all */
struct plan {
	double interval_ns;
	uint64_t base_ns;
	uint64_t base;
	uint64_t late_sends;
	uint64_t late_max_ns;
	uint64_t behind;
	uint64_t behind_ns;
};

static struct chan chan;
static struct track track;

static void begin(const struct options *o)
{
	chan_open(&chan, o);
	track.flows = o->flows;
	track.size = o->size;
	track.verify = o->verify;
	track.warm = o->warm < o->count ? o->warm : 0;
	/* 50 us of slack would be most of an interval */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

/* Sends the next datagram, whose time counts from @ns; false if it failed */
static bool send_next(uint64_t ns)
{
	int rc = chan_send(&chan, track.head);

	if (!rc) {
		track_sent(&track, ns);
		return true;
	}
	track.tx_errors++;
	track.refused += rc == -ECONNREFUSED;
	return false;
}

/* Takes what came; false if that was nothing */
static bool take(void)
{
	const uint8_t *buf;
	int n = 0;
	int i;

	for (i = 0; i < TAKE_MAX && n >= 0; i++) {
		n = chan_recv(&chan, &buf);
		if (n >= 0)
			track_got(&track, buf, (uint32_t)n, now_ns());
		else if (n != -EAGAIN)
			track.refused++;
	}
	return i > 1;
}

/* Waits for what is still under way, then for what nobody waits for any more:
 * second answers, and those to datagrams that were given up. Returns the time
 * without that. */
static double drain(const struct options *o, double start)
{
	uint64_t wait_ns = (uint64_t)(o->wait_s * 1e9), end;
	double secs;

	while (!stopped && track.in_flight) {
		if (!take())
			chan_wait(&chan, track_oldest(&track) + wait_ns + 1);
		track_expire(&track, now_ns() - wait_ns);
	}
	secs = now() - start;
	end = now_ns() + (track_lost(&track) ? LINGER_LOST_NS : LINGER_NS);
	while (!stopped && now_ns() < end) {
		if (!take())
			chan_wait(&chan, end);
	}
	return secs;
}

static int finish(const struct options *o, double secs)
{
	printf(",\"size\":%u,\"flows\":%u,\"verify\":%s", o->size, o->flows,
	       o->verify ? "true" : "false");
	track_json(&track, stdout);
	chan_json(&chan, stdout);
	printf(",\"secs\":%.6f,\"cpu_us\":%.0f", secs, cpu_us());
	if (o->hist) {
		printf(",\"hist\":\"");
		hist_print(&track.hist, stdout);
		putchar('"');
	}
	puts("}");
	return track_lost(&track) || faults_total(&track.faults);
}

/* ---- closed ----------------------------------------------------------- */

/* Opens the window as far as it goes; false if a call failed */
static bool fill_window(const struct options *o)
{
	uint64_t t = now_ns();

	while (track.in_flight < o->window && track.head < o->count &&
	       track.head - track.tail < TRACK_RING) {
		if (!send_next(t))
			return false;
		if (track.in_flight < o->window)
			t = now_ns();
	}
	return true;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int cmd_closed(const struct options *o)
{
	uint64_t wait_ns = (uint64_t)(o->wait_s * 1e9), end, t;
	double start, secs;

	begin(o);
	start = now();
	end = now_ns() + (uint64_t)(o->secs * 1e9);
	for (t = now_ns(); t < end && !stopped; t = now_ns()) {
		const uint8_t *buf;
		bool ok = fill_window(o);
		int n;

		if (track.head >= o->count && ok)
			break;
		n = chan_recv(&chan, &buf);
		if (n >= 0) {
			track_got(&track, buf, (uint32_t)n, now_ns());
			continue;
		}
		if (n != -EAGAIN)
			track.refused++;
		if (!ok)
			chan_wait(&chan, t + PAUSE_NS);
		else
			chan_wait(&chan, earlier(end, track_oldest(&track) +
							      wait_ns + 1));
		track_expire(&track, now_ns() - wait_ns);
	}
	secs = drain(o, start);
	printf("{\"workload\":\"closed\",\"window\":%u", o->window);
	return finish(o, secs);
}

/* ---- open ------------------------------------------------------------- */

static uint64_t due(const struct plan *p, uint64_t seq)
{
	return p->base_ns +
	       (uint64_t)((double)(seq - p->base) * p->interval_ns);
}

/* Sends what is due at @t, at most what may be caught up with */
static void send_due(struct plan *p, const struct options *o, uint64_t t)
{
	uint64_t at = due(p, track.head);

	if (at < t && (double)(t - at) > o->catch_up * p->interval_ns) {
		p->behind++;
		p->behind_ns += t - at;
		p->base_ns = t;
		p->base = track.head;
		at = t;
	}
	for (unsigned i = 0; at <= t && i <= o->catch_up; i++) {
		if (track.head >= o->count ||
		    track.head - track.tail >= TRACK_RING)
			return;
		if (t - at > p->late_max_ns)
			p->late_max_ns = t - at;
		p->late_sends += (double)(t - at) > p->interval_ns;
		if (!send_next(at)) {
			/* Its moment has passed: the next takes the number */
			p->base_ns = due(p, track.head + 1);
			p->base = track.head;
			return;
		}
		at = due(p, track.head);
		t = now_ns();
	}
}

int cmd_open(const struct options *o)
{
	struct plan p = { .interval_ns = 1e9 / o->rate };
	uint64_t wait_ns = (uint64_t)(o->wait_s * 1e9), end, t;
	double start, secs;

	begin(o);
	start = now();
	p.base_ns = now_ns();
	end = p.base_ns + (uint64_t)(o->secs * 1e9);
	for (t = p.base_ns; t < end && !stopped; t = now_ns()) {
		send_due(&p, o, t);
		if (track.head >= o->count)
			break;
		if (!take())
			chan_wait(&chan, earlier(end, due(&p, track.head)));
		track_expire(&track, now_ns() - wait_ns);
	}
	/* The rate of sending, before waiting for the rest */
	printf("{\"workload\":\"open\",\"target_pps\":%.1f,\"sent_pps\":%.1f",
	       o->rate, (double)track.head / (now() - start));
	secs = drain(o, start);
	printf(",\"late_sends\":%" PRIu64 ",\"late_max_us\":%.1f"
	       ",\"behind\":%" PRIu64 ",\"behind_us\":%.1f",
	       p.late_sends, (double)p.late_max_ns / 1e3, p.behind,
	       (double)p.behind_ns / 1e3);
	return finish(o, secs);
}
