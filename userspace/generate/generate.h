/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random histories of any specification: threads call its methods, and each takes
 * effect at one moment inside its interval, by the interpreter.  With nothing
 * changed the result is linearizable by construction, and the order that shows it
 * is known.
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
	const uint32_t *weight;	/* of each method; NULL: all are called as often */
	uint64_t ops, seed;
	uint32_t threads, objects;
	/* so many of the threads only add, the others never; 0: all do all */
	uint32_t producers;
	uint32_t keys;		/* values and keys are below it; 0: each value is new, 16 keys */
	uint32_t delay;		/* a wait is at most this long: 0 and small ones make ties */
	uint64_t error;		/* of the clock: that of a CPU is ahead by up to so much */
	unsigned int pending;	/* percent of operations whose return is not seen */
	uint64_t mutate;	/* results to change */
	enum kl_gen_where where;	/* in the first tenth, in the last one, or in all */
	bool stall;		/* now and then an operation takes as long as 500 others */
	bool any;		/* the first state is not the spec's, and the history says so */
	bool tso;		/* the history says that store buffers may explain it */
	bool points;		/* with linearization points; needs error 0 */
};

/**
 * kl_gen() - make a history
 * @c: what it should be like
 * @out: the history, finished
 *
 * The same configuration makes the same history.  An operation whose return is not seen ends
 * its thread; another takes its place.  Half of them took effect.  An operation that cannot
 * take effect waits for others on its object, or its thread calls another one.  Containers
 * are kept small where another operation can be called in the place of one that fills them.
 *
 * Return: 0; -EINVAL when @c makes no sense (producers of what is no container, too);
 * -EDEADLK when no thread can do anything more; -E2BIG, with a message, when a method fails;
 * -ENOMEM, -EOVERFLOW.
 */
int kl_gen(const struct kl_gen_config *c, struct kl_history **out);

#endif
