/* precheck.c - what this host offers, and what would have to change: --check
 *
 * Problem: a namespace's network depends on a dozen settings of a host, of its
 * kernel and of security modules, and what is missing shows as "permission
 * denied" somewhere else.
 *
 * Idea: each precondition is one function that tries it the way the program
 * will, or reads the setting where trying says less, and words one finding:
 * verdict, state, cure. What needs namespaces is tried in a child (trial.c).
 * The same findings make plain lines and JSON.
 *
 * Deliberately not done: changing anything; judging the target, which is known
 * only when it is there; guessing what a security module would say: what is
 * denied shows where it is tried, and the module is named beside it. */

#include "precheck.h"

#include "cmdline.h"
#include "netlink.h"
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define TUN "/dev/net/tun"
#define TUN_DEV makedev(10, 200)
#define FILES_MIN 256 /* pools of both families, reserve, and some flows */
#define FILES_FEW 4096
#define PORTS_FEW 1024

enum verdict { OK, WARN, FAIL, VERDICTS };

static const char *const verdict_name[VERDICTS] = { "ok", "warn", "fail" };

struct finding {
	enum verdict verdict;
	char state[256];
	const char *cure;
};

/** struct host - what several checks look at */
struct host {
	const struct precheck *c;
	struct trial trial;
	struct guest_net net;
	char net_error[HOSTNET_ERR_MAX];
};

/* @cure: NULL: nothing to do */
__attribute__((format(printf, 4, 5))) static void
find(struct finding *f, enum verdict v, const char *cure, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->state, sizeof(f->state), fmt, ap);
	va_end(ap);
	f->verdict = v;
	f->cure = cure;
}

/* First line of a small file; false if it cannot be read */
static bool read_line(const char *path, char *ret_text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len = fd < 0 ? -1 : read(fd, ret_text, size - 1);

	if (fd >= 0)
		close(fd);
	if (len < 0)
		return false;
	ret_text[len] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
	return true;
}

/* -1: the setting is not there */
static long read_number(const char *path)
{
	char text[32];

	return read_line(path, text, sizeof(text)) ? strtol(text, NULL, 10) :
						     -1;
}

/* Findings */

static void check_tun(const struct host *h, struct finding *f)
{
	struct stat st;
	int fd, error;

	(void)h;
	if (stat(TUN, &st)) {
		find(f, FAIL, trial_tun_cure(errno), TUN ": %s",
		     strerror(errno));
		return;
	}
	if (!S_ISCHR(st.st_mode) || st.st_rdev != TUN_DEV) {
		find(f, FAIL, trial_tun_cure(ENOTTY),
		     TUN " is not character device 10:200");
		return;
	}
	fd = open(TUN, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	error = errno;
	if (fd < 0) {
		find(f, FAIL, trial_tun_cure(error), TUN ", mode %04o: %s",
		     (unsigned)(st.st_mode & 07777), strerror(error));
		return;
	}
	close(fd);
	find(f, OK, NULL, TUN ", mode %04o, can be opened",
	     (unsigned)(st.st_mode & 07777));
}

static const char *userns_cure(void)
{
	if (!read_number("/proc/sys/user/max_user_namespaces"))
		return "sysctl -w user.max_user_namespaces=15000";
	if (!read_number("/proc/sys/kernel/unprivileged_userns_clone"))
		return "sysctl -w kernel.unprivileged_userns_clone=1";
	return "see apparmor and selinux below; in a container, its seccomp "
	       "profile may forbid them";
}

static void check_userns(const struct host *h, struct finding *f)
{
	const struct trial *t = &h->trial;
	long max = read_number("/proc/sys/user/max_user_namespaces");

	if (t->error)
		find(f, FAIL, "raise the limit of processes (ulimit -u)",
		     "cannot be tried: %s", strerror(t->error));
	else if (t->userns)
		find(f, FAIL, userns_cure(), "cannot be made: %s, at most %ld",
		     strerror(t->userns), max);
	else if (t->netns)
		find(f, FAIL, userns_cure(),
		     "can be made, but give no right to make a network "
		     "namespace: %s",
		     strerror(t->netns));
	else
		find(f, OK, NULL, "can be made, at most %ld", max);
}

static void check_apparmor(const struct host *h, struct finding *f)
{
	char profile[128] = "";
	long on = read_number("/proc/sys/kernel/"
			      "apparmor_restrict_unprivileged_userns");

	(void)h;
	if (!read_line("/proc/self/attr/apparmor/current", profile,
		       sizeof(profile)) ||
	    !*profile)
		find(f, OK, NULL, "not in use");
	else if (on == 1 && geteuid())
		find(f, WARN,
		     "load a profile for this program with \"userns,\", or "
		     "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
		     "restricts user namespaces of ordinary users; profile %s",
		     profile);
	else
		find(f, OK, NULL, "profile %s", profile);
}

static void check_selinux(const struct host *h, struct finding *f)
{
	long enforce = read_number("/sys/fs/selinux/enforce");

	(void)h;
	if (enforce == 1)
		find(f, WARN,
		     "if something is denied, see: ausearch -m avc -ts recent",
		     "enforcing");
	else
		find(f, OK, NULL, "%s", enforce ? "not in use" : "permissive");
}

static void check_tap(const struct host *h, struct finding *f)
{
	const struct trial *t = &h->trial;

	if (t->error || t->netns)
		find(f, FAIL, "see user-namespaces",
		     "cannot be tried without namespaces");
	else if (t->tap)
		find(f, FAIL, trial_tun_cure(t->tap), "%s: %s", t->what,
		     strerror(t->tap));
	else
		find(f, OK, NULL, "can be made in a namespace");
}

static bool has_tap(const struct host *h, struct finding *f)
{
	const struct trial *t = &h->trial;
	bool has = !t->error && !t->netns && !t->tap;

	if (!has)
		find(f, WARN, "see tap", "unknown without a tap");
	return has;
}

static void check_offload(const struct host *h, struct finding *f)
{
	static const char *const name[] = { "none", "csum", "tso", "uso" };
	enum offload level = h->trial.offload;

	if (!has_tap(h, f))
		return;
	if (level == OFFLOAD_USO)
		find(f, OK, NULL, "uso: datagrams of one size travel together");
	else
		find(f, WARN, "Linux 6.2 or later",
		     "%s: datagrams cross the "
		     "link one by one",
		     name[level]);
}

static void check_tx_queue(const struct host *h, struct finding *f)
{
	if (!has_tap(h, f))
		return;
	if (h->trial.tx_queue)
		find(f, WARN, "see apparmor and selinux",
		     "txqueuelen cannot be set: %s; bursts may be cut",
		     strerror(h->trial.tx_queue));
	else
		find(f, OK, NULL, "txqueuelen can be %d frames", TAP_QUEUE);
}

static void check_udp_diag(const struct host *h, struct finding *f)
{
	struct port_set set = { 0 };
	int fd = netlink_open(NETLINK_SOCK_DIAG);
	int rc = fd < 0 ? fd : netlink_bound(fd, IPPROTO_UDP, &set);

	(void)h;
	if (fd >= 0)
		close(fd);
	if (rc)
		find(f, WARN,
		     "modprobe udp_diag; \"auto\" ports are not followed "
		     "without it",
		     "bound ports cannot be listed: %s", strerror(-rc));
	else
		find(f, OK, NULL, "bound ports can be listed");
}

static void check_ping(const struct host *h, struct finding *f)
{
	unsigned long first, last;
	char text[64], *end;

	if (!read_line("/proc/sys/net/ipv4/ping_group_range", text,
		       sizeof(text))) {
		find(f, WARN, NULL, "ping_group_range cannot be read");
		return;
	}
	first = strtoul(text, &end, 10);
	last = strtoul(end, NULL, 10);
	if (h->c->gid >= first && h->c->gid <= last)
		find(f, OK, NULL, "group %u may send echo requests",
		     (unsigned)h->c->gid);
	else
		find(f, WARN,
		     "sysctl -w net.ipv4.ping_group_range=\"0 2147483647\"",
		     "group %u may not send echo requests: "
		     "ping_group_range is %lu %lu",
		     (unsigned)h->c->gid, first, last);
}

static void check_rcvbuf(const struct host *h, struct finding *f)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int want = SOCK_BUF, got = 0;
	socklen_t len = sizeof(got);

	(void)h;
	if (fd >= 0) {
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &want, len);
		(void)getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &len);
		close(fd);
	}
	got /= 2; /* socket(7): the kernel doubles it */
	if (got < SOCK_BUF)
		find(f, WARN, "sysctl -w net.core.rmem_max=4194304",
		     "%d bytes of %d: bursts may be cut", got, SOCK_BUF);
	else
		find(f, OK, NULL, "%d bytes", got);
}

static bool is_ipv6_off(void)
{
	return read_number("/proc/sys/net/ipv6/conf/all/disable_ipv6") == 1;
}

static void check_family(const struct host *h, enum family family,
			 struct finding *f)
{
	const struct guest_net *net = &h->net;
	char addr[ADDR_STRLEN], gw[ADDR_STRLEN];

	if (*h->net_error)
		find(f, FAIL, "look at the option, or at: ip addr", "%s",
		     h->net_error);
	else if (!h->c->conf->has[family])
		find(f, OK, NULL, "switched off by an option");
	else if (family == FAMILY_V6 && !net->has[family] && is_ipv6_off())
		find(f, WARN, "sysctl -w net.ipv6.conf.all.disable_ipv6=0",
		     "switched off on this host");
	else if (!net->has[family])
		find(f, WARN, "modprobe ipv6, or ipv6.disable=0 at boot",
		     "this host does not have it");
	else if (net->is_local[family])
		find(f, WARN, "connect the host, or give --address",
		     "no address to take over: the guest gets a link-local "
		     "one");
	else
		find(f, OK, NULL, "%s of %s%s%s",
		     addr_format(&net->addr[family], addr), net->ifname[family],
		     addr_is_set(&net->gw[family]) ? ", gateway " : "",
		     addr_is_set(&net->gw[family]) ?
			     addr_format(&net->gw[family], gw) :
			     "");
}

static void check_ipv4(const struct host *h, struct finding *f)
{
	check_family(h, FAMILY_V4, f);
}

static void check_ipv6(const struct host *h, struct finding *f)
{
	check_family(h, FAMILY_V6, f);
}

static void check_resolver(const struct host *h, struct finding *f)
{
	const struct resolv *r = h->c->resolv;
	enum family first = r->n_dns[FAMILY_V4] ? FAMILY_V4 : FAMILY_V6;
	char text[ADDR_STRLEN];

	if (!r->n_dns[first])
		find(f, WARN, "name one in /etc/resolv.conf or by --dns-host",
		     "no name server: names cannot be resolved");
	else
		find(f, OK, NULL, "%s%s", addr_format(&r->dns[first][0], text),
		     addr_is_loopback(&r->dns[first][0]) ?
			     ", a loopback address: needs --dns-forward" :
			     "");
}

static void check_files(const struct host *h, struct finding *f)
{
	struct rlimit r = { 0, 0 };
	bool is_few;

	(void)h;
	(void)getrlimit(RLIMIT_NOFILE, &r);
	is_few = r.rlim_max < FILES_FEW;
	find(f,
	     r.rlim_max < FILES_MIN ? FAIL :
	     is_few		    ? WARN :
				      OK,
	     is_few ? "raise the hard limit: ulimit -Hn, or nofile in "
		      "limits.conf(5)" :
		      NULL,
	     "%llu open files%s", (unsigned long long)r.rlim_max,
	     is_few ? ": few conversations at once" : "");
}

static void check_port_range(const struct host *h, struct finding *f)
{
	uint16_t first, last;
	bool is_known = ports_ephemeral(&first, &last);
	unsigned n = last < first ? 0 : last - first + 1U;

	(void)h;
	if (!is_known)
		find(f, WARN, NULL, "ip_local_port_range cannot be read");
	else if (n < PORTS_FEW || first < 1024)
		find(f, WARN,
		     "sysctl -w net.ipv4.ip_local_port_range=\"32768 60999\"",
		     "%u to %u: %s", first, last,
		     n < PORTS_FEW ? "few conversations at once" :
				     "takes ports of services");
	else
		find(f, OK, NULL, "%u to %u", first, last);
}

static void check_inotify(const struct host *h, struct finding *f)
{
	int fd = inotify_init1(IN_CLOEXEC);

	(void)h;
	if (fd < 0) {
		find(f, WARN,
		     "sysctl -w fs.inotify.max_user_instances=128 and "
		     "user.max_inotify_instances=128",
		     "no instance to be had: %s; the end of a namespace is "
		     "seen within a second",
		     strerror(errno));
		return;
	}
	close(fd);
	find(f, OK, NULL, "the end of a namespace is seen at once");
}

static const struct {
	const char *name;
	void (*fn)(const struct host *h, struct finding *f);
} checks[] = {
	{ "tun", check_tun },		{ "user-namespaces", check_userns },
	{ "apparmor", check_apparmor }, { "selinux", check_selinux },
	{ "tap", check_tap },		{ "offload", check_offload },
	{ "tx-queue", check_tx_queue }, { "receive-buffer", check_rcvbuf },
	{ "open-files", check_files },	{ "port-range", check_port_range },
	{ "udp-diag", check_udp_diag }, { "inotify", check_inotify },
	{ "ping", check_ping },		{ "ipv4", check_ipv4 },
	{ "ipv6", check_ipv6 },		{ "resolver", check_resolver },
};

/* Printing */

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
			putchar('?');
		else if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void print_json(const char *name, const struct finding *f, bool is_first)
{
	printf("%s{\"name\": \"%s\", \"verdict\": \"%s\", \"state\": ",
	       is_first ? "" : ",\n", name, verdict_name[f->verdict]);
	print_string(f->state);
	fputs(", \"cure\": ", stdout);
	if (f->cure)
		print_string(f->cure);
	else
		fputs("null", stdout);
	putchar('}');
}

static void print_plain(const char *name, const struct finding *f)
{
	printf("%-4s  %-15s  %s%s%s\n", verdict_name[f->verdict], name,
	       f->state, f->cure ? "; " : "", f->cure ? f->cure : "");
}

static void look(struct host *h)
{
	static struct nl_facts facts;
	int fd = netlink_open(NETLINK_ROUTE);
	int rc = fd < 0 ? fd : netlink_facts(fd, &facts);

	if (fd >= 0)
		close(fd);
	if (rc)
		snprintf(h->net_error, sizeof(h->net_error),
			 "interfaces and routes cannot be listed: %s",
			 strerror(-rc));
	else
		(void)hostnet_plan(h->c->conf, &facts, &h->net, h->net_error);
	trial_run(&h->trial);
}

int precheck_run(const struct precheck *c)
{
	static struct host h;
	bool is_json = c->conf->json;
	bool has_failed = false;
	unsigned i;

	h.c = c;
	look(&h);
	if (is_json) {
		fputs("{\"version\": ", stdout);
		print_string(cmdline_version());
		fputs(", \"checks\": [\n", stdout);
	}
	for (i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct finding f;

		checks[i].fn(&h, &f);
		has_failed |= f.verdict == FAIL;
		if (is_json)
			print_json(checks[i].name, &f, !i);
		else
			print_plain(checks[i].name, &f);
	}
	if (is_json)
		printf("\n], \"ok\": %s}\n", has_failed ? "false" : "true");
	return has_failed || fflush(stdout);
}
