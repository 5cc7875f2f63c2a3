/* dhcp_test.c - which requests are answered, which options come, in what order
 * Byte by byte the wire test looks at answers; here is what decides. */

#include "dhcp.h"

#include "check.h"
#include "frames.h"

#define HEAD 240 /* up to the options */

static struct announce told;
static uint8_t request[1024], reply[DHCP_MAX];
static uint32_t request_len;
static struct end dst;

static void new_request(const void *options, uint32_t len)
{
	memset(request, 0, sizeof(request));
	request[0] = 1;
	request[1] = 1;
	request[2] = 6;
	be32_put(request + 4, 0x12345678);
	be32_put(request + 236, 0x63825363);
	memcpy(request + HEAD, options, len);
	request_len = HEAD + len;
}

static uint32_t answer(void)
{
	struct pkt p = { .proto = PROTO_UDP, .dst = B.v4 };

	p.body.buf = guarded(request, request_len);
	p.body.len = request_len;
	memset(reply, 0xee, sizeof(reply));
	return dhcp_reply(&p, &told, &dst, reply);
}

/* Codes of the answer's options in their order, as text */
static const char *codes(void)
{
	static char text[128];
	const uint8_t *o = reply + HEAD;
	size_t at = 0;

	text[0] = '\0';
	for (; *o != 255; o += 2 + o[1])
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u",
				       at ? " " : "", *o);
	return text;
}

static const uint8_t *option(uint8_t code)
{
	const uint8_t *o = reply + HEAD;

	while (*o != 255 && *o != code)
		o += 2 + o[1];
	return *o == code ? o + 1 : NULL;
}

static void plain(void)
{
	told = (struct announce){ .plen4 = 24, .mtu = 65520 };
	told.guest[FAMILY_V4] = A.v4.addr; /* 192.0.2.1 */
	told.ours[FAMILY_V4] = addr_v4(0xc00002fe);
}

static void types(void)
{
	static const struct {
		const char *name;
		uint8_t type, want;
	} row[] = {
		{ "DISCOVER", 1, 2 }, { "OFFER", 2, 0 },  { "REQUEST", 3, 5 },
		{ "DECLINE", 4, 0 },  { "ACK", 5, 0 },	  { "NAK", 6, 0 },
		{ "RELEASE", 7, 0 },  { "INFORM", 8, 0 }, { "unknown", 200, 0 },
	};
	uint8_t o[] = { 53, 1, 0, 255 };

	plain();
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		o[2] = row[i].type;
		new_request(o, sizeof(o));
		is_int(answer(), row[i].want ? 300 : 0, "%s", row[i].name);
		if (row[i].want)
			is_int(option(53)[1], row[i].want, "... answer");
	}
	new_request("", 0);
	is_int(answer(), 300, "BOOTP");
	is_int(option(53)[1], 5, "... answer");
	ok(addr_eq(&dst.addr, &told.guest[FAMILY_V4]), "to the guest");
	is_int(dst.port, 68, "client's port");
	request[10] = 0x80;
	is_int(answer(), 300, "broadcast flag");
	ok(addr_is_broadcast(&dst.addr), "to everybody");
	told.guest[FAMILY_V4] = addr_any6;
	is_int(answer(), 0, "no address to give");
}

static void malformed(void)
{
	plain();
	for (uint32_t len = 0; len < HEAD; len++) {
		new_request("", 0);
		request_len = len;
		if (answer())
			ok(false, "%u bytes", len);
	}
	new_request("", 0);
	request[0] = 2;
	is_int(answer(), 0, "a reply");
	new_request("", 0);
	request[236] = 0;
	is_int(answer(), 0, "no magic");
}

static void order(void)
{
	static const struct {
		const char *name, *options, *want;
		uint32_t len;
	} row[] = {
		{ "no list", "\65\1\3\377", "1 3 26 51 53 54", 4 },
		{ "list with type", "\67\3\66\65\1\65\1\3\377",
		  "54 53 1 3 26 51", 9 },
		{ "list without type", "\67\3\63\143\1\65\1\3\377",
		  "53 51 1 3 26 54", 9 },
		{ "twice the same", "\67\4\1\1\0\377\65\1\3\377",
		  "53 1 3 26 51 54", 10 },
		{ "empty list", "\67\0\65\1\3\377", "53 1 3 26 51 54", 6 },
		{ "list cut off", "\65\1\3\67\5\1", "1 3 26 51 53 54", 6 },
		{ "behind the end", "\65\1\3\377\67\1\66", "1 3 26 51 53 54",
		  7 },
		{ "rapid commit", "\65\1\1\120\0\377", "1 3 26 51 53 54 80",
		  6 },
	};

	plain();
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		new_request(row[i].options, row[i].len);
		ok(answer(), "%s", row[i].name);
		is_str(codes(), row[i].want, "... order");
	}
	is_int(option(53)[1], 5, "rapid commit: ACK");
	is_int(option(80)[0], 0, "... which is said");
}

static void contents(void)
{
	static const uint8_t routes[] = { 14, 32, 203, 0,   113, 3,   0, 0,
					  0,  0,  0,   203, 0,	 113, 3 };
	uint8_t o[] = { 53, 1, 3, 57, 2, 5, 220, 255 };

	plain();
	told.mtu = 0;
	told.n_dns[FAMILY_V4] = 2;
	told.dns[FAMILY_V4][0] = B.v4.addr;
	told.dns[FAMILY_V4][1] = C.v4.addr;
	told.hostname = "guest";
	told.fqdn = "guest.example";
	told.n_search = 2;
	strcpy(told.search[0], "a.example");
	strcpy(told.search[1], "b.example");
	new_request(o, sizeof(o));
	ok(answer(), "many options");
	is_str(codes(), "1 3 6 12 51 53 54 81 119", "all, but no MTU");
	is_mem(option(1), "\4\377\377\377\0", 5, "netmask");
	is_mem(option(3), "\4\300\0\2\376", 5, "router");
	is_mem(option(6), "\10\306\63\144\2\313\0\161\3", 9, "resolvers");
	is_mem(option(12), "\5guest", 6, "host name");
	is_mem(option(51), "\4\377\377\377\377", 5, "lease");
	is_mem(option(54), "\4\300\0\2\376", 5, "server");
	is_mem(option(81), "\22\4\377\377\5guest\7example", 19, "FQDN");
	is_mem(option(119), "\17\1a\7example\0\1b\300\2", 16, "search list");

	told.ours[FAMILY_V4] = C.v4.addr;
	ok(answer(), "gateway outside the subnet");
	is_mem(option(121), routes, sizeof(routes), "routes to it and by it");
	told.plen4 = 0;
	ok(answer(), "the subnet is everything");
	ok(!option(121), "no routes needed");
	is_mem(option(1), "\4\0\0\0", 5, "netmask 0");
	told.plen4 = 32;
	ok(answer(), "the subnet is one address");
	is_mem(option(1), "\4\377\377\377\377", 5, "netmask of 32 bits");
}

/* What does not fit is a name, never an address */
static void small(void)
{
	uint8_t o[] = { 53, 1, 3, 57, 2, 0, 0, 255 };
	static char name[250];
	uint32_t size, len;

	contents();
	memset(name, 'x', sizeof(name) - 1);
	for (size_t i = 60; i < sizeof(name); i += 61)
		name[i] = '.';
	told.fqdn = name;
	for (size = 0; size <= 1500; size += 50) {
		be16_put(o + 5, (uint16_t)size);
		new_request(o, sizeof(o));
		len = answer();
		if (!len || len + 28 > (size < 576 ? 576 : size) ||
		    !option(121) || !option(6) || !option(54))
			ok(false, "%u bytes allowed: %u", size, len + 28);
	}
	is_str(codes(), "1 3 6 12 51 53 54 81 119 121", "enough for all");
	be16_put(o + 5, 576);
	new_request(o, sizeof(o));
	ok(answer(), "576 bytes allowed");
	is_str(codes(), "1 3 6 12 51 53 54 119 121", "no room for the FQDN");
}

int main(void)
{
	types();
	malformed();
	order();
	contents();
	small();
	return done();
}
