/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decides if a task is inside a function.  The answer comes from the task's stack and, where the
 * stack does not show a function, from the calls and jumps in the kernel's code.
 */
#ifndef KL_RECORD_UNWIND_H
#define KL_RECORD_UNWIND_H

#include "record/attach/kernel.h"

struct kl_callees;

enum kl_inside { KL_OUTSIDE, KL_MAYBE_INSIDE, KL_INSIDE };

/**
 * kl_callees_open() - prepare to read the kernel's code
 * @k: the kernel's symbols with their addresses, which live until kl_callees_free()
 * @core: the file of the kernel's memory, /proc/kcore
 * @out: gets the code
 *
 * Return: 0, -ENOMEM, -EPERM if the addresses are hidden, or a negative errno of reading @core.
 */
int kl_callees_open(const struct kl_kernel *k, const char *core, struct kl_callees **out);
void kl_callees_free(struct kl_callees *c);

/**
 * kl_callees_inside() - decide if a sleeping task is inside a function
 * @c: the code
 * @f: the function
 * @stack: /proc/PID/stack of the task, which is asleep
 *
 * Return: an enum kl_inside, or -ENOMEM.
 */
int kl_callees_inside(struct kl_callees *c, const struct kl_func *f, const char *stack);

/**
 * kl_callees_running() - decide if a task that was interrupted on a CPU is inside a function
 * @c: the code
 * @f: the function
 * @ips: addresses of a sample: the interrupted one, then the return address of each function
 * @n: number of addresses
 *
 * Unlike /proc/PID/stack, a sample shows functions of .sched.text, too.  Its innermost function was
 * interrupted, so it was not in a call.
 *
 * Return: an enum kl_inside:  KL_MAYBE_INSIDE if the addresses are incomplete or the kernel has
 * no ORC unwinder; or -ENOMEM.
 */
int kl_callees_running(struct kl_callees *c, const struct kl_func *f, const uint64_t *ips,
		       unsigned int n);

/*
 * Decide if a sleeping task is inside the function @name, by the names in its stack alone.  They do
 * not prove that the task is outside, so the result is KL_INSIDE or KL_MAYBE_INSIDE.
 */
int kl_callees_by_name(const char *name, const char *stack);

#endif
