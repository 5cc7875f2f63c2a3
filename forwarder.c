/* forwarder.c - everything that carries, put together
 *
 * Parts know only parts below them; here they learn of each other. The order
 * is that of the rights they need: what is published on the host is opened
 * first, with the rights the program was started with; the link and what is
 * offered inside follow once the agent is there.
 *
 * Statistics are collected here because only here all parts are in sight: our
 * own counters, and what the kernel dropped at our sockets and at the link. */

#include "forwarder.h"

#include "brief.h"
#include "hostfwd.h"
#include "log.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#define REPORT_MAX 4096

static uint64_t fd_limit(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_NOFILE, &r) ? 1024 : (uint64_t)r.rlim_cur;
}

static uint32_t maps_allowed(uint64_t limit)
{
	uint64_t half = limit / 2;

	if (half > MAP_DYNAMIC_MAX)
		return MAP_DYNAMIC_MAX;
	return half > 1 ? (uint32_t)half : 1;
}

/* Descriptors for connections. UDP has a half, too, and the resolver's queries
 * an eighth: all at once are rare, and then the idle give way. */
static uint32_t conns_allowed(uint64_t limit)
{
	uint64_t half = limit / 2;

	return half < TCP_MAX ? (uint32_t)half : TCP_MAX;
}

static void udp_conf(struct udp_conf *u, const struct conf *c,
		     const struct guest_net *net)
{
	unsigned i;

	for (i = 0; i < FAMILY_COUNT; i++) {
		u->has[i] = net->has[i];
		u->outbound[i] = c->outbound[i];
		if (c->outbound_if[i])
			strncpy(u->device[i], c->outbound_if[i],
				sizeof(u->device[i]) - 1);
	}
	u->idle_s = c->udp_timeout_s;
	u->n_maps = maps_allowed(fd_limit());
}

static void tcp_conf(struct tcp_conf *t, const struct udp_conf *u,
		     const struct conf *c)
{
	memcpy(t->outbound, u->outbound, sizeof(t->outbound));
	memcpy(t->device, u->device, sizeof(t->device));
	memcpy(t->has, u->has, sizeof(t->has));
	t->max = conns_allowed(fd_limit());
	t->mtu = c->mtu ? c->mtu : MTU_DEFAULT;
}

static void tcp_parts(struct forwarder *f)
{
	struct tcp *t = &f->tcp;

	t->loop = &f->loop;
	t->tap = &f->tap;
	t->stats = &f->stats;
	t->fwd = &f->fwd;
	t->policy = &f->conf->policy;
	t->tell = &f->udp.tell;
	tcp_conf(&t->conf, &f->udp.conf, f->conf);
	tcp_init(t, &f->key);
}

/* Spliced connections have two descriptors each */
static void splice_parts(struct forwarder *f)
{
	struct tcp_splice *s = &f->splice;

	s->loop = &f->loop;
	s->stats = &f->stats;
	s->fwd = &f->fwd;
	s->agent = f->udp.agent;
	s->max = conns_allowed(fd_limit()) / 2;
	memcpy(s->has, f->udp.conf.has, sizeof(s->has));
	tcp_splice_init(s);
	f->accept.tcp = &f->tcp;
	f->accept.splice = s;
	f->accept.max = conns_allowed(fd_limit());
	f->accept.is_loopback_only = f->conf->splice_only;
	f->accept.listen = &f->publish.tcp;
	tcp_accept_init(&f->accept);
}

/* What the guest is told; --config-net has configured it already */
static void local_conf(struct forwarder *f, const struct guest_net *net,
		       const struct resolv *resolv)
{
	const struct conf *c = f->conf;
	struct local *l = &f->guest.local;

	brief_guest(c, net, &f->fwd, resolv, &l->announce);
	l->key = f->key;
	l->no_dhcp = c->no_dhcp;
	l->no_dhcpv6 = c->no_dhcpv6;
	l->no_ndp = c->no_ndp;
	l->no_ra = c->no_ra || c->config_net || !net->has[FAMILY_V6];
	if (c->has_dhcp_dns && !l->announce.n_dns[FAMILY_V4] &&
	    !l->announce.n_dns[FAMILY_V6])
		warn("no resolver to announce: see -D");
}

/* Going on without is better than not starting */
static void follow_host(struct forwarder *f, const struct guest_net *net)
{
	struct follow *w = &f->follow;
	int rc;

	f->move.u = &f->udp;
	udp_move_init(&f->move);
	w->conf = f->conf;
	w->promised = net;
	w->loop = &f->loop;
	w->fwd = &f->fwd;
	w->move = &f->move;
	w->tcp_ports = f->publish.ports.tcp;
	w->udp_ports = f->publish.ports.udp;
	rc = follow_init(w);
	if (rc)
		warn("changes of the host's network are not followed: %s",
		     strerror(-rc));
}

void forwarder_init(struct forwarder *f, const struct conf *c,
		    const struct guest_net *net, const struct resolv *resolv)
{
	f->conf = c;
	f->agent.sock = -1;
	f->outside.sock = -1;
	f->reader = -1;
	f->rtnl = -1;
	if (hash_key_random(&f->key) || loop_init(&f->loop))
		die("cannot start: %s", strerror(errno));
	hostfwd_policy(c, net, resolv, &f->fwd);
	local_conf(f, net, resolv);
	f->udp.loop = &f->loop;
	f->udp.tap = &f->tap;
	f->udp.agent = c->target == TARGET_FD ? NULL : &f->agent;
	f->udp.stats = &f->stats;
	f->udp.fwd = &f->fwd;
	udp_conf(&f->udp.conf, c, net);
	ports_reserved(&f->udp.reserved);
	f->udp.policy = &c->policy;
	f->udp.group = &f->group;
	f->group.u = &f->udp;
	udp_init(&f->udp, &f->key);
	udp_group_init(&f->group);
	tcp_parts(f);
	publish_host(&f->publish, c, &f->udp, fd_limit());
	splice_parts(f);
	f->resolv = *resolv;
	follow_host(f, net);
	memcpy(f->guest.has, net->has, sizeof(f->guest.has));
}

/* An empty file is about to be replaced: what was told stays */
static void tell_resolvers(struct dns *d, const struct resolv *r)
{
	struct forwarder *f = container_of(d, struct forwarder, dns);

	if (r->n_dns[FAMILY_V4] || r->n_dns[FAMILY_V6])
		brief_dns(f->conf, &f->fwd, r, &f->guest.local.announce);
}

/* Queries have an eighth of the descriptors: flows have a half */
static void start_dns(struct forwarder *f)
{
	const struct conf *c = f->conf;
	bool is_used = false;
	enum family i;

	f->dns.u = &f->udp;
	f->dns.fwd = &f->fwd;
	f->dns.changed = tell_resolvers;
	for (i = 0; i < FAMILY_COUNT; i++) {
		if (addr_is_set(&f->fwd.dns_forward[i]))
			is_used = true;
		if (addr_is_set(&c->dns_host[i]))
			f->dns.servers[i] = (struct dns_servers){
				.addr = { c->dns_host[i] }, .n = 1
			};
	}
	if (is_used && dns_init(&f->dns, &f->resolv, f->reader,
				(uint32_t)(fd_limit() / 8)))
		die("cannot wait for resolv.conf: %s", strerror(errno));
}

static void link_gone(struct guest *g, int error)
{
	if (error == EPIPE) /* the peer of --fd closed it: a normal end */
		info("the guest's link was closed");
	else
		err("the guest's link failed: %s", strerror(error));
	loop_end(g->loop, error != EPIPE);
}

static int64_t next_report(const struct timer *t)
{
	return container_of(t, struct forwarder, report)->report_ms;
}

static void fire_report(struct timer *t, int64_t now_ms)
{
	struct forwarder *f = container_of(t, struct forwarder, report);

	f->report_ms = now_ms + (int64_t)f->conf->stats_s * 1000;
	forwarder_report(f);
}

void forwarder_start(struct forwarder *f, const struct forwarder_ns *ns)
{
	struct guest *g = &f->guest;

	f->rtnl = ns->rtnl;
	f->ifindex = ns->ifindex;
	f->fwd.link = ns->ifindex;
	if (addr_is_set(&ns->guest_ll))
		f->fwd.guest_ll = ns->guest_ll;
	tap_init(&f->tap, ns->tap, f->conf->offload, &ns->ends, &f->stats);
	g->tap = &f->tap;
	g->udp = &f->udp;
	g->tcp = f->conf->no_tcp ? NULL : &f->tcp;
	g->fwd = &f->fwd;
	g->loop = &f->loop;
	g->stats = &f->stats;
	g->no_udp = f->conf->no_udp;
	g->no_icmp = f->conf->no_icmp;
	g->gone = link_gone;
	if (guest_init(g))
		die("cannot wait for the guest's link: %s", strerror(errno));
	if (f->conf->target != TARGET_FD && f->conf->target != TARGET_COMMAND)
		udp_group_ask(&f->group); /* its programs may run already */
	start_dns(f);
	publish_inside(&f->publish, ns->diag,
		       f->outside.sock >= 0 ? &f->outside : NULL);
	if (f->conf->stats_s) {
		f->report = (struct timer){ next_report, fire_report };
		f->report_ms = f->loop.now_ms + f->conf->stats_s * 1000LL;
		loop_timer(&f->loop, &f->report);
	}
}

void forwarder_report(struct forwarder *f)
{
	struct nl_drops link = { 0 };
	char text[REPORT_MAX];

	if (f->rtnl >= 0)
		(void)netlink_drops(f->rtnl, f->ifindex, &link);
	{
		const struct stats_gauge gauge[] = {
			{ "flows", f->udp.flows.n },
			{ "maps", f->udp.maps.n },
			{ "tcp_connections", f->tcp.n },
			{ "tcp_spliced_now", f->splice.n },
			{ "listeners", publish_count(&f->publish) },
			{ "offload", f->tap.offload },
			{ "kernel_socket_dropped", udp_socket_drops(&f->udp) },
			{ "kernel_tap_tx_dropped", link.tx_dropped },
			{ "kernel_tap_rx_dropped", link.rx_dropped },
		};

		stats_json(&f->stats, gauge, sizeof(gauge) / sizeof(*gauge),
			   text, sizeof(text));
	}
	log_line(text);
}
