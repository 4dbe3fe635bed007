/* SPDX-License-Identifier: GPL-2.0 */
/* The report on a history, printed as text or as JSON. */
#ifndef KL_REPORT_VERDICT_H
#define KL_REPORT_VERDICT_H

#include "check/check.h"
#include "report/diagram.h"
#include "report/output.h"

/* The time and memory of a run, for JSON. */
struct kl_cost {
	double read_seconds;		/* reading of specification and history */
	double certificate_seconds;	/* writing of the certificate */
	double user_seconds;		/* user time of the process so far, all threads */
	uint64_t peak_bytes;		/* largest resident size of the process so far */
};

struct kl_verdict_style {
	enum kl_output output;
	bool explain;		/* name the engine that decided each partition */
	bool no_diagram;
	bool full;		/* the whole story, and the counterexample */
	enum kl_diagram_auto colour;
	bool quiet;		/* summary and coverage alone */
	bool no_memory;		/* leave the memory model out */
	const struct kl_cost *cost;	/* for JSON, or NULL */
	const char *limit;	/* for kl_print_no_report(): the limit's name in JSON */
	const char *replay;	/* the command that checks the proofs again, or NULL */
};

/* Print the name of a partition: its object or key, or both. */
void kl_print_part_name(FILE *f, const struct kl_history *h, const struct kl_part_result *p);

/**
 * kl_print_memory() - print the memory model of a verdict, and its source
 * @f: the stream to print to
 * @sc: the model is sequential consistency, else x86-TSO
 * @by: source of the model
 * @m: the memory model that the history names
 */
void kl_print_memory(FILE *f, bool sc, enum kl_memory_by by, const struct kl_memory *m);

/**
 * kl_print_report() - print a verdict
 * @f: the stream to print to
 * @r: the report
 * @name: name of the history
 * @style: options; NULL for text
 *
 * Return: 0, or -ENOMEM if a part is missing.  A write error is not reported here; ferror(@f)
 * shows it.
 */
int kl_print_report(FILE *f, const struct kl_report *r, const char *name,
		     const struct kl_verdict_style *style);

/**
 * kl_print_no_report() - print UNKNOWN if a limit was reached before there was a report
 * @f: the stream to print to
 * @name: name of the history
 * @limit: the limit, from kl_limit_met()
 * @doing: the interrupted work, such as "reading"
 * @place: the progress of that work, from kl_limit_place()
 * @style: options; NULL for text
 *
 * Return: 0 or -ENOMEM.
 */
int kl_print_no_report(FILE *f, const char *name, const char *limit, const char *doing,
		       const char *place, const struct kl_verdict_style *style);

#endif
