/* dhcp_fuzz.c - no answer, or one whose options are all there, each once, and
 * that is no longer than allowed; byte 0 chooses what is announced, the rest
 * is the request */

#include "dhcp.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

#define HEAD 240 /* up to the options */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct announce announce(uint8_t what)
{
	struct announce a = {
		.guest[FAMILY_V4] = A.v4.addr,
		.ours[FAMILY_V4] = what & 1 ? A.v4.addr : B.v4.addr,
		.plen4 = what & 2 ? 32 : 24,
		.mtu = what & 4 ? 65520 : 0,
		.n_dns[FAMILY_V4] = what >> 3 & 3,
		.hostname = what & 0x20 ? "guest" : NULL,
		.fqdn = what & 0x40 ? "guest.example" : NULL,
		.n_search = what & 0x80 ? ANNOUNCE_SEARCH_MAX : 0,
	};
	unsigned i;

	for (i = 0; i < ANNOUNCE_DNS_MAX; i++)
		a.dns[FAMILY_V4][i] = C.v4.addr;
	for (i = 0; i < ANNOUNCE_SEARCH_MAX; i++) {
		memset(a.search[i], 'a', 200);
		a.search[i][60] = a.search[i][120] = a.search[i][180] = '.';
		a.search[i][61] = (char)('b' + i);
	}
	return a;
}

static void check_options(const uint8_t *opt, uint32_t len)
{
	bool seen[256] = { false };
	uint32_t at = 0;

	while (at < len && opt[at] != 255) {
		must(len - at >= 2 && len - at - 2 >= opt[at + 1]);
		must(opt[at] && !seen[opt[at]]);
		seen[opt[at]] = true;
		at += 2u + opt[at + 1];
	}
	must(at < len);
	while (++at < len)
		must(!opt[at]);
	must(seen[1] && seen[3] && seen[51] && seen[53] && seen[54]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pkt p = { .src = A.v4, .dst = B.v4, .proto = PROTO_UDP };
	uint8_t buf[DHCP_MAX];
	struct announce a;
	struct end dst;
	uint32_t len;

	if (!size || size > DGRAM_MAX)
		return 0;
	a = announce(data[0]);
	p.body.len = (uint32_t)size - 1;
	p.body.buf = guarded(data + 1, p.body.len);
	len = dhcp_reply(&p, &a, &dst, buf);
	if (!len)
		return 0;

	must(len >= 300 && len <= DHCP_MAX && p.body.len >= HEAD);
	must(buf[0] == 2 && p.body.buf[0] == 1);
	must(!memcmp(buf + 4, p.body.buf + 4, 4));
	must(!memcmp(buf + 28, p.body.buf + 28, 16));
	must(dst.port == DHCP_PORT_CLIENT);
	must(addr_eq(&dst.addr, &A.v4.addr) || addr_is_broadcast(&dst.addr));
	check_options(buf + HEAD, len - HEAD);
	return 0;
}
