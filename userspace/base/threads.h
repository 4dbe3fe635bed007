/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work for several threads.  Threads are a help, not a need: where the system gives none
 * (limits of processes or memory), the caller's own thread does all of the work.
 */
#ifndef KL_BASE_THREADS_H
#define KL_BASE_THREADS_H

#include <stddef.h>

/* How many threads can run at once: the processors that this process may use. */
unsigned int kl_threads_most(void);

/**
 * kl_threads_run() - run a function in several threads, the caller's among them
 * @n: in so many threads at most
 * @run: the function; it takes its share of the work until there is none
 * @ctx: its argument
 */
void kl_threads_run(unsigned int n, void (*run)(void *ctx), void *ctx);

/**
 * kl_threads_each() - call a function for each of some numbers, in several threads
 * @n: in so many threads at most
 * @items: for 0 to @items - 1, each once, and begun in this order
 * @each: the function
 * @ctx: its first argument
 */
void kl_threads_each(unsigned int n, size_t items, void (*each)(void *ctx, size_t item),
		     void *ctx);

#endif
