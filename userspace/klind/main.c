// SPDX-License-Identifier: GPL-2.0
/* klind: a daemon that watches structures of the running kernel. */
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/shipped.h"
#include "history/wrong_file.h"
#include "klin/cmd.h"
#include "klind/advise.h"
#include "klind/conf.h"
#include "klind/confine.h"
#include "klind/journal.h"
#include "klind/metrics.h"
#include "klind/notify.h"
#include "klind/reports.h"
#include "klind/socket.h"
#include "klind/trust.h"
#include "klind/watcher.h"
#include "record/attach/features.h"
#include "record/record.h"
#include "report/build.h"
#include "report/json_value.h"
#include "spec/spec.h"
#include "top/wire.h"

#define CONFIG "/etc/klin/klind.conf"

static void put_version(FILE *f, struct argp_state *state)
{
	kl_put_build(f, "klind");
	kl_put_features(f);
}

struct args {
	const char *config;
	bool check;
};

struct daemon {
	const char *path;
	struct klind_conf *conf;
	struct reporter *reporter;
	struct watcher **watchers;	/* in the order of the configuration */
	size_t n;			/* number of watchers */
	bool metrics_failed;		/* the last write of metrics failed, and this was logged */
	struct klind_socket *socket;	/* socket that serves metrics, or NULL */
	bool confined;			/* the privileges of attaching are dropped */
};

static const struct argp_option options[] = {
	{ "config", 'c', "FILE", 0, "Read this configuration (" CONFIG ")", 0 },
	{ "check-config", 'n', NULL, 0, "Check the configuration and its specifications, and exit",
	  0 },
	{ "verbose", 'v', NULL, 0, "Print more, including messages of libbpf and the verifier", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'c':
		a->config = arg;
		break;
	case 'n':
		a->check = true;
		break;
	case 'v':
		kl_log_level = KL_LOG_DEBUG;
		break;
	case ARGP_KEY_ARG:
		argp_error(state,
			   "'%s': no arguments expected; --config=FILE names the "
			   "configuration",
			   arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Watch structures of the running kernel: record their operations, check them while "
	       "they run, in bounded memory, and write a report of each violation.\v"
	       "SIGHUP reads the configuration again.  SIGUSR1 writes a report of each structure "
	       "with its last operations.  SIGTERM or SIGINT ends klind.  At the start, a "
	       "structure that cannot be watched, since this kernel lacks a function that its "
	       "specification names, is left out: klind logs an error, and its metric klin_up "
	       "is 0.  If none can be watched, klind ends; tracefs and debugfs must be "
	       "mounted.  A file of metrics that cannot be written is an error in the log, and "
	       "klind tries again after metrics-interval.\n\n"
	       "The socket that metrics-socket names answers HTTP requests.  GET /top is answered "
	       "by the counters of at most 1000 structures as JSON; GET /top/NAME by the last "
	       "story of the structure NAME, of at most 16 KiB; GET with any other path by "
	       "metrics in Prometheus' text format.  `klin top' shows the first two on a "
	       "terminal.\n\n"
	       "Exit status: 0 ended by a signal, 2 usage or configuration, 4 the system "
	       "refused.\n\n"
	       "Examples:\n"
	       "  # Check the configuration before a restart.\n"
	       "  klind --check-config\n"
	       "  # Run in the foreground with another configuration.\n"
	       "  klind --verbose --config=./klind.conf\n"
	       "  # Ask for the counters as JSON.\n"
	       "  curl --unix-socket /run/klin/metrics http://klind/top",
};

static int check_specs(const struct klind_conf *c)
{
	char hint[KL_FILE_HINT];
	size_t i;
	int ret = 0, err;

	for (i = 0; i < c->nwatch && (!ret || ret == -EINVAL); i++) {
		const struct klind_watch_conf *w = &c->watch[i];
		struct kl_spec *spec = NULL;
		const char *hidden;

		if (!kl_shipped_text(w->file) && access(w->file, R_OK)) {
			err = -errno;
			hidden = klind_hidden_hint(w->file);
			kl_err_at(c->path, w->file_line, 0,
				  "[spec %s]: cannot read specification '%s': %s%s", w->name,
				  w->file, strerror(-err),
				  *hidden ? hidden : kl_spec_hint(w->file, err, hint));
			ret = kl_ending_input(err);
			continue;
		}
		err = kl_spec_load(w->file, &spec);
		if (err) {
			kl_err_at(c->path, w->file_line, 0,
				  "[spec %s]: cannot load specification '%s'", w->name, w->file);
			ret = kl_ending_input(err);
		} else if (!kl_spec_nprobes(spec)) {
			kl_err_at(c->path, w->file_line, 0,
				  "[spec %s]: '%s' has no probe clauses; choose a specification "
				  "that has some",
				  w->name, w->file);
			ret = -EINVAL;
		}
		kl_spec_free(spec);
	}
	return ret;
}

static int read_conf(const char *path, struct klind_conf **out)
{
	int ret = klind_trust_file(path);

	if (!ret)
		ret = klind_conf_read(path, out);
	if (!ret && (*out)->reports)
		ret = klind_trust_directory((*out)->reports);
	if (!ret)
		ret = check_specs(*out);
	if (ret) {
		klind_conf_free(*out);
		*out = NULL;
	}
	return ret;
}

/* Return: the number of rows, also of structures that are left out; or -ENOMEM. */
static int all_counts(const struct daemon *d, struct klind_metrics_row **rows)
{
	size_t i, n = d->n + d->conf->nleft_out;

	*rows = calloc(n + 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (i = 0; i < d->n; i++)
		watcher_counts(d->watchers[i], &(*rows)[i]);
	for (; i < n; i++)
		(*rows)[i] = (struct klind_metrics_row){
			.name = d->conf->watch[i].name, .counts.verdict = KL_UNKNOWN,
		};
	return n;
}

static int print_metrics(FILE *f, const struct daemon *d)
{
	struct klind_metrics_row *rows;
	int n = all_counts(d, &rows);

	if (n >= 0)
		klind_metrics_print(f, rows, n);
	free(rows);
	return n < 0 ? n : 0;
}

/* Print the counters of all structures, also of those left out, for `klin top'. */
static int print_top(FILE *f, const struct daemon *d)
{
	const size_t n = d->n + d->conf->nleft_out;
	struct top_row *rows = calloc(n + 1, sizeof(*rows));
	size_t i;
	int ret = -ENOMEM;

	if (!rows)
		return ret;
	for (i = 0; i < d->n; i++)
		watcher_top(d->watchers[i], &rows[i]);
	for (; i < n; i++) {
		rows[i].verdict = KL_UNKNOWN;
		snprintf(rows[i].name, sizeof(rows[i].name), "%s", d->conf->watch[i].name);
		snprintf(rows[i].reason, sizeof(rows[i].reason),
			 "the probes could not be attached; "
			 "the log of klind says why");
	}
	ret = kl_json_put(f, top_rows_json(rows, n), JSON_COMPACT | JSON_PRESERVE_ORDER);
	free(rows);
	return ret;
}

/* Print the last story of the structure @name for `klin top'. */
static int print_story(FILE *f, const struct daemon *d, const char *name)
{
	char *story = NULL;
	json_t *j;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && !story && i < d->n; i++)
		ret = watcher_story(d->watchers[i], name, &story);
	if (ret)
		return ret;
	j = top_story_json(name, story);
	free(story);
	return kl_json_put(f, j, JSON_COMPACT | JSON_PRESERVE_ORDER);
}

static int print_answer(FILE *f, const char *path, void *ctx)
{
	const struct daemon *d = ctx;

	if (!klind_socket_json(path))
		return print_metrics(f, d);
	path += strlen(TOP_PATH);
	return *path ? print_story(f, d, path + 1) : print_top(f, d);
}

/* Write the file of metrics.  klind goes on without it: the first failure is logged. */
static void write_metrics(struct daemon *d)
{
	struct klind_metrics_row *rows;
	int ret;

	if (!d->conf->metrics)
		return;
	ret = all_counts(d, &rows);
	if (ret >= 0)
		ret = klind_metrics_write(d->conf->metrics, rows, ret);
	free(rows);
	if (ret && !d->metrics_failed)
		kl_err("cannot write metrics to %s: %s: klind goes on without this file%s",
		       d->conf->metrics, strerror(-ret), klind_metrics_hint(ret, d->confined));
	d->metrics_failed = ret;
}

/* Attach the probes of a structure.  Return: 0 or a negative errno after a message. */
static int new_watcher(const struct daemon *d, const struct klind_conf *c, size_t i,
		       struct watcher **out)
{
	const struct klind_watch_conf *w = &c->watch[i];
	int ret;

	if (d->confined) {
		kl_err_at(c->path, w->line, 0, "[spec %s]: klind has dropped the privileges that "
			  "attaching needs: restart klind to watch this structure, or set "
			  "`drop-privileges = no' and restart it once", w->name);
		return -EINVAL;
	}
	ret = watcher_new(w, d->reporter, c->report_ns, out);
	if (ret)
		kl_err_at(c->path, w->line, 0, "[spec %s]: cannot watch this structure", w->name);
	return ret;
}

/* The attached watchers of an array, in which NULL stands for none. */
struct attached {
	struct watcher **w;
	size_t n;
	int ret;
};

/* Find out in a thread of its own, which keeps no privileges, whether watching needs none. */
static void *try_without(void *arg)
{
	struct attached *a = arg;
	size_t i;

	a->ret = klind_drop_capabilities();
	for (i = 0; !a->ret && i < a->n; i++)
		a->ret = watcher_readable(a->w[i]);
	return NULL;
}

/*
 * Prepare the first watchers, attached but not started, for going on without privileges.  An old
 * kernel shows its counts of misses to privileged processes only; then klind keeps its privileges.
 *
 * Return: 0, -ENOMEM, or another negative errno after a message.
 */
static int prepare_drop(struct daemon *d, struct watcher **w, size_t n)
{
	struct attached a = { .w = w, .n = n };
	pthread_t thread;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < n; i++)
		ret = watcher_read_ahead(w[i]);
	if (ret)
		return ret;
	ret = -pthread_create(&thread, NULL, try_without, &a);
	if (ret) {
		kl_err("cannot start a thread: %s", strerror(-ret));
		return ret;
	}
	pthread_join(thread, NULL);
	if (a.ret) {
		kl_warn("this kernel does not let klind go on without privileges: %s: klind keeps "
			"them; `drop-privileges = no' avoids this message", strerror(-a.ret));
		return 0;
	}
	for (i = 0; i < n; i++)
		watcher_confine(w[i], klind_confine);
	if (d->reporter)
		reporter_confine(d->reporter, klind_confine);
	d->confined = true;
	return 0;
}

/* Start the watchers that @made marks.  Return: 0 or a negative errno. */
static int start_watchers(const struct klind_conf *c, struct watcher **w, const bool *made)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < c->nwatch; i++) {
		if (!made[i])
			continue;
		ret = watcher_start(w[i]);
		if (!ret)
			kl_info("%s: watched", c->watch[i].name);
		else
			kl_err("%s: cannot start a thread: %s", c->watch[i].name, strerror(-ret));
	}
	return ret;
}

/* Stop all watchers first and then wait for them; log their verdicts. */
static void end_watchers(struct watcher **w, size_t n)
{
	struct klind_metrics_row row;
	char verdict[400];
	size_t i;

	for (i = 0; i < n; i++)
		watcher_stop(w[i]);
	for (i = 0; i < n; i++) {
		watcher_join(w[i]);
		watcher_counts(w[i], &row);
		watcher_verdict(w[i], verdict, sizeof(verdict));
		klind_log(KL_LOG_INFO, &(struct klind_entry){
				.event = KLIND_END, .spec = row.name,
				.verdict = kl_verdict_name(row.counts.verdict),
			  }, "%s: ended: %s", row.name, verdict);
	}
}

static void free_watchers(struct watcher **w, size_t n)
{
	while (n)
		watcher_free(w[--n]);
	free(w);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Remove from @old a watcher that runs and is configured as @c.  Return: the watcher, or NULL. */
static struct watcher *take_same(struct watcher **old, size_t n, const struct klind_watch_conf *c)
{
	struct watcher *w;
	size_t i;

	for (i = 0; i < n; i++) {
		w = old[i];
		if (!w || watcher_failed(w) || !watcher_same(w, c))
			continue;
		old[i] = NULL;
		return w;
	}
	return NULL;
}

/*
 * Attach the probes of all structures of a new configuration.  At the start, a structure that
 * cannot be watched, as after an update of the kernel, does not keep klind from watching others.
 */
static int new_watchers(struct daemon *d, struct klind_conf *c, struct watcher **old,
			struct watcher **new, bool *made)
{
	size_t i = 0;
	int ret = 0;

	while ((!ret || !d->conf) && ret != -ENOMEM && i < c->nwatch) {
		int err = 0;

		new[i] = take_same(old, d->n, &c->watch[i]);
		made[i] = !new[i];
		if (made[i])
			err = new_watcher(d, c, i, &new[i]);
		if (err && !d->conf && err != -ENOMEM)
			klind_conf_leave_out(c, i);
		else
			i++;
		ret = err ? err : ret;
	}
	if (d->conf || ret == -ENOMEM || !c->nwatch)
		return ret;
	if (c->nleft_out)
		kl_err("%s: klind watches only %zu of %zu structures", c->path, c->nwatch,
		       c->nwatch + c->nleft_out);
	return 0;
}

/*
 * Apply a configuration.  Watchers whose configuration is the same go on, the others are ended.
 * On failure all old watchers go on, and the caller still owns @c.
 *
 * Return: 0 or a negative errno.
 */
static int apply(struct daemon *d, struct klind_conf *c)
{
	struct watcher **new = calloc(c->nwatch + 1, sizeof(*new));
	struct watcher **old = calloc(d->n + 1, sizeof(*old));
	bool *made = calloc(c->nwatch + 1, sizeof(*made));
	size_t i, n = 0;
	int ret = new && old && made ? 0 : -ENOMEM;

	for (i = 0; !ret && i < d->n; i++)
		old[i] = d->watchers[i];
	if (!ret)
		ret = new_watchers(d, c, old, new, made);
	if (!ret && c->drop && !d->conf)
		ret = prepare_drop(d, new, c->nwatch);
	if (!ret)
		ret = start_watchers(c, new, made);
	if (ret) {
		for (i = 0; new && made && i < c->nwatch; i++)
			if (made[i])
				watcher_free(new[i]);
		free(new);
		free(old);
	} else {
		for (i = 0; i < d->n; i++)
			if (old[i])
				old[n++] = old[i];
		end_watchers(old, n);
		free_watchers(old, n);
		free(d->watchers);
		d->watchers = new;
		d->n = c->nwatch;
		klind_conf_free(d->conf);
		d->conf = c;
	}
	free(made);
	return ret;
}

static int open_socket(struct daemon *d, const struct klind_conf *c, struct klind_socket **out)
{
	*out = NULL;
	return c->socket ? klind_socket_open(c->socket, print_answer, d, out) : 0;
}

static void reload(struct daemon *d)
{
	const struct klind_conf *old = d->conf;
	struct klind_socket *socket = d->socket;
	struct klind_conf *c = NULL;
	int ret = read_conf(d->path, &c);

	if (!ret && (!same_text(c->reports, old->reports) || c->keep != old->keep ||
		     c->keep_bytes != old->keep_bytes || c->report_ns != old->report_ns ||
		     c->drop != old->drop)) {
		kl_err("%s: reports, keep-reports, keep-bytes, report-interval and drop-privileges "
		       "cannot change while klind runs; restart klind", d->path);
		ret = -EINVAL;
	}
	/* Open the socket anew also if its file was removed. */
	if (!ret && (!same_text(c->socket, old->socket) ||
		     (socket && !klind_socket_there(socket))))
		ret = open_socket(d, c, &socket);
	if (!ret) {
		ret = apply(d, c);
		if (socket != d->socket) {
			klind_socket_close(ret ? socket : d->socket);
			d->socket = ret ? d->socket : socket;
		}
	}
	if (ret) {
		klind_conf_free(c);
		kl_err("%s: the configuration is refused; klind continues with the previous one",
		       d->path);
		return;
	}
	kl_info("%s: configuration read again", d->path);
}

static void request_reports(struct daemon *d)
{
	size_t i;

	if (!d->reporter)
		kl_err("%s: no directory for reports; add `reports = DIRECTORY' to [klind]",
		       d->path);
	for (i = 0; d->reporter && i < d->n; i++)
		watcher_request(d->watchers[i]);
}

static bool any_left(const struct daemon *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (!watcher_failed(d->watchers[i]))
			return true;
	return false;
}

/* Wait for a signal until @time, and serve clients meanwhile.  Return: the signal, or 0. */
static int wait_until(struct daemon *d, int signals, uint64_t time)
{
	struct pollfd p[2] = { { .fd = signals, .events = POLLIN }, { .fd = -1 } };
	uint64_t now = kl_now_ns(), until = UINT64_MAX;
	struct signalfd_siginfo info;

	if (d->socket)
		until = klind_socket_poll(d->socket, &p[1]);
	if (until > time)
		until = time;
	/* Round up: otherwise poll() would end early, and the caller would spin until @time. */
	poll(p, 2, until > now ? (until - now + 999999) / 1000000 : 0);
	if (d->socket)
		klind_socket_work(d->socket, kl_now_ns());
	return read(signals, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

/* Serve signals and clients.  Return: 0 after SIGTERM or SIGINT; -EIO if all watchers failed. */
static int serve(struct daemon *d, int signals)
{
	uint64_t due = kl_now_ns() + d->conf->metrics_ns;
	int sig;

	for (;;) {
		sig = wait_until(d, signals, due);
		if (sig == SIGTERM || sig == SIGINT)
			return 0;
		if (sig == SIGHUP) {
			klind_notify("RELOADING=1");
			reload(d);
			klind_notify("READY=1");
		}
		if (sig == SIGUSR1)
			request_reports(d);
		if (!sig && kl_now_ns() < due)
			continue;
		write_metrics(d);
		due = kl_now_ns() + d->conf->metrics_ns;
		if (!any_left(d)) {
			kl_err("no structure is watched any longer, because all watchers failed");
			return -EIO;
		}
	}
}

static void log_begin(const struct daemon *d)
{
	klind_log(KL_LOG_INFO, &(struct klind_entry){ .event = KLIND_START },
		  "watching %zu structure%s, %s privileges", d->n, d->n == 1 ? "" : "s",
		  d->confined ? "without" : "with");
}

static int run(struct daemon *d)
{
	struct klind_conf *c = NULL;
	sigset_t set;
	int ret, signals;

	/* Block signals before any thread starts, so that only the signalfd gets them. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (signals < 0) {
		kl_err("cannot create a signalfd: %s", strerror(errno));
		return -EIO;
	}
	ret = read_conf(d->path, &c);
	if (!ret && c->drop)
		klind_confine_prepare();
	if (!ret && c->reports)
		ret = reporter_new(c->reports, c->keep, c->keep_bytes, &d->reporter);
	if (!ret)
		ret = open_socket(d, c, &d->socket);
	if (!ret)
		ret = apply(d, c);
	if (ret) {
		klind_conf_free(c);
		goto out;
	}
	/* After a warning klind goes on, and says that it has its privileges. */
	if (d->confined && klind_confine())
		d->confined = false;
	write_metrics(d);
	klind_notify("READY=1");
	log_begin(d);
	ret = serve(d, signals);
	klind_notify("STOPPING=1");
	end_watchers(d->watchers, d->n);
	if (d->reporter)
		reporter_drain(d->reporter);
	write_metrics(d);
	klind_log(KL_LOG_INFO, &(struct klind_entry){ .event = KLIND_STOP }, "ended");
out:
	klind_socket_close(d->socket);
	close(signals);
	return ret;
}

int main(int argc, char **argv)
{
	struct args a = { .config = CONFIG };
	struct daemon d = { 0 };
	struct klind_conf *c = NULL;
	int ret;

	kl_ending_guard();
	kl_args_look = kl_args_suggest;
	argp_program_version_hook = put_version;
	setlocale(LC_CTYPE, "");
	kl_log_level = KL_LOG_INFO;
	kl_log_name = "klind";
	klind_journal_open(KLIND_JOURNAL);
	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return kl_ending(ret);
	d.path = a.config;
	if (a.check) {
		ret = read_conf(a.config, &c);
		if (!ret)
			printf("%s: %zu structure%s; klind finds out at its start whether this "
			       "kernel has what %s name%s\n", a.config, c->nwatch,
			       c->nwatch == 1 ? "" : "s", c->nwatch == 1 ? "it" : "they",
			       c->nwatch == 1 ? "s" : "");
		if (!ret)
			klind_advise(c);
		klind_conf_free(c);
	} else {
		ret = run(&d);
	}
	if (ret == -ENOMEM)
		kl_err("out of memory");
	free_watchers(d.watchers, d.n);
	reporter_free(d.reporter);
	klind_conf_free(d.conf);
	klind_confine_free();
	klind_journal_close();
	return kl_ending(!ret ? KLIN_EXIT_OK : ret == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM);
}
