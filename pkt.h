/* pkt.h - frames to addresses, ports and payload
 * Knows: Ethernet, IPv4, IPv6, UDP headers.
 * Does not know: flows, sockets, where a frame came from; the way back (head.h).
 * Sources: RFC 791, 768, 8200, 2460 (extension headers), 1624;
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
	PKT_ICMP, /* body from the ICMP or ICMPv6 header on */
	PKT_OTHER, /* another transport: body from its header on */
	PKT_FRAGMENT, /* frag is set; body is the fragment's data */
	PKT_ARP, /* body from the ARP header on */
	PKT_UNKNOWN_TYPE, /* an EtherType we do not carry */
	PKT_SHORT, /* ends before its headers do */
	PKT_BAD_IP, /* version, header length or total length */
	PKT_BAD_L4, /* UDP length; segment size that does not fit */
	PKT_BAD_CSUM, /* a full checksum that does not verify */
	PKT_BAD_ADDR, /* loopback, unspecified or multicast source and the like */
	PKT_BAD_PORT, /* UDP port 0 */
	PKT_WHAT_COUNT
};

/** struct pkt_frag - where a fragment belongs, RFC 791 3.2, RFC 8200 4.5
 * @id: identification   @off: bytes   @more: more fragments follow */
struct pkt_frag {
	uint32_t id, off;
	bool more;
};

/** struct pkt - a frame taken apart
 * @src, @dst: network-layer ends; ports are 0 unless PKT_UDP; scope is 0
 * @src_mac:   who sent the frame on the link
 * @proto:     transport protocol number
 * @body:      see enum pkt_what; mark is set for everything that is IP
 * @frag:      valid for PKT_FRAGMENT only */
struct pkt {
	struct end src, dst;
	struct mac src_mac;
	uint8_t proto;
	struct piece body;
	struct pkt_frag frag;
};

/**
 * pkt_parse() - take a frame apart
 * @f: the frame; its headers are read once, nothing is written but a partial
 *     checksum that belongs inside the payload: that one is completed
 *
 * Verifies every length, IPv4's header checksum, and the UDP checksum unless
 * the virtio-net header says that it is partial (NEEDS_CSUM) or checked
 * (DATA_VALID). UDP checksum 0 passes for IPv4 (RFC 768) and is refused for
 * IPv6 (RFC 8200 8.1).
 * A GSO_UDP_L4 frame becomes one piece with body.seg = gso_size.
 * Source and destination must not be loopback, a source not multicast, and an
 * IPv6 header must not hold mapped addresses.
 * 0.0.0.0 and :: as source are PKT_BAD_ADDR for UDP only, and there 0.0.0.0
 * passes to port 67: a DHCP client has no address yet.
 * Returns: what it is; @ret_pkt is complete only for the first five values
 */
enum pkt_what pkt_parse(const struct frame *f, struct pkt *ret_pkt);

/**
 * pkt_udp() - take apart a transport payload that was reassembled
 * @p: src, dst, proto and mark are set; body is the datagram from its UDP
 *     header on
 * Returns: as pkt_parse(); on PKT_UDP ports and body are replaced
 */
enum pkt_what pkt_udp(struct pkt *p);

#endif
