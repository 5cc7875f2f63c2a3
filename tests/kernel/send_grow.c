/* send_grow.c - when the kernel lets a send buffer grow
 *
 * Proves: a TCP send buffer grows only if the socket is marked as short of
 * space. Who fills it by 7/8 of the room each time, and never asks for more,
 * stays where he began; registering for EPOLLOUT anew while more than 2/3 is
 * queued makes it grow, as does a refused send. */

#include "stream.h"

#define ROUNDS 300

enum way { NO_MARK, REARM, REFUSED };

static char data[8 * 1024 * 1024];

static void fill(int s)
{
	uint32_t queued = mem(s, SK_MEMINFO_WMEM_QUEUED);
	uint32_t size = mem(s, SK_MEMINFO_SNDBUF);

	if (queued < size)
		(void)!send(s, data, (size - queued) / 8 * 7, 0);
}

static void mark(int s, int epfd, enum way way)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET };

	if (way == REARM)
		must(!epoll_ctl(epfd, EPOLL_CTL_MOD, s, &ev));
	if (way == REFUSED)
		while (send(s, data, 65536, 0) > 0)
			;
}

/* How many times as large has it become? */
static unsigned growth(enum way way)
{
	struct stream c = stream_open(AF_INET);
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET };
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	uint32_t start = mem(c.to, SK_MEMINFO_SNDBUF), end;

	must(!epoll_ctl(epfd, EPOLL_CTL_ADD, c.to, &ev));
	for (int i = 0; i < ROUNDS; i++) {
		fill(c.to);
		mark(c.to, epfd, way);
		/* The reader lags: what was sent stays queued for a while */
		if (i % 3 == 2)
			while (recv(c.of, data, sizeof(data), 0) > 0)
				;
	}
	end = mem(c.to, SK_MEMINFO_SNDBUF);
	printf("# %u to %u bytes\n", start, end);
	close(epfd);
	stream_close(&c);
	return end / start;
}

int main(void)
{
	enter();
	/* At the MTU of lo the first size is already the largest */
	link_set("lo", 1500, true);
	is_int(growth(NO_MARK), 1, "filled, never marked: as it was");
	ok(growth(REARM) > 4, "EPOLLOUT anew: it grows");
	ok(growth(REFUSED) > 4, "a refused send: it grows");
	return done();
}
