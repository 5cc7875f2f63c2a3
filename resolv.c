/* resolv.c - what a resolv.conf says
 *
 * The host's file decides which resolver stands behind the guest's, and what
 * the guest is told to ask and to search. Programs differ in how they read it;
 * here a line is read as libc does: the keyword stands at its very start, blanks
 * separate words, and a comment sign ends what is of interest.
 *
 * A scope id behind an address is cut off: it names an interface of the host,
 * which the guest does not have. Of several search lists the first counts.
 * Options, sort lists and the old "domain" are of no use to anybody else. */

#include "resolv.h"

#include <string.h>

#define BLANK " \t\r"
#define END_OF_WORD " \t\r\n#;"

/* The words behind a keyword, NULL if this line begins with another one */
static const char *words(const char *line, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) != 0 ||
	    (line[len] != ' ' && line[len] != '\t'))
		return NULL;
	return line + len + strspn(line + len, BLANK);
}

static void add_dns(struct resolv *r, const char *word)
{
	size_t len = strcspn(word, END_OF_WORD "%");
	char text[ADDR_STRLEN];
	struct addr a;
	enum family f;

	if (len >= sizeof(text))
		return;
	memcpy(text, word, len);
	text[len] = '\0';
	if (!addr_parse(text, &a) || addr_is_any(&a))
		return;
	f = addr_family(&a);
	if (r->n_dns[f] < RESOLV_DNS_MAX)
		r->dns[f][r->n_dns[f]++] = a;
}

static void add_search(struct resolv *r, const char *word)
{
	size_t len;

	while ((len = strcspn(word, END_OF_WORD))) {
		/* The root alone, ".", has nothing to add to a name */
		if (len < RESOLV_NAME_SIZE && (len > 1 || *word != '.') &&
		    r->n_search < RESOLV_SEARCH_MAX) {
			memcpy(r->search[r->n_search], word, len);
			r->search[r->n_search++][len] = '\0';
		}
		word += len;
		word += strspn(word, BLANK);
	}
}

void resolv_parse(const char *text, struct resolv *ret)
{
	bool has_search = false;
	const char *word;

	memset(ret, 0, sizeof(*ret));
	while (text) {
		word = words(text, "nameserver");
		if (word)
			add_dns(ret, word);
		word = has_search ? NULL : words(text, "search");
		if (word) {
			has_search = true;
			add_search(ret, word);
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
}
