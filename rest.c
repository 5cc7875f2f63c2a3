/* rest.c - bytes of the guest that a socket does not have yet
 *
 * It happens rarely: windows are drawn with room to spare, and the link keeps
 * order. So a small pool serves all connections, and its pages are not touched
 * before. */

#include "rest.h"

#include <string.h>

/* A buffer behind the last one of @r; false if there is none */
static bool grow(struct rest_pool *p, struct rest *r)
{
	uint16_t n = p->free;

	if (n)
		p->free = p->next[n - 1];
	else if (p->high < REST_BUFS)
		n = ++p->high;
	else
		return false;
	p->n++;
	p->off[n - 1] = p->end[n - 1] = 0;
	p->next[n - 1] = 0;
	if (r->last)
		p->next[r->last - 1] = n;
	else
		r->first = n;
	r->last = n;
	return true;
}

uint32_t rest_add(struct rest_pool *p, struct rest *r, const uint8_t *buf,
		  uint32_t len)
{
	uint32_t done = 0;

	while (done < len) {
		uint32_t *end, n = len - done;

		if ((!r->last || p->end[r->last - 1] == REST_SIZE) &&
		    !grow(p, r))
			break;
		end = &p->end[r->last - 1];
		if (n > REST_SIZE - *end)
			n = REST_SIZE - *end;
		memcpy(p->buf[r->last - 1] + *end, buf + done, n);
		*end += n;
		done += n;
	}
	return done;
}

struct iovec rest_first(struct rest_pool *p, const struct rest *r)
{
	unsigned i = r->first - 1U;

	return (struct iovec){ p->buf[i] + p->off[i], p->end[i] - p->off[i] };
}

static void free_first(struct rest_pool *p, struct rest *r)
{
	uint16_t n = r->first;

	r->first = p->next[n - 1];
	if (!r->first)
		r->last = 0;
	p->next[n - 1] = p->free;
	p->free = n;
	p->n--;
}

void rest_drop(struct rest_pool *p, struct rest *r, uint32_t len)
{
	while (len) {
		unsigned i = r->first - 1U;
		uint32_t n = p->end[i] - p->off[i];

		if (n > len)
			n = len;
		p->off[i] += n;
		len -= n;
		if (p->off[i] == p->end[i])
			free_first(p, r);
	}
}

void rest_join(struct rest_pool *p, struct rest *r, struct rest *more)
{
	if (r->last)
		p->next[r->last - 1] = more->first;
	else
		r->first = more->first;
	if (more->last)
		r->last = more->last;
	*more = (struct rest){ 0 };
}

void rest_clear(struct rest_pool *p, struct rest *r)
{
	while (r->first)
		free_first(p, r);
}
