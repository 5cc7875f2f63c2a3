/* netlink.c - rtnetlink and sock_diag, one request at a time
 *
 * Every request asks for an acknowledgement or is a dump, so an answer always
 * ends with NLMSG_ERROR or NLMSG_DONE (nlmsg.c reads it). The kernel queues it
 * before send() returns or makes it while we receive; what is left of an
 * abandoned answer is drained at once, so the next request starts clean and
 * sequence numbers have nothing to tell. The socket is connected to the
 * kernel: a process of the guest, which may hold CAP_NET_ADMIN there, cannot
 * put an answer of its own into it.
 *
 * Dumps are asked without strict checking: asking for a family or table that
 * the kernel lacks would be an error then.
 *
 * Messages about changes are counted as one bit (netlink_watch): whoever waits
 * for them lists everything again.
 *
 * Deliberately not done: no allocation, nothing static:
 * the answer is received into 32 KiB of stack, the most that the kernel sends
 * at once. */

#include "netlink.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_LEN 32768 /* the kernel fills at most this much at once */
#define REQUEST_LEN 512 /* several times the longest request below */
#define DUMP_TRIES 5 /* tables may change while they are read */
#define DRAIN_MAX 65536 /* datagrams; only so that the loop has an end */
#define TIMEOUT_S 5 /* answers are immediate; this means something is broken */

#define STATE_UDP_UNBOUND_PEER 7 /* TCP_CLOSE: not connected */
#define STATE_TCP_LISTEN 10

/* union request - a message under construction; h.nlmsg_len is its end so far */
union request {
	struct nlmsghdr h;
	uint8_t b[REQUEST_LEN];
};

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void request(union request *r, uint16_t type, uint16_t flags,
		    const void *body, size_t len)
{
	assert(NLMSG_HDRLEN + align4(len) <= sizeof(*r));
	memset(r, 0, sizeof(*r));
	r->h.nlmsg_type = type;
	r->h.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	r->h.nlmsg_seq = 1;
	r->h.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + align4(len));
	memcpy(r->b + NLMSG_HDRLEN, body, len);
}

static void put(union request *r, uint16_t type, const void *data, size_t len)
{
	struct nlattr a = {
		.nla_len = (uint16_t)(sizeof(a) + len),
		.nla_type = type,
	};
	uint8_t *p = r->b + r->h.nlmsg_len;

	assert(r->h.nlmsg_len + sizeof(a) + align4(len) <= sizeof(*r));
	memcpy(p, &a, sizeof(a));
	if (len)
		memcpy(p + sizeof(a), data, len);
	r->h.nlmsg_len += (uint32_t)(sizeof(a) + align4(len));
}

static void put_u32(union request *r, uint16_t type, uint32_t v)
{
	put(r, type, &v, sizeof(v));
}

static void put_addr(union request *r, uint16_t type, const struct addr *a)
{
	put(r, type, addr_bytes(a), addr_len(a));
}

/* Attributes put between nest() and nest_end() become the value of @type */
static uint32_t nest(union request *r, uint16_t type)
{
	uint32_t at = r->h.nlmsg_len;

	put(r, type, NULL, 0);
	return at;
}

static void nest_end(union request *r, uint32_t at)
{
	uint16_t len = (uint16_t)(r->h.nlmsg_len - at);

	memcpy(r->b + at + offsetof(struct nlattr, nla_len), &len, sizeof(len));
}

/* What is left of an answer that nobody wants any more
 * seccomp(forwarder): recvfrom */
static void drain(int fd)
{
	uint8_t byte;
	int i;

	for (i = 0; i < DRAIN_MAX; i++)
		if (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) <= 0)
			return;
}

/* seccomp(forwarder): recvfrom */
static int receive(int fd, const struct nl_sink *to)
{
	uint8_t buf[ANSWER_LEN];
	ssize_t n;

	do
		n = recv(fd, buf, sizeof(buf), MSG_TRUNC);
	while (n < 0 && errno == EINTR);

	if (n < 0)
		return -errno;
	if (!n)
		return -EBADMSG;
	if ((size_t)n > sizeof(buf))
		return -EMSGSIZE;
	return nlmsg_read(buf, (size_t)n, to);
}

/* One request with its whole answer: 0 or -errno
 * seccomp(forwarder): sendto */
static int exchange(int fd, const union request *r, const struct nl_sink *to)
{
	ssize_t n;
	int rc;

	do
		n = send(fd, r, r->h.nlmsg_len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;

	do
		rc = receive(fd, to);
	while (!rc);
	if (rc > 0)
		return 0;
	drain(fd);
	return rc;
}

static int change(int fd, const union request *r)
{
	static const struct nl_sink nowhere;

	return exchange(fd, r, &nowhere);
}

/* A table that changed while it was read is read again; one that never holds
 * still is taken as it is. */
static int dump(int fd, const union request *r, struct nl_sink *to)
{
	unsigned n[3] = { 0 };
	int i, rc = 0;

	if (to->facts) {
		n[0] = to->facts->n_links;
		n[1] = to->facts->n_addrs;
		n[2] = to->facts->n_routes;
	}
	for (i = 0; i < DUMP_TRIES; i++) {
		if (to->facts) {
			to->facts->n_links = n[0];
			to->facts->n_addrs = n[1];
			to->facts->n_routes = n[2];
		}
		to->take_torn = i == DUMP_TRIES - 1;
		rc = exchange(fd, r, to);
		if (rc != -EINTR && rc != -ENOBUFS)
			break;
	}
	return rc;
}

int netlink_open(int protocol)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct timeval limit = { .tv_sec = TIMEOUT_S };
	int fd, rc;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit))) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

/* A small buffer will do: what does not fit into it is a change as well. It is
 * connected to the kernel only after bind(), which would undo that. */
int netlink_watch(void)
{
	struct sockaddr_nl us = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR |
			     RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR |
			     RTMGRP_IPV6_ROUTE,
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int rc, size = ANSWER_LEN;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&us, sizeof(us)) ||
	    connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size))) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

void netlink_forget(int fd)
{
	drain(fd);
}

int netlink_facts(int fd, struct nl_facts *ret_facts)
{
	struct nl_sink to = { .facts = ret_facts };
	struct ifinfomsg link = { 0 };
	struct ifaddrmsg addr = { 0 };
	struct rtmsg route = { 0 };
	union request r;
	int rc;

	/* AF_UNSPEC gives all families that the kernel has, IPv4 first; asked
	 * for one it lacks, it would answer with all the others. */
	memset(ret_facts, 0, sizeof(*ret_facts));
	request(&r, RTM_GETLINK, NLM_F_DUMP, &link, sizeof(link));
	put_u32(&r, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	rc = dump(fd, &r, &to);
	if (rc)
		return rc;

	request(&r, RTM_GETADDR, NLM_F_DUMP, &addr, sizeof(addr));
	rc = dump(fd, &r, &to);
	if (rc)
		return rc;

	request(&r, RTM_GETROUTE, NLM_F_DUMP, &route, sizeof(route));
	return dump(fd, &r, &to);
}

int netlink_link_by_name(int fd, const char *name, struct nl_link *ret_link)
{
	struct nl_link link = { 0 };
	struct nl_sink to = { .link = &link };
	struct ifinfomsg m = { 0 };
	size_t len = strlen(name) + 1;
	union request r;
	int rc;

	if (len > IFNAME_SIZE)
		return -ENODEV;
	request(&r, RTM_GETLINK, NLM_F_ACK, &m, sizeof(m));
	put(&r, IFLA_IFNAME, name, len);
	rc = exchange(fd, &r, &to);
	if (rc)
		return rc;
	if (!link.ifindex)
		return -ENODEV;
	*ret_link = link;
	return 0;
}

int netlink_link_set(int fd, uint32_t ifindex, const struct nl_link_conf *c)
{
	struct ifinfomsg m = { .ifi_index = (int)ifindex };
	uint8_t none = IN6_ADDR_GEN_MODE_NONE;
	uint32_t spec, inet6;
	union request r;

	if (c->up) {
		m.ifi_flags = IFF_UP;
		m.ifi_change = IFF_UP;
	}
	request(&r, RTM_NEWLINK, NLM_F_ACK, &m, sizeof(m));
	if (c->mtu)
		put_u32(&r, IFLA_MTU, c->mtu);
	if (c->tx_queue)
		put_u32(&r, IFLA_TXQLEN, c->tx_queue);
	if (c->has_mac)
		put(&r, IFLA_ADDRESS, &c->mac, sizeof(c->mac));
	if (c->no_linklocal) {
		spec = nest(&r, IFLA_AF_SPEC);
		inet6 = nest(&r, AF_INET6);
		put(&r, IFLA_INET6_ADDR_GEN_MODE, &none, sizeof(none));
		nest_end(&r, inet6);
		nest_end(&r, spec);
	}
	return change(fd, &r);
}

/* Broadcast address of an IPv4 subnet, for programs that ask the interface */
static void put_broadcast(union request *r, const struct nl_addr *a)
{
	uint8_t b[4];
	unsigned bit;

	memcpy(b, addr_bytes(&a->addr), sizeof(b));
	for (bit = a->plen; bit < 32; bit++)
		b[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	put(r, IFA_BROADCAST, b, sizeof(b));
}

int netlink_addr_add(int fd, const struct nl_addr *a)
{
	bool is_v4 = addr_is_v4(&a->addr);
	struct ifaddrmsg m = {
		.ifa_family = is_v4 ? AF_INET : AF_INET6,
		.ifa_prefixlen = a->plen,
		.ifa_scope = a->scope,
		.ifa_index = a->ifindex,
	};
	union request r;

	request(&r, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &m,
		sizeof(m));
	put_addr(&r, IFA_LOCAL, &a->addr);
	put_addr(&r, IFA_ADDRESS, &a->addr);
	put_u32(&r, IFA_FLAGS,
		(a->flags & IFA_F_NOPREFIXROUTE) | (is_v4 ? 0 : IFA_F_NODAD));
	if (is_v4 && a->plen < 31)
		put_broadcast(&r, a);
	return change(fd, &r);
}

static void put_gateway(union request *r, const struct nl_route *route)
{
	bool is_v4 = addr_is_v4(&route->gw);
	uint8_t via[sizeof(uint16_t) + 16];
	uint16_t af = is_v4 ? AF_INET : AF_INET6;

	if (!addr_is_set(&route->gw))
		return;
	if (is_v4 == addr_is_v4(&route->dst)) {
		put_addr(r, RTA_GATEWAY, &route->gw);
		return;
	}
	memcpy(via, &af, sizeof(af));
	memcpy(via + sizeof(af), addr_bytes(&route->gw), addr_len(&route->gw));
	put(r, RTA_VIA, via, sizeof(af) + addr_len(&route->gw));
}

static int route_new(int fd, const struct nl_route *route, uint16_t flags)
{
	struct rtmsg m = {
		.rtm_family = addr_is_v4(&route->dst) ? AF_INET : AF_INET6,
		.rtm_dst_len = route->plen,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = route->proto,
		.rtm_scope = route->scope,
		.rtm_type = route->type,
		.rtm_flags = route->flags & RTNH_F_ONLINK,
	};
	union request r;
	uint32_t metrics;

	request(&r, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | flags, &m,
		sizeof(m));
	if (route->plen)
		put_addr(&r, RTA_DST, &route->dst);
	put_gateway(&r, route);
	if (addr_is_set(&route->src))
		put_addr(&r, RTA_PREFSRC, &route->src);
	put_u32(&r, RTA_OIF, route->ifindex);
	if (route->metric)
		put_u32(&r, RTA_PRIORITY, route->metric);
	if (route->mtu) {
		metrics = nest(&r, RTA_METRICS);
		put_u32(&r, RTAX_MTU, route->mtu);
		nest_end(&r, metrics);
	}
	return change(fd, &r);
}

int netlink_route_add(int fd, const struct nl_route *route)
{
	return route_new(fd, route, NLM_F_APPEND);
}

int netlink_route_replace(int fd, const struct nl_route *route)
{
	return route_new(fd, route, NLM_F_REPLACE);
}

int netlink_drops(int fd, uint32_t ifindex, struct nl_drops *ret_drops)
{
	struct ifinfomsg m = { .ifi_index = (int)ifindex };
	struct nl_drops drops = { 0 };
	struct nl_sink to = { .drops = &drops };
	union request r;
	int rc;

	request(&r, RTM_GETLINK, NLM_F_ACK, &m, sizeof(m));
	rc = exchange(fd, &r, &to);
	if (!rc)
		*ret_drops = drops;
	return rc;
}

/* A dual-stack socket shows among the IPv6 ones only */
int netlink_bound(int fd, int proto, struct port_set *set)
{
	struct inet_diag_req_v2 q = {
		.sdiag_protocol = (uint8_t)proto,
		.idiag_states = 1u << (proto == IPPROTO_TCP ?
					       STATE_TCP_LISTEN :
					       STATE_UDP_UNBOUND_PEER),
	};
	struct nl_sink to = { .ports = set };
	union request r;
	int rc;

	q.sdiag_family = AF_INET;
	request(&r, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &q, sizeof(q));
	rc = dump(fd, &r, &to);
	if (rc)
		return rc;

	q.sdiag_family = AF_INET6;
	request(&r, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &q, sizeof(q));
	rc = dump(fd, &r, &to);
	return rc == -ENOENT ? 0 : rc; /* a kernel without IPv6 */
}
