/* peek_end.c - the end of a stream stands behind its bytes
 *
 * Proves: behind unread bytes FIN shows as a peek of length 0, as often as
 * asked, and a reset as its error, once; the bytes before either can be seen
 * and taken. With a reset, what is discarded was still there. */

#include "stream.h"

static struct stream three_bytes(int family, bool is_reset)
{
	struct linger none = { .l_onoff = 1 };
	struct stream c = stream_open(family);

	if (set_int(c.of, SOL_SOCKET, SO_PEEK_OFF, 0))
		skip_all("no SO_PEEK_OFF for TCP over %s (Linux 6.9, 6.12)",
			 family_name(family));
	must(send(c.to, "abc", 3, 0) == 3);
	stream_has(c.of, 3);
	if (is_reset)
		must(!setsockopt(c.to, SOL_SOCKET, SO_LINGER, &none,
				 sizeof(none)));
	close(c.to);
	for (int i = 0; i < 1000 && stream_state(c.of) == 1; i++)
		poll(NULL, 0, 1); /* 1: established */
	return c;
}

static void look(int family)
{
	const char *name = family_name(family);
	struct stream c = three_bytes(family, false);
	char buf[8];

	ok(events(c.of, POLLIN | POLLRDHUP) & POLLRDHUP, "%s: FIN", name);
	is_int(recv(c.of, buf, 8, MSG_PEEK), 3, "%s: bytes before it", name);
	is_int(recv(c.of, buf, 8, MSG_PEEK), 0, "%s: then the end", name);
	is_int(recv(c.of, buf, 8, MSG_PEEK), 0, "%s: the end again", name);
	must(!set_int(c.of, SOL_SOCKET, SO_PEEK_OFF, 1));
	is_int(recv(c.of, buf, 8, MSG_PEEK), 2, "%s: back", name);
	is_int(recv(c.of, NULL, 8, MSG_TRUNC), 3, "%s: FIN is not discarded",
	       name);
	is_int(recv(c.of, buf, 8, MSG_PEEK), 0, "%s: the end stays", name);
	close(c.of);

	c = three_bytes(family, true);
	ok(events(c.of, POLLIN) & POLLERR, "%s: a reset", name);
	is_int(recv(c.of, buf, 8, MSG_PEEK), 3, "%s: bytes before it", name);
	is_int(recv(c.of, NULL, 3, MSG_TRUNC), 3, "%s: taken", name);
	ok(recv(c.of, buf, 8, MSG_PEEK) < 0 && errno == ECONNRESET,
	   "%s: then its error", name);
	is_int(recv(c.of, buf, 8, MSG_PEEK), 0, "%s: once", name);
	close(c.of);
}

int main(void)
{
	return both_families(look);
}
