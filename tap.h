/* tap.h - the guest's link: frames with a virtio-net header
 * Knows: tun/tap devices, sockets that keep message boundaries (--fd).
 * Does not know: what is in a frame beyond its virtio-net header.
 * Sources: linux/if_tun.h, Documentation/networking/tuntap.rst. */

#ifndef TAP_H
#define TAP_H

#include "limits.h"
#include "pcap.h"
#include "head.h"
#include "pkt.h"
#include "stats.h"

/** enum offload - what the link may leave to us and we to it, ascending
 * none: full checksums, single datagrams     csum: partial checksums
 * tso:  and TCP super-frames                 uso: and UDP super-frames */
enum offload { OFFLOAD_NONE, OFFLOAD_CSUM, OFFLOAD_TSO, OFFLOAD_USO };

/** struct tap - one open link
 * @fd:      non-blocking       @offload: what is in use
 * @ends:    MAC addresses; @ends.guest follows what the guest sends
 * @frame, @n: frames of the last tap_recv(), valid until the next
 * @stats:   where frames and drops are counted, borrowed
 * @pcap:    where frames are recorded, borrowed; NULL: nowhere */
struct tap {
	int fd;
	enum offload offload;
	struct head_link ends;
	struct frame frame[TAP_FRAMES];
	unsigned n;
	struct stats *stats;
	struct pcap *pcap;
	uint8_t arena[TAP_ARENA];
};

/**
 * tap_tun_open() - create a tap device in the namespace of the caller
 * @ifname: wished name
 * @ret_what: on failure, the step that failed: a path or an ioctl's name
 * Returns: descriptor, non-blocking and CLOEXEC, with VNET_LEN headers and
 * nothing offloaded; or -errno
 */
int tap_tun_open(const char *ifname, const char **ret_what);

/**
 * tap_init() - take a descriptor into use and find out what it can offload
 * @fd:   tun descriptor or SOCK_SEQPACKET socket, kept
 * @most: highest offload to try
 * @ends: MAC addresses at start
 */
void tap_init(struct tap *t, int fd, enum offload most,
	      const struct head_link *ends, struct stats *stats);

/**
 * tap_recv() - read what is queued, up to one round
 * Returns: number of frames now in @t->frame; 0: nothing queued; -errno: the
 * link is gone for good (-EBADFD: device deleted; -EPIPE: peer closed)
 */
int tap_recv(struct tap *t);

/**
 * tap_send_run() - send UDP datagrams to the guest, as one frame if the link
 * takes super-frames, else one by one; what fails is counted
 */
void tap_send_run(struct tap *t, const struct end *src, const struct end *dst,
		  const struct run *r);

/**
 * tap_send_tcp() - send a part of a TCP stream to the guest
 * @src, @dst, @tcp, @mark: as for head_make_tcp()
 * @payload: bytes from @tcp->seq on, borrowed; NULL and 0 if none
 * @seg:     bytes of one segment, not 0 if there is payload
 * One super-frame if the link takes them, which must fit an IP packet; else
 * segments, of which only the last has FIN and PSH.
 * Returns: false if a frame was not taken: it is counted, the rest not tried
 */
bool tap_send_tcp(struct tap *t, const struct end *src, const struct end *dst,
		  const struct pkt_tcp *tcp, struct mark mark,
		  struct iovec payload, uint32_t seg);

/** tap_send_frame() - send one whole frame with full checksums */
void tap_send_frame(struct tap *t, const void *l2, uint32_t len);

#endif
