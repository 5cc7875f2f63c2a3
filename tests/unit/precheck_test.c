/* precheck_test.c - findings as lines and as JSON, for options and resolvers
 * that decide them; what the machine decides is only looked at for its form */

#include "precheck.h"

#include "check.h"

#include <unistd.h>

static struct conf conf;
static struct resolv resolv;
static char text[65536];
static int status;

static void run(bool is_json)
{
	struct precheck c = { .conf = &conf, .resolv = &resolv, .gid = 65534 };
	FILE *f = tmpfile();
	int keep;

	fflush(stdout);
	keep = dup(1);
	if (!f || keep < 0 || dup2(fileno(f), 1) < 0)
		exit(1);
	conf.json = is_json;
	status = precheck_run(&c);
	fflush(stdout);
	dup2(keep, 1);
	close(keep);
	rewind(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
}

static void form(void)
{
	unsigned lines = 0, bad = 0;
	char *line, *end;

	run(false);
	for (line = text; *line; line = end + 1, lines++) {
		end = strchr(line, '\n');
		if (!end)
			break;
		bad += strncmp(line, "ok    ", 6) &&
		       strncmp(line, "warn  ", 6) && strncmp(line, "fail  ", 6);
	}
	is_int(lines, 16, "lines");
	is_int(bad, 0, "lines without a verdict");
	is_int(status, !!strstr(text, "\nfail") || !strncmp(text, "fail", 4),
	       "exit status");
	run(true);
	ok(!strncmp(text, "{\"version\": \"", 13), "JSON begins");
	ok(strstr(text, status ? "\"ok\": false}\n" : "\"ok\": true}\n"),
	   "JSON ends with the verdict");
}

static void decided(void)
{
	conf.has[FAMILY_V6] = false;
	run(false);
	ok(strstr(text, "ok    ipv6             switched off by an option\n"),
	   "a family that is off");
	ok(strstr(text, "warn  resolver         no name server"),
	   "no name server");

	resolv.n_dns[FAMILY_V4] = 1;
	addr_parse("192.0.2.53", &resolv.dns[FAMILY_V4][0]);
	run(false);
	ok(strstr(text, "ok    resolver         192.0.2.53\n"), "name server");
	addr_parse("127.0.0.53", &resolv.dns[FAMILY_V4][0]);
	run(false);
	ok(strstr(text, "127.0.0.53, a loopback address: needs --dns-forward"),
	   "name server on loopback");

	conf.interface = "no\"\\\n\xc3\xa4";
	run(false);
	ok(strstr(text, "fail  ipv4             --interface no"),
	   "an interface that is not there");
	is_int(status, 1, "exit status");
	run(true);
	ok(strstr(text, "--interface no\\\"\\\\???: no such interface"),
	   "JSON quotes what must be quoted");
}

int main(void)
{
	conf.has[FAMILY_V4] = true;
	conf.has[FAMILY_V6] = true;
	conf.mtu = MTU_DEFAULT;
	conf.plen4 = -1;
	form();
	decided();
	return done();
}
