/* udpload.h - what the parts of udpload share
 * Knows: options, messages, ways to send.
 * Does not know: what is measured with them. */

#ifndef UDPLOAD_H
#define UDPLOAD_H

#include "lib/load.h"

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
#define SEQ_MAX (1u << 28) /* datagrams of one run: "seen" has a bit each */
#define EXCHANGES_MAX (1u << 20) /* of one rr */
#define FLOWS_MAX 100000
#define TICK_MS 50 /* how often a waiting loop looks at its end */

/* The tool without the code for validation, for comparing it with itself */
#ifndef CAN_VERIFY
#define CAN_VERIFY 1
#endif

/** struct options - one set for all subcommands
 * @addr, @port: remote for senders, local for sink and echo
 * @ports:       consecutive destination or local ports from @port on
 * @bind_port:   source port of rr, first one of the others; 0: any
 * @size:        bytes of payload     @count: datagrams or exchanges
 * @segs:        datagrams per message, UDP_SEGMENT if more than one
 * @batch:       messages per call    @rate: datagrams per second, 0: no limit
 * @secs:        duration; for the sink, silence that ends it
 * @wait_s:      sink: for the first datagram; others: for an answer
 * @queue:       bytes of receive queue to ask for
 * @flows:       addresses and ports that datagrams are between  @window: datagrams under way
 * @catch_up:    datagrams open may be behind its schedule before it gives up
 * @warm:        datagrams at the start that are in no latency and no rate
 * @new_socket:  rr: a socket per exchange    @gro: sink: UDP_GRO
 * @verify:      compare every octet          @hist: print the histogram
 * @raw, @mac, @from: interface, next hop, own address of frames
 * @vlan, @prio: tag of frames, @vlan -1: none
 * @swap_mac:    reflector leaves addresses and ports as they are
 * @peak, @step: bits of payload per second of ramp; @step_s: seconds of a step
 * @shape:       "up", "down" or "up_down"
 * @ns_near, @ns_far: network namespaces of the two ends of ramp, or NULL */
struct options {
	const char *addr;
	const char *port;
	unsigned ports;
	unsigned bind_port;
	unsigned size;
	uint64_t count;
	unsigned segs;
	unsigned batch;
	double rate;
	double secs;
	double wait_s;
	unsigned queue;
	unsigned flows;
	unsigned window;
	unsigned catch_up;
	uint64_t warm;
	bool new_socket;
	bool gro;
	bool verify;
	bool hist;
	const char *raw;
	const char *mac;
	const char *from;
	int vlan;
	unsigned prio;
	bool swap_mac;
	double peak;
	double step;
	double step_s;
	const char *shape;
	const char *ns_near;
	const char *ns_far;
};

/* Messages to send or to receive into */
extern uint8_t message[BATCH_MAX][BUF_MAX];

/* ---- subcommands: each prints its result, returns the exit status ------ */

int cmd_sink(const struct options *o);
int cmd_flood(const struct options *o);
int cmd_echo(const struct options *o);
int cmd_rr(const struct options *o);
int cmd_newflows(const struct options *o);
int cmd_closed(const struct options *o);
int cmd_open(const struct options *o);
int cmd_ramp(const struct options *o);
int cmd_merge(const struct options *o);
int cmd_selftest(const struct options *o);

#endif
