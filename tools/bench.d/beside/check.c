// SPDX-License-Identifier: GPL-2.0
/*
 * How long klin_check() takes for a history, for tools/bench-beside: prints the verdict, and the
 * milliseconds to read the history and to check it.  The history is read anew for each check.  The
 * times are medians of the second half of all checks, as those of the other programs.
 *
 *	check SPEC FILE SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libklin/include/klin/klin.h"

#define MOST 2001 /* checks */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int by_time(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *times, unsigned int n)
{
	qsort(times, n, sizeof(*times), by_time);
	return times[n / 2];
}

static void fail(void)
{
	fprintf(stderr, "check: %s\n", klin_error());
	exit(4);
}

int main(int argc, char **argv)
{
	static const char *const verdicts[] = { "right", "wrong", "unknown" };
	static double reading[MOST], checking[MOST];
	enum klin_verdict verdict = KLIN_UNKNOWN;
	struct klin_history *h;
	struct klin_result *r;
	struct klin_spec *spec;
	double start, end;
	unsigned int n = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: check SPEC FILE SECONDS\n");
		return 2;
	}
	if (klin_spec_load(argv[1], &spec))
		fail();
	end = now() + atof(argv[3]) * 1e3;
	do {
		start = now();
		if (klin_history_read(argv[2], &h))
			fail();
		reading[n] = now() - start;
		start = now();
		if (klin_check(spec, h, NULL, &r))
			fail();
		checking[n++] = now() - start;
		verdict = klin_result_verdict(r);
		klin_result_free(r);
		klin_history_free(h);
	} while (n < MOST && now() < end);
	printf("%s\t%.4f\t%.4f\n", verdicts[verdict], median(reading + n / 2, n - n / 2),
	       median(checking + n / 2, n - n / 2));
	klin_spec_free(spec);
	return 0;
}
