/* SPDX-License-Identifier: GPL-2.0 */
/* klind's counters, printed in Prometheus' text format (version 0.0.4). */
#ifndef KLIND_METRICS_H
#define KLIND_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "check/check.h"

/**
 * struct klind_counts - counters of one watched structure
 * @recorded: number of operations read from the kernel
 * @lost: number of operations whose events did not fit the buffers
 * @missed: number of times that a probe did not run
 * @checked: number of operations handed to the check
 * @skipped: number of operations that were not checked, because their object was dropped
 * @events: number of calls and returns that the check has followed
 * @gaps: number of gaps
 * @late: number of operations that came too late to be checked
 * @violations: number of violations found
 * @reports: number of reports written
 * @incomplete: number of reports among @reports that lack a file
 * @suppressed: number of reports not written because of a bound on their rate or queue
 * @failed: number of reports whose writing failed
 * @drops: number of times that an object was dropped
 * @renewals: number of times that the check lost its state because of the memory bound
 * @objects: number of known objects
 * @dropped: number of objects among @objects that are dropped now
 * @parts: number of known partitions for each verdict, by enum kl_verdict
 * @waiting: number of operations that the check has not followed yet
 * @lag_ns: time from the last event followed to the latest return read, in ns
 * @bytes: size of the check's memory
 * @flight_ops: number of operations in the flight recorder
 * @flight_bytes: size of the flight recorder's memory
 * @up: 1 while klind watches the structure, else 0
 * @verdict: verdict so far
 */
struct klind_counts {
	uint64_t recorded, lost, missed, checked, skipped, events, gaps, late, violations;
	uint64_t reports, incomplete, suppressed, failed, drops, renewals;
	uint64_t objects, dropped, parts[3], waiting, lag_ns, bytes, flight_ops, flight_bytes;
	uint64_t up;
	enum kl_verdict verdict;
};

struct klind_metrics_row {
	const char *name;		/* name of the configuration's section */
	struct klind_counts counts;
};

/* Print each metric family with a sample for each of the @n @rows. */
void klind_metrics_print(FILE *f, const struct klind_metrics_row *rows, size_t n);

/* Replace the file @path atomically.  Return: 0, or a negative errno without a message. */
int klind_metrics_write(const char *path, const struct klind_metrics_row *rows, size_t n);

#endif
