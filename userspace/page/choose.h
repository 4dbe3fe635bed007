/* SPDX-License-Identifier: GPL-2.0 */
/* Which operations a page holds when the history has more than it may. */
#ifndef KL_PAGE_CHOOSE_H
#define KL_PAGE_CHOOSE_H

#include <jansson.h>

#include "check/check.h"

/**
 * kl_page_choose() - choose the operations for a page
 * @h: the history
 * @r: the report on it, or NULL
 * @result: the report as JSON, whose stories name operations by "id"; or NULL
 * @found: violations of a check that ran along, which name operations by their calls; or NULL
 * @most: number of operations to choose; few more may be chosen
 * @out: gets an element for each operation, or NULL if the page may hold all; free() it
 *
 * First come counterexamples and the casts of stories, then the violated partitions near the
 * violation, and then operations of any partition around it.  Without a violation the first
 * operations are chosen.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_page_choose(const struct kl_history *h, const struct kl_report *r, const json_t *result,
		   const json_t *found, size_t most, bool **out);

#endif
