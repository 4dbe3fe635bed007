/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of a running task by perf, one for each millisecond, since /proc/PID/stack shows
 * nothing of a task on a CPU.  A sample interrupts the CPU on which the task runs, even if it is
 * a quiet CPU; so does attaching.
 */
#ifndef KL_RECORD_SAMPLER_H
#define KL_RECORD_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kl_sampler;

/**
 * struct kl_sample - a sample of a task
 * @user: the task was in user mode
 * @n: number of addresses
 * @ips: addresses in the kernel: the interrupted one, then the return address of each function
 */
struct kl_sample {
	bool user;
	unsigned int n;
	const uint64_t *ips;
};

/* Return: 0, -ESRCH if the task has ended or ends, or another negative errno. */
int kl_sampler_open(pid_t tid, struct kl_sampler **out);
void kl_sampler_close(struct kl_sampler *s);

/**
 * kl_sampler_next() - get the next sample
 * @s: the sampler
 * @out: the sample, valid until the next call
 *
 * Samples that did not fit the buffer are missing.
 *
 * Return: true, or false if there is no new sample.
 */
bool kl_sampler_next(struct kl_sampler *s, struct kl_sample *out);

#endif
