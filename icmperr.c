/* icmperr.c - ICMP and ICMPv6 errors: written for the guest, read from it
 *
 * A host socket tells an error without the packet it is about: type and code,
 * who sent it, and some payload. The guest's kernel needs to see its own
 * datagram again to find the socket that sent it, so the headers are written
 * anew here with the addresses and ports that the guest used.
 *
 * The rest of the header is written from scratch, too, and that is why an
 * RFC 4884 length never slips through: extensions behind the quote describe
 * the packet as it was outside.
 *
 * The UDP checksum of a quote is right if all of the payload is there, and 0
 * else. The time to live of a quote is what its sender set, since nobody knows
 * what was left of it. */

#include "icmperr.h"

#include "csum.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define TYPE4_UNREACHABLE 3
#define TYPE4_QUENCH 4
#define TYPE4_REDIRECT 5
#define TYPE4_EXCEEDED 11
#define TYPE4_PARAMETER 12
#define CODE4_PROTO 2
#define CODE4_PORT 3
#define CODE4_TOO_BIG 4

#define TYPE6_UNREACHABLE 1
#define TYPE6_TOO_BIG 2
#define TYPE6_PARAMETER 4
#define TYPE6_ERROR_LAST 127 /* RFC 4443 2.1: informational ones follow */
#define CODE6_PORT 4

#define TYPE4_ECHO 8
#define TYPE6_ECHO 128

#define HOPS_ERROR 255
#define QUOTE_L4 8 /* bytes: UDP or echo header; ports and sequence of TCP */
#define TOTAL4_MAX 576 /* RFC 1812 4.3.2.3 */
#define TOTAL6_MAX 1280 /* RFC 4443 2.4 (c) */

/** struct icmp_hdr - header of every error; @rest_be: see rest_of() */
struct icmp_hdr {
	uint8_t type, code;
	uint16_t csum_be;
	uint32_t rest_be;
} WIRE;

/** struct echo_hdr - RFC 792, RFC 4443 4.1 */
struct echo_hdr {
	uint8_t type, code;
	uint16_t csum_be, id_be, seq_be;
} WIRE;

static_assert(QUOTE_L4 == sizeof(struct udp_hdr) &&
		      QUOTE_L4 == sizeof(struct echo_hdr),
	      "quote");
static_assert(ICMPERR_FRAME == FRAME_MIN + TOTAL6_MAX, "frame");

struct icmperr icmperr_make(enum icmperr_what what, enum family family,
			    uint32_t mtu)
{
	static const uint8_t number[ICMPERR_WHATS][FAMILY_COUNT][2] = {
		[ICMPERR_NET] = { { 3, 0 }, { 1, 0 } },
		[ICMPERR_HOST] = { { 3, 1 }, { 1, 3 } },
		[ICMPERR_PORT] = { { 3, 3 }, { 1, 4 } },
		[ICMPERR_PROHIBITED] = { { 3, 13 }, { 1, 1 } },
		[ICMPERR_TOO_BIG] = { { 3, 4 }, { 2, 0 } },
	};
	const uint8_t *n = number[what][family];

	return (struct icmperr){ n[0], n[1],
				 what == ICMPERR_TOO_BIG ? mtu : 0 };
}

bool icmperr_is_port(const struct icmperr *e, enum family family)
{
	if (family == FAMILY_V6)
		return e->type == TYPE6_UNREACHABLE && e->code == CODE6_PORT;
	return e->type == TYPE4_UNREACHABLE &&
	       (e->code == CODE4_PORT || e->code == CODE4_PROTO);
}

static bool is_error(uint8_t type, bool is_v4)
{
	if (!is_v4)
		return type >= TYPE6_UNREACHABLE && type <= TYPE6_ERROR_LAST;
	return type == TYPE4_UNREACHABLE || type == TYPE4_EXCEEDED ||
	       type == TYPE4_PARAMETER || type == TYPE4_QUENCH;
}

/* Is a redirect or a quench better left out? RFC 6633 3: quenches are not sent
 * any more; routes of the guest are its own. */
static bool may_be_sent(const struct icmperr *e, const struct addr *from,
			const struct icmperr_quote *q)
{
	bool is_v4 = addr_is_v4(&q->src.addr);

	if (!is_error(e->type, is_v4) || addr_is_v4(from) != is_v4 ||
	    addr_is_v4(&q->dst.addr) != is_v4)
		return false;
	if (is_v4 && e->type == TYPE4_QUENCH)
		return false;
	if (!addr_is_unicast(from) || !addr_is_unicast(&q->src.addr))
		return false;
	return addr_is_unicast(&q->dst.addr) ||
	       (!is_v4 && e->type == TYPE6_TOO_BIG);
}

/* The second word: RFC 1191 4 and RFC 4443 3.2 MTU, RFC 792 and RFC 4443 3.4
 * pointer; else 0, which leaves no RFC 4884 length. */
static uint32_t rest_of(const struct icmperr *e, bool is_v4)
{
	if (!is_v4)
		return e->type == TYPE6_TOO_BIG || e->type == TYPE6_PARAMETER ?
			       e->info :
			       0;
	if (e->type == TYPE4_PARAMETER)
		return e->info << 24;
	if (e->type == TYPE4_UNREACHABLE && e->code == CODE4_TOO_BIG)
		return e->info & 0xffff;
	return 0;
}

/* Whole checksum of a quoted message of the guest, 0 if it cannot be known. */
static uint16_t quote_csum(const struct icmperr_quote *q, const void *hdr,
			   uint32_t hlen)
{
	uint64_t sum = 0;

	if (q->len < q->dlen)
		return 0;
	if (q->proto != PROTO_ICMP)
		sum = csum_pseudo(&q->src.addr, &q->dst.addr, q->proto,
				  hlen + q->dlen);
	sum = csum_add(csum_add(sum, hdr, hlen), q->data, q->len);
	return q->proto == PROTO_UDP ? csum_udp(sum) : csum_done(sum);
}

static void quote_udp(uint8_t *buf, const struct icmperr_quote *q)
{
	struct udp_hdr udp = {
		.src_be = htons(q->src.port),
		.dst_be = htons(q->dst.port),
		.len_be = htons((uint16_t)(sizeof(udp) + q->dlen)),
	};

	udp.csum_be = quote_csum(q, &udp, sizeof(udp));
	memcpy(buf, &udp, sizeof(udp));
}

/* Its checksum stands behind the 8 bytes that RFC 792 asks for */
static void quote_tcp(uint8_t *buf, const struct icmperr_quote *q)
{
	struct tcp_hdr tcp = {
		.src_be = htons(q->src.port),
		.dst_be = htons(q->dst.port),
		.seq_be = htonl(q->seq),
	};

	memcpy(buf, &tcp, QUOTE_L4);
}

static void quote_echo(uint8_t *buf, const struct icmperr_quote *q)
{
	struct echo_hdr echo = {
		.type = q->proto == PROTO_ICMP ? TYPE4_ECHO : TYPE6_ECHO,
		.id_be = htons(q->src.port),
		.seq_be = htons((uint16_t)q->seq),
	};

	echo.csum_be = quote_csum(q, &echo, sizeof(echo));
	memcpy(buf, &echo, sizeof(echo));
}

/* The quoted packet, at most @room bytes; returns how many. */
static uint32_t quote(uint8_t *buf, uint32_t room,
		      const struct icmperr_quote *q)
{
	uint32_t l4 = q->proto == PROTO_TCP ? sizeof(struct tcp_hdr) : QUOTE_L4;
	struct head_ip ip = { .src = q->src.addr,
			      .dst = q->dst.addr,
			      .mark = q->mark,
			      .proto = q->proto };
	uint32_t n = head_put_ip(buf, &ip, l4 + q->dlen);
	uint32_t len = q->len;

	if (q->proto == PROTO_UDP)
		quote_udp(buf + n, q);
	else if (q->proto == PROTO_TCP)
		quote_tcp(buf + n, q);
	else
		quote_echo(buf + n, q);
	n += QUOTE_L4;
	if (len > room - n)
		len = room - n;
	if (len)
		memcpy(buf + n, q->data, len);
	return n + len;
}

uint32_t icmperr_frame(const struct icmperr *e, const struct head_link *link,
		       const struct addr *from, const struct icmperr_quote *q,
		       uint8_t ret_frame[static ICMPERR_FRAME])
{
	bool is_v4 = addr_is_v4(&q->src.addr);
	struct head_ip ip = { .src = *from,
			      .dst = q->src.addr,
			      .mark = { .hops = HOPS_ERROR },
			      .proto = is_v4 ? PROTO_ICMP : PROTO_ICMP6 };
	uint32_t total = is_v4 ? TOTAL4_MAX : TOTAL6_MAX;
	uint32_t l3len = is_v4 ? sizeof(struct ip4_hdr) :
				 sizeof(struct ip6_hdr);
	struct icmp_hdr icmp = { .type = e->type, .code = e->code };
	struct eth_hdr eth = { .dst = link->guest,
			       .src = link->ours,
			       .type_be = htons(is_v4 ? ETH_P_IP :
							ETH_P_IPV6) };
	uint8_t *l4 = ret_frame + sizeof(eth) + l3len;
	uint32_t len = sizeof(icmp);
	uint64_t sum = 0;

	if (!may_be_sent(e, from, q))
		return 0;
	icmp.rest_be = htonl(rest_of(e, is_v4));
	len += quote(l4 + len, total - l3len - len, q);
	memcpy(l4, &icmp, sizeof(icmp));
	if (!is_v4)
		sum = csum_pseudo(from, &q->src.addr, PROTO_ICMP6, len);
	icmp.csum_be = csum_done(csum_add(sum, l4, len));
	memcpy(l4, &icmp, sizeof(icmp));
	memcpy(ret_frame, &eth, sizeof(eth));
	head_put_ip(ret_frame + sizeof(eth), &ip, len);
	return (uint32_t)sizeof(eth) + l3len + len;
}

/* IP header of a quote: its ends, protocol and length; 0 if it is none, or too
 * little of it. Extension headers are not followed: ours have none. */
static uint32_t parse_ip(const uint8_t *buf, uint32_t len, enum family family,
			 struct icmperr_quote *q)
{
	struct addr src, dst;
	struct ip4_hdr ip4;
	struct ip6_hdr ip6;
	uint32_t n;

	if (family == FAMILY_V4) {
		if (len < sizeof(ip4))
			return 0;
		memcpy(&ip4, buf, sizeof(ip4));
		n = (ip4.version_ihl & 0xfu) * 4;
		if (ip4.version_ihl >> 4 != 4 || n < sizeof(ip4) ||
		    ntohs(ip4.frag_be) & IP4_OFFSET)
			return 0;
		src = addr_from_bytes(ip4.src, family);
		dst = addr_from_bytes(ip4.dst, family);
		q->proto = ip4.proto;
	} else {
		n = sizeof(ip6);
		if (len < n)
			return 0;
		memcpy(&ip6, buf, sizeof(ip6));
		if (ntohl(ip6.vtc_flow_be) >> 28 != 6)
			return 0;
		src = addr_from_bytes(ip6.src, family);
		dst = addr_from_bytes(ip6.dst, family);
		q->proto = ip6.next;
	}
	q->src = end_make(&src, 0, 0);
	q->dst = end_make(&dst, 0, 0);
	return n;
}

bool icmperr_parse(const struct pkt *p, struct icmperr *ret_e,
		   struct icmperr_quote *ret_q)
{
	enum family family = addr_family(&p->src.addr);
	const uint8_t *at = p->body.buf;
	uint32_t n, len = p->body.len;
	struct icmperr_quote q = { 0 };
	struct icmp_hdr icmp;
	struct udp_hdr udp;
	uint64_t sum = 0;

	if (len < sizeof(icmp))
		return false;
	memcpy(&icmp, at, sizeof(icmp));
	if (!is_error(icmp.type, family == FAMILY_V4))
		return false;
	if (family == FAMILY_V6)
		sum = csum_pseudo(&p->src.addr, &p->dst.addr, PROTO_ICMP6, len);
	if (csum_done(csum_add(sum, at, len)))
		return false;
	at += sizeof(icmp);
	len -= (uint32_t)sizeof(icmp);
	n = parse_ip(at, len, family, &q);
	if (!n || len < n + sizeof(udp) || q.proto != PROTO_UDP)
		return false;
	memcpy(&udp, at + n, sizeof(udp));
	q.src.port = ntohs(udp.src_be);
	q.dst.port = ntohs(udp.dst_be);
	*ret_e = (struct icmperr){ icmp.type, icmp.code, ntohl(icmp.rest_be) };
	*ret_q = q;
	return true;
}

bool icmperr_allowed(struct icmperr_rate *r, int64_t now_ms)
{
	int64_t back = (now_ms - r->at_ms) * ICMP_RATE / 1000;

	if (back > 0) {
		r->used = back < r->used ? r->used - (uint32_t)back : 0;
		r->at_ms = now_ms;
	}
	if (r->used >= ICMP_BURST)
		return false;
	r->used++;
	return true;
}
