/* csum.c - sums of 16-bit words, eight bytes at a time
 *
 * One's complement addition has two gifts (RFC 1071, section 2): it does not
 * matter in which byte order the words are read as long as the result is stored
 * the same way, and sums of wider words fold down to the sum of 16-bit ones. So
 * bytes are read as 64-bit words of the machine, and a carry out of the top is
 * added back at the bottom. Four sums run side by side because each addition
 * waits for the carry of the one before it.
 *
 * With offloads on, only headers and what a guest sends in fragments are
 * summed; without, each payload is, up to 64 KiB. Plain C gets near memory
 * speed for both; nothing here is written for one processor.
 *
 * A sum that is not 0 never becomes 0 again, which is why comparing a folded
 * sum with 0xffff is a complete check. */

#include "csum.h"

#include <arpa/inet.h>
#include <string.h>

/* Addition with the carry brought round */
static uint64_t add(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

static uint64_t load(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

uint64_t csum_add(uint64_t sum, const void *buf, size_t len)
{
	uint64_t lane[3] = { 0 }, tail = 0;
	const uint8_t *p = buf;

	for (; len >= 32; len -= 32, p += 32) {
		sum = add(sum, load(p));
		lane[0] = add(lane[0], load(p + 8));
		lane[1] = add(lane[1], load(p + 16));
		lane[2] = add(lane[2], load(p + 24));
	}
	sum = add(add(sum, lane[0]), add(lane[1], lane[2]));

	for (; len >= 8; len -= 8, p += 8)
		sum = add(sum, load(p));

	/* Zero bytes behind an odd end are what RFC 1071 asks for */
	if (len)
		memcpy(&tail, p, len);
	return add(sum, tail);
}

uint64_t csum_addv(uint64_t sum, const struct iovec *iov, unsigned n)
{
	bool odd = false;

	for (unsigned i = 0; i < n; i++) {
		uint64_t part = csum_add(0, iov[i].iov_base, iov[i].iov_len);

		/* Bytes that start in the middle of a word: swap their sum */
		if (odd)
			part = __builtin_bswap16(csum_fold(part));
		sum = add(sum, part);
		odd ^= iov[i].iov_len & 1;
	}
	return sum;
}

uint64_t csum_pseudo(const struct addr *src, const struct addr *dst,
		     uint8_t proto, uint32_t len)
{
	uint64_t sum = (uint64_t)htonl(proto) + htonl(len);

	sum = csum_add(sum, addr_bytes(src), addr_len(src));
	return csum_add(sum, addr_bytes(dst), addr_len(dst));
}

uint16_t csum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)((sum >> 16) + (sum & 0xffff));
}

uint16_t csum_done(uint64_t sum)
{
	return (uint16_t)~csum_fold(sum);
}

uint16_t csum_udp(uint64_t sum)
{
	uint16_t c = csum_done(sum);

	return c ? c : 0xffff;
}
