/* rest.h - bytes of the guest that a socket does not have yet
 * Knows: buffers of one pool, chained.  Does not know: sockets, connections.
 *
 * What was offered to the guest as a window is taken from it, even where the
 * host's socket then takes less than it said, or bytes before it are missing.
 * Zero-filled memory is an empty pool, and an empty rest. */

#ifndef REST_H
#define REST_H

#include "limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/** struct rest - bytes of one owner, in order; numbers of buffers + 1, 0 none */
struct rest {
	uint16_t first, last;
};

/** struct rest_pool - @off, @end: used part of each buffer
 * @next: the one behind it + 1, also of free ones
 * @free: first free one + 1      @high: buffers ever used
 * @n:    buffers in use */
struct rest_pool {
	uint32_t off[REST_BUFS], end[REST_BUFS];
	uint16_t next[REST_BUFS];
	uint16_t free, high, n;
	uint8_t buf[REST_BUFS][REST_SIZE];
};

/** rest_is_empty() - is there nothing of this owner? */
static inline bool rest_is_empty(const struct rest *r)
{
	return !r->first;
}

/** rest_add() - keep bytes at the end; returns how many, fewer than @len if the
 * pool is exhausted */
uint32_t rest_add(struct rest_pool *p, struct rest *r, const uint8_t *buf,
		  uint32_t len);

/** rest_first() - the oldest bytes that lie together; not of an empty rest */
struct iovec rest_first(struct rest_pool *p, const struct rest *r);

/** rest_drop() - forget the first @len bytes; there are as many */
void rest_drop(struct rest_pool *p, struct rest *r, uint32_t len);

/** rest_join() - put @more behind @r; it is empty then */
void rest_join(struct rest_pool *p, struct rest *r, struct rest *more);

/** rest_clear() - forget all of them */
void rest_clear(struct rest_pool *p, struct rest *r);

#endif
