/* stats.h - counters by name: every datagram that enters and does not leave
 * moves exactly one drop counter
 * Knows: names.  Does not know: who counts.
 * One row per counter below makes the enum, the name and the JSON key. Drops
 * count datagrams where they can be told apart, "frames" where the kernel
 * counts a super-frame as one. */

#ifndef STATS_H
#define STATS_H

#include <stddef.h>
#include <stdint.h>

/* X(enumerator, JSON key) */
#define STATS_COUNTERS(X) \
	X(TAP_RX_FRAMES, "tap_rx_frames") \
	X(TAP_RX_DGRAMS, "tap_rx_datagrams") \
	X(TAP_RX_SEGS, "tap_rx_segments") \
	X(TAP_TX_FRAMES, "tap_tx_frames") \
	X(TAP_TX_DGRAMS, "tap_tx_datagrams") \
	X(TAP_TX_SEGS, "tap_tx_segments") \
	X(HOST_RX_CALLS, "host_rx_calls") \
	X(HOST_RX_DGRAMS, "host_rx_datagrams") \
	X(HOST_TX_CALLS, "host_tx_calls") \
	X(HOST_TX_DGRAMS, "host_tx_datagrams") \
	X(SPLICE_DGRAMS, "splice_datagrams") \
	X(LOCAL_ANSWERS, "local_answers") \
	X(ROUTER_ADVERTS, "router_advertisements") \
	X(GROUP_REPORTS, "group_reports") \
	X(GROUP_IGNORED, "group_reports_ignored") \
	X(FLOWS_NEW, "flows_new") \
	X(FLOWS_EXPIRED, "flows_expired") \
	X(FLOWS_EVICTED, "flows_evicted") \
	X(MAPS_NEW, "maps_new") \
	X(MAPS_EVICTED, "maps_evicted") \
	X(DNS_QUERIES, "dns_queries") \
	X(DNS_RETRIES, "dns_asked_again") \
	X(FLOWS_MOVED, "flows_moved") \
	X(GSO_REFUSED, "gso_refused") \
	X(AGENT_ERRORS, "agent_errors") \
	X(PCAP_LOST, "pcap_records_lost") \
	X(SOCK_ERRORS, "socket_errors_drained") \
	X(ECHO_REQUESTS, "echo_requests") \
	X(ECHO_REPLIES, "echo_replies") \
	X(ICMP_TO_GUEST, "icmp_errors_to_guest") \
	X(ICMP_LIMITED, "icmp_errors_over_rate") \
	X(ICMP_UNMATCHED, "icmp_errors_unmatched") \
	X(ICMP_FROM_GUEST, "icmp_errors_from_guest") \
	X(TCP_OPENED, "tcp_opened_by_guest") \
	X(TCP_ACCEPTED, "tcp_accepted") \
	X(TCP_CLOSED, "tcp_closed") \
	X(TCP_RESET, "tcp_reset") \
	X(TCP_REFUSED, "tcp_refused") \
	X(TCP_EXPIRED, "tcp_expired") \
	X(TCP_EVICTED, "tcp_evicted") \
	X(TCP_RESENT, "tcp_retransmissions") \
	X(TCP_RESTS, "tcp_writes_cut_short") \
	X(TCP_AHEAD, "tcp_kept_out_of_order") \
	X(TCP_PAUSED, "tcp_accept_paused") \
	X(TCP_SPLICED, "tcp_spliced") \
	X(TCP_SPLICE_BYTES, "tcp_spliced_bytes") \
	X(SPLICE_REFUSED, "splice_refused") \
	X(SPLICE_TURNED, "splice_retried_by_ipv4")

/* X(enumerator, JSON key): datagrams or frames that end here, and why */
#define STATS_DROPS(X) \
	X(DROP_SHORT, "short_frame") \
	X(DROP_ETHERTYPE, "unknown_ethertype") \
	X(DROP_BAD_IP, "bad_ip_header") \
	X(DROP_BAD_L4, "bad_transport_header") \
	X(DROP_BAD_CSUM, "bad_checksum") \
	X(DROP_BAD_ADDR, "bad_address") \
	X(DROP_BAD_PORT, "port_zero") \
	X(DROP_FAMILY_OFF, "family_disabled") \
	X(DROP_PROTO, "protocol_not_carried") \
	X(DROP_NOT_OURS, "discovery_not_answered") \
	X(DROP_DHCP, "dhcp_not_answered") \
	X(DROP_SERVICE_OFF, "service_disabled") \
	X(DROP_NO_PING, "no_ping_socket") \
	X(DROP_ICMP, "icmp_error_unmatched") \
	X(DROP_FRAG_BAD, "fragment_malformed") \
	X(DROP_FRAG_OVERLAP, "fragment_overlap") \
	X(DROP_FRAG_LOST, "fragment_timeout_or_evicted") \
	X(DROP_NO_TARGET, "no_translation") \
	X(DROP_FILTERED, "filtered") \
	X(DROP_DENIED, "denied_by_policy") \
	X(DROP_GROUP, "group_not_joined") \
	X(DROP_OWN_COPY, "own_group_copy") \
	X(DROP_NOT_LOOPBACK, "not_from_loopback") \
	X(DROP_TABLE_FULL, "flow_table_full") \
	X(DROP_NO_SOCKET, "no_socket") \
	X(DROP_NO_ROUTE, "no_route") \
	X(DROP_TRUNCATED, "truncated") \
	X(DROP_HOST_AGAIN, "host_send_queue_full") \
	X(DROP_HOST_ERROR, "host_send_error") \
	X(DROP_HOST_SIZE, "host_message_too_long") \
	X(DROP_TCP_STRAY, "tcp_no_connection") \
	X(DROP_TCP_ORDER, "tcp_out_of_order") \
	X(DROP_TCP_ROOM, "tcp_no_buffer") \
	X(DROP_TCP_LATE, "tcp_after_close") \
	X(DROP_TAP_DOWN, "tap_down") \
	X(DROP_TAP_ERROR, "tap_write_error")

#define STATS_ENUM(name, key) name,

/** enum counter - all counters, drops last */
enum counter {
	STATS_COUNTERS(STATS_ENUM) STATS_DROPS(STATS_ENUM) STAT_COUNT,
	STAT_DROPS = DROP_SHORT
};

/** struct stats - counters since start, read by nobody on the packet path */
struct stats {
	uint64_t n[STAT_COUNT];
};

/** struct stats_gauge - a figure from outside, added to the JSON line
 * @key: JSON key      @value: at this moment */
struct stats_gauge {
	const char *key;
	uint64_t value;
};

/** stats_add() - count @n; datagrams of a whole run move at once */
static inline void stats_add(struct stats *s, enum counter what, uint64_t n)
{
	s->n[what] += n;
}

/**
 * stats_json() - one line of JSON with every counter
 * @gauge, @n: further figures (kernel drops, table sizes)
 * @buf, @size: room for the text; cut short, but terminated, if too small
 * Returns: bytes that the whole text needs, terminator not counted
 */
size_t stats_json(const struct stats *s, const struct stats_gauge *gauge,
		  unsigned n, char *buf, size_t size);

#endif
