/* word_test.c - notations: what each word means, and what is refused */

#include "check.h"
#include "word.h"

static void test_number(void)
{
	static const struct {
		const char *word;
		int base;
		unsigned long max;
		long want; /* -1: refused */
	} row[] = {
		{ "0", 10, 9, 0 },
		{ "9", 10, 9, 9 },
		{ "10", 10, 9, -1 },
		{ "010", 10, 99, 10 },
		{ "010", 0, 99, 8 },
		{ "0x10", 0, 99, 16 },
		{ "0x10", 10, 99, -1 },
		{ "", 10, 9, -1 },
		{ "x", 10, 9, -1 },
		{ "1x", 10, 9, -1 },
		{ " 1", 10, 9, -1 },
		{ "+1", 10, 9, -1 },
		{ "-1", 10, 9, -1 },
		{ "1 ", 10, 9, -1 },
		{ "08", 0, 99, -1 },
		{ "0x", 0, 99, -1 },
		{ "99999999999999999999", 10, ~0UL, -1 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		unsigned long n = 12345;
		bool is = word_number(row[i].word, row[i].base, row[i].max, &n);

		is_int(is ? (long)n : -1, row[i].want, "'%s' base %d",
		       row[i].word, row[i].base);
		ok(is || n == 12345, "untouched on failure");
	}
}

static void test_choice(void)
{
	is_int(word_choice("a", "a|bc|d"), 0, "first");
	is_int(word_choice("bc", "a|bc|d"), 1, "second");
	is_int(word_choice("d", "a|bc|d"), 2, "last");
	is_int(word_choice("b", "a|bc|d"), -1, "a part");
	is_int(word_choice("bcd", "a|bc|d"), -1, "too long");
	is_int(word_choice("a|bc", "a|bc|d"), -1, "two");
	is_int(word_choice("", "a|bc|d"), -1, "empty");
}

static void test_addr(void)
{
	static const struct {
		const char *word;
		unsigned refuse;
		const char *want; /* part of what is wrong, or NULL */
	} row[] = {
		{ "192.0.2.1", 0xff, NULL },
		{ "2001:db8::1", 0xff, NULL },
		{ "fe80::1", 0xff, NULL },
		{ "x", 0, "not an IPv4" },
		{ "", 0, "not an IPv4" },
		{ "::ffff:192.0.2.1", 0, "not an IPv4" },
		{ "0.0.0.0", NO_ANY, "unspecified" },
		{ "::", NO_ANY, "unspecified" },
		{ "::", 0xff & ~NO_ANY, NULL },
		{ "127.9.9.9", NO_LOOPBACK, "loopback" },
		{ "::1", NO_LOOPBACK, "loopback" },
		{ "127.0.0.1", NO_LOOPBACK6, NULL },
		{ "::1", NO_LOOPBACK6, "loopback" },
		{ "::1", NO_COMPAT, NULL },
		{ "224.0.0.1", NO_MULTICAST, "multicast" },
		{ "ff02::1", NO_MULTICAST, "multicast" },
		{ "255.255.255.255", NO_BROADCAST, "broadcast" },
		{ "::192.0.2.1", NO_COMPAT, "compatible" },
		{ "::192.0.2.1", 0, NULL },
		{ "192.0.2.1", NO_COMPAT, NULL },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct addr a;
		const char *wrong = word_addr(row[i].word, row[i].refuse, &a);

		ok(row[i].want ? wrong && strstr(wrong, row[i].want) : !wrong,
		   "'%s' without %#x: %s", row[i].word, row[i].refuse,
		   wrong ? wrong : "good");
	}
}

static void test_addr_plen(void)
{
	static const struct {
		const char *word;
		const char *addr; /* NULL: refused */
		int plen;
	} row[] = {
		{ "192.0.2.1", "192.0.2.1", -1 },
		{ "192.0.2.1/0", "192.0.2.1", 0 },
		{ "192.0.2.1/32", "192.0.2.1", 32 },
		{ "2001:db8::1/128", "2001:db8::1", 128 },
		{ "192.0.2.1/33", NULL, 0 },
		{ "2001:db8::1/129", NULL, 0 },
		{ "192.0.2.1/", NULL, 0 },
		{ "192.0.2.1/x", NULL, 0 },
		{ "192.0.2.1/24/24", NULL, 0 },
		{ "/24", NULL, 0 },
		{ "0000000000000000000000000000000000000000000000192.0.2.1",
		  NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char text[ADDR_STRLEN];
		struct addr a = addr_any6;
		int plen = 99;
		const char *wrong = word_addr_plen(row[i].word, 0, &a, &plen);

		ok(!wrong == !!row[i].addr, "'%s': %s", row[i].word,
		   wrong ? wrong : "good");
		if (wrong)
			continue;
		is_str(addr_format(&a, text), row[i].addr, "its address");
		is_int(plen, row[i].plen, "its length");
	}
}

static void test_netmask(void)
{
	static const struct {
		const char *word;
		int want; /* -1: refused */
	} row[] = {
		{ "0", 0 },
		{ "24", 24 },
		{ "32", 32 },
		{ "0x18", 24 },
		{ "33", -1 },
		{ "255.255.255.0", 24 },
		{ "255.255.255.255", 32 },
		{ "0.0.0.0", 0 },
		{ "128.0.0.0", 1 },
		{ "255.255.254.0", 23 },
		{ "255.0.255.0", -1 },
		{ "0.0.0.1", -1 },
		{ "127.255.255.255", -1 },
		{ "ffff::", -1 },
		{ "", -1 },
		{ "24x", -1 },
		{ "255.255.255", -1 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int plen = 99;
		const char *wrong = word_netmask(row[i].word, &plen);

		is_int(wrong ? -1 : plen, row[i].want, "'%s': %s", row[i].word,
		       wrong ? wrong : "good");
	}
}

static void test_names(void)
{
	static const char *const good[] = { "a", "eth0", "abcdefghijklmno",
					    "br-1.2", "..." };
	static const char *const bad[] = { "",	   "abcdefghijklmnop",
					   "a/b",  "a b",
					   "a:1",  ".",
					   "..",   "a\tb",
					   "tap%d" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(!word_ifname(good[i]), "interface '%s'", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(word_ifname(bad[i]), "not '%s'", bad[i]);
}

static void test_mac(void)
{
	static const struct mac want = { { 0x02, 0, 0xab, 0xCD, 9, 0xff } };
	static const char *const bad[] = {
		"",
		"02:00:ab:CD:09",
		"02:00:ab:CD:09:ff:",
		"02-00-ab-cd-09-ff",
		"2:0:ab:cd:9:ff",
		"02:00:ab:cd:09:fg",
		"03:00:ab:cd:09:ff",
		"02:00:ab:cd:09:f",
		"0x:00:ab:cd:09:ff",
		"02:00:ab:cd:09:ff0",
	};
	struct mac mac;

	ok(!word_mac("02:00:ab:CD:09:ff", &mac), "good");
	is_mem(&mac, &want, sizeof(mac), "its bytes");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(word_mac(bad[i], &mac), "not '%s'", bad[i]);
	is_mem(&mac, &want, sizeof(mac), "untouched on failure");
}

static void test_identity(void)
{
	static const struct {
		const char *word;
		long uid; /* -1: refused */
		long gid;
	} row[] = {
		{ "1000", 1000, 1000 },	 { "1000:100", 1000, 100 },
		{ "0x10:020", 16, 16 },	 { "0", 0, 0 },
		{ "0:5", 0, 5 },	 { "4294967294", 4294967294L, -1 },
		{ "4294967295", -1, 0 }, { "1000:", -1, 0 },
		{ "1000:root", -1, 0 },	 { "", -1, 0 },
		{ ":1", -1, 0 },	 { "root", -1, 0 },
		{ "root:root", -1, 0 },	 { "no-such-user-here", -1, 0 },
		{ "-1", -1, 0 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uid_t uid = 77;
		gid_t gid = 77;
		const char *wrong = word_identity(row[i].word, &uid, &gid);

		is_int(wrong ? -1 : (long)uid, row[i].uid, "'%s': %s",
		       row[i].word, wrong ? wrong : "good");
		if (!wrong && row[i].gid >= 0)
			is_int(gid, row[i].gid, "its group");
		ok(!wrong || (uid == 77 && gid == 77), "untouched on failure");
	}
}

/* Only where the usual system users exist */
static void test_login(void)
{
	uid_t uid = 0;
	gid_t gid = 0;

	if (word_identity("daemon", &uid, &gid))
		return;
	ok(uid && gid, "a login brings its group");
	ok(!word_identity("daemon:4711", &uid, &gid), "group by number");
	is_int(gid, 4711, "that group");
	ok(!word_identity("daemon:root", &uid, &gid), "group by name");
	is_int(gid, 0, "that group");
	ok(word_identity("daemon:no-such-group-here", &uid, &gid), "no group");
}

static void test_domain(void)
{
	static const char label[] = "abcdefghijklmnopqrstuvwxyz0123456789"
				    "abcdefghijklmnopqrstuvwxyz0";
	static const struct {
		const char *word, *wrong;
	} row[] = {
		{ "a", NULL },
		{ "example.org", NULL },
		{ "example.org.", NULL },
		{ "_tcp.Example-1.org", NULL },
		{ "", "1 to 253" },
		{ ".", "1 to 63" },
		{ ".a", "1 to 63" },
		{ "a..b", "1 to 63" },
		{ "a..", "1 to 63" },
		{ "a b", "blanks" },
		{ "a\nb", "blanks" },
	};
	char word[300];

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *wrong = word_domain(row[i].word);

		ok(row[i].wrong ? wrong && strstr(wrong, row[i].wrong) : !wrong,
		   "name '%s'", row[i].word);
	}
	ok(!word_domain(label), "63 characters");
	snprintf(word, sizeof(word), "%s1", label);
	ok(word_domain(word), "64 characters");
	snprintf(word, sizeof(word), "%s.%s.%s.%.61s", label, label, label,
		 label);
	ok(strlen(word) == 253 && !word_domain(word), "253 characters");
	snprintf(word, sizeof(word), "%s.%s.%s.%.62s", label, label, label,
		 label);
	ok(word_domain(word), "254 characters");
}

int main(void)
{
	test_number();
	test_choice();
	test_addr();
	test_addr_plen();
	test_netmask();
	test_names();
	test_domain();
	test_mac();
	test_identity();
	test_login();
	return done();
}
