/* udpload_ramp.c - transient load: offered load in steps, full duplex
 *
 * Both ends are sockets of this process, opened in the namespaces of --near
 * and --far: the near one is connected to ADDR PORT, the far one bound to PORT
 * and answering on the flow that the near one opened. A thread at each end
 * sends and receives, so each step has exact counts of both directions without
 * any talk between programs.
 *
 * A step is its seconds of sending, then a fifth of a second of silence: what
 * comes later still counts in the step after, which may show less than nothing
 * lost then. Load is bits of UDP payload per second in each direction. Each
 * end sleeps between datagrams and catches up with at most CATCH_UP of them:
 * a step that sent less than was offered says something about this program
 * and not about the forwarder.
 *
 * Ends on two machines are not its business. */

#include "udpload_payload.h"
#include "udpload_sock.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#define STEPS_MAX 1000
#define REST_NS 200000000ull
#define CATCH_UP 64
#define HELLO_TRIES 50

/** struct step - what one end did in one step */
struct step {
	uint64_t offered;
	uint64_t sent;
	uint64_t errors;
	uint64_t received;
	uint64_t duplicates;
	uint64_t bad;
	double secs;
};

/** struct end - one of the two; @size, @pps and @begin_ns are the same in both */
struct end {
	int fd;
	uint64_t seq;
	struct seen *seen;
	uint8_t out[BUF_MAX];
	uint8_t in[BUF_MAX];
	struct step step[STEPS_MAX];
	struct faults faults;
};

static struct end near_end, far_end;
static struct seen seen_near, seen_far;
static const struct options *opt;
static uint64_t begin_ns;
static double load[STEPS_MAX]; /* bits per second */
static unsigned steps;

/* ---- the two ends ----------------------------------------------------- */

static int own_namespace(void)
{
	return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* Enters a namespace by name or path; NULL: stays */
static void enter(const char *name)
{
	char path[4096];
	int fd;

	if (!name)
		return;
	snprintf(path, sizeof(path), "%s%s",
		 strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		fail("namespace %s: %s", path, strerror(errno));
	close(fd);
}

static int open_far(const struct options *o)
{
	struct options far = *o;
	int home = own_namespace();
	int fd;

	enter(o->ns_far);
	far.addr = strchr(o->addr, ':') ? "::" : "0.0.0.0";
	fd = open_bound(&far, 0);
	if (setns(home, CLONE_NEWNET))
		fail("cannot come back: %s", strerror(errno));
	close(home);
	return fd;
}

/* Opens the flow, so that the far end knows where to answer to */
static void say_hello(const struct options *o)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	for (int i = 0; i < HELLO_TRIES; i++) {
		(void)!send(near_end.fd, "hello", 5, 0);
		if (recvfrom(far_end.fd, far_end.in, BUF_MAX, 0,
			     (struct sockaddr *)&sa, &len) < 0)
			continue;
		if (connect(far_end.fd, (struct sockaddr *)&sa, len))
			fail("answering: %s", strerror(errno));
		return;
	}
	fail("nothing from %s port %s arrives", o->addr, o->port);
}

static void open_ends(const struct options *o)
{
	enter(o->ns_near);
	far_end.fd = open_far(o);
	near_end.fd = open_connected(o, o->bind_port);
	if (near_end.fd < 0)
		fail("%s port %s: %s", o->addr, o->port,
		     strerror(-near_end.fd));
	ask_queue(near_end.fd, o->queue);
	near_end.seen = &seen_near;
	far_end.seen = &seen_far;
	payload_init(near_end.out, o->size);
	payload_init(far_end.out, o->size);
	say_hello(o);
}

/* ---- one end's thread --------------------------------------------------- */

static void take(struct end *e, struct step *s)
{
	for (int i = 0; i < CATCH_UP; i++) {
		ssize_t n = recv(e->fd, e->in, BUF_MAX, MSG_DONTWAIT);
		uint64_t seq;

		if (n < 0)
			return;
		if (n < SIZE_MIN)
			continue; /* hello */
		seq = payload_seq(e->in);
		if (seq >= SEQ_MAX ||
		    (opt->verify && !payload_ok(e->in, (uint32_t)n, seq))) {
			payload_blame(&e->faults, e->in, (uint32_t)n, 0);
			s->bad++;
		} else if (seen_add(e->seen, seq)) {
			s->received++;
		} else {
			s->duplicates++;
		}
	}
}

static void send_one(struct end *e, struct step *s)
{
	payload_stamp(e->out, opt->size, e->seq);
	if (send(e->fd, e->out, opt->size, MSG_DONTWAIT) < 0) {
		s->errors++;
		return;
	}
	s->sent++;
	e->seq++;
}

static void rest(int fd, uint64_t ns)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct timespec ts;

	ts.tv_sec = (time_t)(ns / 1000000000);
	ts.tv_nsec = (long)(ns % 1000000000);
	ppoll(&pfd, 1, &ts, NULL);
}

static void run_step(struct end *e, struct step *s, double pps, uint64_t from)
{
	uint64_t stop = from + (uint64_t)(opt->step_s * 1e9);
	uint64_t end = stop + REST_NS, base = from, t;
	double gap = 1e9 / pps, n = 0;

	s->offered = (uint64_t)(pps * opt->step_s);
	for (t = now_ns(); t < end && !stopped; t = now_ns()) {
		uint64_t at = base + (uint64_t)(n * gap);

		take(e, s);
		if (t >= stop || at >= stop) {
			rest(e->fd, end - t);
			continue;
		}
		if (at > t) {
			rest(e->fd, at - t);
			continue;
		}
		if ((double)(t - at) > CATCH_UP * gap) {
			base = t;
			n = 0;
		}
		send_one(e, s);
		n++;
	}
	s->secs = opt->step_s;
}

static void *run_end(void *arg)
{
	struct end *e = arg;
	uint64_t each = (uint64_t)(opt->step_s * 1e9) + REST_NS;

	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	for (unsigned i = 0; i < steps && !stopped; i++) {
		uint64_t from = begin_ns + i * each, t = now_ns();

		if (from > t)
			rest(-1, from - t);
		run_step(e, &e->step[i], load[i] / 8 / opt->size, from);
	}
	return NULL;
}

/* ---- steps and their table ---------------------------------------------- */

static void add_step(double bits)
{
	if (steps == STEPS_MAX)
		fail("more than %u steps", STEPS_MAX);
	load[steps++] = bits;
}

static void plan(const struct options *o)
{
	double step = o->step > 0 ? o->step : o->peak / 10;
	int n = (int)(o->peak / step + .5);
	bool up = strcmp(o->shape, "down") != 0;
	bool down = strcmp(o->shape, "up") != 0;

	if (n < 1)
		fail("a step may not be more than the peak");
	if (up && down && strcmp(o->shape, "up_down"))
		fail("-p is up, down or up_down");
	for (int i = 1; up && i <= n; i++)
		add_step(i * step);
	/* The peak is not there twice */
	for (int i = up ? n - 1 : n; down && i >= 1; i--)
		add_step(i * step);
}

static void print_row(unsigned i, const char *direction, const struct step *tx,
		      const struct step *rx)
{
	double size = opt->size, s = opt->step_s;
	double sent = (double)tx->sent, got = (double)rx->received;

	printf("%u,%.6f,%s,%.3f,%" PRIu64 ",%" PRIu64 ",%.6f,%.0f,%.6f", i,
	       load[i] / 1e9, direction, s, tx->offered, tx->sent,
	       sent / s / 1e6, sent * size, sent * size * 8 / s / 1e9);
	printf(",%" PRIu64 ",%.6f,%.0f,%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64
	       ",%.0f,%.4f\n",
	       rx->received, got / s / 1e6, got * size,
	       got * size * 8 / s / 1e9, tx->errors, rx->duplicates, rx->bad,
	       sent - got - (double)rx->bad,
	       sent > 0 ? 100 * (sent - got - (double)rx->bad) / sent : 0);
}

int cmd_ramp(const struct options *o)
{
	pthread_t far;

	opt = o;
	plan(o);
	open_ends(o);
	begin_ns = now_ns() + 10000000;
	if (pthread_create(&far, NULL, run_end, &far_end))
		fail("no thread");
	run_end(&near_end);
	pthread_join(far, NULL);
	puts("step,load_gbps,direction,secs,offered_packets,tx_packets,tx_mpps,"
	     "tx_bytes,tx_gbps,rx_packets,rx_mpps,rx_bytes,rx_gbps,tx_errors,"
	     "duplicates,corrupt,lost_packets,lost_percent");
	for (unsigned i = 0; i < steps; i++) {
		print_row(i, "out", &near_end.step[i], &far_end.step[i]);
		print_row(i, "back", &far_end.step[i], &near_end.step[i]);
	}
	return 0;
}
