/* arp_fuzz.c - no answer, or one that is well formed and claims no address of
 * the guest's; input as for pkt_fuzz */

#include "arp.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t fixed[10] = { 8, 6, 0, 1, 8, 0, 6, 4, 0, 2 };
	uint8_t reply[42];
	struct frame f;
	struct pkt p;
	uint32_t n;

	if (!fuzz_frame(data, size, &f) || pkt_parse(&f, &p) != PKT_ARP)
		return 0;
	n = arp_reply(&p, &LINK, &A.v4.addr, reply);
	must(!n || n == sizeof(reply));
	if (!n)
		return 0;

	must(f.len >= sizeof(reply));
	must(!memcmp(reply, f.l2 + 6, 6) && !memcmp(reply + 6, &LINK.ours, 6));
	must(!memcmp(reply + 12, fixed, sizeof(fixed)));
	must(!memcmp(reply + 22, &LINK.ours, 6));
	must(memcmp(reply + 28, A.v4.addr.b + 12, 4) != 0);
	must(!memcmp(reply + 28, f.l2 + 38, 4));
	must(!memcmp(reply + 32, f.l2 + 22, 10));
	return 0;
}
