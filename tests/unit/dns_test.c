/* dns_test.c - queries out, answers in, over real sockets; time is ours */

#include "dns.h"

#include "bench.h"
#include "log.h"

static const char *const alias[] = { "10.9.9.9", "fd00::53" };
static struct dns table, *d = &table;
static int at_port[3]; /* resolvers B, C, D */

/* Whom resolv.conf names: letters of remotes */
static struct resolv names(unsigned f, const char *who)
{
	struct resolv r = { 0 };

	for (; *who; who++)
		r.dns[f][r.n_dns[f]++] = A_(*who == 'b' ? at_b[f] :
					    *who == 'c' ? at_c[f] :
							  at_d[f]);
	return r;
}

static void start(unsigned f, const char *who, uint32_t max)
{
	struct resolv r = names(f, who);

	bench_start(OFFLOAD_USO, 64);
	bench.fwd.dns_forward[f] = A_(alias[f]);
	memset(d, 0, sizeof(*d));
	d->u = bench.u;
	d->fwd = &bench.fwd;
	is_int(dns_init(d, &r, -1, max), 0, "start");
	at_port[0] = net_udp(at_b[f], 53);
	at_port[1] = net_udp(at_c[f], 53);
	at_port[2] = net_udp(at_d[f], 53);
}

static void later_ms(int ms)
{
	bench.loop.now_ms += ms;
	bench_later(0);
}

static void stop(void)
{
	for (unsigned i = 0; i < 3; i++)
		if (at_port[i] >= 0)
			close(at_port[i]);
	later_ms(60000);
	later_ms(60000);
	is_int(d->timer.next_ms(&d->timer), INT64_MAX, "nothing is due");
	bench_stop();
}

static struct end client(unsigned f, uint16_t port)
{
	return E(at_guest[f], port);
}

static void says(unsigned f, const char *text)
{
	struct end from = client(f, 5000), to = E(alias[f], 53);

	guest_says(&from, &to, text, (uint32_t)strlen(text), 0);
}

static void gets(unsigned f, const char *text, const char *what)
{
	struct end to = client(f, 5000), from = E(alias[f], 53);

	guest_gets(&from, &to, text, what);
}

static bool is_quiet(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0;
}

static unsigned n_open(void)
{
	return d->lists[DNS_WAITING].n + d->lists[DNS_LAST].n;
}

static void exchange(unsigned f)
{
	struct end b1, b2;

	start(f, "bc", 16);
	says(f, "q1 first");
	b1 = host_gets(at_port[0], "q1 first", "a query");
	says(f, "q2 second");
	b2 = host_gets(at_port[0], "q2 second", "another from the same port");
	ok(b1.port != b2.port && b1.port != 5000, "each has a port of its own");
	ok(is_quiet(at_port[1]), "the second resolver hears nothing");
	net_send(at_port[2], &b1, "q1 forged", 9);
	is_int(bench_turn(20), 0, "the kernel refuses strangers");
	net_send(at_port[0], &b2, "q2 yes", 6);
	bench_wait();
	gets(f, "q2 yes", "the second answer");
	is_int(n_open(), 1, "answered: closed");
	net_send(at_port[0], &b1, "?? odd", 6);
	bench_wait();
	gets(f, "?? odd", "not its answer: passed on");
	net_send(at_port[0], &b1, "q1 yes", 6);
	bench_wait();
	gets(f, "q1 yes", "and it stays open for the right one");
	is_int(n_open(), 0, "then it is closed");
	is_int(bench.u->flows.n, 0, "no flow");
	is_int(count(DNS_QUERIES), 2, "counted");
	is_balanced(2, "exchange");
	stop();
}

static void silence(unsigned f)
{
	struct end b, c;

	start(f, "bc", 16);
	says(f, "q1");
	b = host_gets(at_port[0], "q1", "the first resolver");
	later_ms(DNS_TRY_MS - 1);
	ok(is_quiet(at_port[1]), "not yet");
	later_ms(1);
	c = host_gets(at_port[1], "q1", "the second resolver");
	is_int(count(DNS_RETRIES), 1, "counted");
	net_send(at_port[1], &c, "q1 from c", 9);
	bench_wait();
	gets(f, "q1 from c", "its answer");
	is_int(d->servers[f].now, 1, "it is the first from now on");
	net_send(at_port[0], &b, "q1 late", 7);
	bench_wait();
	gets(f, "q1 late", "a late answer of the first is passed on");
	is_int(d->servers[f].now, 1, "which changes nothing");
	says(f, "q2");
	c = host_gets(at_port[1], "q2", "the next query: the one that lives");
	ok(is_quiet(at_port[0]), "and nobody else");
	later_ms(DNS_TRY_MS);
	b = host_gets(at_port[0], "q2", "silent itself: the first again");
	later_ms(DNS_TRY_MS);
	ok(is_quiet(at_port[1]), "each is asked once");
	later_ms(DNS_IDLE_MS);
	is_int(n_open(), 0, "in the end the sockets are closed");
	is_balanced(2, "silence");
	stop();
}

static void refusal(unsigned f)
{
	struct end c;

	start(f, "bc", 16);
	close(at_port[0]);
	at_port[0] = -1;
	says(f, "q1");
	bench_wait();
	c = host_gets(at_port[1], "q1", "refused: the second at once");
	is_int(n_open(), 1, "what was refused is closed");
	net_send(at_port[1], &c, "q1 yes", 6);
	bench_wait();
	gets(f, "q1 yes", "answer");
	close(at_port[1]);
	at_port[1] = -1;
	says(f, "q2");
	bench_turn(NET_WAIT_MS);
	bench_turn(20);
	guest_silence("all refuse");
	is_int(n_open(), 0, "nothing is left");
	is_balanced(2, "refusal");
	stop();
}

static void change(unsigned f)
{
	struct resolv none = { 0 }, one = names(f, "d"), two = names(f, "db");
	struct end other;

	start(f, "b", 16);
	says(f, "q1");
	host_gets(at_port[0], "q1", "the old resolver");
	dns_servers(d, &none);
	is_int(d->servers[f].n, 1, "an empty file changes nothing");
	dns_servers(d, &one);
	other = host_gets(at_port[2], "q1", "asked again, at the new one");
	net_send(at_port[2], &other, "q1 yes", 6);
	bench_wait();
	gets(f, "q1 yes", "answer");
	ok(addr_eq(&bench.fwd.dns_host[f], &one.dns[f][0]), "policy knows it");
	says(f, "q2");
	host_gets(at_port[2], "q2", "the new one");
	dns_servers(d, &two);
	ok(is_quiet(at_port[0]) && is_quiet(at_port[2]),
	   "whom we wait for is still there: nothing is sent");
	d->servers[f].is_fixed = true;
	dns_servers(d, &one);
	is_int(d->servers[f].n, 2, "what an option says stays");
	stop();

	start(f, "", 16);
	says(f, "q");
	is_int(count(DROP_NO_ROUTE), 1, "no resolver");
	one = names(!f, "b");
	dns_servers(d, &one);
	is_int(d->servers[f].n, 1, "one of the other family will do");
	is_balanced(1, "no resolver");
	stop();
}

static void bounds(unsigned f)
{
	static char big[DNS_QUERY_BYTES + 2];
	struct end from = client(f, 5000), to = E(alias[f], 53);
	char text[8];

	start(f, "bc", 4);
	for (unsigned i = 0; i < 6; i++) {
		snprintf(text, sizeof(text), "q%u", i);
		says(f, text);
		host_gets(at_port[0], text, "one of many");
	}
	is_int(n_open(), 4, "no more than allowed");
	later_ms(DNS_TRY_MS);
	is_int(n_open(), 4, "nor when all are asked again");
	stop();

	start(f, "bc", 16);
	memset(big, 'x', sizeof(big) - 1);
	says(f, big);
	host_gets(at_port[0], big, "a long one");
	later_ms(DNS_TRY_MS);
	ok(is_quiet(at_port[1]), "is not kept");
	guest_says(&from, &to, "q1q2", 4, 2);
	host_gets(at_port[0], "q1", "of a super-frame, first");
	host_gets(at_port[0], "q2", "second");
	guest_says(&from, &to, "", 0, 0);
	host_gets(at_port[0], "", "an empty one");
	to.port = 853;
	close(at_port[2]);
	at_port[2] = net_udp(at_b[f], 853);
	guest_says(&from, &to, "quic", 4, 0);
	host_gets(at_port[2], "quic", "port 853");
	is_int(bench.u->flows.n, 1, "is a flow");
	later_ms(200000);
	stop();
}

int main(void)
{
	log_level(LEVEL_ERR);
	bench_host();
	for (unsigned f = 0; f < FAMILY_COUNT; f++) {
		exchange(f);
		silence(f);
		refusal(f);
		change(f);
		bounds(f);
	}
	return done();
}
