/* udp_listen.h - published ports of UDP
 * Knows: listeners are maps (map.h), and which speaks for a port of the guest.
 * Does not know: how their sockets are made and bound (listen.h), what happens
 * to a datagram (udp.h). */

#ifndef UDP_LISTEN_H
#define UDP_LISTEN_H

#include "listen.h"
#include "udp.h"

/** struct udp_listen - @l: all listeners; @u: whose maps they are */
struct udp_listen {
	struct listen l;
	struct udp *u;
};

/** udp_listen_init() - the caller sets what struct listen asks for, but
 * @l.proto */
void udp_listen_init(struct udp_listen *l, struct udp *u);

#endif
