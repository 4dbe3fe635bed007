/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces of newer kernels, for older ones.  No other file tests the kernel's version. */
#ifndef KLIN_COMPAT_H
#define KLIN_COMPAT_H

#include <linux/filter.h>
#include <linux/hrtimer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

static inline bool klin_prog_sleepable(const struct bpf_prog *prog)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return prog->sleepable;
#else
	return prog->aux->sleepable;
#endif
}

#endif
