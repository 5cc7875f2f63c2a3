/* udp_open.c - makes sockets for UDP
 *
 * A socket of the guest's is bound to the address that the host's routes choose
 * for the remote and, if it can be had, to the guest's own port: some protocols
 * expect that. Routes are asked by connecting a socket that is kept for it.
 * A guest may hold as many sockets as its program may have descriptors; at that
 * limit the map that is missed least gives way.
 *
 * It does not decide which socket a datagram needs. */

#include "udp_open.h"

#include "sock_group.h"

#include <errno.h>
#include <unistd.h>

/* A socket here; the descriptor limit is one more reason to evict. */
static int open_socket(struct udp *u, int family)
{
	int fd = sock_open(family);

	if (sock_is_exhausted(fd) && udp_map_make_room(u))
		fd = sock_open(family);
	return fd;
}

int udp_open_source(struct udp *u, const struct end *remote,
		    struct addr *ret_addr)
{
	enum family family = addr_family(&remote->addr);
	int *fd = &u->source[family];

	if (addr_is_set(&u->conf.outbound[family]) &&
	    !addr_is_loopback(&remote->addr)) {
		*ret_addr = u->conf.outbound[family];
		return 0;
	}
	if (fwd_is_group(u->fwd, &remote->addr))
		return sock_group_source(sock_family(family), remote, ret_addr);
	if (*fd < 0)
		*fd = open_socket(u, sock_family(family));
	if (*fd < 0)
		return *fd;
	return sock_source(*fd, sock_family(family), remote, ret_addr);
}

/* Bind to the guest's own port if it is to be had, else to any. */
static int bind_near(struct udp *u, int fd, const struct map *m, bool any_port)
{
	enum family family = addr_family(&m->ours);
	const char *device = addr_is_loopback(&m->ours) ?
				     "" :
				     u->conf.device[family];
	uint16_t port = m->inner.port;
	uint32_t scope = addr_needs_scope(&m->ours) ? u->fwd->scope[family] : 0;
	struct end local = end_make(&m->ours, port, scope);
	int rc;

	if (!any_port && !port_set_has(&u->reserved, port)) {
		rc = sock_bind(fd, m->family, &local, device);
		if (!rc)
			return 0;
	}
	local.port = 0;
	return sock_bind(fd, m->family, &local, device);
}

/* A socket that is set up, and bound as @m says. */
static int open_bound(struct udp *u, const struct map *m, bool any_port)
{
	int rc, fd = open_socket(u, m->family);

	if (fd < 0)
		return fd;
	sock_setup(fd, m->family, 0);
	rc = bind_near(u, fd, m, any_port);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int udp_open_to(struct udp *u, const struct end *remote)
{
	struct map m = { .family = (uint8_t)sock_family(
				 addr_family(&remote->addr)) };
	int fd, rc = udp_open_source(u, remote, &m.ours);

	if (rc)
		return rc;
	fd = open_bound(u, &m, true);
	rc = fd < 0 ? fd : sock_connect(fd, m.family, remote);
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

struct map *udp_open_map(struct udp *u, struct map *proto,
			 const struct end *remote, bool any_port)
{
	int rc, fd = open_bound(u, proto, any_port);
	struct end local = { 0 };

	if (fd < 0)
		return NULL;
	rc = remote ? sock_connect(fd, proto->family, remote) :
		      sock_local(fd, &local);
	if (rc) {
		close(fd);
		return NULL;
	}
	proto->port = local.port;
	return udp_map_open(u, proto, fd);
}
