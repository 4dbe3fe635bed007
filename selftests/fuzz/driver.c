// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a fuzz target without libFuzzer: first its corpus, then mutations of it.  Prints TAP
 * and is deterministic.
 *
 * Usage: fuzz_TARGET [-runs=N] [-seed=N] [DIRECTORY...].  The default corpus is
 * selftests/fuzz/corpus/TARGET and the files that selftests/fuzz/seeds names.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "selftests/fuzz/fuzz.h"

#define FILES_MAX	4096
#define MAX_SIZE	(64u << 10)

static struct {
	char *data;
	size_t len;
} file[FILES_MAX];
static size_t nfiles;
static uint64_t seed = 1;

static void load(const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort), i;
	char *path;

	if (n < 0) {
		printf("Bail out! %s: %s\n", dir, strerror(errno));
		exit(1);
	}
	for (i = 0; i < n; i++) {
		if (asprintf(&path, "%s/%s", dir, names[i]->d_name) < 0)
			fuzz_broken("out of memory");
		if (names[i]->d_name[0] != '.' && nfiles < FILES_MAX &&
		    !kl_read_file(path, &file[nfiles].data, &file[nfiles].len))
			nfiles++;
		free(path);
		free(names[i]);
	}
	free(names);
}

/* Load the corpus of the target @name and the files that selftests/fuzz/seeds names for it. */
static void load_kept(const char *name)
{
	char line[512], target[64], dir[256], corpus[256];
	FILE *f = fopen("selftests/fuzz/seeds", "r");

	if (!f)
		fuzz_broken("cannot read selftests/fuzz/seeds");
	snprintf(corpus, sizeof(corpus), "selftests/fuzz/corpus/%s", name);
	load(corpus);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %255s", target, dir) == 2 && !strcmp(target, name))
			load(dir);
	fclose(f);
}

/* Change one thing: flip a bit, set a byte, delete a piece, or insert a piece of some input. */
static size_t change(uint8_t *p, size_t len)
{
	static const uint8_t odd[] = { 0, 1, 0x7f, 0x80, 0xff, 0xfe, '\n', '-', '9', ' ' };
	size_t at = len ? kl_rand_below(&seed, len) : 0, n, from, f;

	switch (kl_rand_below(&seed, 4)) {
	case 0:
		if (len)
			p[at] ^= 1 << kl_rand_below(&seed, 8);
		return len;
	case 1:
		if (len)
			p[at] = odd[kl_rand_below(&seed, sizeof(odd))];
		return len;
	case 2:
		n = kl_rand_below(&seed, len - at + 1);
		n = n < 40 ? n : 40;
		memmove(p + at, p + at + n, len - at - n);
		return len - n;
	default:
		f = kl_rand_below(&seed, nfiles);
		from = kl_rand_below(&seed, file[f].len + 1);
		n = kl_rand_below(&seed, file[f].len - from + 1);
		n = n < 60 ? n : 60;
		if (len + n > MAX_SIZE)
			return len;
		memmove(p + at + n, p + at, len - at);
		memcpy(p + at, file[f].data + from, n);
		return len + n;
	}
}

static void mutate(void)
{
	static uint8_t data[MAX_SIZE];
	const size_t f = kl_rand_below(&seed, nfiles);
	size_t len = file[f].len < MAX_SIZE ? file[f].len : MAX_SIZE;
	unsigned int changes = 1 + kl_rand_below(&seed, 4);

	memcpy(data, file[f].data, len);
	while (changes--)
		len = change(data, len);
	LLVMFuzzerTestOneInput(data, len);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	unsigned long runs = 500, i;
	bool named = false;
	int a;

	name = name ? name + 1 : argv[0];
	name += strncmp(name, "fuzz_", 5) ? 0 : 5;
	for (a = 1; a < argc; a++) {
		if (!strncmp(argv[a], "-runs=", 6)) {
			runs = strtoul(argv[a] + 6, NULL, 0);
		} else if (!strncmp(argv[a], "-seed=", 6)) {
			seed = strtoull(argv[a] + 6, NULL, 0);
		} else {
			load(argv[a]);
			named = true;
		}
	}
	if (!named)
		load_kept(name);
	printf("1..2\n");
	for (i = 0; i < nfiles; i++)
		LLVMFuzzerTestOneInput((const uint8_t *)file[i].data, file[i].len);
	printf("%s 1 - %s: %zu inputs of the corpus\n", nfiles ? "ok" : "not ok", name, nfiles);
	fflush(stdout);
	for (i = 0; nfiles && i < runs; i++)
		mutate();
	printf("%s 2 - %s: %lu mutations\n", nfiles ? "ok" : "not ok", name, runs);
	for (i = 0; i < nfiles; i++)
		free(file[i].data);
	return 0;
}
