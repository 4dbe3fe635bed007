// SPDX-License-Identifier: GPL-2.0
/* What every fuzz target needs, see fuzz.h.  tool.sh links it without the rest of klin. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/err.h"
#include "selftests/fuzz/fuzz.h"

void fuzz_broken(const char *what)
{
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void drop(enum kl_level level, const char *line)
{
}

static void slow(int sig)
{
	fuzz_broken("one input takes too much of the processor's time");
}

/* Send SIGVTALRM after @seconds of CPU time; 0 cancels it. */
static void bound(long seconds)
{
	struct itimerval t = { .it_value.tv_sec = seconds };

	signal(SIGVTALRM, slow);
	if (setitimer(ITIMER_VIRTUAL, &t, NULL))
		fuzz_broken("cannot bound the time");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kl_log_sink = drop;
	bound(FUZZ_SECONDS);
	fuzz_one(data, size);
	bound(0);
	return 0;
}

char *fuzz_copy(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);

	if (!copy)
		fuzz_broken("out of memory");
	if (size)
		memcpy(copy, data, size);
	return copy;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		fuzz_broken("out of memory");
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	return text;
}

const char *fuzz_file(const void *data, size_t size)
{
	static struct {
		int fd;
		char path[64];
	} file[FUZZ_FILES];
	static unsigned int next;
	const unsigned int i = next++ % FUZZ_FILES;

	if (!file[i].path[0]) {
		file[i].fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(file[i].path, sizeof(file[i].path), "/proc/self/fd/%d", file[i].fd);
	}
	if (file[i].fd < 0 || ftruncate(file[i].fd, 0) ||
	    pwrite(file[i].fd, data, size, 0) != (ssize_t)size)
		fuzz_broken("cannot write a file in memory");
	return file[i].path;
}

char *fuzz_part(const uint8_t **data, size_t *size)
{
	const uint8_t *end = *size ? memmem(*data, *size, "\n%%\n", 4) : NULL;
	const size_t n = end ? (size_t)(end - *data) + 1 : *size;
	char *text = fuzz_text(*data, n);

	*data += end ? n + 3 : n;
	*size -= end ? n + 3 : n;
	return text;
}
