/* udpload_chan.h - many flows, or frames, used as one
 * Knows: sockets and epoll, or one packet socket.
 * Does not know: when to send, what an answer means.
 *
 * Datagram number n travels on flow n % flows. */

#ifndef UDPLOAD_CHAN_H
#define UDPLOAD_CHAN_H

#include "udpload_payload.h"
#include "udpload_sock.h"

#include <sys/epoll.h>

#define HEAD_MAX 66 /* Ethernet, tag, IPv6, UDP */

/** struct raw - a packet socket and the frame that it sends
 * @head:     bytes before the payload in @frame    @tag: bytes of VLAN tag
 * @is6:      IPv6       @local, @remote: first ports
 * @wrapped:  frames received inside another IP header
 * @mistagged: frames received with another tag than ours */
struct raw {
	uint8_t frame[HEAD_MAX + BUF_MAX];
	uint32_t head;
	uint32_t tag;
	bool is6;
	uint32_t size;
	unsigned local;
	unsigned remote;
	unsigned ports;
	unsigned spread;
	int vlan_tci;
	uint64_t wrapped;
	uint64_t mistagged;
};

/** struct chan - the flows
 * @fd:    @sockets of them, one per flow and destination port
 * @n:     flows            @ports: destination ports, from that of @to on
 * @poll_fd: what becomes readable when any of them does
 * @event: readable flows of the last look, @next of @events to be read */
struct chan {
	int fd[FLOWS_MAX];
	unsigned n;
	unsigned sockets;
	unsigned ports;
	struct sockaddr_storage to;
	socklen_t to_len;
	uint32_t size;
	int poll_fd;
	struct epoll_event event[BATCH_MAX];
	int events;
	int next;
	bool is_raw;
	struct raw raw;
};

/** chan_open() - connected flows to the remote of @o, or exits */
void chan_open(struct chan *c, const struct options *o);

/** chan_bind() - local ports of @o, to receive from; or exits */
void chan_bind(struct chan *c, const struct options *o);

/** chan_send() - datagram @seq on its flow; does not wait
 * Returns: 0 or -errno */
int chan_send(struct chan *c, uint64_t seq);

/** chan_recv() - one datagram, if there is one
 * Returns: bytes of payload in *ret_buf, which holds until the next call;
 * -EAGAIN if there is none, another -errno that a socket had to say */
int chan_recv(struct chan *c, const uint8_t **ret_buf);

/** chan_ready() - descriptor with something to read, -1: none */
int chan_ready(struct chan *c);

/** chan_wait() - until something may have come, or until @until_ns */
void chan_wait(struct chan *c, uint64_t until_ns);

/** chan_json() - members about frames; nothing for sockets */
void chan_json(const struct chan *c, FILE *out);

/* ---- udpload_raw.c ------------------------------------------------------ */

/** raw_open() - packet socket on the interface of @o, frame prepared if
 * @is_sender; or exits. Returns the descriptor */
int raw_open(struct raw *r, const struct options *o, bool is_sender);

/** raw_send() - like chan_send()     raw_recv() - like chan_recv() */
int raw_send(struct raw *r, int fd, uint64_t seq);
int raw_recv(struct raw *r, int fd, const uint8_t **ret_buf);

/** raw_echo() - reflect frames to a port until the time of @o is over */
int raw_echo(const struct options *o);

#endif
