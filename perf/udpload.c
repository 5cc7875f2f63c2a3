/* udpload.c - a small UDP load generator and sink for measuring and testing
 *
 * Every datagram says who it is: a sequence number in its first 8 bytes, its
 * length in the next 4, a fixed pattern, and the sequence number again in its
 * last 8. So the sink can tell apart what arrived once, twice, late or damaged
 * without talking to the sender: no control connection is needed, and a
 * forwarder that carries UDP only can be measured.
 *
 * Each subcommand is one loop with an end: a count, a time, or SIGTERM; then
 * one line of JSON on standard output. Figures are counts, seconds and
 * microseconds. udpload_flood.c has the one-way ones, udpload_ask.c those that
 * wait for answers, this file what both need.
 *
 * It deliberately does not start forwarders, read kernel counters or compare
 * runs: perf/compare does. */

#include "udpload.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <netdb.h>
#include <stdarg.h>
#include <time.h>

#define SINK_BUF (8 << 20) /* bytes of queue asked for */

volatile sig_atomic_t stopped;
uint8_t message[BATCH_MAX][BUF_MAX];
static uint8_t pattern[BUF_MAX];

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

_Noreturn void fail(const char *fmt, ...)
{
	va_list ap;

	fputs("udpload: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- payload ---------------------------------------------------------- */

static void pattern_init(void)
{
	uint32_t x = 12345;

	for (unsigned i = 0; i < BUF_MAX; i++) {
		x = x * 1103515245 + 12345;
		pattern[i] = (uint8_t)(x >> 16);
	}
}

static void put_seq(uint8_t *buf, uint64_t seq)
{
	for (int i = 7; i >= 0; i--, seq >>= 8)
		buf[i] = (uint8_t)seq;
}

uint64_t payload_seq(const uint8_t *buf)
{
	uint64_t seq = 0;

	for (int i = 0; i < 8; i++)
		seq = seq << 8 | buf[i];
	return seq;
}

void payload_init(uint8_t *buf, uint32_t size)
{
	memcpy(buf, pattern, size);
}

void payload_stamp(uint8_t *buf, uint32_t size, uint64_t seq)
{
	uint32_t size_be = htonl(size);

	put_seq(buf, seq);
	if (size >= 12)
		memcpy(buf + 8, &size_be, 4);
	if (size >= 20)
		put_seq(buf + size - 8, seq);
}

bool payload_ok(const uint8_t *buf, uint32_t len, uint64_t seq)
{
	uint32_t size_be = htonl(len);
	uint32_t end = len >= 20 ? len - 8 : len;

	if (len < SIZE_MIN || payload_seq(buf) != seq)
		return false;
	if (len >= 12 && memcmp(buf + 8, &size_be, 4))
		return false;
	if (len > 12 && memcmp(buf + 12, pattern + 12, end - 12))
		return false;
	return len < 20 || payload_seq(buf + end) == seq;
}

/* ---- sockets ---------------------------------------------------------- */

static socklen_t resolve(const char *addr, const char *port,
			 struct sockaddr_storage *ret_sa)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *ai;
	socklen_t len;
	int rc = getaddrinfo(addr, port, &hints, &ai);

	if (rc)
		fail("%s port %s: %s", addr, port, gai_strerror(rc));
	len = ai->ai_addrlen;
	memcpy(ret_sa, ai->ai_addr, len);
	freeaddrinfo(ai);
	return len;
}

void set_timeout(int fd, double s)
{
	struct timeval tv;

	tv.tv_sec = (time_t)s;
	tv.tv_usec = (suseconds_t)((s - (double)tv.tv_sec) * 1e6);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

/* As privileged as we may be: the sink must not be what loses */
static void ask_queue(int fd)
{
	int bytes = SINK_BUF;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

int open_bound(const struct options *o)
{
	struct sockaddr_storage sa;
	socklen_t len = resolve(o->addr, o->port, &sa);
	int fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int off = 0;

	if (fd < 0)
		fail("socket: %s", strerror(errno));
	if (sa.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (struct sockaddr *)&sa, len))
		fail("bind to %s port %s: %s", o->addr, o->port,
		     strerror(errno));
	ask_queue(fd);
	set_timeout(fd, TICK_MS / 1e3);
	return fd;
}

int open_connected(const struct options *o, unsigned src_port)
{
	struct sockaddr_storage sa;
	struct sockaddr_in6 any = { 0 };
	socklen_t len = resolve(o->addr, o->port, &sa);
	int fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	/* Family and port are at the same place in both families */
	any.sin6_family = sa.ss_family;
	any.sin6_port = htons((uint16_t)src_port);
	if ((src_port && bind(fd, (struct sockaddr *)&any, len)) ||
	    connect(fd, (struct sockaddr *)&sa, len)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

/* ---- command line ----------------------------------------------------- */

static const struct command {
	const char *name;
	int (*run)(const struct options *o);
	bool has_remote; /* ADDR PORT as arguments */
	struct options defaults;
} commands[] = {
	{ "sink",
	  cmd_sink,
	  false,
	  { .addr = "::", .batch = 32, .secs = 2, .wait_s = 30 } },
	{ "flood",
	  cmd_flood,
	  true,
	  { .size = 1472, .segs = 1, .batch = 32, .secs = 2, .count = SEQ_MAX } },
	{ "echo", cmd_echo, false, { .addr = "::", .secs = 600 } },
	{ "rr", cmd_rr, true, { .size = 64, .count = 1000, .wait_s = 1 } },
	{ "newflows",
	  cmd_newflows,
	  true,
	  { .size = 64, .count = 1000, .wait_s = 1 } },
};

static const char usage[] =
	"usage: udpload COMMAND\n"
	"  sink     -p PORT [-b ADDR] [-G] [-m BATCH] [-t IDLE] [-w FIRST]\n"
	"  flood    ADDR PORT [-s SIZE] [-t SECONDS] [-n COUNT] [-S SEGS]\n"
	"           [-m BATCH] [-r RATE] [--bind PORT]\n"
	"  echo     -p PORT [-b ADDR] [-t SECONDS]\n"
	"  rr       ADDR PORT [-n COUNT] [-s SIZE] [-w WAIT] [-c] [--bind PORT]\n"
	"  newflows ADDR PORT [-n COUNT] [-s SIZE] [-w WAIT] [--bind FIRST_PORT]\n"
	"-G: UDP_GRO   -S: datagrams per message, by UDP_SEGMENT   -m: messages\n"
	"per call   -r: datagrams per second   -c: a new socket per exchange\n"
	"-w: seconds to wait, for the first datagram or an answer\n";

static double number(const char *s, double min, double max)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !(v >= min && v <= max))
		fail("'%s' is not a number from %.15g to %.15g", s, min, max);
	return v;
}

static void set_option(struct options *o, int letter, const char *arg)
{
	switch (letter) {
	case 'b':
		o->addr = arg;
		break;
	case 'p':
		o->port = arg;
		break;
	case 'B':
		o->bind_port = (unsigned)number(arg, 1, 65535);
		break;
	case 's':
		o->size = (unsigned)number(arg, SIZE_MIN, 65527);
		break;
	case 'n':
		o->count = (uint64_t)number(arg, 1, SEQ_MAX);
		break;
	case 'S':
		o->segs = (unsigned)number(arg, 1, 128);
		break;
	case 'm':
		o->batch = (unsigned)number(arg, 1, BATCH_MAX);
		break;
	case 'r':
		o->rate = number(arg, 0, 1e9);
		break;
	case 't':
		o->secs = number(arg, 0.01, 86400);
		break;
	case 'w':
		o->wait_s = number(arg, 0.01, 86400);
		break;
	case 'c':
		o->new_socket = true;
		break;
	case 'G':
		o->gro = true;
		break;
	default:
		fputs(usage, stderr);
		exit(1);
	}
}

static void parse(const struct command *c, struct options *o, int argc,
		  char **argv)
{
	static const struct option longs[] = {
		{ "bind", required_argument, NULL, 'B' },
		{ NULL, 0, NULL, 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "b:p:s:n:S:m:r:t:w:cG", longs,
				     NULL)) != -1)
		set_option(o, letter, optarg);
	if (c->has_remote && argc - optind == 2) {
		o->addr = argv[optind];
		o->port = argv[optind + 1];
	} else if (c->has_remote || argc != optind || !o->port) {
		fputs(usage, stderr);
		exit(1);
	}
	if ((uint64_t)o->size * o->segs > 65527)
		fail("%u datagrams of %u bytes are more than a message holds",
		     o->segs, o->size);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };

	/* No SA_RESTART: a waiting call shall end */
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	pattern_init();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct options o = commands[i].defaults;

		if (argc < 2 || strcmp(argv[1], commands[i].name))
			continue;
		parse(&commands[i], &o, argc - 1, argv + 1);
		return commands[i].run(&o);
	}
	fputs(usage, stderr);
	return 1;
}
