/* SPDX-License-Identifier: GPL-2.0 */
/* One structure that is watched: recorded, checked and kept by a thread of its own. */
#ifndef KLIND_WATCHER_H
#define KLIND_WATCHER_H

#include <stdbool.h>

#include "klind/conf.h"
#include "klind/metrics.h"
#include "klind/reports.h"

struct watcher;

/**
 * watcher_new() - load the specification and attach to what it names
 * @conf: what to watch; copied
 * @reporter: where reports go, or NULL
 * @report_ns: between two of them; ten messages of violations are logged in that time, the
 *	rest are counted and their number is logged
 * @out: to be freed with watcher_free()
 *
 * Return: 0; -EINVAL after a message for what a person got wrong; else the system refused.
 */
int watcher_new(const struct klind_watch_conf *conf, struct reporter *reporter,
		uint64_t report_ns, struct watcher **out);
/* Begin to read and to check.  0 or a negative errno. */
int watcher_start(struct watcher *w);

/* Would one that is made anew watch in the same way: has no file changed? */
bool watcher_same(const struct watcher *w, const struct klind_watch_conf *conf);
/* Have a report of what is kept written. */
void watcher_request(struct watcher *w);
/* Ask it to end; the last verdict comes with watcher_join(). */
void watcher_stop(struct watcher *w);
/* Wait until it has ended.  0, or the negative errno that ended it. */
int watcher_join(struct watcher *w);
/* It has ended by itself, with an error. */
bool watcher_failed(const struct watcher *w);
void watcher_counts(struct watcher *w, struct klind_metrics_row *row);
/* The last words, for the log. */
void watcher_verdict(struct watcher *w, char *buf, size_t size);
void watcher_free(struct watcher *w);

#endif
