/* dhcp.c - answers to the guest's DHCP requests
 *
 * There is one guest and one address for it, so nothing is leased out and
 * nothing remembered: every request is granted what was planned, for ever. A
 * client that asks for another address is given the right one rather than a NAK
 * and a second round. Whoever releases, declines or only informs itself gets no
 * answer.
 *
 * Clients differ in how many options they read, so what they asked for comes
 * first, in their order, and the rest ascending. Options are gathered by
 * importance before that: where the message would exceed what the client can
 * take, names go first, addresses never.
 *
 * Deliberately not done: relays, options in the fields of server name and file
 * (option 52), splitting long options (RFC 3396). */

#include "dhcp.h"

#include "be.h"
#include "dnsname.h"

#include <string.h>

#define OP_REQUEST 1
#define OP_REPLY 2
#define MAGIC 0x63825363u
#define FLAG_BROADCAST 0x8000
#define HEAD_LEN 28 /* IPv4 and UDP headers: option 57 counts them, too */
#define SIZE_MIN 576 /* every client takes that, RFC 2131 2 */
#define OPTIONS_MIN 60 /* BOOTP's vendor area less the magic: RFC 951 3 */
#define OPTION_MAX 255
#define FOREVER UINT32_MAX

enum { TYPE_DISCOVER = 1, TYPE_OFFER = 2, TYPE_REQUEST = 3, TYPE_ACK = 5 };

enum {
	OPT_PAD = 0,
	OPT_MASK = 1,
	OPT_ROUTER = 3,
	OPT_DNS = 6,
	OPT_HOSTNAME = 12,
	OPT_MTU = 26,
	OPT_LEASE = 51,
	OPT_TYPE = 53,
	OPT_SERVER = 54,
	OPT_PARAMS = 55,
	OPT_SIZE = 57,
	OPT_RAPID = 80,
	OPT_FQDN = 81,
	OPT_SEARCH = 119,
	OPT_ROUTES = 121,
	OPT_END = 255
};

#define FQDN_FLAGS 4 /* RFC 4702 2.1: E, the name is in wire format */
#define FQDN_RCODE 255 /* RFC 4702 2.2 */

/* struct bootp - RFC 2131 2, up to the options */
struct bootp {
	uint8_t op, htype, hlen, hops;
	uint32_t xid_be;
	uint16_t secs_be, flags_be;
	uint8_t ciaddr[4], yiaddr[4], siaddr[4], giaddr[4];
	uint8_t chaddr[16];
	uint8_t sname[64];
	uint8_t file[128];
	uint32_t magic_be;
} WIRE;

/* struct ask - what of the client's options matters
 * @type: 0: BOOTP      @want, @n_want: parameter list
 * @size: of the largest message it takes      @is_rapid: rapid commit */
struct ask {
	uint8_t type;
	bool is_rapid;
	const uint8_t *want;
	unsigned n_want;
	uint32_t size;
};

/* struct offer - options of an answer, not yet in order
 * @len, @at: bytes of each option in @data; -1: not there
 * @used: bytes of @data      @room: bytes that options may still take */
struct offer {
	int16_t len[OPT_END];
	uint16_t at[OPT_END];
	uint8_t data[DHCP_MAX];
	uint32_t used;
	uint32_t room;
};

static void read_option(struct ask *ask, uint8_t code, const uint8_t *data,
			uint8_t len)
{
	if (code == OPT_TYPE && len == 1) {
		ask->type = data[0];
	} else if (code == OPT_RAPID) {
		ask->is_rapid = true;
	} else if (code == OPT_PARAMS) {
		ask->want = data;
		ask->n_want = len;
	} else if (code == OPT_SIZE && len == 2 && be16_get(data) > SIZE_MIN) {
		ask->size = be16_get(data);
	}
}

/* A list that ends in the middle of an option is good up to there */
static void read_options(const uint8_t *opt, uint32_t len, struct ask *ret)
{
	uint32_t at = 0;

	while (at < len && opt[at] != OPT_END) {
		if (opt[at] == OPT_PAD) {
			at++;
			continue;
		}
		if (len - at < 2 || len - at - 2 < opt[at + 1])
			return;
		read_option(ret, opt[at], opt + at + 2, opt[at + 1]);
		at += 2u + opt[at + 1];
	}
}

static void add(struct offer *o, uint8_t code, const void *data, uint32_t len)
{
	if (len > OPTION_MAX || 2 + len > o->room)
		return;
	if (len)
		memcpy(o->data + o->used, data, len);
	o->len[code] = (int16_t)len;
	o->at[code] = (uint16_t)o->used;
	o->used += len;
	o->room -= 2 + len;
}

static void add_u32(struct offer *o, uint8_t code, uint32_t value)
{
	uint8_t b[4];

	be32_put(b, value);
	add(o, code, b, sizeof(b));
}

static void add_addr(struct offer *o, uint8_t code, const struct addr *a)
{
	add(o, code, addr_bytes(a), 4);
}

/* RFC 3442: a gateway that no prefix covers is on the link all the same; where
 * this option stands the router option counts for nothing */
static void add_routes(struct offer *o, const struct announce *a)
{
	const uint8_t *gw = addr_bytes(&a->ours[FAMILY_V4]);
	uint8_t b[14] = { 32, gw[0], gw[1], gw[2], gw[3], 0,	 0,
			  0,  0,     0,	    gw[0], gw[1], gw[2], gw[3] };

	if (!addr_in_prefix(&a->ours[FAMILY_V4], &a->guest[FAMILY_V4],
			    a->plen4))
		add(o, OPT_ROUTES, b, sizeof(b));
}

static void add_dns(struct offer *o, const struct announce *a)
{
	uint8_t b[ANNOUNCE_DNS_MAX * 4];
	unsigned i;

	for (i = 0; i < a->n_dns[FAMILY_V4]; i++)
		memcpy(b + 4 * i, addr_bytes(&a->dns[FAMILY_V4][i]), 4);
	if (i)
		add(o, OPT_DNS, b, 4 * i);
}

static void add_names(struct offer *o, const struct announce *a)
{
	uint8_t fqdn[3 + DNSNAME_MAX] = { FQDN_FLAGS, FQDN_RCODE, FQDN_RCODE };
	uint8_t search[OPTION_MAX];
	uint32_t len = 0, size;
	unsigned i;

	if (a->hostname && *a->hostname)
		add(o, OPT_HOSTNAME, a->hostname,
		    (uint32_t)strlen(a->hostname));
	if (a->fqdn)
		len = dnsname_put(a->fqdn, fqdn + 3, DNSNAME_MAX);
	if (len)
		add(o, OPT_FQDN, fqdn, 3 + len);

	size = o->room < 2 ? 0 : o->room - 2;
	if (size > sizeof(search))
		size = sizeof(search);
	for (i = 0, len = 0; i < a->n_search; i++)
		len += dnsname_pack(a->search[i], search, len, size);
	if (len)
		add(o, OPT_SEARCH, search, len);
}

/* By importance: what comes last may find no room */
static void gather(struct offer *o, const struct announce *a,
		   const struct ask *ask)
{
	uint8_t type = ask->type == TYPE_DISCOVER && !ask->is_rapid ?
			       TYPE_OFFER :
			       TYPE_ACK;
	uint8_t mtu[2];

	memset(o->len, 0xff, sizeof(o->len));
	o->used = 0;
	o->room = ask->size - HEAD_LEN - (uint32_t)sizeof(struct bootp) - 1;
	if (o->room > DHCP_MAX - sizeof(struct bootp) - 1)
		o->room = DHCP_MAX - sizeof(struct bootp) - 1;

	add(o, OPT_TYPE, &type, 1);
	add_addr(o, OPT_SERVER, &a->ours[FAMILY_V4]);
	add_u32(o, OPT_LEASE, FOREVER);
	add_u32(o, OPT_MASK, a->plen4 ? UINT32_MAX << (32 - a->plen4) : 0);
	add_addr(o, OPT_ROUTER, &a->ours[FAMILY_V4]);
	add_routes(o, a);
	if (ask->type == TYPE_DISCOVER && ask->is_rapid)
		add(o, OPT_RAPID, NULL, 0);
	be16_put(mtu, (uint16_t)a->mtu);
	if (a->mtu)
		add(o, OPT_MTU, mtu, sizeof(mtu));
	add_dns(o, a);
	add_names(o, a);
}

/* Move one option, if it is there, to the end of the answer */
static uint32_t emit(struct offer *o, uint8_t code, uint8_t *to)
{
	uint32_t len;

	if (code == OPT_END || o->len[code] < 0)
		return 0;
	len = (uint32_t)o->len[code];
	to[0] = code;
	to[1] = (uint8_t)len;
	memcpy(to + 2, o->data + o->at[code], len);
	o->len[code] = -1;
	return 2 + len;
}

static uint32_t write_options(struct offer *o, const struct ask *ask,
			      uint8_t *buf)
{
	uint32_t at = 0;
	unsigned i;

	if (ask->want && !memchr(ask->want, OPT_TYPE, ask->n_want))
		at += emit(o, OPT_TYPE, buf);
	for (i = 0; i < ask->n_want; i++)
		at += emit(o, ask->want[i], buf + at);
	for (i = 0; i < OPT_END; i++)
		at += emit(o, (uint8_t)i, buf + at);
	buf[at++] = OPT_END;
	while (at < OPTIONS_MIN)
		buf[at++] = OPT_PAD;
	return at;
}

/* Fields that only a server of boot files fills stay zero, RFC 2131 table 3 */
static struct bootp head(const struct bootp *req, const struct announce *a)
{
	struct bootp r = {
		.op = OP_REPLY,
		.htype = req->htype,
		.hlen = req->hlen,
		.hops = req->hops,
		.xid_be = req->xid_be,
		.flags_be = req->flags_be,
		.magic_be = req->magic_be,
	};

	memcpy(r.ciaddr, req->ciaddr, sizeof(r.ciaddr));
	memcpy(r.yiaddr, addr_bytes(&a->guest[FAMILY_V4]), sizeof(r.yiaddr));
	memcpy(r.giaddr, req->giaddr, sizeof(r.giaddr));
	memcpy(r.chaddr, req->chaddr, sizeof(r.chaddr));
	return r;
}

uint32_t dhcp_reply(const struct pkt *p, const struct announce *a,
		    struct end *ret_dst, uint8_t ret_buf[static DHCP_MAX])
{
	struct ask ask = { .size = SIZE_MIN };
	struct addr all = addr_v4(0xffffffffu);
	struct bootp req, reply;
	struct offer offer;

	if (p->body.seg || p->body.len < sizeof(req) ||
	    !addr_is_set(&a->guest[FAMILY_V4]))
		return 0;
	memcpy(&req, p->body.buf, sizeof(req));
	if (req.op != OP_REQUEST || be32_get(&req.magic_be) != MAGIC)
		return 0;
	read_options(p->body.buf + sizeof(req),
		     p->body.len - (uint32_t)sizeof(req), &ask);
	if (ask.type && ask.type != TYPE_DISCOVER && ask.type != TYPE_REQUEST)
		return 0;

	gather(&offer, a, &ask);
	reply = head(&req, a);
	memcpy(ret_buf, &reply, sizeof(reply));
	*ret_dst = end_make(be16_get(&req.flags_be) & FLAG_BROADCAST ?
				    &all :
				    &a->guest[FAMILY_V4],
			    DHCP_PORT_CLIENT, 0);
	return (uint32_t)sizeof(reply) +
	       write_options(&offer, &ask, ret_buf + sizeof(reply));
}
