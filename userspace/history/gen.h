/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random histories: threads call operations on a correct structure, each takes
 * effect at one moment inside its interval.  With nothing mutated the result is
 * linearizable by construction, and the order that shows it is known.
 */
#ifndef KL_HISTORY_GEN_H
#define KL_HISTORY_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"

#define KL_GEN_METHODS	4

enum kl_gen_type {
	KL_GEN_REGISTER, KL_GEN_PAIR, KL_GEN_SET, KL_GEN_MAP, KL_GEN_QUEUE, KL_GEN_STACK,
	KL_GEN_PQUEUE, KL_GEN_COUNTER, KL_GEN_LOCK, KL_GEN_TYPES,
};

struct kl_gen_config {
	enum kl_gen_type type;
	uint64_t ops, seed;
	uint32_t threads, objects;
	uint32_t keys;		/* values and keys are below it; 0: each value is new */
	uint32_t delay;		/* a wait is at most this long: 0 and small ones make ties */
	uint64_t error;		/* of the clock: that of a CPU is ahead by up to so much */
	unsigned int pending;	/* percent of operations whose return is not seen */
	uint64_t mutate;	/* results to change */
	bool stall;		/* now and then an operation takes as long as 500 others */
	bool any;		/* the first state is not the spec's, and the history says so */
	bool points;		/* with linearization points; needs error 0 */
	bool weighted;		/* take the weights from here, not the type's own */
	uint32_t weight[KL_GEN_METHODS];
};

/* Its name for --type, the spec file that its methods fit, and its methods. */
const char *kl_gen_type_name(enum kl_gen_type t);
const char *kl_gen_spec(enum kl_gen_type t);
const char *kl_gen_method(enum kl_gen_type t, unsigned int i);	/* NULL past the last */

/**
 * kl_gen() - make a history
 * @c: what it should be like
 * @out: the history, finished
 *
 * The same configuration makes the same history.  An operation whose return is
 * not seen ends its thread; another takes its place.  Half of them took effect.
 *
 * Return: 0, -EINVAL when @c makes no sense, -ENOMEM, -EOVERFLOW.
 */
int kl_gen(const struct kl_gen_config *c, struct kl_history **out);

#endif
