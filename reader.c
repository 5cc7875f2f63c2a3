/* reader.c - one file of the host, read again while nothing else can be
 *
 * Problem: the host's resolv.conf changes while we run: a lease is renewed, a
 * VPN comes up, the machine moves. By then the process that handles traffic has
 * an empty root directory. A descriptor kept open would not help: the file is
 * replaced, or is a link that is turned to another.
 *
 * Idea: a process that is forked at start, stays in the mount namespace we were
 * started in and reads the file by its name whenever it is asked. Nothing waits
 * for it: the answer is an event like others, so a file on a share that hangs
 * stops nobody but the reader.
 *
 * Not watched by inotify(7): which directories to watch depends on the links of
 * the moment, and network file systems tell nothing. Reading costs 30 us, once
 * per second at most, only while somebody asks.
 *
 * Not here: what the text says, other files. */

#include "reader.h"

#include "agent.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/** struct start - what the reader is to know */
struct start {
	const char *path;
	void (*setup)(void *arg);
	void *arg;
};

/* A FIFO in the place of the file must not stop us.
 * seccomp(reader): openat(2=SANDBOX_READ) open(1=SANDBOX_READ) read close */
static size_t read_text(const char *path, char *text)
{
	int fd = open(path, SANDBOX_READ);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while (len < READER_MAX - 1) {
		n = read(fd, text + len, READER_MAX - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	return len;
}

/* seccomp(reader): recvfrom sendto sendmsg */
static _Noreturn void serve(const char *path, int sock)
{
	char text[READER_MAX], request;
	size_t len;

	while (recv(sock, &request, 1, 0) == 1) {
		len = read_text(path, text);
		text[len] = 0;
		if (send(sock, text, len + 1, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

static void live(void *arg, int sock)
{
	const struct start *s = arg;
	int null;

	s->setup(s->arg);
	sandbox_close(sock, -1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sandbox_caps(-1);
	sandbox_seal(ROLE_READER);
	if (null >= 0)
		sandbox_stdio(null);
	if (agent_give(sock, NULL, 0, NULL, 0))
		_exit(1);
	serve(s->path, sock);
}

int reader_start(const char *path, void (*setup)(void *arg), void *arg,
		 int *ret_sock)
{
	struct start s = { path, setup, arg };
	struct agent a;
	int rc = agent_start(&a, live, &s, NULL);

	if (rc)
		return rc;
	rc = agent_take(&a, NULL, 0, NULL, 0);
	if (rc)
		close(a.sock);
	else
		*ret_sock = a.sock;
	return rc;
}

/* seccomp(forwarder): sendto */
int reader_ask(int sock)
{
	static const char request = '?';

	return send(sock, &request, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ?
		       -errno :
		       0;
}

/* seccomp(forwarder): recvfrom */
int reader_take(int sock, char text[static READER_MAX])
{
	ssize_t n = recv(sock, text, READER_MAX, MSG_DONTWAIT);

	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (!n)
		return -EPIPE;
	text[n - 1] = 0;
	return 0;
}
