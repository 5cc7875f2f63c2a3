/* conf.c - the command line
 *
 * Problem: some sixty options of two program names, which other programs probe
 * by their exact messages, whose help, parser and documentation must not drift
 * apart.
 *
 * Idea: one table. A row says what an option is called, what its argument is
 * called, one line of help, which function takes it and which field it is
 * about. The help text, the parser's arrays and the dispatch are made of the
 * rows (opt.c); a new option is one row, and a setter if none fits.
 *
 * The words are read three times: ports are understood only when families are
 * known (-4 may stand behind -u), and those of the namespace come last. What
 * depends on several options is judged at the end, by finish().
 *
 * This file words every complaint: which option, its argument, what is wrong
 * with it and what would be right. It opens nothing but the password database
 * (--runas) and the ephemeral range; whether interfaces, namespaces or files
 * exist is found out by those who use them. */

#include "conf.h"

#include "opt.h"
#include "word.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#define VERSION "unknown"
#endif

#define SECONDS_MAX 86400 /* of any option that takes a time */
#define OUR_MAC \
	{ \
		{ \
			0x9a, 0x55, 0x9a, 0x55, 0x9a, 0x55 \
		} \
	}

/* Bits of struct opt's @flags, above those of word.h */
#define ADDR_FLAGS 0xff
#define PASTA_ONLY 0x100
#define PASS_IN 0x200 /* second pass: ports of the host */
#define PASS_OUT 0x400 /* third pass: ports of the namespace */
#define PASS_LATE (PASS_IN | PASS_OUT)
#define NONE_OK 0x800 /* the word "none" is accepted */
#define NO_GROUP (NO_MULTICAST | NO_BROADCAST)

/* Command line being read
 * @row, @arg: the option at hand and its argument
 * @plen4: of "-a ADDR/LEN", else -1    @mask4: of -n, else -1 */
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

/* One line about the argument of an option, and the end */
__attribute__((format(printf, 2, 3))) _Noreturn static void
bad(const struct parse *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("--%s '%s': %s", p->row->name, p->arg, text);
}

/* The end, if something is @wrong with the argument of an option */
static void judge(const struct parse *p, const char *wrong, const char *cure)
{
	if (wrong)
		bad(p, "%s%s%s", wrong, cure ? ", " : "", cure ? cure : "");
}

static void *field(const struct parse *p)
{
	return (char *)p->c + p->row->at;
}

static void set_flag(struct parse *p)
{
	*(bool *)field(p) = true;
}

static void set_text(struct parse *p)
{
	if (!*p->arg)
		bad(p, "it is empty, a path is needed");
	*(const char **)field(p) = p->arg;
}

static void set_stderr(struct parse *p)
{
	if (!p->has_warned)
		warn("--%s is deprecated and has no effect", p->row->name);
	p->has_warned = true;
}

/* -d and --trace cancel -q, -q cancels both */
static void set_level(struct parse *p)
{
	enum log_level *level = &p->c->level;

	if (p->row->letter == 'q')
		*level = LEVEL_WARN;
	else if (p->row->letter != 'd')
		*level = LEVEL_TRACE;
	else if (*level < LEVEL_DEBUG)
		*level = LEVEL_DEBUG;
}

static void set_only(struct parse *p)
{
	p->c->has[FAMILY_V4] = p->row->letter == '4';
	p->c->has[FAMILY_V6] = p->row->letter == '6';
}

static void set_seconds(struct parse *p)
{
	unsigned long n;

	if (!word_number(p->arg, 10, SECONDS_MAX, &n) || !n)
		bad(p, "give seconds, 1 to %d", SECONDS_MAX);
	*(unsigned *)field(p) = (unsigned)n;
}

static void set_fd(struct parse *p)
{
	unsigned long n;

	if (!word_number(p->arg, 0, INT32_MAX, &n) || n <= 2)
		bad(p, "give the number of an open socket above 2");
	p->c->fd = (int)n;
}

static void set_mtu(struct parse *p)
{
	unsigned long n;

	if (!word_number(p->arg, 0, MTU_MAX, &n) || (n && n < MTU_MIN))
		bad(p, "give %d to %d bytes, or 0 to leave it alone", MTU_MIN,
		    MTU_MAX);
	p->c->mtu = (uint32_t)n;
}

static void set_runas(struct parse *p)
{
	judge(p, word_identity(p->arg, &p->c->uid, &p->c->gid), NULL);
	p->c->has_runas = true;
}

static void set_interface(struct parse *p)
{
	judge(p, word_ifname(p->arg), NULL);
	*(const char **)field(p) = p->arg;
}

static void set_ns_ifname(struct parse *p)
{
	judge(p, word_ifname(p->arg), NULL);
	snprintf(p->c->ifname, sizeof(p->c->ifname), "%s", p->arg);
}

static void set_mac(struct parse *p)
{
	judge(p, word_mac(p->arg, field(p)), NULL);
}

static void set_ns_mac(struct parse *p)
{
	set_mac(p);
	p->c->has_ns_mac = true;
}

static void set_addr(struct parse *p)
{
	struct addr *pair = field(p);
	struct addr a;

	if (p->row->flags & NONE_OK && !strcmp(p->arg, "none")) {
		pair[FAMILY_V4] = addr_any6;
		pair[FAMILY_V6] = addr_any6;
		if (pair == p->c->map_host_loopback)
			p->c->no_map_gw = true;
		return;
	}
	judge(p, word_addr(p->arg, p->row->flags & ADDR_FLAGS, &a),
	      p->row->flags & NONE_OK ? "give another, or none" :
					"give another");
	pair[addr_family(&a)] = a;
}

/* An IPv6 subnet has 64 bits, RFC 4862 5.5.3 d */
static void set_address(struct parse *p)
{
	struct addr a;
	int plen;

	judge(p, word_addr_plen(p->arg, p->row->flags & ADDR_FLAGS, &a, &plen),
	      "give another");
	if (addr_is_v4(&a))
		p->plen4 = plen;
	else if (plen != -1 && plen != 64)
		bad(p, "the prefix length of IPv6 must be 64");
	p->c->addr[addr_family(&a)] = a;
}

static void set_netmask(struct parse *p)
{
	judge(p, word_netmask(p->arg, &p->mask4), NULL);
}

static void set_userns(struct parse *p)
{
	set_text(p);
	p->c->is_netns_only = false;
}

static void set_netns_only(struct parse *p)
{
	set_flag(p);
	p->c->userns = NULL;
}

static void set_netns(struct parse *p)
{
	set_text(p);
	if (strchr(p->arg, '/'))
		return;
	if (strlen(p->arg) >= CONF_NAME_SIZE)
		bad(p, "this name is too long");
	snprintf(p->c->netns_path, sizeof(p->c->netns_path), "%s%s",
		 CONF_NETNS_DIR, p->arg);
	p->c->netns = p->c->netns_path;
}

/* Index of a word in the list that the row calls its argument */
static int choice(const struct parse *p)
{
	int i = word_choice(p->arg, p->row->arg);

	if (i < 0)
		bad(p, "give one of %s", p->row->arg);
	return i;
}

static void set_filter(struct parse *p)
{
	static_assert(FILTER_ADDRESS == 0 && FILTER_ENDPOINT == 1 &&
			      FILTER_PORT == 2,
		      "the order of the words");
	p->c->udp_filter = (enum fwd_filter)choice(p);
}

static void set_offload(struct parse *p)
{
	static_assert(OFFLOAD_NONE == 0 && OFFLOAD_CSUM == 1 &&
			      OFFLOAD_TSO == 2 && OFFLOAD_USO == 3,
		      "the order of the words");
	p->c->offload = (enum offload)choice(p);
}

static void set_ports(struct parse *p)
{
	char text[PORTS_ERR_MAX];

	p->env.is_outbound = p->row->flags & PASS_OUT;
	if (ports_parse(field(p), p->arg, &p->env, text))
		bad(p, "%s", text);
	if (*text)
		warn("--%s '%s': %s", p->row->name, p->arg, text);
}

static void usage(FILE *f, const struct parse *p)
{
	fprintf(f, "Usage: %s [OPTION]...%s\n\n", p->name,
		p->c->is_passt ? "" : " [PID | COMMAND [ARGUMENT]...]");
	opt_help(f, &p->walk, p->c->is_passt ? PASTA_ONLY : 0);
}

_Noreturn static void set_help(struct parse *p)
{
	usage(stdout, p);
	exit(0);
}

_Noreturn static void set_version(struct parse *p)
{
	printf("%s %s\n", p->name, VERSION);
	exit(0);
}

#define AT(member) offsetof(struct conf, member)
#define SPEC_ARG "none|auto|[ADDR[%IF]/]PORTS"

/* @at: offset of the field in struct conf */
static const struct opt rows[] = {
	{ "help", 'h', 0, NULL, "show this text", set_help, 0 },
	{ "version", 0, 0, NULL, "show the version", set_version, 0 },
	{ "debug", 'd', 0, NULL, "say more, with time stamps", set_level, 0 },
	{ "trace", 0, 0, NULL, "say something about every packet", set_level,
	  0 },
	{ "quiet", 'q', 0, NULL, "only warnings and errors", set_level, 0 },
	{ "foreground", 'f', 0, NULL, "stay in the foreground", set_flag,
	  AT(is_foreground) },
	{ "stderr", 'e', 0, NULL, "no effect, deprecated", set_stderr, 0 },
	{ "log-file", 'l', 0, "PATH", "log there, not to syslog", set_text,
	  AT(log_file) },
	{ "stats", 0, 0, "SECONDS", "log all counters that often", set_seconds,
	  AT(stats_s) },
	{ "runas", 0, 0, "UID|LOGIN[:GID|GROUP]", "become this user", set_runas,
	  0 },
	{ "fd", 'F', 0, "FD", "serve the peer of this open socket", set_fd, 0 },
	{ "pid", 'P', 0, "PATH", "write the process number there", set_text,
	  AT(pid_file) },

	{ "mtu", 'm', 0, "BYTES", "MTU of the link, 0: do not set (65520)",
	  set_mtu, 0 },
	{ "address", 'a', NO_ANY | NO_LOOPBACK | NO_GROUP | NO_COMPAT,
	  "ADDR[/LEN]", "give the guest this address", set_address, 0 },
	{ "netmask", 'n', 0, "MASK", "its IPv4 mask or prefix length",
	  set_netmask, 0 },
	{ "mac-addr", 'M', 0, "MAC", "our MAC address (9a:55:9a:55:9a:55)",
	  set_mac, AT(mac) },
	{ "gateway", 'g', NO_ANY | NO_LOOPBACK | NO_GROUP, "ADDR",
	  "give the guest this gateway", set_addr, AT(gw) },
	{ "interface", 'i', 0, "NAME", "host interface to copy from",
	  set_interface, AT(interface) },
	{ "outbound", 'o', NO_ANY | NO_LOOPBACK6 | NO_GROUP | NO_COMPAT, "ADDR",
	  "send from this host address", set_addr, AT(outbound) },
	{ "outbound-if4", 0, 0, "NAME", "send IPv4 by this interface",
	  set_interface, AT(outbound_if[FAMILY_V4]) },
	{ "outbound-if6", 0, 0, "NAME", "send IPv6 by this interface",
	  set_interface, AT(outbound_if[FAMILY_V6]) },
	{ "dns-forward", 0, NO_ANY | NO_LOOPBACK | NO_BROADCAST, "ADDR",
	  "resolver's address in the guest", set_addr, AT(dns_forward) },
	{ "dns-host", 0, NO_ANY | NO_BROADCAST, "ADDR",
	  "the resolver behind it", set_addr, AT(dns_host) },
	{ "no-map-gw", 0, 0, NULL, "the gateway does not stand for the host",
	  set_flag, AT(no_map_gw) },
	{ "map-host-loopback", 0, NO_ANY | NO_LOOPBACK | NO_MULTICAST | NONE_OK,
	  "ADDR|none", "stands for the host's loopback", set_addr,
	  AT(map_host_loopback) },
	{ "map-guest-addr", 0, NO_ANY | NO_LOOPBACK | NO_MULTICAST | NONE_OK,
	  "ADDR|none", "stands for the guest's address at the host", set_addr,
	  AT(map_guest_addr) },
	{ "ipv4-only", '4', 0, NULL, "no IPv6", set_only, 0 },
	{ "ipv6-only", '6', 0, NULL, "no IPv4", set_only, 0 },

	{ "tcp-ports", 't', PASS_IN, SPEC_ARG, "forward TCP in (only none yet)",
	  set_ports, AT(tcp_in) },
	{ "udp-ports", 'u', PASS_IN, SPEC_ARG, "forward UDP in", set_ports,
	  AT(udp_in) },
	{ "udp-timeout", 0, 0, "SECONDS", "keep idle UDP flows (180)",
	  set_seconds, AT(udp_timeout_s) },
	{ "udp-filter", 0, 0, "address|endpoint|port",
	  "who may answer the guest (address)", set_filter, 0 },
	{ "offload", 0, 0, "none|csum|tso|uso",
	  "most that may be offloaded (uso)", set_offload, 0 },
	{ "no-tcp", 0, 0, NULL, "no TCP (not carried yet)", set_flag,
	  AT(no_tcp) },
	{ "no-udp", 0, 0, NULL, "carry no UDP", set_flag, AT(no_udp) },
	{ "no-icmp", 0, 0, NULL, "no ICMP (not carried yet)", set_flag,
	  AT(no_icmp) },
	{ "no-dhcp", 0, 0, NULL, "do not answer DHCP", set_flag, AT(no_dhcp) },
	{ "no-dhcpv6", 0, 0, NULL, "do not answer DHCPv6", set_flag,
	  AT(no_dhcpv6) },
	{ "no-ndp", 0, 0, NULL, "no answers to neighbour discovery", set_flag,
	  AT(no_ndp) },
	{ "no-ra", 0, 0, NULL, "no router advertisements", set_flag,
	  AT(no_ra) },
	{ "no-splice", 0, 0, NULL, "loopback traffic takes the tap too",
	  set_flag, AT(no_splice) },

	{ "ns-ifname", 'I', PASTA_ONLY, "NAME", "the tap's name", set_ns_ifname,
	  0 },
	{ "tcp-ns", 'T', PASS_OUT | PASTA_ONLY, "none|auto|PORTS",
	  "forward TCP out (only none yet)", set_ports, AT(tcp_out) },
	{ "udp-ns", 'U', PASS_OUT | PASTA_ONLY, "none|auto|PORTS",
	  "forward UDP out of loopback", set_ports, AT(udp_out) },
	{ "userns", 0, PASTA_ONLY, "PATH", "user namespace to join", set_userns,
	  AT(userns) },
	{ "netns", 0, PASTA_ONLY, "PATH|NAME", "network namespace to join",
	  set_netns, AT(netns) },
	{ "netns-only", 0, PASTA_ONLY, NULL,
	  "neither join nor make a user namespace", set_netns_only,
	  AT(is_netns_only) },
	{ "no-netns-quit", 0, PASTA_ONLY, NULL, "stay when the namespace goes",
	  set_flag, AT(no_netns_quit) },
	{ "config-net", 0, PASTA_ONLY, NULL, "configure the tap", set_flag,
	  AT(config_net) },
	{ "ns-mac-addr", 0, PASTA_ONLY, "MAC", "the tap's MAC address",
	  set_ns_mac, AT(ns_mac) },
	{ "host-lo-to-ns-lo", 0, PASTA_ONLY, NULL,
	  "loopback traffic stays on loopback", set_flag,
	  AT(host_lo_to_ns_lo) },
};

/* Take the options of one pass; @late: PASS_* or 0. Whatever getopt_long()
 * has to complain about, it says in the first. */
static void pass(struct parse *p, unsigned late)
{
	enum opt_found found;

	p->walk.i = 0;
	while ((found = opt_next(&p->walk, &p->row, &p->arg)) != OPT_END) {
		if (found == OPT_BAD) {
			usage(stderr, p);
			exit(1);
		}
		if ((p->row->flags & PASS_LATE) != late)
			continue;
		if (p->row->flags & PASTA_ONLY && p->c->is_passt)
			die("--%s: only pasta has this option, passt serves "
			    "no namespace",
			    p->row->name);
		p->row->set(p);
	}
}

static bool forwards(const struct ports *ports)
{
	return ports->n || ports->is_auto;
}

/* Words behind the options, and what the target implies */
static void finish_target(struct conf *c, int n, char **word)
{
	if (c->is_passt && n)
		die("'%s': passt takes options only, no command or PID",
		    word[0]);
	if (c->is_passt && c->fd < 0)
		die("passt: serving a VM over a UNIX socket is not part of "
		    "this version, give a connected socket with --fd");
	if (n && (c->netns || c->fd >= 0))
		die("'%s': a command or PID and --%s exclude each other",
		    word[0], c->netns ? "netns" : "fd");
	if (c->netns && c->fd >= 0)
		die("--netns and --fd exclude each other: give one");
	if (c->fd >= 0) {
		c->target = TARGET_FD;
	} else if (c->netns) {
		c->target = TARGET_NETNS;
		c->is_netns_only = !c->userns;
	} else if (n == 1 && !word[0][strspn(word[0], "0123456789")] &&
		   *word[0]) {
		unsigned long pid;

		if (!word_number(word[0], 10, INT32_MAX, &pid) || !pid)
			die("'%s': no process has this PID", word[0]);
		c->target = TARGET_PID;
		c->pid = (pid_t)pid;
	} else {
		c->target = TARGET_COMMAND;
		c->command = n ? word : NULL;
		c->is_foreground = true;
		if (c->level == LEVEL_INFO)
			c->level = LEVEL_WARN;
	}
	if (c->userns && (c->target == TARGET_COMMAND || c->fd >= 0))
		die("--userns '%s': it needs --netns or a PID", c->userns);
}

/* "auto" unless ports were given, where there is a namespace to look into */
static void finish_udp(struct parse *p, struct ports *ports, const char *name)
{
	bool has_ns = p->c->target != TARGET_FD;
	char text[PORTS_ERR_MAX];

	if (p->c->no_udp && forwards(ports))
		die("--%s: ports cannot be forwarded with --no-udp, give one "
		    "of them",
		    name);
	if (!has_ns &&
	    (ports->is_auto || (ports == &p->c->udp_out && ports->n)))
		die("--%s: without a namespace only -u with listed ports is "
		    "possible",
		    name);
	if (has_ns && !p->c->no_udp && !forwards(ports) && !ports->is_none)
		ports_parse(ports, "auto", &p->env, text);
}

static void finish(struct parse *p, int n, char **word)
{
	struct conf *c = p->c;

	finish_target(c, n, word);
	if (p->plen4 >= 0 && p->mask4 >= 0)
		die("--netmask %d: --address has a prefix length already, "
		    "give one of them",
		    p->mask4);
	c->plen4 = p->plen4 >= 0 ? p->plen4 : p->mask4;
	if (forwards(&c->tcp_in) || forwards(&c->tcp_out))
		die("--%s: TCP is not carried yet, give 'none' or leave it "
		    "out",
		    forwards(&c->tcp_in) ? "tcp-ports" : "tcp-ns");
	finish_udp(p, &c->udp_in, "udp-ports");
	finish_udp(p, &c->udp_out, "udp-ns");
}

/* What port specifications depend on, known after the first pass */
static void ports_env_init(struct parse *p)
{
	p->env.has[FAMILY_V4] = p->c->has[FAMILY_V4];
	p->env.has[FAMILY_V6] = p->c->has[FAMILY_V6];
	if (!ports_ephemeral(&p->env.ephemeral_first, &p->env.ephemeral_last))
		warn("the range of ephemeral ports cannot be read, taking "
		     "%u-%u",
		     p->env.ephemeral_first, p->env.ephemeral_last);
}

/* The name the program was called by decides what it is */
static const char *program_name(int argc, char **argv)
{
	const char *base = argc ? strrchr(argv[0], '/') : NULL;

	if (argc)
		base = base ? base + 1 : argv[0];
	if (base && strstr(base, "pasta"))
		return "pasta";
	if (base && strstr(base, "passt"))
		return "passt";
	die("'%s': call this program by a name with pasta or passt in it",
	    base ? base : "");
}

static void defaults(struct conf *c)
{
	c->level = LEVEL_INFO;
	c->fd = -1;
	c->mtu = MTU_DEFAULT;
	c->mac = (struct mac)OUR_MAC;
	c->offload = OFFLOAD_USO;
	c->udp_timeout_s = UDP_IDLE_MS / 1000;
	c->has[FAMILY_V4] = true;
	c->has[FAMILY_V6] = true;
}

void conf_parse(struct conf *c, int argc, char **argv)
{
	struct parse p = {
		.c = c,
		.name = program_name(argc, argv),
		.walk = { rows, sizeof(rows) / sizeof(rows[0]), argc, argv, 0 },
		.plen4 = -1,
		.mask4 = -1,
	};

	c->is_passt = !strcmp(p.name, "passt");
	defaults(c);
	pass(&p, 0);
	ports_env_init(&p);
	pass(&p, PASS_IN);
	pass(&p, PASS_OUT);
	finish(&p, argc - p.walk.i, argv + p.walk.i);
}
