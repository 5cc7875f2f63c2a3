/* bind_conflict.c - who may bind a UDP port twice
 *
 * Proves: without SO_REUSEADDR on both sockets a wildcard and a specific
 * address on one port exclude each other, in either order; two specific
 * addresses do not, nor do IPv4 and an IPv6 socket with V6ONLY. With it on both
 * the later, more specific one takes the datagrams: why ours never set it. */

#include "lib.h"

static int try_bind(const char *addr, bool reuse, int *ret_s)
{
	struct sockaddr_in sa = at(addr, 5000);

	*ret_s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(*ret_s >= 0);
	must(!reuse || !set_int(*ret_s, SOL_SOCKET, SO_REUSEADDR, 1));
	return bind(*ret_s, SA(&sa)) ? errno : 0;
}

static int try_bind6(bool v6only)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_INET6 };
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), e;

	if (s < 0)
		return -1;
	must(!set_int(s, IPPROTO_IPV6, IPV6_V6ONLY, v6only));
	sa.sin6_port = htons(5000);
	e = bind(s, SA(&sa)) ? errno : 0;
	close(s);
	return e;
}

static const struct {
	const char *first, *second;
	bool reuse1, reuse2;
	int want;
} row[] = {
	{ "0.0.0.0", "0.0.0.0", false, false, EADDRINUSE },
	{ "0.0.0.0", "127.0.0.1", false, false, EADDRINUSE },
	{ "127.0.0.1", "0.0.0.0", false, false, EADDRINUSE },
	{ "127.0.0.1", "127.0.0.2", false, false, 0 },
	{ "0.0.0.0", "127.0.0.1", false, true, EADDRINUSE },
	{ "0.0.0.0", "127.0.0.1", true, false, EADDRINUSE },
	{ "0.0.0.0", "127.0.0.1", true, true, 0 },
};

static void theft(void)
{
	struct sockaddr_in to = at("127.0.0.1", 5000);
	int victim, thief, sender = udp_at("127.0.0.1", 0);
	char buf[8];

	must(!try_bind("0.0.0.0", true, &victim));
	must(!try_bind("127.0.0.1", true, &thief));
	must(send_to(sender, "a", 1, &to) == 1);
	is_int(recv(thief, buf, sizeof(buf), 0), 1, "the later one gets all");
	ok(recv(victim, buf, sizeof(buf), MSG_DONTWAIT) < 0,
	   "the earlier one nothing");
	close(victim);
	close(thief);
}

int main(void)
{
	int a, b, e;
	unsigned i;

	enter();
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		must(!try_bind(row[i].first, row[i].reuse1, &a));
		is_int(try_bind(row[i].second, row[i].reuse2, &b), row[i].want,
		       "%s then %s, SO_REUSEADDR %d %d", row[i].first,
		       row[i].second, row[i].reuse1, row[i].reuse2);
		close(a);
		close(b);
	}
	theft();
	must(!try_bind("0.0.0.0", false, &a));
	e = try_bind6(true);
	if (e >= 0) {
		is_int(e, 0, "IPv4 and [::] with V6ONLY");
		is_int(try_bind6(false), EADDRINUSE,
		       "IPv4 and dual-stack [::]");
	}
	return done();
}
