/* dhcp6_fuzz.c - no answer, or one whose options are well formed, repeat the
 * client's name and hold ours; byte 0 chooses what is announced, the rest is
 * the message. Where bit 7 is set, a server-id of ours is put in front of its
 * options. */

#include "dhcp6.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t ours[] = {
	0, 2, 0, 14, 0, 1, 0, 1, 0, 0, 0, 9, 2, 0, 0, 0, 0, 0xb,
};

static struct announce announce(uint8_t what)
{
	struct announce a = {
		.guest[FAMILY_V6] = A.v6.addr,
		.ours[FAMILY_V6] = B.v6.addr,
		.mac = B.mac,
		.duid_s = 9,
		.n_dns[FAMILY_V6] = what & 3,
		.fqdn = what & 4 ? "guest.example" : NULL,
		.n_search = what & 8 ? ANNOUNCE_SEARCH_MAX : 0,
	};
	unsigned i;

	for (i = 0; i < ANNOUNCE_DNS_MAX; i++)
		a.dns[FAMILY_V6][i] = C.v6.addr;
	for (i = 0; i < ANNOUNCE_SEARCH_MAX; i++) {
		memset(a.search[i], 'a', 250);
		a.search[i][60] = a.search[i][120] = a.search[i][180] = '.';
		a.search[i][240] = '.';
	}
	return a;
}

static void check_options(const uint8_t *opt, uint32_t len)
{
	unsigned n_client = 0, n_server = 0;
	uint32_t at = 0, l;

	while (at < len) {
		must(len - at >= 4);
		l = be16_get(opt + at + 2);
		must(len - at - 4 >= l);
		n_client += be16_get(opt + at) == 1;
		n_server += be16_get(opt + at) == 2;
		must(be16_get(opt + at) != 2 ||
		     !memcmp(opt + at, ours, sizeof(ours)));
		at += 4 + l;
	}
	must(n_client == 1 && n_server == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t msg[DGRAM_MAX];
	struct pkt p = { .src = A.v6, .dst = B.v6, .proto = PROTO_UDP };
	uint8_t buf[DHCP6_MAX];
	struct announce a;
	uint32_t len, head;

	if (size < 5 || size > DGRAM_MAX - sizeof(ours))
		return 0;
	a = announce(data[0]);
	head = data[0] & 0x80 ? sizeof(ours) : 0;
	memcpy(msg, data + 1, 4);
	memcpy(msg + 4, ours, head);
	memcpy(msg + 4 + head, data + 5, size - 5);
	p.body.len = (uint32_t)size - 1 + head;
	p.body.buf = guarded(msg, p.body.len);
	len = dhcp6_reply(&p, &a, buf);
	if (!len)
		return 0;

	must(len <= DHCP6_MAX && (buf[0] == 2 || buf[0] == 7));
	must(!memcmp(buf + 1, msg + 1, 3));
	must(dhcp6_label(&p) <= 0xfffff);
	check_options(buf + 4, len - 4);
	return 0;
}
