/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports: a directory for each incident.  One thread writes all reports.  Each file is written
 * completely or not at all.
 *
 *	TIME-NAME-violation/
 *		report.json		the incident; the verdict as of klin check --json
 *		flight.klh		the operations of the flight recorder, of all objects
 *		history.klh		the operations that show the violation
 *		certificate		the certificate of history.klh, for klin replay
 *		counterexample.txt	the verdict and the counterexample as text
 *		report.html		the same as a page for a browser
 *
 * Without a violation or a suspected violation, only report.json and flight.klh are written.
 *
 * A file that cannot be written is left out, and report.json lists it.  The file "check" means the
 * member "check" of report.json.  The command is null if no history was written.
 *
 *	"missing": [ { "file": "certificate", "reason": "No space left on device",
 *		       "command": "klin check --certificate=certificate history.klh" } ]
 */
#ifndef KLIND_REPORTS_H
#define KLIND_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "spec/spec.h"
#include "watch/flight.h"

enum incident_kind { INCIDENT_VIOLATION, INCIDENT_UNKNOWN, INCIDENT_REQUEST };

extern const char *const incident_kinds[];	/* names, by enum incident_kind */

#define REPORT_TIME	64	/* size of a time as text, see report_time() */

/* The cause of a report.  Pointers to strings must be valid until the report is written. */
struct incident {
	enum incident_kind kind;
	const char *name;		/* name of the configuration's section */
	const struct kl_spec *spec;
	bool classical;
	struct flight_shot *flight;	/* NULL: out of memory */
	struct flight_shot *window;	/* operations that show the violation, or NULL */
	bool has_object, has_key;
	bool suspected;			/* INCIDENT_UNKNOWN: a violation if all calls were seen */
	uint64_t object, key;
	const char *began;		/* when klind began to watch, see report_time() */
	uint64_t time, events;		/* see struct kl_online_violation */
	char reason[160], engine[64];
	uint64_t *written, *failed;	/* counters of reports, incremented atomically */
	uint64_t *incomplete;		/* counter of written reports that lack a file, or NULL */
	/* takes the story of the report, and frees it; NULL: no story is told */
	void (*told)(void *ctx, char *story);
	void *told_ctx;
};

struct reporter;

/**
 * reporter_new() - start the thread that writes reports
 * @dir: path of the directory of reports, made if missing
 * @keep: maximal number of reports kept in @dir
 * @keep_bytes: maximal total size of reports kept in @dir
 * @out: gets the reporter; the caller frees it by reporter_free()
 *
 * Removes unfinished reports of a killed daemon.
 *
 * Return: 0; -EINVAL after a message if @dir cannot be written; -ENOMEM.
 */
int reporter_new(const char *dir, uint64_t keep, uint64_t keep_bytes, struct reporter **out);
/* Wait until all submitted reports are written, and free the reporter. */
void reporter_free(struct reporter *r);

/**
 * reporter_submit() - queue a report
 * @r: the reporter
 * @i: the incident; its shots are freed after the report is written, or at once on failure
 *
 * Return: 0; -EBUSY if the queue is full and has a report of this name and kind; -ENOMEM.
 */
int reporter_submit(struct reporter *r, const struct incident *i);
/* Let the thread call @confine, before it writes any report that is submitted later. */
void reporter_confine(struct reporter *r, int (*confine)(void));
/* Wait until all submitted reports are written, and the thread is confined if it is to be. */
void reporter_drain(struct reporter *r);

#endif
