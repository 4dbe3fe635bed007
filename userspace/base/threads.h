/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running work in several threads.  Threads are optional: if the system refuses to create any
 * (limits of processes or memory), the caller's own thread does all of the work.
 */
#ifndef KL_BASE_THREADS_H
#define KL_BASE_THREADS_H

#include <stddef.h>

/* Return: the number of threads that can run at once: one for each CPU of this process. */
unsigned int kl_threads_most(void);

/**
 * kl_threads_run() - run a function in several threads, including the caller's
 * @n: maximum number of threads
 * @run: the function; each thread calls it once, and it takes work until none is left
 * @ctx: argument of @run
 */
void kl_threads_run(unsigned int n, void (*run)(void *ctx), void *ctx);

/**
 * kl_threads_each() - call a function for each index, in several threads
 * @n: maximum number of threads
 * @items: number of indices; each of 0 to @items - 1 is used once, and they start in this
 *	order
 * @each: the function
 * @ctx: first argument of @each
 */
void kl_threads_each(unsigned int n, size_t items, void (*each)(void *ctx, size_t item),
		     void *ctx);

#endif
