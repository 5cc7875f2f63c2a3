/* tcb_test.c - one connection by RFC 9293, segment by segment
 *
 * The test is the guest: @peer is the next sequence number it sends. */

#include "tcb.h"

#include "check.h"
#include "tcb_model.h"

#define ISS 1000u
#define PEER 5000u
#define MSS 1460

static struct tcb t;
static struct tcb_in in;
static uint32_t peer;
static int64_t now;

static struct pkt_tcp seg(uint8_t flags, uint32_t seq, uint32_t ack,
			  uint16_t window)
{
	return (struct pkt_tcp){ .seq = seq,
				 .ack = ack,
				 .window = window,
				 .flags = flags,
				 .wscale = TCP_NO_WSCALE };
}

static unsigned input(uint8_t flags, uint32_t seq, uint32_t ack,
		      uint16_t window, uint32_t len)
{
	struct pkt_tcp s = seg(flags, seq, ack, window);

	in = tcb_input(&t, &s, len, now);
	return in.todo;
}

/* What the module above does with payload and FIN */
static void take(void)
{
	tcb_took(&t, in.take, in.todo & TCB_DO_FIN);
}

/* An answer is due: take note of it as if it was sent */
static bool is_told(uint32_t room)
{
	if (!tcb_offer(&t, t.rcv_nxt, room, 0))
		return false;
	(void)tcb_header(&t, t.snd_nxt, 0);
	return true;
}

static struct pkt_tcp syn(int wscale, uint16_t mss)
{
	struct pkt_tcp s = seg(TCP_SYN, PEER, 0, 65535);

	s.wscale = (uint8_t)(wscale < 0 ? TCP_NO_WSCALE : wscale);
	s.mss = mss;
	return s;
}

/* Opened by the guest; windows of @window from it, 0 scaled */
static void open_by_guest(uint32_t iss, uint32_t peer_iss, int wscale,
			  uint16_t window)
{
	struct pkt_tcp s = syn(wscale, MSS);

	now = 0;
	s.seq = peer_iss;
	peer = peer_iss + 1;
	tcb_accept(&t, &s, iss, MSS);
	tcb_answer(&t);
	tcb_offer(&t, t.rcv_nxt, 1 << 20, 0);
	(void)tcb_header(&t, t.snd_una, 0);
	tcb_sent(&t, 0, false, now);
	input(TCP_ACK, peer, iss + 1, window, 0);
}

static void opened(uint16_t window)
{
	open_by_guest(ISS, PEER, 0, window);
	(void)is_told(1 << 20);
}

static void by_guest(void)
{
	struct pkt_tcp s = syn(7, 1400), h;

	now = 0;
	tcb_accept(&t, &s, ISS, MSS);
	is_int(t.state, TCB_CONNECTING, "the guest's SYN waits");
	is_int(input(TCP_SYN, PEER, 0, 65535, 0), 0, "again: nothing");
	is_int(tcb_room(&t), 0, "nothing to send");
	tcb_answer(&t);
	tcb_offer(&t, t.rcv_nxt, 1 << 20, 0);
	h = tcb_header(&t, t.snd_una, 0);
	is_int(h.flags, TCP_SYN | TCP_ACK, "SYN and ACK");
	ok(h.seq == ISS && h.ack == PEER + 1, "by their numbers");
	ok(h.mss == MSS && h.wscale == TCB_SCALE, "our MSS and scale");
	is_int(h.window, 65535, "its window is not scaled");
	tcb_sent(&t, 0, false, now);
	is_int(t.due_ms, TCB_RTO_SYN_MS, "an answer is waited for");
	is_int(input(TCP_SYN, PEER, 0, 65535, 0), 0, "SYN again");
	ok(t.flags & TCB_ACK_NOW, "is answered again");
	is_int(input(TCP_ACK, PEER + 1, ISS, 100, 0), TCB_DO_REFUSE,
	       "an acknowledgement of nothing is refused");
	is_int(input(TCP_ACK, PEER + 1, ISS + 2, 100, 0), TCB_DO_REFUSE,
	       "and of too much");
	is_int(input(TCP_ACK, PEER + 1, ISS + 1, 100, 5),
	       TCB_DO_OPENED | TCB_DO_PULL, "and the right one opens");
	ok(in.take == 5 && !in.skip, "with its payload");
	ok(t.snd_wnd == 100 << 7 && t.mss == 1400, "window scaled, its MSS");
	is_int(t.due_ms, TCB_NEVER, "nothing is out");
}

static void by_us(void)
{
	struct pkt_tcp s = syn(2, 0), h;

	now = 0;
	tcb_connect(&t, ISS, MSS);
	h = tcb_header(&t, t.snd_una, 0);
	ok(h.flags == TCP_SYN && h.seq == ISS && !h.ack, "our SYN");
	ok(h.mss == MSS && h.wscale == TCB_SCALE, "MSS and scale");
	tcb_sent(&t, 0, false, now);
	is_int(input(TCP_ACK, PEER, ISS, 9, 0), TCB_DO_REFUSE, "stray ACK");
	is_int(input(TCP_RST | TCP_ACK, PEER, ISS + 2, 9, 0), TCB_DO_REFUSE,
	       "RST that acknowledges what was not sent");
	is_int(input(TCP_RST, PEER, 0, 9, 0), 0, "RST without ACK: nothing");
	is_int(input(TCP_FIN, PEER, 0, 9, 0), 0, "FIN: nothing");
	s.flags |= TCP_ACK;
	s.ack = ISS + 1;
	now = 3;
	in = tcb_input(&t, &s, 0, now);
	is_int(in.todo, TCB_DO_OPENED | TCB_DO_PULL, "SYN and ACK opens");
	ok(t.flags & TCB_ACK_NOW && t.snd_wnd == 65535, "window not scaled");
	is_int(t.mss, TCP_MSS_DEFAULT, "without an option the default MSS");
	h = tcb_header(&t, t.snd_nxt, 0);
	ok(h.flags == TCP_ACK && h.seq == ISS + 1 && h.ack == PEER + 1,
	   "acknowledged");
	is_int(t.rto_ms, TCB_RTO_MIN_MS, "3 ms round trip: the least time-out");

	tcb_connect(&t, ISS, MSS);
	tcb_sent(&t, 0, false, now);
	is_int(input(TCP_RST | TCP_ACK, PEER, ISS + 1, 9, 0), TCB_DO_RESET,
	       "refused");
}

static void both_at_once(void)
{
	struct pkt_tcp s = syn(-1, 9000), h;

	now = 0;
	tcb_connect(&t, ISS, MSS);
	tcb_sent(&t, 0, false, now);
	in = tcb_input(&t, &s, 0, now);
	ok(!in.todo && t.state == TCB_SYN_RCVD, "SYN meets SYN");
	h = tcb_header(&t, t.snd_una, 0);
	ok(h.flags == (TCP_SYN | TCP_ACK) && h.seq == ISS && h.ack == PEER + 1,
	   "answered");
	is_int(h.wscale, TCP_NO_WSCALE, "the guest does not scale: nor do we");
	is_int(t.mss, MSS, "an MSS larger than the link's is not used");
	is_int(input(TCP_SYN | TCP_ACK, PEER, ISS, 900, 0), 0, "an old answer");
	is_int(input(TCP_SYN | TCP_ACK, PEER, ISS + 1, 900, 0),
	       TCB_DO_OPENED | TCB_DO_PULL, "its answer opens");
	ok(t.flags & TCB_ACK_NOW, "and is acknowledged");
	h = tcb_header(&t, t.snd_nxt, 0);
	ok(h.flags == TCP_ACK && h.seq == ISS + 1, "without SYN");

	tcb_connect(&t, ISS, MSS);
	tcb_sent(&t, 0, false, now);
	in = tcb_input(&t, &s, 0, now);
	is_int(input(TCP_ACK, PEER + 1, ISS + 1, 900, 0),
	       TCB_DO_OPENED | TCB_DO_PULL, "so does a mere acknowledgement");
}

static void mss(void)
{
	static const uint16_t said[] = { 0, 1, 47, 48, 536, 1460, 65535 };
	static const uint16_t want[] = { 536, 48, 48, 48, 536, 1000, 1000 };

	for (unsigned i = 0; i < sizeof(said) / sizeof(*said); i++) {
		struct pkt_tcp s = syn(-1, said[i]);

		tcb_accept(&t, &s, ISS, 1000);
		is_int(t.mss, want[i], "MSS %u on a link of 1000", said[i]);
	}
}

static void syn_again(void)
{
	unsigned n = 0;
	int64_t last = 0;

	now = 0;
	tcb_connect(&t, ISS, MSS);
	tcb_sent(&t, 0, false, now);
	for (now = t.due_ms; tcb_timeout(&t, now); now = t.due_ms) {
		if (!ok(t.snd_nxt == ISS, "SYN again at %lld", (long long)now))
			break;
		tcb_sent(&t, 0, false, now);
		is_int(t.due_ms - now, 2 * (now - last), "waits twice as long");
		last = now;
		n++;
	}
	is_int(n, TCB_SYN_TRIES, "then it gives up");
}

static void guest_fin_first(void)
{
	opened(65535);
	is_int(input(TCP_FIN | TCP_ACK, peer, ISS + 1, 65535, 10), TCB_DO_FIN,
	       "FIN with data");
	ok(in.take == 10, "both are new");
	take();
	ok(t.rcv_nxt == peer + 11 && t.flags & TCB_FIN_RCVD, "taken");
	ok(is_told(0), "and told");
	is_int(t.rcv_ack, peer + 11, "FIN is acknowledged");
	ok(!tcb_is_over(&t), "half of it is open");
	is_int(tcb_room(&t), 65535, "we may send");
	tcb_sent(&t, 100, false, now);
	is_int(input(TCP_ACK, peer + 11, ISS + 101, 65535, 0),
	       TCB_DO_ACKED | TCB_DO_PULL, "and it acknowledges");
	is_int(in.acked, 100, "our bytes");
	is_int(input(TCP_FIN | TCP_ACK, peer + 10, ISS + 101, 65535, 0), 0,
	       "its FIN again");
	ok(is_told(0), "is told again");
	is_int(input(TCP_ACK, peer + 11, ISS + 101, 65535, 5), 0,
	       "bytes behind the FIN");
	ok(!in.take, "are not taken");
	tcb_sent(&t, 0, true, now);
	ok(!tcb_is_over(&t), "our FIN is out");
	input(TCP_ACK, peer + 11, ISS + 102, 65535, 0);
	ok(!in.acked && t.flags & TCB_FIN_ACKED, "FIN is no byte");
	ok(tcb_is_over(&t), "over");
	is_int(t.due_ms, TCB_NEVER, "nothing is due");
}

static void our_fin_first(void)
{
	opened(65535);
	tcb_sent(&t, 7, true, now);
	is_int(t.snd_max, ISS + 9, "bytes and FIN");
	input(TCP_ACK, peer, ISS + 5, 65535, 0);
	ok(in.acked == 4 && !(t.flags & TCB_FIN_ACKED), "some of the bytes");
	input(TCP_ACK, peer, ISS + 9, 65535, 0);
	ok(in.acked == 3 && t.flags & TCB_FIN_ACKED, "the rest, and FIN");
	input(TCP_ACK, peer, ISS + 9, 65535, 50);
	ok(in.take == 50, "the guest still sends");
	take();
	ok(!tcb_is_over(&t), "half of it is open");
	input(TCP_ACK | TCP_FIN, peer + 50, ISS + 9, 65535, 0);
	ok(in.todo & TCB_DO_FIN, "its FIN");
	take();
	ok(!tcb_is_over(&t), "not acknowledged yet");
	ok(is_told(0) && tcb_is_over(&t), "over");
}

static void both_fins(void)
{
	opened(65535);
	tcb_sent(&t, 0, true, now);
	input(TCP_ACK | TCP_FIN, peer, ISS + 1, 65535, 0);
	ok(in.todo & TCB_DO_FIN && !(t.flags & TCB_FIN_ACKED), "FINs cross");
	take();
	ok(is_told(0) && !tcb_is_over(&t), "ours is out");
	input(TCP_ACK, peer + 1, ISS + 2, 65535, 0);
	ok(tcb_is_over(&t), "over");
}

static void fin_again(void)
{
	opened(65535);
	tcb_sent(&t, 7, true, now);
	now = t.due_ms;
	ok(tcb_timeout(&t, now), "FIN and bytes are lost");
	is_int(t.snd_nxt, ISS + 1, "from the first byte on");
	is_int(tcb_seq(&t), ISS + 9, "an acknowledgement is behind them");
	tcb_sent(&t, 7, false, now);
	tcb_sent(&t, 0, true, now);
	is_int(t.snd_max, ISS + 9, "the same FIN");
	input(TCP_ACK, peer, ISS + 9, 65535, 0);
	ok(in.acked == 7 && t.flags & TCB_FIN_ACKED, "acknowledged");
	input(TCP_ACK | TCP_FIN, peer + 10, ISS + 9, 65535, 0);
	ok(!(in.todo & TCB_DO_FIN), "a FIN out of order waits");
	ok(is_told(1000) && t.rcv_ack == peer, "and is told so");
}

static void resets(void)
{
	opened(65535);
	is_int(input(TCP_RST, peer - 1, 0, 0, 0), 0, "RST before the window");
	ok(!(t.flags & TCB_ACK_NOW), "is not answered");
	is_int(input(TCP_RST, t.rcv_edge + 1, 0, 0, 0), 0, "RST behind it");
	ok(!(t.flags & TCB_ACK_NOW), "neither");
	is_int(input(TCP_RST, peer + 1, 0, 0, 0), 0, "RST inside it");
	ok(is_told(1 << 20), "gets a challenge");
	is_int(input(TCP_RST, peer, 0, 0, 12), TCB_DO_RESET, "the exact one");

	opened(65535);
	input(TCP_ACK, peer, ISS + 1, 65535, 100);
	take();
	tcb_offer(&t, peer, 1 << 20, 0);
	is_int(input(TCP_RST, peer + 50, 0, 0, 0), 0,
	       "RST among what is taken");
	is_int(input(TCP_RST, peer, 0, 0, 0), TCB_DO_RESET,
	       "RST by what the guest was told last");
	is_int(input(TCP_RST, peer + 100, 0, 0, 0), TCB_DO_RESET,
	       "RST by what it sent last");
}

static void challenges(void)
{
	opened(1000);
	is_int(input(TCP_SYN, peer + 5, 0, 9, 0), 0, "SYN in the window");
	ok(is_told(1 << 20), "gets a challenge");
	is_int(input(TCP_SYN, peer + 0x40000000, 0, 9, 0), 0, "and outside");
	ok(is_told(1 << 20), "as well");
	is_int(input(TCP_ACK, peer, ISS + 2, 9, 10), 0, "ACK of the future");
	ok(!in.take && is_told(1 << 20), "gets a challenge, is not taken");
	is_int(input(TCP_ACK, peer, ISS + 1 - 1001, 9, 10), 0,
	       "ACK older than the largest window");
	ok(!in.take && is_told(1 << 20), "too");
	input(TCP_ACK, peer, ISS + 1 - 1000, 9, 10);
	is_int(in.take, 10, "one as old as that is good");
	is_int(t.snd_wnd, 1000, "but tells no window");
	input(0, peer, ISS + 1, 9, 10);
	ok(!in.take, "without ACK nothing is taken");
}

static void refuse(void)
{
	struct pkt_tcp s = seg(TCP_ACK | TCP_FIN, 7, 99, 1), r = { 0 };

	ok(tcb_refuse(&s, 3, &r) && r.flags == TCP_RST && r.seq == 99,
	   "RST at what is acknowledged");
	s.flags = TCP_SYN | TCP_FIN;
	ok(tcb_refuse(&s, 3, &r) && r.flags == (TCP_RST | TCP_ACK) && !r.seq &&
		   r.ack == 12,
	   "else it acknowledges all");
	s.flags |= TCP_RST;
	ok(!tcb_refuse(&s, 3, &r), "RST is not answered");
}

static void old_and_early(void)
{
	opened(1000);
	input(TCP_ACK, peer, ISS + 1, 1000, 100);
	take();
	ok(is_told(1 << 20), "100 bytes");
	ok(!input(TCP_ACK, peer, ISS + 1, 1000, 100) && !in.take, "again: old");
	ok(is_told(1 << 20), "is told");
	input(TCP_ACK, peer + 40, ISS + 1, 1000, 100);
	ok(in.skip == 60 && in.take == 40, "an overlap: what is new of it");
	ok(t.flags & TCB_ACK_NOW, "is told at once");
	take();
	ok(is_told(1 << 20) && t.rcv_nxt == peer + 140, "taken");
	input(TCP_ACK | TCP_FIN, peer + 40, ISS + 1, 1000, 100);
	ok(in.skip == 100 && !in.take && in.todo & TCB_DO_FIN,
	   "all old, but for the FIN");
	input(TCP_ACK, peer + 141, ISS + 1, 1000, 100);
	ok(!in.take && in.ahead == 100 && is_told(1 << 20),
	   "out of order: behind a gap, and told");
	input(TCP_ACK, t.rcv_edge - 40, ISS + 1, 1000, 100);
	ok(!in.take && in.ahead == 40 && is_told(1 << 20),
	   "of which the window has room for a part");
	ok(!input(TCP_ACK, peer + 139, ISS + 1, 1000, 0) && is_told(1 << 20),
	   "keep-alive without a byte");
	ok(!input(TCP_ACK, peer + 139, ISS + 1, 1000, 1) && is_told(1 << 20),
	   "keep-alive with one");
	input(TCP_ACK, peer + 140, ISS + 1, 1000, 0);
	ok(!is_told(0), "an empty one in order is not answered");
}

static void our_window(void)
{
	uint32_t edge;
	struct pkt_tcp h;

	open_by_guest(ISS, PEER, -1, 1000);
	is_int(t.rcv_edge - t.rcv_nxt, 65535, "no scale: 65535 at most");
	input(TCP_ACK, peer, ISS + 1, 1000, 60000);
	take();
	ok(is_told(0) && tcb_header(&t, t.snd_nxt, 0).window == 5535,
	   "no room: what was promised");
	input(TCP_ACK, peer + 60000, ISS + 1, 1000, 9000);
	is_int(in.take, 5535, "no more than that is taken");
	take();
	ok(is_told(0) && !tcb_header(&t, t.snd_nxt, 0).window, "closed");
	input(TCP_ACK, t.rcv_nxt, ISS + 1, 1000, 1);
	ok(!in.take && is_told(0), "a probe is answered");
	input(TCP_ACK, t.rcv_nxt, ISS + 1, 2000, 0);
	is_int(t.snd_wnd, 2000, "its acknowledgements count meanwhile");
	ok(!tcb_offer(&t, t.rcv_nxt, 999, 1000), "a little: not told");
	ok(tcb_offer(&t, t.rcv_nxt, 1000, 1000), "more: told");
	ok(tcb_offer(&t, t.rcv_nxt, 1000, 1000), "until somebody tells");
	(void)tcb_header(&t, tcb_seq(&t), 0);
	edge = t.rcv_edge;
	ok(!tcb_offer(&t, t.rcv_nxt, 0, 0) && t.rcv_edge == edge, "and kept");

	open_by_guest(ISS, PEER, 3, 1000);
	tcb_offer(&t, t.rcv_nxt, 1 << 20, 0);
	h = tcb_header(&t, t.snd_nxt, 0);
	is_int(h.window, (1 << 20) >> TCB_SCALE, "scaled");
	input(TCP_ACK, peer, ISS + 1, 1000, 1);
	take();
	edge = t.rcv_edge;
	tcb_offer(&t, t.rcv_nxt, (1 << 20) + 100, 1000);
	is_int(t.rcv_edge - edge, 1, "a unit is begun where there is room");
	tcb_offer(&t, t.rcv_nxt, UINT32_MAX / 4, 0);
	is_int(t.rcv_edge - t.rcv_ack, 65535 << TCB_SCALE, "the most");
}

/* A guest that writes byte by byte, and a socket that takes no more */
static void small_segments(void)
{
	uint32_t n = 0, edge;

	opened(1000);
	edge = t.rcv_edge;
	while (n < 1 << 21) {
		input(TCP_ACK, peer + n, ISS + 1, 1000, 1);
		if (!in.take)
			break;
		take();
		n++;
		(void)is_told(0);
	}
	is_int(t.rcv_edge - edge, 0, "no room: the edge stays");
	is_int(n, edge - peer, "the window closes");
}

static void late_acknowledgement(void)
{
	opened(1000);
	input(TCP_ACK, peer, ISS + 1, 1000, 500);
	take();
	ok(!tcb_offer(&t, peer, 1 << 20, 0), "taken, not yet acknowledged");
	is_int(tcb_header(&t, t.snd_nxt, 0).ack, peer, "as the header says");
	ok(tcb_offer(&t, peer + 200, 1 << 20, 0), "some of it is");
	ok(tcb_offer(&t, peer + 200, 1 << 20, 0), "and is still to be told");
	(void)tcb_header(&t, tcb_seq(&t), 0);
	ok(!tcb_offer(&t, peer + 100, 1 << 20, 0) && t.rcv_ack == peer + 200,
	   "never back");
	ok(!input(TCP_ACK, peer + 200, ISS + 1, 1000, 300) && is_told(1 << 20),
	   "sent again: old, and told");
}

/* RFC 9293 3.8.6.2.1 */
static void silly_windows(void)
{
	opened(10000);
	is_int(tcb_room(&t), 10000, "all of the window");
	tcb_sent(&t, 9000, false, now);
	is_int(tcb_room(&t), 0, "1000 is less than a segment");
	input(TCP_ACK, peer, ISS + 1 + 1460, 8999, 0);
	is_int(tcb_room(&t), 0, "so is one byte less than a segment");
	input(TCP_ACK, peer, ISS + 1 + 1460, 9000, 0);
	is_int(tcb_room(&t), 1460, "a segment");

	opened(600);
	is_int(tcb_room(&t), 600, "a small window is used as it is");
	tcb_sent(&t, 301, false, now);
	is_int(tcb_room(&t), 0, "less than its half is not");
	input(TCP_ACK, peer, ISS + 1 + 301, 299, 0);
	is_int(tcb_room(&t), 0, "though nothing is out");
	tcb_stall(&t, now);
	now = t.due_ms;
	ok(now == TCB_RTO_MIN_MS && tcb_timeout(&t, now), "but after a while");
	is_int(tcb_room(&t), 299, "it is");
	tcb_sent(&t, 299, false, now);
	now = t.due_ms;
	ok(tcb_timeout(&t, now), "that piece is lost");
	is_int(tcb_room(&t), 299, "it is sent again");
}

static void closed_window(void)
{
	int64_t rto;
	unsigned i;

	opened(1000);
	tcb_sent(&t, 1000, false, now);
	input(TCP_ACK, peer, ISS + 1001, 0, 0);
	ok(!tcb_room(&t) && t.due_ms == TCB_NEVER, "closed, nothing is out");
	tcb_stall(&t, now);
	rto = t.due_ms - now;
	for (i = 0; i < 3 * TCB_TRIES; i++) {
		now = t.due_ms;
		if (!tcb_timeout(&t, now) || tcb_room(&t))
			break;
		is_int(t.due_ms - now,
		       rto << i < 8000 ? rto << (i + 1) : TCB_RTO_MAX_MS,
		       "probe %u", i);
		input(TCP_ACK, peer, ISS + 1001, 0, 0);
	}
	is_int(i, 3 * TCB_TRIES, "as long as it answers, it is asked");
	now += 1000;
	is_int(input(TCP_ACK, peer, ISS + 1001, 5000, 0), TCB_DO_PULL,
	       "the window opens");
	tcb_sent(&t, 5000, false, now);
	is_int(t.due_ms - now, rto, "time-out as if never closed");
	ok(!(t.flags & TCB_STALLED), "no stall");
	now = t.due_ms - 1;
	input(TCP_ACK, peer, ISS + 1001, 0, 0);
	is_int(tcb_room(&t), 0, "the guest takes its window back");
	now++;
	ok(tcb_timeout(&t, now) && !tcb_room(&t), "nothing may be sent");
	is_int(tcb_seq(&t), ISS + 1001, "and no number is behind it");
	is_int(t.due_ms - now, 2 * rto, "but time goes on");
	input(TCP_ACK, peer, ISS + 1001, 5000, 0);
	is_int(tcb_room(&t), 5000, "until it is given again");
}

static void stall(void)
{
	opened(1000);
	tcb_stall(&t, now);
	now = t.due_ms - 1;
	tcb_sent(&t, 10, false, now);
	ok(t.due_ms > now + 1, "what was sent late is not lost at once");
	input(TCP_ACK, peer, ISS + 11, 1000, 0);
	now = 10000;
	ok(tcb_timeout(&t, now) && t.due_ms == TCB_NEVER && !t.tries,
	   "without a stall nothing is due");
	tcb_stall(&t, now);
	for (unsigned i = 0; i < TCB_TRIES; i++)
		ok(tcb_timeout(&t, now += 20000), "not answered: %u", i);
	ok(!tcb_timeout(&t, now), "given up");
}

/* Data is out, and nobody answers */
static void data_again(void)
{
	int64_t last = 0;
	unsigned n;

	opened(60000);
	tcb_sent(&t, 3000, false, now);
	is_int(t.due_ms, TCB_RTO_MIN_MS, "time-out");
	for (n = 0; now = t.due_ms, tcb_timeout(&t, now); n++) {
		ok(t.snd_nxt == ISS + 1 && tcb_room(&t) == 60000,
		   "all of it again");
		is_int(t.due_ms - now,
		       2 * (now - last) < TCB_RTO_MAX_MS ? 2 * (now - last) :
							   TCB_RTO_MAX_MS,
		       "waits longer");
		last = now;
		tcb_sent(&t, 3000, false, now);
		is_int(t.snd_max, ISS + 3001, "the same bytes");
	}
	is_int(n, TCB_TRIES, "then it gives up");
	ok(now >= 100000, "not before 100 s");
	input(TCP_ACK, peer, ISS + 1 + 1460, 60000, 0);
	ok(!t.tries && t.rto_ms == TCB_RTO_MIN_MS && t.due_ms == now + t.rto_ms,
	   "an answer: as at the beginning");
}

static void go_back(void)
{
	opened(60000);
	for (unsigned i = 0; i < 4; i++)
		tcb_sent(&t, MSS, false, now);
	now = t.due_ms;
	ok(tcb_timeout(&t, now), "four segments are lost");
	tcb_sent(&t, MSS, false, now);
	is_int(input(TCP_ACK, peer, ISS + 1 + 2 * MSS, 60000, 0),
	       TCB_DO_ACKED | TCB_DO_PULL, "two were there after all");
	ok(in.acked == 2 * MSS && t.snd_nxt == ISS + 1 + 2 * MSS,
	   "not sent again");
	tcb_sent(&t, MSS, false, now);
	tcb_sent(&t, MSS, false, now);
	is_int(input(TCP_ACK, peer, ISS + 1 + 3 * MSS, 60000, 0),
	       TCB_DO_ACKED | TCB_DO_PULL, "what is under way is not, either");
	for (unsigned i = 0; i < 5; i++)
		is_int(input(TCP_ACK, peer, ISS + 1 + 3 * MSS, 60000, 0), 0,
		       "duplicates of before");
	input(TCP_ACK, peer, ISS + 1 + 4 * MSS, 60000, 0);
	ok(!t.is_lossy && t.due_ms == TCB_NEVER, "all is there");
}

static void fast(void)
{
	opened(60000);
	for (unsigned i = 0; i < 6; i++)
		tcb_sent(&t, MSS, false, now);
	is_int(input(TCP_ACK, peer, ISS + 1, 60000, 0), 0, "one duplicate");
	is_int(input(TCP_ACK, peer, ISS + 1, 60001, 0), TCB_DO_PULL,
	       "a window");
	input(TCP_ACK, peer, ISS + 1, 60001, 9);
	ok(!(in.todo & TCB_DO_RESEND) && in.take == 9, "a segment");
	is_int(input(TCP_ACK, peer, ISS + 1, 60001, 0), 0, "a second one");
	is_int(input(TCP_ACK, peer, ISS + 1, 60001, 0), TCB_DO_RESEND,
	       "a third one: lost");
	is_int(input(TCP_ACK, peer, ISS + 1, 60001, 0), 0, "once");
	tcb_sent(&t, MSS, false, now); /* a new one */
	is_int(input(TCP_ACK, peer, ISS + 1 + 2 * MSS, 60001, 0),
	       TCB_DO_ACKED | TCB_DO_PULL | TCB_DO_RESEND,
	       "a partial one: another is lost");
	is_int(input(TCP_ACK, peer, ISS + 1 + 6 * MSS, 60001, 0),
	       TCB_DO_ACKED | TCB_DO_PULL, "all that was out");
	ok(!t.is_lossy && !t.is_fast, "it is over");
	for (unsigned i = 0; i < 2; i++)
		input(TCP_ACK, peer, ISS + 1 + 6 * MSS, 60001, 0);
	is_int(input(TCP_ACK, peer, ISS + 1 + 6 * MSS, 60001, 0), TCB_DO_RESEND,
	       "the new one is lost, too");
	input(TCP_ACK, peer, ISS + 1 + 7 * MSS, 60001, 0);
	for (unsigned i = 0; i < 5; i++)
		is_int(input(TCP_ACK, peer, ISS + 1 + 7 * MSS, 60001, 0), 0,
		       "nothing is out, nothing is lost");
}

static void round_trips(void)
{
	opened(60000);
	for (unsigned i = 0; i < 50; i++) {
		tcb_sent(&t, 10, false, now);
		now += 300;
		input(TCP_ACK, peer, t.snd_max, 60000, 0);
	}
	ok(t.srtt_ms8 / 8 >= 298 && t.srtt_ms8 / 8 <= 300, "300 ms, smoothed");
	ok(t.rto_ms >= 298 && t.rto_ms < 330, "time-out %u", t.rto_ms);
	for (unsigned i = 0; i < 50; i++) {
		tcb_sent(&t, 10, false, now);
		now += i % 2 ? 100 : 500;
		input(TCP_ACK, peer, t.snd_max, 60000, 0);
	}
	ok(t.rto_ms > 800 && t.rto_ms < 1300, "they vary: %u", t.rto_ms);
	tcb_sent(&t, 10, false, now);
	now = t.due_ms;
	ok(tcb_timeout(&t, now), "lost");
	tcb_sent(&t, 10, false, now);
	input(TCP_ACK, peer, t.snd_max, 60000, 0);
	ok(t.rto_ms > 800, "sent twice: not measured (Karn)");
	for (unsigned i = 0; i < 300; i++) {
		tcb_sent(&t, 10, false, now);
		input(TCP_ACK, peer, t.snd_max, 60000, 0);
	}
	is_int(t.rto_ms, TCB_RTO_MIN_MS, "at once: the least");
}

/* The same at each place of the circle */
static void wrap(void)
{
	static const uint32_t at[] = { 0, 1, 0x7fffffff, 0x80000000,
				       0xfffffff0 };

	for (unsigned i = 0; i < 25; i++) {
		uint32_t us = at[i / 5] - 2000, it = at[i % 5] - 3000, n;

		open_by_guest(us, it, 0, 65535);
		for (n = 0; n < 6; n++) {
			tcb_sent(&t, MSS, false, now);
			input(TCP_ACK, peer + n * 1000, t.snd_una, 65535, 1000);
			take();
			(void)is_told(1 << 20);
			input(TCP_ACK, t.rcv_nxt, t.snd_max, 65535, 0);
			if (in.acked != MSS)
				break;
		}
		tcb_sent(&t, 0, true, now);
		input(TCP_ACK | TCP_FIN, t.rcv_nxt, t.snd_max, 65535, 0);
		take();
		ok(n == 6 && is_told(0) && tcb_is_over(&t) &&
			   t.rcv_nxt == it + 6002 && t.snd_una == us + 8762,
		   "from %x and %x", us, it);
	}
}

static void chance(void)
{
	static const uint16_t link_mss[] = { 536, 1460, 8960, 65480 };
	char what[80];

	for (unsigned i = 0; i < 200; i++) {
		struct model_conf c = {
			.loss = i % 4 * 60,
			.twice = i % 3 * 100,
			.delay_ms = i % 5 ? rnd(40) : 0,
			.total = { rnd(2000000), i % 7 ? rnd(200000) : 0 },
			.iss = { 0u - rnd(1000000), 0u - rnd(100000) },
			.mss = link_mss[rnd(4)],
			.read_ms = 1 + (i % 6 ? 0 : rnd(3000)),
			.both = i % 11 == 0,
			.later = i % 2,
		};

		snprintf(what, sizeof(what),
			 "%u: %u and %u bytes, loss %u, %u ms", i, c.total[0],
			 c.total[1], c.loss, c.delay_ms);
		model_run(&c, what);
	}
}

int main(void)
{
	by_guest();
	by_us();
	both_at_once();
	mss();
	syn_again();
	guest_fin_first();
	our_fin_first();
	both_fins();
	fin_again();
	resets();
	challenges();
	refuse();
	old_and_early();
	our_window();
	small_segments();
	late_acknowledgement();
	silly_windows();
	closed_window();
	stall();
	data_again();
	go_back();
	fast();
	round_trips();
	wrap();
	chance();
	return done();
}
