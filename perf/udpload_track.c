/* udpload_track.c - which datagrams are under way, and what became of them
 *
 * Datagrams are settled in any order and given up in the order of sending, so a
 * ring of times with two ends is enough. A bit per number remembers what came,
 * which tells a late answer from a second one for the whole run. In the end
 *
 *     sent = answered + late + bad (length, octet) + lost
 *
 * A payload too damaged to say its number counts as foreign, and what it was
 * as lost. Without verify only the number is read.
 *
 * Two means have two names: mean_samples_us is that of the times in the
 * histogram, mean_wall_us the time of the run over the number of answers. With
 * one datagram under way they differ by what the generator does in between;
 * with more, the second is an interval and no latency at all. */

#include "udpload_track.h"

static struct seen seen;

void track_sent(struct track *t, uint64_t ns)
{
	if (t->head == t->warm)
		t->warm_ns = ns;
	t->when[t->head % TRACK_RING] = ns;
	t->head++;
	t->in_flight++;
}

static void settle(struct track *t, uint64_t seq)
{
	t->when[seq % TRACK_RING] = 0;
	t->in_flight--;
	while (t->tail < t->head && !t->when[t->tail % TRACK_RING])
		t->tail++;
}

static bool is_under_way(const struct track *t, uint64_t seq)
{
	return seq >= t->tail && t->when[seq % TRACK_RING];
}

/* A whole datagram that came in time */
static void answer(struct track *t, uint64_t seq, uint64_t ns)
{
	uint64_t from = t->when[seq % TRACK_RING];

	t->answered++;
	if (seq >= t->warm) {
		t->rated++;
		t->last_ns = ns;
		hist_add(&t->hist, ns > from ? ns - from : 0);
	}
}

void track_got(struct track *t, const uint8_t *buf, uint32_t len, uint64_t ns)
{
	uint64_t seq = len >= SIZE_MIN ? payload_seq(buf) : t->head;
	uint64_t *next = &t->next[t->flows > 1 ? seq % t->flows : 0];
	bool ok = true;

	if (seq >= t->head) {
		t->faults.foreign++;
		return;
	}
	if (!seen_add(&seen, seq)) {
		t->duplicates++;
		return;
	}
	if (CAN_VERIFY && t->verify)
		ok = len == t->size && payload_ok(buf, len, seq);
	if (!ok)
		payload_blame(&t->faults, buf, len, t->size);
	else if (is_under_way(t, seq))
		answer(t, seq, ns);
	else
		t->late++;
	if (is_under_way(t, seq))
		settle(t, seq);
	if (seq < *next)
		t->reordered++;
	else
		*next = seq + 1;
}

void track_expire(struct track *t, uint64_t before_ns)
{
	while (t->tail < t->head && t->when[t->tail % TRACK_RING] < before_ns)
		settle(t, t->tail);
}

uint64_t track_oldest(const struct track *t)
{
	return t->tail < t->head ? t->when[t->tail % TRACK_RING] : 0;
}

uint64_t track_lost(const struct track *t)
{
	return t->head - t->answered - t->late - t->faults.length -
	       t->faults.octet;
}

void track_json(const struct track *t, FILE *out)
{
	double s = t->last_ns > t->warm_ns ?
			   (double)(t->last_ns - t->warm_ns) / 1e9 :
			   0;

	fprintf(out,
		",\"sent\":%" PRIu64 ",\"tx_errors\":%" PRIu64
		",\"refused\":%" PRIu64 ",\"answered\":%" PRIu64
		",\"lost\":%" PRIu64 ",\"late\":%" PRIu64
		",\"duplicates\":%" PRIu64 ",\"reordered\":%" PRIu64,
		t->head, t->tx_errors, t->refused, t->answered, track_lost(t),
		t->late, t->duplicates, t->reordered);
	faults_json(&t->faults, out);
	fprintf(out, ",\"rated\":%" PRIu64 ",\"rate_s\":%.6f,\"rate_pps\":%.1f",
		t->rated, s, s > 0 ? (double)t->rated / s : 0);
	hist_json(&t->hist, out);
	fprintf(out, ",\"mean_wall_us\":%.3f",
		t->rated ? s * 1e6 / (double)t->rated : 0);
}
