/* udpload_flood.c - one-way load: the sender
 *
 * The flood writes only the stamps of each datagram anew. A send that fails is
 * counted and its sequence numbers are used again: "sent" is what the kernel
 * took. It does not wait for answers, so without -r it measures where a path
 * loses and not how fast it is. */

#include "udpload_chan.h"

#include <time.h>

static struct chan chan;

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

static void report(uint64_t sent, uint64_t errors, int last_errno, double secs)
{
	printf("{\"sent\":%" PRIu64 ",\"errors\":%" PRIu64
	       ",\"last_error\":\"%s\",\"secs\":%.6f,\"cpu_us\":%.0f}\n",
	       sent, errors, last_errno ? strerror(last_errno) : "", secs,
	       cpu_us());
}

/* How long sending is ahead of the rate asked for */
static double ahead_s(const struct options *o, uint64_t seq, double elapsed)
{
	return o->rate > 0 ? (double)seq / o->rate - elapsed : 0;
}

/* One datagram per call: frames, or more flows than one */
static int flood_singly(const struct options *o)
{
	uint64_t seq = 0, errors = 0;
	int last_errno = 0;
	double start, t;

	chan_open(&chan, o);
	start = now();
	for (t = start; t < start + o->secs && !stopped; t = now()) {
		double ahead = ahead_s(o, seq, t - start);
		int rc;

		if (seq == o->count)
			break;
		if (ahead > 0) {
			sleep_s(ahead < o->secs ? ahead : o->secs);
			continue;
		}
		rc = chan_send(&chan, seq);
		if (!rc) {
			seq++;
			continue;
		}
		last_errno = -rc;
		errors++;
		sleep_s(1e-4);
	}
	report(seq, errors, last_errno, now() - start);
	return seq == 0;
}

int cmd_flood(const struct options *o)
{
	struct mmsghdr m[BATCH_MAX] = { 0 };
	struct iovec iov[BATCH_MAX];
	uint64_t seq = 0, errors = 0;
	int fd, last_errno = 0;
	double start, t;

	if (o->raw || o->flows > 1)
		return flood_singly(o);
	fd = open_connected(o, o->bind_port);
	if (fd < 0)
		fail("%s port %s: %s", o->addr, o->port, strerror(-fd));
	flood_prepare(o, fd, m, iov);
	start = now();
	for (t = start; t < start + o->secs && !stopped; t = now()) {
		double ahead = ahead_s(o, seq, t - start);
		unsigned want;
		int n;

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
	report(seq, errors, last_errno, now() - start);
	return seq == 0;
}
