/* cmdline.c - the command line
 *
 * Problem: some ninety options of two program names, which other programs probe
 * by their exact messages, whose help, parser and documentation must not drift
 * apart.
 *
 * Idea: one table. A row says what an option is called, what its argument is
 * called, one line of help, which function takes it (set.c) and which field it
 * is about. The help text, the parser's arrays and the dispatch are made of the
 * rows (opt.c), and the shell completions of the help text; a test asks that
 * the manual page has each of them. A new option is one row.
 *
 * Options that mean nothing here are rows as well, so that who passes one is
 * told so in a line, and only an unknown one is answered by the usage.
 *
 * The words are read three times: ports are understood only when families are
 * known (-4 may stand behind -u), and those of the namespace come last. What
 * depends on several options is judged at the end, by finish().
 *
 * This opens nothing but the password database (--runas) and the ephemeral
 * range. */

#include "cmdline.h"

#include "set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#define VERSION "unknown"
#endif

#define LOG_SIZE_DEFAULT (1 << 20) /* bytes */
#define OUR_MAC \
	{ \
		{ \
			0x9a, 0x55, 0x9a, 0x55, 0x9a, 0x55 \
		} \
	}

const char *cmdline_version(void)
{
	return VERSION;
}

static void usage(FILE *f, const struct parse *p)
{
	fprintf(f, "Usage: %s [OPTION]...%s\n\n", p->name,
		p->c->is_passt ? "" : " [PID | COMMAND [ARGUMENT]...]");
	opt_help(f, &p->walk,
		 HIDDEN | (p->c->is_passt ? PASTA_ONLY : PASST_ONLY));
}

_Noreturn static void show_help(struct parse *p)
{
	usage(stdout, p);
	exit(0);
}

_Noreturn static void show_version(struct parse *p)
{
	printf("%s %s\n", p->name, VERSION);
	exit(0);
}

#define AT(member) offsetof(struct conf, member)
#define SPEC_ARG "none|auto|[ADDR[%IF]/]PORTS"

/* @at: offset of the field in struct conf */
static const struct opt rows[] = {
	{ "help", 'h', 0, NULL, "show this text", show_help, 0 },
	{ "version", 0, 0, NULL, "show the version", show_version, 0 },
	{ "check", 0, 0, NULL, "say what this host offers and lacks", set_flag,
	  AT(check) },
	{ "json", 0, 0, NULL, "--check: in JSON", set_flag, AT(json) },
	{ "debug", 'd', 0, NULL, "say more, with time stamps", set_level, 0 },
	{ "trace", 0, 0, NULL, "say something about every packet", set_level,
	  0 },
	{ "quiet", 'q', 0, NULL, "only warnings and errors", set_level, 0 },
	{ "foreground", 'f', 0, NULL, "stay in the foreground", set_flag,
	  AT(is_foreground) },
	{ "stderr", 'e', 0, NULL, "no effect, deprecated", set_stderr, 0 },
	{ "log-file", 'l', 0, "PATH", "log there, not to syslog", set_text,
	  AT(log_file) },
	{ "log-size", 0, 0, "BYTES", "cut the log file at this size (1048576)",
	  set_log_size, 0 },
	{ "pcap", 'p', 0, "PATH", "record the guest's frames there", set_text,
	  AT(pcap_file) },
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
	{ "dns", 'D', NO_ANY | NONE_OK, "ADDR|none",
	  "resolver that the guest is told", set_dns, 0 },
	{ "dns-forward", 0, NO_ANY | NO_LOOPBACK | NO_BROADCAST, "ADDR",
	  "resolver's address in the guest", set_addr, AT(dns_forward) },
	{ "dns-host", 0, NO_ANY | NO_BROADCAST, "ADDR",
	  "the resolver behind it", set_addr, AT(dns_host) },
	{ "search", 'S', 0, "DOMAINS|none", "search list that it is told",
	  set_search, 0 },
	{ "hostname", 'H', 0, "NAME", "host name that it is told", set_domain,
	  AT(hostname) },
	{ "fqdn", 0, 0, "NAME", "the same with its domain", set_domain,
	  AT(fqdn) },
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

	{ "tcp-ports", 't', PASS_IN, SPEC_ARG, "forward TCP in", set_ports,
	  AT(tcp_in) },
	{ "udp-ports", 'u', PASS_IN, SPEC_ARG, "forward UDP in", set_ports,
	  AT(udp_in) },
	{ "freebind", 0, 0, NULL, "-t, -u: the address may be absent yet",
	  set_flag, AT(freebind) },
	{ "udp-timeout", 0, 0, "SECONDS", "keep idle UDP flows (180)",
	  set_seconds, AT(udp_timeout_s) },
	{ "allow", 0, 0, "PREFIX[:PORTS]",
	  "the guest may speak to these, and no others", set_allow, 0 },
	{ "deny", 0, 0, "PREFIX[:PORTS]", "the guest may not speak to these",
	  set_deny, 0 },
	{ "udp-filter", 0, 0, "address|endpoint|port",
	  "who may answer the guest (address)", set_filter, 0 },
	{ "offload", 0, 0, "none|csum|tso|uso",
	  "most that may be offloaded (uso)", set_offload, 0 },
	{ "no-tcp", 0, 0, NULL, "carry no TCP", set_flag, AT(no_tcp) },
	{ "no-udp", 0, 0, NULL, "carry no UDP", set_flag, AT(no_udp) },
	{ "no-icmp", 0, 0, NULL, "no echo, no neighbour discovery", set_flag,
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
	  "forward TCP out of loopback", set_ports, AT(tcp_out) },
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
	{ "no-pidns", 0, PASTA_ONLY, NULL, "no PID namespace for the command",
	  set_flag, AT(no_pidns) },
	{ "config-net", 0, PASTA_ONLY, NULL, "configure the tap", set_flag,
	  AT(config_net) },
	{ "no-copy-routes", 0, PASTA_ONLY, NULL,
	  "only a default route, deprecated", set_flag, AT(no_copy_routes) },
	{ "no-copy-addrs", 0, PASTA_ONLY, NULL, "only one address, deprecated",
	  set_flag, AT(no_copy_addrs) },
	{ "ns-mac-addr", 0, PASTA_ONLY, "MAC", "the tap's MAC address",
	  set_ns_mac, AT(ns_mac) },
	{ "host-lo-to-ns-lo", 0, PASTA_ONLY, NULL,
	  "loopback traffic stays on loopback", set_flag,
	  AT(host_lo_to_ns_lo) },
	{ "splice-only", 0, PASTA_ONLY, NULL, "no tap, only loopback traffic",
	  set_flag, AT(splice_only) },
	{ "dhcp-dns", 0, PASTA_ONLY, NULL, "tell the guest resolvers", set_flag,
	  AT(has_dhcp_dns) },
	{ "dhcp-search", 0, PASTA_ONLY, NULL, "tell it the search list",
	  set_flag, AT(has_dhcp_search) },

	{ "socket", 's', PASST_ONLY | HIDDEN, "PATH", "", set_socket, 0 },
	{ "socket-path", 0, PASST_ONLY | HIDDEN, "PATH", "", set_socket, 0 },
	{ "one-off", '1', PASST_ONLY, NULL,
	  "end when the guest's link is closed; always", set_nothing, 0 },
	{ "no-dhcp-dns", 0, PASST_ONLY, NULL, "do not tell resolvers",
	  set_false, AT(has_dhcp_dns) },
	{ "no-dhcp-search", 0, PASST_ONLY, NULL, "do not tell a search list",
	  set_false, AT(has_dhcp_search) },
	{ "repair-path", 0, PASST_ONLY | HIDDEN, "PATH", "", set_nothing, 0 },
	{ "migrate-exit", 0, PASST_ONLY | HIDDEN, NULL, "", set_nothing, 0 },
	{ "migrate-no-linger", 0, PASST_ONLY | HIDDEN, NULL, "", set_nothing,
	  0 },
	{ "vhost-user", 0, PASST_ONLY | HIDDEN, NULL, "", set_absent, 0 },
	{ "print-capabilities", 0, PASST_ONLY | HIDDEN, NULL, "", set_absent,
	  0 },
	{ "conf-path", 'c', HIDDEN, "PATH", "", set_absent, 0 },
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
		if (p->row->flags & PASST_ONLY && !p->c->is_passt)
			die("--%s: only passt has this option, pasta serves "
			    "no VM",
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
	if (c->no_pidns && c->target != TARGET_COMMAND)
		die("--no-pidns: it needs a command, or none for a shell");
}

/* "auto" unless ports were given, where there is a namespace to look into */
static void finish_ports(struct parse *p, const struct opt *row)
{
	struct ports *ports = (void *)((char *)p->c + row->at);
	bool is_tcp = ports == &p->c->tcp_in || ports == &p->c->tcp_out;
	bool is_off = is_tcp ? p->c->no_tcp : p->c->no_udp;
	bool has_ns = p->c->target != TARGET_FD;
	char text[PORTS_ERR_MAX];

	if (is_off && forwards(ports))
		die("--%s: ports cannot be forwarded with --no-%s, give one "
		    "of them",
		    row->name, is_tcp ? "tcp" : "udp");
	if (!has_ns && (ports->is_auto || (row->flags & PASS_OUT && ports->n)))
		die("--%s: without a namespace only -t and -u with listed "
		    "ports are possible",
		    row->name);
	if (has_ns && !is_off && !forwards(ports) && !ports->is_none)
		ports_parse(ports, "auto", &p->env, text);
}

static void finish_old(const struct conf *c, bool is_given, const char *name)
{
	if (is_given && !c->config_net)
		die("--%s: it needs --config-net", name);
	if (is_given)
		warn("--%s is deprecated", name);
}

static void finish_net(struct conf *c)
{
	finish_old(c, c->no_copy_routes, "no-copy-routes");
	finish_old(c, c->no_copy_addrs, "no-copy-addrs");
	if (c->splice_only && c->no_splice)
		die("--splice-only and --no-splice leave nothing to carry: "
		    "give one");
	/* There is no other address in the namespace then */
	c->host_lo_to_ns_lo |= c->splice_only;
	/* Neighbour discovery is ICMPv6 */
	c->no_ndp |= c->no_icmp;
	/* The tap is configured from here, not by its kernel */
	c->no_ra |= c->config_net;
}

static void finish(struct parse *p, int n, char **word)
{
	struct conf *c = p->c;
	size_t i;

	finish_target(c, n, word);
	if (p->plen4 >= 0 && p->mask4 >= 0)
		die("--netmask %d: --address has a prefix length already, "
		    "give one of them",
		    p->mask4);
	c->plen4 = p->plen4 >= 0 ? p->plen4 : p->mask4;
	finish_net(c);
	for (i = 0; i < p->walk.n; i++)
		if (p->walk.opt[i].set == set_ports)
			finish_ports(p, &p->walk.opt[i]);
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
	c->log_size = LOG_SIZE_DEFAULT;
	c->has_dhcp_dns = c->is_passt;
	c->has_dhcp_search = c->is_passt;
	c->level = LEVEL_INFO;
	c->fd = -1;
	c->mtu = MTU_DEFAULT;
	c->mac = (struct mac)OUR_MAC;
	c->offload = OFFLOAD_USO;
	c->udp_timeout_s = UDP_IDLE_MS / 1000;
	c->has[FAMILY_V4] = true;
	c->has[FAMILY_V6] = true;
}

void cmdline_parse(struct conf *c, int argc, char **argv)
{
	struct parse p = {
		.c = c,
		.name = program_name(argc, argv),
		.walk = { rows, sizeof(rows) / sizeof(rows[0]), argc, argv, 0 },
		.plen4 = -1,
		.mask4 = -1,
	};

	log_init(p.name);
	c->is_passt = !strcmp(p.name, "passt");
	defaults(c);
	pass(&p, 0);
	ports_env_init(&p);
	pass(&p, PASS_IN);
	pass(&p, PASS_OUT);
	finish(&p, argc - p.walk.i, argv + p.walk.i);
}
