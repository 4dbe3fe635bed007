/* SPDX-License-Identifier: GPL-2.0 */
/* The result of `klin verify', printed as text or as JSON. */
#ifndef KL_REPORT_VERIFIED_H
#define KL_REPORT_VERIFIED_H

#include <stdio.h>

#include "report/output.h"
#include "tso/explore/explore.h"
#include "verify/verify.h"

struct kl_verified {
	const char *file;
	struct kl_verifier *x;
	enum kl_verify_verdict verdict;
	enum kl_explore_memory model;	/* the memory model that the file names */
	bool trail, stats;		/* show the trail; the numbers of states and so on */
	bool full;			/* show all of an alarm, in place of few lines */
	bool searched;			/* klin searched for a concrete wrong run */
	struct kl_verify_search search;	/* the bounds of that search */
	struct kl_explorer *run;	/* a concrete wrong run, or NULL */
};

/* Return: VERIFIED, VIOLATION, NOT PROVED or UNKNOWN. */
const char *kl_verified_verdict(const struct kl_verified *v);
/* Print the result as text.  Return: 0 or a negative errno. */
int kl_verified_print(FILE *f, const struct kl_verified *v);
/* Print the result in a form that is made from JSON.  Return: 0 or a negative errno. */
int kl_verified_put(FILE *f, const struct kl_verified *v, enum kl_output form);

#endif
