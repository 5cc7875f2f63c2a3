/* wire.h - headers as they stand in a frame
 * Knows: layouts.  Does not know: their rules.
 * Fields end in _be where they are big-endian integers; read them with be.h or
 * byte-swap. All structs are packed: a frame's bytes have no alignment. What
 * one module alone reads stands there: arp.c, ndp.c, dhcp.c and so on.
 * Sources: RFC 791, 768, 9293, 8200; linux/virtio_net.h. */

#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE __attribute__((packed))

#define ETH_ALEN 6
#define ETH_P_IP 0x0800
#define ETH_P_ARP 0x0806
#define ETH_P_IPV6 0x86DD

/** struct vnet_hdr - struct virtio_net_hdr, host order (legacy tap default) */
struct vnet_hdr {
	uint8_t flags;
	uint8_t gso_type;
	uint16_t hdr_len;
	uint16_t gso_size;
	uint16_t csum_start;
	uint16_t csum_offset;
} WIRE;

#define VNET_NEEDS_CSUM 1
#define VNET_DATA_VALID 2
#define VNET_GSO_NONE 0
#define VNET_GSO_TCPV4 1
#define VNET_GSO_TCPV6 4
#define VNET_GSO_UDP_L4 5 /* Linux 6.2; missing from older headers */
#define VNET_GSO_ECN 0x80 /* beside a TCP type: RFC 3168 is in use */

struct mac {
	uint8_t b[ETH_ALEN];
};

struct eth_hdr {
	struct mac dst, src;
	uint16_t type_be;
} WIRE;

#define ARP_REQUEST 1
#define ARP_REPLY 2

struct ip4_hdr {
	uint8_t version_ihl, tos;
	uint16_t len_be;
	uint16_t id_be;
	uint16_t frag_be;
	uint8_t ttl, proto;
	uint16_t csum_be;
	uint8_t src[4], dst[4];
} WIRE;

#define IP4_DF 0x4000
#define IP4_MF 0x2000
#define IP4_OFFSET 0x1fff /* in units of 8 bytes */

struct ip6_hdr {
	uint32_t vtc_flow_be;
	uint16_t plen_be;
	uint8_t next, hops;
	uint8_t src[16], dst[16];
} WIRE;

/** struct ip6_frag - RFC 8200 4.5; offset and M flag share a field */
struct ip6_frag {
	uint8_t next;
	uint8_t reserved;
	uint16_t off_be;
	uint32_t id_be;
} WIRE;

struct udp_hdr {
	uint16_t src_be, dst_be, len_be, csum_be;
} WIRE;

#define UDP_CSUM_OFFSET offsetof(struct udp_hdr, csum_be)

/** struct tcp_hdr - RFC 9293 3.1; @doff: header's words of 4 bytes << 4 */
struct tcp_hdr {
	uint16_t src_be, dst_be;
	uint32_t seq_be, ack_be;
	uint8_t doff, flags;
	uint16_t window_be, csum_be, urgent_be;
} WIRE;

#define TCP_CSUM_OFFSET offsetof(struct tcp_hdr, csum_be)

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10
#define TCP_URG 0x20
#define TCP_ECE 0x40 /* RFC 3168 */
#define TCP_CWR 0x80

#define TCP_OPT_END 0
#define TCP_OPT_NOP 1
#define TCP_OPT_MSS 2
#define TCP_OPT_WSCALE 3 /* RFC 7323 2.2 */

#define ICMP6_NS 135
#define ICMP6_NA 136

#define PROTO_ICMP 1
#define PROTO_IGMP 2
#define PROTO_TCP 6
#define PROTO_UDP 17
#define PROTO_ICMP6 58

#endif
