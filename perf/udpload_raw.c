/* udpload_raw.c - whole frames, for the link below a forwarder
 *
 * A packet socket sends Ethernet frames with UDP inside, with a VLAN tag and
 * its priority if asked for, through whatever carries frames: a tap, a veth
 * pair, a bridge. The kernel takes a tag off the frames that it hands to us and
 * says it beside them; the reflector puts it back.
 *
 * The reflector swaps the MAC addresses, and the IP addresses and ports unless
 * --swap-mac: the answer is then the question, turned round on the link alone.
 * Neither touches a checksum. One outer IPv4 header, as perf/xdp wraps frames
 * in, is taken off what is received.
 *
 * It answers no ARP and no neighbour solicitation: give the peer a permanent
 * entry, or let its kernel own the address. */

#include "udpload_chan.h"

#include "csum.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define TYPE_IP 0x0800
#define TYPE_VLAN 0x8100
#define TYPE_IPV6 0x86dd
#define ETH_LEN 14
#define TAG_LEN 4
#define IP4_LEN 20
#define IP6_LEN 40
#define UDP_LEN 8
#define PROTO_IPIP 4
#define PROTO_IPV6 41
#define FIRST_PORT 20000

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* ---- sending ---------------------------------------------------------- */

static void put_macs(uint8_t *eth, const struct options *o, int fd)
{
	struct ifreq ifr = { 0 };
	unsigned b[6];

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", o->raw);
	if (ioctl(fd, SIOCGIFHWADDR, &ifr))
		fail("address of %s: %s", o->raw, strerror(errno));
	if (!o->mac || sscanf(o->mac, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2],
			      &b[3], &b[4], &b[5]) != 6)
		fail("--raw needs --mac XX:XX:XX:XX:XX:XX, the next hop");
	for (int i = 0; i < 6; i++)
		eth[i] = (uint8_t)b[i];
	memcpy(eth + 6, ifr.ifr_hwaddr.sa_data, 6);
	if (ioctl(fd, SIOCGIFMTU, &ifr))
		fail("MTU of %s: %s", o->raw, strerror(errno));
	if (o->size + UDP_LEN + (strchr(o->addr, ':') ? IP6_LEN : IP4_LEN) >
	    (unsigned)ifr.ifr_mtu)
		fail("%u bytes do not fit the MTU of %s, %d", o->size, o->raw,
		     ifr.ifr_mtu);
}

static void put_ip(struct raw *r, const struct options *o, uint8_t *ip)
{
	unsigned len = r->size + UDP_LEN;
	int family = r->is6 ? AF_INET6 : AF_INET;
	unsigned alen = r->is6 ? 16 : 4;
	uint8_t *src = ip + (r->is6 ? 8 : 12);

	if (r->is6) {
		ip[0] = 0x60;
		put16(ip + 4, len);
		ip[6] = IPPROTO_UDP;
		ip[7] = 64;
	} else {
		ip[0] = 0x45;
		put16(ip + 2, len + IP4_LEN);
		ip[6] = 0x40; /* do not fragment */
		ip[8] = 64;
		ip[9] = IPPROTO_UDP;
	}
	if (!o->from || inet_pton(family, o->from, src) != 1)
		fail("--raw needs --from ADDRESS of the remote's family");
	if (inet_pton(family, o->addr, src + alen) != 1)
		fail("'%s' is no address", o->addr);
	if (!r->is6) {
		uint16_t sum = csum_done(csum_add(0, ip, IP4_LEN));

		memcpy(ip + 10, &sum, sizeof(sum));
	}
}

static void prepare(struct raw *r, const struct options *o, int fd)
{
	uint8_t *p = r->frame;

	r->is6 = strchr(o->addr, ':');
	put_macs(p, o, fd);
	p += 2 * 6;
	if (o->vlan >= 0) {
		r->tag = TAG_LEN;
		put16(p, TYPE_VLAN);
		put16(p + 2, (unsigned)r->vlan_tci);
		p += TAG_LEN;
	}
	put16(p, r->is6 ? TYPE_IPV6 : TYPE_IP);
	put_ip(r, o, p + 2);
	p += 2 + (r->is6 ? IP6_LEN : IP4_LEN);
	put16(p + 4, UDP_LEN + r->size);
	r->head = (uint32_t)(p + UDP_LEN - r->frame);
	payload_init(r->frame + r->head, r->size);
}

int raw_open(struct raw *r, const struct options *o, bool is_sender)
{
	struct sockaddr_ll sa = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(0x0003) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		fail("packet socket: %s", strerror(errno));
	sa.sll_ifindex = (int)if_nametoindex(o->raw);
	setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on));
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	ask_queue(fd, o->queue);
	set_timeout(fd, TICK_MS / 1e3);
	if (!sa.sll_ifindex || bind(fd, (struct sockaddr *)&sa, sizeof(sa)))
		fail("interface %s: %s", o->raw, strerror(errno));
	r->size = o->size;
	r->ports = o->ports;
	r->spread = o->flows;
	r->local = o->bind_port ? o->bind_port : FIRST_PORT;
	r->remote = (unsigned)atoi(o->port);
	r->vlan_tci = o->vlan < 0 ? -1 : (int)o->prio << 13 | o->vlan;
	if (r->local + (o->flows - 1) / o->ports > 65535)
		fail("%u flows need more destination ports: -P", o->flows);
	if (is_sender)
		prepare(r, o, fd);
	return fd;
}

int raw_send(struct raw *r, int fd, uint64_t seq)
{
	uint8_t *payload = r->frame + r->head, *udp = payload - UDP_LEN;
	unsigned flow = (unsigned)(seq % r->spread), len = UDP_LEN + r->size;
	unsigned addrs = r->is6 ? 32 : 8;
	uint64_t sum;
	uint16_t csum;

	payload_stamp(payload, r->size, seq);
	put16(udp, r->local + flow / r->ports);
	put16(udp + 2, r->remote + flow % r->ports);
	memset(udp + 6, 0, 2);
	sum = csum_add(htons((uint16_t)len) + htons(IPPROTO_UDP), udp - addrs,
		       addrs);
	csum = csum_udp(csum_add(sum, udp, len));
	memcpy(udp + 6, &csum, sizeof(csum));
	if (send(fd, r->frame, r->head + r->size, MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

/* ---- receiving -------------------------------------------------------- */

/** struct view - where things are in a frame; @ip points at the inner header */
struct view {
	uint8_t *eth;
	uint8_t *ip;
	uint8_t *udp;
	uint8_t *payload;
	uint32_t len;
	bool is6;
	bool is_wrapped;
};

/* Returns the protocol of the header at v->ip and moves to what follows */
static int past_ip(struct view *v, const uint8_t *end, uint8_t **ret_next)
{
	v->is6 = (v->ip[0] >> 4) == 6;
	if (v->is6) {
		*ret_next = v->ip + IP6_LEN;
		return *ret_next <= end ? v->ip[6] : -1;
	}
	*ret_next = v->ip + (v->ip[0] & 15) * 4;
	return *ret_next <= end && v->ip + IP4_LEN <= end ? v->ip[9] : -1;
}

/* A frame with UDP in it? @v is only written to the end if so */
static bool look(uint8_t *frame, uint32_t len, struct view *v)
{
	uint8_t *end = frame + len, *next;
	int proto;

	*v = (struct view){ .eth = frame, .ip = frame + ETH_LEN };
	if (len < ETH_LEN + IP4_LEN)
		return false;
	if (get16(frame + 12) == TYPE_VLAN)
		v->ip += TAG_LEN;
	if (get16(v->ip - 2) != TYPE_IP && get16(v->ip - 2) != TYPE_IPV6)
		return false;
	proto = past_ip(v, end, &next);
	if (proto == PROTO_IPIP || proto == PROTO_IPV6) {
		v->is_wrapped = true;
		if (v->is6 || csum_done(csum_add(0, v->ip, IP4_LEN)))
			return false;
		v->ip = next;
		proto = next < end ? past_ip(v, end, &next) : -1;
	}
	if (proto != IPPROTO_UDP || next + UDP_LEN > end)
		return false;
	v->udp = next;
	v->payload = next + UDP_LEN;
	v->len = get16(next + 4);
	if (v->len < UDP_LEN || v->udp + v->len > end)
		return false;
	v->len -= UDP_LEN;
	return true;
}

/* Receives a frame; returns its length or -errno, the tag it had or -1 */
static int take(int fd, uint8_t *buf, int flags, int *ret_tci)
{
	uint8_t ctl[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec iov = { buf, BUF_MAX };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = ctl,
			     .msg_controllen = sizeof(ctl) };
	ssize_t n = recvmsg(fd, &mh, flags);
	struct tpacket_auxdata aux;

	if (n < 0)
		return -errno;
	*ret_tci = -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&mh); c;
	     c = CMSG_NXTHDR(&mh, c)) {
		if (c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			*ret_tci = aux.tp_vlan_tci;
	}
	return (int)n;
}

/* Ours has the remote's port on the one side or on the other */
static bool is_ours(const struct raw *r, const struct view *v)
{
	unsigned a = get16(v->udp) - r->remote;
	unsigned b = get16(v->udp + 2) - r->remote;

	return a < r->ports || b < r->ports;
}

int raw_recv(struct raw *r, int fd, const uint8_t **ret_buf)
{
	struct view v;
	int n, tci;

	/* Other people's frames are no reason to wake up again */
	do {
		n = take(fd, message[1], MSG_DONTWAIT, &tci);
		if (n < 0)
			return n;
	} while (!look(message[1], (uint32_t)n, &v) || !is_ours(r, &v));
	r->wrapped += v.is_wrapped;
	r->mistagged += tci != r->vlan_tci;
	*ret_buf = v.payload;
	return (int)v.len;
}

/* ---- reflector -------------------------------------------------------- */

static void swap(uint8_t *a, uint8_t *b, unsigned len)
{
	uint8_t t;

	for (unsigned i = 0; i < len; i++) {
		t = a[i];
		a[i] = b[i];
		b[i] = t;
	}
}

/* Puts a tag back in; there is room before the frame */
static uint8_t *tag(uint8_t *frame, int tci)
{
	if (tci < 0)
		return frame;
	memmove(frame - TAG_LEN, frame, 12);
	put16(frame - TAG_LEN + 12, TYPE_VLAN);
	put16(frame - TAG_LEN + 14, (unsigned)tci);
	return frame - TAG_LEN;
}

int raw_echo(const struct options *o)
{
	static uint8_t buf[TAG_LEN + BUF_MAX];
	static struct raw r;
	double end = now() + o->secs;
	uint64_t answered = 0, errors = 0;
	int fd = raw_open(&r, o, false);

	while (!stopped && now() < end) {
		int tci;
		int n = take(fd, buf + TAG_LEN, 0, &tci);
		uint8_t *f = buf + TAG_LEN;
		struct view v;

		if (n < 0 || !look(f, (uint32_t)n, &v) ||
		    get16(v.udp + 2) - r.remote >= r.ports)
			continue;
		swap(f, f + 6, 6);
		if (!o->swap_mac) {
			swap(v.ip + (v.is6 ? 8 : 12), v.ip + (v.is6 ? 24 : 16),
			     v.is6 ? 16 : 4);
			swap(v.udp, v.udp + 2, 2);
		}
		f = tag(f, tci);
		if (send(fd, f, (size_t)(n + (tci < 0 ? 0 : TAG_LEN)), 0) < 0)
			errors++;
		else
			answered++;
	}
	printf("{\"answered\":%" PRIu64 ",\"errors\":%" PRIu64 "}\n", answered,
	       errors);
	return 0;
}
