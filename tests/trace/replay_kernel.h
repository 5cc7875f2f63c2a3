/* replay_kernel.h - a kernel that always does the same, for replay
 * Knows: the system calls of the forwarder's doors.  Does not know: what they
 * are for.
 *
 * Its functions take the place of libc's of the same name. Descriptors are
 * numbers with counts of bytes and nothing more. What is sent vanishes, and is
 * acknowledged at once; what is received is what was laid out before. Calls are
 * counted, and that is all that happens. */

#ifndef REPLAY_KERNEL_H
#define REPLAY_KERNEL_H

#include "sock.h"

#include "frames.h"

/** struct arrival - what one entry of recvmmsg(2) gets
 * @from: sender      @to: address it was sent to; control messages say it if
 *        set, with interface 1 for loopback, 2 for others
 * @len:  bytes       @seg: bytes of each merged datagram, 0 one */
struct arrival {
	struct end from;
	struct addr to;
	uint32_t len;
	uint32_t seg;
};

/** struct written - a frame for the guest: its length, and the first bytes */
struct written {
	uint32_t len;
	uint8_t head[128];
};

/** kernel_init() - as if nothing had happened yet */
void kernel_init(void);

/** kernel_frames() - let read(2) give @total frames, the @n of @s in turn */
void kernel_frames(const struct shot *s, unsigned n, unsigned total);

/** kernel_arrivals() - let recvmmsg(2) give @total, the @n of @a in turn
 * @family: of the socket they come to */
void kernel_arrivals(const struct arrival *a, unsigned n, unsigned total,
		     int family);

/** kernel_waiting() - let accept4(2) give @n connections, from @peer and the
 * ports that follow, of which each has received @len bytes */
void kernel_waiting(const struct end *peer, unsigned n, uint32_t len);

/** kernel_receive() - let the TCP socket @fd have @len bytes more, and then the
 * end if @fin */
void kernel_receive(int fd, uint32_t len, bool fin);

/** kernel_written() - the next frame that writev(2) was given, NULL: no more */
const struct written *kernel_written(void);

/** kernel_is_idle() - was all that was laid out for read(2) and recvmmsg(2)
 * fetched? */
bool kernel_is_idle(void);

/** kernel_calls() - system calls since the last question */
unsigned kernel_calls(void);

#endif
