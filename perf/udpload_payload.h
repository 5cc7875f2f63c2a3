/* udpload_payload.h - payload that says who it is
 * Knows: octets.  Does not know: how they travel. */

#ifndef UDPLOAD_PAYLOAD_H
#define UDPLOAD_PAYLOAD_H

#include "udpload.h"

/** struct seen - a bit per sequence number */
struct seen {
	uint8_t bit[SEQ_MAX / 8];
};

/** struct faults - what was wrong with payloads
 * @length, @octet, @foreign: datagrams of another length than they say, with
 * octets that differ, and that say no sequence number at all
 * The rest is about the first of them; @got is -1 past its end. */
struct faults {
	uint64_t length;
	uint64_t octet;
	uint64_t foreign;
	bool has_first;
	uint64_t seq;
	uint32_t len;
	uint32_t want_len;
	uint32_t at;
	int got;
	int want;
};

/** payload_setup() - make the pattern; before anything else here */
void payload_setup(void);

/** payload_init() - write the pattern; once per buffer and size */
void payload_init(uint8_t *buf, uint32_t size);

/** payload_stamp() - make a prepared payload that of datagram @seq */
void payload_stamp(uint8_t *buf, uint32_t size, uint64_t seq);

/** payload_seq() - sequence number of at least SIZE_MIN bytes */
uint64_t payload_seq(const uint8_t *buf);

/** payload_ok() - is this the whole and undamaged datagram @seq? */
bool payload_ok(const uint8_t *buf, uint32_t len, uint64_t seq);

/** payload_blame() - count what is wrong with a payload that is not ok
 * @size: what its length should be, 0: what it says itself */
void payload_blame(struct faults *f, const uint8_t *buf, uint32_t len,
		   uint32_t size);

/** faults_total() - payloads with any fault */
uint64_t faults_total(const struct faults *f);

/** faults_json() - members "corrupt" to "first_bad", after a comma */
void faults_json(const struct faults *f, FILE *out);

/** seen_add() - returns false if @seq (below SEQ_MAX) was there already */
bool seen_add(struct seen *s, uint64_t seq);

#endif
