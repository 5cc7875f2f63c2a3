/* udpload_payload.c - payload that says who it is
 *
 * Sequence number in the first 8 octets, length in the next 4, a fixed pattern,
 * the sequence number again in the last 8. What does not fit is left out: 8
 * octets are the least.
 *
 * Checking is two comparisons and a memcmp(). Only what fails is looked at
 * octet by octet, so that the report can name the first that differs: an
 * offset that repeats points at a header field, one that is the end of the
 * datagram at a length. */

#include "udpload_payload.h"

#include <arpa/inet.h>

static uint8_t pattern[BUF_MAX];

void payload_setup(void)
{
	uint32_t x = 12345;

	for (unsigned i = 0; i < BUF_MAX; i++) {
		x = x * 1103515245 + 12345;
		pattern[i] = (uint8_t)(x >> 16);
	}
}

static void put_seq(uint8_t *buf, uint64_t seq)
{
	for (int i = 7; i >= 0; i--, seq >>= 8)
		buf[i] = (uint8_t)seq;
}

uint64_t payload_seq(const uint8_t *buf)
{
	uint64_t seq = 0;

	for (int i = 0; i < 8; i++)
		seq = seq << 8 | buf[i];
	return seq;
}

void payload_init(uint8_t *buf, uint32_t size)
{
	memcpy(buf, pattern, size);
}

void payload_stamp(uint8_t *buf, uint32_t size, uint64_t seq)
{
	uint32_t size_be = htonl(size);

	put_seq(buf, seq);
	if (size >= 12)
		memcpy(buf + 8, &size_be, 4);
	if (size >= 20)
		put_seq(buf + size - 8, seq);
}

bool payload_ok(const uint8_t *buf, uint32_t len, uint64_t seq)
{
	uint32_t size_be = htonl(len);
	uint32_t end = len >= 20 ? len - 8 : len;

	if (len < SIZE_MIN || payload_seq(buf) != seq)
		return false;
	if (len >= 12 && memcmp(buf + 8, &size_be, 4))
		return false;
	if (len > 12 && memcmp(buf + 12, pattern + 12, end - 12))
		return false;
	return len < 20 || payload_seq(buf + end) == seq;
}

/* The length that a payload says it has, @len if it does not */
static uint32_t said_length(const uint8_t *buf, uint32_t len)
{
	uint32_t size_be;

	if (len < 12)
		return len;
	memcpy(&size_be, buf + 8, 4);
	return ntohl(size_be) < BUF_MAX ? ntohl(size_be) : len;
}

static void note_first(struct faults *f, const uint8_t *buf, uint32_t len,
		       uint32_t size)
{
	static uint8_t want[BUF_MAX];
	uint32_t at = 0;

	f->has_first = true;
	f->seq = payload_seq(buf);
	f->len = len;
	f->want_len = size;
	payload_init(want, size);
	payload_stamp(want, size, f->seq);
	while (at < len && at < size && buf[at] == want[at])
		at++;
	f->at = at;
	f->got = at < len ? buf[at] : -1;
	f->want = at < size ? want[at] : -1;
}

void payload_blame(struct faults *f, const uint8_t *buf, uint32_t len,
		   uint32_t size)
{
	if (len < SIZE_MIN || payload_seq(buf) >= SEQ_MAX) {
		f->foreign++;
		return;
	}
	if (!size)
		size = said_length(buf, len);
	if (size != len)
		f->length++;
	else
		f->octet++;
	if (!f->has_first)
		note_first(f, buf, len, size < SIZE_MIN ? SIZE_MIN : size);
}

uint64_t faults_total(const struct faults *f)
{
	return f->length + f->octet + f->foreign;
}

void faults_json(const struct faults *f, FILE *out)
{
	fprintf(out,
		",\"corrupt\":%" PRIu64 ",\"bad_length\":%" PRIu64
		",\"bad_octet\":%" PRIu64 ",\"foreign\":%" PRIu64
		",\"first_bad\":",
		faults_total(f), f->length, f->octet, f->foreign);
	if (!f->has_first) {
		fputs("null", out);
		return;
	}
	fprintf(out,
		"{\"seq\":%" PRIu64 ",\"octet\":%u,\"got\":%d,\"want\":%d"
		",\"len\":%u,\"want_len\":%u}",
		f->seq, f->at, f->got, f->want, f->len, f->want_len);
}

bool seen_add(struct seen *s, uint64_t seq)
{
	uint8_t bit = (uint8_t)(1 << seq % 8);

	if (s->bit[seq / 8] & bit)
		return false;
	s->bit[seq / 8] |= bit;
	return true;
}
