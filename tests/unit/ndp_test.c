/* ndp_test.c - which solicitations are answered, and how */

#include "ndp.h"

#include "check.h"
#include "frames.h"

static const struct head_link link = { { { 2, 0, 0, 0, 0, 0xb } },
				       { { 2, 0, 0, 0, 0, 0xee } } };
static const struct addr ours = { { 0xfe, 0x80, [15] = 0xbb } };
static struct shot s;
static struct pkt p;
static uint8_t reply[VNET_LEN + NDP_NA_FRAME];

static uint32_t answer(void)
{
	struct frame f = shot_frame(&s);

	if (pkt_parse(&f, &p) != PKT_ICMP)
		return UINT32_MAX;
	memset(reply, 0, sizeof(reply));
	return ndp_reply(&p, &link, &ours, &A.v6.addr, reply + VNET_LEN);
}

static void answered(void)
{
	const uint8_t *l4 = reply + SHOT_L3 + 40;

	neigh_solicit(&s, &A.v6.addr, &B.v6.addr);
	is_int(answer(), NDP_NA_FRAME, "a solicitation");
	ok(is_sound(reply, sizeof(reply)), "the answer is sound");
	is_mem(reply + VNET_LEN, &A.mac, 6, "to who asked");
	is_mem(reply + VNET_LEN + 6, &link.ours, 6, "from us");
	is_int(reply[SHOT_L3 + 7], 255, "hop limit");
	is_mem(reply + SHOT_L3 + 8, &ours, 16, "source");
	is_mem(reply + SHOT_L3 + 24, &A.v6.addr, 16, "destination");
	is_int(l4[0], 136, "advertisement");
	is_int(l4[1], 0, "code");
	is_int(be32_get(l4 + 4), 0xe0000000, "flags");
	is_mem(l4 + 8, &B.v6.addr, 16, "target");
	is_int(be16_get(l4 + 24), 0x0201, "option");
	is_mem(l4 + 26, &link.ours, 6, "our link address");

	s.len -= 8;
	fix_lengths(&s);
	fix_icmp6(&s);
	is_int(answer(), NDP_NA_FRAME, "without option");
}

static void bytes_changed(void)
{
	static const struct {
		const char *name;
		uint8_t at, value;
	} row[] = {
		{ "code 1", 1, 1 },
		{ "an advertisement", 0, 136 },
		{ "router solicitation", 0, 133 },
		{ "echo request", 0, 128 },
		{ "multicast target", 8, 0xff },
		{ "option of length 0", 25, 0 },
		{ "option beyond the end", 25, 2 },
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		neigh_solicit(&s, &A.v6.addr, &B.v6.addr);
		s.raw[s.l4 + row[i].at] = row[i].value;
		fix_icmp6(&s);
		is_int(answer(), 0, "%s", row[i].name);
		is_int(ndp_is_ours(&p), row[i].value != 128, "... is ours");
	}
}

static void not_answered(void)
{
	neigh_solicit(&s, &A.v6.addr, &B.v6.addr);
	s.raw[SHOT_L3 + 7] = 254;
	is_int(answer(), 0, "hop limit 254");
	neigh_solicit(&s, &A.v6.addr, &B.v6.addr);
	s.raw[s.l4 + 2] ^= 1;
	is_int(answer(), 0, "wrong checksum");
	neigh_solicit(&s, &addr_any6, &B.v6.addr);
	is_int(answer(), 0, "duplicate address detection");
	ok(ndp_is_ours(&p), "... is ours");
	neigh_solicit(&s, &C.v6.addr, &A.v6.addr);
	is_int(answer(), 0, "for the guest's own address");
	neigh_solicit(&s, &A.v6.addr, &addr_any6);
	is_int(answer(), 0, "for ::");
	for (uint32_t len = 0; len < 32; len++) {
		if (len == 24)
			continue;
		neigh_solicit(&s, &A.v6.addr, &B.v6.addr);
		s.len = s.l4 + len;
		fix_lengths(&s);
		if (len >= 4)
			fix_icmp6(&s);
		is_int(answer(), 0, "%u bytes", len);
		is_int(ndp_is_ours(&p), len > 0, "... is ours");
	}
	put_ip(&s, &A.v4.addr, &B.v4.addr, PROTO_ICMP, 32);
	s.raw[s.l4] = ICMP6_NS;
	is_int(answer(), 0, "IPv4");
	ok(!ndp_is_ours(&p), "... is not ours");
}

static void router_solicit(const struct addr *from, bool has_source)
{
	struct addr all = { { 0xff, 2, [15] = 2 } };
	uint8_t *l4;

	put_ip(&s, from, &all, PROTO_ICMP6, has_source ? 16 : 8);
	s.raw[SHOT_L3 + 7] = 255;
	l4 = s.raw + s.l4;
	memset(l4, 0, 16);
	l4[0] = 133;
	l4[8] = l4[9] = 1;
	fix_icmp6(&s);
}

static uint8_t advert[VNET_LEN + NDP_RA_FRAME];
static struct announce told;

static uint32_t advertised(void)
{
	struct frame f = shot_frame(&s);

	if (pkt_parse(&f, &p) != PKT_ICMP)
		return UINT32_MAX;
	memset(advert, 0, sizeof(advert));
	return ndp_router_reply(&p, &link, &told, advert + VNET_LEN);
}

static void routers(void)
{
	static const struct addr all = { { 0xff, 2, [15] = 1 } };
	const uint8_t *l4 = advert + SHOT_L3 + 40;

	told = (struct announce){ .mtu = 1400 };
	told.guest[FAMILY_V6] = A.v6.addr;
	told.ours[FAMILY_V6] = ours;
	router_solicit(&A.v6.addr, true);
	is_int(advertised(), 54 + 16 + 32 + 8 + 8, "a router solicitation");
	ok(ndp_is_solicit(&p), "is one");
	ok(is_sound(advert, VNET_LEN + 54 + 16 + 32 + 8 + 8), "sound");
	is_mem(advert + VNET_LEN, &A.mac, 6, "to who asked");
	is_mem(advert + SHOT_L3 + 8, &ours, 16, "source");
	is_mem(advert + SHOT_L3 + 24, &A.v6.addr, 16, "destination");
	is_mem(l4 + 4, "\377\200\377\377\0\0\0\0\0\0\0\0", 12, "fields");
	is_mem(l4 + 16, "\3\4\100\300", 4, "prefix");
	is_mem(l4 + 32, A.v6.addr.b, 8, "that of the guest");
	is_mem(l4 + 40, &addr_any6, 8, "without its host part");
	is_mem(l4 + 50, &link.ours, 6, "our link address");
	is_int(be32_get(l4 + 60), 1400, "MTU");

	told.guest[FAMILY_V6] = addr_any6;
	told.mtu = 0;
	router_solicit(&addr_any6, false);
	is_int(advertised(), 54 + 16 + 8, "nothing to tell but ourselves");
	is_mem(advert + SHOT_L3 + 24, &all, 16, "to all if it has no address");
	router_solicit(&addr_any6, true);
	is_int(advertised(), 0, "who has none must not tell a link address");
	router_solicit(&A.v6.addr, true);
	s.raw[SHOT_L3 + 7] = 254;
	is_int(advertised(), 0, "hop limit 254");
	neigh_solicit(&s, &A.v6.addr, &B.v6.addr);
	is_int(advertised(), 0, "another message");
	ok(!ndp_is_solicit(&p), "is none");
}

static void names(void)
{
	const uint8_t *l4 = advert + SHOT_L3 + 40;

	told.n_dns[FAMILY_V6] = 2;
	told.dns[FAMILY_V6][0] = B.v6.addr;
	told.dns[FAMILY_V6][1] = C.v6.addr;
	told.n_search = 2;
	strcpy(told.search[0], "a.example");
	strcpy(told.search[1], "b");
	is_int(ndp_router_advert(&link, &told, advert + VNET_LEN),
	       54 + 16 + 8 + 40 + 24, "resolvers and search list");
	is_mem(advert + VNET_LEN, &link.guest, 6, "to the guest");
	is_mem(l4 + 24, "\31\5\0\0\377\377\377\377", 8, "RDNSS");
	is_mem(l4 + 32, &B.v6.addr, 16, "first");
	is_mem(l4 + 48, &C.v6.addr, 16, "second");
	is_mem(l4 + 64, "\37\3\0\0\377\377\377\377\1a\7example\0\1b\0\0", 24,
	       "DNSSL");
	for (unsigned i = 0; i < ANNOUNCE_SEARCH_MAX; i++) {
		memset(told.search[i], 'x', 250);
		for (unsigned k = 50; k < 250; k += 50)
			told.search[i][k] = '.';
	}
	told.n_search = ANNOUNCE_SEARCH_MAX;
	is_int(ndp_router_advert(&link, &told, advert + VNET_LEN),
	       54 + 16 + 8 + 40 + 8 + 4 * 252, "as many names as fit");
	is_int(ndp_interval_ms(0), 200000, "shortest interval");
	is_int(ndp_interval_ms(400000), 600000, "longest");
	is_int(ndp_interval_ms(400001), 200000, "and around");
}

int main(void)
{
	answered();
	bytes_changed();
	not_answered();
	routers();
	names();
	return done();
}
