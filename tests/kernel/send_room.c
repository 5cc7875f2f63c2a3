/* send_room.c - how much a send queue takes
 *
 * Proves: SO_MEMINFO tells the bytes queued at a TCP socket, overhead
 * included, and the size of its send buffer; send() takes bytes as long as the
 * first is smaller (and some more if they fit the last segment); with large writes the overhead is below 10 %, so a send of
 * 7/8 of the room is not cut. */

#include "stream.h"

static uint32_t room(int s)
{
	uint32_t queued = mem(s, SK_MEMINFO_WMEM_QUEUED);
	uint32_t size = mem(s, SK_MEMINFO_SNDBUF);

	return queued < size ? size - queued : 0;
}

static void look(int family)
{
	static char data[8 * 1024 * 1024];
	struct stream c = stream_open(family);
	const char *name = family_name(family);
	long n, total = 0;
	uint32_t before, cut = 0;

	must(!set_int(c.of, SOL_SOCKET, SO_RCVBUF, 4096));
	is_int(mem(c.to, SK_MEMINFO_WMEM_QUEUED), 0, "%s: empty", name);
	while ((before = room(c.to)) > 4096) {
		n = send(c.to, data, before / 8 * 7, 0);
		cut += n != before / 8 * 7;
		total += n;
		ok(n > 0, "%s: room of %u: %ld taken", name, before, n);
	}
	is_int(cut, 0, "%s: none was cut", name);
	while ((n = send(c.to, data, 1024, 0)) > 0)
		total += n;
	is_int(room(c.to), 0, "%s: refused, so there is none", name);
	n = mem(c.to, SK_MEMINFO_WMEM_QUEUED);
	ok(total > n / 10 * 9, "%s: %ld bytes sent, %ld queued", name, total,
	   n);
	stream_close(&c);
}

int main(void)
{
	return both_families(look);
}
