/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's preemption model.
 *
 * The kernel runs fentry and fexit programs with preemption enabled, but never the same program
 * twice at a time on a CPU.  If kernel code is preemptible, a program can be preempted.  Until the
 * program continues, the kernel skips it for all other tasks on this CPU, so calls are missed.
 * Kprobes and tracepoints disable preemption: only interrupts can interrupt their programs.
 */
#ifndef KL_RECORD_ATTACH_PREEMPTION_H
#define KL_RECORD_ATTACH_PREEMPTION_H

#include <stdbool.h>

enum kl_preemption {
	KL_PREEMPT_NONE, KL_PREEMPT_VOLUNTARY, KL_PREEMPT_LAZY, KL_PREEMPT_FULL, KL_PREEMPT_RT,
	KL_PREEMPT_UNKNOWN,
};

/**
 * struct kl_preemption_files - texts that show the model; NULL if one cannot be read
 * @version: the version of uname(2), such as "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1"
 * @sched: text of /sys/kernel/debug/sched/preempt, such as "none (voluntary) full"
 * @cmdline: text of /proc/cmdline
 * @config: text of the kernel's configuration
 */
struct kl_preemption_files {
	const char *version, *sched, *cmdline, *config;
};

/* Return: the model that these texts show, or KL_PREEMPT_UNKNOWN. */
enum kl_preemption kl_preemption_of(const struct kl_preemption_files *f);

/* Return: the model of the running kernel.  It can change later with CONFIG_PREEMPT_DYNAMIC. */
enum kl_preemption kl_preemption(void);

/* Return: the model's name in the boot option preempt=. */
const char *kl_preemption_name(enum kl_preemption p);

/* Return: true if kernel code can be preempted anywhere, or the model is unknown. */
static inline bool kl_preemptible(enum kl_preemption p)
{
	return p != KL_PREEMPT_NONE && p != KL_PREEMPT_VOLUNTARY;
}

#endif
