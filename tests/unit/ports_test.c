/* ports_test.c - what each form of a SPEC means, and what is refused
 *
 * A case is one or more SPECs, separated by blanks, and either the rules that
 * they make or a part of the message. Rules are written as
 * BIND%IF/FIRST-LAST:TARGET, "w" behind weak ones, "a" behind followed ones. */

#include "check.h"
#include "ports.h"

#include <unistd.h>

static const struct ports_env in_env = { 32768, 60999, false, { true, true } };
static const struct ports_env in4_env = { 32768, 60999, false, { true, false } };
static const struct ports_env out_env = { 32768, 60999, true, { true, true } };

struct good {
	const char *specs;
	const char *want;
};

static const struct good good[] = {
	{ "none", "none" },
	{ "none none", "none" },
	{ "5000", "/5000-5000:5000" },
	{ "1", "/1-1:1" },
	{ "65535", "/65535-65535:65535" },
	{ "0080", "/80-80:80" },
	{ "5000-5002", "/5000-5002:5000" },
	{ "1-65535", "/1-65535:1" },
	{ "5000:6000", "/5000-5000:6000" },
	{ "5000-5002:6000-6002", "/5000-5002:6000" },
	{ "60000-60002:1-3", "/60000-60002:1" },
	{ "5000-5000:6000-6000", "/5000-5000:6000" },
	{ "22,80:8080,443-444", "/22-22:22 /80-80:8080 /443-444:443" },
	{ "22 23 24:25", "/22-22:22 /23-23:23 /24-24:25" },
	/* Where to bind */
	{ "127.0.0.1/53", "127.0.0.1/53-53:53" },
	{ "[127.0.0.1]/53", "127.0.0.1/53-53:53" },
	{ "0.0.0.0/53", "0.0.0.0/53-53:53" },
	{ "::/53", "::/53-53:53" },
	{ "::1/5000-5000:5001-5001", "::1/5000-5000:5001" },
	{ "[::1]/53", "::1/53-53:53" },
	{ "%eth0/53", "%eth0/53-53:53" },
	{ "192.0.2.1%eth0/53", "192.0.2.1%eth0/53-53:53" },
	{ "[192.0.2.1]%eth0/53", "192.0.2.1%eth0/53-53:53" },
	{ "fe80::1%eth0/53", "fe80::1%eth0/53-53:53" },
	{ "[fe80::1]%eth0/53", "fe80::1%eth0/53-53:53" },
	{ "[fe80::1%eth0]/53", "fe80::1%eth0/53-53:53" },
	{ "::1%lo/5000:5000", "::1%lo/5000-5000:5000" },
	{ "%abcdefghijklmno/1", "%abcdefghijklmno/1-1:1" },
	{ "127.0.0.1/1,2,~2", "127.0.0.1/1-1:1" },
	/* Exclusions count wherever they stand */
	{ "10-20,~15", "/10-14:10 /16-20:16" },
	{ "~15,10-20", "/10-14:10 /16-20:16" },
	{ "10-20:110-120,~10,~13-14,~20", "/11-12:111 /15-19:115" },
	{ "10-20,~12-15,~14-18", "/10-11:10 /19-20:19" },
	{ "10-20,~30", "/10-20:10" },
	{ "10,20,~10", "/20-20:20" },
	/* Weak rules */
	{ "all", "/1-32767:1w /61000-65535:61000w" },
	{ "::1/all", "::1/1-32767:1w ::1/61000-65535:61000w" },
	{ "~22", "/1-21:1w /23-32767:23w /61000-65535:61000w" },
	{ "~22,~20-21,~61000-65535", "/1-19:1w /23-32767:23w" },
	{ "all,~1-32767", "/61000-65535:61000w" },
	{ "%lo/~1-32767", "%lo/61000-65535:61000w" },
	{ "~1-32767,~61000-65534", "/65535-65535:65535w" },
	{ "1-65535,~40000", "/1-39999:1 /40001-65535:40001" },
	/* What was named counts, not "all" */
	{ "80:8080 ~1-78,~82-65535", "/80-80:8080 /79-79:79w /81-81:81w" },
	{ "~1-78,~82-65535 80:8080", "/79-79:79w /81-81:81w /80-80:8080" },
	{ "all,~1-78,~82-65535,80:8080", "/79-79:79w /81-81:81w /80-80:8080" },
	{ "80:8080,all,~1-78,~82-65535", "/79-79:79w /81-81:81w /80-80:8080" },
	/* A port given again: the last one counts, within one BIND */
	{ "80:1 80:2", "/80-80:2 again 80" },
	{ "80-90 85:1", "/80-84:80 /86-90:86 /85-85:1 again 85" },
	{ "80-90:180-190 70-84", "/85-90:185 /70-84:70 again 80" },
	{ "80-90:180-190 86-99", "/80-85:180 /86-99:86 again 86" },
	{ "80,81,82 70-90", "/70-90:70 again 80" },
	{ "80,80", "/80-80:80 again 80" },
	{ "80 127.0.0.1/80 ::1/80 %lo/80",
	  "/80-80:80 127.0.0.1/80-80:80 ::1/80-80:80 %lo/80-80:80" },
	{ "0.0.0.0/80 ::/80", "0.0.0.0/80-80:80 ::/80-80:80" },
	/* Followed ports */
	{ "auto", "/1-65535:1a" },
	{ "auto auto", "/1-65535:1a" },
	{ "80-82,auto", "/80-82:80a" },
	{ "auto,80", "/80-80:80a" },
	{ "80-82:90-92,auto,~81", "/80-80:90a /82-82:92a" },
	{ "80,auto 90", "/90-90:90 /80-80:80a" },
	{ "auto 80:8080,auto", "/1-79:1a /81-65535:81a /80-80:8080a" },
	{ "80:8080,auto auto", "/80-80:8080a /1-79:1a /81-65535:81a" },
	{ "80:8080,auto all,auto,~100-65535",
	  "/80-80:8080a /1-79:1a /81-99:81a" },
	{ "auto ::1/80:8080,auto", "/1-65535:1a ::1/80-80:8080a" },
	{ "all,auto", "/1-32767:1a /61000-65535:61000a" },
	{ "auto 80", "/80-80:80 /1-65535:1a" },
	{ "80 auto", "/80-80:80 /1-65535:1a" },
	{ "auto,~80", "/1-79:1a /81-65535:81a" },
	{ "::1/auto", "::1/1-65535:1a" },
};

struct bad {
	const char *specs;
	const char *want; /* part of the message */
};

static const struct bad bad[] = {
	{ "@", "it is empty" },
	{ "5000,", "missing" },
	{ ",5000", "missing" },
	{ "5000,,6000", "missing" },
	{ "127.0.0.1/", "missing" },
	{ "0", "'0' is not a port" },
	{ "0-5", "'0' is not a port" },
	{ "5:0", "'0' is not a port" },
	{ "~0", "'0' is not a port" },
	{ "65536", "'65536' is not a port" },
	{ "99999999999999999999", "is not a port" },
	{ "4294967376", "is not a port" },
	{ "5:65536", "'65536' is not a port" },
	{ "80x", "'80x' is not a port" },
	{ "x", "'x' is not a port" },
	{ "+80", "'+80' is not a port" },
	{ "-80", "'' is not a port" },
	{ "80-", "'' is not a port" },
	{ "80-90-100", "'90-100' is not a port" },
	{ "80:90:100", "'90:100' is not a port" },
	{ "0x50", "'0x50' is not a port" },
	{ "80:", "'' is not a port" },
	{ "~", "'' is not a port" },
	{ "~~80", "'~80' is not a port" },
	{ "80:~80", "'~80' is not a port" },
	{ "~80:90", "'80:90' is not a port" },
	{ "90-80", "'90-80' ends before it starts" },
	{ "~90-80", "'90-80' ends before it starts" },
	{ "5:90-80", "'90-80' ends before it starts" },
	{ "80-90:80-91", "differ in length" },
	{ "80-90:80", "differ in length" },
	{ "80,none", "'none' must stand alone" },
	{ "127.0.0.1/none", "'none' must stand alone" },
	{ "autos", "'autos' is not a port" },
	{ "AUTO", "'AUTO' is not a port" },
	{ "auto:5", "'auto' is not a port" },
	{ "80,~80", "no port is left" },
	{ "~1-65535", "no port is left" },
	{ "auto,~1-65535", "no port is left" },
	{ "80,auto,~80", "no port is left" },
	{ "80 none", "'none' after other ports" },
	{ "auto none", "'none' after other ports" },
	{ "none 80", "ports after 'none'" },
	{ "none auto", "ports after 'none'" },
	{ "none all", "ports after 'none'" },
	{ "/80", "'' is not an IPv4 or IPv6 address" },
	{ "[]/80", "'' is not an IPv4 or IPv6 address" },
	{ "[::1/80", "'[::1' is not" },
	{ "::1]/80", "'::1]' is not" },
	{ "1.2.3/80", "'1.2.3' is not" },
	{ "localhost/80", "'localhost' is not" },
	{ "::ffff:1.2.3.4/80", "is not an IPv4 or IPv6" },
	{ "0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0/80", "is not" },
	{ "1.2.3.4%/80", "interface name ''" },
	{ "%/80", "interface name ''" },
	{ "%abcdefghijklmnop/80", "interface name 'abcdefghijklmnop'" },
	{ "1.2.3.4/5/6", "'5/6' is not a port" },
};

static struct ports ports;

/* Feed the SPECs of a case; "@" stands for an empty one */
static int feed(const char *specs, const struct ports_env *env, char *ret_err)
{
	char copy[512];
	char again[PORTS_ERR_MAX] = "";
	char *save = NULL;
	int rc = 0;

	memset(&ports, 0, sizeof(ports));
	snprintf(copy, sizeof(copy), "%s", specs);
	for (char *s = strtok_r(copy, " ", &save); s && !rc;
	     s = strtok_r(NULL, " ", &save)) {
		rc = ports_parse(&ports, *s == '@' ? "" : s, env, ret_err);
		if (*ret_err)
			memcpy(again, ret_err, sizeof(again));
	}
	memcpy(ret_err, again, sizeof(again));
	return rc;
}

static size_t dump_rules(char *text, size_t size, const struct ports_rule *r,
			 unsigned n, bool is_auto)
{
	char host[ADDR_STRLEN];
	size_t at = strlen(text);

	for (; n--; r++)
		at += (size_t)snprintf(
			text + at, size - at, "%s%s%s%s/%u-%u:%u%s",
			at ? " " : "",
			r->has_bind ? addr_format(&r->bind, host) : "",
			r->ifname[0] ? "%" : "", r->ifname, r->first, r->last,
			r->target,
			is_auto	   ? "a" :
			r->is_weak ? "w" :
				     "");
	return at;
}

static void dump(char *text, size_t size, const char *warning)
{
	const char *again = strstr(warning, "port ");
	unsigned port;
	size_t at;

	snprintf(text, size, "%s", ports.is_none ? "none" : "");
	dump_rules(text, size, ports.rule, ports.n, false);
	at = dump_rules(text, size, ports.auto_rule, ports.n_auto, true);
	if (again && sscanf(again, "port %u is mapped again", &port) == 1)
		snprintf(text + at, size - at, " again %u", port);
}

static void test_good(void)
{
	char text[512];
	char msg[PORTS_ERR_MAX];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		is_int(feed(good[i].specs, &in_env, msg), 0, "%s",
		       good[i].specs);
		dump(text, sizeof(text), msg);
		is_str(text, good[i].want, "%s", good[i].specs);
		is_int(ports.is_auto, ports.n_auto > 0, "is_auto");
	}
}

static void test_bad(void)
{
	char msg[PORTS_ERR_MAX];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is_int(feed(bad[i].specs, &in_env, msg), -22, "refuse %s",
		       bad[i].specs);
		if (!ok(strstr(msg, bad[i].want), "message for %s",
			bad[i].specs))
			printf("# got \"%s\", want \"%s\"\n", msg, bad[i].want);
	}
}

static void test_env(void)
{
	char msg[PORTS_ERR_MAX];

	is_int(feed("80-81:90-91,auto", &out_env, msg), 0, "out: a list");
	is_int(feed("127.0.0.1/80", &out_env, msg), -22, "out: no address");
	ok(strstr(msg, "'127.0.0.1/'"), "message: %s", msg);
	is_int(feed("%lo/80", &out_env, msg), -22, "out: no interface");
	is_int(feed("127.0.0.1/80", &in4_env, msg), 0, "IPv4 only: IPv4");
	is_int(feed("::1/80", &in4_env, msg), -22, "IPv4 only: IPv6");
	ok(strstr(msg, "disabled family"), "message: %s", msg);
}

static void test_unchanged(void)
{
	static struct ports before;
	static char spec[40000] = "1";
	char msg[PORTS_ERR_MAX];
	size_t at = 1;

	feed("10-20,auto", &in_env, msg);
	memcpy(&before, &ports, sizeof(ports));
	is_int(ports_parse(&ports, "15:16,17,x", &in_env, msg), -22, "bad");
	ok(!memcmp(&before, &ports, sizeof(ports)),
	   "a mistake changes nothing");

	for (unsigned port = 3; port < 2 * 2060; port += 2)
		at += (size_t)snprintf(spec + at, sizeof(spec) - at, ",%u",
				       port);
	is_int(ports_parse(&ports, spec, &in_env, msg), -22, "too many");
	ok(strstr(msg, "more than"), "message: %s", msg);
	ok(!memcmp(&before, &ports, sizeof(ports)), "it changes nothing");
	/* The longest quotation fits the message */
	memset(spec, 'x', sizeof(spec) - 1);
	is_int(ports_parse(&ports, spec, &in_env, msg), -22, "long word");
	ok(strstr(msg, "is not a port"), "its message is whole");
	spec[1000] = '/';
	is_int(ports_parse(&ports, spec, &in_env, msg), -22, "long BIND");
	ok(strstr(msg, "is not an IPv4 or IPv6 address"), "whole, too");
	spec[0] = '%';
	is_int(ports_parse(&ports, spec, &in_env, msg), -22, "long name");
	ok(strstr(msg, "1 to 15 characters"), "whole, too");
}

static void test_system(void)
{
	static struct port_set set;
	uint16_t first = 0, last = 0;
	bool is_read = ports_ephemeral(&first, &last);

	ok(first && first <= last, "ephemeral: %u-%u", first, last);
	is_int(is_read, !access("/proc/sys/net/ipv4/ip_local_port_range", R_OK),
	       "read if there is one");
	ports_reserved(&set);
	ok(port_set_has(&set, 5353) && port_set_has(&set, 1900),
	   "discovery ports are reserved");
	ok(!port_set_has(&set, 5354) || is_read, "their neighbours are not");
}

int main(void)
{
	test_good();
	test_bad();
	test_env();
	test_unchanged();
	test_system();
	return done();
}
