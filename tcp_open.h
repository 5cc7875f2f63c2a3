/* tcp_open.h - begins TCP connections over the guest's link
 * Knows: policy, translation, connecting.
 * Does not know: how bytes are moved; listeners (tcp_accept.h). */

#ifndef TCP_OPEN_H
#define TCP_OPEN_H

#include "tcp_conn.h"

/** tcp_open_from_guest() - connect for a SYN of the guest
 * It is answered when the remote has answered; what fails at once is told at
 * once. @p: a PKT_TCP with SYN alone, of no connection */
void tcp_open_from_guest(struct tcp *t, const struct pkt *p);

/**
 * tcp_open_connected() - the socket of a guest's connection is ready: answer it
 * Returns: false if it failed, the guest was told, and the connection has ended
 */
bool tcp_open_connected(struct tcp *t, struct tcp_conn *c);

/**
 * tcp_open_to_guest() - open a connection to the guest for an accepted one
 * @fd:   accepted and set up; becomes ours, reset and closed on failure
 * @peer: its remote     @port: of the guest
 */
void tcp_open_to_guest(struct tcp *t, int fd, const struct end *peer,
		       uint16_t port);

#endif
