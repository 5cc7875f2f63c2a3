/* tap_errors.c - what a tap says when it is down or gone
 *
 * Proves: writing to a tap that is down is EIO, and the frame is lost; when the
 * device is deleted it is EBADFD and poll() shows POLLERR. */

#include "lib.h"

static void delete_link(const char *name)
{
	char command[64];

	snprintf(command, sizeof(command), "ip link delete dev %s", name);
	must(system(command) == 0);
}

int main(void)
{
	struct dgram d = { .port = 5000,
			   .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			   .len = 100 };
	struct pollfd p = { .events = POLLIN };
	char buf[16];

	enter();
	p.fd = tap_up(1500);
	ok(tap_write(p.fd, &d) > 0, "up: written");
	link_set("t", 0, false);
	ok(tap_write(p.fd, &d) < 0 && errno == EIO, "down: EIO");
	link_set("t", 0, true);
	ok(tap_write(p.fd, &d) > 0, "up again: written");
	delete_link("t");
	ok(tap_write(p.fd, &d) < 0 && errno == EBADFD, "deleted: EBADFD");
	ok(read(p.fd, buf, sizeof(buf)) < 0 && errno == EBADFD,
	   "deleted: read is EBADFD, too");
	ok(poll(&p, 1, 1000) == 1 && p.revents & POLLERR, "poll() says so");
	return done();
}
