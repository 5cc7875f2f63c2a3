/* icmperr_fuzz.c - any bytes as an ICMP error of the guest: what is accepted is
 * a whole header and quote, and can be written again */

#include "icmperr.h"

#include "csum.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
	if (!claim)
		abort();
}

/* Byte 0: family; 1: may the checksum be put right first? then the message */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct addr a6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };
	static const struct addr b6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
	static const struct head_link link;
	struct addr a4 = addr_v4(0xc0000201), b4 = addr_v4(0xc0000202);
	static uint8_t msg[4096], frame[ICMPERR_FRAME];
	struct icmperr_quote q;
	struct icmperr e;
	struct pkt p = { 0 };
	bool is_v4;

	if (size < 2 || size - 2 > sizeof(msg))
		return 0;
	is_v4 = data[0] & 1;
	memcpy(msg, data + 2, size - 2);
	p.src = end_make(is_v4 ? &a4 : &a6, 0, 0);
	p.dst = end_make(is_v4 ? &b4 : &b6, 0, 0);
	p.body.buf = msg;
	p.body.len = (uint32_t)(size - 2);
	if (data[1] & 1 && size - 2 >= 4) {
		uint64_t sum = 0;
		uint16_t c;

		memset(msg + 2, 0, 2);
		if (!is_v4)
			sum = csum_pseudo(&p.src.addr, &p.dst.addr, PROTO_ICMP6,
					  p.body.len);
		c = csum_done(csum_add(sum, msg, p.body.len));
		memcpy(msg + 2, &c, 2);
	}
	if (!icmperr_parse(&p, &e, &q))
		return 0;
	must(p.body.len >= 8 + (is_v4 ? 28u : 48u));
	must(q.proto == PROTO_UDP);
	q.data = msg;
	q.len = q.dlen = p.body.len;
	must(icmperr_frame(&e, &link, &p.dst.addr, &q, frame) <= sizeof(frame));
	return 0;
}
