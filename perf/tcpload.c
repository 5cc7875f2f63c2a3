/* tcpload.c - TCP requests, connections and verified transfers for measuring
 *
 * iperf3 measures a stream. What it does not measure is here: how long a small
 * exchange takes, how many connections a second can be made, used and closed,
 * and whether a long transfer with pauses at both ends arrives whole and never
 * stands still.
 *
 * A client says in the first bytes of each connection what it wants (struct
 * request), so one server serves all. Each client is one loop with an end, and
 * prints one line of JSON. Figures are counts, seconds and microseconds.
 *
 *   serve       answers all of them              tcpload_serve.c
 *   rr          exchanges over one connection    tcpload_ask.c
 *   crr         a connection for each exchange   tcpload_ask.c
 *   transfer    bytes both ways, compared        tcpload_transfer.c
 *
 * The server closes first after an answer of crr, as HTTP/1.0 did: the ports
 * in TIME_WAIT are then its own, and a client does not run out of them. */

#include "tcpload.h"

#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* ---- sockets ---------------------------------------------------------- */

static socklen_t resolve(const struct options *o,
			 struct sockaddr_storage *ret_sa)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *ai;
	socklen_t len;
	int rc = getaddrinfo(o->addr, o->port, &hints, &ai);

	if (rc)
		fail("%s port %s: %s", o->addr, o->port, gai_strerror(rc));
	len = ai->ai_addrlen;
	memcpy(ret_sa, ai->ai_addr, len);
	freeaddrinfo(ai);
	return len;
}

int tcp_open(const struct options *o, unsigned add,
	     struct sockaddr_storage *ret_sa, socklen_t *ret_len)
{
	/* The port is at the same place in both families */
	struct sockaddr_in *in = (struct sockaddr_in *)ret_sa;
	int on = 1, fd;

	*ret_len = resolve(o, ret_sa);
	in->sin_port = htons((uint16_t)(ntohs(in->sin_port) + add));
	fd = socket(ret_sa->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fail("socket: %s", strerror(errno));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

int tcp_connect(const struct options *o)
{
	struct timeval tv = {
		.tv_sec = (time_t)o->wait_s,
		.tv_usec = (suseconds_t)((o->wait_s - (time_t)o->wait_s) * 1e6)
	};
	struct sockaddr_storage sa;
	socklen_t len;
	int fd = tcp_open(o, 0, &sa, &len);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (connect(fd, (struct sockaddr *)&sa, len))
		fail("connect to %s port %s: %s", o->addr, o->port,
		     strerror(errno));
	return fd;
}

bool send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

bool recv_all(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = recv(fd, p, len, 0);

		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

/* ---- command line ----------------------------------------------------- */

static const struct command {
	const char *name;
	int (*run)(const struct options *o);
	bool is_server;
	struct options defaults;
} commands[] = {
	{ "serve", cmd_serve, true, { .addr = "::", .ports = 1, .secs = 600 } },
	{ "rr",
	  cmd_rr,
	  false,
	  { .ports = 1, .size = 1, .count = 1000, .secs = 60, .wait_s = 5 } },
	{ "crr",
	  cmd_crr,
	  false,
	  { .ports = 1, .size = 1, .parallel = 1, .secs = 2, .wait_s = 5 } },
	{ "transfer",
	  cmd_transfer,
	  false,
	  { .up = 1000000000, .seed = 1, .secs = 120, .wait_s = 5 } },
};

static const char usage[] =
	"usage: tcpload COMMAND\n"
	"  serve     -p PORT [-P PORTS] [-b ADDR] [-t SECONDS]\n"
	"  rr        ADDR PORT [-s SIZE] [-n COUNT] [-t SECONDS] [--warm COUNT]\n"
	"  crr       ADDR PORT [-s SIZE] [-n COUNT] [-t SECONDS] [-N PARALLEL]\n"
	"            [-P PORTS] [--warm COUNT]\n"
	"  transfer  ADDR PORT [--up BYTES] [--down BYTES] [-t LIMIT]\n"
	"            [--pause MAX_MS] [--seed N]\n"
	"-s: bytes of a request and of its answer   -N: connections at a time\n"
	"-n: exchanges, 0: until the time is over   -P: consecutive ports\n"
	"-w: seconds to wait for an answer          --hist: print the histogram\n"
	"--warm: exchanges at the start that are in no figure\n"
	"--pause: both ends stop for random times, up to MAX_MS each\n";

enum { OPT_UP = 256, OPT_DOWN, OPT_PAUSE, OPT_SEED, OPT_WARM, OPT_HIST };

static const struct option longs[] = {
	{ "up", required_argument, NULL, OPT_UP },
	{ "down", required_argument, NULL, OPT_DOWN },
	{ "pause", required_argument, NULL, OPT_PAUSE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "warm", required_argument, NULL, OPT_WARM },
	{ "hist", no_argument, NULL, OPT_HIST },
	{ NULL, 0, NULL, 0 },
};

_Noreturn static void bad_usage(void)
{
	fputs(usage, stderr);
	exit(1);
}

static void set_number(struct options *o, int letter, const char *arg)
{
	if (letter == 'P')
		o->ports = (unsigned)number(arg, 1, 1000);
	else if (letter == 's')
		o->size = (unsigned)number(arg, 1, SIZE_MAX_OF_ANSWER);
	else if (letter == 'N')
		o->parallel = (unsigned)number(arg, 1, PARALLEL_MAX);
	else if (letter == 'n')
		o->count = (uint64_t)number(arg, 0, 1e12);
	else if (letter == 't')
		o->secs = number(arg, .01, 86400);
	else if (letter == 'w')
		o->wait_s = number(arg, .001, 86400);
	else if (letter == OPT_UP)
		o->up = (uint64_t)number(arg, 0, 1e15);
	else if (letter == OPT_DOWN)
		o->down = (uint64_t)number(arg, 0, 1e15);
	else if (letter == OPT_PAUSE)
		o->pause_ms = (unsigned)number(arg, 0, 10000);
	else if (letter == OPT_SEED)
		o->seed = (uint64_t)number(arg, 0, 1e15);
	else if (letter == OPT_WARM)
		o->warm = (uint64_t)number(arg, 0, 1e12);
	else
		bad_usage();
}

static void parse(const struct command *c, struct options *o, int argc,
		  char **argv)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "b:p:P:s:n:t:w:N:", longs,
				     NULL)) != -1) {
		if (letter == 'b')
			o->addr = optarg;
		else if (letter == 'p')
			o->port = optarg;
		else if (letter == OPT_HIST)
			o->hist = true;
		else
			set_number(o, letter, optarg ? optarg : "");
	}
	if (argc - optind != (c->is_server ? 0 : 2))
		bad_usage();
	if (!c->is_server) {
		o->addr = argv[optind];
		o->port = argv[optind + 1];
	}
	if (!o->port)
		bad_usage();
}

int main(int argc, char **argv)
{
	load_signals();
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct options o = commands[i].defaults;

		if (argc < 2 || strcmp(argv[1], commands[i].name))
			continue;
		parse(&commands[i], &o, argc - 1, argv + 1);
		return commands[i].run(&o);
	}
	bad_usage();
}
