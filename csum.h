/* csum.h - the Internet checksum
 * Knows: one's complement sums.  Does not know: which bytes to sum.
 * Sources: RFC 1071; RFC 768 and RFC 8200 8.1 for the pseudo-headers. */

#ifndef CSUM_H
#define CSUM_H

#include "addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/**
 * csum_add() - add bytes to a running sum
 * @sum: 0, or what an earlier call returned after an even number of bytes
 * @buf: bytes, any alignment      @len: count; an odd one ends the sum
 * Returns: the new running sum, in network byte order sense
 */
uint64_t csum_add(uint64_t sum, const void *buf, size_t len);

/** csum_addv() - csum_add() over slices; slices of odd length are allowed */
uint64_t csum_addv(uint64_t sum, const struct iovec *iov, unsigned n);

/**
 * csum_pseudo() - sum of the pseudo-header
 * @src, @dst: addresses of one family      @proto: PROTO_UDP and so on
 * @len: bytes from the transport header on, up to 65,535
 */
uint64_t csum_pseudo(const struct addr *src, const struct addr *dst,
		     uint8_t proto, uint32_t len);

/**
 * csum_fold() - 16-bit sum, not complemented: what a partial checksum holds
 * Returns: bytes as they go into a frame (store with memcpy(), no swapping)
 */
uint16_t csum_fold(uint64_t sum);

/** csum_done() - complemented checksum as it goes into a frame */
uint16_t csum_done(uint64_t sum);

/** csum_udp() - the same, 0 replaced by 0xffff (RFC 768: 0 means absent) */
uint16_t csum_udp(uint64_t sum);

#endif
