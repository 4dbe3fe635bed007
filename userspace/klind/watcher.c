// SPDX-License-Identifier: GPL-2.0
/* Watch one structure, see watcher.h. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/memstream.h"
#include "klind/journal.h"
#include "klind/rate.h"
#include "klind/report_write.h"
#include "klind/watcher.h"
#include "record/record.h"
#include "watch/feed.h"
#include "watch/flight.h"
#include "watch/proof.h"
#include "watch/shed.h"

#define INTERVAL_US	3000		/* time between two reads of the buffers, in us */
#define LOAD_NS		250000000ull	/* time between two checks of the load, in ns */
/* The watcher is overloaded if one pass_ops() takes longer, in ns. */
#define LAG_NS		1000000000ull
#define BURST		10		/* maximal number of messages of a kind in report_ns */
/* If events are lost, the check is the cause when it takes more than this part of the time. */
#define LOSING		0.25

struct watcher {
	struct klind_watch_conf conf;
	struct kl_spec *spec;
	struct kl_recorder *r;
	struct feed *feed;
	struct flight *flight;
	struct shed *shed;
	struct reporter *reporter;
	/* rate limits of messages and of reports, by kind */
	struct rate logged[INCIDENT_REQUEST], reported[INCIDENT_REQUEST];
	struct rate losses;			/* rate limit of messages of lost operations */
	uint64_t told_lost;			/* number of lost operations that were logged */

	pthread_t thread;
	bool started;
	volatile int stop, ended;
	int err;				/* the errno that ended the thread, or 0 */
	volatile bool request;			/* a report was requested */
	int (*confine)(void); /* the thread has yet to call it; or NULL */
	bool logged_unknown;			/* the verdict UNKNOWN was logged */
	char began[REPORT_TIME];		/* when the probes were attached */
	uint64_t floor;				/* lower bound of the calls of later operations */
	uint64_t written, incomplete, failed, suppressed;	/* numbers of reports */
	uint64_t renewals;
	/*
	 * The load: time of its last check; time spent in pass_ops() since then; number of lost
	 * operations by then; time of the longest pass_ops() since then.  Times are in ns.
	 */
	uint64_t load_checked, busy, lost, longest;

	pthread_mutex_t lock;			/* protects the fields below */
	struct klind_counts counts;
	uint64_t counted;			/* time of @counts, in ns */
	char reason[160];			/* reason of UNKNOWN */
	char found[320];			/* the last violation in a line, or empty */
	char *story;				/* the story of the last report, or NULL */
};

/* Keep the story that a report tells; the reporter's thread calls this function. */
static void keep_story(void *ctx, char *story)
{
	struct watcher *w = ctx;

	pthread_mutex_lock(&w->lock);
	free(w->story);
	w->story = story;
	pthread_mutex_unlock(&w->lock);
}

/*
 * Prepare a report.  Return: NULL; the reason why there is no report; or "" if the last report is
 * younger than report-interval, which log_held() says once for all such reports.
 */
static const char *begin_report(struct watcher *w, enum incident_kind kind, struct incident *i)
{
	if (kind != INCIDENT_REQUEST && !rate_take(&w->reported[kind], kl_now_ns())) {
		w->suppressed++;
		return "";
	}
	/* Without memory for a shot the report says that flight.klh is missing. */
	*i = (struct incident){
		.kind = kind, .name = w->conf.name, .spec = w->spec, .began = w->began,
		.classical = w->conf.classical,
		.written = &w->written, .failed = &w->failed, .incomplete = &w->incomplete,
		.flight = flight_take(w->flight, w->floor),
		.told = keep_story, .told_ctx = w,
	};
	return NULL;
}

/* Submit a report.  Return: NULL, or the reason why there is no report. */
static const char *submit_report(struct watcher *w, const struct incident *i)
{
	int ret = reporter_submit(w->reporter, i);

	if (!ret)
		return NULL;
	if (i->kind != INCIDENT_REQUEST)
		rate_undo(&w->reported[i->kind]);
	if (ret == -EBUSY) {
		w->suppressed++;
		return "too many reports wait to be written";
	}
	__atomic_add_fetch(&w->failed, 1, __ATOMIC_RELAXED);
	return strerror(-ret);
}

static void log_no_report(const struct watcher *w, enum incident_kind kind, const char *why)
{
	if (*why)
		kl_warn("%s: no report of kind '%s': %s", w->conf.name, incident_kinds[kind], why);
}

/* Log the numbers of messages and reports that were held back, if their interval has ended. */
static void log_held(struct watcher *w, uint64_t now)
{
	uint64_t n;
	int kind;

	for (kind = 0; kind < INCIDENT_REQUEST; kind++) {
		n = rate_held(&w->logged[kind], now);
		if (n)
			kl_warn("%s: suppressed %" PRIu64 " messages of kind '%s'", w->conf.name,
				n, incident_kinds[kind]);
		n = rate_held(&w->reported[kind], now);
		if (n)
			kl_warn("%s: wrote no report for %" PRIu64 " more of kind '%s': the last "
				"one was younger than report-interval",
				w->conf.name, n, incident_kinds[kind]);
	}
}

/* Copy the operations of a violation for the reporter's thread.  Return: the copy, or NULL. */
static struct flight_shot *take_window(const struct watcher *w, const struct kl_history *h)
{
	struct flight_shot *shot = h ? proof_window(w->spec, h) : NULL;

	if (!shot && h)
		kl_warn("%s: out of memory for the operations of this violation: the report uses "
			"those of the flight recorder", w->conf.name);
	return shot;
}

/* Log a violation and submit a report.  A message that is not logged is counted. */
static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	const enum incident_kind kind = v->suspect ? INCIDENT_UNKNOWN : INCIDENT_VIOLATION;
	const uint64_t now = kl_now_ns();
	struct watcher *w = ctx;
	const struct klind_entry entry = {
		.event = v->suspect ? KLIND_UNKNOWN : KLIND_VIOLATION, .spec = w->conf.name,
		.verdict = kl_verdict_name(v->suspect ? KL_UNKNOWN : KL_VIOLATION),
		.reason = v->suspect ? v->suspect : v->reason, .engine = v->engine,
		.has_object = !v->all_objects, .object = v->object, .has_key = v->has_key,
		.key = v->key,
	};
	const char *why;
	struct incident i;
	char where[80] = "";
	bool logged;

	if (!v->all_objects)
		snprintf(where, sizeof(where), ", object 0x%" PRIx64, v->object);
	if (v->has_key)
		snprintf(where + strlen(where), sizeof(where) - strlen(where), ", key %" PRIu64,
			 v->key);
	log_held(w, now);
	logged = rate_take(&w->logged[kind], now);
	if (logged)
		klind_log(v->suspect ? KL_LOG_WARN : KL_LOG_ERR, &entry,
			  "%s: %s at time %" PRIu64 "%s: %s (%s)", w->conf.name,
			  v->suspect ? "UNKNOWN, a suspected violation" : "VIOLATION", v->time,
			  where, entry.reason, v->engine);
	pthread_mutex_lock(&w->lock);
	snprintf(w->found, sizeof(w->found), "%s at time %" PRIu64 "%s: %s (%s)", v->suspect ?
		 "Suspected violation" : "VIOLATION", v->time, where, v->reason, v->engine);
	pthread_mutex_unlock(&w->lock);
	if (!w->reporter)
		return;
	why = begin_report(w, kind, &i);
	if (why)
		goto out;
	i.suspected = v->suspect != NULL;
	i.has_object = !v->all_objects;
	i.object = v->object;
	i.has_key = v->has_key;
	i.key = v->key;
	i.time = v->time;
	i.events = v->events;
	snprintf(i.reason, sizeof(i.reason), "%s", v->reason);
	snprintf(i.engine, sizeof(i.engine), "%s", v->engine);
	i.window = take_window(w, v->history);
	why = submit_report(w, &i);
out:
	if (why && logged)
		log_no_report(w, kind, why);
}

static void report_incident(struct watcher *w, enum incident_kind kind, const char *reason)
{
	struct incident i;
	const char *why;

	if (!w->reporter)
		return;
	why = begin_report(w, kind, &i);
	if (!why) {
		snprintf(i.reason, sizeof(i.reason), "%s", reason);
		why = submit_report(w, &i);
	}
	if (why)
		log_no_report(w, kind, why);
}

int watcher_new(const struct klind_watch_conf *conf, struct reporter *reporter,
		uint64_t report_ns, struct watcher **out)
{
	struct watcher *w = calloc(1, sizeof(*w));
	struct kl_record_opts opts = {
		.only = conf->attach == KLIND_FENTRY ? KL_WAY_FENTRY :
			conf->attach == KLIND_KPROBE ? KL_WAY_KPROBE : KL_WAY_NONE,
		.plain = conf->attach == KLIND_PLAIN,
		.pages = conf->pages, .slots = conf->slots, .one_object = conf->one_object,
		.object = conf->object, .clock_known = conf->clock_known,
		.clock_error = conf->clock_error, .stacks = conf->stacks,
	};
	int err = -ENOMEM, kind;

	if (!w)
		return err;
	for (kind = 0; kind < INCIDENT_REQUEST; kind++) {
		w->logged[kind] = (struct rate){ .ns = report_ns, .burst = BURST };
		w->reported[kind] = (struct rate){ .ns = report_ns, .burst = 1 };
	}
	w->losses = (struct rate){ .ns = report_ns, .burst = 1 };
	w->counts.verdict = KL_UNKNOWN;
	pthread_mutex_init(&w->lock, NULL);
	w->conf = *conf;
	w->conf.name = strdup(conf->name);
	w->conf.file = strdup(conf->file);
	w->conf.debug = conf->debug ? strdup(conf->debug) : NULL;
	w->reporter = reporter;
	w->shed = shed_new();
	if (w->conf.debug)
		opts.debug = (struct kl_files){ { w->conf.debug }, 1 };
	if (w->conf.name && w->conf.file && w->shed && (!conf->debug || w->conf.debug))
		err = kl_spec_load(conf->file, &w->spec);
	if (!err) {
		opts.spec = w->spec;
		err = kl_recorder_new(&opts, &w->r);
	}
	if (!err)
		err = kl_recorder_attach(w->r);
	report_time(w->began, sizeof(w->began));
	if (err)
		watcher_free(w);
	else
		*out = w;
	return err;
}

/* Write how the probes are attached.  *@text is freed by free().  Return: 0 or -ENOMEM. */
static int show_attached(const struct watcher *w, char **text)
{
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	kl_recorder_show(w->r, m.f);
	return kl_memstream_close(&m, text, NULL);
}

/* Make the flight recorder and the check, whose history says how the probes are attached. */
static int begin_check(struct watcher *w)
{
	const struct feed_opts opts = {
		.classical = w->conf.classical, .bytes = w->conf.memory, .histories = true,
		.violation = on_violation, .ctx = w, .shed = w->shed,
	};
	struct kl_history head = *kl_recorder_history(w->r);
	char *attached;
	int ret = show_attached(w, &attached);

	if (ret)
		return ret;
	head.attached = attached;
	w->flight = flight_new(w->spec, &head, w->conf.flight, w->conf.flight_ns);
	w->feed = feed_new(w->spec, &head, &opts);
	w->load_checked = kl_now_ns();
	free(attached);
	return w->flight && w->feed ? 0 : -ENOMEM;
}

/* Publish the counters for watcher_counts() and watcher_verdict(). */
static void publish_counts(struct watcher *w, const struct kl_online_stats *st)
{
	struct kl_record_stats rec;
	struct shed_stats shed;
	struct flight_stats flight;
	struct klind_counts c;

	kl_recorder_counts(w->r, &rec);
	shed_stats(w->shed, &shed);
	flight_stats(w->flight, &flight);
	c = (struct klind_counts){
		.recorded = rec.ops, .lost = rec.lost, .missed = rec.missed, .checked = st->ops,
		.skipped = shed.skipped, .events = st->events, .gaps = st->gaps, .late = st->late,
		.violations = st->violations, .drops = shed.drops, .renewals = w->renewals,
		.reports = __atomic_load_n(&w->written, __ATOMIC_RELAXED),
		.incomplete = __atomic_load_n(&w->incomplete, __ATOMIC_RELAXED),
		.failed = __atomic_load_n(&w->failed, __ATOMIC_RELAXED),
		.suppressed = w->suppressed, .objects = shed.objects, .dropped = shed.dropped,
		.waiting = st->waiting, .bytes = st->bytes, .flight_ops = flight.ops,
		.flight_bytes = flight.bytes, .verdict = st->verdict,
		.up = !w->stop, .lag_ns = st->newest > st->now ? st->newest - st->now : 0,
	};
	memcpy(c.parts, (uint64_t[]){ st->count[KL_LINEARIZABLE], st->count[KL_VIOLATION],
				      st->count[KL_UNKNOWN] }, sizeof(c.parts));
	pthread_mutex_lock(&w->lock);
	w->counts = c;
	w->counted = kl_now_ns();
	snprintf(w->reason, sizeof(w->reason), "%s", st->reason);
	pthread_mutex_unlock(&w->lock);
}

static void log_shed(const struct watcher *w, const struct shed_turn *t)
{
	const struct klind_entry entry = {
		.event = KLIND_OVERLOAD, .spec = w->conf.name, .has_object = true,
		.object = t->object,
	};

	if (t->dropped)
		klind_log(KL_LOG_WARN, &entry, "%s: overload: stopped checking %zu object%s, first "
			  "0x%" PRIx64, w->conf.name, t->dropped, t->dropped == 1 ? "" : "s",
			  t->object);
	if (t->resumed)
		kl_info("%s: resumed checking %zu object%s, first 0x%" PRIx64, w->conf.name,
			t->resumed, t->resumed == 1 ? "" : "s", t->object);
}

/* Log the operations that were lost since the last message, if @now is late enough for another. */
static void log_lost(struct watcher *w, uint64_t lost, uint64_t now)
{
	const struct klind_entry entry = { .event = KLIND_LOST, .spec = w->conf.name };
	const uint64_t n = lost - w->told_lost;

	if (lost > w->told_lost && rate_take(&w->losses, now)) {
		klind_log(KL_LOG_WARN, &entry,
			  "%s: lost %" PRIu64 " operation%s, so there is a "
			  "gap; if buffers were full, raise `buffer' or watch one object only",
			  w->conf.name, n, n == 1 ? "" : "s");
		w->told_lost = lost;
	}
}

/* Log the verdict UNKNOWN, for the first time. */
static void log_unknown(struct watcher *w, const char *reason)
{
	const struct klind_entry entry = {
		.event = KLIND_UNKNOWN, .spec = w->conf.name,
		.verdict = kl_verdict_name(KL_UNKNOWN), .reason = reason,
	};

	w->logged_unknown = true;
	klind_log(KL_LOG_WARN, &entry, "%s: UNKNOWN: %s", w->conf.name, reason);
	if (w->conf.report_unknown)
		report_incident(w, INCIDENT_UNKNOWN, reason);
}

/* Log that the check has exceeded its memory. */
static void log_full(const struct watcher *w, uint64_t bytes)
{
	const struct klind_entry entry = { .event = KLIND_OVERLOAD, .spec = w->conf.name };

	klind_log(KL_LOG_WARN, &entry, "%s: the check uses %" PRIu64 " MiB, more than `memory' allows: "
		  "it forgets all states and restarts; raise `memory'", w->conf.name, bytes >> 20);
}

/* Every LOAD_NS: drop or resume objects as the load requires, and keep the memory bound. */
static int check_load(struct watcher *w)
{
	const uint64_t now = kl_now_ns();
	struct kl_record_stats rec;
	struct kl_online_stats st;
	struct shed_load load = { .now = now };
	struct shed_turn turn;
	bool full;
	int err = 0;

	if (now - w->load_checked < LOAD_NS)
		return 0;
	kl_recorder_counts(w->r, &rec);
	log_held(w, now);
	feed_stats(w->feed, &st);
	full = st.bytes > w->conf.memory;
	load.busy = (double)w->busy / (now - w->load_checked);
	load.over = full || w->longest > LAG_NS || (rec.lost > w->lost && load.busy > LOSING);
	err = shed_turn(w->shed, &load, w->feed, &turn);
	log_shed(w, &turn);
	if (!err && full) {
		log_full(w, st.bytes);
		err = feed_renew(w->feed);
		w->renewals++;
	}
	log_lost(w, rec.lost, now);
	/* Before the first operation the verdict is unknown, too, and that is no news. */
	if (!err && st.verdict == KL_UNKNOWN && !w->logged_unknown && (st.ops || st.gaps))
		log_unknown(w, st.reason);
	w->load_checked = kl_now_ns();
	w->lost = rec.lost;
	w->busy = w->longest = 0;
	publish_counts(w, &st);
	return err;
}

/* Give up privileges as soon as the recorder needs them no longer. */
static void confine(struct watcher *w)
{
	if (!w->confine || !kl_recorder_settled(w->r))
		return;
	w->confine();
	w->confine = NULL;
}

/* Pass new operations to the flight recorder, whose header says how the probes see them now. */
static int add_flight(struct watcher *w, const struct kl_history *h)
{
	char *attached;
	int ret = flight_add(w->flight, h);

	if (ret <= 0)
		return ret;
	ret = show_attached(w, &attached);
	if (ret)
		return ret;
	ret = flight_attached(w->flight, attached);
	free(attached);
	return ret;
}

/* Pass new operations of the recorder to the flight recorder and to the check. */
static int pass_ops(struct watcher *w, uint64_t floor)
{
	const struct kl_history *h = kl_recorder_history(w->r);
	const uint64_t start = kl_now_ns(), *over;
	uint64_t spent;
	int err = add_flight(w, h);
	size_t n;

	w->floor = floor;
	over = kl_recorder_over(w->r, &n);
	if (!err)
		err = feed_add(w->feed, h) ?: feed_floor(w->feed, floor) ?:
		      feed_over(w->feed, over, n);
	spent = kl_now_ns() - start;
	w->busy += spent;
	if (spent > w->longest)
		w->longest = spent;
	return err;
}

static int end_check(struct watcher *w)
{
	struct kl_online_stats st;
	int err = kl_recorder_follow_end(w->r) ?: pass_ops(w, KL_TIME_MAX) ?: feed_end(w->feed);

	feed_stats(w->feed, &st);
	publish_counts(w, &st);
	return err;
}

static void *run(void *arg)
{
	struct watcher *w = arg;
	struct kl_record_stats rec;
	uint64_t floor;
	int err = begin_check(w);

	while (!err && !w->stop) {
		confine(w);
		usleep(INTERVAL_US);
		err = kl_recorder_follow(w->r, &floor);
		if (!err && floor)
			err = pass_ops(w, floor);
		if (!err)
			err = check_load(w);
		if (!err && __atomic_exchange_n(&w->request, false, __ATOMIC_ACQ_REL))
			report_incident(w, INCIDENT_REQUEST, "");
	}
	if (!err)
		err = end_check(w);
	kl_recorder_counts(w->r, &rec);
	log_held(w, UINT64_MAX);
	log_lost(w, rec.lost, UINT64_MAX);
	if (err)
		kl_err("%s: watching ended with an error: %s", w->conf.name, strerror(-err));
	pthread_mutex_lock(&w->lock);
	w->counts.up = 0;
	pthread_mutex_unlock(&w->lock);
	w->err = err;
	__atomic_store_n(&w->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

int watcher_read_ahead(struct watcher *w)
{
	return kl_recorder_read_ahead(w->r);
}

int watcher_readable(const struct watcher *w)
{
	return kl_recorder_readable(w->r);
}

void watcher_confine(struct watcher *w, int (*confine)(void))
{
	w->confine = confine;
}

int watcher_start(struct watcher *w)
{
	int err;

	/* The probes are attached; the thread may take a while until it publishes counters. */
	w->counts.up = 1;
	err = pthread_create(&w->thread, NULL, run, w);
	w->started = !err;
	if (err)
		w->counts.up = 0;
	return -err;
}

bool watcher_same(const struct watcher *w, const struct klind_watch_conf *conf)
{
	struct kl_spec *spec = NULL;
	bool same;

	if (!klind_watch_conf_equal(&w->conf, conf) || kl_spec_load(conf->file, &spec))
		return false;
	same = !strcmp(kl_spec_text(spec), kl_spec_text(w->spec));
	kl_spec_free(spec);
	return same;
}

void watcher_request(struct watcher *w)
{
	__atomic_store_n(&w->request, true, __ATOMIC_RELEASE);
}

void watcher_stop(struct watcher *w)
{
	w->stop = 1;
}

int watcher_join(struct watcher *w)
{
	if (w->started)
		pthread_join(w->thread, NULL);
	w->started = false;
	return w->err;
}

bool watcher_failed(const struct watcher *w)
{
	return __atomic_load_n(&w->ended, __ATOMIC_ACQUIRE) && w->err;
}

void watcher_counts(struct watcher *w, struct klind_metrics_row *row)
{
	row->name = w->conf.name;
	pthread_mutex_lock(&w->lock);
	row->counts = w->counts;
	pthread_mutex_unlock(&w->lock);
}

void watcher_top(struct watcher *w, struct top_row *row)
{
	const struct klind_counts *c = &w->counts;

	*row = (struct top_row){ 0 };
	snprintf(row->name, sizeof(row->name), "%s", w->conf.name);
	pthread_mutex_lock(&w->lock);
	snprintf(row->reason, sizeof(row->reason), "%s", w->reason);
	row->up = c->up;
	row->verdict = c->verdict;
	row->c = (struct top_counts){
		.at = w->counted, .recorded = c->recorded, .checked = c->checked,
		.lost = c->lost + c->skipped + c->late, .missed = c->missed, .gaps = c->gaps,
		.violations = c->violations, .linearizable = c->parts[KL_LINEARIZABLE],
		.violated = c->parts[KL_VIOLATION], .unknown = c->parts[KL_UNKNOWN],
		.waiting = c->waiting, .lag_ns = c->lag_ns, .bytes = c->bytes,
	};
	pthread_mutex_unlock(&w->lock);
}

int watcher_story(struct watcher *w, const char *name, char **story)
{
	const char *none = "No report has been written yet.";
	int ret = 0;

	if (strcmp(w->conf.name, name))
		return 0;
	if (!w->reporter)
		none = "Add `reports = DIRECTORY' to [klind] for the story.";
	pthread_mutex_lock(&w->lock);
	/* The story may be of an earlier violation than the last one, which comes first. */
	if (*w->found && asprintf(story, "Last: %s\n\n%s", w->found, w->story ?: none) < 0) {
		*story = NULL;
		ret = -ENOMEM;
	}
	pthread_mutex_unlock(&w->lock);
	return ret;
}

void watcher_verdict(struct watcher *w, char *buf, size_t size)
{
	pthread_mutex_lock(&w->lock);
	snprintf(buf, size, "%s%s%s%s, %" PRIu64 " operations checked, %" PRIu64 " violations, %"
		 PRIu64 " gaps", kl_verdict_name(w->counts.verdict), *w->reason ? " (" : "",
		 w->reason, *w->reason ? ")" : "", w->counts.checked, w->counts.violations,
		 w->counts.gaps);
	pthread_mutex_unlock(&w->lock);
}

void watcher_free(struct watcher *w)
{
	if (!w)
		return;
	watcher_stop(w);
	watcher_join(w);
	/* Queued reports use the specification. */
	if (w->reporter)
		reporter_drain(w->reporter);
	feed_free(w->feed);
	flight_free(w->flight);
	shed_free(w->shed);
	kl_recorder_free(w->r);
	kl_spec_free(w->spec);
	pthread_mutex_destroy(&w->lock);
	free(w->conf.name);
	free(w->conf.file);
	free(w->conf.debug);
	free(w->story);
	free(w);
}
