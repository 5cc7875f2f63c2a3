/* log_test.c - what a message looks like, and where it goes
 *
 * Standard error is replaced by a file that is read back and emptied after each
 * message; the log file is another. Time stamps are checked for their form. */

#include "check.h"
#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char err_path[] = "/tmp/log_test_err_XXXXXX";
static char log_path[] = "/tmp/log_test_log_XXXXXX";

/* Content of a file, which is emptied; digits of a time stamp at its beginning
 * become one 0 */
static const char *take(const char *path)
{
	static char text[16384];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	char *rest = text;

	if (f)
		fclose(f);
	text[n] = '\0';
	if (truncate(path, 0) < 0)
		return "(cannot be emptied)";
	while (isdigit((unsigned char)*rest))
		rest++;
	if (rest == text || *rest != '.' || strlen(rest) < 6)
		return text;
	memset(rest + 1, '0', 4);
	*--rest = '0';
	return rest;
}

static void test_levels(void)
{
	log_init("pasta");
	err("%s %d", "bad", 1);
	is_str(take(err_path), "pasta: error: bad 1\n", "error");
	warn("hm");
	is_str(take(err_path), "pasta: warning: hm\n", "warning");
	info("plain");
	is_str(take(err_path), "plain\n", "info has no prefix");
	debug("no");
	trace("no");
	is_str(take(err_path), "", "debug is not shown at first");
	ok(log_shows(LEVEL_INFO) && !log_shows(LEVEL_DEBUG), "shown levels");

	log_level(LEVEL_WARN);
	info("no");
	is_str(take(err_path), "", "quiet: no info");
	warn("yes");
	is_str(take(err_path), "pasta: warning: yes\n", "quiet: warnings");

	log_level(LEVEL_DEBUG);
	debug("flow");
	is_str(take(err_path), "0.0000: flow\n", "debug has a time stamp");
	warn("hm");
	is_str(take(err_path), "0.0000: pasta: warning: hm\n",
	       "warnings have one then");
	trace("no");
	is_str(take(err_path), "", "trace is not shown by debug");
	log_level(LEVEL_TRACE);
	trace("packet");
	is_str(take(err_path), "0.0000: packet\n", "trace");
	log_level(LEVEL_INFO);
}

static void test_text(void)
{
	static char big[20000];
	const char *line;

	log_init("pasta");
	info("one\ntwo\033[1m\177 \xc3\xa4");
	is_str(take(err_path), "one?two?[1m? \xc3\xa4\n",
	       "control characters cannot forge a line");
	memset(big, 'x', sizeof(big) - 1);
	info("%s", big);
	line = take(err_path);
	ok(strlen(line) > 8000 && strlen(line) < 8200 &&
		   line[strlen(line) - 1] == '\n',
	   "a long message is cut short");
	errno = EXDEV;
	info("x");
	is_int(errno, EXDEV, "errno is kept");
	take(err_path);
	log_level(LEVEL_ERR);
	log_line("{\"a\":1}");
	is_str(take(err_path), "{\"a\":1}\n", "a line as it is, any level");
}

static void test_file(void)
{
	const struct log_file nowhere = { "/nonexistent/log", 1000, "" };
	const struct log_file file = { log_path, 1000000, "pasta 1" };
	struct stat st;

	log_init("pasta");
	unlink(log_path);
	is_int(log_open(&nowhere), -ENOENT, "no such directory");
	is_int(log_open(&file), 0, "open");
	is_str(take(log_path), "pasta 1\n", "the first line");
	ok(!stat(log_path, &st) && (st.st_mode & 07777) == 0600, "mode");
	warn("both");
	is_str(take(log_path), "0.0000: warning: both\n", "in the file");
	is_str(take(err_path), "pasta: warning: both\n", "on stderr, too");
	log_stderr(false);
	info("start");
	is_str(take(log_path), "0.0000: info: start\n", "in the file");
	log_line("{}");
	is_str(take(log_path), "{}\n", "a line as it is");
	is_str(take(err_path), "", "not on stderr any more");
	info("old");
	is_int(log_open(&file), 0, "open again");
	is_str(take(log_path), "pasta 1\n", "it is truncated");
	log_stderr(true);
	info("again");
	is_str(take(err_path), "again\n", "stderr is back");
}

/* Number of the message in a line of test_ring(), -1 if it is not one */
static int number(const char *line)
{
	unsigned s, frac;
	int n = -1;
	char c = 0;

	if (sscanf(line, "%u.%4u: info: line %d%c", &s, &frac, &n, &c) != 4)
		return -1;
	return c == '\n' ? n : -1;
}

/* The file is the first line and then messages without a gap, up to the last */
static void check_ring(int last)
{
	FILE *f = fopen(log_path, "r");
	char line[256] = "";
	int n = -1, bad = 0, next;

	if (!f || !fgets(line, sizeof(line), f))
		line[0] = '\0';
	is_str(line, "first\n", "the first line stays");
	while (f && fgets(line, sizeof(line), f)) {
		next = number(line);
		bad += next < 0 || (n >= 0 && next != n + 1);
		n = next;
	}
	is_int(bad, 0, "whole lines, none missing between");
	is_int(n, last, "the newest is there");
	if (f)
		fclose(f);
}

static void test_ring(void)
{
	const struct log_file file = { log_path, 40960, "first" };
	off_t most = 0, least = 40960, before = 0;
	struct stat st;
	int cuts = 0;

	log_init("pasta");
	log_stderr(false);
	is_int(log_open(&file), 0, "open with a limit");
	for (int i = 0; i < 10000; i++) {
		info("line %d", i);
		if (stat(log_path, &st))
			continue;
		most = st.st_size > most ? st.st_size : most;
		if (st.st_size < before) {
			least = st.st_size < least ? st.st_size : least;
			cuts++;
		}
		before = st.st_size;
	}
	ok(most <= 40960 && most > 40900, "up to the limit: %ld", (long)most);
	ok(least > 28000 && least < 29500, "about 30 %% are cut: %ld left",
	   (long)least);
	ok(cuts > 10 && cuts < 30, "not at every line: %d cuts", cuts);
	check_ring(9999);
	is_int(truncate(log_path, 0), 0, "somebody empties it");
	info("line 7");
	is_int(stat(log_path, &st), 0, "it is still there");
	ok(st.st_size < 40, "it begins anew, without a hole");
	log_stderr(true);
}

/* What cannot be cut has no limit */
static void test_pipe(void)
{
	const struct log_file file = { "/dev/fd/9", 40960, "first" };
	char text[200] = "";
	int fds[2];

	log_init("pasta");
	if (pipe(fds) || dup2(fds[1], 9) != 9)
		return;
	is_int(log_open(&file), 0, "a pipe");
	warn("x");
	ok(read(fds[0], text, sizeof(text) - 1) > 0 &&
		   !strncmp(text, "first\n0.0", 9),
	   "gets what a file would");
	take(err_path);
	log_stderr(false);
	alarm(5); /* a blocked write would end the test */
	for (int i = 0; i < 10000; i++)
		info("line %d", i);
	alarm(0);
	log_stderr(true);
	ok(read(fds[0], text, sizeof(text) - 1) > 0,
	   "a full one that nobody reads loses lines, no time");
	close(9);
	close(fds[0]);
	close(fds[1]);
}

/* A caller that captures standard error need not read it */
static void test_unread_stderr(void)
{
	int fds[2], kept = dup(STDERR_FILENO);

	log_init("pasta");
	if (kept < 0 || pipe(fds) || dup2(fds[1], STDERR_FILENO) < 0)
		return;
	alarm(5);
	for (int i = 0; i < 10000; i++)
		info("line %d", i);
	alarm(0);
	dup2(kept, STDERR_FILENO);
	ok(1, "standard error that nobody reads loses lines, no time");
	close(kept);
	close(fds[0]);
	close(fds[1]);
}

static void test_die(void)
{
	int status = 0;
	pid_t pid;

	log_init("passt");
	pid = fork();
	if (!pid)
		die("no %s", "way");
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 1, "exit status 1");
	is_str(take(err_path), "passt: error: no way\n", "and one line");
}

int main(void)
{
	int fd = mkstemp(err_path);
	int log_fd = mkstemp(log_path);

	if (fd < 0 || log_fd < 0)
		skip_all("no temporary files");
	/* Append, so that emptying the file also starts at its beginning */
	if (!freopen(err_path, "a", stderr))
		skip_all("stderr cannot be replaced");
	close(fd);
	close(log_fd);

	test_levels();
	test_text();
	test_file();
	test_ring();
	test_pipe();
	test_unread_stderr();
	test_die();
	unlink(err_path);
	unlink(log_path);
	return done();
}
