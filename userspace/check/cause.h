/* SPDX-License-Identifier: GPL-2.0 */
/* Causes of UNKNOWN. */
#ifndef KL_CHECK_CAUSE_H
#define KL_CHECK_CAUSE_H

struct kl_part_result;

/* The cause of a verdict UNKNOWN. */
enum kl_unknown_cause {
	KL_UNKNOWN_DEFECT, /* an engine and the oracle disagree */
	KL_UNKNOWN_COVERAGE, /* a violation, unless calls were missed */
	KL_UNKNOWN_UNDRAINED, /* a violation, unless a store left the buffer after a return */
	KL_UNKNOWN_GAPS, /* an order exists, but operations were lost */
	KL_UNKNOWN_VALUES, /* an order exists, but perhaps for no first state */
	KL_UNKNOWN_WORK,
	KL_UNKNOWN_TIME,
	KL_UNKNOWN_MEMORY,
	KL_UNKNOWN_STOPPED, /* by a signal */
	KL_UNKNOWN_SIZE, /* the partition does not fit the engines' numbers */
	KL_UNKNOWN_NO_ENGINE, /* no engine that was asked decides this specification */
	KL_UNKNOWN_UNFOLLOWED, /* a check that goes along could not follow the operations */
	KL_UNKNOWN_EMPTY, /* no operations were recorded */
	KL_UNKNOWN_CAUSES,
};

/* The causes' names in JSON. */
extern const char *const kl_unknown_codes[KL_UNKNOWN_CAUSES];

/* Return: the cause for a partition that is UNKNOWN. */
enum kl_unknown_cause kl_unknown_cause(const struct kl_part_result *p);

#endif
