/* guest.c - what the guest sends: told apart, answered, or passed on
 *
 * A round of frames is read, each is parsed once and given to whoever handles
 * its kind; datagrams gather in runs that are sent when the round is over.
 * Questions to the link (addresses, routers, DHCP) end at local.c.
 *
 * The guest's addresses are learnt from what it sends, since it may use
 * another one than the one assigned. Protocols that are not carried are
 * counted, never silently lost. */

#include "guest.h"

#include "udp_error.h"
#include "udp_group.h"

#include <sys/epoll.h>

static void learn(struct fwd *f, const struct addr *src)
{
	enum family family = addr_family(src);

	if (!addr_is_unicast(src) || addr_is_loopback(src))
		return;
	if (family == FAMILY_V6 && addr_is_linklocal(src))
		f->guest_ll = *src;
	else
		f->seen[family] = *src;
}

static void on_arp(struct guest *g, const struct pkt *p)
{
	if (g->has[FAMILY_V4])
		local_arp(&g->local, p);
	else
		stats_add(g->stats, DROP_FAMILY_OFF, 1);
}

static bool on_echo(struct guest *g, const struct pkt *p)
{
	if (g->no_icmp || !icmp_from_guest(&g->icmp, p))
		return false;
	learn(g->fwd, &p->src.addr);
	return true;
}

static void on_icmp(struct guest *g, const struct pkt *p)
{
	if (!g->has[addr_family(&p->src.addr)])
		stats_add(g->stats, DROP_FAMILY_OFF, 1);
	else if (!local_icmp(&g->local, p) &&
		 !udp_error_from_guest(g->udp, p) && !on_echo(g, p))
		stats_add(g->stats, DROP_PROTO, 1);
}

/* Who is in which group, IGMP or MLD */
static bool on_report(struct guest *g, const struct pkt *p)
{
	if (!mcast_is_report(p) || !g->udp->group ||
	    !g->has[addr_family(&p->src.addr)])
		return false;
	udp_group_report(g->udp->group, p);
	return true;
}

static void on_udp(struct guest *g, const struct pkt *p)
{
	unsigned n = piece_segs(&p->body);

	stats_add(g->stats, TAP_RX_DGRAMS, n);
	if (!g->has[addr_family(&p->src.addr)]) {
		stats_add(g->stats, DROP_FAMILY_OFF, n);
	} else if (local_udp(&g->local, p)) {
		return;
	} else if (g->no_udp) {
		stats_add(g->stats, DROP_PROTO, n);
	} else {
		udp_from_guest(g->udp, p);
		learn(g->fwd, &p->src.addr); /* answers look for what was */
	}
}

static void on_tcp(struct guest *g, const struct pkt *p)
{
	if (!g->has[addr_family(&p->src.addr)]) {
		stats_add(g->stats, DROP_FAMILY_OFF, 1);
	} else if (!g->tcp) {
		stats_add(g->stats, DROP_PROTO, 1);
	} else {
		learn(g->fwd, &p->src.addr);
		tcp_from_guest(g->tcp, p);
	}
}

static enum counter bad_counter(enum pkt_what what)
{
	switch (what) {
	case PKT_UNKNOWN_TYPE:
		return DROP_ETHERTYPE;
	case PKT_SHORT:
		return DROP_SHORT;
	case PKT_BAD_IP:
		return DROP_BAD_IP;
	case PKT_BAD_L4:
		return DROP_BAD_L4;
	case PKT_BAD_CSUM:
		return DROP_BAD_CSUM;
	case PKT_BAD_ADDR:
		return DROP_BAD_ADDR;
	case PKT_BAD_PORT:
		return DROP_BAD_PORT;
	default:
		return DROP_PROTO;
	}
}

static void dispatch(struct guest *g, enum pkt_what what, const struct pkt *p)
{
	if ((what == PKT_ICMP || what == PKT_OTHER) && on_report(g, p))
		return;
	switch (what) {
	case PKT_UDP:
		on_udp(g, p);
		break;
	case PKT_TCP:
		on_tcp(g, p);
		break;
	case PKT_ARP:
		on_arp(g, p);
		break;
	case PKT_ICMP:
		on_icmp(g, p);
		break;
	default:
		stats_add(g->stats, bad_counter(what), 1);
	}
}

/* A datagram whole again is emitted at once: its bytes are the table's.
 * Discovery must not come in fragments (RFC 6980): of ICMP, just echo does. */
static void on_whole(struct guest *g, struct pkt *p)
{
	enum pkt_what what = pkt_transport(p);

	if (what == PKT_ICMP && g->has[addr_family(&p->src.addr)] &&
	    on_echo(g, p))
		return;
	dispatch(g, what == PKT_ICMP ? PKT_OTHER : what, p);
	udp_flush(g->udp);
}

static void on_fragment(struct guest *g, const struct pkt *p)
{
	unsigned evicted = 0;
	struct pkt whole;

	switch (frag_add(&g->frag, p, g->loop->now_ms, &whole, &evicted)) {
	case FRAG_DONE:
		on_whole(g, &whole);
		break;
	case FRAG_BAD:
		stats_add(g->stats, DROP_FRAG_BAD, 1);
		break;
	case FRAG_OVERLAP:
		stats_add(g->stats, DROP_FRAG_OVERLAP, 1);
		break;
	default:
		break;
	}
	stats_add(g->stats, DROP_FRAG_LOST, evicted);
}

static void on_frame(struct guest *g, const struct frame *f)
{
	enum pkt_what what;
	struct pkt p;

	what = pkt_parse(f, &p);
	if (what <= PKT_ICMP || what == PKT_ARP || what == PKT_FRAGMENT)
		g->tap->ends.guest = p.src_mac;
	if (what == PKT_FRAGMENT)
		on_fragment(g, &p);
	else
		dispatch(g, what, &p);
}

static void ready(struct watch *w, uint32_t events)
{
	struct guest *g = container_of(w, struct guest, watch);
	int i, n, round;

	(void)events;
	for (round = 0; round < ROUNDS_MAX; round++) {
		n = tap_recv(g->tap);
		if (n < 0) {
			g->gone(g, -n);
			return;
		}
		for (i = 0; i < n; i++)
			on_frame(g, &g->tap->frame[i]);
		udp_flush(g->udp);
		if (g->tcp)
			tcp_flush(g->tcp);
		if (n < TAP_FRAMES)
			return;
	}
}

static int64_t next_frag(const struct timer *t)
{
	return frag_next_deadline(&container_of(t, struct guest, timer)->frag);
}

static void expire_frag(struct timer *t, int64_t now_ms)
{
	struct guest *g = container_of(t, struct guest, timer);

	stats_add(g->stats, DROP_FRAG_LOST, frag_expire(&g->frag, now_ms));
}

int guest_init(struct guest *g)
{
	g->local.tap = g->tap;
	g->local.fwd = g->fwd;
	g->local.loop = g->loop;
	g->local.stats = g->stats;
	local_init(&g->local);
	g->icmp.udp = g->udp;
	g->timer = (struct timer){ .next_ms = next_frag, .fire = expire_frag };
	loop_timer(g->loop, &g->timer);
	g->watch = (struct watch){ .fn = ready, .fd = g->tap->fd };
	return loop_add(g->loop, &g->watch, EPOLLIN);
}
