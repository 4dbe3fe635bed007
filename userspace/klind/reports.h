/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports: a directory for each thing that happened, written by a thread of its own,
 * each file whole or not at all.
 *
 *	TIME-NAME-violation/
 *		report.json		what, when, where; the verdict as of klin check --json
 *		flight.klh		all operations that were kept, of all objects
 *		history.klh		those that show the violation
 *		certificate		of history.klh, for klin replay
 *		counterexample.txt	for people
 *
 * For what is no violation, and is not suspected to be one, there are report.json and
 * flight.klh alone.
 *
 * A file that cannot be written is left out, and report.json says so.  "check" stands for its
 * own member, the verdict; a command of null: no history is left to make the file of.
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

extern const char *const incident_kinds[];	/* their names */

/* What happened.  All strings are static or live as long as the specification. */
struct incident {
	enum incident_kind kind;
	const char *name;		/* of the configuration's section */
	const struct kl_spec *spec;
	bool classical;
	struct flight_shot *flight;	/* NULL: no memory for it */
	struct flight_shot *window;	/* the operations that show a violation, or NULL */
	bool has_object, has_key;
	bool suspected;			/* INCIDENT_UNKNOWN: a violation if all calls were seen */
	uint64_t object, key;
	uint64_t time, events;		/* see struct kl_online_violation */
	char reason[160], engine[64];
	uint64_t *written, *failed;	/* counted up there, atomically */
	uint64_t *incomplete;		/* of those written, with a file missing; or NULL */
};

struct reporter;

/**
 * reporter_new() - begin
 * @dir: where the reports go; it is made if it is not there
 * @keep: so many of them
 * @keep_bytes: and so much
 * @out: the reporter
 *
 * What a killed daemon left unfinished is removed.
 *
 * Return: 0; -EINVAL after a message; -ENOMEM.
 */
int reporter_new(const char *dir, uint64_t keep, uint64_t keep_bytes, struct reporter **out);
/* When all is written. */
void reporter_free(struct reporter *r);

/**
 * reporter_submit() - have a report written
 * @r: the reporter
 * @i: what happened; its shots are freed when it is written, or at once
 *
 * Return: 0; -EBUSY when too many are waiting, one of this name and kind among them; -ENOMEM.
 */
int reporter_submit(struct reporter *r, const struct incident *i);
/* Wait until all that was submitted is written. */
void reporter_drain(struct reporter *r);

#endif
