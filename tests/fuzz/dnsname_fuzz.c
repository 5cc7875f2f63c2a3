/* dnsname_fuzz.c - packed names read back as they were written
 * Input: names, one a line. */

#include "dnsname.h"

#include "frames.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Uncompressed bytes of the name at @at; returns how many */
static uint32_t unpack(const uint8_t *buf, uint32_t used, uint32_t at,
		       uint8_t *to)
{
	uint32_t len = 0, limit = used;

	for (;;) {
		must(at < limit);
		if (buf[at] >= 0xc0) {
			must(at + 1 < used);
			limit = at; /* pointers lead back */
			at = be16_get(buf + at) & 0x3fffu;
			continue;
		}
		must(buf[at] < 64 && at + buf[at] < used);
		must(len + 1 + buf[at] <= DNSNAME_MAX);
		memcpy(to + len, buf + at, buf[at] + 1u);
		len += buf[at] + 1u;
		if (!buf[at])
			return len;
		at += buf[at] + 1u;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t buf[400], plain[DNSNAME_MAX], back[DNSNAME_MAX];
	uint32_t used = 0, n, len, i;
	static char text[4096];
	char *name, *save = NULL;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (name = strtok_r(text, "\n", &save); name;
	     name = strtok_r(NULL, "\n", &save)) {
		len = dnsname_put(name, plain, sizeof(plain));
		must(len <= DNSNAME_MAX && (!len || !plain[len - 1]));
		for (i = 0; i < len; i += plain[i] + 1u)
			must(plain[i] < 64);
		n = dnsname_pack(name, buf, used, sizeof(buf));
		must(n <= len && n <= sizeof(buf) - used);
		used += n;
		if (!n)
			continue;
		must(unpack(buf, used, used - n, back) == len);
		must(!memcmp(back, plain, len));
	}
	return 0;
}
