/* ports.h - which ports are forwarded: -t, -u, -T, -U as rules
 * Knows: the SPEC language, ranges, exclusions.  Does not know: sockets.
 *
 *   SPEC  = "none" | [ BIND "/" ] LIST
 *   BIND  = ADDR | "[" ADDR "]" | [ ADDR ] "%" IFNAME
 *   LIST  = ITEM { "," ITEM }
 *   ITEM  = RANGE [ ":" RANGE ] | "~" RANGE | "auto" | "all"
 *   RANGE = PORT [ "-" PORT ]
 *
 * "auto" follows what is bound on the other side: every port, or those that the
 * other items of its LIST lead to. */

#ifndef PORTS_H
#define PORTS_H

#include "addr.h"
#include "limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORTS_RULES_MAX 4096
#define PORTS_AUTO_MAX 2048
#define PORTS_ERR_MAX 160

/** struct port_set - one bit per port */
struct port_set {
	uint8_t bit[65536 / 8];
};

static inline bool port_set_has(const struct port_set *s, uint16_t port)
{
	return s->bit[port / 8] >> port % 8 & 1;
}

static inline void port_set_put(struct port_set *s, uint16_t port, bool on)
{
	uint8_t mask = (uint8_t)(1 << port % 8);

	s->bit[port / 8] = (uint8_t)(on ? s->bit[port / 8] | mask :
					  s->bit[port / 8] & ~mask);
}

/** struct ports_rule - ports first..last are forwarded to target..
 * @bind:   address to bind, not set: all addresses of enabled families
 * @ifname: device to bind, "": any
 * @first, @last: listening ports, inclusive
 * @target: port on the other side for @first; target + k for first + k
 * @is_weak: best effort ("all", exclusions only): a port in use is no error */
struct ports_rule {
	struct addr bind;
	char ifname[IFNAME_SIZE];
	uint16_t first;
	uint16_t last;
	uint16_t target;
	bool is_weak;
	bool has_bind;
};

/** struct ports - everything given for one option letter
 * @rule, @n: rules; with the same BIND and interface no two share a port
 * @auto_rule, @n_auto: ports to follow, and where their listeners bind
 * @is_none: "none" was given
 * @is_auto: @n_auto > 0: follow ports bound on the other side */
struct ports {
	struct ports_rule rule[PORTS_RULES_MAX];
	unsigned n;
	struct ports_rule auto_rule[PORTS_AUTO_MAX];
	unsigned n_auto;
	bool is_none;
	bool is_auto;
};

/** struct ports_env - what the language depends on
 * @ephemeral_first, @ephemeral_last: ip_local_port_range
 * @is_outbound: -T or -U: BIND is refused
 * @has: families that are enabled */
struct ports_env {
	uint16_t ephemeral_first;
	uint16_t ephemeral_last;
	bool is_outbound;
	bool has[FAMILY_COUNT];
};

/**
 * ports_parse() - add one SPEC
 * @ret_err: on failure, what is wrong with which part, without newline; else
 *           a warning about a port mapped twice, or ""
 * Returns: 0; -EINVAL: @p unchanged. "none" after rules or "auto" is an error,
 * as are rules or "auto" after "none"; one SPEC adds to another. A port
 * given again with the same BIND counts as given last; weak ports give way.
 */
int ports_parse(struct ports *p, const char *spec, const struct ports_env *env,
		char ret_err[static PORTS_ERR_MAX]);

/** ports_ephemeral() - read ip_local_port_range; 49152..65535 if unreadable,
 * returns false then */
bool ports_ephemeral(uint16_t *ret_first, uint16_t *ret_last);

/** ports_reserved() - ports that a guest never takes for itself on the host:
 * ip_local_reserved_ports, and those of discovery daemons that could not start
 * any more (SSDP 1900, WS-Discovery 3702, mDNS 5353, LLMNR 5355) */
void ports_reserved(struct port_set *ret_set);

#endif
