/* udp_move.c - conversations follow the host's network
 *
 * Problem: a map is bound to the address that the route chose when its first
 * flow began, so that the world sees one endpoint. When the host loses that
 * address, or the way to a remote leads over another interface from now on
 * (a VPN, another network), what goes on being sent from there is lost, for as
 * long as the guest does not give up.
 *
 * Idea: after each change every flow is asked for once which address the host
 * would use today. A flow whose address is gone while there is another is
 * ended, and so is one that the guest began and whose way leads over another
 * interface: exactly what an unconnected socket of a host program would do. The
 * guest's next datagram begins it anew, by the ordinary way, on the guest's own
 * port again. Nothing of this costs a datagram anything.
 *
 * What stays: flows without any way at the moment (the cable is out, and may
 * come back with the same address), and those whose interface stays but has
 * further addresses now: temporary IPv6 addresses come and go all day, and a
 * connection should not.
 *
 * A look costs about 5 us, so that a full table takes most of a second: it is
 * walked in portions. */

#include "udp_move.h"

#include "udp_open.h"

#define PORTION 512 /* flows of one turn of the loop: 2.5 ms */

/* Interface that has the address, 0: none */
static uint32_t where(const struct nl_facts *facts, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < facts->n_addrs; i++)
		if (addr_eq(&facts->addr[i].addr, a))
			return facts->addr[i].ifindex;
	return 0;
}

/* Does it leave by an interface that was named, and is another one now? */
static bool is_elsewhere(const struct udp_move *m, const struct flow *f)
{
	return f->flags & FLOW_BY_GUEST && f->host.scope &&
	       f->host.scope != m->u->fwd->scope[addr_family(&f->host.addr)];
}

static bool is_lost(struct udp_move *m, const struct flow *f)
{
	const struct map *map = &m->u->maps.map[f->map];
	const struct addr *ours = addr_is_set(&f->ours) ? &f->ours : &map->ours;
	uint32_t at = where(m->facts, ours);
	struct addr now;

	if (f->flags & FLOW_SPLICED || !addr_is_unicast(ours) ||
	    addr_is_loopback(ours))
		return false;
	if (is_elsewhere(m, f))
		return true;
	if (f->flags & FLOW_GROUP) /* no route says where it goes */
		return !at && !m->facts->is_cut;
	if (udp_open_source(m->u, &f->host, &now) || addr_eq(&now, ours))
		return false;
	if (!at)
		return !m->facts->is_cut;
	/* Who spoke to one of our addresses wants to hear from that */
	return f->flags & FLOW_BY_GUEST && where(m->facts, &now) != at;
}

static int64_t next_portion(const struct timer *t)
{
	const struct udp_move *m = container_of(t, struct udp_move, timer);

	return m->at == FLOW_NONE ? INT64_MAX : m->u->loop->now_ms;
}

static void look(struct timer *t, int64_t now_ms)
{
	struct udp_move *m = container_of(t, struct udp_move, timer);
	struct flow_table *flows = &m->u->flows;
	unsigned i;

	(void)now_ms;
	for (i = 0; i < PORTION && m->at < flows->high; i++, m->at++) {
		struct flow *f = &flows->flow[m->at];

		if (f->proto != PROTO_UDP || !is_lost(m, f))
			continue;
		udp_map_end_flow(m->u, f);
		stats_add(m->u->stats, FLOWS_MOVED, 1);
	}
	if (m->at >= flows->high)
		m->at = FLOW_NONE;
}

void udp_move_init(struct udp_move *m)
{
	m->at = FLOW_NONE;
	m->timer = (struct timer){ .next_ms = next_portion, .fire = look };
	loop_timer(m->u->loop, &m->timer);
}

void udp_move_start(struct udp_move *m, const struct nl_facts *facts)
{
	m->facts = facts;
	m->at = 0;
}
