// SPDX-License-Identifier: GPL-2.0
/*
 * Print the frequency of this machine's TSC in kHz, from 0.2 s of the monotonic clock.
 *
 * QEMU without KVM gives the guest the host's TSC.  The guest's kernel would measure its frequency
 * against an emulated timer.  On a busy host that was wrong by a factor of 20 once.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
	uint64_t tsc, ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Read both clocks.  Of many pairs of readings take the nearest, in which nothing intervened. */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t least = UINT64_MAX, before, after, ns;
	int i;

	for (i = 0; i < 1000; i++) {
		before = __rdtsc();
		ns = now_ns();
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct reading){ before + least / 2, ns };
	}
	return best;
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = 200000000 };
	const struct reading a = read_both();
	struct reading b;

	nanosleep(&wait, NULL);
	b = read_both();
	printf("%llu\n", (unsigned long long)((double)(b.tsc - a.tsc) * 1e6 / (b.ns - a.ns) + 0.5));
	return 0;
}
