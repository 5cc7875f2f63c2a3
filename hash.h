/* hash.h - keyed hash for tables that strangers fill
 * Knows: bytes.  Does not know: tables.
 * Source: SipHash (Aumasson, Bernstein 2012), 1 compression and 3 final rounds:
 * a peer that cannot read the key cannot aim at one bucket. */

#ifndef HASH_H
#define HASH_H

#include <stdint.h>

struct hash_key {
	uint64_t k[2];
};

/** hash_key_random() - key from getrandom(2); returns 0 or -errno */
int hash_key_random(struct hash_key *ret_key);

/**
 * hash_words() - hash of @n 64-bit words
 * Returns: 64 well mixed bits; the low ones may index a table
 */
uint64_t hash_words(const struct hash_key *key, const uint64_t *words,
		    unsigned n);

#endif
