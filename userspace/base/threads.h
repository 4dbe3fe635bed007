/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running work in several threads.  Threads are optional: if the system refuses to create any
 * (limits of processes or memory), the caller's own thread does all of the work.
 */
#ifndef KL_BASE_THREADS_H
#define KL_BASE_THREADS_H

#include <stddef.h>

/* Return: the number of threads that can run at once, from the CPUs this process may use. */
unsigned int kl_threads_most(void);

/**
 * kl_threads_run() - run a function in several threads, including the caller's
 * @n: maximum number of threads
 * @run: the function; each call takes work until none is left
 * @ctx: its argument
 */
void kl_threads_run(unsigned int n, void (*run)(void *ctx), void *ctx);

/**
 * kl_threads_each() - call a function for each index, in several threads
 * @n: maximum number of threads
 * @items: number of indices; each of 0 to @items - 1 is used once, started in this
 *	order
 * @each: the function
 * @ctx: its first argument
 */
void kl_threads_each(unsigned int n, size_t items, void (*each)(void *ctx, size_t item),
		     void *ctx);

#endif
