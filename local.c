/* local.c - what the guest asks that is answered here, never passed on
 *
 * The guest's link has no other members, so whatever it asks its link is for us
 * to answer: who has an address, who is the router, which address to take.
 * Passed on, such questions would reach the host's network, where they mean
 * something else. So they end here also if their service is off, or if there is
 * no answer to them; each is counted.
 *
 * What asks tells where it is: the guest's link-local address is learnt here,
 * and who took an address by DHCPv6 is talked to by that address.
 *
 * Answers carry full checksums whatever the link can do: DHCP clients read raw
 * frames, and many do not know of partial ones. */

#include "local.h"

#include "arp.h"
#include "be.h"
#include "dhcp.h"
#include "dhcp6.h"
#include "ndp.h"

#include <string.h>

#define IP6_VERSION 6u

static void answer(struct local *l, const uint8_t *frame, uint32_t len)
{
	if (!len) {
		stats_add(l->stats, DROP_NOT_OURS, 1);
		return;
	}
	tap_send_frame(l->tap, frame, len);
	stats_add(l->stats, LOCAL_ANSWERS, 1);
}

void local_arp(struct local *l, const struct pkt *p)
{
	uint8_t frame[42];
	uint32_t len;

	len = arp_reply(p, &l->tap->ends, &l->fwd->guest[FAMILY_V4], frame);
	answer(l, frame, len);
}

static void neighbour(struct local *l, const struct pkt *p)
{
	uint8_t frame[NDP_NA_FRAME];
	uint32_t len;

	len = ndp_reply(p, &l->tap->ends, &l->fwd->ours[FAMILY_V6],
			&l->fwd->guest[FAMILY_V6], frame);
	answer(l, frame, len);
}

static void router(struct local *l, const struct pkt *p)
{
	uint8_t frame[NDP_RA_FRAME];
	uint32_t len;

	len = ndp_router_reply(p, &l->tap->ends, &l->announce, frame);
	answer(l, frame, len);
}

bool local_icmp(struct local *l, const struct pkt *p)
{
	if (!ndp_is_ours(p))
		return false;
	if (addr_is_linklocal(&p->src.addr))
		l->fwd->guest_ll = p->src.addr;
	if (l->no_ndp || (l->no_ra && ndp_is_solicit(p)))
		stats_add(l->stats, DROP_SERVICE_OFF, 1);
	else if (ndp_is_solicit(p))
		router(l, p);
	else
		neighbour(l, p);
	return true;
}

/* @payload: of an answer
 * @label: flow label, IPv6 */
static void send_udp(struct local *l, const struct end *src,
		     const struct end *dst, const struct piece *payload,
		     uint32_t label)
{
	uint8_t frame[HEAD_MAX + DHCP6_MAX];
	struct head head;
	struct run r;

	run_start(&r, 0, payload);
	head = head_make_udp(&l->tap->ends, src, dst, &r, false);
	memcpy(frame, head.buf, head.len);
	/* To who asked, also where the IP destination is everybody */
	memcpy(frame + VNET_LEN, &l->tap->ends.guest, ETH_ALEN);
	memcpy(frame + head.len, payload->buf, payload->len);
	if (!addr_is_v4(&src->addr))
		be32_put(frame + VNET_LEN + sizeof(struct eth_hdr),
			 IP6_VERSION << 28 | label);
	answer(l, frame + VNET_LEN, head.len - VNET_LEN + payload->len);
}

static void dhcp(struct local *l, const struct pkt *p)
{
	uint8_t buf[DHCP_MAX];
	struct piece payload = { .buf = buf };
	struct end src, dst;

	payload.len = dhcp_reply(p, &l->announce, &dst, buf);
	if (!payload.len) {
		stats_add(l->stats, DROP_DHCP, 1);
		return;
	}
	src = end_make(&l->announce.ours[FAMILY_V4], DHCP_PORT_SERVER, 0);
	send_udp(l, &src, &dst, &payload, 0);
}

/* RFC 8415 13.1: to all servers of the link, from a link-local address */
static void dhcp6(struct local *l, const struct pkt *p)
{
	uint8_t buf[DHCP6_MAX];
	struct piece payload = { .buf = buf };
	struct end src, dst;

	if (addr_is_multicast(&p->dst.addr) &&
	    addr_is_linklocal(&p->src.addr)) {
		l->fwd->guest_ll = p->src.addr;
		payload.len = dhcp6_reply(p, &l->announce, buf);
	}
	if (!payload.len) {
		stats_add(l->stats, DROP_DHCP, 1);
		return;
	}
	src = end_make(&l->announce.ours[FAMILY_V6], DHCP6_PORT_SERVER, 0);
	dst = end_make(&p->src.addr, DHCP6_PORT_CLIENT, 0);
	send_udp(l, &src, &dst, &payload, dhcp6_label(p));
	l->fwd->seen[FAMILY_V6] = l->fwd->guest[FAMILY_V6];
}

bool local_udp(struct local *l, const struct pkt *p)
{
	bool is_v4 = addr_is_v4(&p->src.addr);

	if (p->dst.port != (is_v4 ? DHCP_PORT_SERVER : DHCP6_PORT_SERVER))
		return false;
	if (is_v4 ? l->no_dhcp : l->no_dhcpv6)
		stats_add(l->stats, DROP_SERVICE_OFF, piece_segs(&p->body));
	else if (p->body.seg)
		stats_add(l->stats, DROP_DHCP, piece_segs(&p->body));
	else if (is_v4)
		dhcp(l, p);
	else
		dhcp6(l, p);
	return true;
}

static int64_t next_advert(const struct timer *t)
{
	return container_of(t, struct local, advert)->advert_ms;
}

/* Deliberately not unpredictable, only uneven: RFC 4861 6.2.4 wants routers
 * not to fall into step */
static void schedule(struct local *l, int64_t now_ms)
{
	uint64_t word = (uint64_t)now_ms;

	l->advert_ms = now_ms + ndp_interval_ms(hash_words(&l->key, &word, 1));
}

static void fire_advert(struct timer *t, int64_t now_ms)
{
	struct local *l = container_of(t, struct local, advert);
	uint8_t frame[NDP_RA_FRAME];
	uint32_t len;

	len = ndp_router_advert(&l->tap->ends, &l->announce, frame);
	tap_send_frame(l->tap, frame, len);
	stats_add(l->stats, ROUTER_ADVERTS, 1);
	schedule(l, now_ms);
}

void local_init(struct local *l)
{
	if (l->no_ndp || l->no_ra)
		return;
	schedule(l, l->loop->now_ms);
	l->advert = (struct timer){ .next_ms = next_advert,
				    .fire = fire_advert };
	loop_timer(l->loop, &l->advert);
}
