/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits of a few nanoseconds by counting.
 *
 * ndelay() reads the TSC, and under QEMU's TCG each such read drains the store buffer.  This
 * would hide what TSO allows.  These loops access no memory.
 */
#ifndef KLIN_DELAY_H
#define KLIN_DELAY_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

DECLARE_PER_CPU(u32, klin_jitter);

void klin_delay_calibrate(void);
u32 klin_delay_turns(u64 ns);
void klin_turns(u32 turns) __aligned(64);
void klin_nap(void);

/*
 * Wait for a random number of turns between 0 and 2 * @turns.  With equal waits two CPUs would
 * run in lockstep, and their windows would never overlap.  A race on the generator's state is
 * harmless: it only repeats a number.
 */
static inline void klin_turns_about(u32 turns)
{
	u32 x = raw_cpu_read(klin_jitter) * 1664525 + 1013904223;

	raw_cpu_write(klin_jitter, x);
	klin_turns(((u64)x * (2ULL * turns + 1)) >> 32);
}

#endif
