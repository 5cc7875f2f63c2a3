/* ns_alive.c - a tap or a socket keeps its namespace alive
 *
 * Proves: after the last process of a network namespace is gone, a tap
 * descriptor of it that we hold is still written to without an error and shows
 * none to poll(): the end of a namespace is to be seen elsewhere. */

#include "lib.h"

static void make_tap(int via)
{
	fd_send(via, tap_up(1500));
	fd_send(via, udp_at("10.9.0.1", 5000));
}

int main(void)
{
	struct dgram d = { .port = 5000,
			   .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			   .len = 100 };
	struct pollfd p = { .events = POLLIN };
	struct room r;
	char buf[128];
	int s;

	if (access("/dev/net/tun", R_OK | W_OK))
		skip_all("/dev/net/tun: %s", strerror(errno));
	r = room_open(make_tap);
	p.fd = fd_recv(r.via);
	s = fd_recv(r.via);
	room_close(&r);
	ok(tap_write(p.fd, &d) > 0, "a frame is written after the end");
	is_int(recv(s, buf, sizeof(buf), 0), 100, "and delivered");
	ok(!(poll(&p, 1, 50) > 0 && p.revents & (POLLERR | POLLHUP)),
	   "poll() sees nothing of it");
	return done();
}
