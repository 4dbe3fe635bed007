/* SPDX-License-Identifier: GPL-2.0 */
/* A verdict as people and programs read it. */
#ifndef KL_REPORT_VERDICT_H
#define KL_REPORT_VERDICT_H

#include "check/check.h"

struct kl_verdict_style {
	bool json;
	bool explain;		/* which engine decided what */
	bool no_diagram;
	bool quiet;		/* the verdict's line alone */
};

/**
 * kl_print_report() - print a verdict
 * @f: where to
 * @r: the report
 * @name: the history's name
 * @style: how; NULL for text
 */
void kl_print_report(FILE *f, const struct kl_report *r, const char *name,
		     const struct kl_verdict_style *style);

#endif
