/* SPDX-License-Identifier: GPL-2.0 */
/* The last values that left a priority queue; they may have blocked another value. */
#ifndef KL_CHECK_ONLINE_REMOVED_VALUES_H
#define KL_CHECK_ONLINE_REMOVED_VALUES_H

#include "check/online/lifetimes.h"

struct left_value {
	uint64_t word;
	/* certainly inside in the slots first_ret .. last_call - 1 */
	uint64_t first_ret, last_call;
	uint32_t op[4];		/* its operations, or ON_NONE */
};

struct left {
	struct left_value *v;	/* a ring */
	uint32_t n, at;		/* number of values; index of the next one to write */
};

/* Add the value of the use @i, which has left.  Return: 0, or -ENOMEM. */
int left_add(struct kl_online *o, struct left *l, const struct uses *s, uint32_t i);
void left_free(struct kl_online *o, struct left *l);

/*
 * Return the longest-lived removed value of higher priority than @word that was inside in the slot
 * @at, or NULL.  @max: the greatest word has the highest priority.
 */
const struct left_value *left_find(const struct left *l, uint64_t word, bool max, uint64_t at);

#endif
