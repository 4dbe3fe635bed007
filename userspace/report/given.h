/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of operations and threads that the source of a history has.  The history may have more:
 * writes of the first state, see kl_source_is_first().
 */
#ifndef KL_REPORT_GIVEN_H
#define KL_REPORT_GIVEN_H

#include "check/check.h"

size_t kl_given_ops(const struct kl_history *h);
size_t kl_given_threads(const struct kl_history *h);
/* Return: the number of a partition's operations that the source has. */
uint32_t kl_given_part(const struct kl_history *h, const struct kl_part_result *p);

#endif
