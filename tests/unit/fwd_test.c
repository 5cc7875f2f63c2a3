/* fwd_test.c - who is whom on the other side, rule by rule
 *
 * Names in the tables: the host is 192.0.2.10 and 2001:db8:9::10, the guest
 * has the same addresses, its gateways are 192.0.2.1 and fe80::99. */

#include "fwd.h"

#include "check.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Policies: what is set besides the addresses above */
enum policy {
	PLAIN, /* nothing: --no-map-gw */
	GW, /* gateways stand for the host's loopback: the default */
	MGA, /* as podman: 169.254.1.2 is the host, no loopback alias */
	DNS, /* 169.254.1.1 and fd00::53 are resolvers at 127.0.0.1 and ::1 */
	DNS_LOST, /* the same without a resolver on the host */
	BARE, /* no address known at all */
	OTHER, /* the guest uses 192.0.2.77 and 2001:db8:9::77 */
	NO_LL /* GW, but its link-local address is not known */
};

static struct addr A(const char *text) {
	struct addr a = { 0 };

	if (*text && !addr_parse(text, &a))
		ok(false, "not an address: %s", text);
	return a;
}

static struct fwd
base(void)
{
	return (struct fwd){
		.guest = { A("192.0.2.10"), A("2001:db8:9::10") },
		.host = { A("192.0.2.10"), A("2001:db8:9::10") },
		.seen = { A("192.0.2.10"), A("2001:db8:9::10") },
		.guest_ll = A("fe80::5"),
		.ours = { A("192.0.2.1"), A("fe80::99") },
		.broadcast = A("192.0.2.255"),
		.scope = { 2, 3 },
	};
}

static struct fwd policy(enum policy p)
{
	struct fwd f = base();

	if (p == GW || p == NO_LL) {
		f.host_loopback[FAMILY_V4] = A("192.0.2.1");
		f.host_loopback[FAMILY_V6] = A("fe80::99");
	}
	if (p == NO_LL)
		f.guest_ll = A("");
	if (p == MGA) {
		f.guest_alias[FAMILY_V4] = A("169.254.1.2");
		f.guest_alias[FAMILY_V6] = A("fd00::2");
	}
	if (p == DNS || p == DNS_LOST) {
		f.dns_forward[FAMILY_V4] = A("169.254.1.1");
		f.dns_forward[FAMILY_V6] = A("fd00::53");
	}
	if (p == DNS) {
		f.dns_host[FAMILY_V4] = A("127.0.0.1");
		f.dns_host[FAMILY_V6] = A("::1");
	}
	if (p == OTHER) {
		f.seen[FAMILY_V4] = A("192.0.2.77");
		f.seen[FAMILY_V6] = A("2001:db8:9::77");
	}
	if (p == BARE)
		f = (struct fwd){ 0 };
	return f;
}

static const struct {
	const char *name;
	enum policy policy;
	const char *dst;
	uint16_t port;
	enum fwd_kind kind;
	const char *host;
	uint32_t scope;
} out[] = {
	{ "stranger", GW, "198.51.100.2", 7, FWD_SHARED, "198.51.100.2", 0 },
	{ "stranger, IPv6", GW, "2001:db8::2", 7, FWD_SHARED, "2001:db8::2",
	  0 },
	{ "gateway is loopback", GW, "192.0.2.1", 7001, FWD_OWN, "127.0.0.1",
	  0 },
	{ "gateway is loopback, IPv6", GW, "fe80::99", 7003, FWD_OWN, "::1",
	  0 },
	{ "gateway unmapped", PLAIN, "192.0.2.1", 7001, FWD_SHARED, "192.0.2.1",
	  0 },
	{ "link-local leaves by its interface", PLAIN, "fe80::99", 7,
	  FWD_SHARED, "fe80::99", 3 },
	{ "link-local IPv4 needs no interface", PLAIN, "169.254.9.9", 7,
	  FWD_SHARED, "169.254.9.9", 0 },
	{ "alias of the host", MGA, "169.254.1.2", 7002, FWD_OWN, "192.0.2.10",
	  0 },
	{ "alias of the host, IPv6", MGA, "fd00::2", 7002, FWD_OWN,
	  "2001:db8:9::10", 0 },
	{ "resolver", DNS, "169.254.1.1", 53, FWD_OWN_ANY_PORT, "127.0.0.1",
	  0 },
	{ "resolver by TLS", DNS, "169.254.1.1", 853, FWD_OWN_ANY_PORT,
	  "127.0.0.1", 0 },
	{ "resolver, IPv6", DNS, "fd00::53", 53, FWD_OWN_ANY_PORT, "::1", 0 },
	{ "resolver's address, other port", DNS, "169.254.1.1", 54, FWD_SHARED,
	  "169.254.1.1", 0 },
	{ "another resolver", DNS, "198.51.100.53", 53, FWD_SHARED,
	  "198.51.100.53", 0 },
	{ "resolver that is not there", DNS_LOST, "169.254.1.1", 53, FWD_REFUSE,
	  "", 0 },
	{ "loopback", GW, "127.0.0.1", 7, FWD_REFUSE, "", 0 },
	{ "loopback, not the first", GW, "127.8.8.8", 7, FWD_REFUSE, "", 0 },
	{ "loopback, IPv6", GW, "::1", 7, FWD_REFUSE, "", 0 },
	{ "multicast", GW, "224.0.0.251", 7, FWD_GROUP, "224.0.0.251", 2 },
	{ "multicast, IPv6", GW, "ff02::fb", 7, FWD_GROUP, "ff02::fb", 3 },
	{ "broadcast", GW, "255.255.255.255", 7, FWD_GROUP, "255.255.255.255",
	  2 },
	{ "broadcast of the subnet", GW, "192.0.2.255", 7, FWD_GROUP,
	  "192.0.2.255", 2 },
	{ "multicast of an interface", GW, "ff01::fb", 7, FWD_REFUSE, "", 0 },
	{ "multicast, no interface", BARE, "224.0.0.251", 7, FWD_REFUSE, "",
	  0 },
	{ "nobody", GW, "0.0.0.0", 7, FWD_REFUSE, "", 0 },
	{ "nobody, IPv6", GW, "::", 7, FWD_REFUSE, "", 0 },
	{ "nothing configured", BARE, "198.51.100.2", 7, FWD_SHARED,
	  "198.51.100.2", 0 },
	{ "nothing configured, nobody", BARE, "::", 53, FWD_REFUSE, "", 0 },
};

static void from_guest(void)
{
	for (unsigned i = 0; i < COUNT(out); i++) {
		struct fwd f = policy(out[i].policy);
		struct addr a = A(out[i].dst), want = A(out[i].host);
		struct end dst = end_make(&a, out[i].port, 0);
		struct end host, untouched;

		memset(&host, 0xee, sizeof(host));
		untouched = host;
		is_int(fwd_from_guest(&f, &dst, &host), out[i].kind, "out: %s",
		       out[i].name);
		dst = end_make(&want, out[i].port, out[i].scope);
		is_mem(&host, out[i].kind == FWD_REFUSE ? &untouched : &dst,
		       sizeof(host), "out: %s: where to", out[i].name);
	}
}

static const struct {
	const char *name;
	enum policy policy;
	const char *peer;
	const char *visible; /* "": refused */
	const char *guest;
} in[] = {
	{ "stranger", GW, "198.51.100.2", "198.51.100.2", "192.0.2.10" },
	{ "stranger, IPv6", GW, "2001:db8::2", "2001:db8::2",
	  "2001:db8:9::10" },
	{ "stranger to where the guest is", OTHER, "198.51.100.2",
	  "198.51.100.2", "192.0.2.77" },
	{ "stranger to where the guest is, IPv6", OTHER, "2001:db8::2",
	  "2001:db8::2", "2001:db8:9::77" },
	{ "loopback", GW, "127.0.0.1", "192.0.2.1", "192.0.2.10" },
	{ "loopback, IPv6", GW, "::1", "fe80::99", "fe80::5" },
	{ "loopback without alias", PLAIN, "127.0.0.1", "192.0.2.1",
	  "192.0.2.10" },
	{ "loopback without alias, IPv6", PLAIN, "::1", "fe80::99", "fe80::5" },
	{ "loopback, podman", MGA, "127.0.0.1", "192.0.2.1", "192.0.2.10" },
	{ "other loopback", GW, "127.0.0.5", "192.0.2.1", "192.0.2.10" },
	{ "the host itself", GW, "192.0.2.10", "192.0.2.1", "192.0.2.10" },
	{ "the host itself, IPv6", GW, "2001:db8:9::10", "fe80::99",
	  "fe80::5" },
	{ "the host itself, podman", MGA, "192.0.2.10", "169.254.1.2",
	  "192.0.2.10" },
	{ "the host itself, podman, IPv6", MGA, "2001:db8:9::10", "fd00::2",
	  "2001:db8:9::10" },
	{ "who has the address the guest uses", OTHER, "192.0.2.77",
	  "192.0.2.1", "192.0.2.77" },
	{ "a link-local neighbour", GW, "fe80::77", "fe80::77", "fe80::5" },
	{ "a link-local neighbour, own one unknown", NO_LL, "fe80::77",
	  "fe80::77", "2001:db8:9::10" },
	{ "link-local IPv4", GW, "169.254.3.3", "169.254.3.3", "192.0.2.10" },
	{ "nobody", GW, "0.0.0.0", "192.0.2.1", "192.0.2.10" },
	{ "no guest", BARE, "198.51.100.2", "", "" },
	{ "no guest, IPv6", BARE, "2001:db8::2", "", "" },
	{ "no gateway", BARE, "127.0.0.1", "", "" },
};

static void from_host(void)
{
	for (unsigned i = 0; i < COUNT(in); i++) {
		struct fwd f = policy(in[i].policy);
		struct addr a = A(in[i].peer), v = A(in[i].visible);
		struct addr g = A(in[i].guest);
		struct end peer = end_make(&a, 30001, 0), seen, guest, want;
		bool is_seen = *in[i].visible;

		/* A neighbour's interface means nothing to the guest */
		peer.scope = addr_needs_scope(&a) ? 3 : 0;
		memset(&seen, 0xee, sizeof(seen));
		memset(&guest, 0xee, sizeof(guest));
		if (!is_int(fwd_from_host(&f, &peer, &seen, &guest), is_seen,
			    "in: %s", in[i].name) ||
		    !is_seen)
			continue;
		want = end_make(&v, 30001, 0);
		is_mem(&seen, &want, sizeof(seen), "in: %s: seen as",
		       in[i].name);
		want = end_make(&g, 0, 0);
		is_mem(&guest, &want, sizeof(guest), "in: %s: reaches",
		       in[i].name);
	}
}

static void splice(void)
{
	static const struct {
		const char *peer;
		bool no_splice, is_lo, want;
	} row[] = {
		{ "127.0.0.1", false, true, true },
		{ "127.9.0.1", false, true, true },
		{ "::1", false, true, true },
		{ "127.0.0.1", true, true, false },
		{ "127.0.0.1", false, false, false },
		{ "::1", false, false, false },
		{ "192.0.2.10", false, true, false },
		{ "198.51.100.2", false, false, false },
	};
	struct fwd f = base();
	struct addr a;
	struct end e;

	for (unsigned i = 0; i < COUNT(row); i++) {
		struct end peer;

		a = A(row[i].peer);
		peer = end_make(&a, 1, 0);
		f.no_splice = row[i].no_splice;
		is_int(fwd_is_splice(&f, &peer, row[i].is_lo), row[i].want,
		       "splice %s, arrived on lo: %d, allowed: %d", row[i].peer,
		       row[i].is_lo, !row[i].no_splice);
	}
	f.seen[FAMILY_V6] = A("2001:db8:9::77");
	a = fwd_splice_target(&f, FAMILY_V4, 7).addr;
	ok(addr_eq(&a, &f.guest[FAMILY_V4]), "spliced to the guest's address");
	a = fwd_splice_target(&f, FAMILY_V6, 7).addr;
	ok(addr_eq(&a, &f.seen[FAMILY_V6]), "to the one it uses");
	f.seen[FAMILY_V6] = A("");
	a = fwd_splice_target(&f, FAMILY_V6, 7).addr;
	ok(addr_eq(&a, &f.guest[FAMILY_V6]), "none seen: the one it was given");
	f.guest[FAMILY_V6] = A("");
	f.guest_ll = A("fe80::2");
	f.link = 9;
	e = fwd_splice_target(&f, FAMILY_V6, 7);
	ok(addr_eq(&e.addr, &f.guest_ll) && e.scope == 9 && e.port == 7,
	   "only link-local: by the guest's link");
	f.to_loopback = true;
	a = fwd_splice_target(&f, FAMILY_V4, 7).addr;
	ok(addr_eq(&a, &addr_loopback4), "--host-lo-to-ns-lo: loopback");
	a = fwd_splice_target(&f, FAMILY_V6, 7).addr;
	ok(addr_eq(&a, &addr_loopback6), "IPv6 alike");
}

/* What goes out to an alias comes back from that alias. */
static void there_and_back(void)
{
	static const struct {
		enum policy policy;
		const char *dst;
	} row[] = {
		{ GW, "192.0.2.1" },	{ GW, "fe80::99" },
		{ MGA, "169.254.1.2" }, { MGA, "fd00::2" },
		{ GW, "198.51.100.2" }, { GW, "2001:db8::2" },
	};

	for (unsigned i = 0; i < COUNT(row); i++) {
		struct fwd f = policy(row[i].policy);
		struct addr a = A(row[i].dst);
		struct end dst = end_make(&a, 9, 0), host, back, guest;

		fwd_from_guest(&f, &dst, &host);
		ok(fwd_from_host(&f, &host, &back, &guest) &&
			   end_eq(&back, &dst),
		   "%s answers as itself", row[i].dst);
	}
}

int main(void)
{
	from_guest();
	from_host();
	splice();
	there_and_back();
	return done();
}
