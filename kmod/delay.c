// SPDX-License-Identifier: GPL-2.0
/* Waiting: an empty loop that is calibrated on this machine, and short sleeps. */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "delay.h"

#define SAMPLE_TURNS 20000
#define NAP_NS 50000

DEFINE_PER_CPU(u32, klin_jitter);

static u64 sample_ns = 1;	/* the time in ns of SAMPLE_TURNS turns */

/**
 * klin_turns() - wait without accessing memory
 * @turns: number of turns of an empty loop, see klin_delay_turns()
 *
 * The loop exists once and lies within one page.  Under TCG a loop that crosses the end of a
 * page is ten times as slow.
 */
noinline notrace void klin_turns(u32 turns)
{
	while (turns--)
		barrier();
}

/**
 * klin_delay_calibrate() - measure the duration of the empty loop
 *
 * Takes the shortest of several samples, since an interrupt can only make a sample longer.
 */
void klin_delay_calibrate(void)
{
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < 16; i++) {
		u64 start;

		preempt_disable();
		start = ktime_get_ns();
		klin_turns(SAMPLE_TURNS);
		best = min(best, ktime_get_ns() - start);
		preempt_enable();
	}
	sample_ns = max(best, 1ULL);
}

/**
 * klin_delay_turns() - convert a time to turns of the empty loop
 * @ns: the time in nanoseconds, at most one second
 *
 * Return: the number of turns, at least 1 if @ns is not 0.
 */
u32 klin_delay_turns(u64 ns)
{
	if (!ns)
		return 0;
	return clamp_t(u64, div64_u64(ns * SAMPLE_TURNS, sample_ns), 1, U32_MAX / 4);
}

/**
 * klin_nap() - sleep for about 50 microseconds
 */
void klin_nap(void)
{
	ktime_t nap = NAP_NS;

	set_current_state(TASK_IDLE);
	schedule_hrtimeout(&nap, HRTIMER_MODE_REL);
}
