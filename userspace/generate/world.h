/* SPDX-License-Identifier: GPL-2.0 */
/* The objects that kl_gen() runs: their states, and operations on them. */
#ifndef KL_GENERATE_WORLD_H
#define KL_GENERATE_WORLD_H

#include "generate/generate.h"

struct kl_gen_state {
	struct kl_val *v; /* the state; NULL: the first state */
	uint32_t len, cap;
};

/* An operation; it gets @res when it takes effect. */
struct kl_gen_op {
	uint32_t object;
	/* the methods to choose from */
	enum kl_gen_side { KL_GEN_BOTH, KL_GEN_ADDS, KL_GEN_OTHERS } side;
	unsigned int method;
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
};

struct kl_gen_world {
	const struct kl_gen_config *c;
	struct kl_run *run;
	uint64_t seed, next;		/* state of the random numbers; the last new value */
	uint64_t total_weight[3];	/* by enum kl_gen_side */
	/* states of all objects; with a justified partition each key has its own */
	struct kl_gen_state *states, scratch, first;
	uint64_t keys; /* number of states of an object */
	/* of the operation that takes effect: results, their number, outcomes so far */
	struct kl_val *res;
	unsigned int nres, noutcomes;
};

int kl_gen_world_init(struct kl_gen_world *w, const struct kl_gen_config *c);
void kl_gen_world_free(struct kl_gen_world *w);

/* Choose a method of op->side, and arguments, for an operation on op->object. */
void kl_gen_choose_op(struct kl_gen_world *w, struct kl_gen_op *op);

#define KL_GEN_LARGER	2

/**
 * kl_gen_apply() - let an operation take effect
 * @w: the world
 * @op: the operation
 * @small: refuse operations that make a large state larger
 *
 * Return: 1, 0 if it cannot take effect now, KL_GEN_LARGER if it is refused, or a negative errno.
 */
int kl_gen_apply(struct kl_gen_world *w, struct kl_gen_op *op, bool small);

#endif
