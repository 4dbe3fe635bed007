/* SPDX-License-Identifier: GPL-2.0 */
/* Can an operation take effect after another one, whatever takes effect between them? */
#ifndef KL_STORY_REACH_H
#define KL_STORY_REACH_H

#include "base/intern.h"
#include "story/scene.h"

#define KL_REACH_MOST	20	/* largest number of operations between */

struct kl_reach {
	const struct kl_scene *s;
	struct kl_run *run;
	bool first;	/* search from the first state, which is known */
	/* the operations before x, which only a search from the first state applies, and others */
	uint32_t ops[KL_REACH_MOST];
	size_t nbefore, n;
	/* of kl_reach_never(): bits of the operations that must be before each, and before e */
	uint32_t must[KL_REACH_MOST + 1];
	/* kept from one search to the next: states, and what operations make of them (reach.c) */
	struct kl_intern states;
	struct kl_table table;
	struct kl_reach_step *steps;
	uint32_t *next;
	struct kl_val *state;
	size_t nsteps, csteps, nnext, cnext, cstate;
};

/**
 * kl_reach_excludes() - show that an operation cannot take effect after another one
 * @r: with @s, @run and @first, else zero at first; gets the operations that may take effect
 *	between the two
 * @x: the operation that takes effect first; KL_NO_OP, with @first, if there is none
 * @e: the other one
 *
 * Unless @first, the search begins in the unknown state, applies @x, and then each choice of the
 * operations that need not be before @x and need not be after @e, each once at most, in any order.
 * So it reaches each state that any order of the partition has between @x and @e.
 *
 * With @first it begins in the first state, and applies these operations and those before @x to it,
 * but the latter only before @x.  It reaches each state that an order from the first state has.
 *
 * Return: 1 if @e is impossible in all these states, 0 if not or if they are too many, or -ENOMEM.
 */
int kl_reach_excludes(struct kl_reach *r, uint32_t x, uint32_t e);
/**
 * kl_reach_never() - show that an operation is impossible wherever it can take effect
 * @r: with @s and @run; gets the operations that may take effect before @e
 * @x: an operation that does; KL_NO_OP: none that must
 * @e: the operation
 *
 * The search begins in the first state, known or not.  It applies an operation only after all those
 * that certainly returned before this one was called, and so reaches no other state than some order
 * does.
 *
 * Return: 1 if @e is impossible in all states in which it may come next; 0 if not, if there is no
 * such state, or if they are too many; or -ENOMEM.
 */
int kl_reach_never(struct kl_reach *r, uint32_t x, uint32_t e);

/* Free what searches kept, and the interpreter. */
void kl_reach_free(struct kl_reach *r);

#endif
