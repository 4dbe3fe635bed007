/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far a violated partition goes well: an order of all its operations up to the first return
 * that no order has.
 */
#ifndef KL_STORY_PREFIX_H
#define KL_STORY_PREFIX_H

#include "check/check.h"

#define KL_PREFIX_OPERATIONS	5000	/* of a partition that is looked at */

/**
 * struct kl_prefix - the longest part of a partition that has an order
 * @h: its history, in which operations that return later are pending; NULL: none was found
 * @r: the check of @h, whose only partition has the order
 * @ops: the index in the whole history of each operation of @h
 * @stop: an operation of the whole history that returns next; no order has its return, too
 */
struct kl_prefix {
	struct kl_history *h;
	struct kl_report *r;
	uint32_t *ops;
	uint32_t stop;
};

/**
 * kl_prefix_find() - find how far a partition goes well
 * @r: the check of the whole history
 * @p: one of its partitions, which is violated
 * @out: gets what was found; kl_prefix_free() it
 *
 * Nothing is found in a partition of more than KL_PREFIX_OPERATIONS operations, or if a part of it
 * takes too long or has no sure verdict.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_prefix_find(const struct kl_report *r, const struct kl_part_result *p,
		   struct kl_prefix *out);
void kl_prefix_free(struct kl_prefix *out);

#endif
