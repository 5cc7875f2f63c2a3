/* peek_off.c - TCP sockets remember how far was peeked
 *
 * Proves, for both families: with SO_PEEK_OFF 0 each MSG_PEEK goes on where
 * the last one ended; recv(MSG_TRUNC) discards without copying and moves the
 * offset back by as much, not below 0; setting it repeats what was seen. */

#include "stream.h"

static void look(int family)
{
	struct stream c = stream_open(family);
	const char *name = family_name(family);
	char buf[16] = "";

	is_int(get_int(c.of, SOL_SOCKET, SO_PEEK_OFF), -1, "%s: off", name);
	if (set_int(c.of, SOL_SOCKET, SO_PEEK_OFF, 0))
		skip_all("no SO_PEEK_OFF for TCP over %s (Linux 6.9, 6.12)",
			 name);
	must(send(c.to, "0123456789", 10, 0) == 10);
	stream_has(c.of, 10);
	is_int(recv(c.of, buf, 5, MSG_PEEK), 5, "%s: peek", name);
	is_mem(buf, "01234", 5, "%s: the first", name);
	is_int(recv(c.of, buf, 16, MSG_PEEK), 5, "%s: peek again", name);
	is_mem(buf, "56789", 5, "%s: the rest", name);
	is_int(recv(c.of, NULL, 7, MSG_TRUNC), 7, "%s: discard", name);
	is_int(get_int(c.of, SOL_SOCKET, SO_PEEK_OFF), 3,
	       "%s: the offset goes back", name);
	ok(recv(c.of, buf, 16, MSG_PEEK) < 0 && errno == EAGAIN,
	   "%s: all was seen", name);
	must(!set_int(c.of, SOL_SOCKET, SO_PEEK_OFF, 1));
	is_int(recv(c.of, buf, 16, MSG_PEEK), 2, "%s: from the second", name);
	is_mem(buf, "89", 2, "%s: it is", name);
	must(!set_int(c.of, SOL_SOCKET, SO_PEEK_OFF, 1));
	is_int(recv(c.of, NULL, 3, MSG_TRUNC), 3, "%s: more than the offset",
	       name);
	is_int(get_int(c.of, SOL_SOCKET, SO_PEEK_OFF), 0, "%s: 0 at the least",
	       name);
	stream_close(&c);
}

int main(void)
{
	return both_families(look);
}
