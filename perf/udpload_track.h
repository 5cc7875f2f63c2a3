/* udpload_track.h - which datagrams are under way, and what became of them
 * Knows: sequence numbers, times, payload.
 * Does not know: sockets, when to send. */

#ifndef UDPLOAD_TRACK_H
#define UDPLOAD_TRACK_H

#include "udpload_payload.h"
#include "udpload_hist.h"

#define TRACK_RING (1u << 20) /* datagrams that may be under way */

/** struct track - numbers below @head are sent, below @tail settled
 * @when:      time each counts from, 0: settled     @in_flight: those not
 * @answered:  whole and in time
 * @late:      first came after it was given up      @duplicates: not the first
 * @reordered: first came after one sent later on its flow
 * @next:      one above the highest number that came, for each of @flows
 * @warm:      numbers below are in no latency and no rate
 * @warm_ns:   when the first one that counts was sent
 * @rated:     answers from @warm on                 @last_ns: the last of them
 * @tx_errors, @refused: failed calls */
struct track {
	uint64_t head;
	uint64_t tail;
	uint64_t in_flight;
	uint64_t answered;
	uint64_t late;
	uint64_t duplicates;
	uint64_t reordered;
	uint64_t warm;
	uint64_t warm_ns;
	uint64_t rated;
	uint64_t last_ns;
	uint64_t tx_errors;
	uint64_t refused;
	unsigned flows;
	uint32_t size;
	bool verify;
	struct faults faults;
	struct hist hist;
	uint64_t next[FLOWS_MAX];
	uint64_t when[TRACK_RING];
};

/** track_sent() - number @head is under way, its time counts from @ns */
void track_sent(struct track *t, uint64_t ns);

/** track_got() - an answer came at @ns */
void track_got(struct track *t, const uint8_t *buf, uint32_t len, uint64_t ns);

/** track_expire() - give up what was sent before @before_ns */
void track_expire(struct track *t, uint64_t before_ns);

/** track_oldest() - time of the oldest under way, 0: none */
uint64_t track_oldest(const struct track *t);

/** track_lost() - datagrams of which nothing came, not even damaged */
uint64_t track_lost(const struct track *t);

/** track_json() - members "sent" to "mean_wall_us", after a comma */
void track_json(const struct track *t, FILE *out);

#endif
