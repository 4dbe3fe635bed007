// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of recording with libklin: nanoseconds for an event, which is a call or a return, on
 * each clock, for an operation that does nothing.  `clock_gettime' is what most recorders would pay
 * for the time alone.
 *
 *	lanes THREADS OPERATIONS ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libklin/include/klin/record.h"

static unsigned int threads, operations;
static double spent[64]; /* nanoseconds of each thread */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void record(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	const int enq = klin_rec_method(rec, "enq");
	const double start = now();
	unsigned int i;

	for (i = 0; i < operations; i++) {
		klin_call1(lane, enq, 1, i);
		klin_return(lane);
	}
	spent[thread] = now() - start;
}

static void read_clock(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	const double start = now();
	volatile double sink;
	unsigned int i;

	(void)rec;
	(void)lane;
	for (i = 0; i < 2 * operations; i++)
		sink = now();
	(void)sink;
	spent[thread] = now() - start;
}

/* Return: the least mean of some rounds, since others were disturbed. */
static double measure(enum klin_clock clock, unsigned int rounds,
		      void (*work)(struct klin_rec *, struct klin_lane *, unsigned int))
{
	double best = 1e18, sum;
	unsigned int i, r;

	for (r = 0; r < rounds; r++) {
		struct klin_rec *rec = klin_rec_open("queue", clock, threads, operations);

		if (!rec || klin_rec_run(rec, work)) {
			fprintf(stderr, "lanes: %s\n", klin_error());
			exit(4);
		}
		klin_rec_free(rec);
		for (sum = 0, i = 0; i < threads; i++)
			sum += spent[i];
		sum /= 2.0 * operations * threads;
		best = sum < best ? sum : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "plain", "drain", "order" };
	unsigned int rounds, i;

	threads = argc == 4 ? atoi(argv[1]) : 0;
	operations = argc == 4 ? atoi(argv[2]) : 0;
	rounds = argc == 4 ? atoi(argv[3]) : 0;
	if (!threads || threads > 64 || !operations || !rounds) {
		fprintf(stderr, "usage: lanes THREADS OPERATIONS ROUNDS\n");
		return 2;
	}
	for (i = 0; i < 3; i++)
		printf("%u\t%s\t%.1f\n", threads, names[i],
		       measure((enum klin_clock)i, rounds, record));
	printf("%u\tclock_gettime\t%.1f\n", threads, measure(KLIN_CLOCK_PLAIN, rounds, read_clock));
	return 0;
}
