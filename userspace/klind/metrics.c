// SPDX-License-Identifier: GPL-2.0
/* Print klind's counters, see metrics.h. */
#include <inttypes.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/outfile.h"
#include "klind/metrics.h"

static const struct metric {
	const char *name, *type, *help;
	size_t at;		/* offset of a uint64_t in struct klind_counts */
	double unit;		/* divisor of the count; 0: print the count itself */
} metrics[] = {
#define COUNTER(_name, _member, _help) \
	{ "klin_" _name "_total", "counter", _help, offsetof(struct klind_counts, _member), 0 }
#define GAUGE(_name, _member, _unit, _help) \
	{ "klin_" _name, "gauge", _help, offsetof(struct klind_counts, _member), _unit }
	GAUGE("up", up, 0, "1 while klind watches the structure, else 0."),
	COUNTER("operations_recorded", recorded, "Operations read from the kernel."),
	COUNTER("operations_lost", lost, "Operations lost because a buffer was full."),
	COUNTER("probe_misses", missed, "Number of times that a probe did not run."),
	COUNTER("operations_checked", checked, "Operations passed to the check."),
	COUNTER("operations_skipped", skipped,
		"Operations not checked because their object was dropped."),
	COUNTER("events_followed", events, "Calls and returns that the check has processed."),
	COUNTER("gaps", gaps, "Periods in which operations of an object may have been lost."),
	COUNTER("operations_late", late, "Operations that arrived too late to be checked."),
	COUNTER("violations", violations, "Violations found."),
	COUNTER("reports", reports, "Reports written."),
	COUNTER("reports_incomplete", incomplete, "Reports written without some of their files."),
	COUNTER("reports_suppressed", suppressed,
		"Reports not written because of report-interval or a full queue."),
	COUNTER("reports_failed", failed, "Reports not written because of an error."),
	COUNTER("object_drops", drops,
		"Number of times that an object was dropped because of overload."),
	COUNTER("check_renewals", renewals,
		"Number of times that the check restarted because of its memory bound."),
	GAUGE("objects", objects, 0, "Objects that the check knows."),
	GAUGE("objects_dropped", dropped, 0, "Objects that are dropped at present."),
	GAUGE("operations_waiting", waiting, 0, "Operations that the check has yet to process."),
	GAUGE("lag_seconds", lag_ns, 1e9,
	      "Time from the last event processed to the newest operation."),
	GAUGE("check_bytes", bytes, 0, "Memory of the check, in bytes."),
	GAUGE("flight_operations", flight_ops, 0, "Operations in the flight recorder."),
	GAUGE("flight_bytes", flight_bytes, 0, "Memory of the flight recorder, in bytes."),
#undef COUNTER
#undef GAUGE
};

static const char *const verdicts[] = {
	[KL_LINEARIZABLE] = "linearizable", [KL_VIOLATION] = "violation",
	[KL_UNKNOWN] = "unknown",
};

static void print_head(FILE *f, const char *name, const char *help, const char *type)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Print the metrics that have a sample for each verdict. */
static void print_by_verdict(FILE *f, const struct klind_metrics_row *rows, size_t n)
{
	size_t i;
	int v;

	print_head(f, "klin_verdict", "1 for the present verdict, 0 for the others.", "gauge");
	for (i = 0; i < n; i++)
		for (v = 0; v < 3; v++)
			fprintf(f, "klin_verdict{spec=\"%s\",verdict=\"%s\"} %d\n", rows[i].name,
				verdicts[v], (int)rows[i].counts.verdict == v);
	print_head(f, "klin_partitions",
		   "Partitions (objects or keys) that the check knows, by verdict.", "gauge");
	for (i = 0; i < n; i++)
		for (v = 0; v < 3; v++)
			fprintf(f, "klin_partitions{spec=\"%s\",verdict=\"%s\"} %" PRIu64 "\n",
				rows[i].name, verdicts[v], rows[i].counts.parts[v]);
}

void klind_metrics_print(FILE *f, const struct klind_metrics_row *rows, size_t n)
{
	const struct metric *m;
	size_t i;

	/* conf.c accepts only names that need no escapes. */
	for (m = metrics; m < metrics + sizeof(metrics) / sizeof(*metrics); m++) {
		print_head(f, m->name, m->help, m->type);
		for (i = 0; i < n; i++) {
			const char *counts = (const char *)&rows[i].counts;
			const uint64_t v = *(const uint64_t *)(counts + m->at);

			fprintf(f, "%s{spec=\"%s\"} ", m->name, rows[i].name);
			if (m->unit)
				fprintf(f, "%.9f\n", v / m->unit);
			else
				fprintf(f, "%" PRIu64 "\n", v);
		}
	}
	print_by_verdict(f, rows, n);
}

int klind_metrics_write(const char *path, const struct klind_metrics_row *rows, size_t n)
{
	struct kl_outfile o;
	int ret = kl_outfile_replace(&o, path);

	if (ret)
		return ret;
	/* The program that collects metrics runs as another user. */
	fchmod(fileno(o.f), 0644);
	klind_metrics_print(o.f, rows, n);
	return kl_outfile_commit(&o);
}
