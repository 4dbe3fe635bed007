/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values that are gone, as long as they may have to be named: an operation had no time
 * because they were inside.  The last of those that no other one covers are kept, and
 * those that a proof holds; what is wanted of others is not found.
 */
#ifndef KL_CHECK_ONLINE_PROOF_H
#define KL_CHECK_ONLINE_PROOF_H

#include "check/online/lifetimes.h"

#define PROOF_LAST	256	/* values that are kept in any case */

struct proofs {
	struct gone {
		uint64_t lo, hi;	/* inside for certain at the gaps lo .. hi - 1 */
		uint32_t op[4];		/* its operations, or ON_NONE */
		uint32_t refs, next;
	} *g;
	size_t n, cap;
	uint32_t free;		/* plus 1 */
	uint32_t last[PROOF_LAST];
	uint32_t nlast;
	uint64_t left_out;	/* up to that gap some are no longer known */
};

/* Some values that cover some gaps; all zero: none. */
struct proof {
	uint32_t by[2];		/* plus 1 */
};

void proofs_free(struct kl_online *o, struct proofs *p);
/* The value of a use is gone; @whole: all of its operations have returned.  0 or -ENOMEM. */
int proofs_add(struct kl_online *o, struct proofs *p, struct uses *s, uint32_t use, uint64_t lo,
	       uint64_t hi, bool whole);
/* The first gap from @from on at which none of them may be inside. */
uint64_t proofs_free_gap(const struct proofs *p, uint64_t from);
/* Put those that cover the gaps @from .. @to - 1 into the core, as far as they are known. */
int proofs_core(const struct proofs *p, struct uses *s, uint64_t from, uint64_t to);

/* Hold those that cover the gaps @from .. @to - 1, as far as that goes; and no longer. */
void proof_get(struct proofs *p, struct proof *proof, uint64_t from, uint64_t to);
void proof_put(struct kl_online *o, struct proofs *p, struct proof *proof);
int proof_core(const struct proofs *p, struct uses *s, const struct proof *proof);

#endif
