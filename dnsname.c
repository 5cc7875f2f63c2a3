/* dnsname.c - domain names as they stand in messages
 *
 * On the wire a name is a row of labels, each with its length in front, and an
 * empty one at the end. A list of names may be compressed: a name's tail that
 * was written before is replaced by a pointer there, two bytes. To find such a
 * tail, the labels written so far are compared one by one from each start; a
 * search list is short enough for that.
 *
 * Bytes of a label are taken as they are: no escapes, no case folding, no check
 * that it is a host's name. Reading names that others wrote is not done. */

#include "dnsname.h"

#include "be.h"

#include <stdbool.h>
#include <string.h>

#define LABEL_MAX 63
#define POINTER 0xc000u /* two bits above the 14 of an offset */
#define POINTER_BYTE 0xc0

uint32_t dnsname_put(const char *name, uint8_t *ret_buf, uint32_t room)
{
	uint8_t wire[DNSNAME_MAX];
	uint32_t at = 0, len;

	while (*name) {
		len = (uint32_t)strcspn(name, ".");
		/* One byte must stay for the empty label at the end */
		if (!len || len > LABEL_MAX || at + 1 + len >= sizeof(wire))
			return 0;
		wire[at++] = (uint8_t)len;
		memcpy(wire + at, name, len);
		at += len;
		name += len;
		name += *name == '.';
	}
	if (!at || at >= room)
		return 0;
	wire[at++] = 0;
	memcpy(ret_buf, wire, at);
	return at;
}

/* Is the name that begins at @at of @buf the uncompressed @wire? Pointers lead
 * back only, since only names behind them were written with them. */
static bool is_same(const uint8_t *buf, uint32_t at, const uint8_t *wire)
{
	uint32_t len;

	for (;;) {
		while ((buf[at] & POINTER_BYTE) == POINTER_BYTE)
			at = be16_get(buf + at) & ~POINTER;
		len = buf[at] + 1u;
		if (buf[at] != *wire || memcmp(buf + at, wire, len) != 0)
			return false;
		if (!*wire)
			return true;
		at += len;
		wire += len;
	}
}

/* Where in @buf a name equal to @wire begins; @used if nowhere */
static uint32_t find(const uint8_t *buf, uint32_t used, const uint8_t *wire)
{
	uint32_t at = 0;

	while (at < used && at < POINTER >> 2) {
		if ((buf[at] & POINTER_BYTE) == POINTER_BYTE) {
			at += 2;
			continue;
		}
		if (buf[at] && is_same(buf, at, wire))
			return at;
		at += buf[at] + 1u;
	}
	return used;
}

uint32_t dnsname_pack(const char *name, uint8_t *buf, uint32_t used,
		      uint32_t size)
{
	uint8_t wire[DNSNAME_MAX];
	uint32_t len = dnsname_put(name, wire, sizeof(wire));
	uint32_t at, to;

	for (at = 0; at + 1 < len; at += wire[at] + 1u) {
		to = find(buf, used, wire + at);
		if (to == used)
			continue;
		be16_put(wire + at, (uint16_t)(POINTER | to));
		len = at + 2;
		break;
	}
	if (!len || len > size - used)
		return 0;
	memcpy(buf + used, wire, len);
	return len;
}
