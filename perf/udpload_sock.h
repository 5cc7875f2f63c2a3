/* udpload_sock.h - UDP sockets of udpload
 * Knows: addresses, queues, limits.  Does not know: what is sent. */

#ifndef UDPLOAD_SOCK_H
#define UDPLOAD_SOCK_H

#include "udpload.h"

/** resolve() - numeric address and port, or exits; returns the length */
socklen_t resolve(const char *addr, const char *port,
		  struct sockaddr_storage *ret_sa);

/** port_add() - make it a port @add further on */
void port_add(struct sockaddr_storage *sa, unsigned add);

/** open_bound() - socket with a large queue, woken every TICK_MS; or exits
 * @add: added to the port of the options */
int open_bound(const struct options *o, unsigned add);

/** open_from() - socket of @family with @src_port (0: any)
 * Returns: descriptor or -errno */
int open_from(int family, unsigned src_port);

/** open_connected() - the same, connected to the remote */
int open_connected(const struct options *o, unsigned src_port);

/** ask_queue() - receive queue of @bytes, as privileged as we may be */
void ask_queue(int fd, unsigned bytes);

/** set_timeout() - longest wait of a receive, seconds */
void set_timeout(int fd, double s);

/** need_files() - allow that many descriptors, or exits */
void need_files(unsigned n);

#endif
