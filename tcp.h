/* tcp.h - carries TCP between the guest's link and host sockets
 * Knows: events of both sides, and in which order they are handled.
 * Does not know: what a frame looks like, which ports are published. */

#ifndef TCP_H
#define TCP_H

#include "tcp_conn.h"

/**
 * tcp_init() - make TCP work
 * @t: zeroed; members up to @conf are set
 */
void tcp_init(struct tcp *t, const struct hash_key *key);

/** tcp_from_guest() - take in a segment, or several in one frame
 * @p: a PKT_TCP; what it has to answer waits for tcp_flush() */
void tcp_from_guest(struct tcp *t, const struct pkt *p);

/** tcp_flush() - end a round of frames: acknowledge, and send what the guest
 * made room for */
void tcp_flush(struct tcp *t);

#endif
