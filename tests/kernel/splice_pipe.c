/* splice_pipe.c - TCP by way of a pipe, without waiting
 *
 * Proves: an ordinary user may set a pipe to fs.pipe-max-size, not higher. A
 * splice from a socket without bytes, into a full pipe, or out of an empty one
 * is EAGAIN, of a socket at its end 0. One into a socket whose reader is gone
 * is EPIPE with the signal, which no flag of splice(2) prevents. */

#include "stream.h"

#define SIZE (256 * 1024)

static char data[4 * SIZE];
static volatile sig_atomic_t n_signals;

static void on_pipe(int sig)
{
	(void)sig;
	n_signals++;
}

static int pipe_max(void)
{
	char text[32] = "";
	int fd = open("/proc/sys/fs/pipe-max-size", O_RDONLY | O_CLOEXEC);

	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoi(text);
}

static long move(int from, int to)
{
	return splice(from, NULL, to, NULL, SIZE,
		      SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

static bool is_again(long rc)
{
	return rc < 0 && errno == EAGAIN;
}

static void sizes(const int *p)
{
	int max = pipe_max();

	is_int(fcntl(p[1], F_SETPIPE_SZ, max), max, "the largest size");
	ok(fcntl(p[1], F_SETPIPE_SZ, 2 * max) < 0 && errno == EPERM,
	   "larger is refused");
	is_int(fcntl(p[1], F_GETPIPE_SZ), max, "and leaves it as it is");
	is_int(fcntl(p[1], F_SETPIPE_SZ, SIZE), SIZE, "smaller again");
}

/* Until nothing more comes; returns the bytes that were moved */
static long move_all(int from, int to)
{
	long n, total = 0;

	while ((n = move(from, to)) > 0)
		total += n;
	return total;
}

static void ways(const int *p)
{
	struct stream a = stream_open(AF_INET), b = stream_open(AF_INET);
	long in, out;

	ok(is_again(move(a.of, p[1])), "from a socket without bytes");
	ok(is_again(move(p[0], b.to)), "out of an empty pipe");
	for (int i = 0; i < 100 && !(events(a.of, POLLIN) & POLLIN); i++)
		must(send(a.to, data, 100, 0) == 100);
	in = move(a.of, p[1]);
	ok(in > 0 && in < SIZE, "what is there is moved, %ld bytes", in);
	/* A reader that lags is not needed: the pipe is smaller than both */
	while (send(a.to, data, sizeof(data), 0) > 0)
		poll(NULL, 0, 1);
	in += move_all(a.of, p[1]);
	ok(is_again(move(a.of, p[1])) && events(a.of, POLLIN) & POLLIN,
	   "into a full pipe, of %ld bytes", in);
	out = move_all(p[0], b.to);
	is_int(out, in, "all of them out");
	must(!shutdown(a.to, SHUT_WR));
	for (in = 1; in; in = events(a.of, POLLIN) ? move(a.of, p[1]) : 1) {
		while (move(p[0], b.to) > 0)
			;
		while (recv(b.of, data, sizeof(data), 0) > 0)
			;
	}
	is_int(move(a.of, p[1]), 0, "the end, and again");

	close(b.of);
	signal(SIGPIPE, on_pipe);
	must(write(p[1], "x", 1) == 1);
	while (move(p[0], b.to) > 0)
		must(write(p[1], "x", 1) == 1);
	is_int(errno, EPIPE, "nobody reads");
	is_int(n_signals, 1, "a signal says so, too");
	stream_close(&a);
	close(b.to);
}

int main(void)
{
	int p[2];

	enter();
	must(!pipe2(p, O_NONBLOCK | O_CLOEXEC));
	sizes(p);
	ways(p);
	return done();
}
