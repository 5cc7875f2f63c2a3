/* load.h - what the load generators have in common
 * Knows: signals that end them, their errors, clocks, numbers of a command line.
 * Does not know: what is sent or measured. */

#ifndef LOAD_H
#define LOAD_H

#include <signal.h>
#include <stdint.h>

/* Set by SIGTERM and SIGINT */
extern volatile sig_atomic_t stopped;

/** load_signals() - have them set @stopped, and end a call that waits */
void load_signals(void);

/** fail() - one line on stderr, exit 1 */
_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** now() - monotonic seconds     now_ns() - monotonic nanoseconds */
double now(void);
uint64_t now_ns(void);

/** cpu_us() - processor time of this process so far */
double cpu_us(void);

/** number() - of an argument; fails if it is none, or out of range */
double number(const char *s, double min, double max);

#endif
