/* replay.h - what scenes of UDP and of TCP share
 * Knows: the parts of the forwarder, and how they are joined.
 * Does not know: what a scene is about. */

#ifndef REPLAY_H
#define REPLAY_H

#include "guest.h"
#include "tcp_accept.h"

#include "replay_kernel.h"

#define ROOM 256 /* frames or arrivals laid out */

static const struct end guest_at[] = { END4(192, 0, 2, 99, 5000),
				       END6(0x63, 5000) };
static const struct end host_at[] = { END4(192, 0, 2, 10, 5000),
				      END6(0xa, 5000) };
static const struct end remote_at[] = { END4(198, 51, 100, 2, 6000),
					END6(0xb, 6000) };

/** struct replay - the parts that carry, as forwarder.c joins them */
struct replay {
	struct loop loop;
	struct stats stats;
	struct fwd fwd;
	struct tap tap;
	struct agent agent;
	struct udp udp;
	struct guest guest;
	struct tcp tcp;
	struct tcp_splice splice;
	struct tcp_listen listen;
	struct tcp_accept accept;
};

/** shots - frames of the guest, as they are laid out */
extern struct shot shots[ROOM];

/** replay_start() - a forwarder to which nothing happened yet */
struct replay *replay_start(enum offload offload);

/** replay_plain(), replay_counted() - handle @events of @w, and again until all
 * that was laid out is fetched; what the latter does is counted */
void replay_plain(struct watch *w, uint32_t events);
void replay_counted(struct watch *w, uint32_t events);

/** replay_end() - tell what was counted, and that it was @n datagrams or other
 * things; false if any was dropped */
bool replay_end(struct replay *r, const char *name, unsigned n);

/** replay_tcp() - all scenes of TCP; false if anything was dropped */
bool replay_tcp(void);

#endif
