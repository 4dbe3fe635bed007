/* SPDX-License-Identifier: GPL-2.0 */
/* One watched structure: its verdict and counters, as `klin top' gets them. */
#ifndef KL_TOP_ROW_H
#define KL_TOP_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"

#define TOP_NAME	256	/* size of a name with its NUL byte */
#define TOP_REASON	160	/* size of a reason with its NUL byte */
#define TOP_STORY	(16 << 10)	/* size of a story with its NUL byte */
#define TOP_ROWS	1000	/* maximal number of rows of one answer */

/**
 * struct top_counts - counters of one structure at one time
 * @at: time of the counters, in ns of a monotonic clock
 * @recorded: number of operations read from the kernel
 * @checked: number of operations handed to the check
 * @lost: number of operations that were lost, skipped or came too late to be checked
 * @missed: number of times that a probe did not run
 * @gaps: number of gaps
 * @violations: number of violations found
 * @linearizable: number of known partitions with this verdict
 * @violated: number of known partitions with this verdict
 * @unknown: number of known partitions with this verdict
 * @waiting: number of operations that the check has not followed yet
 * @lag_ns: time from the last event followed to the latest return read, in ns
 * @bytes: size of the check's memory
 */
struct top_counts {
	uint64_t at, recorded, checked, lost, missed, gaps, violations;
	uint64_t linearizable, violated, unknown, waiting, lag_ns, bytes;
};

struct top_row {
	char name[TOP_NAME];
	char reason[TOP_REASON];	/* why the verdict is UNKNOWN, or empty */
	bool up;			/* the structure is watched */
	enum kl_verdict verdict;
	struct top_counts c;
};

#endif
