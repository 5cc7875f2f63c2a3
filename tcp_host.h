/* tcp_host.h - bytes of TCP connections towards the host
 * Knows: what a socket took, what its peer acknowledged, what it can take.
 * Does not know: segments of the guest (tcp.h). */

#ifndef TCP_HOST_H
#define TCP_HOST_H

#include "tcp_conn.h"

/**
 * tcp_host_take() - send bytes of the guest, or keep them
 * Returns: bytes taken, fewer than @len if there was no buffer for the rest;
 * -errno if the connection is broken
 */
int64_t tcp_host_take(struct tcp *t, struct tcp_conn *c, const uint8_t *buf,
		      uint32_t len);

/**
 * tcp_host_keep() - keep @len bytes from @seq on, before which some are missing
 * One run of them for each connection: the link keeps order, so what follows a
 * loss lies together.
 * Returns: how many of them are kept, from the first on
 */
uint32_t tcp_host_keep(struct tcp *t, struct tcp_conn *c, uint32_t seq,
		       const uint8_t *buf, uint32_t len);

/** tcp_host_join() - take what is kept, if nothing is missing before it now;
 * there is something
 * Returns: 0 or -errno */
int tcp_host_join(struct tcp *t, struct tcp_conn *c);

/** tcp_host_ready() - there is room: send the rest
 * Returns: 0 or -errno */
int tcp_host_ready(struct tcp *t, struct tcp_conn *c);

/** tcp_host_fin() - the guest has ended its stream; sent behind the rest */
void tcp_host_fin(struct tcp_conn *c);

/** tcp_host_offer() - renew what the guest is told of acknowledgements and
 * window, by the next segment, which is due at once with TCB_ACK_NOW */
void tcp_host_offer(struct tcp *t, struct tcp_conn *c);

#endif
