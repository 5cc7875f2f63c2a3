/* ping.c - echo by datagram sockets
 *
 * Proves: a new namespace lets nobody have ping sockets; where it does, the
 * port bound is the identifier of requests, whatever they say themselves; the
 * reply begins with its header, sequence number as asked; one socket asks
 * several remotes. */

#include "lib.h"

#include <linux/icmp.h>

static int ping_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
}

static ssize_t ask(int s, const char *where, uint16_t seq)
{
	struct icmphdr h = { .type = ICMP_ECHO };
	struct sockaddr_in to = at(where, 0);

	h.un.echo.id = htons(77); /* ignored */
	h.un.echo.sequence = htons(seq);
	return sendto(s, &h, sizeof(h), 0, (struct sockaddr *)&to, sizeof(to));
}

static void replies(int s)
{
	static const char *const where[] = { "127.0.0.1", "127.0.0.2" };
	struct icmphdr h;

	for (uint16_t i = 0; i < 2; i++) {
		struct sockaddr_in from = { 0 };
		socklen_t len = sizeof(from);

		is_int(ask(s, where[i], (uint16_t)(i + 5)), sizeof(h), "asked");
		is_int(recvfrom(s, &h, sizeof(h), 0, (struct sockaddr *)&from,
				&len),
		       sizeof(h), "a reply with its header");
		is_int(h.type, ICMP_ECHOREPLY, "type");
		is_int(ntohs(h.un.echo.id), 4242, "the port is the identifier");
		is_int(ntohs(h.un.echo.sequence), i + 5, "sequence number");
		is_int(from.sin_addr.s_addr, inet_addr(where[i]), "from whom");
	}
}

int main(void)
{
	struct sockaddr_in local = at("0.0.0.0", 4242);
	int fd, s;

	enter();
	s = ping_socket();
	ok(s < 0 && errno == EACCES, "a new namespace lets nobody");
	fd = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0 0", 3) != 3)
		skip_all("ping_group_range: %s", strerror(errno));
	close(fd);
	s = ping_socket();
	must(s >= 0);
	is_int(bind(s, (struct sockaddr *)&local, sizeof(local)), 0,
	       "an identifier may be chosen");
	replies(s);
	close(s);
	return done();
}
