/* set.h - the argument of one option into struct conf
 * Knows: what each option means, and words every complaint about an argument.
 * Does not know: what options are called.
 *
 * A setter is given the row at hand; on a bad argument it prints one line
 * (which option, its argument, what is wrong, what would be right) and ends
 * the program with status 1. */

#ifndef SET_H
#define SET_H

#include "conf.h"
#include "opt.h"
#include "word.h"

/* Bits of struct opt's @flags, above those of word.h */
#define ADDR_FLAGS 0xff
#define PASTA_ONLY 0x100
#define PASST_ONLY 0x200
#define PASS_IN 0x400 /* second pass: ports of the host */
#define PASS_OUT 0x800 /* third pass: ports of the namespace */
#define PASS_LATE (PASS_IN | PASS_OUT)
#define NONE_OK 0x1000 /* the word "none" is accepted */
#define HIDDEN 0x2000 /* known, but not offered */
#define NO_GROUP (NO_MULTICAST | NO_BROADCAST)

/** struct parse - a command line being read
 * @name: pasta or passt
 * @row, @arg: the option at hand and its argument
 * @plen4: of "-a ADDR/LEN", else -1    @mask4: of -n, else -1
 * @has_warned: about the one that has no effect */
struct parse {
	struct conf *c;
	const char *name;
	struct opt_walk walk;
	const struct opt *row;
	const char *arg;
	struct ports_env env;
	int plen4;
	int mask4;
	bool has_warned;
};

/* Into the field of the row: true, a path, an interface, an address per
 * family, a MAC address, seconds, ports */
void set_flag(struct parse *p);
void set_text(struct parse *p);
void set_domain(struct parse *p);
void set_interface(struct parse *p);
void set_addr(struct parse *p);
void set_mac(struct parse *p);
void set_seconds(struct parse *p);
void set_ports(struct parse *p);

/* Into the fields that the name says */
void set_level(struct parse *p);
void set_log_size(struct parse *p);
void set_runas(struct parse *p);
void set_fd(struct parse *p);
void set_socket(struct parse *p);
void set_mtu(struct parse *p);
void set_only(struct parse *p);
void set_address(struct parse *p);
void set_netmask(struct parse *p);
void set_ns_mac(struct parse *p);
void set_ns_ifname(struct parse *p);
void set_userns(struct parse *p);
void set_netns(struct parse *p);
void set_netns_only(struct parse *p);
void set_dns(struct parse *p);
void set_search(struct parse *p);
void set_filter(struct parse *p);
void set_allow(struct parse *p);
void set_deny(struct parse *p);
void set_offload(struct parse *p);

/** set_false() - the opposite of set_flag() */
void set_false(struct parse *p);
/** set_stderr() - accepted for the sake of old callers, warned about once */
void set_stderr(struct parse *p);
/** set_nothing() - accepted: it changes nothing in this version */
void set_nothing(struct parse *p);
/** set_absent() - refused, in one line */
void set_absent(struct parse *p);

#endif
