/* resolv.h - what a resolv.conf says
 * Knows: resolv.conf(5).  Does not know: files, who is told what. Pure. */

#ifndef RESOLV_H
#define RESOLV_H

#include "addr.h"

#define RESOLV_DNS_MAX 4 /* of each family; libc reads three in all */
#define RESOLV_SEARCH_MAX 6 /* domains: what libc took for long */
#define RESOLV_NAME_SIZE 256 /* a name of RFC 1035 and a terminator */

/** struct resolv - name servers and search list, each in the file's order
 * @n_dns, @n_search: used entries */
struct resolv {
	struct addr dns[FAMILY_COUNT][RESOLV_DNS_MAX];
	unsigned n_dns[FAMILY_COUNT];
	char search[RESOLV_SEARCH_MAX][RESOLV_NAME_SIZE];
	unsigned n_search;
};

/**
 * resolv_parse() - read the text of a resolv.conf
 * @text: NUL-terminated      @ret: empty if there is nothing to be found
 * Not taken: name servers that are no address, scope ids, a second "search"
 * line, what exceeds the arrays.
 */
void resolv_parse(const char *text, struct resolv *ret);

#endif
