/* udpload.c - UDP load generator, echo and sink for measuring and testing
 *
 * Every datagram says who it is (udpload_payload.c). So a receiver can tell
 * apart what arrived once, twice, late or damaged without talking to the
 * sender: no control connection is needed, and a forwarder that carries UDP
 * only can be measured.
 *
 * Each subcommand is one loop with an end: a count, a time, or SIGTERM; then
 * one line of JSON on standard output (ramp: CSV). Figures are counts, seconds
 * and microseconds; times of exchanges are whole round trips.
 *
 *   one way          sink, flood              udpload_sink.c, udpload_flood.c
 *   with answers     echo, rr, newflows       udpload_ask.c
 *   under load       closed, open             udpload_loop.c, udpload_track.c
 *   both ways        ramp                     udpload_ramp.c
 *   of itself        merge, selftest          udpload_test.c
 *
 * It deliberately does not start forwarders, read kernel counters or compare
 * runs: scripts do. */

#include "udpload.h"
#include "udpload_payload.h"

#include <getopt.h>
#include <stddef.h>

#define QUEUE (8 << 20) /* bytes of receive queue asked for */

uint8_t message[BATCH_MAX][BUF_MAX];

/* ---- command line ----------------------------------------------------- */

/* What the members are if nothing is said; the rest follows in a row */
#define DEFAULTS_BUT_COUNT \
	.ports = 1, .queue = QUEUE, .flows = 1, .batch = 32, .segs = 1, \
	.vlan = -1
#define DEFAULTS DEFAULTS_BUT_COUNT, .count = SEQ_MAX

enum arguments {
	ARGS_NONE,
	ARGS_REMOTE, /* ADDR PORT */
	ARGS_LOCAL, /* -p PORT */
};

static const struct command {
	const char *name;
	int (*run)(const struct options *o);
	enum arguments arguments;
	struct options defaults;
} commands[] = {
	{ "sink",
	  cmd_sink,
	  ARGS_LOCAL,
	  { DEFAULTS, .addr = "::", .secs = 2, .wait_s = 30 } },
	{ "flood",
	  cmd_flood,
	  ARGS_REMOTE,
	  { DEFAULTS, .size = 1472, .secs = 2 } },
	{ "echo",
	  cmd_echo,
	  ARGS_LOCAL,
	  { DEFAULTS, .addr = "::", .secs = 600 } },
	{ "rr",
	  cmd_rr,
	  ARGS_REMOTE,
	  { DEFAULTS_BUT_COUNT, .size = 64, .count = 1000, .wait_s = 1 } },
	{ "newflows",
	  cmd_newflows,
	  ARGS_REMOTE,
	  { DEFAULTS_BUT_COUNT, .size = 64, .count = 1000, .wait_s = 1 } },
	{ "closed",
	  cmd_closed,
	  ARGS_REMOTE,
	  { DEFAULTS, .size = 1472, .window = 32, .secs = 2, .wait_s = .2 } },
	{ "open",
	  cmd_open,
	  ARGS_REMOTE,
	  { DEFAULTS, .size = 1472, .rate = 10000, .catch_up = 64, .secs = 2,
	    .wait_s = 1 } },
	{ "ramp",
	  cmd_ramp,
	  ARGS_REMOTE,
	  { DEFAULTS, .size = 1472, .peak = 1e9, .step_s = 5,
	    .shape = "up_down" } },
	{ "merge", cmd_merge, ARGS_NONE, { DEFAULTS } },
	{ "selftest", cmd_selftest, ARGS_NONE, { DEFAULTS } },
};

static const char usage[] =
	"usage: udpload COMMAND\n"
	"  sink     -p PORT [-b ADDR] [-G] [-m BATCH] [-t IDLE] [-w FIRST]\n"
	"  flood    ADDR PORT [-s SIZE] [-t SECONDS] [-n COUNT] [-S SEGS]\n"
	"           [-m BATCH] [-r RATE] [-F FLOWS] [--bind PORT]\n"
	"  echo     -p PORT [-b ADDR] [-t SECONDS] [-P PORTS] [--verify]\n"
	"  rr       ADDR PORT [-n COUNT] [-s SIZE] [-w WAIT] [-c] [--bind PORT]\n"
	"  newflows ADDR PORT [-n COUNT] [-s SIZE] [-w WAIT] [-r RATE]\n"
	"           [--bind FIRST_PORT]\n"
	"  closed   ADDR PORT [-W WINDOW] [-s SIZE] [-t SECONDS] [-n COUNT]\n"
	"           [-w WAIT] [-F FLOWS] [-P PORTS] [--bind FIRST_PORT]\n"
	"           [--warm COUNT] [--verify] [--hist]\n"
	"  open     the same without -W, with [-r RATE] [--catch-up COUNT]\n"
	"  ramp     ADDR PORT [--peak BITS] [-s STEP_BITS] [-D SECONDS]\n"
	"           [-p up|down|up_down] [--size SIZE] [--verify]\n"
	"           [--near NETNS] [--far NETNS]\n"
	"  merge    < output of runs with --hist\n"
	"  selftest\n"
	"-G: UDP_GRO   -S: datagrams per message, by UDP_SEGMENT   -m: messages\n"
	"per call   -r: datagrams per second   -c: a new socket per exchange\n"
	"-w: seconds to wait, for the first datagram or an answer   -W: datagrams\n"
	"under way   -F: flows, 1 to 100000   -P: destination or local ports\n"
	"--queue BYTES: receive queue   --verify: compare every octet   --hist:\n"
	"print the histogram   --warm: datagrams that are in no latency and rate\n"
	"Frames instead of sockets, with sink, flood, closed, open:\n"
	"  --raw IFACE --mac NEXT_HOP --from ADDR [--vlan ID [--prio 0..7]]\n"
	"  echo --raw IFACE -p PORT [--swap-mac]: only the MAC addresses\n";

/* Options that are words; short ones that mean another thing to ramp */
enum {
	OPT_BIND = 256,
	OPT_QUEUE,
	OPT_WARM,
	OPT_CATCH_UP,
	OPT_VERIFY,
	OPT_HIST,
	OPT_RAW,
	OPT_MAC,
	OPT_FROM,
	OPT_VLAN,
	OPT_PRIO,
	OPT_SWAP_MAC,
	OPT_PEAK,
	OPT_SIZE,
	OPT_NEAR,
	OPT_FAR,
	OPT_STEP,
	OPT_SHAPE,
};

static const struct option longs[] = {
	{ "bind", required_argument, NULL, OPT_BIND },
	{ "queue", required_argument, NULL, OPT_QUEUE },
	{ "warm", required_argument, NULL, OPT_WARM },
	{ "catch-up", required_argument, NULL, OPT_CATCH_UP },
	{ "verify", no_argument, NULL, OPT_VERIFY },
	{ "hist", no_argument, NULL, OPT_HIST },
	{ "raw", required_argument, NULL, OPT_RAW },
	{ "mac", required_argument, NULL, OPT_MAC },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "vlan", required_argument, NULL, OPT_VLAN },
	{ "prio", required_argument, NULL, OPT_PRIO },
	{ "swap-mac", no_argument, NULL, OPT_SWAP_MAC },
	{ "peak", required_argument, NULL, OPT_PEAK },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "near", required_argument, NULL, OPT_NEAR },
	{ "far", required_argument, NULL, OPT_FAR },
	{ NULL, 0, NULL, 0 },
};

/* Returns false if the letter is none of these */
static bool set_text(struct options *o, int letter, const char *arg)
{
	const char **to = letter == 'b'	      ? &o->addr :
			  letter == 'p'	      ? &o->port :
			  letter == OPT_RAW   ? &o->raw :
			  letter == OPT_MAC   ? &o->mac :
			  letter == OPT_FROM  ? &o->from :
			  letter == OPT_NEAR  ? &o->ns_near :
			  letter == OPT_FAR   ? &o->ns_far :
			  letter == OPT_SHAPE ? &o->shape :
						NULL;

	if (to)
		*to = arg;
	return to;
}

static bool set_flag(struct options *o, int letter)
{
	bool *to = letter == 'c'	  ? &o->new_socket :
		   letter == 'G'	  ? &o->gro :
		   letter == OPT_VERIFY	  ? &o->verify :
		   letter == OPT_HIST	  ? &o->hist :
		   letter == OPT_SWAP_MAC ? &o->swap_mac :
					    NULL;

	if (to)
		*to = true;
	return to;
}

static bool set_real(struct options *o, int letter, const char *arg)
{
	static const struct {
		int letter;
		double min, max;
		size_t at;
	} rows[] = {
		{ 'r', 0, 1e9, offsetof(struct options, rate) },
		{ 't', 0.01, 86400, offsetof(struct options, secs) },
		{ 'w', 0.001, 86400, offsetof(struct options, wait_s) },
		{ 'D', 0.01, 3600, offsetof(struct options, step_s) },
		{ OPT_PEAK, 1e3, 1e12, offsetof(struct options, peak) },
		{ OPT_STEP, 1e3, 1e12, offsetof(struct options, step) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double v;

		if (rows[i].letter != letter)
			continue;
		v = number(arg, rows[i].min, rows[i].max);
		memcpy((char *)o + rows[i].at, &v, sizeof(v));
		return true;
	}
	return false;
}

static bool set_count(struct options *o, int letter, const char *arg)
{
	static const struct {
		int letter;
		double min, max;
		size_t at;
	} rows[] = {
		{ OPT_BIND, 1, 65535, offsetof(struct options, bind_port) },
		{ 's', SIZE_MIN, 65527, offsetof(struct options, size) },
		{ OPT_SIZE, SIZE_MIN, 65527, offsetof(struct options, size) },
		{ 'S', 1, 128, offsetof(struct options, segs) },
		{ 'm', 1, BATCH_MAX, offsetof(struct options, batch) },
		{ 'F', 1, FLOWS_MAX, offsetof(struct options, flows) },
		{ 'P', 1, 1000, offsetof(struct options, ports) },
		{ 'W', 1, 1 << 20, offsetof(struct options, window) },
		{ OPT_CATCH_UP, 1, 1e6, offsetof(struct options, catch_up) },
		{ OPT_QUEUE, 1, 1 << 30, offsetof(struct options, queue) },
		{ OPT_VLAN, 0, 4095, offsetof(struct options, vlan) },
		{ OPT_PRIO, 0, 7, offsetof(struct options, prio) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned v;

		if (rows[i].letter != letter)
			continue;
		v = (unsigned)number(arg, rows[i].min, rows[i].max);
		memcpy((char *)o + rows[i].at, &v, sizeof(v));
		return true;
	}
	return false;
}

_Noreturn static void bad_usage(void)
{
	fputs(usage, stderr);
	exit(1);
}

static void set_option(struct options *o, int letter, const char *arg)
{
	if (letter == 'n')
		o->count = (uint64_t)number(arg, 1, SEQ_MAX);
	else if (letter == OPT_WARM)
		o->warm = (uint64_t)number(arg, 0, SEQ_MAX);
	else if (!set_text(o, letter, arg) && !set_flag(o, letter) &&
		 !set_real(o, letter, arg) && !set_count(o, letter, arg))
		bad_usage();
}

static void parse(const struct command *c, struct options *o, int argc,
		  char **argv)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "b:p:s:n:S:m:r:t:w:cGF:P:W:D:",
				     longs, NULL)) != -1) {
		if (c->run == cmd_ramp && letter == 's')
			letter = OPT_STEP;
		if (c->run == cmd_ramp && letter == 'p')
			letter = OPT_SHAPE;
		set_option(o, letter, optarg);
	}
	if (c->arguments == ARGS_REMOTE && argc - optind == 2) {
		o->addr = argv[optind++];
		o->port = argv[optind++];
	}
	if (argc != optind || (c->arguments != ARGS_NONE && !o->port))
		bad_usage();
	if ((uint64_t)o->size * o->segs > 65527)
		fail("%u datagrams of %u bytes are more than a message holds",
		     o->segs, o->size);
}

int main(int argc, char **argv)
{
	load_signals();
	payload_setup();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct options o = commands[i].defaults;

		if (argc < 2 || strcmp(argv[1], commands[i].name))
			continue;
		parse(&commands[i], &o, argc - 1, argv + 1);
		return commands[i].run(&o);
	}
	bad_usage();
}
