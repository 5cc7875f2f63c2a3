/* passt.c - the life of the program
 *
 * Problem: the parts need many rights while the program starts and none when
 * it runs, and whoever started it must know whether it works, at once, and
 * must never find anything of it left behind.
 *
 * Idea: one straight sequence, main(), in the order of the rights that each
 * step needs. Everything that can fail comes before the caller is told that it
 * works: in the background by exit status 0 of the process that was started,
 * which waits for the daemon until then; the daemon in turn goes on only if
 * that process lived long enough to write the PID file. In the foreground
 * being ready shows as the PID in the file, or as the start of the command.
 *
 * Who ends with whom: the spawned command with us (PDEATHSIG), the agent with
 * us (EOF of its socket; nobody else has a copy of our end), we with the
 * target (netns.c). So whichever process is killed first, the others follow.
 *
 * Identities: real root becomes nobody, or what --runas says, before anything
 * is spawned, but after everything that is opened with the caller's rights.
 * Root of a user namespace has no such rights and stays who it is.
 *
 * Not here: what is carried and how (forwarder.c). */

#include "cmdline.h"
#include "config_net.h"
#include "forwarder.h"
#include "hostnet.h"
#include "netns.h"
#include "precheck.h"
#include "reader.h"
#include "sandbox.h"
#include "summary.h"
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define USERNS_INITIAL \
	0xeffffffdU /* inode, linux/proc_ns.h PROC_USER_INIT_INO */
#define RESOLV_CONF "/etc/resolv.conf"
#define RESOLV_CONF_MAX 16384 /* bytes that are read of it */

/** struct passt - what lives as long as the program
 * @uid, @gid: identity to run as      @is_nobody: real root gave itself up
 * @nofile: RLIMIT_NOFILE at start
 * @pid_fd: PID file, -1 if none       @null: /dev/null, for the daemon
 * @parent: from the daemon to the process that was started, else -1
 * @go: shared with that process: it has set it and is about to exit
 * @pcap:   capture of the link   @forwarder: everything on the data path */
struct passt {
	struct conf conf;
	struct guest_net net;
	struct netns netns;
	struct watch signals;
	struct rlimit nofile;
	uid_t uid;
	gid_t gid;
	bool is_nobody;
	int pid_fd;
	int null;
	int parent;
	volatile char *go;
	struct pcap pcap;
	struct forwarder forwarder;
};

/** struct inside - what set-up in the namespace finds out */
struct inside {
	struct mac mac;
	uint32_t ifindex;
	struct addr guest_ll;
};

enum { INSIDE_TAP, INSIDE_RTNL, INSIDE_DIAG, INSIDE_FDS };

/* With the caller's rights */

/* The first line says who writes the file */
static int open_log(const struct conf *c)
{
	struct log_file file = { .path = c->log_file, .max = c->log_size };
	char exe[PATH_MAX];
	char first[PATH_MAX + 128];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[len > 0 ? len : 0] = '\0';
	snprintf(first, sizeof(first), "%s %s, %s, PID %d",
		 c->is_passt ? "passt" : "pasta", cmdline_version(), exe,
		 (int)getpid());
	file.first = first;
	return log_open(&file);
}

/* Help for looking: no reason not to work */
static void open_pcap(struct passt *p)
{
	const char *path = p->conf.pcap_file;
	int rc = path ? pcap_open(&p->pcap, path) : 0;

	if (rc)
		err("--pcap %s: %s; nothing is recorded", path, strerror(-rc));
	else if (path)
		p->forwarder.tap.pcap = &p->pcap;
}

static void open_files(struct passt *p)
{
	const struct conf *c = &p->conf;
	int rc = 0;

	/* Debug messages are for whoever watches, not for syslog */
	if (c->log_file)
		rc = open_log(c);
	else if (c->level < LEVEL_DEBUG)
		rc = log_open(NULL);
	if (rc)
		die("--log-file %s: %s", c->log_file, strerror(-rc));
	p->pid_fd = -1;
	if (c->pid_file)
		p->pid_fd = open(c->pid_file,
				 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
					 O_NOCTTY,
				 0600);
	if (c->pid_file && p->pid_fd < 0)
		die("--pid %s: %s", c->pid_file, strerror(errno));
	open_pcap(p);
	if (c->is_foreground)
		return;
	p->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (p->null < 0)
		die("/dev/null: %s", strerror(errno));
}

/* A host without the file has no name servers */
static void read_resolv(struct resolv *ret)
{
	char text[RESOLV_CONF_MAX];
	int fd = open(RESOLV_CONF, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len = 0;

	if (fd >= 0) {
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[len > 0 ? len : 0] = 0;
	resolv_parse(text, ret);
}

static void plan_network(struct passt *p)
{
	char error[HOSTNET_ERR_MAX];
	struct nl_facts facts;
	int fd = netlink_open(NETLINK_ROUTE);
	int rc = fd < 0 ? fd : netlink_facts(fd, &facts);

	if (rc)
		die("cannot list the host's interfaces and routes: %s",
		    strerror(-rc));
	close(fd);
	if (hostnet_plan(&p->conf, &facts, &p->net, error))
		die("%s", error);
}

static bool is_initial_userns(void)
{
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino == USERNS_INITIAL;
}

static void choose_identity(struct passt *p)
{
	const struct conf *c = &p->conf;

	p->uid = c->has_runas ? c->uid : geteuid();
	p->gid = c->has_runas ? c->gid : getegid();
	p->is_nobody = !c->has_runas && !p->uid && is_initial_userns();
	if (p->is_nobody) {
		p->uid = NOBODY;
		p->gid = NOBODY;
	}
}

static void find_target(struct passt *p)
{
	if (p->conf.target == TARGET_COMMAND) {
		sandbox_identity(p->uid, p->gid, true);
		netns_spawn(&p->netns, &p->conf, &p->nofile);
	} else {
		netns_open(&p->netns, &p->conf);
	}
}

/* In the agent, inside the namespace */

static int open_tap(const char *name)
{
	const char *what = "";
	int fd = tap_tun_open(name, &what);

	if (fd < 0)
		die("/dev/net/tun: cannot make interface %s: %s%s%s; %s", name,
		    strcmp(what, "/dev/net/tun") != 0 ? what : "",
		    strcmp(what, "/dev/net/tun") != 0 ? ": " : "",
		    strerror(-fd), trial_tun_cure(-fd));
	return fd;
}

static int open_netlink(int protocol)
{
	int fd = netlink_open(protocol);

	if (fd < 0)
		die("netlink socket in the namespace: %s", strerror(-fd));
	return fd;
}

/* A link with nobody at its other end: what is sent there is a counted drop */
static int open_no_tap(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("--splice-only: %s", strerror(errno));
	return fd;
}

static int set_up_tap(const struct passt *p, int rtnl, struct inside *in)
{
	struct nl_link tap;
	int fd;

	config_net_lo(rtnl);
	if (p->conf.splice_only)
		return open_no_tap();
	fd = open_tap(p->net.tap_name);
	config_net_link(rtnl, &p->conf, &p->net, &tap);
	if (p->conf.config_net)
		config_net_apply(rtnl, &p->conf, &p->net, &tap, &in->guest_ll);
	in->mac = tap.mac;
	in->ifindex = tap.ifindex;
	return fd;
}

static void set_up_inside(void *arg, int sock)
{
	struct passt *p = arg;
	struct inside in = { 0 };
	int fds[INSIDE_FDS];
	int rc;

	/* Another user namespace need not know the identity: take it before.
	 * Without one, configuring needs all rights that we have. */
	if (p->netns.user >= 0)
		sandbox_identity(p->uid, p->gid, true);
	netns_enter(&p->netns);
	fds[INSIDE_RTNL] = open_netlink(NETLINK_ROUTE);
	fds[INSIDE_DIAG] = open_netlink(NETLINK_SOCK_DIAG);
	fds[INSIDE_TAP] = set_up_tap(p, fds[INSIDE_RTNL], &in);
	rc = agent_give(sock, &in, sizeof(in), fds, INSIDE_FDS);
	if (rc == -EPIPE) /* nobody is left to be told */
		_exit(1);
	if (rc)
		die("agent: %s", strerror(-rc));
	if (p->netns.user < 0)
		sandbox_identity(p->uid, p->gid, true);
}

/* The agent's own line has been printed if it died */
static void check_agent(int rc)
{
	if (rc == -EPIPE)
		_exit(1);
	if (rc)
		die("agent: %s", strerror(-rc));
}

static void set_up_namespace(struct passt *p, struct forwarder_ns *ret_ns)
{
	struct agent *a = &p->forwarder.agent;
	int fds[INSIDE_FDS];
	struct inside in;

	check_agent(agent_start(a, set_up_inside, p, &p->forwarder.stats));
	check_agent(agent_take(a, &in, sizeof(in), fds, INSIDE_FDS));
	check_agent(agent_ready(a));
	netns_forget(&p->netns);
	*ret_ns = (struct forwarder_ns){
		.tap = fds[INSIDE_TAP],
		.rtnl = fds[INSIDE_RTNL],
		.diag = fds[INSIDE_DIAG],
		.ifindex = in.ifindex,
		.ends = { .ours = p->conf.mac, .guest = in.mac },
		.guest_ll = in.guest_ll,
	};
}

/* A link that was handed over: its guest is unknown until it speaks */
static void adopt_link(const struct passt *p, struct forwarder_ns *ret_ns)
{
	static const struct mac everybody = { { 0xff, 0xff, 0xff, 0xff, 0xff,
						0xff } };
	int flags = fcntl(p->conf.fd, F_GETFL);
	int type = 0;
	socklen_t len = sizeof(type);

	/* A stream would show no frames, the end of datagrams is not seen */
	if (flags >= 0 &&
	    (getsockopt(p->conf.fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
	     type != SOCK_SEQPACKET))
		die("--fd %d: it must be a connected socket of type "
		    "SOCK_SEQPACKET",
		    p->conf.fd);
	if (flags < 0 || fcntl(p->conf.fd, F_SETFL, flags | O_NONBLOCK))
		die("--fd %d: %s", p->conf.fd, strerror(errno));
	*ret_ns = (struct forwarder_ns){
		.tap = p->conf.fd,
		.rtnl = -1,
		.diag = -1,
		.ends = { .ours = p->conf.mac, .guest = everybody },
	};
}

/* In processes that stay where we started */

static void settle_outside(void *arg)
{
	const struct passt *p = arg;

	sandbox_identity(p->uid, p->gid, true);
}

static void set_up_outside(void *arg, int sock)
{
	settle_outside(arg);
	if (agent_give(sock, NULL, 0, NULL, 0))
		_exit(1);
}

/* Who reads resolv.conf again, as long as its name servers matter */
static void start_reader(struct passt *p)
{
	const struct conf *c = &p->conf;
	bool is_needed = false;
	enum family f;
	int rc = 0;

	for (f = 0; f < FAMILY_COUNT; f++)
		if (addr_is_set(&p->forwarder.fwd.dns_forward[f]) &&
		    !addr_is_set(&c->dns_host[f]))
			is_needed = true;
	if (is_needed)
		rc = reader_start(RESOLV_CONF, settle_outside, p,
				  &p->forwarder.reader);
	if (rc)
		warn("changes of %s are not followed: %s", RESOLV_CONF,
		     strerror(-rc));
}

/* Who binds low ports that a program in the namespace opens later */
static void start_outside(struct passt *p)
{
	struct agent *a = &p->forwarder.outside;

	if ((!p->conf.tcp_in.is_auto && !p->conf.udp_in.is_auto) ||
	    !sandbox_has(CAP_NET_BIND_SERVICE))
		return;
	check_agent(agent_start(a, set_up_outside, p, &p->forwarder.stats));
	check_agent(agent_take(a, NULL, 0, NULL, 0));
	check_agent(agent_ready(a));
	a->place = "on the host";
}

static void connect_guest(struct passt *p)
{
	struct forwarder_ns ns;

	start_reader(p);
	start_outside(p);
	if (p->conf.target == TARGET_FD) {
		adopt_link(p, &ns);
	} else {
		find_target(p);
		set_up_namespace(p, &ns);
	}
	sandbox_identity(p->uid, p->gid, true);
	if (p->is_nobody)
		warn("started as root, running as nobody: --runas 0 keeps root");
	forwarder_start(&p->forwarder, &ns);
}

/* Readiness */

/* seccomp(forwarder): write close getpid */
static void write_pid(struct passt *p, pid_t pid)
{
	char text[16];
	ssize_t len = snprintf(text, sizeof(text), "%d\n", (int)pid);

	if (p->pid_fd < 0)
		return;
	if (write(p->pid_fd, text, (size_t)len) != len)
		die("--pid %s: %s", p->conf.pid_file, strerror(errno));
	close(p->pid_fd);
	p->pid_fd = -1;
}

/* In the process that was started: exit when the daemon works, or has died */
static _Noreturn void await_daemon(struct passt *p, int sock, pid_t pid)
{
	int status = 0;
	char byte;

	if (recv(sock, &byte, 1, 0) == 1) {
		write_pid(p, pid);
		/* Not a message: waking the daemon could cost us the CPU, and
		 * whoever kills us in between would leave it behind */
		*p->go = 1;
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
		err("killed by signal %d during start", WTERMSIG(status));
	_exit(1);
}

/* Returns in the daemon only */
static void go_background(struct passt *p)
{
	void *page = mmap(NULL, sizeof(*p->go), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int sv[2];
	pid_t pid;

	if (page == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		die("cannot go to the background: %s", strerror(errno));
	p->go = page;
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid) {
		close(sv[1]);
		await_daemon(p, sv[0], pid);
	}
	close(sv[0]);
	p->parent = sv[1];
	setsid();
}

/* Everything works: let go of the terminal and tell. If the process that was
 * started has been killed meanwhile, its caller takes us for failed.
 * seccomp(forwarder): sendto recvfrom close */
static void report_ready(struct passt *p)
{
	const struct conf *c = &p->conf;
	char byte = 0;

	if (c->is_foreground) {
		write_pid(p, getpid());
		/* From now on the terminal is the command's */
		log_stderr(c->target != TARGET_COMMAND ||
			   c->level >= LEVEL_DEBUG);
		return;
	}
	if (p->pid_fd >= 0)
		close(p->pid_fd);
	log_stderr(false);
	sandbox_stdio(p->null);
	if (send(p->parent, &byte, 1, MSG_NOSIGNAL) != 1 ||
	    recv(p->parent, &byte, 1, 0) != 0 || !*p->go)
		_exit(1);
	close(p->parent);
}

/* Signals */

/* seccomp(forwarder): read */
static void on_signal(struct watch *w, uint32_t events)
{
	struct passt *p = container_of(w, struct passt, signals);
	struct signalfd_siginfo si;

	(void)events;
	while (read(w->fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGUSR1) {
			forwarder_report(&p->forwarder);
			continue;
		}
		info("ending on signal %u", si.ssi_signo);
		loop_end(&p->forwarder.loop, 0);
	}
}

/* A descriptor, because process 1 of a PID namespace gets no signal that it
 * does not ask for. A terminal's interrupt is the command's if there is one. */
static void watch_signals(struct passt *p)
{
	sigset_t set;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGUSR1);
	if (p->conf.target == TARGET_COMMAND)
		signal(SIGINT, SIG_IGN);
	else if (p->conf.is_foreground)
		sigaddset(&set, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_SETMASK, &set, NULL);
	p->signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	p->signals.fn = on_signal;
	rc = loop_add(&p->forwarder.loop, &p->signals, EPOLLIN);
	if (rc)
		die("signalfd: %s", strerror(-rc));
}

static void start(struct passt *p)
{
	struct resolv resolv;

	open_files(p);
	read_resolv(&resolv);
	plan_network(p);
	forwarder_init(&p->forwarder, &p->conf, &p->net, &resolv);
	choose_identity(p);
	connect_guest(p);
	summary_log(&p->conf, &p->net, &p->forwarder.fwd,
		    &p->forwarder.guest.local.announce);
	sandbox_enclose(!p->conf.is_foreground);
	if (!p->conf.is_foreground)
		go_background(p);
	watch_signals(p);
	if (p->conf.target != TARGET_FD)
		netns_watch(&p->netns, &p->forwarder.loop);
	sandbox_caps(-1);
	sandbox_seal(ROLE_FORWARDER);
	report_ready(p);
}

/* With the identity that the program would have */
static int check(struct passt *p)
{
	struct resolv resolv;
	struct precheck c = { .conf = &p->conf, .resolv = &resolv };

	read_resolv(&resolv);
	choose_identity(p);
	c.gid = p->gid;
	return precheck_run(&c);
}

int main(int argc, char **argv)
{
	static struct passt p;
	int status;

	/* A caller that ignores it would hide the end of our children */
	signal(SIGCHLD, SIG_DFL);
	/* A log or capture that may not grow is no reason to end */
	signal(SIGXFSZ, SIG_IGN);
	log_init("passt");
	cmdline_parse(&p.conf, argc, argv);
	log_level(p.conf.level);
	sandbox_fds(p.conf.fd, &p.nofile);
	if (p.conf.check)
		return check(&p);
	start(&p);
	if (p.conf.target == TARGET_COMMAND)
		netns_release(&p.netns);
	status = loop_run(&p.forwarder.loop);
	/* Ports first: the kernel takes tens of milliseconds to take down a
	 * link or a watch, and who restarts a container wants the same ports
	 * sooner */
	sandbox_close(p.forwarder.tap.fd, p.netns.watch.fd);
	/* Not exit(): its handlers may call what the filter forbids */
	_exit(status);
}
