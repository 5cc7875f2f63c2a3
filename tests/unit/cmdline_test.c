/* cmdline_test.c - whole command lines
 *
 * A case is a command line, words separated by blanks ("@" for an empty one, "_"
 * for a blank in the argument of -S and --fqdn),
 * the exit status, and what must be found in the output. Each runs in a child,
 * since cmdline_parse() ends the process on bad input; a good one prints what
 * struct conf holds, as "name=value" words.
 *
 * Then every row of the table is tried against what its help says. */

#include "check.h"
#include "cmdline.h"

#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 64

static struct conf conf;

static void print_pair(const char *name, const struct addr a[FAMILY_COUNT])
{
	char text[ADDR_STRLEN];

	for (int f = 0; f < FAMILY_COUNT; f++)
		if (addr_is_set(&a[f]))
			printf("%s%d=%s ", name, f ? 6 : 4,
			       addr_format(&a[f], text));
}

static void print_ports(const char *name, const struct ports *p)
{
	printf("%s=%s%s", name, p->is_none ? "none" : "",
	       p->is_auto ? "auto" : "");
	for (unsigned i = 0; i < p->n; i++)
		printf("%s%u-%u:%u", i ? "," : "", p->rule[i].first,
		       p->rule[i].last, p->rule[i].target);
	printf(" ");
}

static void print_text(const char *name, const char *value)
{
	if (value && *value)
		printf("%s=%s ", name, value);
}

static void print_mac(const char *name, const struct mac *m)
{
	printf("%s=%02x:%02x:%02x:%02x:%02x:%02x ", name, m->b[0], m->b[1],
	       m->b[2], m->b[3], m->b[4], m->b[5]);
}

static void print_life(const struct conf *c)
{
	static const char *const target[] = { "command", "pid", "netns", "fd" };

	printf("OK passt=%d target=%s pid=%d fd=%d level=%d stats=%u ",
	       c->is_passt, target[c->target], (int)c->pid, c->fd,
	       (int)c->level, c->stats_s);
	for (char **w = c->command; w && *w; w++)
		printf("word=%s ", *w);
	print_text("netns", c->netns);
	print_text("userns", c->userns);
	print_text("pid_file", c->pid_file);
	print_text("log_file", c->log_file);
	printf("netns_only=%d no_quit=%d foreground=%d ", c->is_netns_only,
	       c->no_netns_quit, c->is_foreground);
	if (c->has_runas)
		printf("runas=%u:%u ", c->uid, c->gid);
}

static void print_told(const struct conf *c)
{
	char text[ADDR_STRLEN];

	printf("log_size=%u ", c->log_size);
	print_text("pcap", c->pcap_file);
	for (int f = 0; f < FAMILY_COUNT; f++) {
		printf("tell%d=%d:", f ? 6 : 4, c->has_dns[f]);
		for (unsigned i = 0; i < c->n_dns[f]; i++)
			printf("%s,", addr_format(&c->dns[f][i], text));
		printf(" ");
	}
	printf("search=%d:", c->has_search);
	for (unsigned i = 0; i < c->n_search; i++)
		printf("%s,", c->search[i]);
	printf(" ");
	print_text("hostname", c->hostname);
	print_text("fqdn", c->fqdn);
	printf("off=%s%s%s%s%s%s ", c->no_dhcp ? "4" : "",
	       c->no_dhcpv6 ? "6" : "", c->no_ndp ? "n" : "",
	       c->no_ra ? "r" : "", c->no_tcp ? "t" : "",
	       c->no_icmp ? "i" : "");
	printf("announce=%d%d copy=%d%d freebind=%d splice_only=%d ",
	       c->has_dhcp_dns, c->has_dhcp_search, !c->no_copy_routes,
	       !c->no_copy_addrs, c->freebind, c->splice_only);
}

static void print_rest(const struct conf *c)
{
	printf("config_net=%d mtu=%u offload=%d has=%d%d plen4=%d ",
	       c->config_net, c->mtu, (int)c->offload, c->has[FAMILY_V4],
	       c->has[FAMILY_V6], c->plen4);
	print_text("ifname", c->ifname);
	print_text("interface", c->interface);
	print_text("if4", c->outbound_if[FAMILY_V4]);
	print_text("if6", c->outbound_if[FAMILY_V6]);
	print_mac("mac", &c->mac);
	if (c->has_ns_mac)
		print_mac("ns_mac", &c->ns_mac);
	print_pair("addr", c->addr);
	print_pair("gw", c->gw);
	print_pair("out", c->outbound);
	print_pair("dns", c->dns_forward);
	print_pair("dns_host", c->dns_host);
	print_pair("host_lo", c->map_host_loopback);
	print_pair("guest_alias", c->map_guest_addr);
	printf("no_map_gw=%d no_udp=%d no_splice=%d lo_lo=%d ", c->no_map_gw,
	       c->no_udp, c->no_splice, c->host_lo_to_ns_lo);
	printf("filter=%d timeout=%u ", (int)c->udp_filter, c->udp_timeout_s);
	print_told(c);
	print_ports("u", &c->udp_in);
	print_ports("U", &c->udp_out);
	print_ports("t", &c->tcp_in);
	print_ports("T", &c->tcp_out);
	printf(".\n");
}

static void child(char *line)
{
	char *argv[WORDS_MAX] = { 0 };
	char *save = NULL;
	int argc = 0;

	for (char *s = strtok_r(line, " ", &save); s && argc < WORDS_MAX - 1;
	     s = strtok_r(NULL, " ", &save))
		argv[argc++] = *s == '@' ? s + 1 : s;
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i - 1], "-S") ||
		    !strcmp(argv[i - 1], "--fqdn"))
			for (char *u; (u = strchr(argv[i], '_'));)
				*u = ' ';
	log_init("pasta");
	cmdline_parse(&conf, argc, argv);
	print_life(&conf);
	print_rest(&conf);
	exit(0);
}

/* Run a command line; both outputs, stdout's in front, go into @text */
static int run(const char *words, char *text, size_t size)
{
	char copy[1024];
	FILE *out = tmpfile();
	FILE *errors = tmpfile();
	int status = -1;
	size_t n;
	pid_t pid;

	if (!out || !errors)
		return -1;
	snprintf(copy, sizeof(copy), "%s", words);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fileno(out), 1);
		dup2(fileno(errors), 2);
		child(copy);
	}
	waitpid(pid, &status, 0);
	rewind(out);
	n = fread(text, 1, size - 2, out);
	text[n++] = '|';
	rewind(errors);
	n += fread(text + n, 1, size - 1 - n, errors);
	text[n] = '\0';
	fclose(out);
	fclose(errors);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct row {
	const char *words;
	int status;
	const char *want[3]; /* parts of the output; "!" in front: not there */
};

static const struct row rows[] = {
	/* Names */
	{ "pasta", 0, { "passt=0 target=command ", "!word=" } },
	{ "/usr/bin/pasta", 0, { "passt=0" } },
	{ "pasta.avx2", 0, { "passt=0" } },
	{ "/opt/passt/pasta", 0, { "passt=0" } },
	{ "/opt/pasta/passt --fd 3", 0, { "passt=1 target=fd", "fd=3" } },
	{ "noodles", 1, { "|pasta: error: 'noodles': call" } },
	{ "/pasta/noodles", 1, { "'noodles'" } },
	/* Defaults */
	{ "pasta",
	  0,
	  { "mtu=65520 offload=3 has=11 plen4=-1", "mac=9a:55:9a:55:9a:55 ",
	    "filter=0 timeout=180" } },
	{ "pasta", 0, { "u=auto U=auto t=auto T=auto .", "fd=-1", "stats=0" } },
	{ "pasta",
	  0,
	  { "netns_only=0 no_quit=0", "no_map_gw=0 no_udp=0", "!|pasta" } },
	{ "passt --fd 3", 0, { "u= U= t= T=", "level=2", "foreground=0" } },
	/* Where options end */
	{ "pasta -f -- -f -x", 0, { "word=-f word=-x " } },
	{ "pasta ls -l --foo", 0, { "word=ls word=-l word=--foo" } },
	{ "pasta 123", 0, { "target=pid pid=123 ", "!word" } },
	{ "pasta -f 123", 0, { "target=pid", "foreground=1" } },
	{ "pasta 123 456", 0, { "target=command", "word=123 word=456" } },
	{ "pasta 12a", 0, { "word=12a " } },
	{ "pasta 0", 1, { "'0': no process has this PID" } },
	{ "pasta 99999999999", 1, { "no process has this PID" } },
	/* Unknown options and those that end */
	{ "pasta --foo", 1, { "unrecognized option '--foo'", "Usage: pasta" } },
	{ "pasta --map-guest-addrs none",
	  1,
	  { "unrecognized option '--map-guest-addrs'" } },
	{ "pasta -Z", 1, { "invalid option -- 'Z'", "|pasta: inv" } },
	{ "pasta --mtu", 1, { "requires an argument", "Usage: pasta" } },
	{ "pasta --foo --version", 1, { "unrecognized option '--foo'" } },
	{ "pasta --version", 0, { "pasta ", "\n|", "!Usage" } },
	{ "passt --version", 0, { "passt ", "\n|" } },
	{ "pasta --version --foo -m 1", 0, { "pasta ", "\n|", "!Usage" } },
	{ "pasta -m 1 --version", 1, { "--mtu '1'" } },
	{ "pasta --host-lo-to-ns-lo --version",
	  0,
	  { "pasta ", "\n|", "!Usage" } },
	{ "pasta --help", 0, { "Usage: pasta", "--netns ", "!|Usage" } },
	{ "pasta -h", 0, { "  -u, --udp-ports " } },
	{ "passt -h",
	  0,
	  { "Usage: passt [OPTION]...\n", "!--netns ", "  -F, --fd FD" } },
	/* Of the other mode */
	{ "passt --netns /x --fd 3", 1, { "--netns: only pasta" } },
	{ "passt --config-net --fd 3", 1, { "--config-net: only pasta" } },
	{ "passt -T none --fd 3", 1, { "--tcp-ns: only pasta" } },
	{ "passt -I x --fd 3", 1, { "--ns-ifname: only pasta" } },
	{ "/opt/pasta/passt -I x --fd 3", 1, { "passt: error: --ns-ifname" } },
	{ "passt --no-splice --fd 3", 0, { "no_splice=1" } },
	{ "passt", 1, { "UNIX socket is not part of this version", "--fd" } },
	{ "passt --fd 3 ls", 1, { "'ls': passt takes options only" } },
	/* Levels */
	{ "pasta -d 1", 0, { "level=3" } },
	{ "pasta --trace -d 1", 0, { "level=4" } },
	{ "pasta -q -d 1", 0, { "level=3" } },
	{ "pasta -d --trace -q 1", 0, { "level=1" } },
	{ "pasta 1", 0, { "level=2 " } },
	{ "pasta ls", 0, { "level=1 ", "foreground=1" } },
	{ "pasta -d ls", 0, { "level=3 " } },
	{ "pasta -e -e --stderr 1",
	  0,
	  { "|pasta: warning: --stderr is deprecated and has no effect\n" } },
	/* Life */
	{ "pasta -l /l -P /p --stats 5 1",
	  0,
	  { "stats=5", "pid_file=/p log_file=/l" } },
	{ "pasta -l @ 1", 1, { "--log-file ''" } },
	{ "pasta --stats 0 1", 1, { "--stats '0': give seconds" } },
	{ "pasta --stats 5s 1", 1, { "--stats '5s'" } },
	{ "pasta --runas 5 1", 0, { "runas=5:5 " } },
	{ "pasta --runas 0x10:7 1", 0, { "runas=16:7 " } },
	{ "pasta --runas 0 1", 0, { "runas=0:0 " } },
	{ "pasta --runas root 1", 1, { "--runas 'root': this user is root" } },
	{ "pasta --runas no-such-user 1", 1, { "there is no such user" } },
	{ "pasta --fd 0x10", 0, { "target=fd", "fd=16", "u= U=" } },
	{ "pasta --fd 2", 1, { "--fd '2': give the number" } },
	{ "pasta --fd x", 1, { "--fd 'x'" } },
	{ "pasta --fd 3 ls", 1, { "'ls'", "--fd exclude" } },
	{ "pasta --fd 3 --netns /x", 1, { "exclude each other" } },
	{ "pasta --fd 3 --userns /x", 1, { "--userns '/x'" } },
	/* Namespaces */
	{ "pasta --netns /a/b", 0, { "netns=/a/b ", "netns_only=1" } },
	{ "pasta --netns=./b", 0, { "netns=./b " } },
	{ "pasta --netns blue", 0, { "netns=/run/netns/blue " } },
	{ "pasta --netns blue --netns /x", 0, { "netns=/x " } },
	{ "pasta --netns @", 1, { "--netns '': it is empty" } },
	{ "pasta --netns /x ls", 1, { "'ls'", "--netns exclude" } },
	{ "pasta --netns /x 1", 1, { "exclude each other" } },
	{ "pasta --netns /x --userns /y", 0, { "userns=/y", "netns_only=0" } },
	{ "pasta --netns /x --userns /y --netns-only",
	  0,
	  { "!userns", "netns_only=1" } },
	{ "pasta --netns-only --userns /y 1", 0, { "userns=/y", "only=0" } },
	{ "pasta --netns-only 1", 0, { "target=pid", "netns_only=1" } },
	{ "pasta --userns /y", 1, { "--userns '/y': it needs --netns" } },
	{ "pasta --no-netns-quit 1", 0, { "no_quit=1" } },
	/* Link */
	{ "pasta -m 0", 0, { "mtu=0 " } },
	{ "pasta -m 68", 0, { "mtu=68 " } },
	{ "pasta -m 0x5dc", 0, { "mtu=1500 " } },
	{ "pasta --mtu=65521 -m 9000", 0, { "mtu=9000 " } },
	{ "pasta -m 67", 1, { "--mtu '67': give 68 to 65521" } },
	{ "pasta -m 65522", 1, { "--mtu '65522'" } },
	{ "pasta -m abc", 1, { "--mtu 'abc'" } },
	{ "pasta -m 1500x", 1, { "--mtu '1500x'" } },
	{ "pasta -I tap7 --config-net", 0, { "ifname=tap7", "config_net=1" } },
	{ "pasta -I abcdefghijklmnop", 1, { "--ns-ifname 'abcdefghijklmnop'" } },
	{ "pasta -M 02:00:00:00:00:01", 0, { " mac=02:00:00:00:00:01" } },
	{ "pasta --ns-mac-addr 02:00:00:00:00:02",
	  0,
	  { "ns_mac=02:00:00:00:00:02 ", " mac=9a:55" } },
	{ "pasta -M 2:0:0:0:0:1", 1, { "--mac-addr '2:0:0:0:0:1'" } },
	{ "pasta --offload csum", 0, { "offload=1" } },
	{ "pasta --offload none --offload tso", 0, { "offload=2" } },
	{ "pasta --offload all", 1, { "give one of none|csum|tso|uso" } },
	/* Addresses */
	{ "pasta -a 192.0.2.1 -a 2001:db8::1 -a 192.0.2.2",
	  0,
	  { "addr4=192.0.2.2 addr6=2001:db8::1 ", "plen4=-1" } },
	{ "pasta -a 192.0.2.1/28", 0, { "addr4=192.0.2.1", "plen4=28" } },
	{ "pasta -a 192.0.2.1 -n 24", 0, { "plen4=24" } },
	{ "pasta -a 192.0.2.1 -n 255.255.0.0", 0, { "plen4=16" } },
	{ "pasta -n 24 -a 192.0.2.1/28", 1, { "--netmask 24: " } },
	{ "pasta -n 33", 1, { "--netmask '33'" } },
	{ "pasta -n 255.0.255.0", 1, { "this mask has holes" } },
	{ "pasta -a 2001:db8::1/64", 0, { "addr6=2001:db8::1", "plen4=-1" } },
	{ "pasta -a 2001:db8::1/96", 1, { "must be 64" } },
	{ "pasta -a 192.0.2.1/33", 1, { "not a prefix length" } },
	{ "pasta -a 127.0.0.1", 1, { "--address '127.0.0.1': it is a loop" } },
	{ "pasta -a 0.0.0.0", 1, { "unspecified" } },
	{ "pasta -a 224.0.0.1", 1, { "multicast" } },
	{ "pasta -a 255.255.255.255", 1, { "broadcast" } },
	{ "pasta -a ::ffff:192.0.2.1", 1, { "not an IPv4 or IPv6" } },
	{ "pasta -a ::192.0.2.1", 1, { "compatible" } },
	{ "pasta -g 192.0.2.254 -g fe80::1",
	  0,
	  { "gw4=192.0.2.254 gw6=fe80::1" } },
	{ "pasta -g ::1", 1, { "--gateway '::1'" } },
	{ "pasta -g @", 1, { "--gateway ''" } },
	{ "pasta -i eth0 --outbound-if4 e4 --outbound-if6 e6",
	  0,
	  { "interface=eth0 if4=e4 if6=e6 " } },
	{ "pasta --outbound-if4 a/b", 1, { "--outbound-if4 'a/b'" } },
	{ "pasta -o 127.0.0.1 -o 2001:db8::5",
	  0,
	  { "out4=127.0.0.1 out6=2001:db8::5" } },
	{ "pasta -o ::1", 1, { "--outbound '::1': it is a loopback" } },
	{ "pasta --dns-forward 169.254.1.1 --dns-host 127.0.0.53",
	  0,
	  { "dns4=169.254.1.1 ", "dns_host4=127.0.0.53" } },
	{ "pasta --dns-forward 127.0.0.1", 1, { "loopback" } },
	{ "pasta --dns-host 0.0.0.0", 1, { "unspecified" } },
	{ "pasta --no-map-gw", 0, { "no_map_gw=1" } },
	{ "pasta --map-host-loopback 169.254.1.9",
	  0,
	  { "host_lo4=169.254.1.9 ", "no_map_gw=0" } },
	{ "pasta --map-host-loopback fe80::9 --map-host-loopback none",
	  0,
	  { "!host_lo", "no_map_gw=1" } },
	{ "pasta --map-guest-addr 169.254.1.2 --map-guest-addr fe80::2",
	  0,
	  { "guest_alias4=169.254.1.2 guest_alias6=fe80::2 " } },
	{ "pasta --map-guest-addr 169.254.1.2 --map-guest-addr none",
	  0,
	  { "!guest_alias", "no_map_gw=0" } },
	{ "pasta --map-guest-addr nothing", 1, { "not an IPv4" } },
	{ "pasta --dns-forward none", 1, { "--dns-forward 'none'" } },
	{ "pasta -4", 0, { "has=10 " } },
	{ "pasta -6", 0, { "has=01 " } },
	{ "pasta -4 --ipv6-only", 0, { "has=01 " } },
	/* Ports */
	{ "pasta -u none -U none", 0, { "u=none U=none" } },
	{ "pasta -u 5000 -u 5001-5002:6001-6002",
	  0,
	  { "u=5000-5000:5000,5001-5002:6001 U=auto" } },
	{ "pasta -u 80 -u auto -U 90", 0, { "u=auto80-80:80 U=90-90:90" } },
	{ "pasta --udp-ports=none --udp-ns=auto", 0, { "u=none U=auto" } },
	{ "pasta -u 5000,", 1, { "--udp-ports '5000,': a port or range" } },
	{ "pasta -u @", 1, { "--udp-ports '': it is empty" } },
	{ "pasta -u 80 -u 80",
	  0,
	  { "u=80-80:80 ", "warning: --udp-ports '80': port 80 is mapped" } },
	{ "pasta -U ::1/80", 1, { "--udp-ns '::1/80'" } },
	{ "pasta -u ::1/80 -4", 1, { "disabled family" } },
	{ "pasta -4 -u ::1/80 -6", 0, { "u=80-80:80" } },
	{ "pasta -u x -m 1", 1, { "--mtu '1'" } },
	{ "pasta -U x -u y", 1, { "--udp-ports 'y'" } },
	{ "passt --fd 3 -u 5000", 0, { "u=5000-5000:5000 " } },
	{ "passt --fd 3 -u auto", 1, { "--udp-ports: without a namespace" } },
	{ "passt --fd 3 -u all", 0, { "u=1-" } },
	{ "pasta --fd 3 -U 80", 1, { "--udp-ns: without a namespace" } },
	{ "pasta --fd 3 -U none -u none", 0, { "u=none U=none" } },
	{ "pasta --no-udp", 0, { "no_udp=1", "u= U= " } },
	{ "pasta --no-udp -u none -U none", 0, { "u=none U=none" } },
	{ "pasta -u 80 --no-udp", 1, { "--udp-ports: ", "--no-udp" } },
	{ "pasta -U auto --no-udp", 1, { "--udp-ns: ", "--no-udp" } },
	/* The same for TCP */
	{ "pasta -t none -T none", 0, { "t=none T=none" } },
	{ "pasta -t 80", 0, { "u=auto U=auto t=80-80:80 T=auto" } },
	{ "pasta -t 80 -t auto -T 90", 0, { "t=auto80-80:80 T=90-90:90" } },
	{ "pasta -t all -T all", 0, { " t=1-", " T=1-" } },
	{ "pasta -T ::1/80", 1, { "--tcp-ns '::1/80'" } },
	{ "pasta -T %lo/80", 1, { "--tcp-ns '%lo/80'" } },
	{ "pasta -t ::1/80 -4", 1, { "disabled family" } },
	{ "passt --fd 3 -t 80", 0, { "t=80-80:80 T= ." } },
	{ "passt --fd 3 -t auto", 1, { "--tcp-ports: without a namespace" } },
	{ "pasta --fd 3 -T 80", 1, { "--tcp-ns: without a namespace" } },
	{ "pasta --fd 3 -T none -t none", 0, { "t=none T=none" } },
	{ "pasta --no-tcp", 0, { "u=auto U=auto t= T= ." } },
	{ "pasta --no-tcp -t none -T none", 0, { "t=none T=none" } },
	{ "pasta -t 80 --no-tcp", 1, { "--tcp-ports: ", "--no-tcp" } },
	{ "pasta -T auto --no-tcp", 1, { "--tcp-ns: ", "--no-tcp" } },
	{ "pasta -t 80 --no-udp", 0, { "u= U= t=80-80:80 T=auto" } },
	{ "pasta -t 80,", 1, { "--tcp-ports '80,': a port or range" } },
	{ "pasta -t 80 -u x", 1, { "--udp-ports 'x'" } },
	{ "pasta -t none -t 80", 1, { "ports after 'none'" } },
	/* UDP */
	{ "pasta --udp-timeout 60 --udp-filter endpoint",
	  0,
	  { "filter=1 timeout=60" } },
	{ "pasta --udp-filter port", 0, { "filter=2" } },
	{ "pasta --udp-filter address", 0, { "filter=0" } },
	{ "pasta --udp-filter x", 1, { "give one of address|endpoint|port" } },
	{ "pasta --udp-timeout 0", 1, { "--udp-timeout '0'" } },
	{ "pasta --udp-timeout 86401", 1, { "1 to 86400" } },
	{ "pasta --no-splice --host-lo-to-ns-lo", 0, { "no_splice=1 lo_lo=1" } },
	/* What the guest is told */
	{ "pasta", 0, { "tell4=0: tell6=0: search=0: off= announce=00" } },
	{ "passt --fd 3", 0, { "announce=11", "fd=3 " } },
	{ "pasta -D 192.0.2.1 --dns 2001:db8::1 -D 127.0.0.1",
	  0,
	  { "tell4=1:192.0.2.1,127.0.0.1, tell6=1:2001:db8::1, " } },
	{ "pasta -D 10.0.0.1 -D 10.0.0.2 -D 10.0.0.3 -D 10.0.0.4 -D 10.0.0.5",
	  0,
	  { "tell4=1:10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4, tell6=0:" } },
	{ "pasta -D 10.0.0.1 --dns-forward 10.0.0.9 --dns-host ::1 -D none",
	  0,
	  { "tell4=1: tell6=1: ", "!dns4", "!dns_host" } },
	{ "pasta -D none -D 10.0.0.2 --dns-forward 10.0.0.9",
	  0,
	  { "tell4=1:10.0.0.2, tell6=1: ", "dns4=10.0.0.9" } },
	{ "pasta -D @", 1, { "--dns '': it is not an IPv4" } },
	{ "pasta -D 0.0.0.0", 1, { "unspecified address, give another, or" } },
	{ "pasta -D nobody", 1, { "--dns 'nobody'" } },
	{ "pasta -S one.example -S two.example",
	  0,
	  { "search=1:one.example,two.example, " } },
	{ "pasta -S a_b_c", 0, { "search=1:a,b,c, " } },
	{ "pasta -S a -S none", 0, { "search=1: " } },
	{ "pasta -S none --search=b", 0, { "search=1:b, " } },
	{ "pasta -S _a__b_", 0, { "search=1:a,b, " } },
	{ "pasta -S a_b_c_d_e_f_g", 0, { "search=1:a,b,c,d,e,f, " } },
	{ "pasta -S @", 1, { "--search '': it is empty, give domains" } },
	{ "pasta -S __", 1, { "it is empty" } },
	{ "pasta -S a_b..c", 1, { "--search 'a b..c': what stands between" } },
	{ "pasta -H box --fqdn box.example.org.",
	  0,
	  { "hostname=box fqdn=box.example.org. " } },
	{ "pasta -H @", 1, { "--hostname '': a name has 1 to 253" } },
	{ "pasta --fqdn a_b", 1, { "--fqdn 'a b': a name has no blanks" } },
	{ "pasta --no-dhcp --no-dhcpv6 --no-ra --no-tcp 1",
	  0,
	  { "off=46rt ", "!|pasta" } },
	{ "pasta --no-ndp", 0, { "off=n " } },
	{ "pasta --no-icmp", 0, { "off=ni " } },
	{ "pasta --config-net", 0, { "off=r ", "copy=11" } },
	{ "pasta --dhcp-dns --dhcp-search", 0, { "announce=11" } },
	{ "passt --fd 3 --no-dhcp-dns", 0, { "announce=01" } },
	{ "passt --fd 3 --no-dhcp-search", 0, { "announce=10" } },
	{ "pasta --config-net --no-copy-routes --no-copy-addrs 1",
	  0,
	  { "copy=00", "warning: --no-copy-routes is deprecated",
	    "warning: --no-copy-addrs is deprecated" } },
	{ "pasta --no-copy-routes 1", 1, { "--no-copy-routes: it needs" } },
	{ "pasta --no-copy-addrs 1", 1, { "--no-copy-addrs: it needs" } },
	/* Files */
	{ "pasta -l /a --log-file /b --log-size 0x10000 1",
	  0,
	  { "log_file=/b ", "log_size=65536 " } },
	{ "pasta 1", 0, { "log_size=1048576 " } },
	{ "pasta --log-size 40959", 1, { "--log-size '40959': give 40960" } },
	{ "pasta --log-size 40960", 0, { "log_size=40960 " } },
	{ "pasta --log-size 1M", 1, { "--log-size '1M'" } },
	{ "pasta -l @", 1, { "--log-file '': it is empty" } },
	{ "pasta -p /p --pcap=/q", 0, { "pcap=/q " } },
	{ "pasta -p @", 1, { "--pcap '': it is empty" } },
	/* Forwarding without a tap, on addresses that come later */
	{ "pasta --freebind", 0, { "freebind=1" } },
	{ "pasta --splice-only", 0, { "splice_only=1", "lo_lo=1" } },
	{ "pasta --splice-only --no-splice", 1, { "--splice-only and --no-" } },
	/* Of the other program, and not of this version */
	{ "pasta -1", 1, { "--one-off: only passt has this option" } },
	{ "pasta -s /x", 1, { "--socket: only passt" } },
	{ "pasta --socket-path /x", 1, { "--socket-path: only passt" } },
	{ "pasta --vhost-user", 1, { "--vhost-user: only passt" } },
	{ "pasta --print-capabilities", 1, { "only passt" } },
	{ "pasta --no-dhcp-dns", 1, { "--no-dhcp-dns: only passt" } },
	{ "pasta --no-dhcp-search", 1, { "--no-dhcp-search: only passt" } },
	{ "pasta --repair-path /x", 1, { "--repair-path: only passt" } },
	{ "pasta --migrate-exit", 1, { "--migrate-exit: only passt" } },
	{ "pasta --migrate-no-linger", 1, { "only passt" } },
	{ "passt --userns /x", 1, { "--userns: only pasta has this option" } },
	{ "passt --netns /x", 1, { "--netns: only pasta" } },
	{ "passt --netns-only", 1, { "--netns-only: only pasta" } },
	{ "passt --no-netns-quit", 1, { "--no-netns-quit: only pasta" } },
	{ "passt --no-pidns", 1, { "--no-pidns: only pasta" } },
	{ "pasta --no-pidns 1", 1, { "--no-pidns: it needs a command" } },
	{ "passt --config-net", 1, { "--config-net: only pasta" } },
	{ "passt --no-copy-routes", 1, { "--no-copy-routes: only pasta" } },
	{ "passt --no-copy-addrs", 1, { "--no-copy-addrs: only pasta" } },
	{ "passt --ns-mac-addr 2:", 1, { "--ns-mac-addr: only pasta" } },
	{ "passt --host-lo-to-ns-lo", 1, { "--host-lo-to-ns-lo: only" } },
	{ "passt --dhcp-dns", 1, { "--dhcp-dns: only pasta" } },
	{ "passt --dhcp-search", 1, { "--dhcp-search: only pasta" } },
	{ "passt -I tap0", 1, { "--ns-ifname: only pasta" } },
	{ "passt --fd 3 -T none", 1, { "--tcp-ns: only pasta" } },
	{ "passt --fd 3 -U none", 1, { "--udp-ns: only pasta" } },
	{ "passt --splice-only", 1, { "--splice-only: only pasta" } },
	{ "passt --no-splice --fd 3", 0, { "no_splice=1" } },
	{ "passt -s /x --fd 3 -1", 0, { "target=fd", "fd=3 " } },
	{ "passt --fd 3 -s /x", 1, { "over a UNIX socket is not part of" } },
	{ "passt --one-off --socket /x", 1, { "is not part of this version" } },
	{ "passt --vhost-user --fd 3",
	  1,
	  { "--vhost-user: it is not part of this version", "!Usage" } },
	{ "passt --print-capabilities", 1, { "is not part of this version" } },
	{ "passt --fd 3 --repair-path /x --migrate-exit --migrate-no-linger",
	  0,
	  { "target=fd" } },
	{ "pasta -c /x", 1, { "--conf-path: it is not part of this" } },
	{ "passt --conf-path=/x", 1, { "--conf-path: it is not part" } },
	/* How words are read */
	{ "pasta --conf 1",
	  1,
	  { "option '--conf' is ambiguous", "Usage: pasta" } },
	{ "pasta --config 1", 0, { "config_net=1" } },
	{ "pasta -fq4 1", 0, { "foreground=1", "level=1", "has=10" } },
	{ "pasta -m1500 -fm 1400", 0, { "mtu=1400" } },
	{ "pasta --debug=1", 1, { "doesn't allow an argument", "Usage:" } },
	{ "pasta -Z", 1, { "invalid option -- 'Z'", "Usage: pasta" } },
	{ "pasta --mtu",
	  1,
	  { "option '--mtu' requires an argument", "Usage:" } },
	{ "pasta -m", 1, { "option requires an argument -- 'm'", "Usage:" } },
	{ "pasta -f -- ls -q", 0, { "word=ls word=-q", "foreground=1" } },
	{ "pasta ls -m 3", 0, { "word=ls word=-m word=3", "mtu=65520" } },
	/* As podman and rootlesskit call it */
	{ "pasta --config-net -u 8080-8080:80-80 --dns-forward 169.254.1.1 "
	  "-t none -T none -U none --no-map-gw --quiet --netns "
	  "/run/user/1000/netns/netns-1 --map-guest-addr 169.254.1.2",
	  0,
	  { "target=netns pid=0 fd=-1 level=1", "u=8080-8080:80 U=none",
	    "guest_alias4=169.254.1.2" } },
	{ "pasta --stderr --ns-ifname=tap0 --mtu=65520 --config-net "
	  "--address=10.0.2.100 --netmask=24 --gateway=10.0.2.2 "
	  "--dns-forward=10.0.2.3 --no-map-gw --ipv4-only --tcp-ports=none "
	  "--udp-ports=auto --host-lo-to-ns-lo 4711",
	  0,
	  { "target=pid pid=4711", "plen4=24 ifname=tap0", "u=auto U=auto" } },
};

/* Every failure is one line, unless the usage follows */
static void check_one_line(const struct row *r, const char *text)
{
	const char *line = strchr(text, '|') + 1;
	const char *end = strchr(line, '\n');

	ok(end && (!end[1] || !strncmp(end + 1, "Usage: ", 7)), "one line: %s",
	   r->words);
}

static void test_rows(void)
{
	static char text[16384];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		bool passed = is_int(run(r->words, text, sizeof(text)),
				     r->status, "status: %s", r->words);

		for (int k = 0; k < 3 && r->want[k]; k++) {
			bool is_not = r->want[k][0] == '!';

			passed &= ok(is_not ==
					     !strstr(text, r->want[k] + is_not),
				     "'%s': %s", r->want[k], r->words);
		}
		if (r->status)
			check_one_line(r, text);
		if (!passed)
			printf("# %.1500s\n", text);
	}
}

/* What the help lists is accepted or refused for its argument, never unknown;
 * without an argument only if it takes none */
static void test_help(void)
{
	static char help[16384], text[16384];
	char name[64], arg[64], words[256];
	int n_options = 0;

	is_int(run("pasta --help", help, sizeof(help)), 0, "help");
	for (char *s = strstr(help, " --"); s; s = strstr(s + 3, " --")) {
		bool has_arg;

		arg[0] = '\0';
		if (sscanf(s, " --%63[a-z0-9-]%63[^\n]", name, arg) < 1)
			continue;
		/* The argument's name follows after exactly one blank */
		has_arg = arg[0] == ' ' && arg[1] && arg[1] != ' ';
		n_options++;
		snprintf(words, sizeof(words), "pasta --%s", name);
		run(words, text, sizeof(text));
		ok(has_arg == !!strstr(text, "requires an argument"),
		   "--%s takes %s", name, has_arg ? "an argument" : "none");
		ok(!strstr(text, "unrecognized"), "--%s is known", name);
	}
	ok(n_options > 45, "%d options in the help", n_options);
}

/* "\\-\\-no\\-udp" of "--no-udp" */
static void escape(const char *text, char *ret)
{
	for (; *text; text++) {
		if (*text == '-')
			*ret++ = '\\';
		*ret++ = *text;
	}
	*ret = '\0';
}

static int count(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* One line of the help: the manual page says the same in front of a paragraph.
 * Returns: 1 if it is an option */
static int check_manual(const char *line, const char *manual)
{
	char name[64], arg[64] = "", escaped[128], want[400];
	int n;

	if (strncmp(line, "  ", 2) != 0 || strncmp(line + 5, " --", 3) != 0)
		return 0;
	sscanf(line + 8, "%63[a-z0-9-] %63s", name, arg);
	/* Two blanks: what follows is the help */
	if (line[8 + strlen(name)] != ' ' || line[9 + strlen(name)] == ' ')
		arg[0] = '\0';
	escape(name, escaped);
	n = snprintf(want, sizeof(want), "\n.TP\n");
	if (line[2] == '-')
		n += snprintf(want + n, sizeof(want) - (size_t)n,
			      "\\fB\\-%c\\fR, ", line[3]);
	n += snprintf(want + n, sizeof(want) - (size_t)n, "\\fB\\-\\-%s\\fR",
		      escaped);
	if (*arg)
		n += snprintf(want + n, sizeof(want) - (size_t)n, " \\fI%s\\fR",
			      arg);
	snprintf(want + n, sizeof(want) - (size_t)n, "\n");
	is_int(count(manual, want), 1, "the manual has --%s %s", name, arg);
	return 1;
}

/* Every option has a paragraph, and no paragraph is about another */
static void test_manual(void)
{
	static char help[16384], manual[131072];
	FILE *f = fopen("passt.1", "r");
	int n = 0, n_passt = 0;

	if (!f) {
		ok(false, "passt.1: run this at the top of the project");
		return;
	}
	manual[fread(manual, 1, sizeof(manual) - 1, f)] = '\0';
	fclose(f);
	run("pasta --help", help, sizeof(help));
	for (char *s = strchr(help, '\n'); s; s = strchr(s + 1, '\n'))
		n += check_manual(s + 1, manual);
	run("passt --help", help, sizeof(help));
	for (char *s = strstr(help, "\n  -1"); s; s = strchr(s + 1, '\n'))
		n_passt += check_manual(s + 1, manual);
	ok(n > 60 && n_passt == 3, "%d and %d options", n, n_passt);
	is_int(count(manual, "\n.TP\n\\fB\\-"), n + n_passt,
	       "no other paragraphs");
}

int main(void)
{
	test_rows();
	test_help();
	test_manual();
	return done();
}
