/* clock.h - the one clock of the program
 * Knows: CLOCK_MONOTONIC.  Times are milliseconds in int64_t named *_ms, or
 * whole seconds in uint32_t named *_s where a table keeps many of them. */

#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NEVER INT64_MAX /* a deadline that does not come */

/** clock_ms() - milliseconds since an arbitrary start */
static inline int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/** clock_us() - the same in microseconds, for time stamps */
static inline int64_t clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

#endif
