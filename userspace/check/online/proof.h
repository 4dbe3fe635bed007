/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Removed values of a stack, kept for proofs.  A proof says that slots were unusable because some
 * values were inside there.  Kept are the last PROOF_LAST values whose interval no later one
 * contains, and values that a proof holds.  A core cannot contain other removed values.
 */
#ifndef KL_CHECK_ONLINE_PROOF_H
#define KL_CHECK_ONLINE_PROOF_H

#include "check/online/lifetimes.h"

#define PROOF_LAST	256	/* number of values that are kept in any case */

struct proofs {
	struct gone {
		/* certainly inside in the slots first_ret .. last_call - 1 */
		uint64_t first_ret, last_call;
		uint32_t op[4];		/* its operations, or ON_NONE */
		/* number of references by proofs and by @last; index of the next free one + 1 */
		uint32_t refs, next;
	} *g;
	size_t n, cap;
	uint32_t free;		/* index of the first free struct in @g + 1, or 0 */
	uint32_t last[PROOF_LAST];	/* indices in @g, in order of removal */
	uint32_t nlast;
	uint64_t left_out;	/* before this slot some values are no longer known */
};

/* At most two values that together cover some slots. */
struct proof {
	uint32_t by[2];		/* indices in proofs.g + 1, or 0 */
};

void proofs_free(struct kl_online *o, struct proofs *p);
/*
 * Add the value of a use that was removed; @whole: all its operations have returned, so a core can
 * contain them.  Return: 0, or -ENOMEM.
 */
int proofs_add(struct kl_online *o, struct proofs *p, struct uses *s, uint32_t use,
	       uint64_t first_ret, uint64_t last_call, bool whole);
/* Return: the first slot from @from on in which none of the values is certainly inside. */
uint64_t proofs_free_gap(const struct proofs *p, uint64_t from);
/* Put kept values that cover the slots @from .. @to - 1 into the core.  Return: 0, or -ENOMEM. */
int proofs_core(const struct proofs *p, struct uses *s, uint64_t from, uint64_t to);

/* Let @proof hold at most two kept values that cover the slots from @from on, up to @to - 1. */
void proof_get(struct proofs *p, struct proof *proof, uint64_t from, uint64_t to);
/* Release the values that @proof holds. */
void proof_put(struct kl_online *o, struct proofs *p, struct proof *proof);
/* Put the values that @proof holds into the core.  Return: 0, or -ENOMEM. */
int proof_core(const struct proofs *p, struct uses *s, const struct proof *proof);

#endif
