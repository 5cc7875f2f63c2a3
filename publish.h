/* publish.h - published ports of both protocols, put together
 * Knows: which options ask for them, and words what is wrong with one.
 * Does not know: how a port is opened (listen.h), rights (passt.c). */

#ifndef PUBLISH_H
#define PUBLISH_H

#include "conf.h"
#include "listen_auto.h"
#include "tcp_listen.h"
#include "udp_listen.h"

/** struct publish - zeroed before publish_host()
 * @tcp, @udp: listeners     @ports: which of them follow what is bound; its
 * members tell which protocols are carried */
struct publish {
	struct tcp_listen tcp;
	struct udp_listen udp;
	struct listen_auto ports;
};

/**
 * publish_host() - open what is published on the host
 * @u:     UDP, whose loop, policy, agent and families are TCP's, too
 * @limit: of descriptors
 * Call while the rights to bind are still there, and before connections can
 * come set the handler of @p->tcp. Dies with one line if a port cannot be had.
 */
void publish_host(struct publish *p, const struct conf *c, struct udp *u,
		  uint64_t limit);

/**
 * publish_inside() - open what is offered in the namespace, and follow "auto"
 * @diag:    sock_diag socket of the namespace, or -1
 * @outside: agent on the host, for ports below 1024, or NULL
 * Without a namespace nothing is done. What cannot be had is told in a line.
 */
void publish_inside(struct publish *p, int diag, struct agent *outside);

/** publish_count() - listeners that are open */
uint32_t publish_count(const struct publish *p);

#endif
