// SPDX-License-Identifier: GPL-2.0
/* Write one report, see reports.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/memstream.h"
#include "base/outfile.h"
#include "base/sha256.h"
#include "klind/journal.h"
#include "klind/machine.h"
#include "klind/report_write.h"
#include "page/page.h"
#include "report/envelope.h"
#include "report/json.h"
#include "report/verdict.h"
#include "top/row.h"
#include "watch/proof.h"

#define PAGE_OPERATIONS	20000 /* operations of a page, which take about half a MiB */

/* A file of the report, or the member "check" of report.json, that could not be made. */
struct missing {
	const char *file;
	/* the command that makes the file from a history, without the history's name; or NULL */
	const char *command;
	int err;			/* negative errno; 0: history.klh is missing */
};

struct report {
	const struct incident *i;
	char dir[4096];			/* path of the temporary directory */
	struct kl_history *flight;	/* history of the flight recorder, or NULL */
	struct kl_proof proof;		/* history to show the violation with, and its check */
	json_t *result;			/* the result as `klin check --json' prints it, or NULL */
	struct missing missing[6]; /* room for all files but report.json, and for "check" */
	size_t nmissing;
	/* history.klh, flight.klh and the certificate were written */
	bool has_history, has_flight, has_certificate;
	/* 0: @proof shows the violation; -ENODATA: it does not; other errno: not checked */
	int proved;
};

static bool shows_violation(const struct incident *i)
{
	return i->kind == INCIDENT_VIOLATION || i->suspected;
}

/*
 * Find a history that shows the violation.  Try the operations that came with the violation first,
 * then the operations that the flight recorder has of the object.  Return: as proof_check().
 */
static int find_proof(struct report *r)
{
	const struct incident *i = r->i;
	int ret = i->window ? proof_check(&r->proof, i->spec, i->window, NULL, i->classical) :
			      -ENODATA;

	if (ret != -ENODATA)
		return ret;
	return i->flight ? proof_check(&r->proof, i->spec, i->flight,
				       i->has_object ? &i->object : NULL, i->classical) : -ENOMEM;
}

static const char *missing_reason(int err)
{
	return err ? strerror(-err) : "history.klh is missing";
}

static void note_missing(struct report *r, const char *file, int err, const char *command)
{
	r->missing[r->nmissing++] = (struct missing){ file, command, err };
	kl_warn("%s: the report lacks %s: %s", r->i->name, file, missing_reason(err));
}

static int path_of(const struct report *r, const char *name, char *buf, size_t size)
{
	return snprintf(buf, size, "%s/%s", r->dir, name) < (int)size ? 0 : -ENAMETOOLONG;
}

static int put_history(const struct report *r, const struct kl_history *h, const char *name)
{
	char path[4200];

	return path_of(r, name, path, sizeof(path)) ?: kl_klh_write(h, path);
}

static int put_certificate(struct report *r)
{
	char history[4200], path[4200];

	return path_of(r, "history.klh", history, sizeof(history)) ?:
	       path_of(r, "certificate", path, sizeof(path)) ?:
	       proof_certify(&r->proof, r->i->classical, history, path);
}

/* The files of the report name each other by paths in the report's directory. */
static struct kl_verdict_style style_of(const struct report *r)
{
	return (struct kl_verdict_style){
		.full = true,
		.replay = r->has_certificate ? "klin replay certificate" : NULL,
	};
}

static int put_counterexample(const struct report *r)
{
	const struct kl_verdict_style style = style_of(r);
	struct kl_outfile o;
	char path[4200];
	int ret = path_of(r, "counterexample.txt", path, sizeof(path)) ?:
		  kl_outfile_open(&o, path);

	if (ret)
		return ret;
	ret = kl_print_report(o.f, r->proof.r, "history.klh", &style);
	if (!ret)
		return kl_outfile_commit(&o);
	kl_outfile_abort(&o);
	return ret;
}

/* Hand on the story as a terminal shows it, cut to its bound, if there is a violation to tell. */
static void tell_story(const struct report *r, const char *path)
{
	const struct kl_verdict_style style = { .no_diagram = true, .no_memory = true,
						.colour = KL_DIAGRAM_OFF };
	struct kl_memstream m;
	char *story = NULL;
	int ret;

	if (!r->i->told || !r->proof.r || kl_memstream_open(&m))
		return;
	ret = kl_print_report(m.f, r->proof.r, "history.klh", &style);
	if (!ret)
		fprintf(m.f, "\nReport: %s\n", path);
	if (kl_memstream_close(&m, &story, NULL) || ret) {
		free(story);
		return;
	}
	if (strlen(story) >= TOP_STORY)
		story[TOP_STORY - 1] = '\0';
	r->i->told(r->i->told_ctx, story);
}

/* Return: the check's result as `klin check --json' prints it; NULL if out of memory. */
static json_t *check_json(struct report *r)
{
	const struct kl_verdict_style style = style_of(r);

	if (!r->result)
		r->result = kl_json_whole(kl_report_json(r->proof.r, "history.klh", &style));
	return json_incref(r->result);
}

static int write_page(struct report *r)
{
	const struct kl_page page = {
		.title = r->i->name, .result = r->result, .h = r->proof.h, .r = r->proof.r,
		.command = "klin check history.klh", .most = PAGE_OPERATIONS,
	};
	struct kl_outfile o;
	char path[4200];
	int ret = path_of(r, "report.html", path, sizeof(path)) ?: kl_outfile_open(&o, path);

	if (ret)
		return ret;
	ret = kl_page_write(o.f, &page);
	if (!ret)
		return kl_outfile_commit(&o);
	kl_outfile_abort(&o);
	return ret;
}

/* Write the page, for the history that shows the violation. */
static void put_page(struct report *r)
{
	int ret = r->proved;

	if (r->proof.r) {
		json_decref(check_json(r));
		ret = r->result ? write_page(r) : -ENOMEM;
	}
	if (ret)
		note_missing(r, "report.html", ret, "klin report -o report.html");
}

/* List the missing files, with commands that make them from a history that was written. */
static json_t *missing_json(const struct report *r)
{
	const char *from = r->has_history ? "history.klh" : r->has_flight ? "flight.klh" : NULL;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < r->nmissing; i++) {
		const struct missing *m = &r->missing[i];
		json_t *j = json_object();
		char command[80];

		snprintf(command, sizeof(command), "%s %s", m->command ?: "", from ?: "");
		json_object_set_new(j, "file", json_string(m->file));
		json_object_set_new(j, "reason", kl_json_text(missing_reason(m->err)));
		json_object_set_new(j, "command", m->command && from ? json_string(command) :
				    json_null());
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *flight_json(const struct kl_history *h)
{
	json_t *j = json_object();

	json_object_set_new(j, "operations", kl_json_number(h->nops));
	json_object_set_new(j, "objects", kl_json_number(h->nobjects));
	json_object_set_new(j, "gaps", kl_json_number(h->ngaps));
	json_object_set_new(j, "first_call",
			    h->nops ? kl_json_number(h->ops[0].call) : json_null());
	json_object_set_new(j, "last_call", h->nops ? kl_json_number(h->ops[h->nops - 1].call) :
			    json_null());
	return j;
}

/*
 * Write report.json.  @when: time of the report; @check: the check's result as of check_json(), or
 * NULL.  Drops the caller's reference to @check.  Return: 0 or a negative errno.
 */
static int put_json(const struct report *r, const char *when, json_t *check)
{
	const struct incident *i = r->i;
	struct kl_outfile o;
	const char *text = kl_spec_text(i->spec);
	char path[4200], words[32], sha256[KL_SHA256_HEX];
	json_t *j = kl_json_envelope("incident", NULL);
	int ret;

	json_object_set_new(j, "cause", json_string(incident_kinds[i->kind]));
	json_object_set_new(j, "name", json_string(i->name));
	json_object_set_new(j, "spec", json_string(kl_spec_name(i->spec)));
	kl_sha256(text, strlen(text), sha256);
	json_object_set_new(j, "spec_sha256", json_string(sha256));
	json_object_set_new(j, "machine", klind_machine_json());
	json_object_set_new(j, "began", json_string(i->began));
	json_object_set_new(j, "written", json_string(when));
	if (*i->reason)
		json_object_set_new(j, "reason", json_string(i->reason));
	if (shows_violation(i)) {
		json_object_set_new(j, "suspected", json_boolean(i->suspected));
		if (i->has_object) {
			snprintf(words, sizeof(words), "0x%" PRIx64, i->object);
			json_object_set_new(j, "object", json_string(words));
		}
		if (i->has_key)
			json_object_set_new(j, "key", kl_json_number(i->key));
		json_object_set_new(j, "time", kl_json_number(i->time));
		json_object_set_new(j, "events", kl_json_number(i->events));
		json_object_set_new(j, "engine", json_string(i->engine));
		/* false: the violation also depends on operations that are forgotten now */
		json_object_set_new(j, "shown_by_history", r->proved && r->proved != -ENODATA ?
				    json_null() : json_boolean(!r->proved));
		if (check)
			json_object_set(j, "check", check);
	}
	if (r->flight)
		json_object_set_new(j, "flight", flight_json(r->flight));
	if (r->nmissing)
		json_object_set_new(j, "missing", missing_json(r));
	json_decref(check);
	ret = path_of(r, "report.json", path, sizeof(path)) ?: kl_outfile_open(&o, path);
	if (ret) {
		json_decref(j);
		return ret;
	}
	ret = kl_json_put(o.f, j, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	if (!ret)
		return kl_outfile_commit(&o);
	kl_outfile_abort(&o);
	return ret;
}

/* Write history.klh, certificate and counterexample.txt, and note files that cannot be made. */
static void put_proof(struct report *r)
{
	int ret;

	r->proved = find_proof(r);
	ret = r->proof.h ? put_history(r, r->proof.h, "history.klh") : r->proved;
	r->has_history = !ret;
	if (ret)
		note_missing(r, "history.klh", ret, "klin check");
	ret = !r->proof.r ? r->proved : r->has_history ? put_certificate(r) : 0;
	r->has_certificate = r->proof.r && r->has_history && !ret;
	if (ret || !r->has_history)
		note_missing(r, "certificate", ret, "klin check --certificate=certificate");
	ret = r->proof.r ? put_counterexample(r) : r->proved;
	if (ret)
		note_missing(r, "counterexample.txt", ret, "klin check");
}

static void put_flight(struct report *r)
{
	int ret = r->i->flight ? flight_shot_history(r->i->flight, NULL, &r->flight) : -ENOMEM;

	if (!ret)
		ret = put_history(r, r->flight, "flight.klh");
	r->has_flight = !ret;
	if (ret)
		note_missing(r, "flight.klh", ret, NULL);
}

/* Write report.json.  If memory is short, leave out the check's result.  Return: 0 or an errno. */
static int put_report(struct report *r, const char *when)
{
	json_t *check = r->proof.r ? check_json(r) : NULL;
	int ret;

	if (shows_violation(r->i) && !check)
		note_missing(r, "check", r->proof.r ? -ENOMEM : r->proved, "klin check --json");
	ret = put_json(r, when, check);
	if (ret != -ENOMEM || !check)
		return ret;
	note_missing(r, "check", ret, "klin check --json");
	return put_json(r, when, NULL);
}

static void discard(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}

/* Return: 0 or a negative errno; 0 if the filesystem has no fsync() of directories (EINVAL). */
static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = fsync(fd) && errno != EINVAL ? -errno : 0;
	close(fd);
	return ret;
}

/* The text has microseconds, so that reports of one daemon have different names. */
void report_time(char *buf, size_t size)
{
	struct timespec ts;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(buf, size, "%Y%m%dT%H%M%S", &tm);
	snprintf(buf + n, size - n, ".%06ldZ", ts.tv_nsec / 1000);
}

static void log_written(const struct incident *i, const char *path)
{
	const enum kl_verdict verdict = i->kind == INCIDENT_VIOLATION ? KL_VIOLATION : KL_UNKNOWN;
	const struct klind_entry entry = {
		.event = KLIND_REPORT, .spec = i->name, .report = path,
		.verdict = i->kind == INCIDENT_REQUEST ? NULL : kl_verdict_name(verdict),
		.reason = *i->reason ? i->reason : NULL, .has_object = i->has_object,
		.object = i->object, .has_key = i->has_key, .key = i->key,
	};

	klind_log(KL_LOG_INFO, &entry, "%s: wrote report %s", i->name, path);
}

int report_write(const char *dir, const struct incident *i, char name[REPORT_NAME])
{
	struct report r = { .i = i };
	char when[REPORT_TIME], path[4096];
	int ret, synced = 0;

	report_time(when, sizeof(when));
	if (snprintf(name, REPORT_NAME, "%s-%s-%s", when, i->name, incident_kinds[i->kind]) >=
	    REPORT_NAME ||
	    snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
	    snprintf(r.dir, sizeof(r.dir), "%s/" REPORT_TEMPORARY "XXXXXX", dir) >=
	    (int)sizeof(r.dir))
		return -ENAMETOOLONG;
	if (!mkdtemp(r.dir))
		return -errno;
	/* Write the proof first: the disk may have no room for flight.klh, which is larger. */
	if (shows_violation(i))
		put_proof(&r);
	put_flight(&r);
	if (shows_violation(i))
		put_page(&r);
	ret = put_report(&r, when);
	if (!ret) {
		synced = sync_dir(r.dir);
		if (rename(r.dir, path))
			ret = -errno;
	}
	if (ret) {
		discard(r.dir);
	} else {
		log_written(i, path);
		tell_story(&r, path);
		synced = synced ?: sync_dir(dir);
		if (synced)
			kl_warn("%s: report %s is written, but cannot be synced to disk: %s",
				i->name, path, strerror(-synced));
		ret = r.nmissing > 0;
	}
	json_decref(r.result);
	proof_free(&r.proof);
	kl_history_free(r.flight);
	return ret;
}
