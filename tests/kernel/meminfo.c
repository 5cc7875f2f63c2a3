/* meminfo.c - a socket counts what it had no room for
 *
 * Proves: SO_MEMINFO tells how many datagrams the kernel dropped at a socket. */

#include <linux/sock_diag.h>
#include "lib.h"

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

int main(void)
{
	struct sockaddr_in to = at("127.0.0.1", 5000);
	uint32_t mem[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(mem);
	static char data[1000], buf[1000];
	int s, r, i, got = 0;

	enter();
	s = udp_at("127.0.0.1", 0);
	r = udp_at("127.0.0.1", 5000);
	must(!set_int(r, SOL_SOCKET, SO_RCVBUF, 4096));
	for (i = 0; i < 100; i++)
		must(send_to(s, data, sizeof(data), &to) > 0);
	must(!getsockopt(r, SOL_SOCKET, SO_MEMINFO, mem, &len));
	while (recv(r, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		got++;
	ok(mem[SK_MEMINFO_DROPS] > 0, "%u were dropped", mem[SK_MEMINFO_DROPS]);
	is_int(got + (int)mem[SK_MEMINFO_DROPS], 100, "the others arrived");
	return done();
}
