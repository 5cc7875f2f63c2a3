/* dnsname.h - domain names as they stand in messages
 * Knows: RFC 1035 3.1 (labels) and 4.1.4 (compression).
 * Does not know: which option or message they stand in.
 * A name is text like "example.com"; a dot at its end makes no difference. */

#ifndef DNSNAME_H
#define DNSNAME_H

#include <stdint.h>

#define DNSNAME_MAX 255 /* bytes of a name, RFC 1035 2.3.4 */

/**
 * dnsname_put() - write a name, uncompressed
 * @room: bytes at @ret_buf
 * Returns: bytes written; 0, and @ret_buf untouched, if it does not fit or is
 * no name: no label, an empty one, one of more than 63 bytes, too long
 */
uint32_t dnsname_put(const char *name, uint8_t *ret_buf, uint32_t room);

/**
 * dnsname_pack() - append a name to names, sharing what they end in
 * @buf:  names that earlier calls wrote, @used bytes of @size; pointers count
 *        from its start
 * Returns: bytes appended; 0 as above
 */
uint32_t dnsname_pack(const char *name, uint8_t *buf, uint32_t used,
		      uint32_t size);

#endif
