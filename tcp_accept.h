/* tcp_accept.h - connections that come to published ports
 * Knows: which of the two ways each takes; what to do when descriptors end.
 * Does not know: how it is carried (tcp_open.h, tcp_splice.h). */

#ifndef TCP_ACCEPT_H
#define TCP_ACCEPT_H

#include "tcp_listen.h"
#include "tcp_open.h"
#include "tcp_splice.h"

/** struct tcp_accept - @tcp, @splice, @listen, @max: set by the caller; handler
 * and context of @listen are filled in by tcp_accept_init()
 * @max: descriptors that connections may have, of both ways together
 * @is_loopback_only: the guest has no link; all that would cross it is reset
 * @resume_ms: when to try again after a pause, INT64_MAX: there is none */
struct tcp_accept {
	struct tcp *tcp;
	struct tcp_splice *splice;
	struct tcp_listen *listen;
	uint32_t max;
	bool is_loopback_only;
	struct timer timer;
	int64_t resume_ms;
};

/** tcp_accept_init() - register one timer */
void tcp_accept_init(struct tcp_accept *a);

#endif
