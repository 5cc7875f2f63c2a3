/* tso_read.c - what a guest's TCP super-frames look like when they are read
 *
 * Proves: with TUN_F_TSO4 and TUN_F_TSO6, one read returns a super-frame of up
 * to an IP packet: gso_type by family, gso_size the far end's MSS, a partial
 * checksum, which is that of the pseudo-header over the whole length, and an
 * IP length that covers it all. hdr_len is at least that of the headers. A
 * SYN has gso_type 0; the last super-frame may carry FIN. Without offload come
 * segments with full checksums. The far end is this file. */

#include "lib.h"

#include <netinet/tcp.h>

#define MSS 1400 /* what the far end takes: less than the link */
#define BIG 60000 /* that close to 64 KiB sizes come */
#define TOTAL (2 * 1024 * 1024)
#define FAR_SEQ 5000u
#define PORT 7000

/** struct link - a tap, and whom the kernel connects to over it
 * @ip: bytes of an IP header     @gso: type of its super-frames */
struct link {
	int fd, family;
	uint32_t ip;
	uint8_t gso;
};

/** struct segment - as it was read
 * @frame, @len: without virtio-net header     @head: bytes before payload */
struct segment {
	struct virtio_net_hdr v;
	struct tcphdr tcp;
	uint8_t frame[MAX_FRAME];
	uint32_t len, head;
};

static struct segment got;

static uint32_t pseudo(const struct link *l, const uint8_t *ip, uint32_t len)
{
	uint32_t at = l->family == AF_INET ? 12 : 8;

	return sum(ip + at, l->ip - at, IPPROTO_TCP + len);
}

/* The next segment of TCP of this family, within a second */
static bool next(const struct link *l)
{
	static uint8_t raw[10 + MAX_FRAME];
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	uint8_t *ip = got.frame + 14;

	while (poll(&p, 1, 1000) == 1) {
		long n = read(l->fd, raw, sizeof(raw));

		if (n < 10 + 14 + 40)
			continue;
		memcpy(&got.v, raw, 10);
		got.len = (uint32_t)n - 10;
		memcpy(got.frame, raw + 10, got.len);
		if (*ip >> 4 != (l->family == AF_INET ? 4 : 6) ||
		    ip[l->family == AF_INET ? 9 : 6] != IPPROTO_TCP)
			continue;
		memcpy(&got.tcp, ip + l->ip, sizeof(got.tcp));
		got.head = 14 + l->ip + got.tcp.th_off * 4u;
		return true;
	}
	return false;
}

/* Write the far end's answer to the segment that was read */
static void answer(const struct link *l, uint8_t flags)
{
	static const uint8_t mss[] = { 2, 4, MSS >> 8, MSS & 0xff, 1, 3, 3, 7 };
	uint32_t more = flags & TH_SYN ? sizeof(mss) : 0, len = 20 + more;
	uint32_t got_len = got.len - got.head,
		 half = l->family == AF_INET ? 4 : 16;
	uint8_t buf[10 + 14 + 40 + 28] = { 0 }, *ip = buf + 24, *tcp;
	struct virtio_net_hdr v = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				    .csum_offset = 16 };
	struct tcphdr t = { .th_sport = got.tcp.th_dport,
			    .th_dport = got.tcp.th_sport,
			    .th_off = (uint8_t)(len / 4) & 0xf,
			    .th_flags = flags,
			    .th_win = htons(65535) };

	if (got.tcp.th_flags & (TH_SYN | TH_FIN))
		got_len++;
	t.th_seq = htonl(FAR_SEQ + !(flags & TH_SYN));
	t.th_ack = htonl(ntohl(got.tcp.th_seq) + got_len);
	tcp = ip + l->ip;
	memcpy(buf + 10, got.frame + 6, 6);
	memcpy(buf + 16, got.frame, 6);
	memcpy(buf + 22, got.frame + 12, 2 + l->ip);
	memcpy(tcp - 2 * half, got.frame + 14 + l->ip - half, half);
	memcpy(tcp - half, got.frame + 14 + l->ip - 2 * half, half);
	if (l->family == AF_INET) {
		memset(ip + 10, 0, 2);
		ip[2] = 0;
		ip[3] = (uint8_t)(20 + len);
		t.th_sum = htons((uint16_t)~sum(ip, 20, 0));
		memcpy(ip + 10, &t.th_sum, 2);
	} else {
		ip[4] = 0;
		ip[5] = (uint8_t)len;
	}
	t.th_sum = htons((uint16_t)pseudo(l, ip, len));
	v.csum_start = (uint16_t)(14 + l->ip);
	memcpy(buf, &v, 10);
	memcpy(tcp, &t, sizeof(t));
	memcpy(tcp + 20, mss, more);
	must(write(l->fd, buf, 24 + l->ip + len) == 24 + l->ip + len);
}

/* Addresses of both families, and no neighbours to be asked for */
static void up(void)
{
	struct {
		struct in6_addr addr;
		uint32_t plen;
		int ifindex;
	} six = { .addr = { { { 0xfd, [15] = 1 } } }, .plen = 64 };
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { .ifr_name = "t" };

	must(s >= 0);
	must(!ioctl(s, SIOCGIFFLAGS, &r));
	r.ifr_flags |= IFF_NOARP;
	must(!ioctl(s, SIOCSIFFLAGS, &r));
	put("/proc/sys/net/ipv6/conf/t/disable_ipv6", "0", 0);
	six.ifindex = (int)if_nametoindex("t");
	must(!ioctl(s, SIOCSIFADDR, &six));
	close(s);
}

/* Connected to the far end; its bytes tell where they belong */
static int begin(const struct link *l)
{
	struct sockaddr_in v4 = at("10.9.0.2", PORT);
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_port = htons(PORT),
				   .sin6_addr = { { { 0xfd, [15] = 2 } } } };
	int s = socket(l->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0);

	must(s >= 0 && !set_int(s, SOL_SOCKET, SO_SNDBUF, 1 << 20));
	must(l->family == AF_INET ? connect(s, SA(&v4)) : connect(s, SA(&v6)));
	must(errno == EINPROGRESS && next(l) && !got.v.gso_type);
	answer(l, TH_SYN | TH_ACK);
	must(next(l));
	return s;
}

static uint8_t byte_at(uint32_t at)
{
	return (uint8_t)(at * 7 + (at >> 8));
}

static uint32_t fill(int s, uint32_t from)
{
	static uint8_t data[65536];
	uint32_t len = TOTAL - from < sizeof(data) ? TOTAL - from :
						     sizeof(data);
	long n;

	for (uint32_t i = 0; i < len; i++)
		data[i] = byte_at(from + i);
	n = send(s, data, len, 0);
	must(n >= 0 || errno == EAGAIN);
	return from + (n > 0 ? (uint32_t)n : 0);
}

/** struct seen - of a transfer: segments, those that are wrong in some way, the
 * largest payload, how many super-frames; FIN in one */
struct seen {
	unsigned n, bad_bytes, bad_seq, bad_type, bad_csum, bad_len, bad_head;
	unsigned n_super, n_partial;
	uint32_t largest;
	bool fin_in_super;
};

static void look(const struct link *l, uint32_t iss, uint32_t at,
		 struct seen *ret)
{
	uint8_t *ip = got.frame + 14, *tcp = ip + l->ip;
	uint32_t len = got.len - got.head, l4 = got.len - 14 - l->ip, ip_len;
	bool is_super = len > MSS, partial = got.v.flags;
	uint32_t csum = pseudo(l, ip, l4);

	ret->n++;
	ret->n_super += is_super;
	ret->n_partial += partial;
	if (len > ret->largest)
		ret->largest = len;
	for (uint32_t i = 0; i < len; i++)
		if (got.frame[got.head + i] != byte_at(at + i)) {
			ret->bad_bytes++;
			break;
		}
	ret->bad_seq += ntohl(got.tcp.th_seq) != iss + at;
	ret->bad_type += got.v.gso_type != (is_super ? l->gso : 0) ||
			 (is_super && got.v.gso_size != MSS);
	ret->bad_csum += partial ? got.v.flags != VIRTIO_NET_HDR_F_NEEDS_CSUM ||
					   got.v.csum_start != 14 + l->ip ||
					   got.v.csum_offset != 16 ||
					   ntohs(got.tcp.th_sum) != csum :
				   sum(tcp, l4, csum) != 0xffff;
	ip += l->family == AF_INET ? 2 : 4;
	ip_len = ((uint32_t)ip[0] << 8 | ip[1]) +
		 (l->family == AF_INET ? 0 : l->ip);
	ret->bad_len += ip_len != got.len - 14;
	ret->bad_head += is_super && got.v.hdr_len < got.head;
	ret->fin_in_super |= is_super && got.tcp.th_flags & TH_FIN;
}

/* All bytes, and the end */
static struct seen transfer(const struct link *l)
{
	struct seen seen = { 0 };
	int s = begin(l);
	uint32_t iss = ntohl(got.tcp.th_seq), sent = 0, at = 0;
	bool is_over = false;

	while (!is_over) {
		if (sent < TOTAL) {
			sent = fill(s, sent);
			must(sent < TOTAL || !shutdown(s, SHUT_WR));
		}
		if (!next(l))
			break;
		look(l, iss, at, &seen);
		at += got.len - got.head;
		is_over = got.tcp.th_flags & TH_FIN;
		answer(l, TH_ACK);
	}
	is_int(at, TOTAL, "all bytes");
	ok(is_over, "and the end");
	close(s);
	return seen;
}

static void both(const char *name, const struct link *l, bool is_offered)
{
	struct seen s = transfer(l);

	printf("# %s, %s: %u segments, %u super-frames, the largest of %u%s\n",
	       name, is_offered ? "TSO" : "nothing offered", s.n, s.n_super,
	       s.largest, s.fin_in_super ? ", one with FIN" : "");
	is_int(s.bad_bytes, 0, "their bytes");
	is_int(s.bad_seq, 0, "sequence numbers");
	is_int(s.bad_type, 0, "type and segment size");
	is_int(s.bad_csum, 0, "checksums");
	is_int(s.n_partial, is_offered ? s.n : 0, "partial ones");
	is_int(s.bad_len, 0, "IP lengths");
	is_int(s.bad_head, 0, "hdr_len covers the headers");
	if (is_offered)
		ok(s.largest > BIG, "nearly 64 KiB in one read");
	else
		is_int(s.n_super, 0, "no super-frame");
}

int main(void)
{
	struct link v4 = { .family = AF_INET,
			   .ip = 20,
			   .gso = VIRTIO_NET_HDR_GSO_TCPV4 };
	struct link v6 = { .family = AF_INET6,
			   .ip = 40,
			   .gso = VIRTIO_NET_HDR_GSO_TCPV6 };

	enter();
	v4.fd = v6.fd = tap_up(1500);
	up();
	both("IPv4", &v4, false);
	both("IPv6", &v6, false);
	must(!ioctl(v4.fd, TUNSETOFFLOAD,
		    TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN));
	both("IPv4", &v4, true);
	both("IPv6", &v6, true);
	return done();
}
