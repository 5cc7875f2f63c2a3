/* udpload_ask.c - load that waits for answers: echo, rr and newflows
 *
 * rr has one exchange under way, for latency; newflows has up to 64, each from
 * a socket of its own that is closed afterwards, as one-shot clients do. Every
 * answer is compared with what was asked. An answer that is overdue counts as
 * lost and is not asked for again. */

#include "udpload_chan.h"
#include "udpload_hist.h"

#include <poll.h>

#define IN_FLIGHT_MAX 64 /* sockets of newflows */

/* Of the exchanges that were answered */
static struct hist rtt;

/* ---- echo ------------------------------------------------------------- */

struct echoed {
	uint64_t answered;
	uint64_t errors;
	struct faults faults;
};

static void echo_one(const struct options *o, int fd, int flags,
		     struct echoed *e)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	ssize_t n = recvfrom(fd, message[0], BUF_MAX, flags,
			     (struct sockaddr *)&sa, &len);

	if (n < 0)
		return;
	if (CAN_VERIFY && o->verify &&
	    (n < SIZE_MIN ||
	     !payload_ok(message[0], (uint32_t)n, payload_seq(message[0]))))
		payload_blame(&e->faults, message[0], (uint32_t)n, 0);
	if (sendto(fd, message[0], (size_t)n, 0, (struct sockaddr *)&sa, len) <
	    0)
		e->errors++;
	else
		e->answered++;
}

int cmd_echo(const struct options *o)
{
	static struct chan c;
	double end = now() + o->secs;
	struct echoed e = { 0 };

	if (o->raw)
		return raw_echo(o);
	chan_bind(&c, o);
	while (!stopped && now() < end) {
		int fd = chan_ready(&c);

		if (fd >= 0)
			echo_one(o, fd, o->ports > 1 ? MSG_DONTWAIT : 0, &e);
		else
			chan_wait(&c, now_ns() + TICK_MS * 1000000ull);
	}
	printf("{\"answered\":%" PRIu64 ",\"errors\":%" PRIu64, e.answered,
	       e.errors);
	faults_json(&e.faults, stdout);
	printf(",\"cpu_us\":%.0f}\n", cpu_us());
	return 0;
}

/* ---- rr: one exchange after the other --------------------------------- */

struct exchanges {
	uint64_t answered;
	uint64_t lost;
	uint64_t corrupt;
	uint64_t late; /* answers to an exchange that was given up */
	uint64_t refused;
};

/* Sends one datagram and waits for its answer; returns true if it came */
static bool exchange(int fd, const struct options *o, uint64_t seq,
		     struct exchanges *x)
{
	double end = now() + o->wait_s;
	ssize_t n;

	payload_stamp(message[0], o->size, seq);
	n = send(fd, message[0], o->size, 0);
	while (n >= 0 && now() < end) {
		n = recv(fd, message[1], BUF_MAX, 0);
		if (n < 0 && errno == EAGAIN) {
			n = 0;
			continue;
		}
		if (n < 0)
			break;
		if (n >= SIZE_MIN && payload_seq(message[1]) < seq) {
			x->late++;
			continue;
		}
		if (n != (ssize_t)o->size ||
		    !payload_ok(message[1], o->size, seq))
			x->corrupt++;
		return true;
	}
	if (n < 0 && errno == ECONNREFUSED)
		x->refused++;
	return false;
}

int cmd_rr(const struct options *o)
{
	struct exchanges x = { 0 };
	double start = now(), t;
	int fd = -1;

	payload_init(message[0], o->size);
	for (uint64_t i = 0; i < o->count && !stopped; i++) {
		t = now();
		if (fd < 0)
			fd = open_connected(o, o->bind_port);
		if (fd < 0)
			fail("%s port %s: %s", o->addr, o->port, strerror(-fd));
		set_timeout(fd, o->wait_s);
		if (exchange(fd, o, i, &x)) {
			hist_add(&rtt, (uint64_t)((now() - t) * 1e9));
			x.answered++;
		} else {
			x.lost++;
		}
		if (o->new_socket) {
			close(fd);
			fd = -1;
		}
	}
	t = now() - start;
	printf("{\"answered\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"corrupt\":%" PRIu64 ",\"late\":%" PRIu64
	       ",\"refused\":%" PRIu64,
	       x.answered, x.lost, x.corrupt, x.late, x.refused);
	hist_json(&rtt, stdout);
	printf(",\"mean_wall_us\":%.3f,\"secs\":%.6f}\n",
	       x.answered ? t * 1e6 / (double)x.answered : 0, t);
	return x.lost || x.corrupt;
}

/* ---- newflows: every exchange from a socket of its own ---------------- */

struct client {
	uint64_t seq;
	double start;
};

struct clients {
	struct pollfd fd[IN_FLIGHT_MAX]; /* -1: free */
	struct client at[IN_FLIGHT_MAX];
	unsigned open;
	unsigned next_port;
	struct exchanges x;
};

/* Ports that somebody else holds are passed over */
static int client_socket(struct clients *c, const struct options *o)
{
	int fd = -EADDRINUSE;

	for (int i = 0; i < 256 && fd == -EADDRINUSE; i++) {
		fd = open_connected(o, c->next_port);
		if (c->next_port && ++c->next_port > 65535)
			c->next_port = o->bind_port;
	}
	if (fd < 0)
		fail("%s port %s: %s", o->addr, o->port, strerror(-fd));
	return fd;
}

/* A flow's time includes its socket */
static void client_open(struct clients *c, const struct options *o, unsigned i,
			uint64_t seq)
{
	c->at[i].start = now();
	c->fd[i].fd = client_socket(c, o);
	c->fd[i].events = POLLIN;
	c->at[i].seq = seq;
	c->open++;
	payload_stamp(message[0], o->size, seq);
	/* A failure shows as an answer that does not come */
	(void)!send(c->fd[i].fd, message[0], o->size, 0);
}

static void client_close(struct clients *c, unsigned i)
{
	close(c->fd[i].fd);
	c->fd[i].fd = -1;
	c->fd[i].revents = 0;
	c->open--;
}

static void client_check(struct clients *c, const struct options *o, unsigned i)
{
	ssize_t n;

	if (c->fd[i].fd < 0)
		return;
	if (!c->fd[i].revents) {
		if (now() < c->at[i].start + o->wait_s)
			return;
		c->x.lost++;
		client_close(c, i);
		return;
	}
	n = recv(c->fd[i].fd, message[1], BUF_MAX, MSG_DONTWAIT);
	if (n < 0) {
		c->x.refused += errno == ECONNREFUSED;
		c->x.lost++;
	} else {
		hist_add(&rtt, (uint64_t)((now() - c->at[i].start) * 1e9));
		c->x.answered++;
		c->x.corrupt += n != (ssize_t)o->size ||
				!payload_ok(message[1], o->size, c->at[i].seq);
	}
	client_close(c, i);
}

static bool is_time(const struct options *o, uint64_t seq, double start)
{
	return o->rate <= 0 || now() - start >= (double)seq / o->rate;
}

int cmd_newflows(const struct options *o)
{
	static struct clients c;
	double start = now();
	uint64_t seq = 0;

	payload_init(message[0], o->size);
	c.next_port = o->bind_port;
	for (unsigned i = 0; i < IN_FLIGHT_MAX; i++)
		c.fd[i].fd = -1;
	while (!stopped && (seq < o->count || c.open)) {
		for (unsigned i = 0; i < IN_FLIGHT_MAX; i++) {
			if (c.fd[i].fd < 0 && seq < o->count &&
			    is_time(o, seq, start))
				client_open(&c, o, i, seq++);
		}
		/* Ahead of a rate, the next flow's moment is near */
		poll(c.fd, IN_FLIGHT_MAX, o->rate > 0 ? 1 : TICK_MS);
		for (unsigned i = 0; i < IN_FLIGHT_MAX; i++)
			client_check(&c, o, i);
	}
	start = now() - start;
	printf("{\"clients\":%" PRIu64 ",\"answered\":%" PRIu64
	       ",\"lost\":%" PRIu64 ",\"corrupt\":%" PRIu64
	       ",\"refused\":%" PRIu64 ",\"rate_pps\":%.1f",
	       seq, c.x.answered, c.x.lost, c.x.corrupt, c.x.refused,
	       (double)c.x.answered / start);
	hist_json(&rtt, stdout);
	printf(",\"secs\":%.6f,\"cpu_us\":%.0f}\n", start, cpu_us());
	return c.x.lost || c.x.corrupt;
}
