// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of recording with libklin: nanoseconds for an event, which is a call or a return, on
 * each clock, for an operation that does nothing.  `clock_gettime' is what most recorders would pay
 * for the time alone.  A number is the median of pieces of a thread's run, since other programs
 * disturb some pieces.
 *
 *	lanes THREADS PIECES
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libklin/include/klin/record.h"

#define PIECE 1000 /* operations */
#define MOST_THREADS 64
#define MOST_PIECES 10000

static unsigned int threads, pieces;
static double spent[MOST_THREADS][MOST_PIECES]; /* nanoseconds of each piece */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void record(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	const int enq = klin_rec_method(rec, "enq");
	unsigned int i, n;
	double start;

	for (n = 0; n < pieces; n++) {
		start = now();
		for (i = 0; i < PIECE; i++) {
			klin_call1(lane, enq, 1, i);
			klin_return(lane);
		}
		spent[thread][n] = now() - start;
	}
}

static void read_clock(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	volatile double sink;
	unsigned int i, n;
	double start;

	(void)rec;
	(void)lane;
	for (n = 0; n < pieces; n++) {
		start = now();
		for (i = 0; i < 2 * PIECE; i++)
			sink = now();
		spent[thread][n] = now() - start;
	}
	(void)sink;
}

static int by_time(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Return: nanoseconds for an event, the mean of the threads' medians. */
static double measure(enum klin_clock clock,
		      void (*work)(struct klin_rec *, struct klin_lane *, unsigned int))
{
	struct klin_rec *rec = klin_rec_open("queue", clock, threads, (size_t)pieces * PIECE);
	double sum = 0;
	unsigned int i;

	if (!rec || klin_rec_run(rec, work)) {
		fprintf(stderr, "lanes: %s\n", klin_error());
		exit(4);
	}
	klin_rec_free(rec);
	for (i = 0; i < threads; i++) {
		qsort(spent[i], pieces, sizeof(double), by_time);
		sum += spent[i][pieces / 2];
	}
	return sum / threads / (2 * PIECE);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "plain", "drain", "order" };
	unsigned int i;

	threads = argc == 3 ? atoi(argv[1]) : 0;
	pieces = argc == 3 ? atoi(argv[2]) : 0;
	if (!threads || threads > MOST_THREADS || !pieces || pieces > MOST_PIECES) {
		fprintf(stderr, "usage: lanes THREADS PIECES\n");
		return 2;
	}
	for (i = 0; i < 3; i++)
		printf("%u\t%s\t%.1f\n", threads, names[i], measure((enum klin_clock)i, record));
	printf("%u\tclock_gettime\t%.1f\n", threads, measure(KLIN_CLOCK_PLAIN, read_clock));
	return 0;
}
