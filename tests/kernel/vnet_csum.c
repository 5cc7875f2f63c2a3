/* vnet_csum.c - what the checksum flags of a written frame mean
 *
 * Proves: with NEEDS_CSUM the sum may be partial. Without it the sum must be
 * right or, for IPv4, zero; DATA_VALID does not excuse a wrong one. What is
 * wrong is lost without an error to the writer. */

#include "lib.h"

static const struct {
	const char *name;
	struct dgram d;
	bool arrives;
} row[] = {
	{ "partial", { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM }, true },
	{ "full and right", { .flags = 0 }, true },
	{ "full and wrong", { .bad_csum = 1 }, false },
	{ "wrong, called valid",
	  { .flags = VIRTIO_NET_HDR_F_DATA_VALID, .bad_csum = 1 },
	  false },
	{ "zero", { .no_csum = true }, true },
};

int main(void)
{
	static uint8_t buf[MAX_FRAME];
	struct dgram mark = { .port = 5000, .len = 1 };
	unsigned i;
	int fd, s;

	enter();
	fd = tap_up(1500);
	s = udp_at("10.9.0.1", 5000);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct dgram d = row[i].d;

		d.port = 5000;
		d.len = 100 + i;
		ok(tap_write(fd, &d) > 0, "%s: is written", row[i].name);
		must(tap_write(fd, &mark) > 0);
		if (row[i].arrives)
			is_int(recv(s, buf, sizeof(buf), 0), d.len,
			       "%s: arrives", row[i].name);
		is_int(recv(s, buf, sizeof(buf), 0), 1, "%s: then the next",
		       row[i].name);
	}
	return done();
}
