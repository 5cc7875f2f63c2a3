/* reader_test.c - a real reader, and a file that changes under it */

#include "reader.h"

#include "check.h"
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64], other[80];
static char text[READER_MAX];

static void stay(void *arg)
{
	(void)arg;
}

static void fail(void *arg)
{
	(void)arg;
	_exit(1);
}

static void put(const char *name, const char *what)
{
	FILE *f = fopen(name, "w");

	if (f && fputs(what, f) >= 0 && !fclose(f))
		return;
	ok(false, "cannot write %s", name);
}

/* Ask, and wait for the answer */
static const char *says(int sock)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	int rc = reader_ask(sock);

	if (rc || poll(&p, 1, 2000) != 1)
		return "no answer";
	rc = reader_take(sock, text);
	return rc ? strerror(-rc) : text;
}

static void changes(int sock)
{
	static char big[2 * READER_MAX];

	is_str(says(sock), "", "no file");
	put(path, "one");
	is_str(says(sock), "one", "a file");
	put(other, "two");
	rename(other, path);
	is_str(says(sock), "two", "replaced");
	unlink(path);
	put(other, "three");
	if (symlink(other, path))
		ok(false, "symlink: %s", strerror(errno));
	is_str(says(sock), "three", "a link");
	memset(big, 'x', sizeof(big) - 1);
	put(other, big);
	is_int(strlen(says(sock)), READER_MAX - 1, "as much as fits");
	unlink(path);
	if (mkfifo(path, 0600))
		ok(false, "mkfifo: %s", strerror(errno));
	is_str(says(sock), "", "a FIFO stops nobody");
	is_int(reader_take(sock, text), -EAGAIN, "not asked, not told");
	unlink(path);
	unlink(other);
}

int main(void)
{
	int sock = -1, status = 0;

	log_init("test");
	snprintf(path, sizeof(path), "/tmp/reader_test.%d", (int)getpid());
	snprintf(other, sizeof(other), "%s.other", path);
	is_int(reader_start(path, fail, NULL, &sock), -EPIPE, "it fails");
	is_int(sock, -1, "no socket then");
	wait(NULL);
	is_int(reader_start(path, stay, NULL, &sock), 0, "start");
	changes(sock);
	close(sock);
	ok(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status),
	   "it ends with its socket");
	return done();
}
