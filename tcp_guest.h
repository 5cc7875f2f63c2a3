/* tcp_guest.h - bytes of TCP connections towards the guest
 * Knows: looking into sockets, super-frames, what to send again.
 * Does not know: segments of the guest (tcp.h). */

#ifndef TCP_GUEST_H
#define TCP_GUEST_H

#include "tcp_conn.h"

/** tcp_guest_pull() - send what the socket has and the guest takes
 * Returns: false if the connection has ended */
bool tcp_guest_pull(struct tcp *t, struct tcp_conn *c);

/** tcp_guest_acked() - forget @len bytes that the guest acknowledged */
void tcp_guest_acked(struct tcp_conn *c, uint32_t len);

/** tcp_guest_resend() - one super-frame from the first byte that is missing */
void tcp_guest_resend(struct tcp *t, struct tcp_conn *c);

/**
 * tcp_guest_timeout() - the guest did not answer in time: ask, or send again
 * Returns: false if the connection has ended
 */
bool tcp_guest_timeout(struct tcp *t, struct tcp_conn *c);

#endif
