/* rest_test.c - bytes come out as they went in, and buffers come back */

#include "rest.h"

#include "check.h"
#include "model.h"

#define OWNERS 8
#define STEPS 20000

static struct rest_pool pool;
static struct rest rest[OWNERS];
static uint64_t added[OWNERS], dropped[OWNERS]; /* bytes, from the beginning */
static uint8_t bytes[3 * REST_SIZE];

/* Byte number @n of an owner's stream */
static uint8_t byte(unsigned owner, uint64_t n)
{
	return (uint8_t)(n * 31 + n / 253 + owner * 7);
}

/* The next bytes of the stream of @owner */
static uint32_t add_to(struct rest *r, unsigned owner, uint32_t len)
{
	uint32_t n;

	for (uint32_t i = 0; i < len; i++)
		bytes[i] = byte(owner, added[owner] + i);
	n = rest_add(&pool, r, bytes, len);
	added[owner] += n;
	return n;
}

static uint32_t add(unsigned owner, uint32_t len)
{
	return add_to(&rest[owner], owner, len);
}

/* Take up to @len bytes; false if they are others than went in */
static bool drop(unsigned owner, uint32_t len)
{
	struct iovec v = rest_first(&pool, &rest[owner]);
	const uint8_t *b = v.iov_base;

	if (!v.iov_len)
		return false;
	if (len > v.iov_len)
		len = (uint32_t)v.iov_len;
	for (uint32_t i = 0; i < len; i++)
		if (b[i] != byte(owner, dropped[owner] + i))
			return false;
	rest_drop(&pool, &rest[owner], len);
	dropped[owner] += len;
	return rest_is_empty(&rest[owner]) == (dropped[owner] == added[owner]);
}

static unsigned free_buffers(void)
{
	unsigned n = REST_BUFS - pool.high;

	for (unsigned i = pool.free; i && n <= REST_BUFS; i = pool.next[i - 1])
		n++;
	is_int(pool.n, REST_BUFS - n, "those in use are counted");
	return n;
}

static bool drain(unsigned owner)
{
	while (!rest_is_empty(&rest[owner]))
		if (!drop(owner, UINT32_MAX))
			return false;
	return true;
}

static void simple(void)
{
	ok(rest_is_empty(&rest[0]), "zero is empty");
	is_int(add(0, 0), 0, "nothing");
	ok(rest_is_empty(&rest[0]) && !pool.high, "takes up nothing");
	is_int(add(0, 10), 10, "ten bytes");
	is_int(add(0, REST_SIZE), REST_SIZE, "and more than fits");
	is_int(pool.high, 2, "two buffers");
	ok(drop(0, 4) && drop(0, 100000) && drop(0, 1) && drop(0, 9),
	   "they come out");
	ok(rest_is_empty(&rest[0]), "all of them");
	is_int(free_buffers(), REST_BUFS, "the buffers are free");
	add(1, 3 * REST_SIZE);
	rest_clear(&pool, &rest[1]);
	dropped[1] = added[1];
	ok(rest_is_empty(&rest[1]) && free_buffers() == REST_BUFS, "cleared");
	rest_clear(&pool, &rest[1]);
	is_int(free_buffers(), REST_BUFS, "clearing nothing does nothing");
}

static void joined(void)
{
	static const uint32_t lens[] = { 0, 10, REST_SIZE, 2 * REST_SIZE + 1 };
	struct rest more = { 0 };

	for (unsigned i = 0; i < 16; i++) {
		add(4, lens[i / 4]);
		add_to(&more, 4, lens[i % 4]);
		rest_join(&pool, &rest[4], &more);
		ok(rest_is_empty(&more), "%u: it is empty then", i);
		add(4, 5);
		ok(drain(4) && dropped[4] == added[4], "%u: all in order", i);
		is_int(free_buffers(), REST_BUFS, "the buffers are free");
	}
}

/* More than lies together */
static void skip(void)
{
	const uint32_t len = 2 * REST_SIZE + 7;

	add(5, 3 * REST_SIZE);
	rest_drop(&pool, &rest[5], len);
	dropped[5] += len;
	ok(drain(5) && dropped[5] == added[5], "behind it the right bytes");
	is_int(free_buffers(), REST_BUFS, "the buffers are free");
}

static void full(void)
{
	uint64_t n = 0;
	uint32_t one;

	add(2, 100);
	while ((one = add(3, sizeof(bytes))) == sizeof(bytes))
		n += one;
	is_int(n + one, (REST_BUFS - 1) * (uint64_t)REST_SIZE,
	       "one may take all that there is");
	is_int(add(3, 1), 0, "and no more");
	is_int(add(2, REST_SIZE), REST_SIZE - 100, "another has its own");
	ok(drop(3, REST_SIZE), "one buffer goes");
	is_int(add(2, REST_SIZE + 1), REST_SIZE, "the other takes it");
	ok(drain(2) && drain(3), "the bytes are right");
	is_int(free_buffers(), REST_BUFS, "the buffers are free");
}

static void chance(void)
{
	unsigned step;

	for (step = 0; step < STEPS; step++) {
		unsigned owner = rnd(OWNERS);
		uint32_t len = rnd(rnd(4) ? 2000 : 150000);

		if (rnd(2))
			add(owner, len);
		else if (!rest_is_empty(&rest[owner]) && len &&
			 !drop(owner, len))
			break;
		if (rnd(1000) == 0) {
			rest_clear(&pool, &rest[owner]);
			dropped[owner] = added[owner];
		}
	}
	is_int(step, STEPS, "%u steps", STEPS);
	for (unsigned i = 0; i < OWNERS; i++)
		ok(drain(i), "owner %u: the rest of it", i);
	is_int(free_buffers(), REST_BUFS, "the buffers are free");
}

int main(void)
{
	simple();
	joined();
	skip();
	full();
	chance();
	return done();
}
