/* relay.c - a UDP relay with known defects, to test what measures relays
 *
 * It forwards datagrams between clients and one server, and does to those
 * towards the server what it was told: drops, duplicates, cuts or corrupts
 * every Nth, swaps every Nth with the next one, delays all, stops once for a
 * while, burns CPU time for each in both directions. Then it says how often it
 * did so. What a harness reports must be the same numbers.
 *
 * Each client gets a socket of its own to the server. Datagrams are counted
 * from 1; if several defects fall on one, only the first of the order drop,
 * cut, corrupt, duplicate, swap happens. A datagram that waits for a successor
 * to be swapped with goes alone after HOLD_MS.
 *
 * It is no forwarder to use: one thread, a fixed number of clients, no idle
 * time-out. */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 64
#define DELAYED_MAX 1024
#define BUF_MAX 65536
#define TURN_MAX 32 /* datagrams of one socket before the others' turn */
#define HOLD_MS 20
#define SPIN_NS 150000 /* of a delay; a wake-up may be that late */
#define QUEUE (8 << 20)

/** struct datagram - one on its way, from when on it may go, and where */
struct datagram {
	uint64_t due_ns;
	uint32_t len;
	unsigned client;
	uint8_t buf[BUF_MAX];
};

/** struct defects - every Nth, 0: never; microseconds and milliseconds */
struct defects {
	unsigned long drop;
	unsigned long cut;
	unsigned long corrupt;
	unsigned long dup;
	unsigned long swap;
	unsigned long octet;
	unsigned long delay_us;
	unsigned long cost_us;
	unsigned long stall_at;
	unsigned long stall_ms;
};

struct done {
	uint64_t forward, backward;
	uint64_t dropped, cut, corrupted, duplicated, swapped, stalls;
	uint64_t errors; /* sends that failed */
	uint64_t overflow; /* more delayed than there is room for */
};

struct client {
	struct sockaddr_storage sa;
	socklen_t len;
};

static struct defects defects = { .octet = 100 };
static struct done done;
static struct pollfd fds[1 + CLIENTS_MAX]; /* clients' side, then servers' */
static struct client clients[CLIENTS_MAX];
static unsigned n_clients;
static struct sockaddr_storage server;
static socklen_t server_len;
static struct datagram delayed[DELAYED_MAX], held, current;
static unsigned long first_delayed, next_delayed;
static bool is_held;
static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

_Noreturn static void fail(const char *what)
{
	fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The clock of the process would be exact if somebody else has the CPU now and
 * then, but asking it takes a third of a microsecond */
static void burn(void)
{
	uint64_t end;

	if (!defects.cost_us)
		return;
	end = now_ns() + defects.cost_us * 1000;
	while (now_ns() < end)
		;
}

/* ---- sockets ---------------------------------------------------------- */

static int open_socket(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int bytes = QUEUE;

	if (fd < 0)
		fail("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return fd;
}

static socklen_t resolve(const char *addr, const char *port,
			 struct sockaddr_storage *ret_sa)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *ai;
	socklen_t len;

	if (getaddrinfo(addr, port, &hints, &ai)) {
		fprintf(stderr, "relay: '%s' port '%s' is no address\n", addr,
			port);
		exit(1);
	}
	len = ai->ai_addrlen;
	memcpy(ret_sa, ai->ai_addr, len);
	freeaddrinfo(ai);
	return len;
}

/* The client with this address, a new one if there is none; -1: no room */
static int find_client(const struct sockaddr_storage *sa, socklen_t len)
{
	int fd;

	for (unsigned i = 0; i < n_clients; i++) {
		if (clients[i].len == len && !memcmp(&clients[i].sa, sa, len))
			return (int)i;
	}
	if (n_clients == CLIENTS_MAX)
		return -1;
	fd = open_socket(server.ss_family);
	if (connect(fd, (struct sockaddr *)&server, server_len))
		fail("connect");
	fds[1 + n_clients] = (struct pollfd){ .fd = fd, .events = POLLIN };
	clients[n_clients].sa = *sa;
	clients[n_clients].len = len;
	return (int)n_clients++;
}

/* ---- towards the server ----------------------------------------------- */

static void emit(const struct datagram *d)
{
	if (send(fds[1 + d->client].fd, d->buf, d->len, 0) < 0)
		done.errors++;
}

/* Sends it now, or when its delay is over */
static void forward(const struct datagram *d)
{
	struct datagram *to = &delayed[next_delayed % DELAYED_MAX];

	if (!defects.delay_us) {
		emit(d);
		return;
	}
	if (next_delayed - first_delayed == DELAYED_MAX) {
		done.overflow++;
		return;
	}
	to->due_ns = d->due_ns;
	to->len = d->len;
	to->client = d->client;
	memcpy(to->buf, d->buf, d->len);
	next_delayed++;
}

static void release_held(void)
{
	if (is_held)
		forward(&held);
	is_held = false;
}

static bool is_turn(unsigned long every)
{
	return every && done.forward % every == 0;
}

static void hold(const struct datagram *d)
{
	held.due_ns = d->due_ns;
	held.len = d->len;
	held.client = d->client;
	memcpy(held.buf, d->buf, d->len);
	is_held = true;
}

/* Does to a datagram what falls on it; it may not have to be sent then */
static void spoil(struct datagram *d)
{
	bool was_held = is_held;

	if (is_turn(defects.drop)) {
		done.dropped++;
		return;
	}
	if (is_turn(defects.cut) && d->len > 8) {
		d->len = d->len > 16 ? d->len / 2 : 8;
		done.cut++;
	} else if (is_turn(defects.corrupt) && d->len) {
		d->buf[defects.octet < d->len ? defects.octet : d->len - 1] ^=
			1;
		done.corrupted++;
	} else if (is_turn(defects.dup)) {
		forward(d);
		done.duplicated++;
	} else if (is_turn(defects.swap) && !is_held) {
		hold(d);
		return;
	}
	forward(d);
	if (was_held) {
		release_held();
		done.swapped++;
	}
}

static void stall(void)
{
	struct timespec ts = { .tv_sec = (time_t)(defects.stall_ms / 1000),
			       .tv_nsec = (long)(defects.stall_ms % 1000) *
					  1000000 };

	nanosleep(&ts, NULL);
	done.stalls++;
}

static bool take_forward(void)
{
	struct client from = { .len = sizeof(from.sa) };
	ssize_t n = recvfrom(fds[0].fd, current.buf, BUF_MAX, MSG_DONTWAIT,
			     (struct sockaddr *)&from.sa, &from.len);
	int client;

	if (n < 0)
		return false;
	client = find_client(&from.sa, from.len);
	if (client < 0)
		return true;
	done.forward++;
	if (done.forward == defects.stall_at)
		stall();
	current.len = (uint32_t)n;
	current.client = (unsigned)client;
	current.due_ns = defects.delay_us ? now_ns() + defects.delay_us * 1000 :
					    0;
	burn();
	spoil(&current);
	return true;
}

/* ---- and back --------------------------------------------------------- */

static bool take_backward(unsigned client)
{
	const struct client *to = &clients[client];
	ssize_t n = recv(fds[1 + client].fd, current.buf, BUF_MAX,
			 MSG_DONTWAIT);

	if (n < 0)
		return false;
	burn();
	done.backward++;
	if (sendto(fds[0].fd, current.buf, (size_t)n, 0,
		   (const struct sockaddr *)&to->sa, to->len) < 0)
		done.errors++;
	return true;
}

/* ---- loop ------------------------------------------------------------- */

static void send_due(void)
{
	uint64_t t = now_ns();

	while (first_delayed < next_delayed) {
		struct datagram *d = &delayed[first_delayed % DELAYED_MAX];

		if (d->due_ns > t)
			return;
		emit(d);
		first_delayed++;
	}
}

/* Returns false if nothing came before the time was over. The end of a delay is
 * waited for without sleep: it shall be as long as was said. */
static bool wait_for_more(void)
{
	uint64_t t = now_ns(), ns = 100000000;
	struct timespec ts = { 0 };

	if (first_delayed < next_delayed) {
		uint64_t due = delayed[first_delayed % DELAYED_MAX].due_ns;

		ns = due > t + SPIN_NS ? due - t - SPIN_NS : 0;
	} else if (is_held) {
		ns = HOLD_MS * 1000000;
	}
	ts.tv_nsec = (long)(ns < 999999999 ? ns : 999999999);
	return ppoll(fds, 1 + n_clients, &ts, NULL) > 0;
}

static void turn(unsigned at)
{
	bool more = fds[at].revents;

	for (int i = 0; more && i < TURN_MAX; i++)
		more = at ? take_backward(at - 1) : take_forward();
}

static void run(void)
{
	while (!stopped) {
		unsigned n = n_clients;
		bool more = wait_for_more();

		if (!more && first_delayed == next_delayed)
			release_held();
		send_due();
		for (unsigned i = 0; more && i <= n; i++)
			turn(i);
	}
}

static void report(void)
{
	printf("{\"forward\":%" PRIu64 ",\"backward\":%" PRIu64
	       ",\"dropped\":%" PRIu64 ",\"cut\":%" PRIu64
	       ",\"corrupted\":%" PRIu64 ",\"duplicated\":%" PRIu64
	       ",\"swapped\":%" PRIu64 ",\"stalls\":%" PRIu64
	       ",\"errors\":%" PRIu64 ",\"overflow\":%" PRIu64
	       ",\"cpu_us\":%" PRIu64 "}\n",
	       done.forward, done.backward, done.dropped, done.cut,
	       done.corrupted, done.duplicated, done.swapped, done.stalls,
	       done.errors, done.overflow,
	       clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000);
}

static const char usage[] =
	"usage: relay [OPTION...] -p PORT ADDR PORT\n"
	"  -b ADDR, -p PORT   where clients come to; ADDR PORT: the server\n"
	"of the datagrams towards the server, every Nth:\n"
	"  --drop N   --cut N   --corrupt N [--octet AT]   --dup N   --swap N\n"
	"  --delay US     all of them, by microseconds\n"
	"  --stall-at N --stall MS   nothing is done for a while, once\n"
	"of those in both directions:\n"
	"  --cost US      busy for so long\n";

static const struct option longs[] = {
	{ "drop", required_argument, NULL, 'd' },
	{ "cut", required_argument, NULL, 'u' },
	{ "corrupt", required_argument, NULL, 'c' },
	{ "octet", required_argument, NULL, 'o' },
	{ "dup", required_argument, NULL, 'D' },
	{ "swap", required_argument, NULL, 's' },
	{ "delay", required_argument, NULL, 'w' },
	{ "cost", required_argument, NULL, 'C' },
	{ "stall-at", required_argument, NULL, 'S' },
	{ "stall", required_argument, NULL, 'M' },
	{ NULL, 0, NULL, 0 },
};

static unsigned long *defect(int letter)
{
	switch (letter) {
	case 'd':
		return &defects.drop;
	case 'u':
		return &defects.cut;
	case 'c':
		return &defects.corrupt;
	case 'o':
		return &defects.octet;
	case 'D':
		return &defects.dup;
	case 's':
		return &defects.swap;
	case 'w':
		return &defects.delay_us;
	case 'C':
		return &defects.cost_us;
	case 'S':
		return &defects.stall_at;
	case 'M':
		return &defects.stall_ms;
	default:
		fputs(usage, stderr);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	const char *addr = "::", *port = NULL;
	struct sockaddr_storage own;
	socklen_t len;
	int letter;

	while ((letter = getopt_long(argc, argv, "b:p:", longs, NULL)) != -1) {
		if (letter == 'b')
			addr = optarg;
		else if (letter == 'p')
			port = optarg;
		else
			*defect(letter) = strtoul(optarg ? optarg : "", NULL,
						  10);
	}
	if (argc - optind != 2 || !port) {
		fputs(usage, stderr);
		return 1;
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	server_len = resolve(argv[optind], argv[optind + 1], &server);
	len = resolve(addr, port, &own);
	fds[0] = (struct pollfd){ .fd = open_socket(own.ss_family),
				  .events = POLLIN };
	if (bind(fds[0].fd, (struct sockaddr *)&own, len))
		fail("bind");
	run();
	report();
	return 0;
}
