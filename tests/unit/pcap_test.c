/* pcap_test.c - a capture is read back, and each record is a frame without a
 * virtio-net header whose checksums are full and right: pkt_parse() verifies */

#include "pcap.h"

#include "check.h"
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char path[] = "/tmp/pcap_test_XXXXXX";
static struct pcap pcap;
static struct shot shot;
static uint8_t frame[FRAME_MAX];

static void add_shot(void)
{
	struct iovec iov = { shot.raw, shot.len };

	pcap_add(&pcap, &iov, 1);
}

/* The next frame of the file; its length, 0 at the end, -1 if it is bad */
static int next_frame(FILE *f)
{
	uint32_t head[4];
	time_t now = time(NULL);
	size_t n = fread(head, 1, sizeof(head), f);

	if (!n)
		return 0;
	if (n != sizeof(head) || head[2] > sizeof(frame) || head[2] != head[3])
		return -1;
	if (head[0] + 10 < now || head[0] > now || head[1] > 999999)
		return -1;
	return fread(frame, 1, head[2], f) == head[2] ? (int)head[2] : -1;
}

static FILE *begin(void)
{
	static const uint32_t want[6] = { 0xa1b2c3d4, 4 << 16 | 2, 0,
					  0,	      262144,	   1 };
	uint32_t head[6] = { 0 };
	FILE *f = fopen(path, "r");

	if (!f || fread(head, sizeof(head), 1, f) != 1)
		return f;
	is_mem(head, want, sizeof(want), "the head of the file");
	return f;
}

static const struct {
	const char *name;
	bool is_v6, is_partial;
	uint32_t len;
	uint16_t seg; /* 0: no super-frame */
	uint32_t options; /* bytes, IPv4 */
	unsigned n;
} rows[] = {
	{ "full checksum", false, false, 100, 0, 0, 1 },
	{ "partial", false, true, 100, 0, 0, 1 },
	{ "partial, odd length", false, true, 99, 0, 0, 1 },
	{ "partial, IPv6", true, true, 1001, 0, 0, 1 },
	{ "partial, empty", true, true, 0, 0, 0, 1 },
	{ "partial, largest", false, true, 65507, 0, 0, 1 },
	{ "super-frame", false, true, 300, 100, 0, 3 },
	{ "super-frame, last short", false, true, 301, 100, 0, 4 },
	{ "super-frame, odd, IPv6", true, true, 7770, 111, 0, 70 },
	{ "super-frame, options", false, true, 250, 100, 8, 3 },
	{ "super-frame of too many", false, true, 200, 1, 0, 1 },
	{ "super-frame of one", false, true, 80, 100, 0, 1 },
};

static void check_row(unsigned i, FILE *f)
{
	const struct host *to = &B;
	uint32_t at = 0;
	unsigned n = 0;
	int len;

	while ((len = next_frame(f)) > 0) {
		struct frame whole = { .l2 = frame, .len = (uint32_t)len };
		struct pkt p;

		is_int(pkt_parse(&whole, &p), PKT_UDP, "%s: right",
		       rows[i].name);
		ok(end_eq(&p.dst, rows[i].is_v6 ? &to->v6 : &to->v4), "to");
		if (!rows[i].is_v6)
			is_int(be16_get(frame + 18), n, "identification");
		for (uint32_t k = 0; k < p.body.len; k += 7)
			if (p.body.buf[k] != payload_byte(at + k))
				ok(false, "byte %u", k);
		at += p.body.len;
		n++;
	}
	is_int(len, 0, "%s: the file is whole", rows[i].name);
	is_int(n, rows[i].n, "%s: records", rows[i].name);
	is_int(at, rows[i].len, "%s: bytes", rows[i].name);
}

static void test_rows(void)
{
	struct stat st;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FILE *f;

		unlink(path);
		is_int(pcap_open(&pcap, path), 0, "open");
		ok(!stat(path, &st) && (st.st_mode & 07777) == 0600, "mode");
		(rows[i].is_v6 ? udp6 : udp4)(&shot, &A, &B, rows[i].len);
		if (rows[i].options)
			add_options(&shot, rows[i].options);
		if (rows[i].seg)
			make_super(&shot, rows[i].seg);
		else if (rows[i].is_partial)
			make_partial(&shot);
		add_shot();
		f = begin();
		if (f)
			check_row(i, f);
		if (f)
			fclose(f);
		close(pcap.fd);
	}
}

/* Slices, other frames, frames that lie: recorded as they are, or not at all */
static void test_odd(void)
{
	struct vnet_hdr v = { .flags = VNET_NEEDS_CSUM,
			      .gso_type = VNET_GSO_UDP_L4,
			      .gso_size = 1,
			      .csum_start = 0xffff,
			      .csum_offset = 0xffff };
	struct iovec iov[3];
	FILE *f;

	is_int(pcap_open(&pcap, path), 0, "open");
	arp_request(&shot, &A.v4.addr, &B.v4.addr);
	iov[0] = (struct iovec){ shot.raw, 10 };
	iov[1] = (struct iovec){ shot.raw + 10, 13 };
	iov[2] = (struct iovec){ shot.raw + 23, shot.len - 23 };
	pcap_add(&pcap, iov, 3);
	memcpy(shot.raw, &v, sizeof(v));
	add_shot();
	v.csum_start = 5;
	v.csum_offset = 36;
	memcpy(shot.raw, &v, sizeof(v));
	add_shot();
	shot.len = VNET_LEN + FRAME_MIN - 1;
	add_shot();
	shot.len = 3;
	add_shot();
	f = begin();
	if (!f)
		return;
	for (int i = 0; i < 3; i++) {
		is_int(next_frame(f), 42, "record %d", i);
		if (i < 2)
			is_mem(frame, shot.raw + VNET_LEN, 42, "as it is");
	}
	is_int(next_frame(f), 0, "and no more");
	fclose(f);
	close(pcap.fd);
}

static void test_failure(void)
{
	is_int(pcap_open(&pcap, "/nonexistent/x"), -ENOENT, "no directory");
	is_int(pcap.fd, -1, "nothing is open");
	udp4(&shot, &A, &B, 10);
	add_shot();
	is_int(pcap_open(&pcap, "/dev/full"), -ENOSPC, "no room");
	is_int(pcap.fd, -1, "nothing is open");
	is_int(pcap_open(&pcap, path), 0, "open");
	close(pcap.fd);
	pcap.fd = open("/dev/full", O_WRONLY);
	add_shot();
	is_int(pcap.fd, -1, "a failure ends the capture");
	add_shot();
}

static size_t read_all(int fd, uint8_t *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, size - len)) > 0)
		len += (size_t)n;
	return len;
}

/* A reader that is slower than the link: records are lost, whole ones, and
 * nobody waits */
static void test_slow(void)
{
	static uint8_t got[1024 * 1024];
	size_t len = 0, at = 0;
	unsigned kept = 0, lost = 0, n = 0;
	uint32_t head[4];
	int fd;

	unlink(path);
	if (mkfifo(path, 0600))
		return;
	fd = open(path, O_RDONLY | O_NONBLOCK);
	fcntl(fd, F_SETPIPE_SZ, 8192);
	is_int(pcap_open(&pcap, path), 0, "a FIFO that is read");
	for (uint32_t i = 0; i < 60; i++) {
		struct iovec iov = { shot.raw, 0 };
		unsigned is_lost;

		udp4(&shot, &A, &B, i & 1 ? 20000 : 1400);
		iov.iov_len = shot.len;
		is_lost = pcap_add(&pcap, &iov, 1);
		lost += is_lost;
		kept += !is_lost;
		if (i % 3)
			len += read_all(fd, got + len, sizeof(got) - len);
	}
	for (int i = 0; i < 10 && pcap.n_rest; i++) {
		len += read_all(fd, got + len, sizeof(got) - len);
		udp4(&shot, &A, &B, 1400);
		kept += !pcap_add(&pcap, &(struct iovec){ shot.raw, shot.len },
				  1);
	}
	len += read_all(fd, got + len, sizeof(got) - len);
	for (at = 24; at + sizeof(head) <= len; n++) {
		memcpy(head, got + at, sizeof(head));
		if (head[2] != 1442 && head[2] != 20042)
			break;
		at += sizeof(head) + head[2];
	}
	is_int(at, len, "what is read is whole records");
	is_int(n, kept, "those that were not lost");
	ok(kept > 5 && lost > 5, "some were (%u of %u)", lost, lost + kept);
	close(fd);
	add_shot();
	is_int(pcap.fd, -1, "no reader any more: the capture ends");
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		skip_all("no temporary file");
	signal(SIGPIPE, SIG_IGN);
	close(fd);
	test_rows();
	test_odd();
	test_failure();
	test_slow();
	unlink(path);
	return done();
}
