/* tcpload_transfer.c - bytes both ways over one connection, each one compared
 *
 * The bytes are numbers made of the seed and their place in the stream, so the
 * receiver knows which should come: that finds what a hash finds, and tells
 * where. Either end stops reading and writing for random times if it was asked
 * to, so windows close and queues fill and drain.
 *
 * A stall is a time in which nothing moved although this end did not pause. The
 * other end's pauses are in it: with pauses of at most 200 ms, a stall of a
 * second is not one of them.
 *
 * The client's stream ends with its last byte. The server's ends with its
 * results, which it sends when both streams are through: so each transfer has
 * a half-closed connection that still carries data. */

#include "tcpload.h"

#include <fcntl.h>
#include <poll.h>
#include <time.h>

#define RUN_MAX (64u << 20) /* bytes between two pauses, at most */
#define POLL_MS 100
#define DEAD_NS 8000000000u /* without movement: the transfer is given up */

/** struct lane - one direction
 * @salt:     of its bytes: the two directions differ
 * @at:       bytes through     @pause_at: where it stops next
 * @until_ns: it pauses until then
 * @moved_ns: when something moved, or a pause was over */
struct lane {
	uint64_t salt;
	uint64_t total;
	uint64_t at;
	uint64_t pause_at;
	uint64_t until_ns;
	uint64_t moved_ns;
	bool over;
	struct lane_result result;
};

/** struct job - both of them; @random: state of the pauses */
struct job {
	int fd;
	bool from_server;
	uint64_t pause_ms;
	uint64_t random;
	struct lane out, in;
};

static uint64_t chunk[CHUNK / 8 + 2], got[CHUNK / 8];

/* A well-mixed number for each place: the finaliser of SplitMix64 (Steele, Lea,
 * Flood, OOPSLA 2014) */
static uint64_t mix(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* Bytes @at to @at + CHUNK of a stream. Returns where they are */
static const uint8_t *bytes_at(uint64_t salt, uint64_t at, size_t len)
{
	uint64_t first = at / 8;

	for (size_t i = 0; i < len / 8 + 2 && i < sizeof(chunk) / 8; i++)
		chunk[i] = mix(salt + first + i);
	return (const uint8_t *)chunk + at % 8;
}

static uint64_t next_random(struct job *j)
{
	return mix(j->random++);
}

static void plan_pause(struct job *j, struct lane *l)
{
	l->pause_at = j->pause_ms ? l->at + 1 + next_random(j) % RUN_MAX :
				    UINT64_MAX;
}

/* Notes the time since something moved, and begins a pause if it is due */
static void moved(struct job *j, struct lane *l, uint64_t n)
{
	uint64_t t = now_ns(), gap = t - l->moved_ns;

	if (gap > l->result.stall_ns)
		l->result.stall_ns = gap;
	l->at += n;
	l->result.bytes = l->at;
	l->moved_ns = t;
	if (l->at < l->pause_at)
		return;
	l->until_ns = t + next_random(j) % (j->pause_ms * 1000000 + 1);
	l->moved_ns = l->until_ns;
	l->result.pauses++;
	plan_pause(j, l);
}

static bool is_paused(const struct lane *l, uint64_t t)
{
	return t < l->until_ns;
}

static void compare(struct lane *l, const uint8_t *b, size_t len)
{
	const uint8_t *want = bytes_at(l->salt, l->at, len);

	if (l->result.bad_at != UINT64_MAX || !memcmp(b, want, len))
		return;
	for (size_t i = 0; i < len; i++) {
		if (b[i] == want[i])
			continue;
		l->result.bad_at = l->at + i;
		return;
	}
}

static size_t left(const struct lane *l)
{
	uint64_t n = l->total - l->at;

	return n < CHUNK ? (size_t)n : CHUNK;
}

/* Returns false if the connection is broken */
static bool push(struct job *j)
{
	struct lane *l = &j->out;
	ssize_t n = send(j->fd, bytes_at(l->salt, l->at, left(l)), left(l),
			 MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN;
	moved(j, l, (uint64_t)n);
	return true;
}

/* Returns false if the connection is broken, or ended too early */
static bool pull(struct job *j)
{
	struct lane *l = &j->in;
	ssize_t n = recv(j->fd, got, left(l), 0);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	compare(l, (const uint8_t *)got, (size_t)n);
	moved(j, l, (uint64_t)n);
	return true;
}

/* The end of each direction, when it is reached: the client says that it has
 * sent everything; its end is what the server waits for */
static bool finish(struct job *j)
{
	if (!j->out.over && j->out.at == j->out.total) {
		j->out.over = true;
		if (!j->from_server)
			shutdown(j->fd, SHUT_WR);
	}
	if (!j->in.over && j->in.at == j->in.total) {
		char more;
		ssize_t n = j->from_server ? recv(j->fd, &more, 1, 0) : 0;

		if (n > 0 || (n < 0 && errno != EAGAIN))
			return false;
		j->in.over = !n;
	}
	return true;
}

static bool is_still(const struct lane *l, uint64_t t)
{
	return l->over || t > l->moved_ns + DEAD_NS;
}

/* Did both directions stop long ago? Then what is known of the stall is enough.
 * Notes how long it was so far. */
static bool is_dead(struct job *j)
{
	struct lane *lanes[] = { &j->out, &j->in };
	uint64_t t = now_ns();

	if (!is_still(&j->out, t) || !is_still(&j->in, t))
		return false;
	for (int i = 0; i < 2; i++) {
		if (!lanes[i]->over &&
		    t - lanes[i]->moved_ns > lanes[i]->result.stall_ns)
			lanes[i]->result.stall_ns = t - lanes[i]->moved_ns;
	}
	return true;
}

static bool step(struct job *j)
{
	struct pollfd pfd = { .fd = j->fd };
	uint64_t t = now_ns(), wake = t + POLL_MS * 1000000;
	struct timespec ts = { 0 };
	struct lane *lanes[] = { &j->out, &j->in };

	for (int i = 0; i < 2; i++) {
		if (lanes[i]->over)
			continue;
		if (!is_paused(lanes[i], t))
			pfd.events |= i ? POLLIN : POLLOUT;
		else if (lanes[i]->until_ns < wake)
			wake = lanes[i]->until_ns;
	}
	ts.tv_nsec = (long)(wake - t);
	if (ppoll(&pfd, 1, &ts, NULL) < 0)
		return errno == EINTR;
	if (pfd.revents & POLLOUT && !push(j))
		return false;
	if (pfd.revents & (POLLIN | POLLHUP | POLLERR) && pfd.events & POLLIN &&
	    j->in.at < j->in.total && !pull(j))
		return false;
	return finish(j);
}

static void lane_init(struct job *j, struct lane *l, uint64_t salt,
		      uint64_t total)
{
	*l = (struct lane){ .salt = mix(salt),
			    .total = total,
			    .moved_ns = now_ns(),
			    .result.bad_at = UINT64_MAX };
	plan_pause(j, l);
}

bool transfer(int fd, const struct request *r, bool from_server, double limit_s,
	      struct lane_result ret[2])
{
	uint64_t end = now_ns() + (uint64_t)(limit_s * 1e9);
	static struct job j;
	bool good;

	j = (struct job){ .fd = fd,
			  .from_server = from_server,
			  .pause_ms = r->pause_ms,
			  .random = mix(r->seed + from_server) };
	lane_init(&j, from_server ? &j.in : &j.out, r->seed * 2, r->up);
	lane_init(&j, from_server ? &j.out : &j.in, r->seed * 2 + 1, r->down);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	good = finish(&j);
	while (good && (!j.out.over || !j.in.over))
		good = !stopped && now_ns() < end && !is_dead(&j) && step(&j);
	ret[0] = j.out.result;
	ret[1] = j.in.result;
	fcntl(fd, F_SETFL, 0);
	if (from_server && good)
		good = send_all(fd, ret, 2 * sizeof(*ret));
	return good;
}

static void print_lane(const char *name, const struct lane_result *out,
		       const struct lane_result *in)
{
	uint64_t stall = out->stall_ns > in->stall_ns ? out->stall_ns :
							in->stall_ns;

	printf(",\"%s\":{\"sent\":%" PRIu64 ",\"received\":%" PRIu64
	       ",\"bad_at\":%" PRId64 ",\"stall_ms\":%.1f,\"pauses\":%" PRIu64
	       "}",
	       name, out->bytes, in->bytes, (int64_t)in->bad_at,
	       (double)stall / 1e6, out->pauses + in->pauses);
}

int cmd_transfer(const struct options *o)
{
	struct request r = { .magic = MAGIC,
			     .kind = KIND_TRANSFER,
			     .up = o->up,
			     .down = o->down,
			     .seed = o->seed,
			     .pause_ms = o->pause_ms };
	struct lane_result near[2], far[2] = { 0 };
	int fd = tcp_connect(o);
	uint64_t start = now_ns();
	bool good, whole;
	double secs;
	char more;

	good = send_all(fd, &r, sizeof(r)) &&
	       transfer(fd, &r, false, o->secs, near);
	secs = (double)(now_ns() - start) / 1e9;
	/* Results, then the end of the stream */
	good = good && recv_all(fd, far, sizeof(far)) &&
	       recv(fd, &more, 1, 0) == 0;
	whole = good && far[1].bytes == o->up && near[1].bytes == o->down &&
		far[1].bad_at == UINT64_MAX && near[1].bad_at == UINT64_MAX;
	printf("{\"cmd\":\"transfer\",\"whole\":%s,\"secs\":%.6f,\"seed\":%" PRIu64
	       ",\"cpu_us\":%.0f",
	       whole ? "true" : "false", secs, o->seed, cpu_us());
	print_lane("up", &near[0], &far[1]);
	print_lane("down", &far[0], &near[1]);
	puts("}");
	return whole ? 0 : 2;
}
