/* addr.c - addresses of both families in one form
 *
 * IPv4 addresses are kept as ::ffff:a.b.c.d (RFC 4291 2.5.5.2). Every address
 * is then 16 bytes that compare, hash and copy the same way, and only this file
 * and pkt know that there are two families. What needs the distinction asks
 * addr_is_v4() or one of the class predicates.
 *
 * The price is that a mapped address in an IPv6 packet or option would be taken
 * for IPv4, so it is refused wherever bytes from outside become an address: by
 * addr_parse() here and by pkt_parse() for frames.
 *
 * Link-local IPv6 addresses mean nothing without an interface; the interface is
 * part of the endpoint, not of the address. */

#include "addr.h"

#include "be.h"

#include <arpa/inet.h>
#include <string.h>

#define MAPPED 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
#define MAPPED_LEN 12

const struct addr addr_any4 = { { MAPPED, 0, 0, 0, 0 } };
const struct addr addr_any6 = { { 0 } };
const struct addr addr_loopback4 = { { MAPPED, 127, 0, 0, 1 } };
const struct addr addr_loopback6 = { { [15] = 1 } };

struct addr addr_v4(uint32_t v4)
{
	struct addr a = addr_any4;

	be32_put(a.b + MAPPED_LEN, v4);
	return a;
}

struct addr addr_from_bytes(const void *bytes, enum family family)
{
	struct addr a = addr_any4;

	if (family == FAMILY_V4)
		memcpy(a.b + MAPPED_LEN, bytes, 4);
	else
		memcpy(a.b, bytes, 16);
	return a;
}

const uint8_t *addr_bytes(const struct addr *a)
{
	return addr_is_v4(a) ? a->b + MAPPED_LEN : a->b;
}

unsigned addr_len(const struct addr *a)
{
	return addr_is_v4(a) ? 4 : 16;
}

bool addr_is_v4(const struct addr *a)
{
	return !memcmp(a->b, addr_any4.b, MAPPED_LEN);
}

bool addr_eq(const struct addr *a, const struct addr *b)
{
	return !memcmp(a->b, b->b, sizeof(a->b));
}

bool addr_is_set(const struct addr *a)
{
	return !addr_eq(a, &addr_any6);
}

bool addr_is_any(const struct addr *a)
{
	return addr_eq(a, &addr_any4) || addr_eq(a, &addr_any6);
}

bool addr_is_loopback(const struct addr *a)
{
	if (addr_is_v4(a))
		return a->b[MAPPED_LEN] == 127;
	return addr_eq(a, &addr_loopback6);
}

bool addr_is_multicast(const struct addr *a)
{
	if (addr_is_v4(a))
		return (a->b[MAPPED_LEN] & 0xf0) == 0xe0;
	return a->b[0] == 0xff;
}

bool addr_is_broadcast(const struct addr *a)
{
	return addr_is_v4(a) && be32_get(a->b + MAPPED_LEN) == INADDR_BROADCAST;
}

/* fe80::/10 */
static bool is_linklocal6(const struct addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

bool addr_is_linklocal(const struct addr *a)
{
	if (addr_is_v4(a))
		return a->b[MAPPED_LEN] == 169 && a->b[MAPPED_LEN + 1] == 254;
	return is_linklocal6(a);
}

bool addr_needs_scope(const struct addr *a)
{
	return is_linklocal6(a) || (a->b[0] == 0xff && a->b[1] == 0x02);
}

bool addr_is_unicast(const struct addr *a)
{
	return !addr_is_any(a) && !addr_is_multicast(a) &&
	       !addr_is_broadcast(a);
}

enum family addr_family(const struct addr *a)
{
	return addr_is_v4(a) ? FAMILY_V4 : FAMILY_V6;
}

const struct addr *addr_any(enum family family)
{
	return family == FAMILY_V4 ? &addr_any4 : &addr_any6;
}

const struct addr *addr_loopback(enum family family)
{
	return family == FAMILY_V4 ? &addr_loopback4 : &addr_loopback6;
}

bool addr_in_prefix(const struct addr *a, const struct addr *prefix,
		    unsigned len)
{
	const uint8_t *x = addr_bytes(a), *y = addr_bytes(prefix);
	unsigned whole = len / 8, bits = len % 8;

	if (addr_is_v4(a) != addr_is_v4(prefix) || len > addr_len(a) * 8)
		return false;
	if (memcmp(x, y, whole) != 0)
		return false;
	return !bits || !((x[whole] ^ y[whole]) >> (8 - bits));
}

bool addr_parse(const char *text, struct addr *ret_addr)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*ret_addr = addr_from_bytes(&v4, FAMILY_V4);
		return true;
	}
	if (inet_pton(AF_INET6, text, &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6))
		return false;
	*ret_addr = addr_from_bytes(&v6, FAMILY_V6);
	return true;
}

const char *addr_format(const struct addr *a, char buf[static ADDR_STRLEN])
{
	/* Fails only for a short buffer or an unknown family */
	inet_ntop(addr_is_v4(a) ? AF_INET : AF_INET6, addr_bytes(a), buf,
		  ADDR_STRLEN);
	return buf;
}

struct end end_make(const struct addr *a, uint16_t port, uint32_t scope)
{
	return (struct end){ .addr = *a, .scope = scope, .port = port };
}

bool end_eq(const struct end *a, const struct end *b)
{
	return !memcmp(a, b, sizeof(*a));
}

socklen_t end_to_sockaddr(const struct end *e, int family,
			  union sockaddr_ip *ret_sa)
{
	if (family == AF_INET && !addr_is_v4(&e->addr))
		return 0;

	memset(ret_sa, 0, sizeof(*ret_sa));
	if (family == AF_INET) {
		ret_sa->v4.sin_family = AF_INET;
		ret_sa->v4.sin_port = htons(e->port);
		memcpy(&ret_sa->v4.sin_addr, addr_bytes(&e->addr), 4);
		return sizeof(ret_sa->v4);
	}

	ret_sa->v6.sin6_family = AF_INET6;
	ret_sa->v6.sin6_port = htons(e->port);
	ret_sa->v6.sin6_scope_id = e->scope;
	memcpy(&ret_sa->v6.sin6_addr, e->addr.b, 16);
	return sizeof(ret_sa->v6);
}

struct end end_from_sockaddr(const union sockaddr_ip *sa)
{
	struct addr a;

	if (sa->sa.sa_family == AF_INET) {
		a = addr_from_bytes(&sa->v4.sin_addr, FAMILY_V4);
		return end_make(&a, ntohs(sa->v4.sin_port), 0);
	}

	a = addr_from_bytes(&sa->v6.sin6_addr, FAMILY_V6);
	return end_make(&a, ntohs(sa->v6.sin6_port),
			addr_needs_scope(&a) ? sa->v6.sin6_scope_id : 0);
}
