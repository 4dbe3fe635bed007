/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of a violation in the lines of a terminal: headline, cast, what was allowed and why it
 * can be believed; and of the facts, the orders and a picture of the cast as much as has room.
 */
#ifndef KL_REPORT_BRIEF_H
#define KL_REPORT_BRIEF_H

#include "report/verdict.h"

#define KL_BRIEF_LINES	23	/* with the summary above it the report has at most 25 lines */

/**
 * kl_print_brief() - print the story of a violation, in at most KL_BRIEF_LINES lines
 * @f: the stream to print to
 * @r: the report
 * @p: its violated partition, with a counterexample
 * @style: options; or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int kl_print_brief(FILE *f, const struct kl_report *r, const struct kl_part_result *p,
		   const struct kl_verdict_style *style);

#endif
