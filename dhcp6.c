/* dhcp6.c - answers to the guest's DHCPv6 requests
 *
 * As in dhcp.c there is one address, given for ever to whoever asks, and no
 * memory of it. So most messages have one answer, and what differs is whether
 * they may be answered at all: RFC 8415 16 says of each which identifiers it
 * must and must not carry. A client that believes in another address, one of a
 * network it was on before, is told that this address is not of this link; it
 * then begins anew.
 *
 * Departures from RFC 8415: a REBIND that names us is taken, since some clients
 * send that; a CONFIRM is answered with the address, not with a status alone;
 * only the first identity association is served. */

#include "dhcp6.h"

#include "be.h"
#include "dnsname.h"

#include <assert.h>
#include <string.h>

enum {
	TYPE_SOLICIT = 1,
	TYPE_ADVERTISE = 2,
	TYPE_REQUEST = 3,
	TYPE_CONFIRM = 4,
	TYPE_RENEW = 5,
	TYPE_REBIND = 6,
	TYPE_REPLY = 7,
	TYPE_INFORM = 11
};

enum {
	OPT_CLIENTID = 1,
	OPT_SERVERID = 2,
	OPT_IA_NA = 3,
	OPT_IA_TA = 4,
	OPT_IAADDR = 5,
	OPT_STATUS = 13,
	OPT_DNS = 23,
	OPT_SEARCH = 24,
	OPT_FQDN = 39
};

#define HEAD_LEN 4 /* type and transaction: also of an option */
#define IA_NA_LEN 12 /* IAID, T1, T2 */
#define IA_TA_LEN 4 /* IAID */
#define IAADDR_LEN 24
#define ADDR6_LEN 16
#define CLIENTID_MAX 128 /* RFC 8415 11.1, and two bytes of type */
#define STATUS_NOT_ON_LINK 4
#define FOREVER UINT32_MAX
#define IAID_DEFAULT 1
#define FQDN_S 1 /* RFC 4704 4.1: the server shall update the DNS */
#define FQDN_O 2 /* ... and overrides what the client wants */
#define NO_ADDRESS "This address is not one of this link"

/* struct duid - DUID-LLT, RFC 8415 11.2 */
struct duid {
	uint16_t type_be, hardware_be;
	uint32_t time_be;
	struct mac mac;
} WIRE;

/* struct opt - option of a message; @code 0: none or none left */
struct opt {
	uint16_t code;
	uint16_t len;
	const uint8_t *data;
};

/* struct ask - the options that matter, the first of each kind
 * @foreign: association with an address that is not the guest's */
struct ask {
	uint8_t type;
	struct opt client, server, ia, ia_ta, fqdn, foreign;
};

/* struct out - answer under construction; @len of DHCP6_MAX bytes */
struct out {
	uint8_t *buf;
	uint32_t len;
};

/* Cut an option off; false at the end and at one that is cut */
static bool next(const uint8_t **at, uint32_t *left, struct opt *ret)
{
	struct opt o;

	if (*left < HEAD_LEN)
		return false;
	o.code = be16_get(*at);
	o.len = be16_get(*at + 2);
	o.data = *at + HEAD_LEN;
	if (o.len > *left - HEAD_LEN)
		return false;
	*at += HEAD_LEN + o.len;
	*left -= HEAD_LEN + (uint32_t)o.len;
	*ret = o;
	return true;
}

static bool has_foreign(const struct opt *ia, const struct addr *guest)
{
	uint32_t fixed = ia->code == OPT_IA_NA ? IA_NA_LEN : IA_TA_LEN;
	uint32_t left = ia->len - fixed;
	const uint8_t *at = ia->data + fixed;
	struct opt o;

	while (next(&at, &left, &o))
		if (o.code == OPT_IAADDR && o.len >= IAADDR_LEN &&
		    memcmp(o.data, guest->b, ADDR6_LEN) != 0)
			return true;
	return false;
}

static struct opt *place(struct ask *ask, const struct opt *o)
{
	switch (o->code) {
	case OPT_CLIENTID:
		return &ask->client;
	case OPT_SERVERID:
		return &ask->server;
	case OPT_IA_NA:
		return &ask->ia;
	case OPT_IA_TA:
		return &ask->ia_ta;
	case OPT_FQDN:
		return &ask->fqdn;
	default:
		return NULL;
	}
}

/* Returns: false if the message is malformed */
static bool read_options(const uint8_t *at, uint32_t left,
			 const struct addr *guest, struct ask *ret)
{
	struct opt o, *to;

	while (next(&at, &left, &o)) {
		to = place(ret, &o);
		if ((o.code == OPT_IA_NA && o.len < IA_NA_LEN) ||
		    (o.code == OPT_IA_TA && o.len < IA_TA_LEN))
			return false;
		if (to && !to->code)
			*to = o;
		if ((o.code == OPT_IA_NA || o.code == OPT_IA_TA) &&
		    !ret->foreign.code && has_foreign(&o, guest))
			ret->foreign = o;
	}
	return !left;
}

static struct duid our_duid(const struct announce *a)
{
	struct duid d = { .mac = a->mac };

	be16_put(&d.type_be, 1); /* link-layer address plus time */
	be16_put(&d.hardware_be, 1); /* Ethernet */
	be32_put(&d.time_be, a->duid_s);
	return d;
}

static bool is_for_us(const struct ask *ask, const struct announce *a)
{
	struct duid ours = our_duid(a);

	return ask->server.len == sizeof(ours) &&
	       !memcmp(ask->server.data, &ours, sizeof(ours));
}

/* RFC 8415 16.2 to 16.12; returns: type of the answer, 0: none */
static uint8_t answer_type(const struct ask *ask, const struct announce *a)
{
	bool has_server = ask->server.code, is_ours = is_for_us(ask, a);
	bool has_ia = ask->ia.code || ask->ia_ta.code;

	if (!ask->client.len || ask->client.len > CLIENTID_MAX)
		return 0;
	switch (ask->type) {
	case TYPE_SOLICIT:
		return has_server ? 0 : TYPE_ADVERTISE;
	case TYPE_CONFIRM:
		return has_server ? 0 : TYPE_REPLY;
	case TYPE_REQUEST:
	case TYPE_RENEW:
		return is_ours ? TYPE_REPLY : 0;
	case TYPE_REBIND:
		return is_ours || !has_server ? TYPE_REPLY : 0;
	case TYPE_INFORM:
		return (is_ours || !has_server) && !has_ia ? TYPE_REPLY : 0;
	default:
		return 0;
	}
}

/* Room for an option of @len bytes of content, NULL if there is none left */
static uint8_t *add(struct out *out, uint16_t code, uint32_t len)
{
	uint8_t *at = out->buf + out->len;

	if (DHCP6_MAX - out->len < HEAD_LEN + len)
		return NULL;
	be16_put(at, code);
	be16_put(at + 2, (uint16_t)len);
	out->len += HEAD_LEN + len;
	return at + HEAD_LEN;
}

/* The fixed part of an answer is known to fit */
static void add_copy(struct out *out, uint16_t code, const void *data,
		     uint32_t len)
{
	uint8_t *to = add(out, code, len);

	assert(to && data);
	memcpy(to, data, len);
}

static void add_ia(struct out *out, const struct ask *ask,
		   const struct addr *guest)
{
	uint8_t *to = add(out, OPT_IA_NA, IA_NA_LEN + HEAD_LEN + IAADDR_LEN);

	assert(to);
	if (ask->ia.code)
		memcpy(to, ask->ia.data, 4);
	else
		be32_put(to, IAID_DEFAULT);
	be32_put(to + 4, FOREVER);
	be32_put(to + 8, FOREVER);
	to += IA_NA_LEN;
	be16_put(to, OPT_IAADDR);
	be16_put(to + 2, IAADDR_LEN);
	memcpy(to + HEAD_LEN, guest->b, ADDR6_LEN);
	be32_put(to + HEAD_LEN + ADDR6_LEN, FOREVER);
	be32_put(to + HEAD_LEN + ADDR6_LEN + 4, FOREVER);
}

/* The client's association as it came, holding a status for an address */
static void add_not_on_link(struct out *out, const struct opt *ia)
{
	uint32_t fixed = ia->code == OPT_IA_NA ? IA_NA_LEN : IA_TA_LEN;
	uint32_t len = 2 + sizeof(NO_ADDRESS) - 1;
	uint8_t *to = add(out, ia->code, fixed + HEAD_LEN + len);

	assert(to);
	memcpy(to, ia->data, fixed);
	to += fixed;
	be16_put(to, OPT_STATUS);
	be16_put(to + 2, (uint16_t)len);
	be16_put(to + HEAD_LEN, STATUS_NOT_ON_LINK);
	memcpy(to + HEAD_LEN + 2, NO_ADDRESS, sizeof(NO_ADDRESS) - 1);
}

static void add_dns(struct out *out, const struct announce *a)
{
	uint8_t dns[ANNOUNCE_DNS_MAX * ADDR6_LEN];
	unsigned i;

	for (i = 0; i < a->n_dns[FAMILY_V6]; i++)
		memcpy(dns + ADDR6_LEN * i, a->dns[FAMILY_V6][i].b, ADDR6_LEN);
	if (i)
		add_copy(out, OPT_DNS, dns, ADDR6_LEN * i);
}

/* Names that do not fit are left out, the others come all the same */
static void add_search(struct out *out, const struct announce *a)
{
	uint8_t names[DHCP6_MAX];
	uint32_t room = DHCP6_MAX - out->len, len = 0;
	unsigned i;

	room = room > HEAD_LEN ? room - HEAD_LEN : 0;
	for (i = 0; i < a->n_search; i++)
		len += dnsname_put(a->search[i], names + len, room - len);
	if (len)
		add_copy(out, OPT_SEARCH, names, len);
}

static void add_fqdn(struct out *out, const struct ask *ask,
		     const struct announce *a)
{
	uint8_t b[1 + DNSNAME_MAX] = { 0 };
	uint32_t len = 0;
	uint8_t *to;

	if (a->fqdn)
		len = dnsname_put(a->fqdn, b + 1, DNSNAME_MAX);
	if (!len)
		return;
	if (ask->fqdn.len && ask->fqdn.data[0] & FQDN_S)
		b[0] = FQDN_O;
	to = add(out, OPT_FQDN, 1 + len);
	if (to)
		memcpy(to, b, 1 + len);
}

static bool is_misplaced(const struct ask *ask)
{
	return ask->foreign.code &&
	       (ask->type == TYPE_REQUEST || ask->type == TYPE_RENEW ||
		ask->type == TYPE_CONFIRM);
}

uint32_t dhcp6_reply(const struct pkt *p, const struct announce *a,
		     uint8_t ret_buf[static DHCP6_MAX])
{
	const struct addr *guest = &a->guest[FAMILY_V6];
	struct out out = { ret_buf, HEAD_LEN };
	struct duid duid = our_duid(a);
	struct ask ask = { 0 };
	uint8_t type;

	if (p->body.seg || p->body.len < HEAD_LEN || !addr_is_set(guest))
		return 0;
	ask.type = p->body.buf[0];
	if (!read_options(p->body.buf + HEAD_LEN, p->body.len - HEAD_LEN, guest,
			  &ask))
		return 0;
	type = answer_type(&ask, a);
	if (!type)
		return 0;

	memcpy(ret_buf, p->body.buf, HEAD_LEN);
	ret_buf[0] = type;
	add_copy(&out, OPT_SERVERID, &duid, sizeof(duid));
	if (is_misplaced(&ask))
		add_not_on_link(&out, &ask.foreign);
	else if (ask.type != TYPE_INFORM)
		add_ia(&out, &ask, guest);
	add_copy(&out, OPT_CLIENTID, ask.client.data, ask.client.len);
	if (is_misplaced(&ask))
		return out.len;
	add_dns(&out, a);
	add_search(&out, a);
	add_fqdn(&out, &ask, a);
	return out.len;
}

uint32_t dhcp6_label(const struct pkt *p)
{
	return be32_get(p->body.buf) & 0xfffff;
}
