/* udpload_sink.c - one-way load: the receiver
 *
 * The sink has one bit per sequence number, so that "delivered" means distinct
 * datagrams; it verifies every byte, which costs a fraction of receiving them.
 * What its own queue dropped is read from the socket at the end: the drops
 * behind the last datagram that came would not be announced otherwise. */

#include "udpload_chan.h"

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#define MEMINFO_RCVBUF 1 /* SK_MEMINFO_*, linux/sock_diag.h */
#define MEMINFO_DROPS 8
#define MEMINFO_VARS 9

static struct seen seen;
static struct chan chan;

struct tally {
	uint64_t distinct;
	uint64_t duplicates;
	uint64_t reordered;
	uint64_t bytes;
	uint64_t calls;
	uint64_t next; /* one above the highest sequence number seen */
	double first;
	double last;
	struct faults faults;
};

static void tally_one(struct tally *t, const uint8_t *buf, uint32_t len)
{
	uint64_t seq = len >= SIZE_MIN ? payload_seq(buf) : SEQ_MAX;

	if (seq >= SEQ_MAX || !payload_ok(buf, len, seq)) {
		payload_blame(&t->faults, buf, len, 0);
		return;
	}
	if (!seen_add(&seen, seq)) {
		t->duplicates++;
		return;
	}
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

static void tally_call(struct tally *t)
{
	t->last = now();
	if (!t->calls++)
		t->first = t->last;
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
	tally_call(t);
	for (int i = 0; i < n; i++)
		tally_message(t, message[i], m[i].msg_len, &m[i].msg_hdr);
}

static void raw_round(struct tally *t)
{
	const uint8_t *buf;
	int n = chan_recv(&chan, &buf);

	if (n < 0) {
		chan_wait(&chan, now_ns() + TICK_MS * 1000000ull);
		return;
	}
	tally_call(t);
	tally_one(t, buf, (uint32_t)n);
}

int cmd_sink(const struct options *o)
{
	uint32_t mem[MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(mem);
	struct tally t = { 0 };
	double start = now();
	int fd, on = 1;

	if (o->raw) {
		chan.is_raw = true;
		chan.sockets = 1;
		chan.fd[0] = chan.poll_fd = raw_open(&chan.raw, o, false);
		fd = chan.fd[0];
	} else {
		fd = open_bound(o, 0);
	}
	if (o->gro && setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on)))
		fail("UDP_GRO: %s", strerror(errno));
	while (!stopped) {
		double end = t.calls ? t.last + o->secs : start + o->wait_s;

		if (now() > end)
			break;
		if (o->raw)
			raw_round(&t);
		else
			sink_round(fd, o->batch, &t);
	}
	getsockopt(fd, SOL_SOCKET, SO_MEMINFO, mem, &len);
	printf("{\"distinct\":%" PRIu64 ",\"duplicates\":%" PRIu64
	       ",\"reordered\":%" PRIu64,
	       t.distinct, t.duplicates, t.reordered);
	faults_json(&t.faults, stdout);
	chan_json(&chan, stdout);
	printf(",\"bytes\":%" PRIu64 ",\"calls\":%" PRIu64
	       ",\"socket_drops\":%u,\"rcvbuf\":%u,\"secs\":%.6f"
	       ",\"cpu_us\":%.0f}\n",
	       t.bytes, t.calls, mem[MEMINFO_DROPS], mem[MEMINFO_RCVBUF],
	       t.last - t.first, cpu_us());
	return 0;
}
