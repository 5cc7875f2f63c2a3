/* resolv_test.c - which lines of a resolv.conf count */

#include "resolv.h"

#include "check.h"

/* @want: name servers of IPv4; of IPv6; search list, each blank-separated */
static const struct {
	const char *name, *text, *v4, *v6, *search;
} rows[] = {
	{ "empty", "", "", "", "" },
	{ "one", "nameserver 192.0.2.53\n", "192.0.2.53", "", "" },
	{ "no newline at the end", "nameserver 192.0.2.53", "192.0.2.53", "",
	  "" },
	{ "order of each family is kept",
	  "# x\nsearch a.b\nnameserver 2001:db8::53\nnameserver 192.0.2.53\n"
	  "nameserver 192.0.2.54\nnameserver 2001:db8::54\n",
	  "192.0.2.53 192.0.2.54", "2001:db8::53 2001:db8::54", "a.b" },
	{ "no more than four",
	  "nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n"
	  "nameserver 192.0.2.4\nnameserver 192.0.2.5\nnameserver ::9\n",
	  "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4", "::9", "" },
	{ "loopback counts", "nameserver 127.0.0.53\noptions edns0\n",
	  "127.0.0.53", "", "" },
	{ "scope and comment are cut",
	  "nameserver fe80::1%eth0\nnameserver\t192.0.2.53 # router\r\n"
	  "nameserver 192.0.2.54#x\n",
	  "192.0.2.53 192.0.2.54", "fe80::1", "" },
	{ "several blanks", "nameserver   192.0.2.53  \n", "192.0.2.53", "",
	  "" },
	{ "not a nameserver line",
	  " nameserver 192.0.2.1\n#nameserver 192.0.2.2\nnameservers 192.0.2.3\n"
	  "nameserver\nnameserver192.0.2.4\n",
	  "", "", "" },
	{ "not an address",
	  "nameserver 192.0.2\nnameserver localhost\nnameserver 0.0.0.0\n"
	  "nameserver ::ffff:192.0.2.1\nnameserver ::\n"
	  "nameserver 1111111111111111111111111111111111111111111111111111111\n",
	  "", "", "" },
	{ "search list", "search\tone.example  two.example. ; three\n", "", "",
	  "one.example two.example." },
	{ "the first search list counts", "search a\nsearch b\n", "", "", "a" },
	{ "an empty one is a list", "search \nsearch b\n", "", "", "" },
	{ "no more than six", "search a b c d e f g\r\n", "", "",
	  "a b c d e f" },
	{ "no root", "search . a .\n", "", "", "a" },
	{ "not a search line", "searching a\ndomain b\n search c\nsearch", "",
	  "", "" },
};

static void join(char *text, const char *word)
{
	if (*text)
		strcat(text, " ");
	strcat(text, word);
}

static void is_dns(const struct resolv *r, enum family f, const char *want,
		   const char *name)
{
	char text[RESOLV_DNS_MAX * ADDR_STRLEN] = "", a[ADDR_STRLEN];

	for (unsigned i = 0; i < r->n_dns[f]; i++)
		join(text, addr_format(&r->dns[f][i], a));
	is_str(text, want, "%s: IPv%c", name, f == FAMILY_V4 ? '4' : '6');
}

static void table(void)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[RESOLV_SEARCH_MAX * RESOLV_NAME_SIZE] = "";
		struct resolv r;

		memset(&r, 0xee, sizeof(r));
		resolv_parse(rows[i].text, &r);
		is_dns(&r, FAMILY_V4, rows[i].v4, rows[i].name);
		is_dns(&r, FAMILY_V6, rows[i].v6, rows[i].name);
		for (unsigned k = 0; k < r.n_search; k++)
			join(text, r.search[k]);
		is_str(text, rows[i].search, "%s: search", rows[i].name);
	}
}

static void long_words(void)
{
	char text[600] = "search ";
	struct resolv r;

	memset(text + 7, 'x', 255);
	resolv_parse(text, &r);
	is_int(r.n_search, 1, "255 bytes are a name");
	is_int(strlen(r.search[0]), 255, "and kept");
	memset(text + 7, 'x', 256);
	strcat(text, " y");
	resolv_parse(text, &r);
	is_int(r.n_search, 1, "256 are none");
	is_str(r.search[0], "y", "the next one is");
}

int main(void)
{
	table();
	long_words();
	return done();
}
