/* SPDX-License-Identifier: GPL-2.0 */
/* A verdict as people and programs read it. */
#ifndef KL_REPORT_VERDICT_H
#define KL_REPORT_VERDICT_H

#include "check/check.h"

/* What a run cost, for --json. */
struct kl_cost {
	double read_seconds;		/* specification and history */
	double certificate_seconds;	/* writing it */
	double user_seconds;		/* of the process so far, all threads */
	uint64_t peak_bytes;		/* largest resident size of the process so far */
};

struct kl_verdict_style {
	bool json;
	bool explain;		/* which engine decided what */
	bool no_diagram;
	bool quiet;		/* the verdict's line alone */
	bool no_memory;		/* the memory model is told elsewhere */
	const struct kl_cost *cost;	/* or NULL */
};

/**
 * kl_print_memory() - print the memory model of a verdict, and who says so
 * @f: where to
 * @sc: it was decided on sequential consistency, else on x86-TSO
 * @by: who says that
 * @m: what the history is of
 */
void kl_print_memory(FILE *f, bool sc, enum kl_memory_by by, const struct kl_memory *m);

/**
 * kl_print_report() - print a verdict
 * @f: where to
 * @r: the report
 * @name: the history's name
 * @style: how; NULL for text
 *
 * Return: 0, or -ENOMEM when not all was printed.  Whether @f took it, @f knows.
 */
int kl_print_report(FILE *f, const struct kl_report *r, const char *name,
		     const struct kl_verdict_style *style);

/**
 * kl_print_no_report() - print that a limit ended before there was a report: UNKNOWN
 * @f: where to
 * @name: the history's name
 * @limit: which limit, as kl_limit_met() says it
 * @doing: what was done to the history, as in "reading"
 * @place: where in it, as kl_limit_place() says it
 * @style: how; NULL for text
 *
 * Return: 0 or -ENOMEM.
 */
int kl_print_no_report(FILE *f, const char *name, const char *limit, const char *doing,
		       const char *place, const struct kl_verdict_style *style);

#endif
