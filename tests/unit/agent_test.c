/* agent_test.c - real agents, in the namespace we are in */

#include "agent.h"

#include "check.h"
#include "log.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char greeting[] = "from inside";

/* Hands two descriptors over: both ends of a pipe */
static void give(void *arg, int sock)
{
	int fds[2];

	if (pipe(fds) || agent_give(sock, arg, sizeof(greeting), fds, 2))
		_exit(1);
}

static void give_nothing(void *arg, int sock)
{
	(void)arg;
	if (agent_give(sock, NULL, 0, NULL, 0))
		_exit(1);
}

static void fail(void *arg, int sock)
{
	(void)arg;
	(void)sock;
	_exit(1);
}

/* Not an agent: answers the first question with what @arg points at, twice */
static void lie(void *arg, int sock)
{
	int fd = *(int *)arg;
	char buf[256];

	agent_give(sock, NULL, 0, NULL, 0);
	recv(sock, buf, sizeof(buf), 0);
	agent_give(sock, NULL, 0, &fd, fd >= 0);
	recv(sock, buf, sizeof(buf), 0);
	_exit(0);
}

static char arg_greeting[sizeof(greeting)] = "from inside";

static void start(struct agent *a, struct stats *s)
{
	is_int(agent_start(a, give_nothing, NULL, s), 0, "start");
	is_int(agent_take(a, NULL, 0, NULL, 0), 0, "nothing is given");
	is_int(agent_ready(a), 0, "ready");
}

/* EOF must end it */
static void stop(struct agent *a)
{
	int status = -1;

	for (unsigned i = 0; i < AGENT_TYPES * FAMILY_COUNT; i++) {
		struct agent_pool *p =
			&a->pool[i / FAMILY_COUNT][i % FAMILY_COUNT];

		while (p->n)
			close(p->fd[--p->n]);
	}
	if (a->sock >= 0)
		close(a->sock);
	waitpid(a->pid, &status, 0);
	is_int(status, 0, "the agent ends at EOF");
}

static void test_set_up(void)
{
	struct stats s = { 0 };
	struct agent a;
	char buf[sizeof(greeting)] = "";
	char byte = 'x';
	int fds[2] = { -1, -1 };

	is_int(agent_start(&a, give, arg_greeting, &s), 0, "start");
	is_int(agent_take(&a, buf, sizeof(buf), fds, 2), 0, "take");
	is_str(buf, greeting, "bytes arrive");
	ok(write(fds[1], "y", 1) == 1 && read(fds[0], &byte, 1) == 1 &&
		   byte == 'y',
	   "descriptors work");
	ok(fcntl(fds[0], F_GETFD) & FD_CLOEXEC, "and are CLOEXEC");
	is_int(agent_ready(&a), 0, "ready");
	close(fds[0]);
	close(fds[1]);
	stop(&a);

	is_int(agent_start(&a, fail, NULL, &s), 0, "start one that fails");
	is_int(agent_take(&a, buf, 1, fds, 0), -EPIPE, "it shows in take");
	is_int(agent_ready(&a), -EPIPE, "it shows in ready");
	close(a.sock);
	waitpid(a.pid, NULL, 0);

	is_int(agent_start(&a, give, arg_greeting, &s), 0, "start");
	is_int(agent_take(&a, buf, sizeof(buf), fds, 1), -EBADMSG,
	       "another number of descriptors than expected");
	close(a.sock);
	waitpid(a.pid, NULL, 0);
	is_int(s.n[AGENT_ERRORS], 0, "set-up counts nothing");
}

/* What differs between the types */
static const struct kind {
	const char *name;
	int type;
	int (*draw)(struct agent *a, enum family family);
} kinds[AGENT_TYPES] = {
	[AGENT_DGRAM] = { "UDP", SOCK_DGRAM, agent_udp },
	[AGENT_STREAM] = { "TCP", SOCK_STREAM, agent_stream },
};

static int int_of(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, SOL_SOCKET, name, &value, &len);
	return value;
}

static void test_pool(enum agent_type type, enum family family)
{
	const struct kind *k = &kinds[type];
	struct stats s = { 0 };
	struct agent a;
	int fd;

	start(&a, &s);
	fd = k->draw(&a, family);
	if (family == FAMILY_V6 && fd == -EAFNOSUPPORT) {
		is_int(s.n[AGENT_ERRORS], 1, "no IPv6 here: counted");
		stop(&a);
		return;
	}
	ok(fd >= 0, "%s, family %d: a socket", k->name, (int)family);
	is_int(int_of(fd, SO_TYPE), k->type, "of this type");
	is_int(int_of(fd, SO_DOMAIN), family == FAMILY_V4 ? AF_INET : AF_INET6,
	       "and family");
	ok(fcntl(fd, F_GETFL) & O_NONBLOCK, "non-blocking");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "close-on-exec");
	is_int(a.pool[type][family].n, AGENT_POOL - 1,
	       "the rest is in the pool");
	close(fd);
	for (unsigned i = 0; i < AGENT_POOL; i++) {
		fd = k->draw(&a, family);
		if (fd < 0)
			break;
		close(fd);
	}
	ok(fd >= 0, "the pool refills");
	is_int(s.n[AGENT_ERRORS], 0, "no errors");
	stop(&a);
}

static pid_t stopped;
static volatile sig_atomic_t n_alarms;

static void on_alarm(int sig)
{
	(void)sig;
	if (++n_alarms == 2)
		kill(stopped, SIGCONT);
}

/* Being stopped and continued, by a debugger or a freezer, does the same to a
 * call with a deadline as a signal that has a handler */
static void test_interrupted(void)
{
	struct sigaction catch = { .sa_handler = on_alarm }, old;
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
	struct stats s = { 0 };
	struct agent a;
	int fd;

	start(&a, &s);
	stopped = a.pid;
	sigaction(SIGALRM, &catch, &old);
	kill(a.pid, SIGSTOP);
	setitimer(ITIMER_REAL, &often, NULL);
	fd = agent_udp(&a, FAMILY_V4);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	ok(n_alarms >= 2, "the call was interrupted");
	ok(fd >= 0, "and had its answer: %d", fd);
	if (fd >= 0)
		close(fd);
	kill(a.pid, SIGCONT);
	stop(&a);
}

static void test_few_descriptors(void)
{
	struct stats s = { 0 };
	struct rlimit limit, small;
	struct agent a;
	int fds[AGENT_POOL];
	unsigned n = 0;

	start(&a, &s);
	getrlimit(RLIMIT_NOFILE, &limit);
	small = limit;
	small.rlim_cur = 20;
	setrlimit(RLIMIT_NOFILE, &small);
	while (n < AGENT_POOL && (fds[n] = agent_udp(&a, FAMILY_V4)) >= 0)
		n++;
	ok(n > 5 && n < 20, "as many as we may have: %u", n);
	is_int(fds[n], -EMFILE, "then the reason");
	is_int(s.n[AGENT_ERRORS], 1, "counted");
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(agent_udp(&a, FAMILY_V4) >= 0, "and it goes on once there is room");
	while (n)
		close(fds[--n]);
	stop(&a);
}

static struct end loopback(uint16_t port)
{
	return end_make(&addr_loopback4, port, 0);
}

static void test_bound(const struct kind *k)
{
	struct sockaddr_in sa = { 0 };
	socklen_t len = sizeof(sa);
	struct end e = loopback(0);
	struct stats s = { 0 };
	struct agent a;
	int fd, other;

	start(&a, &s);
	fd = agent_bound(&a, k->type, AF_INET, &e, "");
	ok(fd >= 0, "%s: bound", k->name);
	is_int(int_of(fd, SO_TYPE), k->type, "a socket of this type");
	ok(k->type == SOCK_DGRAM || !listen(fd, 1), "which may listen");
	getsockname(fd, (struct sockaddr *)&sa, &len);
	is_int(ntohl(sa.sin_addr.s_addr), INADDR_LOOPBACK, "to the address");
	e = loopback(ntohs(sa.sin_port));
	is_int(agent_bound(&a, k->type, AF_INET, &e, ""), -EADDRINUSE,
	       "port in use");
	is_int(agent_bound(&a, k->type, AF_INET, &e, "no-such-device"), -ENODEV,
	       "device that does not exist");
	is_int(agent_bound(&a, k->type, AF_INET, &e, "name longer than 15"),
	       -ENODEV, "device that cannot exist");
	is_int(agent_bound(&a, k->type, AF_UNIX, &e, ""), -EINVAL,
	       "odd family");
	is_int(agent_bound(&a, SOCK_RAW, AF_INET, &e, ""), -EINVAL, "odd type");
	is_int(s.n[AGENT_ERRORS], 5, "all counted");
	other = k->draw(&a, FAMILY_V4);
	ok(other >= 0, "a refusal is not its death");
	close(fd);
	close(other);
	e = loopback(0);
	fd = agent_bound(&a, k->type, AF_INET, &e, "lo");
	ok(fd >= 0, "bound to a device");
	close(fd);
	stop(&a);
}

/* A port whose last connection is in TIME_WAIT may be had at once */
static void test_bound_again(void)
{
	struct sockaddr_in sa = { 0 };
	socklen_t len = sizeof(sa);
	struct stats s = { 0 };
	struct end e = loopback(0);
	struct agent a;
	int fd, to, of;
	char c;

	start(&a, &s);
	fd = agent_bound(&a, SOCK_STREAM, AF_INET, &e, "");
	getsockname(fd, (struct sockaddr *)&sa, &len);
	listen(fd, 1);
	to = socket(AF_INET, SOCK_STREAM, 0);
	is_int(connect(to, (struct sockaddr *)&sa, len), 0, "connect");
	fcntl(fd, F_SETFL, 0); /* wait */
	of = accept(fd, NULL, NULL);
	shutdown(of, SHUT_WR);
	is_int(read(to, &c, 1), 0, "the port's end goes first");
	close(to);
	is_int(read(of, &c, 1), 0, "and is left in TIME_WAIT");
	close(of);
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	ok(bind(fd, (struct sockaddr *)&sa, len), "not for everybody");
	close(fd);
	e = loopback(ntohs(sa.sin_port));
	fd = agent_bound(&a, SOCK_STREAM, AF_INET, &e, "");
	ok(fd >= 0, "the same port: %d", fd);
	close(fd);
	stop(&a);
}

static void test_death(void)
{
	struct stats s = { 0 };
	struct agent a;

	start(&a, &s);
	kill(a.pid, SIGTERM);
	ok(close(agent_udp(&a, FAMILY_V4)) == 0, "SIGTERM does not end it");
	a.pool[AGENT_DGRAM][FAMILY_V4].n = 0;
	kill(a.pid, SIGKILL);
	waitpid(a.pid, NULL, 0);
	is_int(agent_udp(&a, FAMILY_V4), -EPIPE, "a dead agent is noticed");
	is_int(a.sock, -1, "and buried");
	is_int(agent_udp(&a, FAMILY_V4), -EPIPE, "for ever");
	is_int(s.n[AGENT_ERRORS], 2, "counted each time");
}

/* Takes AGENT_DEADLINE_MS */
static void test_deadline(void)
{
	struct stats s = { 0 };
	struct agent a;

	start(&a, &s);
	kill(a.pid, SIGSTOP);
	is_int(agent_udp(&a, FAMILY_V4), -ETIMEDOUT, "a mute agent");
	is_int(a.sock, -1, "is given up");
	kill(a.pid, SIGCONT);
	stop(&a);
}

static void test_liars(void)
{
	struct {
		const char *name;
		int fd;
		int want;
	} row[] = {
		{ "no socket at all", open("/dev/null", O_RDWR), -EBADMSG },
		{ "a stream socket",
		  socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), -EBADMSG },
		{ "another family",
		  socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), -EBADMSG },
		{ "a blocking socket", socket(AF_INET, SOCK_DGRAM, 0),
		  -EBADMSG },
		{ "success without anything", -1, -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct stats s = { 0 };
		struct agent a;

		agent_start(&a, lie, &row[i].fd, &s);
		agent_take(&a, NULL, 0, NULL, 0);
		is_int(agent_udp(&a, FAMILY_V4), row[i].want, "%s: refused",
		       row[i].name);
		is_int(a.sock, -1, "%s: the end of trust", row[i].name);
		if (row[i].fd >= 0)
			close(row[i].fd);
		waitpid(a.pid, NULL, 0);
	}
}

/* Which descriptors has it got? */
static unsigned count_fds(pid_t pid)
{
	char path[64];
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void test_locked_in(void)
{
	struct stats s = { 0 };
	struct agent a;

	start(&a, &s);
	is_int(getsid(a.pid), a.pid, "a session of its own");
	if (!geteuid()) {
		struct end e = loopback(0);

		ok(agent_udp(&a, FAMILY_V4) >= 0, "a socket");
		/* When it answers again it is done with the request before */
		agent_bound(&a, SOCK_DGRAM, AF_UNIX, &e, "");
		is_int(count_fds(a.pid), 2 + 4,
		       "0 to 2, its end, and two dots");
	}
	stop(&a);
}

int main(void)
{
	log_init("agent_test");
	log_stderr(false);
	test_set_up();
	for (unsigned i = 0; i < AGENT_TYPES; i++) {
		test_pool(i, FAMILY_V4);
		test_pool(i, FAMILY_V6);
		test_bound(&kinds[i]);
	}
	test_interrupted();
	test_few_descriptors();
	test_bound_again();
	test_death();
	test_deadline();
	test_liars();
	test_locked_in();
	return done();
}
