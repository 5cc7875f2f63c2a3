/* csum_test.c - sums against RFC 1071 and against a byte-by-byte model */

#include "csum.h"

#include "be.h"
#include "check.h"
#include "frames.h"

static uint8_t data[70000];

/* Value of a checksum as it stands in a frame */
static uint16_t value(uint16_t c)
{
	return be16_get(&c);
}

static uint16_t model(const void *buf, uint32_t len)
{
	return plain_fold(plain_sum(0, buf, len));
}

static void rfc_example(void)
{
	static const uint8_t b[] = { 0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7 };

	is_int(value(csum_fold(csum_add(0, b, 8))), 0xddf2, "RFC 1071, 3");
	is_int(value(csum_done(csum_add(0, b, 8))), 0x220d, "complemented");
	is_int(csum_fold(0), 0, "nothing");
	is_int(csum_done(0), 0xffff, "nothing, complemented");
}

static void zero_means_absent(void)
{
	static const uint8_t ones[] = { 0xff, 0xff };

	is_int(csum_done(csum_add(0, ones, 2)), 0, "a sum may be 0");
	is_int(csum_udp(csum_add(0, ones, 2)), 0xffff, "but not for UDP");
	is_int(csum_fold(UINT64_MAX), 0xffff, "largest sum");
	is_int(csum_fold(0xffffffff00000001), 0x1, "carries come round");
	is_int(csum_fold(csum_add(UINT64_MAX, ones, 2)), 0xffff,
	       "a carry in csum_add() comes round");
}

/* Every length at every alignment up to 100, then some large ones */
static void lengths(void)
{
	static const uint32_t large[] = { 1472, 4095, 65507, 65535, 69000 };
	unsigned bad = 0;

	for (uint32_t len = 0; len <= 100; len++)
		for (uint32_t at = 0; at < 9; at++)
			bad += value(csum_fold(csum_add(
				       0, guarded(data + at, len), len))) !=
			       model(data + at, len);
	is_int(bad, 0, "lengths 0 to 100 at alignments 0 to 8");

	for (unsigned i = 0; i < 5; i++)
		is_int(value(csum_fold(csum_add(0, data + 1, large[i]))),
		       model(data + 1, large[i]), "%u bytes", large[i]);

	memset(data, 0xff, sizeof(data));
	is_int(value(csum_fold(csum_add(0, data, 65535))), model(data, 65535),
	       "all ones");
}

/* Any cut of a buffer into slices gives the sum of the whole */
static void slices(void)
{
	static const uint8_t cut[][4] = {
		{ 0, 0, 0, 0 },	  { 1, 1, 1, 1 },    { 2, 3, 5, 7 },
		{ 9, 0, 8, 1 },	  { 33, 32, 31, 1 }, { 64, 1, 0, 17 },
		{ 255, 2, 1, 8 },
	};

	for (unsigned i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		struct iovec iov[5];
		uint32_t at = 0;

		for (unsigned k = 0; k < 4; k++) {
			iov[k] = (struct iovec){ data + at, cut[i][k] };
			at += cut[i][k];
		}
		iov[4] = (struct iovec){ data + at, 1000 };
		is_int(value(csum_fold(csum_addv(0, iov, 5))),
		       model(data, at + 1000), "slices of row %u", i);
	}
}

static void pseudo_headers(void)
{
	struct addr a = addr_v4(0xc0a80001), b = addr_v4(0xc0a800c7);

	/* 0xc0a8 + 0x0001 + 0xc0a8 + 0x00c7 + 17 + 10, by hand */
	is_int(value(csum_fold(csum_pseudo(&a, &b, 17, 10))), 0x8234, "IPv4");
	/* 0x2001 + 0x0db8 + 0xa + 0x2001 + 0x0db8 + 0xb + 17 + 0xffff */
	is_int(value(csum_fold(csum_pseudo(&A.v6.addr, &B.v6.addr, 17, 65535))),
	       0x5b98, "IPv6");
}

int main(void)
{
	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(payload_byte(i) ^ i >> 3);
	rfc_example();
	zero_means_absent();
	slices();
	pseudo_headers();
	lengths();
	return done();
}
