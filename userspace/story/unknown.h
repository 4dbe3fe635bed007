/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a verdict is UNKNOWN: what kept klin from deciding, how far it came, and the one thing that
 * is most likely to settle it.
 */
#ifndef KL_STORY_UNKNOWN_H
#define KL_STORY_UNKNOWN_H

#include "check/check.h"

/* The causes of UNKNOWN, see kl_unknown_codes. */
enum kl_unknown_cause {
	KL_UNKNOWN_DEFECT,	/* an engine and the oracle disagree */
	KL_UNKNOWN_COVERAGE,	/* a violation, unless calls were missed */
	KL_UNKNOWN_GAPS,	/* an order exists, but operations were lost */
	KL_UNKNOWN_VALUES,	/* an order exists, but perhaps for no first state */
	KL_UNKNOWN_WORK,
	KL_UNKNOWN_TIME,
	KL_UNKNOWN_MEMORY,
	KL_UNKNOWN_STOPPED,	/* by a signal */
	KL_UNKNOWN_SIZE,	/* the partition does not fit the engines' numbers */
	KL_UNKNOWN_NO_ENGINE,	/* no engine that was asked decides this specification */
	KL_UNKNOWN_EMPTY,	/* no operations were recorded */
	KL_UNKNOWN_CAUSES,
};

/* The causes' names in JSON. */
extern const char *const kl_unknown_codes[KL_UNKNOWN_CAUSES];

struct kl_unknown {
	enum kl_unknown_cause cause;
	size_t parts;		/* number of partitions with this cause; 0: the whole history */
	const struct kl_part_result *first;	/* the first of them, or NULL */
	/* sentences without a full stop; about @first if there are several */
	char *why;
	char *progress;		/* NULL if there is nothing to say */
	char *advice;
};

/* Return: the cause for a partition that is UNKNOWN. */
enum kl_unknown_cause kl_unknown_cause(const struct kl_part_result *p);

/**
 * kl_unknown_explain() - explain why partitions of a history were not decided
 * @r: the report
 * @out: gets an explanation for each cause, in the order of the causes
 * @n: gets their number; 0 if each partition was decided
 *
 * Return: 0 or -ENOMEM.
 */
int kl_unknown_explain(const struct kl_report *r, struct kl_unknown out[KL_UNKNOWN_CAUSES],
		       size_t *n);
void kl_unknown_free(struct kl_unknown *u, size_t n);

#endif
