/* tcp_open.c - begins TCP connections over the guest's link
 *
 * The guest's SYN is answered when the remote has answered ours: then its
 * measured round trip is that of the whole way, and a refusal is a refusal. The
 * other way round the remote is connected to us before the guest is asked, as
 * accept(2) has it; a guest that refuses resets it.
 *
 * Source addresses and ports are the kernel's choice, unless options say
 * otherwise. */

#include "tcp_open.h"

#include "sock.h"
#include "sock_stream.h"
#include "tcp_host.h"

#include <errno.h>
#include <unistd.h>

/* Where the guest's resolver is asked over TCP: the one of the moment, if need
 * be of the other family */
static struct end resolver(const struct tcp *t, const struct end *dst)
{
	enum family family = addr_family(&dst->addr);
	const struct addr *a = &t->fwd->dns_host[family];

	if (!addr_is_set(a))
		a = &t->fwd->dns_host[!family];
	return end_make(a, dst->port, 0);
}

/* The remote as the host sees it.
 * Returns: 0; -EACCES: not allowed; -ENETUNREACH: there is none */
static int translate(struct tcp *t, const struct pkt *p, struct end *ret_host)
{
	enum fwd_kind kind = fwd_from_guest(t->fwd, &p->dst, ret_host);

	if (kind == FWD_QUERY)
		*ret_host = resolver(t, &p->dst);
	if (kind == FWD_REFUSE || kind == FWD_GROUP ||
	    !addr_is_set(&ret_host->addr)) {
		stats_add(t->stats, DROP_NO_TARGET, 1);
		return -ENETUNREACH;
	}
	if (t->policy && !policy_permits(t->policy, &p->dst,
					 kind == FWD_QUERY ? NULL : ret_host)) {
		stats_add(t->stats, DROP_DENIED, 1);
		return -EACCES;
	}
	return 0;
}

/* Source address and device that options ask for */
static int bind_outbound(const struct tcp *t, int fd, const struct end *host)
{
	enum family family = addr_family(&host->addr);
	const struct addr *a = &t->conf.outbound[family];
	const char *device = t->conf.device[family];

	if (addr_is_loopback(&host->addr) || (!addr_is_set(a) && !*device))
		return 0;
	return stream_source(fd, sock_family(family),
			     addr_is_set(a) ? a : addr_any(family), device);
}

static int open_socket(struct tcp *t, int family)
{
	int fd = stream_open(family);

	if (sock_is_exhausted(fd) && tcp_conn_make_room(t))
		fd = stream_open(family);
	return fd;
}

/* A socket that connects to @host; descriptor or -errno */
static int connect_to(struct tcp *t, const struct end *host)
{
	int family = sock_family(addr_family(&host->addr));
	int rc, fd = open_socket(t, family);

	if (fd < 0)
		return fd;
	stream_setup(fd);
	rc = bind_outbound(t, fd, host);
	if (!rc)
		rc = stream_connect(fd, family, host);
	if (!rc || rc == -EINPROGRESS)
		return fd;
	close(fd);
	return rc;
}

/* Why there is no connection. A refusal is RST; a resource that is short says
 * nothing: the guest asks again. */
static void answer(struct tcp *t, const struct pkt *p, int error)
{
	struct icmperr_quote q = { .src = p->src,
				   .dst = p->dst,
				   .proto = PROTO_TCP,
				   .seq = p->tcp.seq,
				   .mark = p->body.mark };

	if (error == ECONNREFUSED || error == ECONNRESET)
		tcp_conn_refuse(t, p);
	else
		tell_local(t->tell, error, 0, &q);
}

static bool is_resource(int error)
{
	return sock_is_exhausted(-error) || error == ENOBUFS ||
	       error == ENOMEM || error == EADDRNOTAVAIL || error == EAGAIN;
}

static void count(struct tcp *t, int error)
{
	if (is_resource(error))
		stats_add(t->stats, DROP_NO_SOCKET, 1);
	else if (error != ECONNREFUSED && error != ECONNRESET)
		stats_add(t->stats, DROP_NO_ROUTE, 1);
}

static void enter(struct tcp *t, const struct pkt *p, int fd)
{
	struct tcp_conn *c = tcp_conn_new(t, fd, &p->src, &p->dst,
					  TCP_BY_GUEST | TCP_WAITS);

	if (!c) {
		stats_add(t->stats, DROP_TABLE_FULL, 1);
		close(fd);
		return;
	}
	tcb_accept(&c->tcb, &p->tcp, tcp_conn_iss(t, &p->src, &p->dst),
		   tcp_conn_mss(t, &p->dst));
	c->start = c->tcb.rcv_nxt;
	stats_add(t->stats, TCP_OPENED, 1);
}

void tcp_open_from_guest(struct tcp *t, const struct pkt *p)
{
	struct end host;
	int rc = translate(t, p, &host), fd;

	if (rc) {
		answer(t, p, -rc);
		return;
	}
	fd = connect_to(t, &host);
	if (fd >= 0) {
		enter(t, p, fd);
		return;
	}
	count(t, -fd);
	answer(t, p, -fd);
}

/* Ours, or the answer to the guest's; one that the link does not take is sent
 * after a while */
static void send_syn(struct tcp *t, struct tcp_conn *c)
{
	if (tcp_conn_tell(t, c, c->tcb.snd_una, 0))
		tcb_sent(&c->tcb, 0, false, t->loop->now_ms);
	else
		tcb_stall(&c->tcb, t->loop->now_ms);
	tcp_conn_arm(t, c);
}

/* The SYN that @c began with, as far as answers to it need */
static struct pkt syn_of(const struct tcp_conn *c)
{
	return (struct pkt){ .src = c->inner,
			     .dst = c->visible,
			     .proto = PROTO_TCP,
			     .tcp = { .seq = c->tcb.rcv_nxt - 1,
				      .flags = TCP_SYN } };
}

bool tcp_open_connected(struct tcp *t, struct tcp_conn *c)
{
	int error = -stream_error(c->watch.fd);
	struct pkt syn;

	if (error) {
		syn = syn_of(c);
		tcp_conn_abort(t, c, false);
		count(t, error);
		answer(t, &syn, error);
		return false;
	}
	c->flags &= (uint16_t)~TCP_WAITS;
	tcb_answer(&c->tcb);
	tcp_host_offer(t, c);
	send_syn(t, c);
	return true;
}

/* Two remotes that would look the same to the guest: the later one gets
 * another visible port. */
static bool make_visible(struct tcp *t, const struct end *inner,
			 struct end *visible)
{
	uint16_t port = visible->port;
	unsigned i;

	for (i = 0; i < FWD_PORT_TRIES; i++) {
		if (!tcp_conn_find(t, inner, visible))
			return true;
		visible->port = fwd_other_port(port, t->n + i);
	}
	return false;
}

static void refuse_host(struct tcp *t, int fd, enum counter why)
{
	stats_add(t->stats, why, 1);
	stream_reset(fd);
}

void tcp_open_to_guest(struct tcp *t, int fd, const struct end *peer,
		       uint16_t port)
{
	struct end visible, inner;
	struct tcp_conn *c;

	if (!fwd_from_host(t->fwd, peer, &visible, &inner)) {
		refuse_host(t, fd, DROP_NO_TARGET);
		return;
	}
	inner.port = port;
	c = make_visible(t, &inner, &visible) ?
		    tcp_conn_new(t, fd, &inner, &visible, 0) :
		    NULL;
	if (!c) {
		refuse_host(t, fd, DROP_TABLE_FULL);
		return;
	}
	tcb_connect(&c->tcb, tcp_conn_iss(t, &inner, &visible),
		    tcp_conn_mss(t, &visible));
	send_syn(t, c);
	stats_add(t->stats, TCP_ACCEPTED, 1);
}
