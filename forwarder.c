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
#include <linux/netlink.h>
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

static _Noreturn void die_listen(const struct listen_fail *fail)
{
	char text[ADDR_STRLEN] = "any address";
	const char *cure = "choose another port or give an address (ADDR/PORT)";

	if (addr_is_set(&fail->addr))
		addr_format(&fail->addr, text);
	if (fail->error == EACCES)
		cure = "ports below net.ipv4.ip_unprivileged_port_start need "
		       "CAP_NET_BIND_SERVICE";
	else if (fail->error == EMFILE || fail->error == ENFILE)
		cure = "raise the limit of open files (ulimit -n)";
	else if (fail->error == EADDRNOTAVAIL)
		cure = "the host does not have this address (see: ip addr), "
		       "or --freebind";
	else if (fail->error == ENODEV)
		cure = "the host does not have this interface (see: ip link)";
	die("-u: cannot listen on UDP port %u of %s%s%s: %s; %s",
	    (unsigned)fail->port, text, *fail->device ? "%" : "", fail->device,
	    strerror(fail->error), cure);
}

static void listen_init(struct forwarder *f, const struct conf *c)
{
	const struct ports *const in[] = { &c->udp_in };
	struct listen *l = &f->udp_listen.l;
	struct listen_fail fail;

	udp_listen_init(&f->udp_listen, &f->udp);
	l->rules[LISTEN_HOST] = &c->udp_in;
	l->rules[LISTEN_NS] = &c->udp_out;
	l->is_dual = listen_dual(in, 1, fd_limit());
	l->is_freebind = c->freebind;
	if (!c->no_udp && listen_open(l, LISTEN_HOST, &fail))
		die_listen(&fail);
	f->ports.loop = &f->loop;
	f->ports.udp = c->no_udp ? NULL : l;
	f->ports.diag[LISTEN_HOST] = -1;
	f->ports.diag[LISTEN_NS] = -1;
	if (listen_auto_wanted(&f->ports, LISTEN_NS))
		f->ports.diag[LISTEN_HOST] = netlink_open(NETLINK_SOCK_DIAG);
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
	listen_init(f, c);
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

static void start_inside(struct forwarder *f)
{
	struct listen_fail fail;

	if (!f->udp.agent || f->conf->no_udp)
		return;
	if (listen_open(&f->udp_listen.l, LISTEN_NS, &fail))
		warn("-U: cannot offer UDP port %u in the namespace: %s",
		     (unsigned)fail.port,
		     fail.error == ELOOP ? "-u leads back to it" :
					   strerror(fail.error));
	listen_auto_start(&f->ports);
}

void forwarder_start(struct forwarder *f, const struct forwarder_ns *ns)
{
	struct guest *g = &f->guest;

	f->rtnl = ns->rtnl;
	f->ifindex = ns->ifindex;
	f->ports.diag[LISTEN_NS] = ns->diag;
	f->fwd.link = ns->ifindex;
	if (addr_is_set(&ns->guest_ll))
		f->fwd.guest_ll = ns->guest_ll;
	tap_init(&f->tap, ns->tap, f->conf->offload, &ns->ends, &f->stats);
	g->tap = &f->tap;
	g->udp = &f->udp;
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
	if (f->outside.sock >= 0)
		f->udp_listen.l.outside = &f->outside;
	start_inside(f);
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
			{ "listeners", f->udp_listen.l.n },
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
