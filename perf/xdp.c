/* xdp.c - a sink, a reflector and a wrapper in the kernel, before any stack
 *
 * An XDP program is attached to a tap or a veth and does one thing to frames
 * with UDP: lets them pass, drops them, sends them back with addresses and
 * ports swapped, or sends them back inside another IPv4 header. It counts what
 * it was handed, in a map that this program reads. So it says what arrived at
 * an interface, apart from what a stack made of it; that a frame was sent back
 * it cannot know, only that it was meant to be.
 *
 * The programs are written as instructions here (xdp_prog.c) and loaded with
 * bpf(2): neither a compiler for BPF nor a library is needed. They run in the
 * driver (--native) or for any interface on what the stack is handed
 * (--generic). On a tap, native is for frames that its owner writes; frames
 * with several datagrams go the generic way inside the driver then, and what is
 * sent back natively has the checksum that it came with: if that was left to
 * offload, a wrong one.
 *
 * A program stays attached until its time is over or SIGTERM comes; after
 * SIGKILL, "ip link set dev IFACE xdp off" (xdpgeneric off) takes it away. */

#include "xdp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX 1024

static const char *const names[DEED_COUNT] = { "pass", "drop", "swap", "wrap" };
static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int make_map(void)
{
	union bpf_attr a = { .map_type = BPF_MAP_TYPE_PERCPU_ARRAY,
			     .key_size = 4,
			     .value_size = sizeof(struct counters),
			     .max_entries = 1 };
	int fd = bpf(BPF_MAP_CREATE, &a);

	if (fd < 0) {
		perror("xdp: map");
		exit(1);
	}
	return fd;
}

static int load(const struct recipe *r)
{
	static struct bpf_insn insn[INSNS_MAX];
	static char log[1 << 16];
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_XDP,
			     .insn_cnt = prog_write(r, insn),
			     .insns = (uintptr_t)insn,
			     .license = (uintptr_t) "none" };
	int fd = bpf(BPF_PROG_LOAD, &a);

	if (fd >= 0)
		return fd;
	/* Once more, to be told why */
	a.log_buf = (uintptr_t)log;
	a.log_size = sizeof(log);
	a.log_level = 1;
	bpf(BPF_PROG_LOAD, &a);
	fprintf(stderr, "xdp: program: %s\n%s", strerror(errno), log);
	exit(1);
}

static struct counters read_counters(int map_fd)
{
	static struct counters cpu[CPUS_MAX];
	struct counters sum = { 0 };
	uint32_t key = 0;
	union bpf_attr a = { .map_fd = (uint32_t)map_fd,
			     .key = (uintptr_t)&key,
			     .value = (uintptr_t)cpu };

	if (bpf(BPF_MAP_LOOKUP_ELEM, &a)) {
		perror("xdp: counters");
		exit(1);
	}
	for (int i = 0; i < CPUS_MAX; i++) {
		sum.frames += cpu[i].frames;
		sum.bytes += cpu[i].bytes;
		sum.datagrams += cpu[i].datagrams;
		sum.others += cpu[i].others;
	}
	return sum;
}

static void print_counters(const struct counters *c, double secs)
{
	printf("\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64
	       ",\"datagrams\":%" PRIu64 ",\"others\":%" PRIu64
	       ",\"secs\":%.6f}\n",
	       c->frames, c->bytes, c->datagrams, c->others, secs);
	fflush(stdout);
}

static struct counters minus(struct counters a, const struct counters *b)
{
	a.frames -= b->frames;
	a.bytes -= b->bytes;
	a.datagrams -= b->datagrams;
	a.others -= b->others;
	return a;
}

static void pause_s(double s)
{
	struct timespec ts = { .tv_sec = (time_t)s };

	ts.tv_nsec = (long)((s - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

/* Prints what is new every @every seconds, if more than 0 */
static void follow(int map_fd, double secs, double every)
{
	double start = now(), last = start;
	struct counters before = { 0 };

	while (!stopped && now() < start + secs) {
		double left = start + secs - now();
		struct counters c, new;

		pause_s(every > 0 && every < left ? every : left);
		if (every <= 0)
			continue;
		c = read_counters(map_fd);
		new = minus(c, &before);
		printf("{");
		print_counters(&new, now() - last);
		last = now();
		before = c;
	}
}

static const char usage[] =
	"usage: xdp IFACE pass|drop|swap|wrap [OPTION...]\n"
	"  -g, --generic | -n, --native   default: generic\n"
	"  -t SECONDS     default: until SIGTERM\n"
	"  -i SECONDS     counters in between, too\n"
	"  --seg SIZE     payload of a datagram, to derive how many a frame has\n"
	"  --src ADDR, --dst ADDR   outer addresses of wrap, IPv4\n";

static const struct option longs[] = {
	{ "generic", no_argument, NULL, 'g' },
	{ "native", no_argument, NULL, 'n' },
	{ "seg", required_argument, NULL, 's' },
	{ "src", required_argument, NULL, 'S' },
	{ "dst", required_argument, NULL, 'D' },
	{ NULL, 0, NULL, 0 },
};

struct options {
	struct recipe recipe;
	bool is_native;
	double secs;
	double every;
};

static void set_option(struct options *o, int letter, const char *arg)
{
	uint8_t *outer = o->recipe.outer;
	bool ok = true;

	if (letter == 'g' || letter == 'n')
		o->is_native = letter == 'n';
	else if (letter == 't')
		ok = (o->secs = atof(arg)) > 0;
	else if (letter == 'i')
		ok = (o->every = atof(arg)) > 0;
	else if (letter == 's')
		ok = (o->recipe.seg = (uint16_t)atoi(arg)) > 0;
	else if (letter == 'S' || letter == 'D')
		ok = inet_pton(AF_INET, arg, outer + (letter == 'D') * 4) == 1;
	else
		ok = false;
	if (ok)
		return;
	fputs(usage, stderr);
	exit(1);
}

int main(int argc, char **argv)
{
	struct options o = { .secs = 1e9,
			     .recipe = { .outer = { 198, 18, 0, 1, 198, 18, 0,
						    2 } } };
	struct sigaction sa = { .sa_handler = on_signal };
	struct counters c;
	int index, letter, prog;
	double start;

	while ((letter = getopt_long(argc, argv, "gnt:i:", longs, NULL)) != -1)
		set_option(&o, letter, optarg);
	for (int i = 0; argc - optind == 2 && i < DEED_COUNT; i++)
		o.recipe.deed += strcmp(argv[optind + 1], names[i]) ? 0 : i;
	if (argc - optind != 2 ||
	    strcmp(names[o.recipe.deed], argv[optind + 1]))
		set_option(&o, '?', NULL);
	index = (int)if_nametoindex(argv[optind]);
	if (!index) {
		fprintf(stderr, "xdp: no interface %s\n", argv[optind]);
		return 1;
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	o.recipe.map_fd = make_map();
	prog = load(&o.recipe);
	link_attach(index, prog, o.is_native);
	start = now();
	follow(o.recipe.map_fd, o.secs, o.every);
	link_attach(index, -1, o.is_native);
	c = read_counters(o.recipe.map_fd);
	printf("{\"iface\":\"%s\",\"action\":\"%s\",\"mode\":\"%s\",",
	       argv[optind], names[o.recipe.deed],
	       o.is_native ? "native" : "generic");
	print_counters(&c, now() - start);
	return 0;
}
