/* tso_write.c - a TCP super-frame may be written whatever was offered
 *
 * Proves: a GSO_TCPV4 frame written to a tap without any TUNSETOFFLOAD is cut
 * into segments of gso_size bytes with sequence numbers of their own, FIN and
 * PSH on the last, and right checksums, if its partial checksum is that of the
 * pseudo-header with the length of the whole. It may fill an IPv4 packet. Seen
 * by having the kernel forward it, back over the same tap. */

#include "lib.h"

#include <netinet/tcp.h>

#define HEAD 54 /* Ethernet, IPv4 and TCP headers */
#define SEG 1460
#define SEQ 0xfffffc00u
#define LARGEST (65535 - 40)

/* To 10.9.0.3, which is behind the same tap */
static int forwarding(void)
{
	struct sockaddr_in far = at("10.9.0.3", 0);
	struct arpreq arp = { .arp_flags = ATF_COM | ATF_PERM, .arp_dev = "t" };
	int fd = tap_up(1500),
	    s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(&arp.arp_pa, &far, sizeof(far));
	arp.arp_ha.sa_family = ARPHRD_ETHER;
	memcpy(arp.arp_ha.sa_data, "\2\0\0\0\0\3", 6);
	must(!ioctl(s, SIOCSARP, &arp));
	close(s);
	put("/proc/sys/net/ipv4/ip_forward", "1", 0);
	put("/proc/sys/net/ipv4/conf/all/send_redirects", "0", 0);
	put("/proc/sys/net/ipv4/conf/t/send_redirects", "0", 0);
	return fd;
}

static long write_super(int fd, uint32_t len)
{
	static uint8_t buf[10 + MAX_FRAME];
	uint8_t *ip = buf + 10 + 14;
	struct virtio_net_hdr v = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				    .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
				    .gso_size = SEG,
				    .hdr_len = HEAD,
				    .csum_start = 34,
				    .csum_offset = 16 };
	struct iphdr h = { .version = 4, .ihl = 5, .ttl = 64, .protocol = 6 };
	struct tcphdr t = { .th_sport = htons(9),
			    .th_dport = htons(5000),
			    .th_seq = htonl(SEQ),
			    .th_off = 5,
			    .th_flags = TH_ACK | TH_PUSH | TH_FIN };

	h.tot_len = htons((uint16_t)(40 + len));
	h.frag_off = htons(IP_DF);
	h.saddr = inet_addr("10.9.0.2");
	h.daddr = inet_addr("10.9.0.3");
	h.check = htons((uint16_t)~sum((uint8_t *)&h, sizeof(h), 0));
	memcpy(ip, &h, sizeof(h));
	t.th_sum = htons((uint16_t)sum(ip + 12, 8, 6 + 20 + len));
	memcpy(buf, &v, 10);
	memcpy(buf + 10, "\2\0\0\0\0\1\2\0\0\0\0\2\x8\0", 14);
	memcpy(ip + 20, &t, sizeof(t));
	for (uint32_t i = 0; i < len; i++)
		ip[40 + i] = (uint8_t)(i * 7);
	return write(fd, buf, 10 + HEAD + len);
}

/* One segment, @at bytes into the payload of @len; returns its payload */
static uint32_t read_segment(int fd, uint32_t at, uint32_t len)
{
	static uint8_t buf[MAX_FRAME];
	struct virtio_net_hdr v;
	struct tcphdr t;
	uint8_t *ip = buf + 14;
	uint32_t want = len - at < SEG ? len - at : SEG, wrong = 0;
	bool is_last = at + want == len;

	if (tap_read(fd, buf, &v) != (long)(HEAD + want))
		return 0;
	memcpy(&t, ip + 20, sizeof(t));
	for (uint32_t i = 0; i < want; i++)
		wrong += ip[40 + i] != (uint8_t)((at + i) * 7);
	ok(!v.flags && !v.gso_type && !wrong, "at %u: a segment", at);
	is_int(ntohl(t.th_seq), SEQ + at, "sequence number");
	is_int(t.th_flags, is_last ? TH_ACK | TH_PUSH | TH_FIN : TH_ACK,
	       "flags");
	is_int(sum(ip + 20, 20 + want, sum(ip + 12, 8, 6 + 20 + want)), 0xffff,
	       "checksum");
	return want;
}

int main(void)
{
	static const uint32_t len[] = { 4000, SEG + 1, 2 * SEG, LARGEST };
	uint32_t at, n;
	int fd;

	enter();
	fd = forwarding();
	for (unsigned i = 0; i < sizeof(len) / sizeof(*len); i++) {
		is_int(write_super(fd, len[i]), 10 + HEAD + len[i], "written");
		for (at = 0; at < len[i]; at += n) {
			n = read_segment(fd, at, len[i]);
			if (!n)
				break;
		}
		is_int(at, len[i], "all bytes of %u", len[i]);
	}
	return done();
}
