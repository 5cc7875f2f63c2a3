/* udpload_ask.c - load that waits for answers: echo, rr and newflows
 *
 * rr has one exchange under way, for latency; newflows has up to 64, each from
 * a socket of its own that is closed afterwards, as one-shot clients do. Every
 * answer is compared with what was asked. An answer that is overdue counts as
 * lost and is not asked for again. */

#include "udpload.h"

#include <poll.h>

#define IN_FLIGHT_MAX 64 /* sockets of newflows */

static uint32_t rtt_us[EXCHANGES_MAX];

/* ---- echo ------------------------------------------------------------- */

int cmd_echo(const struct options *o)
{
	double end = now() + o->secs;
	uint64_t answered = 0, errors = 0;
	int fd = open_bound(o);

	while (!stopped && now() < end) {
		struct sockaddr_storage sa;
		socklen_t len = sizeof(sa);
		ssize_t n = recvfrom(fd, message[0], BUF_MAX, 0,
				     (struct sockaddr *)&sa, &len);

		if (n < 0)
			continue;
		if (sendto(fd, message[0], (size_t)n, 0, (struct sockaddr *)&sa,
			   len) < 0)
			errors++;
		else
			answered++;
	}
	printf("{\"answered\":%" PRIu64 ",\"errors\":%" PRIu64 "}\n", answered,
	       errors);
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

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t percentile(uint64_t n, double p)
{
	return n ? rtt_us[(uint64_t)((double)(n - 1) * p)] : 0;
}

int cmd_rr(const struct options *o)
{
	struct exchanges x = { 0 };
	double start = now();
	int fd = -1;

	if (o->count > EXCHANGES_MAX)
		fail("-n: at most %u", EXCHANGES_MAX);
	payload_init(message[0], o->size);
	for (uint64_t i = 0; i < o->count && !stopped; i++) {
		double t = now();

		if (fd < 0)
			fd = open_connected(o, o->bind_port);
		if (fd < 0)
			fail("%s port %s: %s", o->addr, o->port, strerror(-fd));
		set_timeout(fd, o->wait_s);
		if (exchange(fd, o, i, &x))
			rtt_us[x.answered++] = (uint32_t)((now() - t) * 1e6);
		else
			x.lost++;
		if (o->new_socket) {
			close(fd);
			fd = -1;
		}
	}
	qsort(rtt_us, x.answered, sizeof(uint32_t), compare_u32);
	printf("{\"answered\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"corrupt\":%" PRIu64 ",\"late\":%" PRIu64
	       ",\"refused\":%" PRIu64 ",\"p50_us\":%u,\"p90_us\":%u"
	       ",\"p99_us\":%u,\"max_us\":%u,\"secs\":%.6f}\n",
	       x.answered, x.lost, x.corrupt, x.late, x.refused,
	       percentile(x.answered, .5), percentile(x.answered, .9),
	       percentile(x.answered, .99), percentile(x.answered, 1),
	       now() - start);
	return x.lost || x.corrupt;
}

/* ---- newflows: every exchange from a socket of its own ---------------- */

struct client {
	uint64_t seq;
	double deadline;
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

static void client_open(struct clients *c, const struct options *o, unsigned i,
			uint64_t seq)
{
	c->fd[i].fd = client_socket(c, o);
	c->fd[i].events = POLLIN;
	c->at[i].seq = seq;
	c->at[i].deadline = now() + o->wait_s;
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
		if (now() < c->at[i].deadline)
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
		c->x.answered++;
		c->x.corrupt += n != (ssize_t)o->size ||
				!payload_ok(message[1], o->size, c->at[i].seq);
	}
	client_close(c, i);
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
			if (c.fd[i].fd < 0 && seq < o->count)
				client_open(&c, o, i, seq++);
		}
		poll(c.fd, IN_FLIGHT_MAX, TICK_MS);
		for (unsigned i = 0; i < IN_FLIGHT_MAX; i++)
			client_check(&c, o, i);
	}
	printf("{\"clients\":%" PRIu64 ",\"answered\":%" PRIu64
	       ",\"lost\":%" PRIu64 ",\"corrupt\":%" PRIu64
	       ",\"refused\":%" PRIu64 ",\"secs\":%.6f}\n",
	       seq, c.x.answered, c.x.lost, c.x.corrupt, c.x.refused,
	       now() - start);
	return c.x.lost || c.x.corrupt;
}
