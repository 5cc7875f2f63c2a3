/* limits.h - every size and time of the program, with its unit and its reason
 * Knows: numbers.  Does not know: anything else. */

#ifndef LIMITS_H
#define LIMITS_H

/* Frames and datagrams, bytes */
#define VNET_LEN 10 /* virtio-net header without num_buffers: TUNSETVNETHDRSZ */
#define FRAME_MAX 65589 /* Ethernet and IPv6 headers, payload length 65,535 */
#define FRAME_MIN 14 /* an Ethernet header: less is not a frame */
#define HEAD_MAX 92 /* vnet, Ethernet, IPv6, TCP header with our options */
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

/* Waiting for events, doc/decisions/0051 */
#define LOOP_POLL_US 50 /* to look before sleeping: as long as to be woken */
#define LOOP_POLL_AFTER 4 /* waits in a row that were shorter */
#define LOOP_POLL_LATE_US 500 /* to look takes so long: others compute */
#define LOOP_POLL_PAUSE_US 1000000 /* and are left alone for that long */

/* Queues we ask the kernel for */
#define SOCK_BUF (4 * 1024 * 1024) /* bytes; holds a 10 ms stall at 10 Gbit/s */
#define SOCK_BUF_FORCED (16 * 1024 * 1024) /* bytes, where we have the right */
#define TAP_QUEUE 4096 /* frames: a burst of 3,000 needs more than 1,000 */

/* Tables. Each is zero when empty and untouched until used. */
#define FLOW_MAX 131072
#define FLOW_DONE_MAX 64 /* spliced, answered once: a descriptor each */
#define MAP_DYNAMIC_MAX 16384 /* also at most half of RLIMIT_NOFILE */
#define LISTEN_MAX 131072 /* of a protocol: every port, both families */
#define MAP_LISTEN_MAX LISTEN_MAX
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

/* TCP. A connection has a descriptor and 260 bytes, all zero until used: 240 of
 * struct tcp_conn, 20 for its deadline. Its bytes are in the kernel's buffers */
#define TCP_MAX 131072
#define TCP_BUCKETS 65536
#define TCP_FRAME_MAX 65495 /* payload of a super-frame: IPv4's total length */
#define TCP_SEGMENT 1440 /* that it is divided into: IPv6 on an Ethernet */
#define TCP_PEEK (256 * 1024) /* bytes of one look into a socket */
#define TCP_SEEN (256 * 1024) /* in flight, where each look copies it */
#define TCP_PEEKS 4 /* before other descriptors get their turn */
#define TCP_ACCEPTS 32 /* likewise */
#define TCP_MSS_DEFAULT 536 /* RFC 9293 3.7.1 */
#define TCP_MSS_MIN 48 /* what Linux lets itself be told */
#define TCB_SCALE 8 /* windows up to 16 MiB: more than a send buffer has */
#define TCB_SYN_WINDOW 14600 /* less than any send buffer; RFC 6928's ten */
#define TCB_EDGE_NEAR 65536 /* bytes left: the guest may wait for more */
#define REST_BUFS 128 /* 8 MiB, touched only when bytes must wait here */
#define REST_SIZE 65536
#define TCP_AHEAD_BUFS 96 /* of them for what came behind a gap */

/* TCP from socket to socket: 112 bytes, two descriptors, a pipe only while it
 * moves much: a user's pipes may have 16,384 pages in all, pipe(7) */
#define SPLICE_LOOK 65536 /* bytes of one look */
#define SPLICE_BULK 16384 /* of which so many are cheaper by pipe */
#define SPLICE_ROUND (1024 * 1024) /* bytes before others get their turn */
#define PIPE_SIZE (1024 * 1024) /* pipe-max-size; 256 KiB cost CPU */
#define PIPE_LEAST 65536 /* a look is better than less */
#define PIPES_MAX 32
#define PIPES_IDLE 4 /* kept open */
#define PIPES_FIRST 2 /* opened at start: later, others may have all pages */
#define PIPE_AGAIN_MS 1000 /* until another one is tried for */

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
#define TCB_RTO_SYN_MS 1000 /* RFC 6298 2.1 */
#define TCB_RTO_MIN_MS 200 /* as Linux: the guest delays its answers by 40 */
#define TCB_RTO_MAX_MS 16000
#define TCB_SYN_TRIES 4 /* again after 1, 3, 7, 15 s; given up after 31 */
#define TCB_TRIES 12 /* the last after 105 s: RFC 9293 3.8.3 asks for 100 */
#define TCP_IDLE_MS 7440000 /* RFC 5382 REQ-5: two hours and four minutes */
#define TCP_CONNECT_MS 10000 /* to a server on loopback: its backlog is full */
#define TCP_CLOSING_MS 240000 /* one direction ended: RFC 5382 REQ-5 */
#define TCP_EVICT_MS 60000 /* idle for less: never given up for another */
#define TCP_ACK_MS 1 /* until the peer's acknowledgement is looked for */
#define TCP_ACK_MAX_MS 128 /* at most, doubled each time in vain */
#define TCP_PAUSE_MS 10 /* no descriptor left: until accepting is tried */
#define TCP_NEAR_US 1000 /* round trip that a guest's own compares with */

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
