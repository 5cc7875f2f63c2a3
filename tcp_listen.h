/* tcp_listen.h - published ports of TCP
 * Knows: waiting for connections, and not waiting while none can be taken.
 * Does not know: accepting, whose the handler is; how sockets are made and
 * bound (listen.h). */

#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "listen.h"

/** struct tcp_listen - @l: all listeners
 * @loop, @accept, @ctx: set by the caller. @accept is called as long as a
 * connection waits at @x: its @watch.fd listens, @side, @target, @device, @ours
 * (unset: any address) tell what for
 * @paused: first listener + 1 that nobody waits for, 0 none */
struct tcp_listen {
	struct listen l;
	struct loop *loop;
	void (*accept)(void *ctx, struct listener *x);
	void *ctx;
	uint32_t paused;
};

/** tcp_listen_init() - the caller sets what struct listen asks for, but
 * @l.proto */
void tcp_listen_init(struct tcp_listen *t);

/** tcp_listen_pause() - wait no more for @x, from @accept when descriptors are
 * exhausted: what waits is left in its queue, and does not wake us again */
void tcp_listen_pause(struct tcp_listen *t, struct listener *x);

/** tcp_listen_resume() - wait for all of them again; costs nothing if none is
 * paused */
void tcp_listen_resume(struct tcp_listen *t);

#endif
