/* sock.c - UDP sockets: runs out, batches in
 *
 * One recvmmsg(2) fetches up to a round of buffers, each one datagram or, by
 * UDP_GRO, a train of equal ones; one sendmsg(2) sends a whole run by
 * UDP_SEGMENT, gathered from where its pieces lie. Control messages are read
 * by name and written only when they say something: a plain reply over a
 * bound socket carries none.
 *
 * A socket for both families keeps the kernel's own way with "don't fragment"
 * for IPv4: set where it fits, else fragments.
 *
 * What it does not do: split a run that the kernel refuses to segment (the
 * owner of the flow remembers that), or keep any state about peers. Sockets
 * never get SO_REUSEADDR: the later binder would take all unicast, so a guest
 * could take a host program's datagrams, and the other way round. */

#include "sock.h"

#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* seccomp(forwarder): socket(0=AF_INET|AF_INET6) bind connect getsockname */
/* seccomp(forwarder): setsockopt getsockopt recvmsg recvmmsg sendmsg close */

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

const struct mark sock_mark_set = { .df = true };

bool sock_is_exhausted(int rc)
{
	return rc == -EMFILE || rc == -ENFILE;
}

int sock_family(enum family family)
{
	return family == FAMILY_V4 ? AF_INET : AF_INET6;
}

int sock_open(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static void set(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

/* The kernel makes ping sockets with SO_REUSEADDR set: identifiers would be
 * shared, and replies to a ping of the host's could go to the guest. */
int sock_open_ping(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);

	if (fd < 0)
		return -errno;
	set(fd, SOL_SOCKET, SO_REUSEADDR, 0);
	return fd;
}

static void set_buffers(int fd, bool force)
{
	int size = SOCK_BUF_FORCED;

	if (force &&
	    !setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		return;
	set(fd, SOL_SOCKET, SO_RCVBUF, SOCK_BUF);
}

void sock_setup_bind(int fd, int family, unsigned flags)
{
	bool is_v6 = family == AF_INET6;

	if (is_v6)
		set(fd, IPPROTO_IPV6, IPV6_V6ONLY, !(flags & SOCK_DUAL));
	if (flags & SOCK_FREEBIND)
		set(fd, is_v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		    is_v6 ? IPV6_FREEBIND : IP_FREEBIND, 1);
}

void sock_setup(int fd, int family, unsigned flags)
{
	bool is_v6 = family == AF_INET6;
	bool has_v4 = !is_v6 || flags & SOCK_DUAL;

	sock_setup_bind(fd, family, flags);
	set_buffers(fd, flags & SOCK_FORCE);
	set(fd, SOL_UDP, UDP_GRO, 1);
	if (has_v4) {
		set(fd, IPPROTO_IP, IP_RECVERR, 1);
		set(fd, IPPROTO_IP, IP_RECVTOS, 1);
	}
	if (!is_v6)
		set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (is_v6) {
		set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
		set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	}
	if (!(flags & SOCK_PKTINFO))
		return;
	if (is_v6)
		set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	if (has_v4) /* only this one tells a broadcast from our address */
		set(fd, IPPROTO_IP, IP_PKTINFO, 1);
}

/* Not by if_nametoindex(): the filter has no AF_UNIX
 * seccomp(forwarder): ioctl(1=SIOCGIFINDEX) */
uint32_t sock_ifindex(const char *name)
{
	struct ifreq r = { 0 };
	size_t len = strlen(name);
	int rc, fd = sock_open(AF_INET);

	if (fd < 0)
		fd = sock_open(AF_INET6);
	if (fd < 0)
		return 0;
	memcpy(r.ifr_name, name,
	       len < sizeof(r.ifr_name) ? len : sizeof(r.ifr_name) - 1);
	rc = ioctl(fd, SIOCGIFINDEX, &r);
	close(fd);
	return rc ? 0 : (uint32_t)r.ifr_ifindex;
}

int sock_bind(int fd, int family, const struct end *local, const char *device)
{
	union sockaddr_ip sa;
	struct end any;
	socklen_t len;

	if (*device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
				  (socklen_t)strlen(device) + 1))
		return -errno;
	if (!addr_is_set(&local->addr) && family == AF_INET) {
		any = end_make(&addr_any4, local->port, 0);
		local = &any;
	}
	len = end_to_sockaddr(local, family, &sa);
	if (!len)
		return -EAFNOSUPPORT;
	return bind(fd, &sa.sa, len) ? -errno : 0;
}

int sock_connect(int fd, int family, const struct end *remote)
{
	union sockaddr_ip sa;
	socklen_t len = end_to_sockaddr(remote, family, &sa);

	if (!len)
		return -EAFNOSUPPORT;
	return connect(fd, &sa.sa, len) ? -errno : 0;
}

int sock_local(int fd, struct end *ret_end)
{
	union sockaddr_ip sa = { 0 };
	socklen_t len = sizeof(sa);

	if (getsockname(fd, &sa.sa, &len))
		return -errno;
	*ret_end = end_from_sockaddr(&sa);
	return 0;
}

int sock_source(int fd, int family, const struct end *remote,
		struct addr *ret_addr)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct end local;
	int rc = sock_connect(fd, family, remote);

	if (rc)
		return rc;
	rc = sock_local(fd, &local);
	(void)connect(fd, &none, sizeof(none));
	if (!rc)
		*ret_addr = local.addr;
	return rc;
}

/* A receive call shortens what it used; make slot @i whole again. */
static void slot_reset(struct sock_rx *rx, unsigned i)
{
	struct msghdr *m = &rx->hdr[i].msg_hdr;

	m->msg_namelen = sizeof(rx->name[i]);
	m->msg_controllen = sizeof(rx->control[i]);
	m->msg_flags = 0;
}

void sock_rx_init(struct sock_rx *rx)
{
	unsigned i;

	for (i = 0; i < ROUND_MSGS; i++) {
		struct msghdr *m = &rx->hdr[i].msg_hdr;

		rx->iov[i].iov_base = rx->buf[i];
		rx->iov[i].iov_len = DGRAM_MAX + 1;
		m->msg_iov = &rx->iov[i];
		m->msg_iovlen = 1;
		m->msg_name = &rx->name[i];
		m->msg_control = &rx->control[i];
		slot_reset(rx, i);
	}
}

/* Is it the TOS of an IPv4 or IPv6 datagram? The first comes as a byte. */
static bool read_tos(const struct cmsghdr *c, const void *data,
		     uint8_t *ret_tos)
{
	int tclass;

	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
		memcpy(ret_tos, data, sizeof(*ret_tos));
		return true;
	}
	if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_TCLASS)
		return false;
	memcpy(&tclass, data, sizeof(tclass));
	*ret_tos = (uint8_t)tclass;
	return true;
}

static void read_control(struct cmsghdr *c, struct sock_msg *m)
{
	const void *data = CMSG_DATA(c);

	if (read_tos(c, data, &m->body.mark.tos))
		return;
	if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
		int seg;

		memcpy(&seg, data, sizeof(seg));
		m->body.seg = (uint32_t)seg;
	} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		struct in_pktinfo info;

		memcpy(&info, data, sizeof(info));
		m->to = addr_v4(ntohl(info.ipi_spec_dst.s_addr));
		if (info.ipi_addr.s_addr != info.ipi_spec_dst.s_addr)
			m->group = addr_v4(ntohl(info.ipi_addr.s_addr));
		m->ifindex = (uint32_t)info.ipi_ifindex;
	} else if (c->cmsg_level == IPPROTO_IPV6 &&
		   c->cmsg_type == IPV6_PKTINFO) {
		struct in6_pktinfo info;
		struct addr to;

		memcpy(&info, data, sizeof(info));
		to = addr_from_bytes(&info.ipi6_addr, FAMILY_V6);
		if (addr_is_unicast(&to)) /* no answer leaves from a group */
			m->to = to;
		else
			m->group = to;
		m->ifindex = info.ipi6_ifindex;
	}
}

static void slot_read(struct sock_rx *rx, unsigned i)
{
	struct msghdr *h = &rx->hdr[i].msg_hdr;
	struct sock_msg *m = &rx->msg[i];
	struct cmsghdr *c;

	m->from = end_from_sockaddr(&rx->name[i]);
	m->to = (struct addr){ 0 };
	m->group = (struct addr){ 0 };
	m->ifindex = 0;
	m->body = (struct piece){ .buf = rx->buf[i],
				  .len = rx->hdr[i].msg_len };
	m->is_cut = h->msg_flags & MSG_TRUNC;
	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
		read_control(c, m);
	slot_reset(rx, i);
}

int sock_recv(struct sock_rx *rx, int fd, unsigned max)
{
	int i, n = recvmmsg(fd, rx->hdr, max, MSG_DONTWAIT, NULL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (i = 0; i < n; i++)
		slot_read(rx, (unsigned)i);
	return n;
}

static void put_control(struct msghdr *m, int level, int type, const void *data,
			size_t len)
{
	struct cmsghdr *c =
		(struct cmsghdr *)(void *)((uint8_t *)m->msg_control +
					   m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	m->msg_controllen += CMSG_SPACE(len);
}

static void put_source(struct msghdr *m, const struct sock_dest *d)
{
	if (addr_is_v4(d->from)) {
		struct in_pktinfo info = { .ipi_ifindex = (int)d->ifindex };

		memcpy(&info.ipi_spec_dst, addr_bytes(d->from), 4);
		put_control(m, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_ifindex = d->ifindex };

		memcpy(&info.ipi6_addr, addr_bytes(d->from), 16);
		put_control(m, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
}

/* The control messages of an IPv4 destination work on a dual-stack socket. */
static void put_mark(struct msghdr *m, const struct sock_dest *d)
{
	bool is_v4 = d->family == AF_INET ||
		     (d->to && addr_is_v4(&d->to->addr));
	int level = is_v4 ? IPPROTO_IP : IPPROTO_IPV6;
	int tos = d->mark->tos, hops = d->mark->hops;

	put_control(m, level, is_v4 ? IP_TOS : IPV6_TCLASS, &tos, sizeof(tos));
	if (hops)
		put_control(m, level, is_v4 ? IP_TTL : IPV6_HOPLIMIT, &hops,
			    sizeof(hops));
}

int sock_send(const struct sock_dest *d, const struct run *r)
{
	union {
		struct cmsghdr align;
		uint8_t buf[SOCK_CONTROL];
	} control = { 0 };
	union sockaddr_ip sa;
	struct msghdr m = { .msg_control = &control, .msg_controllen = 0 };
	union {
		const struct iovec *in;
		struct iovec *out;
	} iov = { .in = r->slice };

	m.msg_iov = iov.out; /* sendmsg(2) only reads it */
	m.msg_iovlen = r->n_slices;
	if (d->to) {
		m.msg_name = &sa;
		m.msg_namelen = end_to_sockaddr(d->to, d->family, &sa);
	}
	if (d->from)
		put_source(&m, d);
	if (d->mark)
		put_mark(&m, d);
	if (r->n_segs > 1) {
		uint16_t seg = (uint16_t)r->seg;

		put_control(&m, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg));
	}
	if (!m.msg_controllen)
		m.msg_control = NULL;
	return sendmsg(d->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Name and number of one option in both families. */
static void set_either(int fd, enum family family, int v4, int v6, int value)
{
	bool is_v4 = family == FAMILY_V4;

	set(fd, is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? v4 : v6, value);
}

void sock_mark(int fd, enum family family, const struct mark *was,
	       const struct mark *want)
{
	static_assert(IP_PMTUDISC_PROBE == IPV6_PMTUDISC_PROBE &&
			      IP_PMTUDISC_DONT == IPV6_PMTUDISC_DONT,
		      "one number for both families");

	if (was->tos != want->tos)
		set_either(fd, family, IP_TOS, IPV6_TCLASS, want->tos);
	if (want->hops && was->hops != want->hops)
		set_either(fd, family, IP_TTL, IPV6_UNICAST_HOPS, want->hops);
	if (was->df != want->df)
		set_either(fd, family, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER,
			   want->df ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT);
}

void sock_meminfo(int fd, uint32_t ret_info[static SK_MEMINFO_VARS])
{
	socklen_t len = SK_MEMINFO_VARS * sizeof(*ret_info);

	memset(ret_info, 0, len);
	(void)getsockopt(fd, SOL_SOCKET, SO_MEMINFO, ret_info, &len);
}

uint32_t sock_drops(int fd)
{
	uint32_t info[SK_MEMINFO_VARS];

	sock_meminfo(fd, info);
	return info[SK_MEMINFO_DROPS];
}
