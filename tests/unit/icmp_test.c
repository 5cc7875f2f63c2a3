/* icmp_test.c - echo requests of the guest over real ping sockets */

#include "icmp.h"

#include "bench.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct icmp icmp;
static uint8_t request[3000], reply[3000];
static uint32_t reply_len;

/* Who may have ping sockets in our namespace: groups from @text */
static bool range(const char *text)
{
	int fd = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY);
	bool is_ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return is_ok;
}

static uint16_t sum_of(const struct pkt *p, const uint8_t *msg, uint32_t len)
{
	uint32_t sum = 0;

	if (!addr_is_v4(&p->src.addr)) {
		sum = plain_sum(PROTO_ICMP6 + len, p->src.addr.b, 16);
		sum = plain_sum(sum, p->dst.addr.b, 16);
	}
	return plain_fold(plain_sum(sum, msg, len));
}

/* An echo request of the guest; false: not taken for one */
static bool asks(unsigned f, const struct end *dst, uint16_t id, uint16_t seq,
		 uint32_t len)
{
	struct pkt p = { .src = E(at_guest[f], 0),
			 .dst = *dst,
			 .proto = f ? PROTO_ICMP6 : PROTO_ICMP,
			 .body = { .buf = request, .len = 8 + len } };

	p.body.mark = (struct mark){ .tos = 0x2e, .hops = 64, .df = 1 };
	p.dst.port = 0;
	memset(request, 0, 8);
	request[0] = f ? 128 : 8;
	be16_put(request + 4, id);
	be16_put(request + 6, seq);
	for (uint32_t i = 0; i < len; i++)
		request[8 + i] = payload_byte(i);
	be16_put(request + 2, (uint16_t)~sum_of(&p, request, 8 + len));
	return icmp_from_guest(&icmp, &p);
}

/* The next frame must be a sound reply; returns whether there is one. */
static bool answers(unsigned f, const struct end *src, uint16_t id,
		    uint16_t seq, uint32_t len)
{
	struct end from = E(at_guest[f], 0);
	struct pkt p;

	if (guest_hears(&p) || p.body.len != 8 + len)
		return false;
	reply_len = p.body.len;
	memcpy(reply, p.body.buf, reply_len);
	ok(addr_eq(&p.src.addr, &src->addr) && end_eq(&p.dst, &from),
	   "its ends");
	is_int(sum_of(&p, reply, reply_len), 0xffff, "its checksum");
	is_int(reply[0], f ? 129 : 0, "a reply");
	is_int(be16_get(reply + 4), id, "its identifier");
	is_int(be16_get(reply + 6), seq, "its sequence number");
	is_mem(reply + 8, request + 8, len, "its content");
	return true;
}

static void start(void)
{
	bench_start(OFFLOAD_USO, 64);
	icmp = (struct icmp){ .udp = bench.u };
}

static void exchange(unsigned f)
{
	struct end b = E(at_b[f], 0), c = E(at_c[f], 0);
	struct end gate = E(f ? GATE6 : GATE, 0);

	start();
	for (uint16_t seq = 1; seq < 4; seq++) {
		ok(asks(f, &b, 4242, seq, 56), "a request");
		bench_wait();
		ok(answers(f, &b, 4242, seq, 56), "a reply");
	}
	asks(f, &b, 4242, 7, 0);
	bench_wait();
	ok(answers(f, &b, 4242, 7, 0), "an empty one");
	asks(f, &c, 4242, 1, 1000);
	bench_wait();
	ok(answers(f, &c, 4242, 1, 1000), "another remote");
	is_int(bench.u->maps.n, 1, "by the same socket");
	is_int(bench.u->flows.n, 2, "each a flow");
	asks(f, &b, 4243, 1, 8);
	bench_wait();
	ok(answers(f, &b, 4243, 1, 8), "another identifier");
	is_int(bench.u->maps.n, 2, "has its own");
	asks(f, &gate, 4242, 1, 8);
	bench_wait();
	ok(answers(f, &gate, 4242, 1, 8), "the alias of loopback");
	is_balanced(7, "echo");
	bench_later(60);
	is_int(bench.u->flows.n, 4, "60 s are not too long");
	bench_later(1);
	is_int(bench.u->maps.n, 0, "all over then");
	bench_stop();
}

static void errors(unsigned f)
{
	struct end to = E(f ? "2001:db8:1::1" : "203.0.113.9", 0);
	struct end group = E(f ? "ff02::1" : "224.0.0.1", 0);
	uint8_t msg[ICMPERR_FRAME + VNET_LEN];
	ssize_t n;

	start();
	ok(asks(f, &to, 4242, 77, 8), "no route");
	is_int(count(DROP_NO_ROUTE), 1, "counted");
	n = read(bench.guest, msg, sizeof(msg));
	ok(n > 0, "and told");
	is_int(msg[24 + (f ? 40 : 20)], f ? 1 : 3, "unreachable");
	is_int(be16_get(msg + n - 12), 4242, "about this identifier");
	is_int(be16_get(msg + n - 10), 77, "and sequence number");
	ok(asks(f, &group, 4242, 1, 8), "a group");
	is_int(count(DROP_NO_TARGET), 1, "counted");
	request[0] = f ? 129 : 0;
	ok(!icmp_from_guest(&icmp, &(struct pkt){ .src = E(at_guest[f], 0),
						  .dst = to,
						  .body = { .buf = request,
							    .len = 16 } }),
	   "a reply is none of ours");
	request[0] = f ? 128 : 8;
	ok(!icmp_from_guest(&icmp, &(struct pkt){ .src = E(at_guest[f], 0),
						  .dst = to,
						  .body = { .buf = request,
							    .len = 7 } }),
	   "nor is a short one");
	request[3] ^= 1;
	ok(icmp_from_guest(&icmp, &(struct pkt){ .src = E(at_guest[f], 0),
						 .dst = to,
						 .body = { .buf = request,
							   .len = 16 } }),
	   "a damaged one");
	is_int(count(DROP_BAD_CSUM), 1, "counted");
	bench_stop();
}

static void forbidden(unsigned f)
{
	struct end b = E(at_b[f], 0);

	range("1 0");
	start();
	ok(asks(f, &b, 4242, 1, 8) && asks(f, &b, 4242, 2, 8), "two requests");
	is_int(count(DROP_NO_PING), 2, "counted");
	ok(icmp.is_said, "and said");
	is_balanced(2, "forbidden");
	bench_stop();
	range("0 2147483647");
}

int main(void)
{
	bench_host();
	if (!range("0 2147483647"))
		skip_all("ping_group_range: %s", strerror(errno));
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		printf("# IPv%u\n", f ? 6 : 4);
		exchange(f);
		errors(f);
		forbidden(f);
	}
	return done();
}
