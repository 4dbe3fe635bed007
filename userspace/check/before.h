/* SPDX-License-Identifier: GPL-2.0 */
/* For the oracles: what has to come before what, as lists. */
#ifndef KL_CHECK_BEFORE_H
#define KL_CHECK_BEFORE_H

#include "check/part.h"

/*
 * Points of a partition: that item i takes effect, i, or that its entry leaves the store
 * buffer, i plus the number of items.  Those that have to be before item i takes effect are
 * point[at[i]] to point[at[i + 1] - 1], latest first: that is where most answers are found.
 */
struct kl_before {
	uint32_t *point;
	size_t *at, cap;
};

/**
 * kl_before_list() - make the lists
 * @b: all 0; kl_before_free() it, also on failure
 * @p: the partition
 * @before: is item a's point, of the second kind if @flush, before item b takes effect?
 * @flushes: are there points of the second kind?
 *
 * Return: 0 or -ENOMEM.
 */
int kl_before_list(struct kl_before *b, const struct kl_part *p,
		   bool (*before)(const struct kl_part *p, uint32_t a, uint32_t b, bool flush),
		   bool flushes);
void kl_before_free(struct kl_before *b);

#endif
