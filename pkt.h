/* pkt.h - frames to addresses, ports and payload
 * Knows: Ethernet, IPv4, IPv6, UDP, TCP headers.
 * Does not know: flows, sockets, where a frame came from; the way back (head.h).
 * Sources: RFC 791, 768, 9293, 7323, 8200, 2460 (extension headers), 1624;
 * linux/virtio_net.h for the header in front of a frame. */

#ifndef PKT_H
#define PKT_H

#include "addr.h"
#include "run.h"
#include "wire.h"

/** struct frame - one frame as a door delivered it
 * @vnet: its virtio-net header    @l2: Ethernet header, borrowed and writable
 * @len:  bytes from @l2 on */
struct frame {
	struct vnet_hdr vnet;
	uint8_t *l2;
	uint32_t len;
};

/** enum pkt_what - what a frame turned out to be, or why it is refused */
enum pkt_what {
	PKT_UDP, /* src, dst with ports; body is the UDP payload */
	PKT_TCP, /* src, dst with ports, tcp; body is the TCP payload */
	PKT_ICMP, /* body from the ICMP or ICMPv6 header on */
	PKT_OTHER, /* another transport: body from its header on */
	PKT_FRAGMENT, /* frag is set; body is the fragment's data */
	PKT_ARP, /* body from the ARP header on */
	PKT_UNKNOWN_TYPE, /* an EtherType we do not carry */
	PKT_SHORT, /* ends before its headers do */
	PKT_BAD_IP, /* version, header length or total length */
	PKT_BAD_L4, /* UDP length, TCP data offset; segments that do not fit */
	PKT_BAD_CSUM, /* a full checksum that does not verify */
	PKT_BAD_ADDR, /* loopback, unspecified or multicast source and the like */
	PKT_BAD_PORT, /* port 0 */
	PKT_WHAT_COUNT
};

/** struct pkt_frag - where a fragment belongs, RFC 791 3.2, RFC 8200 4.5
 * @id: identification   @off: bytes   @more: more fragments follow */
struct pkt_frag {
	uint32_t id, off;
	bool more;
};

#define TCP_NO_WSCALE 0xff
#define TCP_WSCALE_MAX 14 /* RFC 7323 2.3 */

/** struct pkt_tcp - what a TCP header says, RFC 9293 3.1
 * @seq, @ack: host order         @window: as it stands, not scaled
 * @mss:    option of a SYN, bytes; 0 none
 * @flags:  TCP_FIN and so on
 * @wscale: option of a SYN, bits 0..TCP_WSCALE_MAX; TCP_NO_WSCALE none */
struct pkt_tcp {
	uint32_t seq, ack;
	uint16_t window, mss;
	uint8_t flags, wscale;
};

/** struct pkt - a frame taken apart
 * @src, @dst: network-layer ends; ports are 0 but for UDP and TCP; scope is 0
 * @src_mac:   who sent the frame on the link
 * @proto:     transport protocol number
 * @body:      see enum pkt_what; mark is set for everything that is IP
 * @tcp:       valid for PKT_TCP only
 * @frag:      valid for PKT_FRAGMENT only */
struct pkt {
	struct end src, dst;
	struct mac src_mac;
	uint8_t proto;
	struct piece body;
	struct pkt_tcp tcp;
	struct pkt_frag frag;
};

/**
 * pkt_parse() - take a frame apart
 * @f: the frame; its headers are read once, nothing is written but a partial
 *     checksum that belongs inside the payload: that one is completed
 *
 * Verifies every length, IPv4's header checksum, and that of UDP or TCP unless
 * the virtio-net header says that it is partial (NEEDS_CSUM) or checked
 * (DATA_VALID). UDP checksum 0 passes for IPv4 (RFC 768) and is refused for
 * IPv6 (RFC 8200 8.1).
 * A GSO_UDP_L4 frame becomes one piece with body.seg = gso_size. TCP is a stream
 * of bytes: of a super-frame too, body.seg is 0. TCP options are read up to the
 * first whose length is wrong (RFC 9293 3.1, MUST-7).
 * Source and destination must not be loopback, a source not multicast, and an
 * IPv6 header must not hold mapped addresses.
 * 0.0.0.0 and :: as source are PKT_BAD_ADDR for UDP and TCP only, and for UDP
 * 0.0.0.0 passes to port 67: a DHCP client has no address yet. To TCP, so is a
 * multicast or broadcast destination (RFC 9293 3.9.2.3, MUST-57).
 * Returns: what it is; @ret_pkt is complete only for the first six values
 */
enum pkt_what pkt_parse(const struct frame *f, struct pkt *ret_pkt);

/**
 * pkt_transport() - take apart a transport payload that was reassembled
 * @p: src, dst, proto and mark are set; body from the transport header on
 * Returns: as pkt_parse(); on PKT_UDP and PKT_TCP ports and body are replaced
 */
enum pkt_what pkt_transport(struct pkt *p);

#endif
