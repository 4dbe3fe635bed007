/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a verdict is UNKNOWN: what kept klin from deciding, how far it came, and the one thing that
 * is most likely to settle it.
 */
#ifndef KL_STORY_UNKNOWN_H
#define KL_STORY_UNKNOWN_H

#include "check/cause.h"
#include "check/check.h"
#include "check/online/online.h"

struct kl_unknown {
	enum kl_unknown_cause cause;
	size_t parts;		/* number of partitions with this cause; 0: the whole history */
	const struct kl_part_result *first;	/* the first of them, or NULL */
	/* sentences without a full stop; about @first if there are several */
	char *why;
	char *progress;		/* NULL if there is nothing to say */
	char *advice;
};

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
/*
 * Advice for a check that goes along with the history, and ends as UNKNOWN.  @fresh and @release
 * are those of the history's header.  Return: NULL when out of memory.
 */
char *kl_unknown_advise_online(const struct kl_online_stats *st, const struct kl_spec *spec,
			       bool fresh, const char *release);
void kl_unknown_free(struct kl_unknown *u, size_t n);

#endif
