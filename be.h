/* be.h - big-endian fields in memory, at any alignment
 * Knows: bytes.  Does not know: what they mean. */

#ifndef BE_H
#define BE_H

#include <stdint.h>

/**
 * be16_get() / be32_get() - read a big-endian integer
 * @p: first byte, any alignment
 * Returns: the value in host order
 */
static inline uint16_t be16_get(const void *p)
{
	const uint8_t *b = p;

	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t be32_get(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	       (uint32_t)b[2] << 8 | b[3];
}

/**
 * be16_put() / be32_put() - store a value big-endian
 * @p: first byte, any alignment      @v: value in host order
 */
static inline void be16_put(void *p, uint16_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static inline void be32_put(void *p, uint32_t v)
{
	be16_put(p, (uint16_t)(v >> 16));
	be16_put((uint8_t *)p + 2, (uint16_t)v);
}

#endif
