/* pcap.h - frames of the guest's link into a file
 * Knows: the classic libpcap file format, virtio-net headers.
 * Does not know: which frames, which link.
 * Sources: pcap-savefile(5); linux/virtio_net.h. */

#ifndef PCAP_H
#define PCAP_H

#include "limits.h"

#include <stdint.h>
#include <sys/uio.h>

/** struct pcap - a capture
 * @fd:  file, -1 if there is none or writing failed
 * @buf: the frame at hand with its virtio-net header */
struct pcap {
	int fd;
	uint8_t buf[VNET_LEN + FRAME_MAX];
};

/** pcap_open() - begin a file (mode 0600, truncated)
 * Returns: 0; -errno with @p->fd -1 */
int pcap_open(struct pcap *p, const char *path);

/**
 * pcap_add() - record one frame, as of now
 * @iov, @n: the frame behind its virtio-net header; not changed
 *
 * A partial checksum is completed in the file, and a super-frame of UDP is
 * recorded as the datagrams it stands for. The first failure to write ends the
 * capture with a warning: a file cut in a record could not be continued.
 */
void pcap_add(struct pcap *p, const struct iovec *iov, unsigned n);

#endif
