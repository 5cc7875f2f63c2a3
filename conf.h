/* conf.h - the command line as plain data
 * Knows: what can be chosen.  Does not know: how it is written (cmdline.h), what
 * the parts do with it.
 * Strings point into argv, @netns maybe into its struct: do not copy that. */

#ifndef CONF_H
#define CONF_H

#include "addr.h"
#include "fwd.h"
#include "limits.h"
#include "log.h"
#include "policy.h"
#include "ports.h"
#include "tap.h"
#include "wire.h"

#include <sys/types.h>

#define CONF_NETNS_DIR "/run/netns/"
#define CONF_NAME_SIZE 256 /* NAME_MAX and its terminator */
#define CONF_DNS_MAX 4 /* -D, of each family */
#define CONF_SEARCH_MAX 6 /* -S */

/** enum conf_target - whose network it is */
enum conf_target {
	TARGET_COMMAND, /* spawn argv (or a shell) in new namespaces */
	TARGET_PID, /* attach to those of a process */
	TARGET_NETNS, /* attach to a path */
	TARGET_FD, /* no namespace: frames over an inherited socket, --fd */
};

struct conf {
	bool is_passt;
	bool check; /* say what this host offers, and end */
	bool json; /* in JSON */

	/* Life */
	enum conf_target target;
	char **command; /* NULL: the user's shell as a login shell */
	pid_t pid;
	const char *netns; /* path; a bare name became /run/netns/NAME */
	char netns_path[sizeof(CONF_NETNS_DIR) + CONF_NAME_SIZE];
	const char *userns; /* path or NULL */
	bool is_netns_only;
	bool no_netns_quit;
	bool no_pidns; /* the command stays in our PID namespace */
	bool is_foreground; /* also when a command is spawned */
	bool has_runas;
	uid_t uid;
	gid_t gid;
	const char *pid_file;
	const char *log_file;
	uint32_t log_size; /* bytes the log file may have */
	const char *pcap_file;
	enum log_level level;
	int fd; /* --fd, else -1 */
	unsigned stats_s; /* seconds between statistics lines, 0 never */

	/* Link */
	bool config_net;
	bool no_copy_routes; /* a default route only */
	bool no_copy_addrs; /* one address only */
	uint32_t mtu; /* 0: do not assign */
	char ifname[IFNAME_SIZE]; /* "": the template's name */
	struct mac mac; /* ours */
	struct mac ns_mac;
	bool has_ns_mac;
	enum offload offload; /* most that may be used */

	/* Addresses; unset ones come from the host */
	bool has[FAMILY_COUNT];
	struct addr addr[FAMILY_COUNT];
	int plen4; /* -n, else -1 */
	struct addr gw[FAMILY_COUNT];
	const char *interface;
	const char *outbound_if[FAMILY_COUNT];
	struct addr outbound[FAMILY_COUNT];
	struct addr dns_forward[FAMILY_COUNT];
	struct addr dns_host[FAMILY_COUNT];
	struct addr map_host_loopback[FAMILY_COUNT];
	struct addr map_guest_addr[FAMILY_COUNT];
	bool no_map_gw;

	/* What the guest is told. @has_dns, @has_search: options decide, not
	 * resolv.conf: an empty list then means "none", and of name servers
	 * also that none is asked. */
	struct addr dns[FAMILY_COUNT][CONF_DNS_MAX];
	unsigned n_dns[FAMILY_COUNT];
	bool has_dns[FAMILY_COUNT];
	char search[CONF_SEARCH_MAX][CONF_NAME_SIZE];
	unsigned n_search;
	bool has_search;
	const char *hostname;
	const char *fqdn;
	bool no_dhcp;
	bool no_dhcpv6;
	bool no_ndp;
	bool no_ra;
	bool has_dhcp_dns; /* announce @dns; the default of passt only */
	bool has_dhcp_search; /* announce @search; likewise */

	/* Forwarding */
	bool freebind; /* inbound listeners, on absent addresses too */
	bool splice_only; /* no tap, loopback forwarding only */
	bool no_icmp;
	struct ports tcp_in; /* -t */
	struct ports tcp_out; /* -T */
	bool no_tcp;
	struct ports udp_in; /* -u */
	struct ports udp_out; /* -U */
	bool no_udp;
	bool no_splice;
	bool host_lo_to_ns_lo;
	enum fwd_filter udp_filter;
	struct policy policy; /* --allow, --deny */
	unsigned udp_timeout_s;
};

#endif
