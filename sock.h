/* sock.h - UDP sockets: runs out, batches in
 * Knows: udp(7), ip(7), ipv6(7) options and control messages.
 * Does not know: flows, who asked; queued errors (sock_error.h). A dual-stack socket (AF_INET6 without
 * V6ONLY) takes IPv4 endpoints too: addresses are mapped here.
 * Sources: udp(7) UDP_GRO, UDP_SEGMENT; RFC 3542; ip(7) IP_PKTINFO. */

#ifndef SOCK_H
#define SOCK_H

#include "addr.h"
#include "run.h"

#include <linux/sock_diag.h>

/** enum sock_flag - how a socket is set up
 * pktinfo: tell which local address and interface a datagram arrived on
 * dual:    take IPv4 on an AF_INET6 socket
 * force:   exceed net.core.rmem_max if privileged
 * freebind: may be bound to an address that the host does not have yet */
enum sock_flag {
	SOCK_PKTINFO = 1,
	SOCK_DUAL = 2,
	SOCK_FORCE = 4,
	SOCK_FREEBIND = 8
};

/** struct sock_msg - what one receive call delivered
 * @from:    sender     @to: local address to answer from, unset without
 *           SOCK_PKTINFO or if none is known (sent to an IPv6 group)
 * @group:   the multicast or broadcast address it was sent to, else unset
 * @ifindex: interface it arrived on, 0 without SOCK_PKTINFO
 * @body:    with TOS; hop limit and DF are not told: one datagram, or several that the kernel merged
 * @is_cut:  did not fit the buffer: must not be passed on */
struct sock_msg {
	struct end from;
	struct addr to;
	struct addr group;
	uint32_t ifindex;
	struct piece body;
	bool is_cut;
};

/* Buffers start at different cache sets: 64 KiB apart they would all collide */
#define SOCK_SLOT (DGRAM_MAX + 1 + 1600)
#define SOCK_CONTROL 128

/** struct sock_rx - buffers of one round; @msg is valid until the next */
struct sock_rx {
	struct sock_msg msg[ROUND_MSGS];
	struct mmsghdr hdr[ROUND_MSGS];
	struct iovec iov[ROUND_MSGS];
	union sockaddr_ip name[ROUND_MSGS];
	union {
		struct cmsghdr align;
		uint8_t buf[SOCK_CONTROL];
	} control[ROUND_MSGS];
	uint8_t buf[ROUND_MSGS][SOCK_SLOT];
};

/** struct sock_dest - where a run goes
 * @fd, @family: socket, and AF_INET or AF_INET6 as it was made
 * @to:   NULL if connected        @from: source address, NULL: as bound
 * @ifindex: interface, 0: by route
 * @mark: TOS and hop limit of this call alone, NULL: as set on the socket */
struct sock_dest {
	int fd;
	int family;
	const struct end *to;
	const struct addr *from;
	uint32_t ifindex;
	const struct mark *mark;
};

/** sock_is_exhausted() - is -errno for want of a descriptor, ours or the
 * machine's? Then ending an older conversation helps. */
bool sock_is_exhausted(int rc);

/** sock_family() - AF_INET or AF_INET6 */
int sock_family(enum family family);

/** sock_open() - non-blocking, CLOEXEC UDP socket here; descriptor or -errno */
int sock_open(int family);

/** sock_mark_set - what sock_setup() leaves on a socket: only DF is set */
extern const struct mark sock_mark_set;

/** sock_open_ping() - the same for echo requests: the port is their
 * identifier, payload begins with their header; -EACCES if the host's
 * ping_group_range does not let us */
int sock_open_ping(int family);

/** sock_setup() - options every socket of ours has: large buffers, merged
 * receive, queued errors, TOS told, no dual-stack unless asked; plus @flags */
void sock_setup(int fd, int family, unsigned flags);

/** sock_setup_bind() - what of @flags must be said before sock_bind(), of a
 * socket of any type: SOCK_DUAL, which is else ruled out, and SOCK_FREEBIND */
void sock_setup_bind(int fd, int family, unsigned flags);

/** sock_ifindex() - index of an interface here, 0: there is none */
uint32_t sock_ifindex(const char *name);

/** sock_bind() - bind to address (unset or any: wildcard) and port (0: any)
 * @device: SO_BINDTODEVICE first, "" none; returns 0 or -errno */
int sock_bind(int fd, int family, const struct end *local, const char *device);

/** sock_connect() - returns 0 or -errno */
int sock_connect(int fd, int family, const struct end *remote);

/** sock_local() - the endpoint a socket is bound to; returns 0 or -errno */
int sock_local(int fd, struct end *ret_end);

/**
 * sock_source() - address that the host's routes choose for a remote
 * @fd: an unbound socket of the family kept for such questions
 * Returns: 0 or -errno (-ENETUNREACH and the like)
 */
int sock_source(int fd, int family, const struct end *remote,
		struct addr *ret_addr);

/** sock_rx_init() - once, before the first sock_recv() */
void sock_rx_init(struct sock_rx *rx);

/**
 * sock_recv() - receive up to @max buffers without waiting
 * Returns: number of @rx->msg filled; 0: nothing there; -errno: an error that
 * was pending on the socket, now cleared
 */
int sock_recv(struct sock_rx *rx, int fd, unsigned max);

/**
 * sock_send() - send a run in one call, segmented if it has several datagrams
 * Returns: 0, or -errno with nothing sent
 */
int sock_send(const struct sock_dest *d, const struct run *r);

/**
 * sock_mark() - set what datagrams of a socket say in their IP header
 * @family: of the datagrams, not of a dual-stack socket
 * @was, @want: only what differs is set; hops 0 of @want stands for any
 * Without df they may be fragmented on the way, and here. With it, what is
 * longer than the device takes is refused; the path's MTU is not looked at, as
 * a router would not.
 */
void sock_mark(int fd, enum family family, const struct mark *was,
	       const struct mark *want);

/** sock_meminfo() - the kernel's account of a socket, SO_MEMINFO, by
 * SK_MEMINFO_*; zero where it does not tell */
void sock_meminfo(int fd, uint32_t ret_info[static SK_MEMINFO_VARS]);

/** sock_drops() - datagrams (buffers) dropped for want of room, SO_MEMINFO */
uint32_t sock_drops(int fd);

#endif
