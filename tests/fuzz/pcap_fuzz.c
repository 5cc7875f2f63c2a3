/* pcap_fuzz.c - whatever the frame, the file is whole records, and they hold no
 * fewer bytes than the frame; input as for pkt_fuzz */

#include "pcap.h"

#include "frames.h"

#include <sys/mman.h>
#include <unistd.h>

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes of frames in the file */
static size_t read_back(int fd)
{
	static uint8_t text[1 << 20];
	ssize_t len = pread(fd, text, sizeof(text), 0);
	size_t sum = 0, at = 0;
	uint32_t head[4];

	must(len >= 0 && (size_t)len < sizeof(text));
	while (at < (size_t)len) {
		must((size_t)len - at >= sizeof(head));
		memcpy(head, text + at, sizeof(head));
		must(head[2] == head[3] && head[2] >= FRAME_MIN);
		at += sizeof(head) + head[2];
		sum += head[2];
	}
	must(at == (size_t)len);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pcap pcap;
	struct iovec iov[2];
	struct frame f;
	size_t sum;

	if (!fuzz_frame(data, size, &f) || f.len > FRAME_MAX)
		return 0;
	if (!pcap.fd)
		pcap.fd = memfd_create("pcap", MFD_CLOEXEC);
	if (ftruncate(pcap.fd, 0) || lseek(pcap.fd, 0, SEEK_SET))
		abort();
	iov[0] = (struct iovec){ &f.vnet, sizeof(f.vnet) };
	iov[1] = (struct iovec){ f.l2, f.len };
	pcap_add(&pcap, iov, 2);
	sum = read_back(pcap.fd);
	must(f.len < FRAME_MIN ? !sum : sum >= f.len);
	return 0;
}
