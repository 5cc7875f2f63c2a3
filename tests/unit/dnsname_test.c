/* dnsname_test.c - names to labels, alone and sharing tails */

#include "dnsname.h"

#include "check.h"

#define LABEL63 \
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz12345678901"

static const struct {
	const char *name;
	const char *text;
	const char *want;
	uint32_t len;
} rows[] = {
	{ "one label", "a", "\1a", 3 },
	{ "two labels", "example.com", "\7example\3com", 13 },
	{ "a dot at the end", "example.com.", "\7example\3com", 13 },
	{ "63 bytes", LABEL63, "\77" LABEL63, 65 },
	{ "64 bytes", LABEL63 "2", "", 0 },
	{ "empty", "", "", 0 },
	{ "the root", ".", "", 0 },
	{ "an empty label", "a..b", "", 0 },
	{ "a dot in front", ".a", "", 0 },
	{ "two dots at the end", "a..", "", 0 },
	{ "255 bytes", LABEL63 "." LABEL63 "." LABEL63 "." LABEL63, "", 0 },
};

static void alone(void)
{
	uint8_t buf[DNSNAME_MAX + 1];
	uint32_t len, room;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(buf, 0xee, sizeof(buf));
		len = dnsname_put(rows[i].text, buf, DNSNAME_MAX);
		is_int(len, rows[i].len, "%s: bytes", rows[i].name);
		/* The literal's end is the empty label */
		is_mem(buf, rows[i].want, rows[i].len, "%s", rows[i].name);
		is_int(buf[len], 0xee, "%s: nothing behind", rows[i].name);
		for (room = 0; room < rows[i].len; room++)
			if (dnsname_put(rows[i].text, buf + len, room))
				ok(false, "%s: %u bytes", rows[i].name, room);
	}
}

static void longest(void)
{
	uint8_t buf[DNSNAME_MAX];
	char text[300];

	/* 3 * 64 + 62 + 1 bytes */
	snprintf(text, sizeof(text), "%s.%s.%s.%.61s", LABEL63, LABEL63,
		 LABEL63, LABEL63);
	is_int(dnsname_put(text, buf, sizeof(buf)), 255, "255 bytes");
	is_int(buf[254], 0, "the last is the root");
	snprintf(text, sizeof(text), "%s.%s.%s.%.62s", LABEL63, LABEL63,
		 LABEL63, LABEL63);
	is_int(dnsname_put(text, buf, sizeof(buf)), 0, "256 bytes");
}

static void packed(void)
{
	/* RFC 3397 3, and more of the kind */
	static const uint8_t want[] =
		"\3eng\5apple\3com\0\11marketing\300\4\300\4\3com\300\17\300\12";
	uint8_t buf[64];
	uint32_t used = 0;

	used += dnsname_pack("eng.apple.com", buf, used, sizeof(buf));
	is_int(used, 15, "the first is whole");
	used += dnsname_pack("marketing.apple.com.", buf, used, sizeof(buf));
	is_int(used, 27, "the second ends in a pointer");
	used += dnsname_pack("apple.com", buf, used, sizeof(buf));
	is_int(used, 29, "the third is one");
	used += dnsname_pack("com.marketing.apple.com", buf, used, sizeof(buf));
	is_int(used, 35, "tail that itself ends in a pointer");
	used += dnsname_pack("com", buf, used, sizeof(buf));
	is_int(used, sizeof(want) - 1, "all");
	is_mem(buf, want, used, "bytes");
	is_int(dnsname_pack("a..b", buf, used, sizeof(buf)), 0, "no name");
	is_int(dnsname_pack("x.org", buf, used, used + 6), 0, "no room");
	is_int(dnsname_pack("x.org", buf, used, used + 7), 7, "just room");
	is_int(dnsname_pack("y.com", buf, used, used + 3), 0, "no room for 4");
	is_int(dnsname_pack("y.com", buf, used, used + 4), 4, "room for 4");
}

int main(void)
{
	alone();
	longest();
	packed();
	return done();
}
