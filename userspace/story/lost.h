/* SPDX-License-Identifier: GPL-2.0 */
/* The gaps of a partition as sentences: what was lost, when, where, and how to lose less. */
#ifndef KL_STORY_LOST_H
#define KL_STORY_LOST_H

#include "check/check.h"

/*
 * "The recorded operations have an order, but about 12 operations were lost in 2 gaps between 100
 * and 250 on CPU 1 (no room in the buffer), and may forbid it".  Return: NULL when out of memory.
 */
char *kl_lost_sentence(const struct kl_history *h, const struct kl_part_result *p);
/* Return: true if libklin made the recording. */
bool kl_lost_by_library(const struct kl_history *h);
/* The advice of such a recording. */
extern const char kl_lost_library_advice[];
/* How to record with fewer gaps.  Return: NULL when out of memory. */
char *kl_lost_advice(const struct kl_history *h, const struct kl_part_result *p);

#endif
