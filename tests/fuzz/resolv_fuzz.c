/* resolv_fuzz.c - any text gives a terminated list of names and usable
 * addresses */

#include "resolv.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct resolv r;
	static char text[16385];
	enum family f;
	unsigned i;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	resolv_parse(text, &r);
	must(r.n_search <= RESOLV_SEARCH_MAX);
	for (i = 0; i < r.n_search; i++) {
		must(memchr(r.search[i], 0, RESOLV_NAME_SIZE));
		must(*r.search[i]);
	}
	for (f = 0; f < FAMILY_COUNT; f++) {
		must(r.n_dns[f] <= RESOLV_DNS_MAX);
		for (i = 0; i < r.n_dns[f]; i++) {
			must(addr_family(&r.dns[f][i]) == f);
			must(!addr_is_any(&r.dns[f][i]));
		}
	}
	return 0;
}
