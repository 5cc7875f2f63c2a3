/* word.h - one word of the command line to one value
 * Knows: notations of numbers, addresses, names.
 * Does not know: options.  Nothing here prints or ends the program.
 *
 * Functions that return text return NULL if the word is good, else what is
 * wrong with it, in words that fit behind the word and a colon. */

#ifndef WORD_H
#define WORD_H

#include "addr.h"
#include "wire.h"

#include <stdbool.h>
#include <sys/types.h>

/* Kinds of addresses that word_addr() is to refuse */
#define NO_ANY 0x01
#define NO_LOOPBACK 0x02
#define NO_LOOPBACK6 0x04
#define NO_MULTICAST 0x08
#define NO_BROADCAST 0x10
#define NO_COMPAT 0x20 /* ::a.b.c.d, RFC 4291 2.5.5.1 */

/** word_number() - digits only, and 0x or a leading 0 if @base is 0
 * Returns: false if it is not a number from 0 to @max */
bool word_number(const char *word, int base, unsigned long max,
		 unsigned long *ret);

/** word_choice() - index of a word in a list like "none|csum|tso", else -1 */
int word_choice(const char *word, const char *list);

/** word_addr() - address that is none of the kinds in @refuse (NO_*) */
const char *word_addr(const char *word, unsigned refuse, struct addr *ret_addr);

/** word_addr_plen() - ADDR or ADDR/LEN; @ret_plen is -1 without LEN */
const char *word_addr_plen(const char *word, unsigned refuse,
			   struct addr *ret_addr, int *ret_plen);

/** word_netmask() - IPv4 prefix length, or dotted mask without holes */
const char *word_netmask(const char *word, int *ret_plen);

/** word_ifname() - a name that the kernel takes for an interface */
const char *word_ifname(const char *word);

/** word_domain() - a name of RFC 1035: labels of 1 to 63 characters, 253 in all
 */
const char *word_domain(const char *word);

/** word_mac() - xx:xx:xx:xx:xx:xx, not a group's address */
const char *word_mac(const char *word, struct mac *ret_mac);

/** word_identity() - UID[:GID] or LOGIN[:GROUP]
 * A UID alone is the GID, too. A LOGIN with UID 0 is refused, the number 0 is
 * not: it cannot be meant by mistake. Reads the system's user database. */
const char *word_identity(const char *word, uid_t *ret_uid, gid_t *ret_gid);

#endif
