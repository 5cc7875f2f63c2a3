/* addr.h - one address type for both families, and UDP/TCP endpoints
 * Knows: address classes, text form, sockaddr.  Does not know: sockets, flows.
 * Sources: RFC 4291 (2.5.5.2 mapped form), RFC 6890 (special ranges). */

#ifndef ADDR_H
#define ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDR_STRLEN 46 /* longest text form, terminator included */

/** struct addr - IPv6 address, or IPv4 in its mapped form ::ffff:a.b.c.d
 * @b: bytes in network order; all zero is "no address" and IPv6's "any" */
struct addr {
	uint8_t b[16];
};

/** struct end - an endpoint of a conversation
 * @addr:  address      @scope: interface index if @addr is link-local, else 0
 * @port:  host order   @pad:   zero, so that endpoints compare as memory */
struct end {
	struct addr addr;
	uint32_t scope;
	uint16_t port;
	uint16_t pad;
};

/** union sockaddr_ip - room for either family's socket address */
union sockaddr_ip {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/** enum family - index for arrays that hold one entry per family */
enum family { FAMILY_V4, FAMILY_V6, FAMILY_COUNT };

extern const struct addr addr_any4; /* 0.0.0.0 */
extern const struct addr addr_any6; /* :: , also "no address" */
extern const struct addr addr_loopback4; /* 127.0.0.1 */
extern const struct addr addr_loopback6; /* ::1 */

/** addr_v4() - address from an IPv4 number in host order */
struct addr addr_v4(uint32_t v4);

/** addr_from_bytes() - address from 4 (IPv4) or 16 (IPv6) network-order bytes */
struct addr addr_from_bytes(const void *bytes, enum family family);

/** addr_bytes() - first network-order byte of the 4 or 16 that a packet holds */
const uint8_t *addr_bytes(const struct addr *a);
/** addr_len() - 4 or 16: bytes that a packet or netlink attribute holds */
unsigned addr_len(const struct addr *a);

bool addr_is_v4(const struct addr *a);
bool addr_eq(const struct addr *a, const struct addr *b);
/** addr_is_set() - false for all zero, the value that means "no address" */
bool addr_is_set(const struct addr *a);
/** addr_is_any() - 0.0.0.0 or :: */
bool addr_is_any(const struct addr *a);
/** addr_is_loopback() - 127.0.0.0/8 or ::1 */
bool addr_is_loopback(const struct addr *a);
bool addr_is_multicast(const struct addr *a);
/** addr_is_broadcast() - 255.255.255.255 only; a subnet's needs its mask */
bool addr_is_broadcast(const struct addr *a);
/** addr_is_linklocal() - 169.254.0.0/16 or fe80::/10 */
bool addr_is_linklocal(const struct addr *a);
/** addr_needs_scope() - fe80::/10 and ff02::/16: an interface must be named */
bool addr_needs_scope(const struct addr *a);
/** addr_is_unicast() - may be one end of a flow: not any, multicast, broadcast */
bool addr_is_unicast(const struct addr *a);

/** addr_family() - FAMILY_V4 or FAMILY_V6 */
enum family addr_family(const struct addr *a);

/** addr_any() / addr_loopback() - that family's 0.0.0.0 or 127.0.0.1 */
const struct addr *addr_any(enum family family);
const struct addr *addr_loopback(enum family family);

/**
 * addr_in_prefix() - does a prefix cover an address?
 * @len: bits of @prefix in its own family: 0..32 for IPv4, 0..128 for IPv6
 * Returns: false also if the families differ
 */
bool addr_in_prefix(const struct addr *a, const struct addr *prefix,
		    unsigned len);

/**
 * addr_parse() - address from text without brackets, port or scope
 * Returns: false, and @ret_addr untouched, if it is not one; a mapped IPv6
 * address is refused: it would be taken for IPv4
 */
bool addr_parse(const char *text, struct addr *ret_addr);

/** addr_format() - text form; returns @buf */
const char *addr_format(const struct addr *a, char buf[static ADDR_STRLEN]);

/** end_make() - endpoint with zeroed padding */
struct end end_make(const struct addr *a, uint16_t port, uint32_t scope);

bool end_eq(const struct end *a, const struct end *b);

/**
 * end_to_sockaddr() - socket address of an endpoint, for a socket of @family
 * @family: AF_INET, or AF_INET6 which takes IPv4 in mapped form (dual-stack)
 * Returns: its length in bytes; 0 if IPv6 was asked of an AF_INET socket
 */
socklen_t end_to_sockaddr(const struct end *e, int family,
			  union sockaddr_ip *ret_sa);

/** end_from_sockaddr() - endpoint of a socket address; scope only if needed */
struct end end_from_sockaddr(const union sockaddr_ip *sa);

#endif
