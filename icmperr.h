/* icmperr.h - ICMP and ICMPv6 errors: written for the guest, read from it
 * Knows: message forms, how much may be quoted, how often one may be sent.
 * Does not know: which datagram it is about, or who asks.
 * Sources: RFC 792, 1122 3.2.2, 1191 4, 1812 4.3.2, 4443 2.4 and 3, 4884 4. */

#ifndef ICMPERR_H
#define ICMPERR_H

#include "head.h"
#include "pkt.h"

#define ICMPERR_FRAME 1294 /* bytes: Ethernet header, IPv6's smallest MTU */

/** enum icmperr_what - errors that have a form in both families; the numbers
 * of one family are in struct icmperr */
enum icmperr_what {
	ICMPERR_NET, /* no route */
	ICMPERR_HOST, /* address unreachable */
	ICMPERR_PORT, /* nobody there */
	ICMPERR_PROHIBITED, /* by policy */
	ICMPERR_TOO_BIG, /* needs an MTU */
	ICMPERR_WHATS
};

/** struct icmperr - one error as its header says it
 * @info: MTU, or pointer of a parameter problem; else 0 */
struct icmperr {
	uint8_t type, code;
	uint32_t info;
};

/** struct icmperr_quote - the datagram that it is about, as its sender sent it
 * @src, @dst: of one family; port of an ICMP echo is its identifier
 * @proto: PROTO_UDP, PROTO_TCP, or PROTO_ICMP or PROTO_ICMP6 for echo requests
 * @seq:   sequence number of a TCP segment or an echo request
 * @data:  payload, as much as is known      @len: bytes of it; 0 for TCP, of
 *         which nothing behind the sequence number is quoted
 * @dlen:  bytes of the whole payload, at least @len */
struct icmperr_quote {
	struct end src, dst;
	uint8_t proto;
	uint32_t seq;
	struct mark mark;
	const uint8_t *data;
	uint32_t len;
	uint32_t dlen;
};

/** icmperr_make() - numbers of an error in a family; @mtu: for TOO_BIG */
struct icmperr icmperr_make(enum icmperr_what what, enum family family,
			    uint32_t mtu);

/** icmperr_is_port() - does it say that nobody listens there? */
bool icmperr_is_port(const struct icmperr *e, enum family family);

/**
 * icmperr_frame() - one error to the guest
 * @from: who says so, an address of the quote's family
 * Quotes as much as fits 576 bytes (IPv4) or 1280 (IPv6).
 * Returns: bytes written to @ret_frame; 0 if no error may be sent about such a
 * datagram, or this is not an error: RFC 1122 3.2.2, RFC 4443 2.4 (e)
 */
uint32_t icmperr_frame(const struct icmperr *e, const struct head_link *link,
		       const struct addr *from, const struct icmperr_quote *q,
		       uint8_t ret_frame[static ICMPERR_FRAME]);

/**
 * icmperr_parse() - read an error that the guest sent
 * @p: a PKT_ICMP
 * Returns: false if it is none, damaged, or not about UDP; else @ret_e is
 * filled and of @ret_q the endpoints
 */
bool icmperr_parse(const struct pkt *p, struct icmperr *ret_e,
		   struct icmperr_quote *ret_q);

/** struct icmperr_rate - token bucket, RFC 4443 2.4 (f); zero-filled: full
 * @used: tokens taken     @at_ms: when that was true */
struct icmperr_rate {
	uint32_t used;
	int64_t at_ms;
};

/** icmperr_allowed() - may one more be sent now? Takes a token if so. */
bool icmperr_allowed(struct icmperr_rate *r, int64_t now_ms);

#endif
