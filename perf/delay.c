/* delay.c - a long way between two network namespaces: frames arrive later
 *
 * Kernels without netem have no way to be far from each other. Here a tap in
 * each of two namespaces is the end of a cable: what is read from one is
 * written to the other when its time has come. Nothing is lost while there is
 * room for it, nothing overtakes, and there is no limit of rate.
 *
 * Both taps offer the kernel what it offers a real card: partial checksums and
 * segmentation. A super-frame passes whole, with its header, so that a frame
 * costs what 64 KiB cost and not 44 times as much; the receiving kernel takes it
 * as if a card had joined it.
 *
 * A wake-up may be late on a busy machine: how late frames left, at most, is in
 * the counters, which are printed when asked for by SIGUSR1 and at the end. */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Missing in the headers of Debian 12 */
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

#define FRAME_MAX (10 + 14 + 65535 + 1) /* header of the tap, Ethernet, IP */
#define ALIGN 64
#define TURN_MAX 64 /* frames of one direction before the other's turn */
#define QUEUE_LEN 20000 /* frames that wait in the kernel to be read */

/** struct record - a frame in a queue, its bytes behind it
 * @len: bytes, 0: the next one is at the start of the memory */
struct record {
	uint64_t due_ns;
	uint32_t len;
};

/** struct way - one direction: a ring of records
 * @head, @tail: where the next goes to and comes from, offsets that only grow */
struct way {
	int from, to;
	uint8_t *mem;
	uint64_t head, tail;
	uint64_t frames, bytes, dropped, errors;
	uint64_t late_ns, queued_max;
};

static struct way ways[2];
static uint64_t delay_ns = 5000000, ring_size = 128u << 20;
static volatile sig_atomic_t stopped, asked;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		asked = 1;
	else
		stopped = 1;
}

_Noreturn static void fail(const char *what, const char *which)
{
	fprintf(stderr, "delay: %s %s: %s\n", what, which, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- ends ------------------------------------------------------------- */

static void enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%s",
		 strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		fail("namespace", name);
	close(fd);
}

/* A frame that finds the queue full is lost, and nobody shall lose any */
static void set_queue(const char *name)
{
	struct ifreq ifr = { .ifr_qlen = QUEUE_LEN };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCSIFTXQLEN, &ifr))
		fail("queue of", name);
	close(fd);
}

static int open_tap(const char *netns, const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	unsigned flags = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6;
	int fd;

	enter(netns);
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fail("open", "/dev/net/tun");
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (ioctl(fd, TUNSETIFF, &ifr))
		fail("interface", name);
	if (ioctl(fd, TUNSETOFFLOAD, flags | TUN_F_USO4 | TUN_F_USO6) &&
	    ioctl(fd, TUNSETOFFLOAD, flags))
		fail("offloads of", name);
	set_queue(name);
	return fd;
}

static void open_way(struct way *w, int from, int to)
{
	w->from = from;
	w->to = to;
	w->mem = mmap(NULL, ring_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->mem == MAP_FAILED)
		fail("memory", "for a queue");
}

/* ---- queue ------------------------------------------------------------ */

static uint64_t size_of(uint32_t len)
{
	return (sizeof(struct record) + len + ALIGN - 1) / ALIGN * ALIGN;
}

/* Room for the largest frame in one piece, NULL if there is none */
static struct record *room(struct way *w)
{
	uint64_t to_end = ring_size - w->head % ring_size;
	struct record *r = (struct record *)(w->mem + w->head % ring_size);
	uint64_t need = size_of(FRAME_MAX);

	if (to_end < need)
		need += to_end;
	if (w->head + need - w->tail > ring_size)
		return NULL;
	if (to_end >= size_of(FRAME_MAX))
		return r;
	r->len = 0;
	w->head += to_end;
	return (struct record *)w->mem;
}

/* The first record, NULL if there is none */
static struct record *first(struct way *w)
{
	struct record *r = (struct record *)(w->mem + w->tail % ring_size);

	if (w->tail == w->head)
		return NULL;
	if (r->len)
		return r;
	w->tail += ring_size - w->tail % ring_size;
	return w->tail == w->head ? NULL : (struct record *)w->mem;
}

/* Returns false if there is nothing more to read */
static bool take(struct way *w)
{
	static uint8_t lost[FRAME_MAX];
	struct record *r = room(w);
	ssize_t n = read(w->from, r ? (uint8_t *)(r + 1) : lost, FRAME_MAX);

	if (n <= 0)
		return false;
	if (!r) {
		w->dropped++;
		return true;
	}
	r->len = (uint32_t)n;
	r->due_ns = now_ns() + delay_ns;
	w->head += size_of(r->len);
	if (w->head - w->tail > w->queued_max)
		w->queued_max = w->head - w->tail;
	return true;
}

static void send_due(struct way *w)
{
	struct record *r;
	uint64_t t;

	for (int i = 0; i < TURN_MAX && (r = first(w)); i++) {
		t = now_ns();
		if (r->due_ns > t)
			return;
		if (t - r->due_ns > w->late_ns)
			w->late_ns = t - r->due_ns;
		if (write(w->to, r + 1, r->len) < 0)
			w->errors++;
		w->frames++;
		w->bytes += r->len;
		w->tail += size_of(r->len);
	}
}

/* ---- loop ------------------------------------------------------------- */

static void report(void)
{
	static const char *const names[] = { "out", "back" };

	putchar('{');
	for (int i = 0; i < 2; i++)
		printf("%s\"%s\":{\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64
		       ",\"dropped\":%" PRIu64 ",\"errors\":%" PRIu64
		       ",\"late_us\":%" PRIu64 ",\"queued_max\":%" PRIu64 "}",
		       i ? "," : "", names[i], ways[i].frames, ways[i].bytes,
		       ways[i].dropped, ways[i].errors, ways[i].late_ns / 1000,
		       ways[i].queued_max);
	puts("}");
	fflush(stdout);
}

static void wait_for_more(struct pollfd fds[2])
{
	uint64_t t = now_ns(), due = t + 100000000;
	struct timespec ts = { 0 };

	for (int i = 0; i < 2; i++) {
		const struct record *r = first(&ways[i]);

		if (r && r->due_ns < due)
			due = r->due_ns;
	}
	ts.tv_nsec = due > t ? (long)(due - t) : 0;
	if (ppoll(fds, 2, &ts, NULL) < 0)
		fds[0].revents = fds[1].revents = 0;
}

static void run(void)
{
	struct pollfd fds[2] = { { .fd = ways[0].from, .events = POLLIN },
				 { .fd = ways[1].from, .events = POLLIN } };

	while (!stopped) {
		wait_for_more(fds);
		for (int i = 0; i < 2; i++) {
			bool more = fds[i].revents;

			for (int k = 0; more && k < TURN_MAX; k++)
				more = take(&ways[i]);
			send_due(&ways[i]);
		}
		if (asked) {
			asked = 0;
			report();
		}
	}
}

static const char usage[] =
	"usage: delay [-d MICROSECONDS] [-q MIB] NETNS IFACE NETNS IFACE\n"
	"Makes a tap in each of the two namespaces, and joins them.\n"
	"-d: how much later a frame arrives, each way, 5000   -q: memory of each\n"
	"way, 128. SIGUSR1 asks for counters.\n";

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int letter, near, far;

	while ((letter = getopt(argc, argv, "d:q:")) != -1) {
		if (letter == 'd')
			delay_ns = strtoull(optarg, NULL, 10) * 1000;
		else if (letter == 'q')
			ring_size = strtoull(optarg, NULL, 10) << 20;
		else
			optind = argc;
	}
	if (argc - optind != 4 || ring_size < 1 << 20) {
		fputs(usage, stderr);
		return 1;
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	near = open_tap(argv[optind], argv[optind + 1]);
	far = open_tap(argv[optind + 2], argv[optind + 3]);
	open_way(&ways[0], near, far);
	open_way(&ways[1], far, near);
	puts("ready");
	fflush(stdout);
	run();
	report();
	return 0;
}
