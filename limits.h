/* limits.h - every size and time of the program, with its unit and its reason
 * Knows: numbers.  Does not know: anything else. */

#ifndef LIMITS_H
#define LIMITS_H

/* Frames and datagrams, bytes */
#define VNET_LEN 10 /* virtio-net header without num_buffers: TUNSETVNETHDRSZ */
#define FRAME_MAX 65589 /* Ethernet and IPv6 headers, payload length 65,535 */
#define FRAME_MIN 14 /* an Ethernet header: less is not a frame */
#define HEAD_MAX 72 /* vnet, Ethernet, IPv6 and UDP headers together */
#define DGRAM_MAX 65535 /* UDP length field, RFC 768; no payload is longer */

/* Runs: RFC 768 lengths and the kernel's UDP_MAX_SEGMENTS before 6.9 */
#define RUN_SEGS_MAX 64
#define PIECE_SEGS_MAX 128 /* the same since 6.9: of one buffer it merged */
#define RUN_LEN_MAX 65507 /* IPv4's largest payload: a longer one vanishes */
#define RUNS_MAX 64 /* open runs of one round; a full table is flushed */

/* One round of receiving, sized to stay inside a 512 KiB L2 cache */
#define ROUND_MSGS 64 /* datagrams of one recvmmsg(2) */
#define ROUND_LARGE 4 /* the same once buffers are large */
#define ROUND_LARGE_BYTES 4096 /* a first buffer above this is "large" */
#define ROUND_STREAM 3 /* datagrams of a last round that mean a stream */
#define TAP_ARENA (256 * 1024) /* bytes of frames of one round of tap reads */
#define TAP_FRAMES 64 /* frames of one round of tap reads */
#define ROUNDS_MAX 8 /* rounds before other descriptors get their turn */

/* Queues we ask the kernel for */
#define SOCK_BUF (4 * 1024 * 1024) /* bytes; holds a 10 ms stall at 10 Gbit/s */
#define SOCK_BUF_FORCED (16 * 1024 * 1024) /* bytes, where we have the right */
#define TAP_QUEUE 4096 /* frames: a burst of 3,000 needs more than 1,000 */

/* Tables. Each is zero when empty and untouched until used. */
#define FLOW_MAX 131072
#define FLOW_DONE_MAX 64 /* spliced, answered once: a descriptor each */
#define MAP_DYNAMIC_MAX 16384 /* also at most half of RLIMIT_NOFILE */
#define MAP_LISTEN_MAX 131072 /* every port, both families */
#define MAP_MAX (MAP_DYNAMIC_MAX + MAP_LISTEN_MAX)
#define DNS_QUERIES_MAX 4096 /* each has a socket; the oldest gives way */
#define DNS_QUERY_BYTES 1024 /* of a query that is kept to be sent again */
#define FRAG_MAX 64 /* datagrams under reassembly */
#define FRAG_PER_SOURCE 16 /* of one source: one sender cannot starve others */

/* Groups: what the guest joins is joined by holders, what it hears without
 * publishing the port comes by receivers */
#define MCAST_GROUPS_MAX 64
#define MCAST_CHANGES_MAX 64 /* of one report; a frame of 1500 holds 92 */
#define MCAST_HOLDERS 8 /* per family; an IPv4 socket holds 20 groups */
#define MCAST_RECEIVERS_MAX 64

#define POLICY_MAX 128 /* rules of --allow and --deny; "all" is two */

/* Times, milliseconds */
#define MCAST_QUERY_MS 125000 /* RFC 3376 8.2, RFC 3810 9.2 */
#define MCAST_IDLE_MS 260000 /* twice that and the time to respond */
#define UDP_IDLE_MS 180000 /* RFC 4787 REQ-5 asks for more than 120 s */
#define DNS_IDLE_MS 30000 /* an answered query; RFC 4787 REQ-5 c allows it */
#define DNS_TRY_MS 700 /* before the next resolver is asked; clients wait 5 s */
#define RESOLV_ASK_MS 1000 /* between looks at resolv.conf, on a query */
#define FOLLOW_MS 300 /* a change of the host's network settles first */
#define ECHO_IDLE_MS 60000 /* RFC 5508 REQ-2: not less */
#define FRAG_IDLE_MS 30000 /* RFC 1122 3.3.2 and RFC 8200 4.5 say 60 at most */
#define SCAN_MS 1000 /* "auto": how often bound ports are listed */
#define AGENT_DEADLINE_MS 1000 /* an agent answers in 10 us; this means dead */
#define TRIAL_MS 10 /* a refusal by loopback is known in microseconds */
#define GSO_RETRY_MS 60000 /* after a refused segmented send */

/* Errors to the guest, RFC 4443 2.4 (f) */
#define ICMP_RATE 1000 /* per second; as many as Linux sends by default */
#define ICMP_BURST 128 /* at once: those of one round */

/* Descriptors */
#define AGENT_POOL 64 /* sockets of one request: 6 us each, 20 us alone */
#define FD_RESERVE 64 /* kept free of flows for listeners, agents, tap, logs */

/* Link defaults */
#define MTU_DEFAULT 65520
#define MTU_MIN 68 /* RFC 791 */
#define MTU_MAX 65521 /* the largest a Linux tap accepts */
#define IFNAME_SIZE 16 /* IFNAMSIZ, terminator included */

/* Host facts taken over at start */
#define HOST_ADDRS_MAX 512
#define HOST_ROUTES_MAX 1024

#endif
