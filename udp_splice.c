/* udp_splice.c - UDP between loopback and loopback, socket to socket
 *
 * A host program that speaks to a published port over the loopback device, or
 * a program in the namespace that speaks to a port of the host offered there,
 * need not cross the guest's link: the listener on one side and a connected
 * socket on the other carry the payload between them. The connected socket
 * belongs to one flow: a server sees distinct peers, and the kernel filters
 * what comes back.
 *
 * It only begins such flows. Datagrams take the same way as all others. */

#include "udp_splice.h"

#include <errno.h>
#include <unistd.h>

/* A socket on the far side of listener @m. */
static int far_socket(struct udp *u, const struct map *m, enum family family)
{
	if (m->kind == MAP_LISTEN_NS)
		return sock_open(sock_family(family));
	return u->agent ? agent_udp(u->agent, family) : -ENOTCONN;
}

static int open_far(struct udp *u, const struct map *m, enum family family,
		    bool may_evict)
{
	int fd = far_socket(u, m, family);

	if (sock_is_exhausted(fd) && may_evict && udp_map_make_room(u))
		fd = far_socket(u, m, family);
	return fd;
}

/* Where the client's datagrams go, and where they seem to come from. */
static void far_ends(const struct udp *u, const struct map *m,
		     const struct sock_msg *msg, struct end *ret_source,
		     struct end *ret_target)
{
	enum family family = addr_family(&msg->from.addr);
	const struct addr *source = addr_any(family);
	const struct addr *target = &msg->to;

	if (m->kind == MAP_LISTEN_HOST) {
		*ret_target = fwd_splice_target(u->fwd, family, m->inner.port);
	} else {
		source = &msg->from.addr;
		if (!addr_is_loopback(target))
			target = addr_loopback(family);
		*ret_target = end_make(target, m->inner.port, 0);
	}
	*ret_source = end_make(source, msg->from.port, 0);
}

static int join(int fd, int family, struct end source, const struct end *target)
{
	sock_setup(fd, family, 0);
	if (sock_bind(fd, family, &source, "")) {
		source.port = 0;
		(void)sock_bind(fd, family, &source, "");
	}
	return sock_connect(fd, family, target);
}

static struct map *new_far(struct udp *u, const struct map *m,
			   const struct sock_msg *msg, bool may_evict)
{
	enum family family = addr_family(&msg->from.addr);
	struct map proto = { .kind = MAP_SPLICE,
			     .family = (uint8_t)sock_family(family) };
	struct end source;
	int fd;

	far_ends(u, m, msg, &source, &proto.inner);
	if (!addr_is_set(&proto.inner.addr)) /* :: would be the loopback */
		return NULL;
	fd = open_far(u, m, family, may_evict);
	if (fd < 0)
		return NULL;
	if (join(fd, proto.family, source, &proto.inner)) {
		close(fd);
		return NULL;
	}
	return udp_map_open(u, &proto, fd);
}

struct map *udp_splice_turn(struct udp *u, struct flow *f)
{
	const struct map *m = &u->maps.map[f->map];
	struct sock_msg msg = { .from = end_make(&addr_loopback4, f->host.port,
						 0),
				.to = addr_loopback4 };
	struct map *far = &u->maps.map[f->peer];

	/* Room is not made for it: this flow might be what gives way */
	if (far->family != AF_INET6 || f->flags & FLOW_REPLIED ||
	    addr_is_set(&m->ours) || !u->conf.has[FAMILY_V4] ||
	    u->maps.n >= u->maps.max)
		return NULL;
	far = new_far(u, m, &msg, false);
	if (!far)
		return NULL;
	u->maps.map[f->peer].flows = 0;
	f->peer = map_number(&u->maps, far);
	far->flows = flow_number(&u->flows, f) + 1;
	stats_add(u->stats, SPLICE_TURNED, 1);
	return far;
}

struct flow *udp_splice_new(struct udp *u, struct map *m,
			    const struct sock_msg *msg)
{
	struct flow f = { .host = msg->from,
			  .ours = msg->to,
			  .map = map_number(&u->maps, m),
			  .proto = PROTO_UDP,
			  .flags = FLOW_SPLICED };
	struct map *far = new_far(u, m, msg, true);
	enum counter why = DROP_NO_SOCKET;
	struct flow *new;

	if (far) {
		f.peer = map_number(&u->maps, far);
		new = udp_map_add_flow(u, &f);
		if (new) {
			far->flows = flow_number(&u->flows, new) + 1;
			return new;
		}
		udp_map_drop(u, far);
		why = DROP_TABLE_FULL;
	}
	stats_add(u->stats, why, piece_segs(&msg->body));
	return NULL;
}
