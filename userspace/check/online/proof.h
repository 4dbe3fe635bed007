/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values that are gone, kept for proofs: an operation had no slot because these values were
 * inside.  The last values that no other covers are kept, and values that a proof holds.  Other
 * values cannot be named any more.
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
		uint32_t refs, next;
	} *g;
	size_t n, cap;
	uint32_t free;		/* plus 1 */
	uint32_t last[PROOF_LAST];
	uint32_t nlast;
	uint64_t left_out;	/* up to this slot some values are no longer known */
};

/* Values that cover some slots; all zero: none. */
struct proof {
	uint32_t by[2];		/* plus 1 */
};

void proofs_free(struct kl_online *o, struct proofs *p);
/* Add the value of a use that is gone; @whole: all its operations have returned.  0 or -ENOMEM. */
int proofs_add(struct kl_online *o, struct proofs *p, struct uses *s, uint32_t use,
	       uint64_t first_ret, uint64_t last_call, bool whole);
/* The first slot from @from on in which none of the values is certainly inside. */
uint64_t proofs_free_gap(const struct proofs *p, uint64_t from);
/* Put the known values that cover the slots @from .. @to - 1 into the core. */
int proofs_core(const struct proofs *p, struct uses *s, uint64_t from, uint64_t to);

/* Hold the known values that cover the slots @from .. @to - 1; release them. */
void proof_get(struct proofs *p, struct proof *proof, uint64_t from, uint64_t to);
void proof_put(struct kl_online *o, struct proofs *p, struct proof *proof);
int proof_core(const struct proofs *p, struct uses *s, const struct proof *proof);

#endif
