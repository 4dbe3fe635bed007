/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random histories of any spec.  Threads call its methods, and the interpreter lets each operation
 * take effect at one instant between call and return.  Unless results are changed, the history is
 * linearizable by construction, and its witness is known.
 */
#ifndef KL_GENERATE_GENERATE_H
#define KL_GENERATE_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/spec.h"

enum kl_gen_where { KL_GEN_ANYWHERE, KL_GEN_EARLY, KL_GEN_LATE };

struct kl_gen_config {
	const struct kl_spec *spec;
	const uint32_t *weight; /* relative frequency of each method; NULL: all are equal */
	uint64_t ops, seed;
	uint32_t threads, objects;
	/* number of threads that only add to a container; the others never add; 0: all do both */
	uint32_t producers;
	uint32_t keys; /* bound of values and keys; 0: each value is new, and there are 16 keys */
	uint32_t delay; /* maximal length of a wait, in ns; small delays make equal times */
	uint64_t error; /* maximal time by which the clock of a CPU is ahead, in ns */
	unsigned int pending; /* percentage of operations without a return */
	uint64_t mutate; /* number of results to change */
	/* the changed operations: the first tenth, the last tenth, or all */
	enum kl_gen_where where;
	bool stall;		/* now and then an operation takes as long as 500 others */
	bool any; /* begin in another state than the spec's, and mark the first state as unknown */
	bool tso; /* the history names the memory model tso; else it names sc */
	bool points; /* add linearization points; needs an error of 0 */
};

/**
 * kl_gen() - make a history
 * @c: the configuration
 * @out: the history, finished
 *
 * Equal configurations make equal histories.  An operation without a return ends its thread, and
 * a new thread replaces it; half of these operations took effect.  An operation that cannot take
 * effect waits for other operations on its object, or its thread calls another operation instead.
 * Containers stay small if there are also operations that do not add to them.
 *
 * Return: 0, -EINVAL if @c makes no sense (also producers for a spec that is no container),
 * -EDEADLK if no thread can go on, -E2BIG after a message if a method fails, -ENOMEM or
 * -EOVERFLOW.
 */
int kl_gen(const struct kl_gen_config *c, struct kl_history **out);

#endif
