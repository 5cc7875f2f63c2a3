/* xdp.h - what the parts of xdp share
 * Knows: what a program shall do, its counters.
 * Does not know: who sends the frames. */

#ifndef XDP_H
#define XDP_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#define INSNS_MAX 256

/** enum deed - what happens to frames with UDP; others pass */
enum deed { DEED_PASS, DEED_DROP, DEED_SWAP, DEED_WRAP, DEED_COUNT };

/** struct recipe - a program
 * @seg:   bytes of payload per datagram, 0: each frame is one
 * @outer: source and destination of the header that DEED_WRAP adds, as in a
 *         frame
 * @map_fd: array with one struct counters per CPU */
struct recipe {
	enum deed deed;
	uint16_t seg;
	uint8_t outer[8];
	int map_fd;
};

/** struct counters - of frames with UDP, and of those that passed by */
struct counters {
	uint64_t frames;
	uint64_t bytes;
	uint64_t datagrams;
	uint64_t others;
};

/** prog_write() - write the program
 * Returns: instructions in @ret, at most INSNS_MAX */
unsigned prog_write(const struct recipe *r, struct bpf_insn *ret);

/** link_attach() - attach program @prog_fd, -1: detach; or exits */
void link_attach(int ifindex, int prog_fd, bool is_native);

#endif
