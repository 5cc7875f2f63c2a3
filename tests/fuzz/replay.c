/* replay.c - main() of a fuzz target where libFuzzer is not linked
 *
 * Runs every file of the directories named on the command line through
 * LLVMFuzzerTestOneInput(), whole and cut after each byte, so that one seed
 * tests every short read. Each input lies in an allocation of its exact size:
 * the address sanitizer then sees the first byte read past it.
 *
 * It invents no input of its own: "make fuzz" does. */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (1 << 20)
#define CUT_MAX 2048 /* longer files are run whole only: time grows square */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t input[INPUT_MAX];

static void run_exact(size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, input, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static int run_file(const char *dir, const char *name)
{
	char path[4096];
	size_t len, cut;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	if (!f)
		return 0;
	len = fread(input, 1, sizeof(input), f);
	fclose(f);
	printf("# %s, %zu bytes\n", path, len);
	fflush(stdout);
	for (cut = 0; len <= CUT_MAX && cut < len; cut++)
		run_exact(cut);
	run_exact(len);
	return 1;
}

int main(int argc, char **argv)
{
	int i, files = 0;

	for (i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);
		struct dirent *e;

		while (d && (e = readdir(d)))
			if (e->d_name[0] != '.')
				files += run_file(argv[i], e->d_name);
		if (d)
			closedir(d);
	}
	printf("%d files\n", files);
	return files ? 0 : 1;
}
