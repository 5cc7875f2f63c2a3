/* log.c - the only printer of the program
 *
 * Problem: messages must reach a person while the program starts (stderr), and
 * an administrator once it runs in the background (a file, or syslog), and the
 * second place must keep working when the process sees no file system and may
 * make next to no system calls.
 *
 * Idea: the sink is opened early and only written to afterwards: one write(2)
 * or one datagram per line, built in a buffer on the stack. Nothing looks at
 * the calendar, because that would read time zone files: lines in a file count
 * seconds since start, and syslog gets no time stamp, so that its daemon adds
 * its own (RFC 3164 4.3.2). It adds the process number as well: the one that
 * we see may be of another PID namespace.
 *
 * A file has a limit. Since no other file can be opened once we are enclosed,
 * the oldest third goes instead: what follows it is moved to the front, in
 * place, behind the first line, which says who wrote this. That costs one copy
 * of the rest for every third of a file written.
 *
 * On stderr, errors and warnings name the program and their level; the rest is
 * plain text. At debug level every line starts with seconds since start.
 *
 * Words of the user end up in messages, so control characters are replaced: a
 * file name cannot forge a line. Not here: reopening a file that was renamed, or
 * syslog after a restart of its daemon, and waiting for a slow reader. */

#include "log.h"

#include "clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_SIZE 8192 /* bytes of a line: statistics take about 2,500 */
#define CUT_PERCENT 30 /* of a full log file */
#define SYSLOG_PATH "/dev/log"
#define SYSLOG_DAEMON (3 << 3) /* facility, RFC 3164 4.1.1 */

#define LEVEL_COUNT (LEVEL_TRACE + 1)

/* Level words, and severities of RFC 3164 4.1.1 */
static const struct {
	const char *word;
	int severity;
} level_row[] = {
	[LEVEL_ERR] = { "error", 3 },	[LEVEL_WARN] = { "warning", 4 },
	[LEVEL_INFO] = { "info", 6 },	[LEVEL_DEBUG] = { "debug", 7 },
	[LEVEL_TRACE] = { "trace", 7 },
};

static_assert(sizeof(level_row) / sizeof(level_row[0]) == LEVEL_COUNT,
	      "one row per level");

/* @sink: log file or syslog socket, -1 if none
 * @max:  bytes of the file     @kept: bytes of its first line */
static struct {
	const char *ident;
	enum log_level level;
	int64_t start_us;
	int sink;
	uint32_t max;
	off_t kept;
	bool is_syslog;
	bool no_stderr;
} state = { .ident = "pasta", .level = LEVEL_INFO, .sink = -1 };

void log_init(const char *ident)
{
	state.ident = ident;
	state.level = LEVEL_INFO;
	state.start_us = clock_us();
	state.no_stderr = false;
}

void log_level(enum log_level level)
{
	state.level = level;
}

bool log_shows(enum log_level level)
{
	return level <= state.level;
}

void log_stderr(bool on)
{
	state.no_stderr = !on;
}

static int syslog_open(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX,
				  .sun_path = SYSLOG_PATH };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Seconds since start, with four decimals, in front of a line */
static int stamp(char *buf, size_t size)
{
	int64_t us = clock_us() - state.start_us;

	return snprintf(buf, size, "%lld.%04d: ", (long long)(us / 1000000),
			(int)(us % 1000000 / 100));
}

static int head_stderr(char *buf, size_t size, enum log_level level)
{
	int n = 0;

	if (state.level >= LEVEL_DEBUG)
		n = stamp(buf, size);
	if (level <= LEVEL_WARN)
		n += snprintf(buf + n, size - (size_t)n,
			      "%s: %s: ", state.ident, level_row[level].word);
	return n;
}

static int head_sink(char *buf, size_t size, enum log_level level)
{
	int n;

	if (state.is_syslog)
		return snprintf(buf, size, "<%d>%s: ",
				SYSLOG_DAEMON | level_row[level].severity,
				state.ident);
	n = stamp(buf, size);
	return n + snprintf(buf + n, size - (size_t)n,
			    "%s: ", level_row[level].word);
}

/* Offset of the line that begins behind @at, -1 if there is none */
static off_t line_start(int fd, off_t at)
{
	char buf[LINE_SIZE];
	ssize_t n = pread(fd, buf, sizeof(buf), at);
	const char *end = n > 0 ? memchr(buf, '\n', (size_t)n) : NULL;

	return end ? at + (end - buf) + 1 : -1;
}

/* Make room: move what is newer than the oldest third to the front, behind the
 * first line. Without a line to begin with, all of it goes.
 * seccomp(forwarder): pread64 pwrite64 ftruncate ftruncate64
 * seccomp(agent): pread64 pwrite64 ftruncate ftruncate64 */
static void cut(int fd)
{
	off_t from = line_start(fd, (off_t)state.max * CUT_PERCENT / 100);
	off_t to = state.kept;
	char buf[LINE_SIZE];
	ssize_t n;

	while (from >= 0 && (n = pread(fd, buf, sizeof(buf), from)) > 0) {
		if (pwrite(fd, buf, (size_t)n, to) != n)
			break;
		from += n;
		to += n;
	}
	if (ftruncate(fd, to))
		state.max = UINT32_MAX; /* it cannot be cut: do not try again */
}

/* One write at the end of the file, wherever that is by now: somebody may have
 * emptied it, and the agent writes to it, too. What has no end, like a pipe,
 * has no limit.
 * seccomp(forwarder): write lseek _llseek
 * seccomp(agent): write lseek _llseek */
static void put_file(int fd, const char *line, size_t len)
{
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t rc;

	if (end > 0 && end + (off_t)len > (off_t)state.max) {
		cut(fd);
		lseek(fd, 0, SEEK_END);
	}
	rc = write(fd, line, len);
	(void)rc;
}

/* Whoever captures standard error may not read it for a while: a pipe that is
 * full must not stop the program
 * seccomp(forwarder): write poll ppoll
 * seccomp(agent): write poll ppoll */
static void put_stderr(const char *line, size_t len)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t rc;

	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
		return;
	rc = write(STDERR_FILENO, line, len);
	(void)rc;
}

/* A line that cannot be written has nowhere to be reported: errors of the log
 * itself are dropped.
 * seccomp(forwarder): sendto clock_gettime
 * seccomp(agent): sendto clock_gettime */
static void put_line(int fd, const char *head, const char *text)
{
	char line[LINE_SIZE];
	size_t len;
	ssize_t rc = 0;
	int n = snprintf(line, sizeof(line) - 1, "%s%s", head, text);

	if (n < 0)
		return;
	len = (size_t)n < sizeof(line) - 1 ? (size_t)n : sizeof(line) - 2;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	if (fd == state.sink && state.is_syslog) {
		rc = sendto(fd, line, len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL,
			    0);
	} else {
		line[len++] = '\n';
		if (fd == state.sink)
			put_file(fd, line, len);
		else
			put_stderr(line, len);
	}
	(void)rc;
}

int log_open(const struct log_file *file)
{
	int fd;

	if (file)
		fd = open(file->path,
			  O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY |
				  O_NONBLOCK,
			  0600);
	else
		fd = syslog_open();
	if (fd < 0 && file)
		return -errno;

	if (state.sink >= 0)
		close(state.sink);
	state.sink = fd;
	state.is_syslog = !file;
	if (!file)
		return 0;
	state.max = UINT32_MAX;
	put_line(fd, "", file->first);
	state.max = file->max;
	state.kept = lseek(fd, 0, SEEK_CUR);
	return 0;
}

static void say(enum log_level level, const char *fmt, va_list ap)
{
	int saved = errno;
	char text[LINE_SIZE];
	char head[256] = "";

	if (!log_shows(level))
		return;
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		return;
	if (!state.no_stderr) {
		head_stderr(head, sizeof(head), level);
		put_line(STDERR_FILENO, head, text);
	}
	if (state.sink >= 0) {
		head_sink(head, sizeof(head), level);
		put_line(state.sink, head, text);
	}
	errno = saved;
}

void log_line(const char *text)
{
	int saved = errno;
	char head[256] = "";

	if (!state.no_stderr)
		put_line(STDERR_FILENO, "", text);
	if (state.sink >= 0 && state.is_syslog)
		head_sink(head, sizeof(head), LEVEL_INFO);
	if (state.sink >= 0)
		put_line(state.sink, head, text);
	errno = saved;
}

void err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_ERR, fmt, ap);
	va_end(ap);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_WARN, fmt, ap);
	va_end(ap);
}

void info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_INFO, fmt, ap);
	va_end(ap);
}

void debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_DEBUG, fmt, ap);
	va_end(ap);
}

void trace(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_TRACE, fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_ERR, fmt, ap);
	va_end(ap);
	exit(1);
}
