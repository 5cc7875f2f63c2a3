/* udpload.h - what the parts of udpload share
 * Knows: payload that says who it is, sockets, options.
 * Does not know: what is measured with them. */

#ifndef UDPLOAD_H
#define UDPLOAD_H

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Missing in the headers of Debian 12 or without _GNU_SOURCE */
#ifndef SOL_UDP
#define SOL_UDP 17
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define BUF_MAX 65536 /* bytes, more than any UDP payload */
#define BATCH_MAX 64 /* messages of one call */
#define SIZE_MIN 8 /* bytes: room for the sequence number */
#define SEQ_MAX (1u << 28) /* datagrams of one flood: the sink has a bit each */
#define EXCHANGES_MAX (1u << 20) /* of one rr */
#define TICK_MS 50 /* how often a waiting loop looks at its end */

/** struct options - one set for all subcommands
 * @addr, @port: remote for senders, local for sink and echo
 * @bind_port:   source port of rr, first one of newflows; 0: any
 * @size:        bytes of payload     @count: datagrams or exchanges
 * @segs:        datagrams per message, UDP_SEGMENT if more than one
 * @batch:       messages per call    @rate: datagrams per second, 0: no limit
 * @secs:        duration; for the sink, silence that ends it
 * @wait_s:      sink: for the first datagram; rr, newflows: for an answer
 * @new_socket:  rr: a socket per exchange    @gro: sink: UDP_GRO */
struct options {
	const char *addr;
	const char *port;
	unsigned bind_port;
	unsigned size;
	uint64_t count;
	unsigned segs;
	unsigned batch;
	double rate;
	double secs;
	double wait_s;
	bool new_socket;
	bool gro;
};

/* Set by SIGTERM and SIGINT: every loop ends then */
extern volatile sig_atomic_t stopped;

/* Messages to send or to receive into */
extern uint8_t message[BATCH_MAX][BUF_MAX];

/** fail() - one line on stderr, exit 1 */
_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** now() - monotonic seconds */
double now(void);

/** payload_init() - write the pattern; once per buffer and size */
void payload_init(uint8_t *buf, uint32_t size);

/** payload_stamp() - make a prepared payload that of datagram @seq */
void payload_stamp(uint8_t *buf, uint32_t size, uint64_t seq);

/** payload_seq() - sequence number of at least SIZE_MIN bytes */
uint64_t payload_seq(const uint8_t *buf);

/** payload_ok() - is this the whole and undamaged datagram @seq? */
bool payload_ok(const uint8_t *buf, uint32_t len, uint64_t seq);

/** open_bound() - socket with a large queue, woken every TICK_MS; or exits */
int open_bound(const struct options *o);

/** open_connected() - socket to the remote from @src_port (0: any)
 * Returns: descriptor or -errno */
int open_connected(const struct options *o, unsigned src_port);

/** set_timeout() - longest wait of a receive, seconds */
void set_timeout(int fd, double s);

/* Subcommands; each prints one line of JSON and returns the exit status */
int cmd_sink(const struct options *o);
int cmd_flood(const struct options *o);
int cmd_echo(const struct options *o);
int cmd_rr(const struct options *o);
int cmd_newflows(const struct options *o);

#endif
