/* tcpload_ask.c - exchanges over one connection, and one for each exchange
 *
 * rr sends a request and waits for its answer, again and again: what it shows
 * is latency. The first byte of the server, which says that the connection
 * stands, is not counted.
 *
 * crr keeps N connections under way, each from connect() to the end of its
 * stream, and begins a new one for each that is over. Its times are those of
 * whole connections. One that fails or takes longer than the limit is counted,
 * said why, and replaced. */

#include "tcpload.h"
#include "udpload_hist.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>

#define TICK_MS 50

static struct hist hist;
static uint8_t buf[SIZE_MAX_OF_ANSWER];

/* @answered are all, warm ones too; the histogram has only the others */
static void report(const struct options *o, const char *cmd, uint64_t start,
		   uint64_t answered, const char *more)
{
	double secs = (double)(now_ns() - start) / 1e9;

	printf("{\"cmd\":\"%s\",\"answered\":%" PRIu64 ",\"secs\":%.6f"
	       ",\"rate_pps\":%.1f,\"cpu_us\":%.0f%s",
	       cmd, answered, secs, secs > 0 ? (double)hist.n / secs : 0,
	       cpu_us(), more);
	hist_json(&hist, stdout);
	if (o->hist) {
		fputs(",\"hist\":\"", stdout);
		hist_print(&hist, stdout);
		putchar('"');
	}
	puts("}");
}

static struct request request_of(const struct options *o, enum kind kind)
{
	return (struct request){ .magic = MAGIC,
				 .kind = kind,
				 .size = o->size };
}

/* ---- one connection --------------------------------------------------- */

int cmd_rr(const struct options *o)
{
	struct request r = request_of(o, KIND_ECHO);
	uint64_t end = now_ns() + (uint64_t)(o->secs * 1e9), start, t, done = 0;
	int fd = tcp_connect(o);

	if (!send_all(fd, &r, sizeof(r)) || !recv_all(fd, buf, 1))
		fail("no answer to the request: %s", strerror(errno));
	start = t = now_ns();
	while (!stopped && t < end &&
	       (!o->count || done < o->count + o->warm)) {
		uint64_t before = t;

		if (!send_all(fd, buf, o->size) || !recv_all(fd, buf, o->size))
			fail("no answer after %" PRIu64 ": %s", done,
			     strerror(errno));
		t = now_ns();
		if (++done > o->warm)
			hist_add(&hist, t - before);
		else
			start = t;
	}
	close(fd);
	report(o, "rr", start, done, "");
	return 0;
}

/* ---- a connection for each -------------------------------------------- */

enum state { CONNECTING, ANSWERING };

/** struct slot - one of the connections under way */
struct slot {
	int fd;
	enum state state;
	size_t got;
	uint64_t start_ns;
};

/** struct crr - @why: errno of the last failure, 0: ended too early */
struct crr {
	const struct options *o;
	struct request request;
	int epfd;
	uint64_t begun, done, failed, late;
	int why;
	struct slot slot[PARALLEL_MAX];
};

static struct crr crr;

static bool crr_is_enough(void)
{
	return crr.o->count && crr.begun >= crr.o->count + crr.o->warm;
}

static void crr_begin(unsigned i)
{
	struct slot *s = &crr.slot[i];
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLIN | EPOLLET,
				  .data.u32 = i };
	struct sockaddr_storage sa;
	socklen_t len;

	s->fd = -1;
	if (crr_is_enough())
		return;
	s->fd = tcp_open(crr.o, (unsigned)(crr.begun % crr.o->ports), &sa,
			 &len);
	crr.begun++;
	s->state = CONNECTING;
	s->got = 0;
	s->start_ns = now_ns();
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	if (connect(s->fd, (struct sockaddr *)&sa, len) && errno != EINPROGRESS)
		fail("connect: %s", strerror(errno));
	if (epoll_ctl(crr.epfd, EPOLL_CTL_ADD, s->fd, &ev))
		fail("epoll_ctl: %s", strerror(errno));
}

static void crr_end(unsigned i)
{
	close(crr.slot[i].fd);
	crr_begin(i);
}

static void crr_fail(unsigned i, int why)
{
	crr.failed++;
	crr.why = why;
	crr_end(i);
}

/* Reads what there is; a whole answer and the end behind it is a success */
static void crr_read(unsigned i)
{
	struct slot *s = &crr.slot[i];
	ssize_t n;

	while ((n = recv(s->fd, buf, sizeof(buf), 0)) > 0)
		s->got += (size_t)n;
	if (n < 0) {
		if (errno != EAGAIN)
			crr_fail(i, errno);
		return;
	}
	if (s->got != crr.o->size) {
		crr_fail(i, 0);
		return;
	}
	if (++crr.done > crr.o->warm)
		hist_add(&hist, now_ns() - s->start_ns);
	crr_end(i);
}

static void crr_event(unsigned i, uint32_t events)
{
	struct slot *s = &crr.slot[i];

	if (s->fd < 0)
		return;
	if (s->state == CONNECTING && events & (EPOLLOUT | EPOLLERR)) {
		if (send(s->fd, &crr.request, sizeof(crr.request),
			 MSG_NOSIGNAL) != sizeof(crr.request)) {
			crr_fail(i, errno);
			return;
		}
		s->state = ANSWERING;
	}
	if (s->state == ANSWERING && events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		crr_read(i);
}

/* Gives up those that take too long. Returns how many are under way */
static unsigned crr_sweep(void)
{
	uint64_t limit = (uint64_t)(crr.o->wait_s * 1e9), t = now_ns();
	unsigned open = 0;

	for (unsigned i = 0; i < crr.o->parallel; i++) {
		if (crr.slot[i].fd < 0)
			continue;
		if (t - crr.slot[i].start_ns > limit) {
			crr.late++;
			crr_fail(i, ETIMEDOUT);
		}
		open++;
	}
	return open;
}

int cmd_crr(const struct options *o)
{
	uint64_t start = now_ns(), end = start + (uint64_t)(o->secs * 1e9);
	uint64_t swept = start, t = start;
	struct epoll_event ev[64];
	char more[96];

	crr.o = o;
	crr.request = request_of(o, KIND_ONE);
	crr.epfd = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; i < o->parallel; i++)
		crr_begin(i);
	while (!stopped && t < end) {
		int n = epoll_wait(crr.epfd, ev, 64, TICK_MS);

		for (int i = 0; i < n; i++)
			crr_event(ev[i].data.u32, ev[i].events);
		if (crr.done <= o->warm)
			start = now_ns();
		t = now_ns();
		if (t - swept < TICK_MS * 1000000 && !crr_is_enough())
			continue;
		swept = t;
		if (!crr_sweep())
			break;
	}
	snprintf(more, sizeof(more),
		 ",\"failed\":%" PRIu64 ",\"late\":%" PRIu64 ",\"why\":\"%s\"",
		 crr.failed, crr.late,
		 !crr.failed ? "" :
		 crr.why     ? strerror(crr.why) :
			       "no whole answer");
	report(o, "crr", start, crr.done, more);
	return 0;
}
