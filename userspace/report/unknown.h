/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a verdict is UNKNOWN, as text and as JSON.
 *
 *	What is not known: Whether the operations have an order is not known: the search
 *	  reached its bound of work (--work=1000).
 *	  This is so for 2 of 40 partitions, the first being object 0x7.
 *	  Progress: The longest order that was tried has about 12 of 300 operations.
 *	  Advice: Allow ten times as much: --work=10000 (0: no bound).
 */
#ifndef KL_REPORT_UNKNOWN_H
#define KL_REPORT_UNKNOWN_H

#include <jansson.h>

#include "check/check.h"
#include "story/unknown.h"

/* Print why partitions were not decided, if there are such.  Return: 0 or -ENOMEM. */
int kl_print_unknown(FILE *f, const struct kl_report *r);
/* Add the list `why_unknown' to @j, if a partition was not decided. */
void kl_add_unknown(json_t *j, const struct kl_report *r);

#endif
