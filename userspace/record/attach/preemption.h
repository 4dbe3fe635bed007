/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the kernel may preempt its own code.
 *
 * The kernel runs fentry and fexit programs with preemption enabled, and each of them once
 * at a time on a CPU.  Where kernel code is preemptible, a program can be preempted, and
 * until it goes on the kernel drops the hits of all other tasks on that CPU.  Kprobes and
 * tracepoints disable preemption, so only an interrupt can hit their programs.
 */
#ifndef KL_RECORD_ATTACH_PREEMPTION_H
#define KL_RECORD_ATTACH_PREEMPTION_H

#include <stdbool.h>

enum kl_preemption {
	KL_PREEMPT_NONE, KL_PREEMPT_VOLUNTARY, KL_PREEMPT_LAZY, KL_PREEMPT_FULL, KL_PREEMPT_RT,
	KL_PREEMPT_UNKNOWN,
};

/**
 * struct kl_preemption_files - what tells the model; NULL where it cannot be read
 * @version: the version of uname(2), such as "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1"
 * @sched: /sys/kernel/debug/sched/preempt, such as "none (voluntary) full"
 * @cmdline: /proc/cmdline
 * @config: the kernel's configuration
 */
struct kl_preemption_files {
	const char *version, *sched, *cmdline, *config;
};

/* The model that these files tell. */
enum kl_preemption kl_preemption_of(const struct kl_preemption_files *f);

/* The model of the running kernel; with CONFIG_PREEMPT_DYNAMIC it can change later. */
enum kl_preemption kl_preemption(void);

/* As the boot option `preempt=' has it. */
const char *kl_preemption_name(enum kl_preemption p);

/* Can kernel code be preempted anywhere?  True when unknown. */
static inline bool kl_preemptible(enum kl_preemption p)
{
	return p != KL_PREEMPT_NONE && p != KL_PREEMPT_VOLUNTARY;
}

#endif
