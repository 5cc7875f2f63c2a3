/* sock_error.h - errors that the kernel queues at a UDP socket
 * Knows: the error queue and its control messages, for both families.
 * Does not know: who is told of them; how sockets are set up for them (sock.h).
 * Sources: ip(7) IP_RECVERR; ipv6(7) IPV6_RECVERR; linux/errqueue.h. */

#ifndef SOCK_ERROR_H
#define SOCK_ERROR_H

#include "addr.h"

/* Payload that the kernel keeps with an error: an ICMPv6 message of 1280 */
#define SOCK_ERROR_QUOTE 1280

/** enum sock_error_origin - who made an error */
enum sock_error_origin { SOCK_ERROR_LOCAL, SOCK_ERROR_ICMP, SOCK_ERROR_ICMP6 };

/** struct sock_error - an error about a datagram that was sent
 * @to:       where it was sent; no port if @origin is local and IPv4
 * @from:     our address it was sent from; unset without SOCK_PKTINFO
 * @offender: who reported it, unset if nobody did
 * @type, @code, @info: as in the ICMP message; @info is an MTU, or a pointer
 * @buf, @len: what was quoted of the payload */
struct sock_error {
	struct end to;
	struct addr from;
	struct addr offender;
	enum sock_error_origin origin;
	int error;
	uint32_t info;
	uint8_t type, code;
	uint32_t len;
	uint8_t buf[SOCK_ERROR_QUOTE];
};

/**
 * sock_error_read() - take the oldest error of the queue, which would stop all
 * reception once full
 * Returns: false if there is none; then a pending error is cleared, too
 */
bool sock_error_read(int fd, struct sock_error *ret_error);

#endif
