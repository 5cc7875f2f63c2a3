/* icmp.c - echo requests of the guest, by ping sockets
 *
 * A ping socket sends echo requests and receives the replies to them, and its
 * "port" is the identifier of both: with that, an echo conversation is a flow
 * like any other, and tables, expiry, header bits and errors are shared with
 * UDP. The socket is bound to the guest's own identifier if that is free; the
 * kernel writes the socket's into the request, and we the guest's into the
 * reply. Sequence numbers pass unchanged.
 *
 * Who may have ping sockets is the administrator's choice: the kernel's default
 * is nobody. It is said once, with the name of the setting.
 *
 * Deliberately not done: echo requests from outside, which the host's own
 * kernel answers, and every other query (timestamps, RFC 4620). */

#include "icmp.h"

#include "be.h"
#include "csum.h"
#include "log.h"
#include "udp_error.h"
#include "udp_send.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ECHO_HEAD 8 /* type, code, checksum, identifier, sequence number */
#define HOPS_REPLY 255 /* as many as a host would see of a neighbour */

static const struct addr shared; /* unset: such a map is for echo */

static bool is_type(const uint8_t *msg, enum family family, uint8_t v4,
		    uint8_t v6)
{
	return msg[0] == (family == FAMILY_V4 ? v4 : v6) && !msg[1];
}

static bool is_request(const struct pkt *p)
{
	return p->body.len >= ECHO_HEAD &&
	       is_type(p->body.buf, addr_family(&p->src.addr), 8, 128);
}

static uint64_t pseudo(const struct addr *src, const struct addr *dst,
		       uint32_t len)
{
	return addr_is_v4(src) ? 0 : csum_pseudo(src, dst, PROTO_ICMP6, len);
}

static bool is_intact(const struct pkt *p)
{
	uint64_t sum = pseudo(&p->src.addr, &p->dst.addr, p->body.len);

	return !csum_done(csum_add(sum, p->body.buf, p->body.len));
}

/* Give the reply back its identifier, and send it to the guest. */
static void to_guest(struct icmp *c, const struct flow *f,
		     const struct piece *body)
{
	struct tap *tap = c->udp->tap;
	bool is_v4 = addr_is_v4(&f->inner.addr);
	struct eth_hdr eth = { .dst = tap->ends.guest,
			       .src = tap->ends.ours,
			       .type_be = htons(is_v4 ? ETH_P_IP :
							ETH_P_IPV6) };
	struct head_ip ip = { .src = f->visible.addr,
			      .dst = f->inner.addr,
			      .mark = { .tos = body->mark.tos,
					.hops = HOPS_REPLY },
			      .proto = f->proto };
	uint32_t len = sizeof(eth);
	uint8_t *msg;
	uint16_t sum;

	memcpy(c->frame, &eth, len);
	len += head_put_ip(c->frame + len, &ip, body->len);
	msg = c->frame + len;
	memcpy(msg, body->buf, body->len);
	be16_put(msg + 2, 0);
	be16_put(msg + 4, f->inner.port);
	sum = csum_done(
		csum_add(pseudo(&ip.src, &ip.dst, body->len), msg, body->len));
	memcpy(msg + 2, &sum, sizeof(sum));
	tap_send_frame(tap, c->frame, len + body->len);
	stats_add(c->udp->stats, TAP_TX_DGRAMS, 1);
	stats_add(c->udp->stats, ECHO_REPLIES, 1);
}

static void take(struct icmp *c, struct map *m, const struct sock_msg *msg)
{
	struct udp *u = c->udp;
	struct end from = end_make(&msg->from.addr, 0, msg->from.scope);
	struct flow *f = flow_find_host(&u->flows, map_number(&u->maps, m),
					&from, &shared);

	stats_add(u->stats, HOST_RX_DGRAMS, 1);
	if (!f || msg->is_cut || msg->body.len < ECHO_HEAD ||
	    !is_type(msg->body.buf, addr_family(&from.addr), 0, 129)) {
		stats_add(u->stats, DROP_FILTERED, 1);
		return;
	}
	flow_touch(&u->flows, f, false, udp_now_s(u));
	map_touch(&u->maps, m, udp_now_s(u), false);
	to_guest(c, f, &msg->body);
}

static void ready(struct watch *w, uint32_t events)
{
	struct map *m = container_of(w, struct map, watch);
	struct icmp *c = w->ctx;
	struct udp *u = c->udp;
	int i, n;

	if (events & EPOLLERR)
		(void)udp_error_drain(u, m);
	n = sock_recv(&u->rx, w->fd, ROUND_LARGE);
	for (i = 0; i < n; i++)
		take(c, m, &u->rx.msg[i]);
}

static void say(struct icmp *c, int rc)
{
	if (c->is_said)
		return;
	c->is_said = true;
	if (rc == -EACCES)
		warn("ping from the namespace does not work: the host lets "
		     "nobody of our group have ping sockets; see "
		     "net.ipv4.ping_group_range in sysctl(8)");
	else
		warn("ping from the namespace does not work: %s",
		     strerror(-rc));
}

/* Bound to the guest's identifier if it is free, else to any. */
static int open_bound(struct udp *u, enum family family, uint16_t id)
{
	int family_no = sock_family(family);
	const struct addr *from = &u->conf.outbound[family];
	struct end local = end_make(from, id, 0);
	int rc, fd = sock_open_ping(family_no);

	if (sock_is_exhausted(fd) && udp_map_make_room(u))
		fd = sock_open_ping(family_no);
	if (fd < 0)
		return fd;
	sock_setup(fd, family_no, 0);
	rc = sock_bind(fd, family_no, &local, u->conf.device[family]);
	if (rc) {
		local.port = 0;
		rc = sock_bind(fd, family_no, &local, u->conf.device[family]);
	}
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static struct map *map_for(struct icmp *c, const struct end *inner)
{
	struct udp *u = c->udp;
	enum family family = addr_family(&inner->addr);
	struct map proto = { .kind = MAP_ECHO,
			     .family = (uint8_t)sock_family(family),
			     .inner = *inner };
	struct map *m = map_find(&u->maps, inner, &shared);
	int fd;

	if (m)
		return m;
	fd = open_bound(u, family, inner->port);
	if (fd < 0) {
		say(c, fd);
		return NULL;
	}
	m = udp_map_open(u, &proto, fd);
	if (m) {
		m->watch.fn = ready;
		m->watch.ctx = c;
	}
	return m;
}

static struct flow *refuse(struct icmp *c, enum counter why)
{
	stats_add(c->udp->stats, why, 1);
	return NULL;
}

static struct flow *begin(struct icmp *c, const struct pkt *p,
			  const struct end *inner)
{
	struct udp *u = c->udp;
	struct flow f = { .visible = p->dst,
			  .inner = *inner,
			  .proto = p->proto,
			  .flags = FLOW_BY_GUEST | FLOW_ECHO };
	enum fwd_kind kind = fwd_from_guest(u->fwd, &p->dst, &f.host);
	struct flow *new;
	struct map *m;

	if (kind != FWD_SHARED && kind != FWD_OWN)
		return refuse(c, DROP_NO_TARGET);
	if (u->policy && !policy_permits(u->policy, &p->dst, &f.host)) {
		udp_error_refused(u, p, EACCES);
		return refuse(c, DROP_DENIED);
	}
	m = map_for(c, inner);
	if (!m)
		return refuse(c, DROP_NO_PING);
	f.map = map_number(&u->maps, m);
	/* Two names of one remote: the reply cannot tell which was meant */
	new = flow_find_host(&u->flows, f.map, &f.host, &shared);
	if (new)
		udp_map_end_flow(u, new);
	m = map_for(c, inner);
	if (!m)
		return refuse(c, DROP_NO_PING);
	f.map = map_number(&u->maps, m);
	new = udp_map_add_flow(u, &f);
	if (!new)
		udp_map_drop(u, m);
	return new ? new : refuse(c, DROP_TABLE_FULL);
}

/* As the sender's kernel would have written it: that is what it was. */
bool icmp_from_guest(struct icmp *c, const struct pkt *p)
{
	struct udp *u = c->udp;
	struct end inner = p->src;
	struct sock_dest d;
	struct flow *f;
	struct map *m;
	struct run r;

	if (!is_request(p))
		return false;
	stats_add(u->stats, TAP_RX_DGRAMS, 1);
	stats_add(u->stats, ECHO_REQUESTS, 1);
	if (!is_intact(p)) {
		refuse(c, DROP_BAD_CSUM);
		return true;
	}
	inner.port = be16_get(p->body.buf + 4);
	f = flow_find_guest(&u->flows, p->proto, &inner, &p->dst);
	if (!f)
		f = begin(c, p, &inner);
	if (!f)
		return true;
	m = &u->maps.map[f->map];
	d = (struct sock_dest){ .fd = m->watch.fd,
				.family = m->family,
				.to = &f->host };
	flow_touch(&u->flows, f, true, udp_now_s(u));
	map_touch(&u->maps, m, udp_now_s(u), false);
	run_start(&r, flow_number(&u->flows, f), &p->body);
	udp_send(u, f, m, &d, &r);
	return true;
}
