/* tap.c - the guest's link: frames with a virtio-net header
 *
 * Every frame, in or out, has a virtio-net header in front, so that checksums
 * may stay partial and one super-frame may carry a whole run of datagrams. A
 * tun descriptor and a SOCK_SEQPACKET socket both keep frame boundaries under
 * read(2) and writev(2), so one path serves both.
 *
 * What the kernel can offload is found by trying, most first, in the groups it
 * accepts (both USO flags together, all of them only with CSUM); a refused
 * TUNSETOFFLOAD leaves what was set before. Writing partial checksums works on
 * every tap with a virtio-net header; it is left out at OFFLOAD_NONE so that a
 * link without checksum offload is carried, and tested, too.
 *
 * It does not queue: a frame the link does not take is a counted drop, as it
 * would be on any other link. */

#include "tap.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* seccomp(forwarder): read writev */

#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

#define TUN_PATH "/dev/net/tun"

static const struct {
	enum offload level;
	unsigned flags;
} offload_groups[] = {
	{ OFFLOAD_USO, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN |
			       TUN_F_USO4 | TUN_F_USO6 },
	{ OFFLOAD_TSO, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN },
	{ OFFLOAD_CSUM, TUN_F_CSUM },
};

static int tun_setup(int fd, const char *ifname, const char **what)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int len = VNET_LEN;

	strncpy(ifr.ifr_name, ifname, IFNAMSIZ - 1);
	*what = "TUNSETIFF";
	if (ioctl(fd, TUNSETIFF, &ifr))
		return -errno;
	*what = "TUNSETVNETHDRSZ";
	return ioctl(fd, TUNSETVNETHDRSZ, &len) ? -errno : 0;
}

int tap_tun_open(const char *ifname, const char **ret_what)
{
	int fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int rc;

	if (fd < 0) {
		*ret_what = TUN_PATH;
		return -errno;
	}
	rc = tun_setup(fd, ifname, ret_what);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static enum offload probe(int fd, enum offload most)
{
	size_t i;

	for (i = 0; i < sizeof(offload_groups) / sizeof(*offload_groups); i++) {
		if (offload_groups[i].level > most)
			continue;
		if (!ioctl(fd, TUNSETOFFLOAD, offload_groups[i].flags))
			return offload_groups[i].level;
		if (errno == ENOTTY) /* not a tun: the peer takes anything */
			return most;
	}
	return OFFLOAD_NONE;
}

void tap_init(struct tap *t, int fd, enum offload most,
	      const struct head_link *ends, struct stats *stats)
{
	t->fd = fd;
	t->offload = probe(fd, most);
	t->ends = *ends;
	t->stats = stats;
}

static int read_error(int error)
{
	if (error == EAGAIN || error == EINTR || error == EIO)
		return 0;
	/* A peer that closes with frames unread */
	return error == ECONNRESET ? -EPIPE : -error;
}

static void record(struct tap *t, const struct iovec *iov, unsigned n)
{
	stats_add(t->stats, PCAP_LOST, pcap_add(t->pcap, iov, n));
}

int tap_recv(struct tap *t)
{
	size_t used = 0;
	unsigned reads;
	ssize_t len;

	t->n = 0;
	for (reads = 0; reads < TAP_FRAMES &&
			used + VNET_LEN + FRAME_MAX <= sizeof(t->arena);
	     reads++) {
		struct frame *f = &t->frame[t->n];
		uint8_t *at = t->arena + used;

		len = read(t->fd, at, VNET_LEN + FRAME_MAX);
		if (len <= 0) {
			int rc = len ? read_error(errno) : -EPIPE;

			return t->n ? (int)t->n : rc;
		}
		stats_add(t->stats, TAP_RX_FRAMES, 1);
		if (t->pcap)
			record(t, &(struct iovec){ at, (size_t)len }, 1);
		if (len < VNET_LEN + FRAME_MIN) {
			stats_add(t->stats, DROP_SHORT, 1);
			continue;
		}
		memcpy(&f->vnet, at, VNET_LEN);
		f->l2 = at + VNET_LEN;
		f->len = (uint32_t)len - VNET_LEN;
		used += ((size_t)len + 7) & ~(size_t)7;
		t->n++;
	}
	return (int)t->n;
}

/* @what, @n: what the frame holds; nothing of it: a frame of our own */
static bool write_iov(struct tap *t, const struct iovec *iov, unsigned n_iov,
		      enum counter what, unsigned n)
{
	if (writev(t->fd, iov, (int)n_iov) >= 0) {
		stats_add(t->stats, TAP_TX_FRAMES, 1);
		stats_add(t->stats, what, n);
		if (t->pcap)
			pcap_add(t->pcap, iov, n_iov);
		return true;
	}
	stats_add(t->stats, errno == EIO ? DROP_TAP_DOWN : DROP_TAP_ERROR,
		  n ? n : 1);
	return false;
}

static void send_one(struct tap *t, const struct end *src,
		     const struct end *dst, const struct run *r)
{
	struct iovec iov[1 + RUN_SEGS_MAX];
	struct head head = head_make_udp(&t->ends, src, dst, r,
					 t->offload > OFFLOAD_NONE);

	iov[0].iov_base = head.buf;
	iov[0].iov_len = head.len;
	memcpy(iov + 1, r->slice, r->n_slices * sizeof(*iov));
	write_iov(t, iov, 1U + r->n_slices, TAP_TX_DGRAMS, r->n_segs);
}

void tap_send_run(struct tap *t, const struct end *src, const struct end *dst,
		  const struct run *r)
{
	struct piece p = { .mark = r->mark };
	struct run one;
	uint32_t pos = 0;

	if (r->n_segs == 1 || t->offload == OFFLOAD_USO) {
		send_one(t, src, dst, r);
		return;
	}
	while (run_next(r, &pos, &p.buf, &p.len)) {
		run_start(&one, r->owner, &p);
		send_one(t, src, dst, &one);
	}
}

/* One frame, a segment or a super-frame */
static bool send_segment(struct tap *t, const struct end *src,
			 const struct end *dst, const struct pkt_tcp *tcp,
			 struct mark mark, struct iovec payload, uint32_t seg)
{
	struct head head = head_make_tcp(&t->ends, src, dst, tcp, mark, payload,
					 seg, t->offload > OFFLOAD_NONE);
	struct iovec iov[2] = { { head.buf, head.len }, payload };

	return write_iov(t, iov, payload.iov_len ? 2 : 1, TAP_TX_SEGS, 1);
}

bool tap_send_tcp(struct tap *t, const struct end *src, const struct end *dst,
		  const struct pkt_tcp *tcp, struct mark mark,
		  struct iovec payload, uint32_t seg)
{
	size_t most = t->offload >= OFFLOAD_TSO ? payload.iov_len : seg;
	struct iovec one = { payload.iov_base, most };
	struct pkt_tcp part = *tcp;

	assert(seg || !payload.iov_len);
	part.flags &= ~(TCP_FIN | TCP_PSH);
	while (payload.iov_len > most) {
		if (!send_segment(t, src, dst, &part, mark, one, seg))
			return false;
		part.seq += (uint32_t)most;
		payload.iov_len -= most;
		one.iov_base = (uint8_t *)one.iov_base + most;
	}
	part.flags = tcp->flags;
	one.iov_len = payload.iov_len;
	return send_segment(t, src, dst, &part, mark, one, seg);
}

void tap_send_frame(struct tap *t, const void *l2, uint32_t len)
{
	struct vnet_hdr none = { 0 };
	union {
		const void *in;
		void *out;
	} frame = { .in = l2 };
	struct iovec iov[2] = { { &none, sizeof(none) }, { frame.out, len } };

	write_iov(t, iov, 2, TAP_TX_DGRAMS, 0);
}
