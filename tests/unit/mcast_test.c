/* mcast_test.c - who joins and leaves what, message by message */

#include "mcast.h"

#include "be.h"
#include "check.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct addr A(const char *text) {
	struct addr a = { 0 };

	if (*text && !addr_parse(text, &a))
		ok(false, "not an address: %s", text);
	return a;
}
#define G4 224, 0, 0, 251
#define H4 239, 1, 1, 1
#define G6 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfb

/* @want: changes, joins with +, leaves with - */
static const struct {
	const char *name;
	const char *want;
	uint8_t proto;
	uint8_t hops;
	uint8_t len;
	uint8_t msg[64];
} reports[] = {
	{ "IGMPv1 report", "+224.0.0.251", 2, 1, 8, { 0x12, 0, 0, 0, G4 } },
	{ "IGMPv2 report", "+239.1.1.1", 2, 1, 8, { 0x16, 0, 0, 0, H4 } },
	{ "IGMPv2 leave", "-239.1.1.1", 2, 1, 8, { 0x17, 0, 0, 0, H4 } },
	{ "from afar", "", 2, 2, 8, { 0x16, 0, 0, 0, H4 } },
	{ "all hosts", "", 2, 1, 8, { 0x16, 0, 0, 0, 224, 0, 0, 1 } },
	{ "not a group", "", 2, 1, 8, { 0x16, 0, 0, 0, 192, 0, 2, 1 } },
	{ "short", "", 2, 1, 6, { 0x16, 0, 0, 0, 239, 1 } },
	{ "a query", "", 2, 1, 8, { 0x11, 0, 0, 0, H4 } },
	{ "MLD's number in IGMP",
	  "",
	  2,
	  1,
	  24,
	  { 131, 0, 0, 0, 0, 0, 0, 0, G6 } },
	{ "unknown", "", 2, 1, 8, { 0x55, 0, 0, 0, H4 } },
	{ "IGMPv3 exclude nobody is a join",
	  "+239.1.1.1",
	  2,
	  1,
	  16,
	  { 0x22, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, H4 } },
	{ "IGMPv3 include nobody is the end",
	  "-239.1.1.1",
	  2,
	  1,
	  16,
	  { 0x22, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, H4 } },
	{ "IGMPv3 include one",
	  "+239.1.1.1",
	  2,
	  1,
	  20,
	  { 0x22, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, H4, 192, 0, 2, 1 } },
	{ "IGMPv3 block is no change",
	  "",
	  2,
	  1,
	  20,
	  { 0x22, 0, 0, 0, 0, 0, 0, 1, 6, 0, 0, 1, H4, 192, 0, 2, 1 } },
	{ "IGMPv3 two records, auxiliary data",
	  "+239.1.1.1 -224.0.0.251",
	  2,
	  1,
	  28,
	  { 0x22, 0,  0, 0, 0, 0, 0, 2, 2, 1, 0,
	    0,	  H4, 9, 9, 9, 9, 3, 0, 0, 0, G4 } },
	{ "IGMPv3 fewer records than it says",
	  "",
	  2,
	  1,
	  16,
	  { 0x22, 0, 0, 0, 0, 0, 0, 2, 4, 0, 0, 0, H4 } },
	{ "IGMPv3 more sources than there are",
	  "",
	  2,
	  1,
	  16,
	  { 0x22, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0xff, 0xff, H4 } },
	{ "IGMPv3 no record", "", 2, 1, 8, { 0x22 } },
	{ "MLDv1 report",
	  "+ff02::fb",
	  58,
	  1,
	  24,
	  { 131, 0, 0, 0, 0, 0, 0, 0, G6 } },
	{ "MLDv1 done",
	  "-ff02::fb",
	  58,
	  1,
	  24,
	  { 132, 0, 0, 0, 0, 0, 0, 0, G6 } },
	{ "MLDv2 join",
	  "+ff02::fb",
	  58,
	  1,
	  28,
	  { 143, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, G6 } },
	{ "MLDv2 leave",
	  "-ff02::fb",
	  58,
	  1,
	  28,
	  { 143, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, G6 } },
	{ "solicited-node", "", 58, 1, 28, { 143, 0, 0, 0,    0, 0,    0,
					     1,	  4, 0, 0,    0, 0xff, 2,
					     0,	  0, 0, 0,    0, 0,    0,
					     0,	  0, 1, 0xff, 1, 2,    3 } },
	{ "all nodes",
	  "",
	  58,
	  1,
	  24,
	  { 131, 0, 0, 0, 0, 0, 0, 0, 0xff, 2, [23] = 1 } },
	{ "of an interface",
	  "",
	  58,
	  1,
	  24,
	  { 131, 0, 0, 0, 0, 0, 0, 0, 0xff, 1, [23] = 9 } },
	{ "MLD of a mapped IPv4 group", "", 58, 1, 24, { 131,  0,    0, 0, 0, 0,
							 0,    0,    0, 0, 0, 0,
							 0,    0,    0, 0, 0, 0,
							 0xff, 0xff, H4 } },
	{ "MLD short", "", 58, 1, 20, { 131, 0, 0, 0, 0, 0, 0, 0, 0xff, 2 } },
	{ "neighbour solicitation", "", 58, 1, 24, { 135 } },
	{ "echo", "", 58, 1, 8, { 128 } },
};

static void fix_csum(uint8_t *msg, uint32_t len, const struct pkt *p)
{
	uint32_t sum = p->proto == 58 ? 58 + len : 0;
	uint32_t i;

	for (i = 0; p->proto == 58 && i < 16; i += 2)
		sum += be16_get(p->src.addr.b + i) +
		       be16_get(p->dst.addr.b + i);
	for (i = 0; i < len; i += 2)
		sum += be16_get(msg + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	be16_put(msg + 2, (uint16_t)~sum);
}

static void describe(const struct mcast_change *c, unsigned n, char *text)
{
	char one[ADDR_STRLEN];
	unsigned i;

	*text = 0;
	for (i = 0; i < n; i++) {
		strcat(text, i ? " " : "");
		strcat(text, c[i].is_join ? "+" : "-");
		strcat(text, addr_format(&c[i].group, one));
	}
}

static void parsing(void)
{
	struct mcast_change change[MCAST_CHANGES_MAX];
	char text[256];
	uint8_t msg[64];
	unsigned i;

	for (i = 0; i < COUNT(reports); i++) {
		bool is_v6 = reports[i].proto == 58;
		struct pkt p = { .proto = reports[i].proto,
				 .src.addr = A(is_v6 ? "fe80::1" : "192.0.2.1"),
				 .dst.addr = A(is_v6 ? "ff02::16" :
						       "224.0.0.22"),
				 .body = { .buf = msg,
					   .len = reports[i].len,
					   .mark.hops = reports[i].hops } };

		memcpy(msg, reports[i].msg, sizeof(msg));
		fix_csum(msg, p.body.len, &p);
		describe(change, mcast_parse(&p, change), text);
		is_str(text, reports[i].want, "%s", reports[i].name);
		msg[3] ^= 1;
		is_int(mcast_parse(&p, change), 0, "%s: bad checksum",
		       reports[i].name);
	}
}

static struct mcast_change change_of(uint8_t i, bool is_join)
{
	return (struct mcast_change){ addr_v4(0xef000000u + i), is_join };
}

static void memory(void)
{
	static struct mcast m;
	struct mcast_change c = change_of(1, true);
	struct addr gone;
	unsigned i;

	ok(mcast_next_query(&m) == MCAST_NEVER, "nobody is asked at first");
	ok(mcast_update(&m, &c, 1000), "a join is news");
	ok(!mcast_update(&m, &c, 2000), "a second one is not");
	is_int(mcast_next_query(&m), 1000 + MCAST_QUERY_MS, "a query is due");
	ok(mcast_is_member(&m, &c.group), "a member");
	ok(!mcast_expired(&m, 2000 + MCAST_IDLE_MS - 1, &gone), "not yet over");
	ok(mcast_expired(&m, 2000 + MCAST_IDLE_MS, &gone), "over");
	is_mem(&gone, &c.group, sizeof(gone), "that one");
	ok(!mcast_is_member(&m, &c.group), "no member");
	ok(mcast_next_query(&m) == MCAST_NEVER, "nobody is asked any more");
	c.is_join = false;
	ok(!mcast_update(&m, &c, 0), "leaving what is not known is no news");
	for (i = 0; i < MCAST_GROUPS_MAX; i++) {
		c = change_of((uint8_t)i, true);
		ok(mcast_update(&m, &c, 5), "group %u", i);
	}
	c = change_of(200, true);
	ok(!mcast_update(&m, &c, 5), "the table is full");
	c = change_of(7, false);
	ok(mcast_update(&m, &c, 5), "a leave is news");
	c = change_of(200, true);
	ok(mcast_update(&m, &c, 5), "and makes room");
}

static void queries(void)
{
	struct head_link link = { { { 2, 0, 0, 0, 0, 1 } }, { { 2 } } };
	struct addr four = A("192.0.2.254"), six = A("fe80::9");
	uint8_t buf[MCAST_QUERY_FRAME];
	struct frame f = { .l2 = buf };
	struct pkt p;

	f.len = mcast_query(&link, &four, buf);
	is_int(f.len, 50, "length, IPv4");
	is_int(pkt_parse(&f, &p), PKT_OTHER, "IGMP parses");
	is_int(p.proto, PROTO_IGMP, "IGMP");
	is_int(p.body.len, 12, "a query of version 3");
	is_int(p.body.mark.hops, 1, "TTL 1");
	f.len = mcast_query(&link, &six, buf);
	is_int(f.len, MCAST_QUERY_FRAME, "length, IPv6");
	is_int(pkt_parse(&f, &p), PKT_ICMP, "MLD parses");
	is_int(p.body.len, 28, "a query of version 2");
	is_int(p.body.mark.hops, 1, "hop limit 1");
}

int main(void)
{
	parsing();
	memory();
	queries();
	return done();
}
