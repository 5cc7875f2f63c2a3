/* check.h - the whole test library: counts checks, prints TAP
 * Knows: stdout and exit codes.  Does not know: what is tested.
 *
 * A test is a program: checks, then "return done();" at the end of main().
 * Exit code 0 means passed, 77 skipped, anything else failed. */

#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** ok() - check that @cond holds; the rest names the check, printf style.
 * All checks are expressions: true if the check passed. */
#define ok(cond, ...) check_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

/** is_int() - check that two integers are equal */
#define is_int(got, want, ...) \
	check_int((long long)(got), (long long)(want), __FILE__, __LINE__, \
		  __VA_ARGS__)

/** is_mem() - check that @len bytes are equal */
#define is_mem(got, want, len, ...) \
	check_mem(got, want, len, __FILE__, __LINE__, __VA_ARGS__)

/** is_str() - check that two strings are equal; NULL equals only NULL */
#define is_str(got, want, ...) \
	check_str(got, want, __FILE__, __LINE__, __VA_ARGS__)

static unsigned check_count, check_bad;

__attribute__((format(printf, 4, 0))) static inline bool
check_line(bool passed, const char *file, int line, const char *fmt, va_list ap)
{
	printf("%sok %u - ", passed ? "" : "not ", ++check_count);
	vprintf(fmt, ap);
	putchar('\n');
	if (!passed) {
		printf("# %s:%d\n", file, line);
		check_bad++;
	}
	fflush(stdout); /* a test may fork or be killed next */
	return passed;
}

__attribute__((format(printf, 4, 5))) static inline bool
check_ok(bool passed, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	check_line(passed, file, line, fmt, ap);
	va_end(ap);
	return passed;
}

__attribute__((format(printf, 5, 6))) static inline bool
check_int(long long got, long long want, const char *file, int line,
	  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!check_line(got == want, file, line, fmt, ap))
		printf("# got %lld, want %lld\n", got, want);
	va_end(ap);
	return got == want;
}

__attribute__((format(printf, 6, 7))) static inline bool
check_mem(const void *got, const void *want, size_t len, const char *file,
	  int line, const char *fmt, ...)
{
	const uint8_t *g = got, *w = want;
	va_list ap;
	size_t at = 0;

	while (at < len && g[at] == w[at])
		at++;
	va_start(ap, fmt);
	if (!check_line(at == len, file, line, fmt, ap))
		printf("# byte %zu of %zu: got 0x%02x, want 0x%02x\n", at, len,
		       g[at], w[at]);
	va_end(ap);
	return at == len;
}

__attribute__((format(printf, 5, 6))) static inline bool
check_str(const char *got, const char *want, const char *file, int line,
	  const char *fmt, ...)
{
	bool same = got && want ? !strcmp(got, want) : got == want;
	va_list ap;

	va_start(ap, fmt);
	if (!check_line(same, file, line, fmt, ap))
		printf("# got \"%s\"\n# want \"%s\"\n", got ? got : "(null)",
		       want ? want : "(null)");
	va_end(ap);
	return same;
}

/** skip_all() - end this test: the machine cannot run it, for this reason */
__attribute__((format(printf, 1, 2))) _Noreturn static inline void
skip_all(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("1..0 # skip ");
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	fflush(stdout);
	exit(77);
}

/** done() - print the plan; returns the exit code of the test */
static inline int done(void)
{
	printf("1..%u\n", check_count);
	fflush(stdout);
	return check_bad || !check_count;
}

#endif
