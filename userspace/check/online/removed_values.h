/* SPDX-License-Identifier: GPL-2.0 */
/* The last values that left a priority queue: they may have been in the way of another. */
#ifndef KL_CHECK_ONLINE_REMOVED_VALUES_H
#define KL_CHECK_ONLINE_REMOVED_VALUES_H

#include "check/online/lifetimes.h"

struct left_value {
	uint64_t word;
	uint64_t lo, hi;	/* inside for certain at the gaps lo .. hi - 1 */
	uint32_t op[4];		/* or ON_NONE */
};

struct left {
	struct left_value *v;	/* a ring */
	uint32_t n, at;
};

/* The use @i is gone.  0 or -ENOMEM. */
int left_add(struct kl_online *o, struct left *l, const struct uses *s, uint32_t i);
void left_free(struct kl_online *o, struct left *l);

/*
 * Of those that go before @word (@max: the greatest goes first) and were inside at the gap
 * @at one that was for longest; or NULL.
 */
const struct left_value *left_find(const struct left *l, uint64_t word, bool max, uint64_t at);

#endif
