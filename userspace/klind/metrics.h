/* SPDX-License-Identifier: GPL-2.0 */
/* What klind counts, in Prometheus' text format (version 0.0.4). */
#ifndef KLIND_METRICS_H
#define KLIND_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "check/check.h"

/**
 * struct klind_counts - of one structure that is watched
 * @recorded: operations read
 * @lost: operations whose events did not fit the buffers
 * @missed: times that a probe did not run
 * @checked: operations that were handed to the check
 * @skipped: operations of dropped objects, which were not
 * @events: calls and returns followed
 * @gaps: gaps
 * @late: operations that came too late
 * @violations: violations
 * @reports: reports written
 * @incomplete: of these with a file missing
 * @suppressed: reports that were not, for their rate
 * @failed: reports that could not be written
 * @drops: times that an object was dropped
 * @renewals: times that all was forgotten, for the memory's bound
 * @objects: objects known
 * @dropped: of these dropped now
 * @parts: partitions by verdict, of those known now
 * @waiting: operations that wait to be followed
 * @lag_ns: time by which the check is behind
 * @bytes: of the check
 * @flight_ops: operations in the flight recorder
 * @flight_bytes: of the flight recorder
 * @up: 1 while it is watched
 * @verdict: so far
 */
struct klind_counts {
	uint64_t recorded, lost, missed, checked, skipped, events, gaps, late, violations;
	uint64_t reports, incomplete, suppressed, failed, drops, renewals;
	uint64_t objects, dropped, parts[3], waiting, lag_ns, bytes, flight_ops, flight_bytes;
	uint64_t up;
	enum kl_verdict verdict;
};

struct klind_metrics_row {
	const char *name;		/* of the configuration's section */
	struct klind_counts counts;
};

/* All of them, a family after the other. */
void klind_metrics_print(FILE *f, const struct klind_metrics_row *rows, size_t n);

/* To a file, whole or not at all.  0 or a negative errno, without a message. */
int klind_metrics_write(const char *path, const struct klind_metrics_row *rows, size_t n);

#endif
