/* mcast_fuzz.c - reports of any form change nothing but real groups, and the
 * table stays consistent. Byte 0: bit 0 MLD, bit 1 repair the checksum; byte 1:
 * seconds that pass; the message follows. */

#include "mcast.h"

#include "be.h"
#include "csum.h"

#include <stdlib.h>
#include <string.h>

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair(uint8_t *msg, const struct pkt *p)
{
	uint64_t sum = 0;
	uint16_t c;

	memset(msg + 2, 0, 2);
	if (p->proto == PROTO_ICMP6)
		sum = csum_pseudo(&p->src.addr, &p->dst.addr, PROTO_ICMP6,
				  p->body.len);
	c = csum_done(csum_add(sum, msg, p->body.len));
	memcpy(msg + 2, &c, sizeof(c));
}

static unsigned known(const struct mcast *m)
{
	unsigned i, n = 0;

	for (i = 0; i < MCAST_GROUPS_MAX; i++)
		n += m->group[i].ends_ms != 0;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mcast m;
	static int64_t now = 1;
	struct mcast_change c[MCAST_CHANGES_MAX];
	uint8_t msg[2048];
	struct pkt p = { .body.mark.hops = 1 };
	struct addr gone;
	unsigned i, n;
	bool is_v6;

	if (size < 6 || size - 2 > sizeof(msg))
		return 0;
	is_v6 = data[0] & 1;
	p.proto = is_v6 ? PROTO_ICMP6 : PROTO_IGMP;
	p.src.addr = is_v6 ? (struct addr){ { 0xfe, 0x80, [15] = 1 } } :
			     addr_v4(0xc0000201);
	p.dst.addr = is_v6 ? (struct addr){ { 0xff, 2, [15] = 0x16 } } :
			     addr_v4(0xe0000016);
	p.body.buf = msg;
	p.body.len = (uint32_t)size - 2;
	memcpy(msg, data + 2, size - 2);
	if (data[0] & 2)
		repair(msg, &p);
	now += data[1] * 1000;
	n = mcast_parse(&p, c);
	must(n <= MCAST_CHANGES_MAX);
	for (i = 0; i < n; i++) {
		must(addr_is_multicast(&c[i].group));
		must(addr_is_v4(&c[i].group) == !is_v6);
		mcast_update(&m, &c[i], now);
		must(c[i].is_join || !mcast_is_member(&m, &c[i].group));
	}
	must(known(&m) == m.n);
	while (mcast_expired(&m, now, &gone))
		must(!mcast_is_member(&m, &gone));
	must((mcast_next_query(&m) == MCAST_NEVER) == !m.n);
	return 0;
}
