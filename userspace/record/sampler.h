/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a task is while it is on a CPU: perf's samples of it, each millisecond that it runs.
 * (/proc/PID/stack shows nothing of a task that runs.)  That interrupts each CPU where the
 * task runs, also those that klin leaves in peace later, as attaching itself does.
 */
#ifndef KL_RECORD_SAMPLER_H
#define KL_RECORD_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kl_sampler;

/**
 * struct kl_sample - where the task was interrupted
 * @user: in its own code
 * @n: how many addresses
 * @ips: in the kernel, innermost first, then where each function returns to
 */
struct kl_sample {
	bool user;
	unsigned int n;
	const uint64_t *ips;
};

/* Return: 0, -ESRCH if the task is gone or ends, or why the kernel refuses it. */
int kl_sampler_open(pid_t tid, struct kl_sampler **out);
void kl_sampler_close(struct kl_sampler *s);

/**
 * kl_sampler_next() - the next sample that was not read yet
 * @s: the sampler
 * @out: the sample; valid until the next call
 *
 * Return: whether there is one.  Samples for which there was no room are left out.
 */
bool kl_sampler_next(struct kl_sampler *s, struct kl_sample *out);

#endif
