/* pcap.c - frames of the guest's link into a file
 *
 * Problem: a capture is read by people and programs that look for faults, and
 * what passes our link looks faulty to them: checksums are partial, and one
 * frame stands for up to 64 datagrams.
 *
 * Idea: the frame is copied behind its virtio-net header, which tells both, and
 * the copy is made into what would be on a wire. One record is one writev(2):
 * nothing is lost when the process is killed, and the file can be watched while
 * it grows.
 *
 * A partial checksum field holds the folded sum of the pseudo-header, with the
 * length of the whole. So the datagrams of a super-frame need no addresses to
 * be looked up: the difference of the lengths is added to that sum.
 *
 * A pipe may have a reader that is slower than the link, which must not wait.
 * A record that a pipe takes a part of is kept until it takes the rest; while
 * there is a rest, records are lost, and the capture stays whole.
 *
 * Not here: TCP super-frames are recorded as one, and nothing limits the size of
 * the file. */

#include "pcap.h"

#include "be.h"
#include "clock.h"
#include "csum.h"
#include "log.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PCAP_MAGIC 0xa1b2c3d4U /* stamps in microseconds */
#define PCAP_SNAPLEN 262144 /* bytes; none of our frames has as many */
#define PCAP_ETHERNET 1
#define HEADERS_MAX 256 /* bytes of a super-frame that are not payload */
#define L3 sizeof(struct eth_hdr)
#define UDP_LEN sizeof(struct udp_hdr)

/* In the byte order of the machine, which readers tell by the magic number */
struct file_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snaplen, link_type;
};

struct record_head {
	uint32_t s, us, len, wire_len;
};

int pcap_open(struct pcap *p, const char *path)
{
	const struct file_head head = {
		.magic = PCAP_MAGIC,
		.major = 2,
		.minor = 4,
		.snaplen = PCAP_SNAPLEN,
		.link_type = PCAP_ETHERNET,
	};
	struct stat st;
	int rc;

	p->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
		     0600);
	if (p->fd < 0)
		return -errno;
	p->n_rest = 0;
	p->is_pipe = !fstat(p->fd, &st) && S_ISFIFO(st.st_mode);
	errno = ENOSPC; /* of a short write */
	if (write(p->fd, &head, sizeof(head)) == sizeof(head) &&
	    !fcntl(p->fd, F_SETFL, O_WRONLY | O_NONBLOCK))
		return 0;
	rc = -errno;
	close(p->fd);
	p->fd = -1;
	return rc;
}

static bool is_ip6(const uint8_t *l3)
{
	return l3[0] >> 4 == 6;
}

static void end(struct pcap *p, int error)
{
	warn("--pcap: cannot write: %s; recording has ended", strerror(error));
	close(p->fd);
	p->fd = -1;
}

static bool is_later(int error)
{
	return error == EAGAIN || error == EINTR;
}

/* Is nothing left of the record before? Writes it, if it can be. */
static bool is_clear(struct pcap *p)
{
	ssize_t n;

	if (!p->n_rest)
		return true;
	n = write(p->fd, p->rest, p->n_rest);
	if (n < 0 && !is_later(errno))
		end(p, errno);
	if (n <= 0)
		return false;
	p->n_rest -= (uint32_t)n;
	memmove(p->rest, p->rest + n, p->n_rest);
	return !p->n_rest;
}

static void keep_rest(struct pcap *p, const struct iovec *iov, unsigned n,
		      size_t written)
{
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *at = iov[i].iov_base;
		size_t skip = written < iov[i].iov_len ? written :
							 iov[i].iov_len;

		written -= skip;
		if (skip == iov[i].iov_len)
			continue;
		memcpy(p->rest + p->n_rest, at + skip, iov[i].iov_len - skip);
		p->n_rest += (uint32_t)(iov[i].iov_len - skip);
	}
}

/* One record of two slices: headers and what follows; 1 if it is lost. A file
 * that takes a part of it is full.
 * seccomp(forwarder): write writev close clock_gettime */
static unsigned record(struct pcap *p, struct iovec head, struct iovec body)
{
	struct record_head r;
	struct iovec iov[3] = { { &r, sizeof(r) }, head, body };
	struct timespec t;
	ssize_t n;

	if (p->fd < 0 || !is_clear(p))
		return p->fd >= 0;
	clock_gettime(CLOCK_REALTIME, &t);
	r.s = (uint32_t)t.tv_sec;
	r.us = (uint32_t)(t.tv_nsec / 1000);
	r.len = (uint32_t)(head.iov_len + body.iov_len);
	r.wire_len = r.len;
	n = writev(p->fd, iov, 3);
	if (n == (ssize_t)(sizeof(r) + r.len))
		return 0;
	if (n < 0 && is_later(errno))
		return 1;
	if (n > 0 && p->is_pipe)
		keep_rest(p, iov, 3, (size_t)n);
	else
		end(p, n < 0 ? errno : ENOSPC);
	return 0;
}

/* Complete the checksum of a transport header at @l4, @field bytes into it */
static void complete(uint8_t *l4, size_t head_len, const struct iovec *body,
		     size_t field)
{
	struct iovec iov[2] = { { l4, head_len }, *body };
	uint16_t sum = csum_udp(csum_addv(0, iov, 2));

	memcpy(l4 + field, &sum, sizeof(sum));
}

/* Lengths and checksum of an IP header in front of @len bytes; datagram @i of a
 * super-frame counts on from its identification */
static void fix_ip(uint8_t *l3, size_t ip_len, size_t len, uint16_t i)
{
	struct ip4_hdr *ip4 = (struct ip4_hdr *)l3;
	struct ip6_hdr *ip6 = (struct ip6_hdr *)l3;
	uint16_t sum;

	if (is_ip6(l3)) {
		be16_put(&ip6->plen_be,
			 (uint16_t)(ip_len - sizeof(*ip6) + len));
		return;
	}
	be16_put(&ip4->len_be, (uint16_t)(ip_len + len));
	be16_put(&ip4->id_be, (uint16_t)(be16_get(&ip4->id_be) + i));
	ip4->csum_be = 0;
	sum = csum_done(csum_add(0, l3, ip_len));
	memcpy(&ip4->csum_be, &sum, sizeof(sum));
}

/* Datagram @i of a super-frame of @l4_len bytes: a copy of its headers, made
 * right for @body */
static unsigned record_piece(struct pcap *p, const struct vnet_hdr *v,
			     size_t l4_len, const struct iovec *body,
			     uint16_t i)
{
	uint8_t head[HEADERS_MAX];
	uint8_t *l4 = head + v->csum_start;
	uint8_t *sum_at = l4 + offsetof(struct udp_hdr, csum_be);
	size_t len = sizeof(struct udp_hdr) + body->iov_len;
	uint8_t lens[4];
	uint16_t seed;

	memcpy(head, p->buf + VNET_LEN, v->csum_start + UDP_LEN);
	fix_ip(head + L3, v->csum_start - L3, len, i);
	be16_put(l4 + offsetof(struct udp_hdr, len_be), (uint16_t)len);

	be16_put(lens, (uint16_t)~l4_len);
	be16_put(lens + 2, (uint16_t)len);
	seed = csum_fold(csum_add(csum_add(0, sum_at, 2), lens, 4));
	memcpy(sum_at, &seed, sizeof(seed));
	complete(l4, UDP_LEN, body, offsetof(struct udp_hdr, csum_be));
	return record(p, (struct iovec){ head, v->csum_start + UDP_LEN },
		      *body);
}

static unsigned record_super(struct pcap *p, const struct vnet_hdr *v,
			     size_t len)
{
	size_t at = v->csum_start + UDP_LEN;
	uint8_t *l2 = p->buf + VNET_LEN;
	unsigned lost = 0;
	uint16_t i;

	for (i = 0; at < len; i++) {
		struct iovec body = { l2 + at, len - at };

		if (body.iov_len > v->gso_size)
			body.iov_len = v->gso_size;
		lost += record_piece(p, v, len - v->csum_start, &body, i);
		at += body.iov_len;
	}
	return lost;
}

/* A super-frame of UDP whose headers are where they should be, and which the
 * kernel would take? */
static bool is_super(const struct vnet_hdr *v, const uint8_t *l2, size_t len)
{
	size_t ip_min = is_ip6(l2 + L3) ? sizeof(struct ip6_hdr) :
					  sizeof(struct ip4_hdr);

	return v->gso_type == VNET_GSO_UDP_L4 && v->gso_size &&
	       v->csum_start >= L3 + ip_min &&
	       v->csum_start + UDP_LEN <= HEADERS_MAX &&
	       v->csum_start + UDP_LEN < len &&
	       (len - v->csum_start - UDP_LEN) / v->gso_size < PIECE_SEGS_MAX;
}

unsigned pcap_add(struct pcap *p, const struct iovec *iov, unsigned n)
{
	uint8_t *l2 = p->buf + VNET_LEN;
	struct iovec none = { NULL, 0 };
	struct vnet_hdr v;
	size_t len = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (iov[i].iov_len > sizeof(p->buf) - len)
			return 0;
		memcpy(p->buf + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	if (len < VNET_LEN + FRAME_MIN)
		return 0;
	memcpy(&v, p->buf, sizeof(v));
	len -= VNET_LEN;
	if (v.flags & VNET_NEEDS_CSUM && is_super(&v, l2, len))
		return record_super(p, &v, len);
	if (v.flags & VNET_NEEDS_CSUM && v.csum_start < len &&
	    v.csum_offset + 2U <= len - v.csum_start)
		complete(l2 + v.csum_start, len - v.csum_start, &none,
			 v.csum_offset);
	return record(p, (struct iovec){ l2, len }, none);
}
