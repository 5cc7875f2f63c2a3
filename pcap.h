/* pcap.h - frames of the guest's link into a file
 * Knows: the classic libpcap file format, virtio-net headers.
 * Does not know: which frames, which link.
 * Sources: pcap-savefile(5); linux/virtio_net.h. */

#ifndef PCAP_H
#define PCAP_H

#include "limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define PCAP_HEAD 16 /* bytes in front of each frame of the file */

/** struct pcap - a capture
 * @fd:  file, -1 if there is none or writing failed
 * @is_pipe: it may take a part of a record
 * @buf: the frame at hand with its virtio-net header
 * @rest, @n_rest: what a pipe has not taken yet of the last record */
struct pcap {
	int fd;
	bool is_pipe;
	uint32_t n_rest;
	uint8_t buf[VNET_LEN + FRAME_MAX];
	uint8_t rest[PCAP_HEAD + FRAME_MAX];
};

/** pcap_open() - begin a file (mode 0600, truncated), or wait for the reader of
 * a FIFO; from then on nothing waits
 * Returns: 0; -errno with @p->fd -1 */
int pcap_open(struct pcap *p, const char *path);

/**
 * pcap_add() - record one frame, as of now
 * @iov, @n: the frame behind its virtio-net header; not changed
 *
 * A partial checksum is completed in the file, and a super-frame of UDP is
 * recorded as the datagrams it stands for. The first failure to write ends the
 * capture with a warning: a file cut in a record could not be continued.
 * Returns: records lost, since the reader of a pipe was too slow
 */
unsigned pcap_add(struct pcap *p, const struct iovec *iov, unsigned n);

#endif
