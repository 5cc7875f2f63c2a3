/* addr_test.c - classes, text and socket forms of addresses and endpoints */

#include "addr.h"

#include <arpa/inet.h>

#include "check.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct addr addr(const char *text)
{
	struct addr a = addr_any6;

	if (!addr_parse(text, &a))
		ok(false, "%s is an address", text);
	return a;
}

/* One letter per predicate that is true, in this order */
static const char *classes(const struct addr *a)
{
	static char text[16];
	char *p = text;

	if (addr_is_v4(a))
		*p++ = '4';
	if (addr_is_set(a))
		*p++ = 's';
	if (addr_is_any(a))
		*p++ = 'a';
	if (addr_is_loopback(a))
		*p++ = 'l';
	if (addr_is_multicast(a))
		*p++ = 'm';
	if (addr_is_broadcast(a))
		*p++ = 'b';
	if (addr_is_linklocal(a))
		*p++ = 'k';
	if (addr_needs_scope(a))
		*p++ = 'c';
	if (addr_is_unicast(a))
		*p++ = 'u';
	*p = 0;
	return text;
}

static const struct {
	const char *text;
	const char *classes;
} class_table[] = {
	{ "0.0.0.0", "4sa" },
	{ "0.0.0.1", "4su" },
	{ "127.0.0.1", "4slu" },
	{ "127.255.255.255", "4slu" },
	{ "126.255.255.255", "4su" },
	{ "128.0.0.0", "4su" },
	{ "169.254.0.1", "4sku" },
	{ "169.253.0.1", "4su" },
	{ "223.255.255.255", "4su" },
	{ "224.0.0.1", "4sm" },
	{ "239.255.255.255", "4sm" },
	{ "240.0.0.1", "4su" },
	{ "255.255.255.254", "4su" },
	{ "255.255.255.255", "4sb" },
	{ "::", "a" },
	{ "::1", "slu" },
	{ "::2", "su" },
	{ "::127.0.0.1", "su" },
	{ "2001:db8::1", "su" },
	{ "fe7f::1", "su" },
	{ "fe80::1", "skcu" },
	{ "febf:ffff::1", "skcu" },
	{ "fec0::1", "su" },
	{ "fc00::1", "su" },
	{ "ff01::1", "sm" },
	{ "ff02::1", "smc" },
	{ "ff12::1", "sm" },
	{ "ff0e::1", "sm" },
};

static void class_rows(void)
{
	for (unsigned i = 0; i < COUNT(class_table); i++) {
		struct addr a = addr(class_table[i].text);

		is_str(classes(&a), class_table[i].classes, "classes of %s",
		       class_table[i].text);
	}
}

static void forms(void)
{
	static const uint8_t v4[4] = { 192, 0, 2, 1 };
	struct addr a = addr_from_bytes(v4, FAMILY_V4), b = addr("2001:db8::1");
	struct addr c = addr_v4(0xc0000201);

	ok(addr_eq(&a, &c), "bytes and number are the same");
	is_int(addr_len(&a), 4, "IPv4 length");
	is_int(addr_len(&b), 16, "IPv6 length");
	is_mem(addr_bytes(&a), v4, 4, "IPv4 bytes");
	ok(addr_bytes(&b) == b.b, "IPv6 bytes");
	c = addr_from_bytes(b.b, FAMILY_V6);
	ok(addr_eq(&b, &c), "IPv6 from bytes");
	is_int(addr_family(&a), FAMILY_V4, "IPv4 family");
	is_int(addr_family(&b), FAMILY_V6, "IPv6 family");
	ok(addr_any(FAMILY_V4) == &addr_any4 &&
		   addr_any(FAMILY_V6) == &addr_any6,
	   "any of a family");
	ok(addr_loopback(FAMILY_V4) == &addr_loopback4 &&
		   addr_loopback(FAMILY_V6) == &addr_loopback6,
	   "loopback of a family");
	a = addr("127.0.0.1");
	ok(addr_eq(&a, &addr_loopback4), "loopback constant, IPv4");
	a = addr("::1");
	ok(addr_eq(&a, &addr_loopback6), "loopback constant, IPv6");
	a = addr("0.0.0.0");
	ok(addr_eq(&a, &addr_any4), "any constant, IPv4");
}

static const struct {
	const char *addr;
	const char *prefix;
	unsigned len;
	bool covers;
} prefix_table[] = {
	{ "192.0.2.1", "192.0.2.0", 24, true },
	{ "192.0.3.1", "192.0.2.0", 24, false },
	{ "192.0.3.1", "192.0.2.0", 23, true },
	{ "192.0.2.1", "192.0.2.1", 32, true },
	{ "192.0.2.2", "192.0.2.1", 32, false },
	{ "192.0.2.2", "192.0.2.3", 31, true },
	{ "192.0.2.1", "0.0.0.0", 0, true },
	{ "192.0.2.1", "192.0.2.1", 33, false },
	{ "2001:db8::1", "0.0.0.0", 0, false },
	{ "192.0.2.1", "::", 0, false },
	{ "2001:db8::1", "::", 0, true },
	{ "2001:db8::1", "2001:db8::", 32, true },
	{ "2001:db9::1", "2001:db8::", 32, false },
	{ "2001:db9::1", "2001:db8::", 31, true },
	{ "2001:db8::1", "2001:db8::1", 128, true },
	{ "2001:db8::1", "2001:db8::2", 128, false },
	{ "2001:db8::3", "2001:db8::2", 127, true },
	{ "2001:db8::1", "2001:db8::1", 129, false },
	{ "fe80::1", "febf::", 10, true },
	{ "fec0::1", "fe80::", 10, false },
	{ "192.0.4.1", "192.0.2.0", 23, false },
};

static void prefixes(void)
{
	for (unsigned i = 0; i < COUNT(prefix_table); i++) {
		struct addr a = addr(prefix_table[i].addr);
		struct addr p = addr(prefix_table[i].prefix);

		is_int(addr_in_prefix(&a, &p, prefix_table[i].len),
		       prefix_table[i].covers, "%s in %s/%u",
		       prefix_table[i].addr, prefix_table[i].prefix,
		       prefix_table[i].len);
	}
}

static void text(void)
{
	static const char *const bad[] = {
		"",	      "1.2.3",	      "1.2.3.4.5", "256.0.0.1",
		"01x",	      "1.2.3.4 ",     " 1.2.3.4",  "::ffff:1.2.3.4",
		"::ffff:0:1", "fe80::1%eth0", "[::1]",	   "1.2.3.4:5",
		":::",	      "g::",
	};
	static const char *const good[] = {
		"1.2.3.4",
		"255.255.255.255",
		"::",
		"::1",
		"2001:db8::1",
		"fe80::aabb:ccff:fedd:eeff",
		"2001:db8:1111:2222:3333:4444:5555:6666",
	};
	char buf[ADDR_STRLEN];
	struct addr a;

	for (unsigned i = 0; i < COUNT(bad); i++) {
		a = addr_loopback4;
		ok(!addr_parse(bad[i], &a) && addr_eq(&a, &addr_loopback4),
		   "\"%s\" is refused, output untouched", bad[i]);
	}
	for (unsigned i = 0; i < COUNT(good); i++) {
		a = addr(good[i]);
		is_str(addr_format(&a, buf), good[i], "%s comes back", good[i]);
	}
}

static const struct {
	const char *addr;
	uint16_t port;
	uint32_t scope;
	const char *text;
} end_table[] = {
	{ "1.2.3.4", 5, 0, "1.2.3.4:5" },
	{ "255.255.255.255", 65535, 0, "255.255.255.255:65535" },
	{ "::", 0, 0, "[::]:0" },
	{ "fe80::1", 53, 4294967295, "[fe80::1%4294967295]:53" },
	{ "2001:db8:1111:2222:3333:4444:5555:6666", 65535, 4294967295,
	  "[2001:db8:1111:2222:3333:4444:5555:6666%4294967295]:65535" },
};

/* There and back through socket addresses of both kinds */
static void ends(void)
{
	for (unsigned i = 0; i < COUNT(end_table); i++) {
		struct addr a = addr(end_table[i].addr);
		uint32_t scope = addr_needs_scope(&a) ? end_table[i].scope : 0;
		struct end f = end_make(&a, end_table[i].port, scope);
		const char *text = end_table[i].text;
		union sockaddr_ip sa;
		struct end back;

		is_int(end_to_sockaddr(&f, AF_INET6, &sa), sizeof(sa.v6),
		       "%s for an IPv6 socket", text);
		back = end_from_sockaddr(&sa);
		ok(end_eq(&f, &back), "%s comes back", text);
		if (!addr_is_v4(&a)) {
			is_int(end_to_sockaddr(&f, AF_INET, &sa), 0,
			       "%s is not for an IPv4 socket", text);
			continue;
		}
		is_int(end_to_sockaddr(&f, AF_INET, &sa), sizeof(sa.v4),
		       "%s for an IPv4 socket", text);
		back = end_from_sockaddr(&sa);
		ok(end_eq(&f, &back), "%s comes back", text);
	}
}

static void sockaddrs(void)
{
	struct addr a = addr("192.0.2.1"), b = addr("2001:db8::1");
	struct end e = end_make(&a, 258, 0), f = end_make(&a, 259, 0);
	union sockaddr_ip sa;

	end_to_sockaddr(&e, AF_INET, &sa);
	is_int(sa.v4.sin_family, AF_INET, "family");
	is_int(sa.v4.sin_port, htons(258), "port in network order");
	is_int(sa.v4.sin_addr.s_addr, htonl(0xc0000201), "address");
	ok(!end_eq(&e, &f), "ports differ");
	f = end_make(&b, 258, 0);
	ok(!end_eq(&e, &f), "addresses differ");

	end_to_sockaddr(&f, AF_INET6, &sa);
	sa.v6.sin6_scope_id = 3;
	sa.v6.sin6_flowinfo = 77;
	e = end_from_sockaddr(&sa);
	ok(end_eq(&e, &f), "a global address has no scope");
}

int main(void)
{
	class_rows();
	forms();
	prefixes();
	text();
	ends();
	sockaddrs();
	return done();
}
