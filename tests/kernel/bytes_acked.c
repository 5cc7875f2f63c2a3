/* bytes_acked.c - how many bytes the peer's kernel has acknowledged
 *
 * Proves: tcpi_bytes_acked of a connection that stands begins at 1 on the side
 * that connected (its SYN), at 0 on the other; it counts bytes that the peer's
 * kernel holds, read or not; a FIN that was acknowledged counts as one more. */

#include "stream.h"

#include <stddef.h>

static uint64_t acked(int s)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	must(!getsockopt(s, IPPROTO_TCP, TCP_INFO, &info, &len));
	if (len < offsetof(struct tcp_info, tcpi_bytes_received))
		skip_all("no tcpi_bytes_acked (Linux 4.1)");
	return info.tcpi_bytes_acked;
}

/* Once it is at least @n, or after a second */
static uint64_t acked_at_least(int s, uint64_t n)
{
	for (int i = 0; i < 1000 && acked(s) < n; i++)
		poll(NULL, 0, 1);
	return acked(s);
}

static void look(int family, bool is_to)
{
	struct stream c = stream_open(family);
	const char *name = family_name(family);
	int s = is_to ? c.to : c.of, far = is_to ? c.of : c.to;
	uint64_t base = acked(s);
	static char data[20000];

	is_int(base, is_to, "%s, %s: the base", name,
	       is_to ? "connected" : "accepted");
	must(send(s, data, 20000, 0) == 20000);
	is_int(acked_at_least(s, base + 20000), base + 20000,
	       "%s: bytes that nobody has read", name);
	must(!shutdown(s, SHUT_WR));
	is_int(acked_at_least(s, base + 20001), base + 20001,
	       "%s: FIN is one more", name);
	is_int(recv(far, NULL, 20001, MSG_TRUNC), 20000, "%s: but no byte",
	       name);
	is_int(acked(s), base + 20001, "%s: and reading is not counted", name);
	stream_close(&c);
}

int main(void)
{
	enter();
	for (int i = 0; i < 2; i++) {
		look(AF_INET, i);
		look(AF_INET6, i);
	}
	return done();
}
