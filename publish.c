/* publish.c - published ports of both protocols, put together
 *
 * TCP and UDP have the same options, the same namespaces and one limit of
 * descriptors, so whether their listeners take both families at once is decided
 * for both together. One clock looks what is bound.
 *
 * A port of the host that cannot be had ends the program, since whoever asked
 * for it relies on it; one of the namespace costs a warning. */

#include "publish.h"

#include "log.h"
#include "netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

/* The option that asks for a port: -t, -u, or -T, -U */
static char letter(const struct listen *l, enum listen_side side)
{
	bool is_tcp = l->proto->type == SOCK_STREAM;

	if (side == LISTEN_HOST)
		return is_tcp ? 't' : 'u';
	return is_tcp ? 'T' : 'U';
}

static const char *cure(int error)
{
	switch (error) {
	case EACCES:
		return "ports below net.ipv4.ip_unprivileged_port_start need "
		       "CAP_NET_BIND_SERVICE";
	case EMFILE:
	case ENFILE:
		return "raise the limit of open files (ulimit -n)";
	case EADDRNOTAVAIL:
		return "the host does not have this address (see: ip addr), "
		       "or --freebind";
	case ENODEV:
		return "the host does not have this interface (see: ip link)";
	default:
		return "choose another port or give an address (ADDR/PORT)";
	}
}

static void open_host(struct listen *l)
{
	struct listen_fail fail;
	char text[ADDR_STRLEN] = "any address";

	if (!listen_open(l, LISTEN_HOST, &fail))
		return;
	if (addr_is_set(&fail.addr))
		addr_format(&fail.addr, text);
	die("-%c: cannot listen on %s port %u of %s%s%s: %s; %s",
	    letter(l, LISTEN_HOST), l->proto->name, (unsigned)fail.port, text,
	    *fail.device ? "%" : "", fail.device, strerror(fail.error),
	    cure(fail.error));
}

static void open_inside(struct listen *l)
{
	struct listen_fail fail;

	if (!listen_open(l, LISTEN_NS, &fail))
		return;
	if (fail.error == ELOOP)
		warn("-%c: cannot offer %s port %u in the namespace: -%c leads "
		     "back to it",
		     letter(l, LISTEN_NS), l->proto->name, (unsigned)fail.port,
		     letter(l, LISTEN_HOST));
	else
		warn("-%c: cannot offer %s port %u in the namespace: %s",
		     letter(l, LISTEN_NS), l->proto->name, (unsigned)fail.port,
		     strerror(fail.error));
}

static void fill(struct listen *l, const struct conf *c, const struct udp *u,
		 bool is_dual)
{
	bool is_tcp = l->proto->type == SOCK_STREAM;

	l->rules[LISTEN_HOST] = is_tcp ? &c->tcp_in : &c->udp_in;
	l->rules[LISTEN_NS] = is_tcp ? &c->tcp_out : &c->udp_out;
	l->fwd = u->fwd;
	l->agent = u->agent;
	memcpy(l->has, u->conf.has, sizeof(l->has));
	l->is_dual = is_dual;
	l->is_freebind = c->freebind;
}

void publish_host(struct publish *p, const struct conf *c, struct udp *u,
		  uint64_t limit)
{
	const struct ports *const all[] = { &c->tcp_in, &c->udp_in, &c->tcp_out,
					    &c->udp_out };
	bool is_dual = listen_dual(all, 4, limit);
	struct listen_auto *a = &p->ports;

	tcp_listen_init(&p->tcp);
	p->tcp.loop = u->loop;
	udp_listen_init(&p->udp, u);
	fill(&p->tcp.l, c, u, is_dual);
	fill(&p->udp.l, c, u, is_dual);
	a->loop = u->loop;
	a->tcp = c->no_tcp ? NULL : &p->tcp.l;
	a->udp = c->no_udp ? NULL : &p->udp.l;
	a->diag[LISTEN_HOST] = -1;
	a->diag[LISTEN_NS] = -1;
	if (a->tcp)
		open_host(a->tcp);
	if (a->udp)
		open_host(a->udp);
	if (listen_auto_wanted(a, LISTEN_NS))
		a->diag[LISTEN_HOST] = netlink_open(NETLINK_SOCK_DIAG);
}

void publish_inside(struct publish *p, int diag, struct agent *outside)
{
	struct listen_auto *a = &p->ports;

	p->tcp.l.outside = outside;
	p->udp.l.outside = outside;
	if (!p->udp.l.agent)
		return;
	a->diag[LISTEN_NS] = diag;
	if (a->tcp)
		open_inside(a->tcp);
	if (a->udp)
		open_inside(a->udp);
	listen_auto_start(a);
}

uint32_t publish_count(const struct publish *p)
{
	return p->tcp.l.n + p->udp.l.n;
}
