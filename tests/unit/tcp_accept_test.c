/* tcp_accept_test.c - who is accepted when there is little room
 *
 * Listening, and the way over the guest's link, are played by this file. */

#include "tcp_accept.h"

#include "splice.h"

#include <sys/resource.h>

static struct tcp tcp_;
static struct tcp_listen listen_;
static struct tcp_accept a;
static struct listener x;
static unsigned n_pauses, n_opened;

void tcp_listen_pause(struct tcp_listen *l, struct listener *which)
{
	ok(l == &listen_ && which == &x, "who is paused");
	n_pauses++;
}

void tcp_listen_resume(struct tcp_listen *l)
{
	(void)l;
}

bool tcp_conn_make_room(struct tcp *t_)
{
	(void)t_;
	return false;
}

void tcp_open_to_guest(struct tcp *t_, int fd, const struct end *peer,
		       uint16_t port)
{
	(void)t_;
	(void)peer;
	(void)port;
	n_opened++;
	close(fd);
}

static void begin(void)
{
	start();
	n_pauses = n_opened = 0;
	tcp_ = (struct tcp){ .loop = &t.loop,
			     .stats = &t.stats,
			     .fwd = &t.fwd };
	a = (struct tcp_accept){
		.tcp = &tcp_, .splice = &t.s, .listen = &listen_, .max = 4
	};
	x = (struct listener){ .side = LISTEN_NS, .target = PORT };
	x.watch.fd = tcp_bound(lo[0], 5000, 8);
	tcp_accept_init(&a);
}

static int comes(void)
{
	struct end e = E(lo[0], 5000);
	int fd = stream_open(AF_INET);

	stream_connect(fd, AF_INET, &e);
	return fd;
}

static void finish(int server, int *fds, unsigned n)
{
	close(server);
	while (n--)
		close(fds[n]);
	settle();
	close(x.watch.fd);
	stop();
}

/* One comes, one goes */
static void full(void)
{
	int server = tcp_bound(lo[0], PORT, 8), fd[4];
	char c;

	begin();
	t.fds -= 1;
	for (unsigned i = 0; i < 2; i++) {
		fd[i] = comes();
		listen_.accept(&a, &x);
		settle();
	}
	is_int(t.s.n, 2, "full");
	is_int(n_pauses, 0, "nobody waits, nothing pauses");
	fd[2] = comes();
	listen_.accept(&a, &x);
	is_int(n_pauses, 1, "none is idle: it waits");
	is_int(t.s.n, 2, "none gave way");
	t.loop.now_ms += TCP_EVICT_MS;
	listen_.accept(&a, &x);
	is_int(t.s.n, 2, "one gave way, no more");
	is_int(t.stats.n[TCP_EVICTED], 1, "counted");
	is_int(stream_read(fd[0], &c, 1), -ECONNRESET, "the oldest");
	is_int(stream_read(fd[1], &c, 1), -EAGAIN, "not the next");
	finish(server, fd, 3);
}

/* The process has no descriptor left, though connections may have more */
static void exhausted(void)
{
	int server = tcp_bound(lo[0], PORT, 8), fd[2];
	struct rlimit was, few;
	char c;

	begin();
	t.fds -= 1;
	a.max = 100;
	fd[0] = comes();
	listen_.accept(&a, &x);
	settle();
	fd[1] = comes();
	t.loop.now_ms += TCP_EVICT_MS;
	getrlimit(RLIMIT_NOFILE, &was);
	few = was;
	few.rlim_cur = (rlim_t)dup(0); /* the next one */
	close((int)few.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &few);
	listen_.accept(&a, &x);
	setrlimit(RLIMIT_NOFILE, &was);
	is_int(stream_read(fd[0], &c, 1), -ECONNRESET, "what is idle goes");
	is_int(t.s.n, 1, "who waited is served");
	finish(server, fd, 2);
}

/* Without a link to the guest, only loopback is served */
static void strange(void)
{
	int fd[2];
	char c;

	begin();
	t.fwd.no_splice = true; /* as if from elsewhere */
	x.side = LISTEN_HOST;
	fd[0] = comes();
	listen_.accept(&a, &x);
	is_int(n_opened, 1, "over the link");
	a.is_loopback_only = true;
	fd[1] = comes();
	listen_.accept(&a, &x);
	is_int(n_opened, 1, "there is none");
	is_int(stream_read(fd[1], &c, 1), -ECONNRESET, "reset at once");
	is_int(t.stats.n[DROP_NOT_LOOPBACK], 1, "counted");
	finish(-1, fd, 2);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	net_enter();
	full();
	exhausted();
	strange();
	return done();
}
