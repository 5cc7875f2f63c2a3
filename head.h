/* head.h - headers in front of what goes to the guest
 * Knows: virtio-net, Ethernet, IPv4, IPv6, UDP, TCP headers, as they are written.
 * Does not know: flows, doors, why something is sent; how frames are read
 * (pkt.h).
 * Sources: RFC 791, 768, 9293, 8200, 1112 6.4 and 2464 7 (groups on the link);
 * linux/virtio_net.h for the header in front of a frame. */

#ifndef HEAD_H
#define HEAD_H

#include "addr.h"
#include "limits.h"
#include "pkt.h"
#include "run.h"
#include "wire.h"

/** struct head_link - Ethernet addresses of both ends of the guest's link */
struct head_link {
	struct mac ours, guest;
};

/** struct head - vnet, Ethernet, IP and transport headers; @len: bytes */
struct head {
	uint8_t buf[HEAD_MAX];
	uint32_t len;
};

/**
 * head_make_udp() - headers for UDP payload towards the guest
 * @link: MAC addresses          @src, @dst: of one family, with ports
 * @r:    payload; more than one datagram makes a GSO_UDP_L4 super-frame
 * @partial: leave the UDP checksum to the receiver (NEEDS_CSUM); if false it
 *           is computed here over the whole payload, @r holds one datagram
 */
struct head head_make_udp(const struct head_link *link, const struct end *src,
			  const struct end *dst, const struct run *r,
			  bool partial);

/**
 * head_make_tcp() - headers for a TCP segment towards the guest
 * @link, @src, @dst, @partial: as for UDP
 * @tcp:  header; @mss (not 0) and @wscale (not TCP_NO_WSCALE) are written as
 *        options if TCP_SYN is set
 * @mark: TOS, hops; "don't fragment" is always set
 * @payload: borrowed, only read for a full checksum; NULL and 0 if none
 * @seg: bytes of a segment; more payload makes a GSO_TCPV4 or GSO_TCPV6
 *       super-frame, whose checksum is always partial
 */
struct head head_make_tcp(const struct head_link *link, const struct end *src,
			  const struct end *dst, const struct pkt_tcp *tcp,
			  struct mark mark, struct iovec payload, uint32_t seg,
			  bool partial);

/** struct head_ip - what an IP header says
 * @src, @dst: of one family      @mark: header bits; hops 0: 255
 * @proto:     of the transport behind it */
struct head_ip {
	struct addr src, dst;
	struct mark mark;
	uint8_t proto;
};

#define HEAD_IP_MAX 40 /* bytes of an IPv6 header, the longer one */

/** head_put_ip() - write an IP header without options or extensions
 * @len: bytes behind it      Returns: bytes written, 20 or 40 */
uint32_t head_put_ip(uint8_t *buf, const struct head_ip *ip, uint32_t len);

#define HEAD_ICMP6 (14 + 40) /* bytes before an ICMPv6 header in a frame */

/**
 * head_wrap_icmp6() - Ethernet and IPv6 headers around an ICMPv6 message
 * @buf: room for HEAD_ICMP6 bytes, then the message, whose checksum field is
 *       filled    @len: bytes of the message
 * Hop limit 255 (RFC 4861 7.1). Returns: bytes of the frame
 */
uint32_t head_wrap_icmp6(uint8_t *buf, const struct head_link *link,
			 const struct addr *src, const struct addr *dst,
			 uint32_t len);

#endif
