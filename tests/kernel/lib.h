/* lib.h - what the kernel programs share: namespaces, a tap, sockets, frames
 * Knows: system calls.  Does not know: the project; nothing of it is linked.
 *
 * A failing preparation is a failed test ("Bail out!"); a kernel or machine
 * that lacks the feature is a skipped one. Addresses on the tap: ours (the
 * namespace's) 10.9.0.1, the far end 10.9.0.2. */

#ifndef KERNEL_LIB_H
#define KERNEL_LIB_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define MAX_FRAME 70000
#define UDP_HEAD 42 /* Ethernet, IPv4 and UDP headers */

/** must() - stop with a failure if a step of the preparation failed */
#define must(cond) \
	((cond) ? (void)0 : \
		  (printf("Bail out! %s:%d: %s: %s\n", __FILE__, __LINE__, \
			  #cond, strerror(errno)), \
		   exit(1)))

/** struct dgram - a UDP frame to be written to the tap */
struct dgram {
	uint16_t port; /* destination, on 10.9.0.1 */
	uint8_t flags; /* VIRTIO_NET_HDR_F_* */
	uint16_t gso_size; /* 0: a single datagram */
	size_t len; /* payload, bytes */
	int bad_csum; /* added to the checksum */
	bool no_csum; /* checksum field 0 */
};

static inline void put(const char *path, const char *fmt, unsigned a)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	char text[64];
	int n = snprintf(text, sizeof(text), fmt, a);

	must(fd >= 0);
	must(write(fd, text, (size_t)n) == n);
	close(fd);
}

/** link_set() - bring a link up (@mtu 0: leave it) or down (@up false) */
static inline void link_set(const char *name, int mtu, bool up)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };

	must(s >= 0);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	r.ifr_mtu = mtu;
	must(!mtu || !ioctl(s, SIOCSIFMTU, &r));
	must(!ioctl(s, SIOCGIFFLAGS, &r));
	r.ifr_flags = (short)(up ? r.ifr_flags | IFF_UP :
				   r.ifr_flags & ~IFF_UP);
	must(!ioctl(s, SIOCSIFFLAGS, &r));
	close(s);
}

/** enter_user() - become uid 0 of a new user namespace, and more */
static inline void enter_user(int more)
{
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | more))
		skip_all("no user namespace here: %s", strerror(errno));
	put("/proc/self/setgroups", "deny", 0);
	put("/proc/self/uid_map", "0 %u 1", uid);
	put("/proc/self/gid_map", "0 %u 1", gid);
}

/** enter() - own user and network namespace, loopback up */
static inline void enter(void)
{
	enter_user(CLONE_NEWNET);
	link_set("lo", 0, true);
}

static inline struct sockaddr_in at(const char *addr, uint16_t port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };

	sa.sin_port = htons(port);
	must(inet_pton(AF_INET, addr, &sa.sin_addr) == 1);
	return sa;
}

#define SA(p) ((struct sockaddr *)(void *)(p)), sizeof(*(p))

/** udp_at() - UDP socket bound to @addr, which gives up receiving after 1 s */
static inline int udp_at(const char *addr, uint16_t port)
{
	struct sockaddr_in sa = at(addr, port);
	struct timeval second = { .tv_sec = 1 };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	must(s >= 0);
	must(!setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second)));
	must(!bind(s, SA(&sa)));
	return s;
}

static inline int set_int(int s, int level, int name, int value)
{
	return setsockopt(s, level, name, &value, sizeof(value));
}

static inline long send_to(int s, const void *buf, size_t len,
			   const struct sockaddr_in *to)
{
	return sendto(s, buf, len, 0, (const struct sockaddr *)(const void *)to,
		      sizeof(*to));
}

/** send_seg() - send with a UDP_SEGMENT message; returns as sendmsg() */
static inline long send_seg(int s, const void *buf, size_t len, uint16_t seg,
			    const struct sockaddr_in *to)
{
	union {
		char buf[CMSG_SPACE(sizeof(seg))];
		struct cmsghdr align;
	} u = { 0 };
	struct sockaddr_in sa = *to;
	struct iovec iov = { .iov_len = len };
	struct msghdr m = { .msg_name = &sa,
			    .msg_namelen = sizeof(sa),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	memcpy(&iov.iov_base, &buf, sizeof(buf));
	c->cmsg_level = SOL_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(seg));
	memcpy(CMSG_DATA(c), &seg, sizeof(seg));
	return sendmsg(s, &m, 0);
}

/** recv_gro() - receive; @ret_seg: the UDP_GRO message, 0 if there is none */
static inline long recv_gro(int s, void *buf, size_t size, int *ret_seg)
{
	union {
		char buf[128];
		struct cmsghdr align;
	} u;
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	long n = recvmsg(s, &m, 0);
	struct cmsghdr *c;

	*ret_seg = 0;
	for (c = n < 0 ? NULL : CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
			memcpy(ret_seg, CMSG_DATA(c), sizeof(*ret_seg));
	return n;
}

/** tap_new() - a tap named @name with 10-byte virtio-net headers, down */
static inline int tap_new(const char *name)
{
	struct ifreq r = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		skip_all("/dev/net/tun: %s", strerror(errno));
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	must(!ioctl(fd, TUNSETIFF, &r));
	return fd;
}

/** tap_up() - 10.9.0.1/24 on "t", MAC 02::1, and 10.9.0.2 at MAC 02::2 */
static inline int tap_up(int mtu)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), fd;
	struct sockaddr_in ours = at("10.9.0.1", 0), far = at("10.9.0.2", 0);
	struct sockaddr_in mask = at("255.255.255.0", 0);
	struct ifreq r = { .ifr_name = "t" };
	struct arpreq arp = { .arp_flags = ATF_COM | ATF_PERM, .arp_dev = "t" };

	put("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1", 0);
	fd = tap_new("t");
	r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(r.ifr_hwaddr.sa_data, "\2\0\0\0\0\1", 6);
	must(!ioctl(s, SIOCSIFHWADDR, &r));
	memcpy(&r.ifr_addr, &ours, sizeof(ours));
	must(!ioctl(s, SIOCSIFADDR, &r));
	memcpy(&r.ifr_netmask, &mask, sizeof(mask));
	must(!ioctl(s, SIOCSIFNETMASK, &r));
	link_set("t", mtu, true);
	memcpy(&arp.arp_pa, &far, sizeof(far));
	arp.arp_ha.sa_family = ARPHRD_ETHER;
	memcpy(arp.arp_ha.sa_data, "\2\0\0\0\0\2", 6);
	must(!ioctl(s, SIOCSARP, &arp));
	close(s);
	return fd;
}

/* One's complement sum of big-endian 16-bit words */
static inline uint32_t sum(const uint8_t *p, size_t len, uint32_t s)
{
	for (; len > 1; p += 2, len -= 2)
		s += (uint32_t)p[0] << 8 | p[1];
	if (len)
		s += (uint32_t)p[0] << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

/** tap_write() - write a datagram from 10.9.0.2:9 to 10.9.0.1; as write() */
static inline long tap_write(int fd, const struct dgram *d)
{
	static uint8_t buf[10 + MAX_FRAME];
	uint8_t *ip = buf + 10 + 14, *udp = ip + 20;
	uint32_t ulen = (uint32_t)d->len + 8, pseudo, csum;
	struct virtio_net_hdr v = { .flags = d->flags,
				    .gso_size = d->gso_size,
				    .hdr_len = d->gso_size ? UDP_HEAD : 0,
				    .csum_start = 34,
				    .csum_offset = 6 };
	struct iphdr h = { .version = 4, .ihl = 5, .ttl = 64, .protocol = 17 };
	struct udphdr u = { .source = htons(9), .dest = htons(d->port) };

	v.gso_type = d->gso_size ? VIRTIO_NET_HDR_GSO_UDP_L4 : 0;
	h.tot_len = htons((uint16_t)(ulen + 20));
	h.saddr = inet_addr("10.9.0.2");
	h.daddr = inet_addr("10.9.0.1");
	h.check = htons((uint16_t)~sum((uint8_t *)&h, sizeof(h), 0));
	u.len = htons((uint16_t)ulen);
	memcpy(buf, &v, 10);
	memcpy(buf + 10, "\2\0\0\0\0\1\2\0\0\0\0\2\x8\0", 14);
	memcpy(ip, &h, sizeof(h));
	memcpy(udp, &u, sizeof(u));
	memset(udp + 8, 'x', d->len);
	pseudo = sum(ip + 12, 8, 17 + ulen);
	csum = pseudo;
	if (!(d->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		csum = 0xffff & ~sum(udp, ulen, pseudo);
	csum = d->no_csum ? 0 : csum + (uint32_t)d->bad_csum;
	udp[6] = (uint8_t)(csum >> 8);
	udp[7] = (uint8_t)csum;
	return write(fd, buf, 10 + UDP_HEAD + d->len);
}

/** tap_read() - next IPv4 frame within a second; its length without the
 * virtio-net header @ret_v, or -1 */
static inline long tap_read(int fd, uint8_t *buf, struct virtio_net_hdr *ret_v)
{
	static uint8_t raw[10 + MAX_FRAME];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long n;

	while (poll(&p, 1, 1000) == 1) {
		n = read(fd, raw, sizeof(raw));
		if (n < 10 + 14)
			return -1;
		if (raw[10 + 12] != 8 || raw[10 + 13] != 0)
			continue;
		memcpy(ret_v, raw, 10);
		memcpy(buf, raw + 10, (size_t)n - 10);
		return n - 10;
	}
	return -1;
}

/** fd_send() / fd_recv() - pass a descriptor over a UNIX socket */
static inline void fd_send(int via, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(fd))];
		struct cmsghdr align;
	} u = { 0 };
	char byte = 'f';
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	must(sendmsg(via, &m, 0) == 1);
}

static inline int fd_recv(int via)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c;
	int fd;

	must(recvmsg(via, &m, MSG_CMSG_CLOEXEC) == 1);
	c = CMSG_FIRSTHDR(&m);
	must(c && c->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/** struct room - a child in namespaces of its own
 * @pid: the child   @via: socket over which it sends descriptors */
struct room {
	pid_t pid;
	int via;
};

/** room_open() - child enters own namespaces, calls @fn, then waits to be
 * closed; a child that skips makes the test skip */
static inline struct room room_open(void (*fn)(int via))
{
	struct room r;
	int pair[2];
	char byte;

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	r.pid = fork();
	must(r.pid >= 0);
	if (!r.pid) {
		close(pair[0]);
		enter();
		must(write(pair[1], "r", 1) == 1);
		fn(pair[1]);
		_exit(read(pair[1], &byte, 1) ? 1 : 0);
	}
	close(pair[1]);
	r.via = pair[0];
	if (read(r.via, &byte, 1) != 1)
		exit(77); /* the child has said why */
	return r;
}

/** room_close() - end the child and wait until it is gone */
static inline void room_close(struct room *r)
{
	close(r->via);
	must(waitpid(r->pid, NULL, 0) == r->pid);
}

#endif
