// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of recordings, see clock.h.
 *
 * The time stamp counter serves only where the kernel itself relies on it: it ticks at one rate, in
 * sleep states, too, and no CPU was seen to be behind another one.  The kernel's monotonic clock is
 * then a function of the counter that is the same on all CPUs.  So the error of the monotonic
 * clock, which is measured, is the error of the counter.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/clock_skew.h"
#include "base/err.h"
#include "base/now.h"
#include "libklin/clock.h"

#define TRIES 100 /* readings of both clocks, of which the closest pair is taken */
#define MARGIN 100 /* a hundredth is added to the error for the error of the ratio */

uint64_t klin_lane_now(void)
{
	return kl_now_ns();
}

#if defined(__x86_64__)

#define LEAF_POWER 0x80000007
#define INVARIANT (1u << 8) /* of EDX */
#define LEAF_EXTENDED 0x80000001
#define HAS_RDTSCP (1u << 27) /* of EDX */

static bool has_counter(void)
{
	unsigned int a, b, c, d;
	char source[32];

	return __get_cpuid(LEAF_EXTENDED, &a, &b, &c, &d) && (d & HAS_RDTSCP) &&
	       __get_cpuid(LEAF_POWER, &a, &b, &c, &d) && (d & INVARIANT) &&
	       !strcmp(kl_clock_source(source, sizeof(source)), "tsc");
}

static uint64_t counter(void)
{
	return __builtin_ia32_rdtsc();
}

#else

static bool has_counter(void)
{
	return false;
}

static uint64_t counter(void)
{
	return 0;
}

#endif

enum klin_lane_clock lib_clock(enum klin_clock clock)
{
	if (clock == KLIN_CLOCK_ORDER)
		return KLIN_LANE_ORDER;
	if (has_counter())
		return clock == KLIN_CLOCK_DRAIN ? KLIN_LANE_TSC_DRAIN : KLIN_LANE_TSC;
	return clock == KLIN_CLOCK_DRAIN ? KLIN_LANE_KERNEL_DRAIN : KLIN_LANE_KERNEL;
}

struct both {
	uint64_t ticks, ns;
};

/* Read both clocks at nearly the same time. */
static struct both read_both(void)
{
	uint64_t best = UINT64_MAX, before, after, ns;
	struct both b = { 0 };
	int i;

	for (i = 0; i < TRIES; i++) {
		before = counter();
		ns = kl_now_ns();
		after = counter();
		if (after - before >= best)
			continue;
		best = after - before;
		b = (struct both){ .ticks = before + best / 2, .ns = ns };
	}
	return b;
}

struct measured {
	int err;
	uint64_t error; /* in nanoseconds */
	uint64_t ns, ticks; /* that went by */
};

static void *measure(void *arg)
{
	const struct both before = read_both();
	struct measured *m = arg;
	unsigned int compared;
	struct both after;

	m->err = kl_clock_error(&m->error, &compared);
	after = read_both();
	m->ns = after.ns - before.ns;
	m->ticks = after.ticks - before.ticks;
	return NULL;
}

/* Compare the CPUs once a process.  The thread moves from CPU to CPU, so it is no caller's. */
static int measure_once(struct measured *out)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct measured m;
	pthread_t t;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!m.ns) {
		err = -pthread_create(&t, NULL, measure, &m);
		if (!err) {
			pthread_join(t, NULL);
			err = m.err;
		}
		/* A later call may try again. */
		if (err)
			m.ns = 0;
	}
	*out = m;
	pthread_mutex_unlock(&lock);
	return err;
}

static bool is_kernels(enum klin_lane_clock clock)
{
	return clock == KLIN_LANE_KERNEL || clock == KLIN_LANE_KERNEL_DRAIN;
}

int lib_clock_scale(enum klin_lane_clock clock, struct lib_scale *scale)
{
	struct measured m;
	int err;

	*scale = (struct lib_scale){ .ns = 1, .ticks = 1 };
	if (clock == KLIN_LANE_ORDER)
		return 0;
	if (!is_kernels(clock) && !has_counter()) {
		kl_err("the kernel gave the time stamp counter up during the recording");
		return -EIO;
	}
	err = measure_once(&m);
	if (err) {
		kl_err("the clocks of the CPUs cannot be compared: %s", strerror(-err));
		return err;
	}
	/* One more for the fractions that are cut off. */
	scale->error = m.error + m.error / MARGIN + 1;
	if (!is_kernels(clock)) {
		scale->ns = m.ns;
		scale->ticks = m.ticks;
	}
	return 0;
}

uint64_t lib_clock_since(const struct lib_scale *scale, uint64_t began, uint64_t t)
{
	return t <= began ? 0 : (unsigned __int128)(t - began) * scale->ns / scale->ticks;
}
