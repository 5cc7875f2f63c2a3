/* forwarder.h - everything that carries, put together
 * Knows: which parts there are and what each needs of the others.
 * Does not know: processes, namespaces, rights (passt.c). */

#ifndef FORWARDER_H
#define FORWARDER_H

#include "dns.h"
#include "follow.h"
#include "guest.h"
#include "hostnet.h"
#include "tcp_accept.h"
#include "publish.h"
#include "udp_group.h"

/** struct forwarder - the parts, and what they share
 * @agent: its sock is -1 without a namespace
 * @rtnl:  rtnetlink socket of the namespace, for the link's drop counters, -1
 *         without one      @ifindex: the tap in there
 * @outside: agent on the host, for ports below 1024; its sock is -1 without
 * @reader: socket of resolv.conf's reader (reader.h), or -1
 * @key:   of all hash tables
 * @report, @report_ms: statistics asked for by --stats */
struct forwarder {
	const struct conf *conf;
	struct stats stats;
	struct loop loop;
	struct fwd fwd;
	struct resolv resolv;
	struct agent agent;
	struct agent outside;
	int reader;
	struct hash_key key;
	int rtnl;
	uint32_t ifindex;
	struct timer report;
	int64_t report_ms;
	struct publish publish;
	struct udp_group group;
	struct udp_move move;
	struct follow follow;
	struct dns dns;
	struct guest guest;
	struct tap tap;
	struct udp udp;
	struct tcp_accept accept;
	struct tcp tcp;
	struct tcp_splice splice;
};

/** struct forwarder_ns - what set-up in the namespace brought
 * @tap: the link's descriptor           @ends: MAC addresses on it
 * @rtnl, @diag: netlink sockets, or -1  @ifindex: of the link
 * @guest_ll: link-local address of the guest, unset if not known */
struct forwarder_ns {
	int tap;
	int rtnl;
	int diag;
	uint32_t ifindex;
	struct head_link ends;
	struct addr guest_ll;
};

/**
 * forwarder_init() - make the parts and open what is published on the host
 * @f: zeroed; call while the rights to bind are still there
 * Dies with one line: a port in use, too few descriptors.
 */
void forwarder_init(struct forwarder *f, const struct conf *c,
		    const struct guest_net *net, const struct resolv *resolv);

/** forwarder_start() - take the link into use, open what is offered inside;
 * agents and reader are running, or their socket is -1 */
void forwarder_start(struct forwarder *f, const struct forwarder_ns *ns);

/** forwarder_report() - one line of JSON with all counters to the log target */
void forwarder_report(struct forwarder *f);

#endif
