/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The outcomes of a client: the values of its variables at the end, with the implementation, and
 * with the specification in place of the implementation.  If the implementation is linearizable,
 * each outcome with it is an outcome with the specification (the Abstraction Theorem: Burckhardt
 * et al., Theorem 4).
 */
#ifndef KL_TSO_EXPLORE_OUTCOMES_H
#define KL_TSO_EXPLORE_OUTCOMES_H

#include "base/intern.h"
#include "tso/explore/explore.h"

/* Bits that say with which library an outcome was seen. */
enum kl_outcome_with {
	KL_WITH_IMPL = 1,
	KL_WITH_SPEC = 2,
	KL_WITH_SC = 4,		/* with the implementation on a sequentially consistent machine */
};

/* A variable of the client: a variable of a thread, or a shared one that no method uses. */
struct kl_outcome_var {
	char name[80];
	int thread;		/* the thread, or -1 for a shared variable */
	unsigned int at;	/* its index in memory, or its register */
};

struct kl_outcomes {
	struct kl_outcome_var *vars;
	size_t nvars, n;	/* number of variables; number of outcomes */
	uint64_t *vals;		/* n * nvars values, in ascending order */
	uint8_t *with;		/* enum kl_outcome_with of each outcome */
	uint64_t states;	/* number of states of all searches */
	char limit[400];	/* the reason why there is no answer, except the bound of memory */
	char grown[700];	/* kl_explore_grown() of a search that was stopped */
};

/**
 * kl_explore_outcomes() - find all final states of a client
 * @spec: a specification with an implementation and threads
 * @o: options; sc, memory, lim and progress are used
 * @out: gets the outcomes; kl_outcomes_free() it
 *
 * Return: 0; -EINVAL after a message (no threads, a variable that both the client and
 * methods use, a client that fails); -ENOSPC at the bound of memory; -E2BIG at another bound of
 * the explorer, or -ETIME when it was stopped, both with (*out)->limit; -ENOMEM.
 */
int kl_explore_outcomes(struct kl_spec *spec, const struct kl_explore_options *o,
			struct kl_outcomes **out);
void kl_outcomes_free(struct kl_outcomes *r);
/* Return: the number of outcomes with the implementation, but not with the specification. */
size_t kl_outcomes_wrong(const struct kl_outcomes *r);

#endif
