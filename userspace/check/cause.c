// SPDX-License-Identifier: GPL-2.0
/* Causes of UNKNOWN, see cause.h. */
#include "check/cause.h"
#include "check/check.h"

const char *const kl_unknown_codes[KL_UNKNOWN_CAUSES] = {
	[KL_UNKNOWN_DEFECT] = "defect",		 [KL_UNKNOWN_COVERAGE] = "coverage",
	[KL_UNKNOWN_UNDRAINED] = "undrained",	 [KL_UNKNOWN_GAPS] = "gaps",
	[KL_UNKNOWN_VALUES] = "unknown_values",	 [KL_UNKNOWN_WORK] = "work_limit",
	[KL_UNKNOWN_TIME] = "time_limit",	 [KL_UNKNOWN_MEMORY] = "memory_limit",
	[KL_UNKNOWN_STOPPED] = "interrupted",	 [KL_UNKNOWN_SIZE] = "too_large",
	[KL_UNKNOWN_NO_ENGINE] = "no_engine",	 [KL_UNKNOWN_UNFOLLOWED] = "not_followed",
	[KL_UNKNOWN_EMPTY] = "nothing_recorded",
};

enum kl_unknown_cause kl_unknown_cause(const struct kl_part_result *p)
{
	static const enum kl_unknown_cause bounds[] = {
		[KL_BOUND_NONE] = KL_UNKNOWN_NO_ENGINE, [KL_BOUND_WORK] = KL_UNKNOWN_WORK,
		[KL_BOUND_TIME] = KL_UNKNOWN_TIME, [KL_BOUND_MEMORY] = KL_UNKNOWN_MEMORY,
		[KL_BOUND_SIZE] = KL_UNKNOWN_SIZE, [KL_BOUND_STOPPED] = KL_UNKNOWN_STOPPED,
		[KL_BOUND_BEATEN] = KL_UNKNOWN_NO_ENGINE,
	};

	return p->defect      ? KL_UNKNOWN_DEFECT :
	       p->undrained   ? KL_UNKNOWN_UNDRAINED :
	       p->suspected   ? KL_UNKNOWN_COVERAGE :
	       p->explained   ? KL_UNKNOWN_GAPS :
	       p->starved     ? KL_UNKNOWN_MEMORY :
	       p->answer.lost ? KL_UNKNOWN_VALUES :
	       p->stopped     ? KL_UNKNOWN_WORK :
				bounds[p->answer.bound];
}
