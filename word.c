/* word.c - one word of the command line to one value
 *
 * Problem: options of many names take the same few notations, and callers rely
 * on which spellings are refused: a mask with holes or a multicast gateway
 * must not get as far as the kernel.
 *
 * Idea: one strict function per notation that takes the whole word or nothing,
 * and says in a few words what is wrong. Which option it was, and what to do
 * about it, is added by set.c.
 *
 * Not here: whether an interface or address exists on this host. */

#include "word.h"

#include "limits.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX (UINT32_MAX - 1UL) /* the last one means "none", setuid(2) */
#define LOGIN_SIZE 256
#define DOMAIN_MAX 253 /* RFC 1035 2.3.4: 255 bytes with their lengths */
#define LABEL_MAX 63

bool word_number(const char *word, int base, unsigned long max,
		 unsigned long *ret)
{
	char *end;
	unsigned long n;

	if (!isdigit((unsigned char)*word))
		return false;
	errno = 0;
	n = strtoul(word, &end, base);
	if (errno || *end || n > max)
		return false;
	*ret = n;
	return true;
}

int word_choice(const char *word, const char *list)
{
	size_t len = strlen(word);

	for (int i = 0;; i++) {
		size_t n = strcspn(list, "|");

		if (n == len && !memcmp(word, list, n))
			return i;
		if (!list[n])
			return -1;
		list += n + 1;
	}
}

static bool is_loopback6(const struct addr *a)
{
	return !addr_is_v4(a) && addr_is_loopback(a);
}

static bool is_compat(const struct addr *a)
{
	return addr_in_prefix(a, &addr_any6, 96) && !addr_is_any(a) &&
	       !addr_is_loopback(a);
}

const char *word_addr(const char *word, unsigned refuse, struct addr *ret_addr)
{
	static const struct {
		unsigned flag;
		bool (*is)(const struct addr *a);
		const char *text;
	} kind[] = {
		{ NO_ANY, addr_is_any, "it is the unspecified address" },
		{ NO_LOOPBACK, addr_is_loopback, "it is a loopback address" },
		{ NO_LOOPBACK6, is_loopback6, "it is a loopback address" },
		{ NO_MULTICAST, addr_is_multicast,
		  "it is a multicast address" },
		{ NO_BROADCAST, addr_is_broadcast,
		  "it is a broadcast address" },
		{ NO_COMPAT, is_compat, "it is an IPv4-compatible address" },
	};
	struct addr a;

	if (!addr_parse(word, &a))
		return "it is not an IPv4 or IPv6 address";
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
		if (refuse & kind[i].flag && kind[i].is(&a))
			return kind[i].text;
	*ret_addr = a;
	return NULL;
}

const char *word_addr_plen(const char *word, unsigned refuse,
			   struct addr *ret_addr, int *ret_plen)
{
	const char *slash = strchr(word, '/');
	size_t len = slash ? (size_t)(slash - word) : strlen(word);
	char text[ADDR_STRLEN] = "";
	unsigned long plen = 0;
	const char *wrong;
	struct addr a;

	/* One too long for the buffer is no address, as is an empty one */
	if (len < sizeof(text))
		snprintf(text, sizeof(text), "%.*s", (int)len, word);
	wrong = word_addr(text, refuse, &a);
	if (wrong)
		return wrong;
	if (slash && !word_number(slash + 1, 10, addr_len(&a) * 8, &plen))
		return "what follows the slash is not a prefix length";
	*ret_addr = a;
	*ret_plen = slash ? (int)plen : -1;
	return NULL;
}

const char *word_netmask(const char *word, int *ret_plen)
{
	unsigned long plen;
	struct addr a;
	uint32_t mask = 0;

	if (!word_number(word, 0, 32, &plen)) {
		if (!addr_parse(word, &a) || !addr_is_v4(&a))
			return "it is neither 0 to 32 nor like 255.255.255.0";
		for (int i = 0; i < 4; i++)
			mask = mask << 8 | addr_bytes(&a)[i];
		plen = 0;
		while (plen < 32 && mask >> (31 - plen) & 1)
			plen++;
		if (plen < 32 && mask << plen)
			return "this mask has holes";
	}
	*ret_plen = (int)plen;
	return NULL;
}

/* To the kernel, a percent sign begins a pattern that it makes a name of */
const char *word_ifname(const char *word)
{
	static_assert(IFNAME_SIZE == 16, "the text below says 15");

	if (!*word || strlen(word) >= IFNAME_SIZE ||
	    strpbrk(word, "/:% \t\n\v\f\r") || !strcmp(word, ".") ||
	    !strcmp(word, ".."))
		return "an interface name has 1 to 15 characters, none of "
		       "them a space, slash, colon or percent sign";
	return NULL;
}

const char *word_domain(const char *word)
{
	size_t len = strlen(word);
	size_t label = 0;

	if (!len || len > DOMAIN_MAX)
		return "a name has 1 to 253 characters";
	for (size_t i = 0; i < len; i++) {
		if (word[i] != '.' && !isgraph((unsigned char)word[i]))
			return "a name has no blanks in it";
		label = word[i] == '.' ? 0 : label + 1;
		if (label > LABEL_MAX ||
		    (word[i] == '.' && (!i || word[i - 1] == '.')))
			return "what stands between its dots has 1 to 63 characters";
	}
	return NULL;
}

const char *word_mac(const char *word, struct mac *ret_mac)
{
	static const char form[] = "xx:xx:xx:xx:xx:xx";
	struct mac mac;

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'x' ? !isxdigit((unsigned char)word[i]) :
				     word[i] != form[i])
			return "it is not like 02:00:00:12:ab:cd";
	for (size_t i = 0; i < ETH_ALEN; i++)
		mac.b[i] = (uint8_t)strtoul(word + 3 * i, NULL, 16);
	if (mac.b[0] & 1)
		return "it is a group's address: its first byte must be even";
	*ret_mac = mac;
	return NULL;
}

static const char *numeric_identity(unsigned long uid, const char *group,
				    uid_t *ret_uid, gid_t *ret_gid)
{
	unsigned long gid = uid;

	if (group && !word_number(group, 0, ID_MAX, &gid))
		return "a number must stand behind the colon, too";
	*ret_uid = (uid_t)uid;
	*ret_gid = (gid_t)gid;
	return NULL;
}

const char *word_identity(const char *word, uid_t *ret_uid, gid_t *ret_gid)
{
	const char *colon = strchr(word, ':');
	size_t len = colon ? (size_t)(colon - word) : strlen(word);
	char login[LOGIN_SIZE] = "";
	const struct passwd *pw;
	const struct group *gr;
	unsigned long uid;
	unsigned long gid;

	if (len < sizeof(login))
		snprintf(login, sizeof(login), "%.*s", (int)len, word);
	if (word_number(login, 0, ID_MAX, &uid))
		return numeric_identity(uid, colon ? colon + 1 : NULL, ret_uid,
					ret_gid);
	pw = getpwnam(login);
	if (!pw)
		return "there is no such user";
	if (!pw->pw_uid)
		return "this user is root: name another, or say 0";
	uid = pw->pw_uid;
	gid = pw->pw_gid;
	if (colon && !word_number(colon + 1, 0, ID_MAX, &gid)) {
		gr = getgrnam(colon + 1);
		if (!gr)
			return "there is no such group";
		gid = gr->gr_gid;
	}
	*ret_uid = (uid_t)uid;
	*ret_gid = (gid_t)gid;
	return NULL;
}
