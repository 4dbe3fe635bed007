/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is inside a function, by the stack of a task that sleeps: also where the stack does
 * not show it, by what the kernel's code calls and jumps to.
 */
#ifndef KL_RECORD_UNWIND_H
#define KL_RECORD_UNWIND_H

#include "record/attach/kernel.h"

struct kl_callees;

enum kl_inside { KL_OUTSIDE, KL_MAYBE_INSIDE, KL_INSIDE };

/**
 * kl_callees_open() - get ready to read the kernel's code
 * @k: its symbols, with their addresses; to be kept until kl_callees_free()
 * @core: its memory, /proc/kcore
 * @out: to be asked
 *
 * Return: 0, -ENOMEM, -EPERM if the addresses are hidden, or why @core cannot be read.
 */
int kl_callees_open(const struct kl_kernel *k, const char *core, struct kl_callees **out);
void kl_callees_free(struct kl_callees *c);

/**
 * kl_callees_inside() - is a task inside a function?
 * @c: the code
 * @f: the function
 * @stack: /proc/PID/stack of the task, which is asleep
 *
 * Return: what is known, or -ENOMEM.
 */
int kl_callees_inside(struct kl_callees *c, const struct kl_func *f, const char *stack);

/**
 * kl_callees_running() - is a task inside a function that was interrupted on a CPU?
 * @c: the code
 * @f: the function
 * @ips: a sample's addresses in the kernel, innermost first: where the task was interrupted,
 *	then where each function returns to
 * @n: how many
 *
 * Unlike /proc/PID/stack a sample leaves nothing out, and the innermost function has called
 * nothing.
 *
 * Return: what is known, KL_MAYBE_INSIDE where the addresses break off or the kernel has no
 * ORC unwinder; or -ENOMEM.
 */
int kl_callees_running(struct kl_callees *c, const struct kl_func *f, const uint64_t *ips,
		       unsigned int n);

/* By the names that the stack shows alone: never outside for certain. */
int kl_callees_by_name(const char *name, const char *stack);

#endif
