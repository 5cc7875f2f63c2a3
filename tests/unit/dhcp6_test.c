/* dhcp6_test.c - which messages may be answered: RFC 8415 16 as a table, and
 * what an answer holds. Byte by byte the wire test looks at them. */

#include "dhcp6.h"

#include "check.h"
#include "frames.h"

/* Parts of a message */
enum {
	CLIENT = 0x01, /* client-id */
	OURS = 0x02, /* server-id, ours */
	OTHER = 0x04, /* another one's */
	IA = 0x08, /* IA_NA with our address */
	FOREIGN = 0x10, /* IA_NA with a foreign one */
	TEMPORARY = 0x20, /* IA_TA with a foreign one */
};

static const uint8_t part_bytes[][64] = {
	{ 0, 1, 0, 3, 'a', 'b', 'c' },
	{ 0, 2, 0, 14, 0, 1, 0, 1, 0, 0, 0, 9, 2, 0, 0, 0, 0, 0xb },
	{ 0, 2, 0, 14, 0, 1, 0, 1, 0, 0, 0, 8, 2, 0, 0, 0, 0, 0xb },
	{ 0, 3, 0, 40, 1, 2, 3,	 4,    0, 0,   0,    0,		0,
	  0, 0, 0, 0,  5, 0, 24, 0x20, 1, 0xd, 0xb8, [35] = 0xa },
	{ 0, 3, 0, 40, 5, 6, 7,	 8,    0, 0,   0,    0,		 0,
	  0, 0, 0, 0,  5, 0, 24, 0x20, 1, 0xd, 0xb8, [35] = 0x99 },
	{ 0, 4, 0, 32, 5, 6, 7, 8, 0, 5, 0, 24, 0x20, 1, 0xd,
	  0xb8, [27] = 0x99 },
};

static const struct {
	const char *name;
	uint8_t type;
	uint8_t parts;
	uint8_t want; /* type of the answer */
	const char *codes; /* its options */
} rows[] = {
	{ "SOLICIT", 1, CLIENT | IA, 2, "2 3 1" },
	{ "SOLICIT without association", 1, CLIENT, 2, "2 3 1" },
	{ "SOLICIT of a foreign address", 1, CLIENT | FOREIGN, 2, "2 3 1" },
	{ "SOLICIT to us", 1, CLIENT | OURS | IA, 0, "" },
	{ "SOLICIT of nobody", 1, IA, 0, "" },
	{ "ADVERTISE", 2, CLIENT | OURS | IA, 0, "" },
	{ "REQUEST", 3, CLIENT | OURS | IA, 7, "2 3 1" },
	{ "REQUEST to nobody", 3, CLIENT | IA, 0, "" },
	{ "REQUEST to another", 3, CLIENT | OTHER | IA, 0, "" },
	{ "REQUEST of nobody", 3, OURS | IA, 0, "" },
	{ "REQUEST, foreign", 3, CLIENT | OURS | FOREIGN, 7, "2 3 1" },
	{ "REQUEST, foreign too", 3, CLIENT | OURS | IA | TEMPORARY, 7,
	  "2 4 1" },
	{ "CONFIRM", 4, CLIENT | IA, 7, "2 3 1" },
	{ "CONFIRM to us", 4, CLIENT | OURS | IA, 0, "" },
	{ "CONFIRM, foreign", 4, CLIENT | TEMPORARY, 7, "2 4 1" },
	{ "RENEW", 5, CLIENT | OURS | IA, 7, "2 3 1" },
	{ "RENEW to nobody", 5, CLIENT | IA, 0, "" },
	{ "REBIND", 6, CLIENT | IA, 7, "2 3 1" },
	{ "REBIND to us", 6, CLIENT | OURS | IA, 7, "2 3 1" },
	{ "REBIND to another", 6, CLIENT | OTHER | IA, 0, "" },
	{ "REPLY", 7, CLIENT | OURS | IA, 0, "" },
	{ "RELEASE", 8, CLIENT | OURS | IA, 0, "" },
	{ "DECLINE", 9, CLIENT | OURS | IA, 0, "" },
	{ "RECONFIGURE", 10, CLIENT | OURS, 0, "" },
	{ "INFORMATION-REQUEST", 11, CLIENT, 7, "2 1" },
	{ "INFORMATION-REQUEST to us", 11, CLIENT | OURS, 7, "2 1" },
	{ "INFORMATION-REQUEST to another", 11, CLIENT | OTHER, 0, "" },
	{ "INFORMATION-REQUEST for an address", 11, CLIENT | IA, 0, "" },
	{ "relayed", 12, CLIENT, 0, "" },
};

static struct announce told;
static uint8_t msg[512], reply[DHCP6_MAX];
static uint32_t msg_len;

static void new_msg(uint8_t type, uint8_t parts)
{
	uint32_t len;

	memset(msg, 0, sizeof(msg));
	be32_put(msg, (uint32_t)type << 24 | 0xfabcde);
	msg_len = 4;
	for (unsigned i = 0; i < 6; i++) {
		if (!(parts & 1 << i))
			continue;
		len = 4u + be16_get(part_bytes[i] + 2);
		memcpy(msg + msg_len, part_bytes[i], len);
		msg_len += len;
	}
}

static uint32_t answer(void)
{
	struct pkt p = { .proto = PROTO_UDP, .src = A.v6, .dst = B.v6 };

	p.body.buf = guarded(msg, msg_len);
	p.body.len = msg_len;
	memset(reply, 0xee, sizeof(reply));
	is_int(dhcp6_label(&p), 0xabcde, "flow label");
	return dhcp6_reply(&p, &told, reply);
}

static const char *codes(uint32_t len)
{
	static char text[128];
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t at = 4; at < len; at += 4u + be16_get(reply + at + 2))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u",
				      n ? " " : "", be16_get(reply + at));
	return text;
}

static void plain(void)
{
	told = (struct announce){ .mac = B.mac, .duid_s = 9 };
	told.guest[FAMILY_V6] = A.v6.addr;
	told.ours[FAMILY_V6] = B.v6.addr;
}

static void table(void)
{
	uint32_t len;

	plain();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		new_msg(rows[i].type, rows[i].parts);
		len = answer();
		is_int(len > 0, rows[i].want > 0, "%s", rows[i].name);
		is_int(len ? reply[0] : 0, rows[i].want, "... type");
		is_str(codes(len), rows[i].codes, "... options");
	}
	told.guest[FAMILY_V6] = addr_any6;
	new_msg(1, CLIENT | IA);
	is_int(answer(), 0, "no address to give");
}

static void malformed(void)
{
	uint32_t whole;

	plain();
	new_msg(3, CLIENT | OURS | IA);
	whole = msg_len;
	for (msg_len = 4; msg_len < whole; msg_len++)
		if (msg_len != 11 && msg_len != 29)
			is_int(answer(), 0, "%u bytes", msg_len);
	new_msg(1, CLIENT);
	memcpy(msg + msg_len, "\0\3\0\13xxxxxxxxxxx", 15);
	msg_len += 15;
	is_int(answer(), 0, "association of 11 bytes");
	new_msg(3, CLIENT | OURS);
	memcpy(msg + msg_len, "\0\4\0\3xxx", 7);
	msg_len += 7;
	is_int(answer(), 0, "temporary one of 3 bytes");
}

static void names(void)
{
	uint32_t len;

	plain();
	told.n_dns[FAMILY_V6] = 1;
	told.dns[FAMILY_V6][0] = C.v6.addr;
	told.fqdn = "guest.example";
	told.n_search = ANNOUNCE_SEARCH_MAX;
	for (unsigned i = 0; i < ANNOUNCE_SEARCH_MAX; i++) {
		memset(told.search[i], 'x', 250);
		for (unsigned k = 50; k < 250; k += 50)
			told.search[i][k] = '.';
	}
	strcpy(told.search[ANNOUNCE_SEARCH_MAX - 1], "b");
	new_msg(1, CLIENT | IA);
	len = answer();
	ok(len && len <= DHCP6_MAX, "%u bytes", len);
	is_str(codes(len), "2 3 1 23 24 39", "resolvers and names");
	told.n_search = ANNOUNCE_SEARCH_MAX - 1;
	told.fqdn = told.search[0];
	len = answer();
	is_str(codes(len), "2 3 1 23 24", "no room for the name");
}

int main(void)
{
	table();
	malformed();
	names();
	return done();
}
