// SPDX-License-Identifier: GPL-2.0
/* klind's counters, see metrics.h. */
#include <inttypes.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/file.h"
#include "klind/metrics.h"

static const struct metric {
	const char *name, *type, *help;
	size_t at;		/* a uint64_t in struct klind_counts */
	double unit;		/* what it is divided by; 0: nothing */
} metrics[] = {
#define COUNTER(_name, _member, _help) \
	{ "klin_" _name "_total", "counter", _help, offsetof(struct klind_counts, _member), 0 }
#define GAUGE(_name, _member, _unit, _help) \
	{ "klin_" _name, "gauge", _help, offsetof(struct klind_counts, _member), _unit }
	GAUGE("up", up, 0, "1 while the structure is watched."),
	COUNTER("operations_recorded", recorded, "Operations read from the kernel."),
	COUNTER("operations_lost", lost, "Operations whose events did not fit the buffers."),
	COUNTER("probe_misses", missed, "Times that a probe did not run."),
	COUNTER("operations_checked", checked, "Operations handed to the check."),
	COUNTER("operations_skipped", skipped, "Operations of dropped objects, not checked."),
	COUNTER("events_followed", events, "Calls and returns that the check has followed."),
	COUNTER("gaps", gaps, "Times or objects of which not everything is known."),
	COUNTER("operations_late", late, "Operations that came too late to be checked."),
	COUNTER("violations", violations, "Violations found."),
	COUNTER("reports", reports, "Reports written."),
	COUNTER("reports_incomplete", incomplete, "Reports written that lack a file."),
	COUNTER("reports_suppressed", suppressed, "Reports not written, for their rate."),
	COUNTER("reports_failed", failed, "Reports that could not be written."),
	COUNTER("object_drops", drops, "Times that an object was dropped for load."),
	COUNTER("check_renewals", renewals, "Times that all was forgotten for the memory's bound."),
	GAUGE("objects", objects, 0, "Objects known."),
	GAUGE("objects_dropped", dropped, 0, "Objects that are dropped now."),
	GAUGE("operations_waiting", waiting, 0, "Operations that wait to be followed."),
	GAUGE("lag_seconds", lag_ns, 1e9, "Time by which the check is behind."),
	GAUGE("check_bytes", bytes, 0, "Memory of the check."),
	GAUGE("flight_operations", flight_ops, 0, "Operations in the flight recorder."),
	GAUGE("flight_bytes", flight_bytes, 0, "Memory of the flight recorder."),
#undef COUNTER
#undef GAUGE
};

static const char *const verdicts[] = {
	[KL_LINEARIZABLE] = "linearizable", [KL_VIOLATION] = "violation",
	[KL_UNKNOWN] = "unknown",
};

static void head(FILE *f, const char *name, const char *help, const char *type)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* One series for each verdict. */
static void by_verdict(FILE *f, const struct klind_metrics_row *rows, size_t n)
{
	size_t i;
	int v;

	head(f, "klin_verdict", "1 for the verdict so far.", "gauge");
	for (i = 0; i < n; i++)
		for (v = 0; v < 3; v++)
			fprintf(f, "klin_verdict{spec=\"%s\",verdict=\"%s\"} %d\n", rows[i].name,
				verdicts[v], (int)rows[i].counts.verdict == v);
	head(f, "klin_partitions", "Objects or keys that are followed, by verdict.", "gauge");
	for (i = 0; i < n; i++)
		for (v = 0; v < 3; v++)
			fprintf(f, "klin_partitions{spec=\"%s\",verdict=\"%s\"} %" PRIu64 "\n",
				rows[i].name, verdicts[v], rows[i].counts.parts[v]);
}

void klind_metrics_print(FILE *f, const struct klind_metrics_row *rows, size_t n)
{
	const struct metric *m;
	size_t i;

	/* A name is of letters that need no escape, see conf.c. */
	for (m = metrics; m < metrics + sizeof(metrics) / sizeof(*metrics); m++) {
		head(f, m->name, m->help, m->type);
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
	by_verdict(f, rows, n);
}

int klind_metrics_write(const char *path, const struct klind_metrics_row *rows, size_t n)
{
	struct kl_outfile o;
	int ret = kl_outfile_replace(&o, path);

	if (ret)
		return ret;
	/* For who collects them, who is somebody else. */
	fchmod(fileno(o.f), 0644);
	klind_metrics_print(o.f, rows, n);
	return kl_outfile_commit(&o);
}
