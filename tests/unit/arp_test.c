/* arp_test.c - which requests are answered, and how */

#include "arp.h"

#include "check.h"
#include "frames.h"

static struct shot s;
static uint8_t reply[42];

static uint32_t answer(void)
{
	struct frame f = shot_frame(&s);
	struct pkt p;

	if (pkt_parse(&f, &p) != PKT_ARP)
		return UINT32_MAX;
	memset(reply, 0xee, sizeof(reply));
	return arp_reply(&p, &LINK, &A.v4.addr, reply);
}

static void answered(void)
{
	static const uint8_t want[42] = {
		2,   0,	 0,   0, 0, 0xa, 2, 0, 0, 0,   0,   0xb, 8, 6,
		0,   1,	 8,   0, 6, 4,	 0, 2, 2, 0,   0,   0,	 0, 0xb,
		198, 51, 100, 2, 2, 0,	 0, 0, 0, 0xa, 192, 0,	 2, 1,
	};

	arp_request(&s, &A.v4.addr, &B.v4.addr);
	is_int(answer(), 42, "a request");
	is_mem(reply, want, 42, "the reply");
	s.len += 18;
	is_int(answer(), 42, "padded to 60 bytes");
}

/* One byte of a good request changed, by offset in the ARP packet */
static const struct {
	const char *name;
	uint8_t at;
	uint8_t value;
} bad[] = {
	{ "other hardware", 1, 6 },  { "other protocol", 2, 0x86 },
	{ "hardware length", 4, 8 }, { "protocol length", 5, 16 },
	{ "a reply", 7, 2 },	     { "reverse ARP", 7, 3 },
	{ "operation 257", 6, 1 },
};

static void not_answered(void)
{
	struct addr other = addr_v4(0xc0000263);

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		arp_request(&s, &A.v4.addr, &B.v4.addr);
		s.raw[SHOT_L3 + bad[i].at] = bad[i].value;
		is_int(answer(), 0, "%s", bad[i].name);
	}
	for (uint32_t len = 0; len < 28; len++) {
		arp_request(&s, &A.v4.addr, &B.v4.addr);
		s.len = SHOT_L3 + len;
		is_int(answer(), 0, "%u bytes", len);
	}
	arp_request(&s, &other, &A.v4.addr);
	is_int(answer(), 0, "for the guest's own address");
	arp_request(&s, &other, &other);
	is_int(answer(), 0, "an announcement");
	arp_request(&s, &addr_any4, &A.v4.addr);
	is_int(answer(), 0, "a probe for the guest's own address");
	is_int(reply[0], 0xee, "nothing written");
}

int main(void)
{
	answered();
	not_answered();
	return done();
}
