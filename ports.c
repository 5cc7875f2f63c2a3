/* ports.c - the language of -t, -u, -T and -U
 *
 * Problem: one argument may hold single ports, ranges, renumbered ranges,
 * exclusions that count wherever they stand, keywords, and a place to bind;
 * several arguments add up; and a mistake must change nothing.
 *
 * Idea: read a SPEC twice. The first pass checks every item, collects what is
 * excluded and which keywords occur. Only then is it known what the ranges
 * mean, so the second pass walks them port by port and cuts them into rules.
 * It runs dry once, to count the rules, before it touches the caller's table.
 *
 * Rules of one BIND never share a port, so that no listener can collide with
 * another of ours: a new rule cuts its ports out of older ones. "all", and a
 * SPEC of exclusions only, mean every port but the ephemeral ones, as far as
 * they are free: such weak rules leave ports alone that were named already.
 *
 * Not here: sockets, and whether interfaces or addresses exist. */

#include "ports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EPHEMERAL_PATH "/proc/sys/net/ipv4/ip_local_port_range"
#define RESERVED_PATH "/proc/sys/net/ipv4/ip_local_reserved_ports"

#define ALL_FIRST 1
#define ALL_LAST 65535

/* A part of the SPEC: @len characters from @s, quoted in messages by "%.*s" */
struct slice {
	const char *s;
	int len;
};

struct item {
	enum { ITEM_PORTS, ITEM_OUT, ITEM_AUTO, ITEM_ALL } kind;
	uint16_t first;
	uint16_t last;
	uint16_t target;
};

/* The SPEC being read
 * @model: what its rules have in common    @out: excluded ports
 * @has_in: anything but exclusions occurs  @has_ports: ports by number
 * @again: a port mapped before, or 0 */
struct spec {
	const struct ports_env *env;
	char *err;
	struct ports_rule model;
	struct port_set out;
	bool has_in;
	bool has_ports;
	bool has_auto;
	bool has_all;
	uint16_t again;
};

/* Where rules go; without @rule they are only counted */
struct list {
	struct ports_rule *rule;
	unsigned n;
};

static int fail(const struct spec *sp, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(const struct spec *sp, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sp->err, PORTS_ERR_MAX, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Length for "%.*s" that leaves room for our own words */
static int shown(struct slice w)
{
	return w.len < 60 ? w.len : 60;
}

static bool slice_is(struct slice w, const char *word)
{
	return (size_t)w.len == strlen(word) &&
	       !memcmp(w.s, word, (size_t)w.len);
}

/* The part before @sep, which is also taken off @rest; all of it, and false,
 * without a @sep */
static bool split(struct slice *rest, char sep, struct slice *ret_head)
{
	const char *at = memchr(rest->s, sep, (size_t)rest->len);

	*ret_head = *rest;
	if (!at)
		return false;
	ret_head->len = (int)(at - rest->s);
	rest->s = at + 1;
	rest->len -= ret_head->len + 1;
	return true;
}

static int parse_port(const struct spec *sp, struct slice w, uint16_t *ret)
{
	uint32_t n = 0;
	int i;

	for (i = 0; i < w.len && w.s[i] >= '0' && w.s[i] <= '9'; i++) {
		n = n * 10 + (uint32_t)(w.s[i] - '0');
		if (n > ALL_LAST)
			break;
	}
	if (!w.len || i < w.len || n < ALL_FIRST)
		return fail(sp, "'%.*s' is not a port from 1 to 65535",
			    shown(w), w.s);
	*ret = (uint16_t)n;
	return 0;
}

static int parse_range(const struct spec *sp, struct slice w,
		       uint16_t *ret_first, uint16_t *ret_last)
{
	struct slice rest = w;
	struct slice head;
	int rc;

	if (split(&rest, '-', &head))
		rc = parse_port(sp, rest, ret_last);
	else
		rc = parse_port(sp, head, ret_last);
	if (rc)
		return rc;
	rc = parse_port(sp, head, ret_first);
	if (rc)
		return rc;
	if (*ret_first > *ret_last)
		return fail(sp, "range '%.*s' ends before it starts", shown(w),
			    w.s);
	return 0;
}

/* RANGE [ ":" RANGE ] */
static int parse_mapping(const struct spec *sp, struct slice w,
			 struct item *ret)
{
	struct slice rest = w;
	struct slice head;
	uint16_t last;
	bool is_mapped = split(&rest, ':', &head);
	int rc = parse_range(sp, head, &ret->first, &ret->last);

	ret->kind = ITEM_PORTS;
	ret->target = ret->first;
	if (rc || !is_mapped)
		return rc;
	rc = parse_range(sp, rest, &ret->target, &last);
	if (rc)
		return rc;
	if (last - ret->target != ret->last - ret->first)
		return fail(sp, "the two ranges of '%.*s' differ in length",
			    shown(w), w.s);
	return 0;
}

static int parse_item(const struct spec *sp, struct slice w, struct item *ret)
{
	*ret = (struct item){ .first = ALL_FIRST,
			      .last = ALL_LAST,
			      .target = ALL_FIRST };
	if (!w.len)
		return fail(sp, "a port or range is missing");
	if (slice_is(w, "auto")) {
		ret->kind = ITEM_AUTO;
		return 0;
	}
	if (slice_is(w, "all")) {
		ret->kind = ITEM_ALL;
		return 0;
	}
	if (slice_is(w, "none"))
		return fail(sp, "'none' must stand alone");
	if (*w.s != '~')
		return parse_mapping(sp, w, ret);
	ret->kind = ITEM_OUT;
	return parse_range(sp, (struct slice){ w.s + 1, w.len - 1 },
			   &ret->first, &ret->last);
}

/* [ ADDR | "[" ADDR "]" ] [ "%" IFNAME ] */
static int parse_bind(struct spec *sp, struct slice w)
{
	struct slice name = w;
	struct slice host;
	char text[ADDR_STRLEN];
	bool has_name = split(&name, '%', &host);

	if (sp->env->is_outbound)
		return fail(sp,
			    "'%.*s/': ports of the namespace are taken on "
			    "its loopback addresses only",
			    shown(w), w.s);
	/* "[ADDR%IF]" keeps its bracket behind the interface */
	if (has_name && host.len && *host.s == '[' && name.len &&
	    name.s[name.len - 1] == ']') {
		host.s++;
		host.len--;
		name.len--;
	} else if (host.len > 1 && *host.s == '[' &&
		   host.s[host.len - 1] == ']') {
		host.s++;
		host.len -= 2;
	}
	if (has_name && (!name.len || name.len >= IFNAME_SIZE))
		return fail(sp,
			    "interface name '%.*s' must have 1 to %d "
			    "characters",
			    shown(name), name.s, IFNAME_SIZE - 1);
	if (has_name)
		memcpy(sp->model.ifname, name.s, (size_t)name.len);
	if (has_name && !host.len)
		return 0;

	snprintf(text, sizeof(text), "%.*s", host.len, host.s);
	if (host.len >= ADDR_STRLEN || !addr_parse(text, &sp->model.bind))
		return fail(sp, "'%.*s' is not an IPv4 or IPv6 address",
			    shown(host), host.s);
	sp->model.has_bind = true;
	if (!sp->env->has[addr_family(&sp->model.bind)])
		return fail(sp, "address '%s' is of a disabled family", text);
	return 0;
}

static void set_put(struct port_set *s, uint16_t first, uint16_t last)
{
	for (uint32_t port = first; port <= last; port++)
		port_set_put(s, (uint16_t)port, true);
}

/* First pass: judge every item, collect exclusions and keywords */
static int scan(struct spec *sp, struct slice list)
{
	struct slice w;
	bool is_more;

	do {
		struct item it;
		int rc;

		is_more = split(&list, ',', &w);
		rc = parse_item(sp, w, &it);
		if (rc)
			return rc;
		if (it.kind == ITEM_OUT)
			set_put(&sp->out, it.first, it.last);
		sp->has_in |= it.kind != ITEM_OUT;
		sp->has_ports |= it.kind == ITEM_PORTS;
		sp->has_auto |= it.kind == ITEM_AUTO;
		sp->has_all |= it.kind == ITEM_ALL;
	} while (is_more);

	/* Exclusions alone are exclusions from everything */
	sp->has_all |= !sp->has_in;
	return 0;
}

static bool same_bind(const struct ports_rule *a, const struct ports_rule *b)
{
	return a->has_bind == b->has_bind && addr_eq(&a->bind, &b->bind) &&
	       !strcmp(a->ifname, b->ifname);
}

static void rule_remove(struct list *l, unsigned i)
{
	l->n--;
	memmove(&l->rule[i], &l->rule[i + 1], (l->n - i) * sizeof(l->rule[0]));
}

/* Take @new's ports out of older rules of the same BIND: of each at most a
 * part before and a part behind is left */
static void cut(struct spec *sp, struct list *l, const struct ports_rule *new)
{
	unsigned n_old = l->n;

	for (unsigned i = n_old; i-- > 0;) {
		struct ports_rule *old = &l->rule[i];
		struct ports_rule right = *old;

		if (!same_bind(old, new) || old->last < new->first ||
		    old->first > new->last)
			continue;
		if (!old->is_weak)
			sp->again = new->first > old->first ? new->first :
							      old->first;
		if (old->last > new->last) {
			right.first = (uint16_t)(new->last + 1);
			right.target = (uint16_t)(old->target + right.first -
						  old->first);
			l->rule[l->n++] = right;
		}
		if (old->first < new->first)
			old->last = (uint16_t)(new->first - 1);
		else
			rule_remove(l, i);
	}
}

static void rule_add(struct spec *sp, struct list *l,
		     const struct ports_rule *new)
{
	if (l->rule) {
		cut(sp, l, new);
		l->rule[l->n] = *new;
	}
	l->n++;
}

/* Cut a range into rules around the ports in @out */
static void emit(struct spec *sp, struct list *l, const struct item *it,
		 const struct port_set *out)
{
	struct ports_rule r = sp->model;
	uint32_t end = it->first;

	r.is_weak = it->kind != ITEM_PORTS;
	while (end <= it->last) {
		uint32_t start = end;

		while (end <= it->last && !port_set_has(out, (uint16_t)end))
			end++;
		r.first = (uint16_t)start;
		r.last = (uint16_t)(end - 1);
		r.target = (uint16_t)(it->target + (start - it->first));
		if (end > start)
			rule_add(sp, l, &r);
		else
			end++;
	}
}

/* "all", or "auto" alone: but for what was named before, among @n rules */
static void emit_weak(struct spec *sp, struct list *l,
		      const struct ports_rule *before, unsigned n)
{
	struct port_set out = sp->out;
	struct item it = { .kind = ITEM_ALL,
			   .first = ALL_FIRST,
			   .last = ALL_LAST,
			   .target = ALL_FIRST };

	if (sp->has_all)
		set_put(&out, sp->env->ephemeral_first,
			sp->env->ephemeral_last);
	for (unsigned i = 0; i < n; i++)
		if (!before[i].is_weak && same_bind(&before[i], &sp->model))
			set_put(&out, before[i].first, before[i].last);
	emit(sp, l, &it, &out);
}

/* Second pass. Weak rules go first: ports named beside them cut them. Beside
 * "auto", what is named is followed, and nothing else. */
static void build(struct spec *sp, struct slice rest, const struct ports *p,
		  struct list *ret_rules, struct list *ret_auto)
{
	struct list *named = sp->has_auto ? ret_auto : ret_rules;
	struct slice w;
	bool is_more;

	if (sp->has_auto && (sp->has_all || !sp->has_ports))
		emit_weak(sp, ret_auto, p->auto_rule, p->n_auto);
	else if (sp->has_all)
		emit_weak(sp, ret_rules, p->rule, p->n);
	do {
		struct item it;

		is_more = split(&rest, ',', &w);
		if (parse_item(sp, w, &it))
			return;
		if (it.kind == ITEM_PORTS)
			emit(sp, named, &it, &sp->out);
	} while (is_more);
}

/* Each new rule may split one old rule, so it needs two places at most. The
 * rule table only grows where it was counted. */
static int commit(struct spec *sp, struct slice list, struct ports *p)
{
	struct list rules = { 0 };
	struct list autos = { 0 };

	build(sp, list, p, &rules, &autos);
	if (!rules.n && !autos.n)
		return fail(sp, "no port is left to forward");
	if (p->n + 2 * rules.n > PORTS_RULES_MAX ||
	    p->n_auto + 2 * autos.n > PORTS_AUTO_MAX)
		return fail(sp, "more than %d ranges, or %d to follow",
			    PORTS_RULES_MAX / 2, PORTS_AUTO_MAX / 2);

	rules = (struct list){ p->rule, p->n };
	autos = (struct list){ p->auto_rule, p->n_auto };
	build(sp, list, p, &rules, &autos);
	p->n = rules.n;
	p->n_auto = autos.n;
	p->is_auto = autos.n > 0;
	if (sp->again)
		snprintf(sp->err, PORTS_ERR_MAX,
			 "port %u is mapped again, the last mapping counts",
			 sp->again);
	return 0;
}

int ports_parse(struct ports *p, const char *spec, const struct ports_env *env,
		char ret_err[static PORTS_ERR_MAX])
{
	struct spec sp = { .env = env, .err = ret_err };
	struct slice list = { spec, (int)strlen(spec) };
	struct slice bind;
	int rc;

	ret_err[0] = '\0';
	if (!list.len)
		return fail(&sp, "it is empty");
	if (slice_is(list, "none")) {
		if (p->n || p->is_auto)
			return fail(&sp, "'none' after other ports");
		p->is_none = true;
		return 0;
	}
	if (split(&list, '/', &bind)) {
		rc = parse_bind(&sp, bind);
		if (rc)
			return rc;
	}
	rc = scan(&sp, list);
	if (rc)
		return rc;
	if (p->is_none)
		return fail(&sp, "ports after 'none'");
	return commit(&sp, list, p);
}

/* Content of a small file, cut short to fit; "" if it cannot be read */
static void read_text(const char *path, char *ret_text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, ret_text, size - 1);
		close(fd);
	}
	ret_text[n > 0 ? n : 0] = '\0';
}

bool ports_ephemeral(uint16_t *ret_first, uint16_t *ret_last)
{
	char text[32];
	char *rest;
	unsigned long first;
	unsigned long last;

	read_text(EPHEMERAL_PATH, text, sizeof(text));
	first = strtoul(text, &rest, 10);
	last = strtoul(rest, NULL, 10);
	if (!first || first > last || last > ALL_LAST) {
		*ret_first = 49152; /* RFC 6335 6 */
		*ret_last = ALL_LAST;
		return false;
	}
	*ret_first = (uint16_t)first;
	*ret_last = (uint16_t)last;
	return true;
}

/* Of "1-2,5" and so on; a number cut off at the end of @text counts as it is */
static void put_list(struct port_set *s, const char *text)
{
	char *end;

	for (;; text = end + 1) {
		unsigned long first = strtoul(text, &end, 10);
		unsigned long last = first;

		if (end == text)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first <= last && last <= ALL_LAST)
			set_put(s, (uint16_t)first, (uint16_t)last);
		if (*end != ',')
			return;
	}
}

void ports_reserved(struct port_set *ret_set)
{
	char text[4096];

	*ret_set = (struct port_set){ 0 };
	put_list(ret_set, "1900,3702,5353,5355");
	read_text(RESERVED_PATH, text, sizeof(text));
	put_list(ret_set, text);
}
