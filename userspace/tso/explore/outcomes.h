/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a client can see of a library: its own variables in the end, with the
 * implementation and with the specification in its place.  Where the
 * implementation is linearizable, the Abstraction Theorem says (Burckhardt et al.,
 * Theorem 4), each outcome that there is with it is one with the specification.
 */
#ifndef KL_TSO_EXPLORE_OUTCOMES_H
#define KL_TSO_EXPLORE_OUTCOMES_H

#include "base/intern.h"
#include "tso/explore/explore.h"

/* With what an outcome was seen, a bit for each. */
enum kl_outcome_with {
	KL_WITH_IMPL = 1,
	KL_WITH_SPEC = 2,
	KL_WITH_SC = 4,		/* with the implementation on a sequentially consistent machine */
};

/* A variable of the client: shared, and then not touched by any method, or a thread's. */
struct kl_outcome_var {
	char name[80];
	int thread;		/* -1: shared */
	unsigned int at;	/* its place in memory, or its register */
};

struct kl_outcomes {
	struct kl_outcome_var *vars;
	size_t nvars, n;
	uint64_t *vals;		/* n times nvars, in ascending order */
	uint8_t *with;		/* of each outcome: kl_outcome_with */
	uint64_t states;	/* of all searches */
	char limit[400];	/* why there is no answer, if it was not the bound on memory */
	char grown[700];	/* of a search that was stopped, see kl_explore_grown() */
};

/**
 * kl_explore_outcomes() - all final states of a client
 * @spec: a specification with an implementation and threads
 * @o: sc, memory, lim and progress count
 * @out: the outcomes; kl_outcomes_free() it
 *
 * Return: 0; -EINVAL after a message (no threads, a variable that both the client and
 * methods use, a client that fails); -ENOSPC at the bound on memory; with (*out)->limit
 * -E2BIG at one of the explorer's own, -ETIME when it was stopped; -ENOMEM.
 */
int kl_explore_outcomes(struct kl_spec *spec, const struct kl_explore_options *o,
			struct kl_outcomes **out);
void kl_outcomes_free(struct kl_outcomes *r);
/* How many outcomes there are with the implementation only. */
size_t kl_outcomes_wrong(const struct kl_outcomes *r);

#endif
