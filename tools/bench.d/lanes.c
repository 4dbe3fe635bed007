// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of recording with libklin: nanoseconds for an event, which is a call or a return, on
 * each clock, for an operation that does nothing.  The other lines are there to compare with:
 * `clock_gettime' is what most recorders would pay for the time alone, `counter' is two ordered
 * readings of the time stamp counter without anything recorded, and `loop' is the empty loop.
 *
 * A number is the median of pieces of a thread's run, since other programs disturb some pieces.
 * The pieces of all lines take turns, so their ratios are those of one and the same time.
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

enum { CLOCKS = KLIN_CLOCK_ORDER + 1, GETTIME = CLOCKS, COUNTER, LOOP, LINES };

static const char *const names[LINES] = {
	[KLIN_CLOCK_PLAIN] = "plain", [KLIN_CLOCK_DRAIN] = "drain", [KLIN_CLOCK_ORDER] = "order",
	[GETTIME] = "clock_gettime",  [COUNTER] = "counter",	    [LOOP] = "loop",
};

static unsigned int threads, pieces;
static struct klin_rec *recs[CLOCKS];
static double spent[LINES][MOST_THREADS][MOST_PIECES]; /* nanoseconds of each piece */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void record(struct klin_lane *lane, int enq)
{
	unsigned int i;

	for (i = 0; i < PIECE; i++) {
		klin_call1(lane, enq, 1, i);
		klin_return(lane);
	}
}

static void get_time(void)
{
	volatile double sink;
	unsigned int i;

	for (i = 0; i < 2 * PIECE; i++)
		sink = now();
	(void)sink;
}

static void read_counter(struct klin_lane *lane)
{
	volatile uint64_t sink;
	unsigned int i;

	for (i = 0; i < PIECE; i++) {
		sink = klin_read_call(lane);
		klin_begin_after(lane);
		sink = klin_time_of_return(lane);
	}
	(void)sink;
}

static void loop(void)
{
	volatile unsigned int i;

	for (i = 0; i < 2 * PIECE; i++)
		;
}

static void run_piece(unsigned int line, struct klin_lane *lane, int enq)
{
	if (line < CLOCKS)
		record(lane, enq);
	else if (line == GETTIME)
		get_time();
	else if (line == COUNTER)
		read_counter(lane);
	else
		loop();
}

static void work(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	const int enq = klin_rec_method(rec, "enq");
	struct klin_lane *lanes[LINES];
	unsigned int i, n;
	double start;

	for (i = 0; i < LINES; i++)
		lanes[i] = i < CLOCKS ? klin_rec_thread(recs[i]) : lane;
	for (n = 0; n < pieces; n++) {
		for (i = 0; i < LINES; i++) {
			start = now();
			run_piece(i, lanes[i], enq);
			spent[i][thread][n] = now() - start;
		}
	}
}

static int by_time(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Return: nanoseconds for an event, the mean of the threads' medians. */
static double median(unsigned int line)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < threads; i++) {
		qsort(spent[line][i], pieces, sizeof(double), by_time);
		sum += spent[line][i][pieces / 2];
	}
	return sum / threads / (2 * PIECE);
}

static void fail(void)
{
	fprintf(stderr, "lanes: %s\n", klin_error());
	exit(4);
}

int main(int argc, char **argv)
{
	unsigned int i;

	threads = argc == 3 ? atoi(argv[1]) : 0;
	pieces = argc == 3 ? atoi(argv[2]) : 0;
	if (!threads || threads > MOST_THREADS || !pieces || pieces > MOST_PIECES) {
		fprintf(stderr, "usage: lanes THREADS PIECES\n");
		return 2;
	}
	for (i = 0; i < CLOCKS; i++) {
		recs[i] = klin_rec_open("queue", (enum klin_clock)i, threads,
					(size_t)pieces * PIECE);
		if (!recs[i])
			fail();
	}
	if (klin_rec_run(recs[0], work))
		fail();
	for (i = 0; i < LINES; i++)
		printf("%u\t%s\t%.1f\t%.2f\n", threads, names[i], median(i),
		       median(i) / median(GETTIME));
	for (i = 0; i < CLOCKS; i++)
		klin_rec_free(recs[i]);
	return 0;
}
