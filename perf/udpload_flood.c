/* udpload_flood.c - one-way load: the sink and the flood
 *
 * The sink has one bit per sequence number, so that "delivered" means distinct
 * datagrams; it verifies every byte, which costs a fraction of receiving them.
 * The flood writes only the stamps of each datagram anew. A send that fails is
 * counted and its sequence numbers are used again: "sent" is what the kernel
 * took. */

#include "udpload.h"

#include <time.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#define MEMINFO_RCVBUF 1 /* SK_MEMINFO_*, linux/sock_diag.h */
#define MEMINFO_DROPS 8
#define MEMINFO_VARS 9

static uint8_t seen[SEQ_MAX / 8];

/* ---- sink ------------------------------------------------------------- */

struct tally {
	uint64_t distinct;
	uint64_t duplicates;
	uint64_t reordered;
	uint64_t corrupt;
	uint64_t bytes;
	uint64_t calls;
	uint64_t next; /* one above the highest sequence number seen */
	double first;
	double last;
};

static void tally_one(struct tally *t, const uint8_t *buf, uint32_t len)
{
	uint64_t seq = len >= SIZE_MIN ? payload_seq(buf) : SEQ_MAX;
	uint8_t bit = (uint8_t)(1 << seq % 8);

	if (seq >= SEQ_MAX || !payload_ok(buf, len, seq)) {
		t->corrupt++;
		return;
	}
	if (seen[seq / 8] & bit) {
		t->duplicates++;
		return;
	}
	seen[seq / 8] |= bit;
	t->distinct++;
	t->bytes += len;
	if (seq < t->next)
		t->reordered++;
	else
		t->next = seq + 1;
}

/* One message is one datagram, or with UDP_GRO several of equal size */
static void tally_message(struct tally *t, const uint8_t *buf, uint32_t len,
			  struct msghdr *mh)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(mh);
	uint32_t seg = len;

	for (; c; c = CMSG_NXTHDR(mh, c)) {
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
			memcpy(&seg, CMSG_DATA(c), sizeof(seg));
	}
	do {
		uint32_t n = len < seg ? len : seg;

		tally_one(t, buf, n);
		buf += n;
		len -= n;
	} while (len);
}

static void sink_round(int fd, unsigned batch, struct tally *t)
{
	struct mmsghdr m[BATCH_MAX] = { 0 };
	uint8_t ctl[BATCH_MAX][CMSG_SPACE(sizeof(int))];
	struct iovec iov[BATCH_MAX];
	int n;

	for (unsigned i = 0; i < batch; i++) {
		iov[i] = (struct iovec){ message[i], BUF_MAX };
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
		m[i].msg_hdr.msg_control = ctl[i];
		m[i].msg_hdr.msg_controllen = sizeof(ctl[i]);
	}
	n = recvmmsg(fd, m, batch, MSG_WAITFORONE, NULL);
	if (n <= 0)
		return;
	t->last = now();
	if (!t->calls++)
		t->first = t->last;
	for (int i = 0; i < n; i++)
		tally_message(t, message[i], m[i].msg_len, &m[i].msg_hdr);
}

int cmd_sink(const struct options *o)
{
	uint32_t mem[MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(mem);
	struct tally t = { 0 };
	double start = now();
	int fd = open_bound(o);
	int on = 1;

	if (o->gro && setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on)))
		fail("UDP_GRO: %s", strerror(errno));
	while (!stopped) {
		double end = t.calls ? t.last + o->secs : start + o->wait_s;

		if (now() > end)
			break;
		sink_round(fd, o->batch, &t);
	}
	getsockopt(fd, SOL_SOCKET, SO_MEMINFO, mem, &len);
	printf("{\"distinct\":%" PRIu64 ",\"duplicates\":%" PRIu64
	       ",\"reordered\":%" PRIu64 ",\"corrupt\":%" PRIu64
	       ",\"bytes\":%" PRIu64 ",\"calls\":%" PRIu64
	       ",\"socket_drops\":%u,\"rcvbuf\":%u,\"secs\":%.6f}\n",
	       t.distinct, t.duplicates, t.reordered, t.corrupt, t.bytes,
	       t.calls, mem[MEMINFO_DROPS], mem[MEMINFO_RCVBUF],
	       t.last - t.first);
	return 0;
}

/* ---- flood ------------------------------------------------------------ */

/* Makes the next messages; returns how many, 0 if none is left to send */
static unsigned flood_fill(const struct options *o, uint64_t seq, unsigned most,
			   struct mmsghdr *m)
{
	unsigned i;

	for (i = 0; i < most && seq < o->count; i++) {
		uint32_t len = 0;

		for (unsigned k = 0; k < o->segs && seq < o->count; k++) {
			payload_stamp(message[i] + len, o->size, seq++);
			len += o->size;
		}
		m[i].msg_hdr.msg_iov->iov_len = len;
	}
	return i;
}

static void sleep_s(double s)
{
	struct timespec ts;

	ts.tv_sec = (time_t)s;
	ts.tv_nsec = (long)((s - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

static void flood_prepare(const struct options *o, int fd, struct mmsghdr *m,
			  struct iovec *iov)
{
	int seg = (int)o->size;

	if (o->segs > 1 &&
	    setsockopt(fd, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg)))
		fail("UDP_SEGMENT %d: %s", seg, strerror(errno));
	for (unsigned i = 0; i < o->batch; i++) {
		for (unsigned k = 0; k < o->segs; k++)
			payload_init(message[i] + k * o->size, o->size);
		iov[i].iov_base = message[i];
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
}

int cmd_flood(const struct options *o)
{
	struct mmsghdr m[BATCH_MAX] = { 0 };
	struct iovec iov[BATCH_MAX];
	uint64_t seq = 0, errors = 0;
	int fd = open_connected(o, o->bind_port);
	int last_errno = 0;
	double start, t;

	if (fd < 0)
		fail("%s port %s: %s", o->addr, o->port, strerror(-fd));
	flood_prepare(o, fd, m, iov);
	start = now();
	for (t = start; t < start + o->secs && !stopped; t = now()) {
		double ahead = 0;
		unsigned want;
		int n;

		if (o->rate > 0)
			ahead = (double)seq / o->rate - (t - start);
		if (ahead > 0) {
			sleep_s(ahead < o->secs ? ahead : o->secs);
			continue;
		}
		want = flood_fill(o, seq, o->batch, m);
		if (!want)
			break;
		n = sendmmsg(fd, m, want, 0);
		if (n < 0) {
			last_errno = errno;
			errors++;
		}
		for (int i = 0; i < n; i++)
			seq += iov[i].iov_len / o->size;
	}
	printf("{\"sent\":%" PRIu64 ",\"errors\":%" PRIu64
	       ",\"last_error\":\"%s\",\"secs\":%.6f}\n",
	       seq, errors, last_errno ? strerror(last_errno) : "",
	       now() - start);
	return seq == 0;
}
