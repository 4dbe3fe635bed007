/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A watcher: a thread that watches one structure.  The thread reads recorded operations, passes
 * them to the online check and to the flight recorder, and submits reports of violations.
 */
#ifndef KLIND_WATCHER_H
#define KLIND_WATCHER_H

#include <stdbool.h>

#include "klind/conf.h"
#include "klind/metrics.h"
#include "klind/reports.h"
#include "top/row.h"

struct watcher;

/**
 * watcher_new() - load the specification and attach its probes
 * @conf: the configuration of the structure; it is copied
 * @reporter: the writer of reports, or NULL: no reports
 * @report_ns: minimal time between reports of one kind, in ns; in this time at most ten messages
 *	of one kind are logged, and the number of the other messages is logged afterwards
 * @out: gets the watcher; the caller frees it by watcher_free()
 *
 * Return: 0; -EINVAL after a message if the configuration or specification is wrong; another
 * negative errno if the system refuses.
 */
int watcher_new(const struct klind_watch_conf *conf, struct reporter *reporter,
		uint64_t report_ns, struct watcher **out);
/* Read now what needs privileges and would be read later.  Return: 0 or -ENOMEM. */
int watcher_read_ahead(struct watcher *w);
/* Return: 0 if the calling thread has the privileges that watching needs, or a negative errno. */
int watcher_readable(const struct watcher *w);
/* Let the thread call @confine, once it no longer needs the privileges of attaching. */
void watcher_confine(struct watcher *w, int (*confine)(void));
/* Start the thread.  Return: 0 or a negative errno. */
int watcher_start(struct watcher *w);

/*
 * Return: true if @conf equals the watcher's configuration and the specification has not changed.
 */
bool watcher_same(const struct watcher *w, const struct klind_watch_conf *conf);
/* Ask the watcher for a report of the operations in its flight recorder. */
void watcher_request(struct watcher *w);
/* Ask the thread to end; the verdict is final after watcher_join(). */
void watcher_stop(struct watcher *w);
/* Wait until the thread has ended.  Return: 0, or the negative errno that ended it. */
int watcher_join(struct watcher *w);
/* Return: true if the thread has ended because of an error. */
bool watcher_failed(const struct watcher *w);
/* Get the latest counters; the name in @row is valid until watcher_free(). */
void watcher_counts(struct watcher *w, struct klind_metrics_row *row);
/* Get the latest counters for `klin top'. */
void watcher_top(struct watcher *w, struct top_row *row);

/**
 * watcher_story() - get the last story of a structure
 * @w: the watcher
 * @name: the name that the watcher must have
 * @story: gets the story, or the reason of the last violation that has no report; stays NULL if
 *	there was no violation, or if the watcher has another name; the caller frees it
 *
 * Return: 0 or -ENOMEM.
 */
int watcher_story(struct watcher *w, const char *name, char **story);
/* Print the verdict and the main counters to @buf, for the log. */
void watcher_verdict(struct watcher *w, char *buf, size_t size);
void watcher_free(struct watcher *w);

#endif
