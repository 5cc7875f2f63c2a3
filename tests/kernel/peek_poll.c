/* peek_poll.c - what was peeked still counts as readable
 *
 * Proves: when all that a TCP socket holds was peeked, recv() is EAGAIN but
 * poll() says readable, so a level-triggered loop would spin. Edge-triggered
 * epoll reports once per arrival, and is silent when bytes are discarded. */

#include "stream.h"

/* Reports within 20 ms */
static int reports(int epfd)
{
	struct epoll_event ev;

	return epoll_wait(epfd, &ev, 1, 20);
}

static void look(int family)
{
	struct stream c = stream_open(family);
	const char *name = family_name(family);
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	char buf[16];

	if (set_int(c.of, SOL_SOCKET, SO_PEEK_OFF, 0))
		skip_all("no SO_PEEK_OFF for TCP over %s (Linux 6.9, 6.12)",
			 name);
	must(!epoll_ctl(epfd, EPOLL_CTL_ADD, c.of, &ev));
	must(send(c.to, "01234", 5, 0) == 5);
	stream_has(c.of, 5);
	is_int(reports(epfd), 1, "%s: an arrival is reported", name);
	is_int(recv(c.of, buf, 16, MSG_PEEK), 5, "%s: peek all", name);
	ok(recv(c.of, buf, 16, MSG_PEEK) < 0 && errno == EAGAIN,
	   "%s: nothing new", name);
	is_int(events(c.of, POLLIN), POLLIN, "%s: but readable", name);
	is_int(reports(epfd), 0, "%s: no second report", name);
	must(recv(c.of, NULL, 2, MSG_TRUNC) == 2);
	is_int(reports(epfd), 0, "%s: none of a discard", name);
	must(send(c.to, "5", 1, 0) == 1);
	stream_has(c.of, 4);
	is_int(reports(epfd), 1, "%s: the next arrival is reported", name);
	is_int(recv(c.of, buf, 16, MSG_PEEK), 1, "%s: and seen", name);
	must(!shutdown(c.to, SHUT_WR));
	is_int(reports(epfd), 1, "%s: so is FIN", name);
	close(epfd);
	stream_close(&c);
}

int main(void)
{
	return both_families(look);
}
