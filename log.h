/* log.h - the only printer of the program
 * Knows: stderr, a log file, the syslog socket (RFC 3164).
 * Does not know: what is worth saying.
 *
 * Levels are a contract: err = someone must act; warn = running, degraded;
 * info = start, stop, configuration; debug = per flow; trace = per packet.
 * State is file-scope in log.c: there is one stderr, so one log. */

#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LEVEL_ERR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG, LEVEL_TRACE };

/** log_init() - everything to stderr, prefix @ident (borrowed for ever) */
void log_init(const char *ident);

/** log_level() - show messages up to @level */
void log_level(enum log_level level);

/** log_shows() - would a message of @level be shown? */
bool log_shows(enum log_level level);

/** struct log_file - @path: made with mode 0600, or truncated
 * @max: bytes it may have. A line that would exceed them first cuts away the
 *       oldest lines, about 30 % of the file
 * @first: line it begins with, and keeps */
struct log_file {
	const char *path;
	uint32_t max;
	const char *first;
};

/**
 * log_open() - open the sink for when stderr is gone
 * @file: NULL for syslog's /dev/log
 * Opened before privileges and the file system go. A missing /dev/log is not
 * an error: there is nobody to tell.
 * Returns: 0 or -errno
 */
int log_open(const struct log_file *file);

/** log_stderr() - whether messages go to stderr (also) from now on */
void log_stderr(bool on);

/** err(), warn(), info(), debug(), trace() - one line each, printf style */
void err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** log_line() - @text as it is, whatever the level: statistics that were
 * asked for */
void log_line(const char *text);

/**
 * die() - err() and exit 1
 * For start-up only: callable from the assembly floor and sandbox.
 */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
