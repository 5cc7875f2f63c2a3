/* hash.c - SipHash-1-3 over whole words
 *
 * Tables here are filled by whoever sends datagrams. With a hash that can be
 * computed outside, a stranger could put all his flows into one bucket and make
 * every look-up a walk. SipHash is a keyed function made for short inputs: four
 * words of state, one round of add, rotate, xor per input word and three at the
 * end, which is the variant its authors name for tables whose hashes are never
 * shown to anybody.
 *
 * Input is a sequence of 64-bit words, not bytes: keys are fixed structs, so
 * there is no tail to pad, and the length word is a constant per call site. */

#include "hash.h"

#include <errno.h>
#include <sys/random.h>

static uint64_t rotl(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

/* Inline, so that the state stays in registers: gcc calls it otherwise, which
 * costs 54 instructions per datagram. */
static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);

	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

static inline void absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

int hash_key_random(struct hash_key *ret_key)
{
	struct hash_key key;
	ssize_t n;

	/* 256 bytes and less come whole once the pool is ready (getrandom(2)) */
	do
		n = getrandom(&key, sizeof(key), 0);
	while (n < 0 && errno == EINTR);

	if (n != sizeof(key))
		return n < 0 ? -errno : -EIO;
	*ret_key = key;
	return 0;
}

uint64_t hash_words(const struct hash_key *key, const uint64_t *words,
		    unsigned n)
{
	/* The text "somepseudorandomlygeneratedbytes", the paper's start value */
	uint64_t v[4] = {
		key->k[0] ^ 0x736f6d6570736575,
		key->k[1] ^ 0x646f72616e646f6d,
		key->k[0] ^ 0x6c7967656e657261,
		key->k[1] ^ 0x7465646279746573,
	};

	for (unsigned i = 0; i < n; i++)
		absorb(v, words[i]);
	absorb(v, (uint64_t)(n * sizeof(*words)) << 56);

	v[2] ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
