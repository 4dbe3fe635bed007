// SPDX-License-Identifier: GPL-2.0
/* klin record: attach, run a load, write the history. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/args.h"
#include "base/err.h"
#include "base/outfile.h"
#include "base/path.h"
#include "check/apart.h"
#include "klin/cmd.h"
#include "klin/out_file.h"
#include "klin/recording.h"

struct record_args {
	struct recording rec;	/* input of the child parser */
	const char *output;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->rec;
		break;
	case 'o':
		a->output = arg;
		break;
	case ARGP_KEY_END:
		kl_arg_keep(state, "output", a->output, a->rec.spec);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write the history to FILE, as text if FILE ends in .txt, else "
	  "as .klh (default: the name of SPEC, with .klh)",
	  0 },
	{ 0 }
};

static const struct argp_child children[] = { { &recording_argp, 0, NULL, 0 }, { 0 } };

static char *help_filter(int key, const char *text, void *input)
{
	return recording_help(key, text,
			      "  # Record a load of klin.ko.\n"
			      "  klin record seqlock --load subject=seqlock,ops=1000000\n"
			      "  # Record a load of user space.\n"
			      "  klin record port_range --load "
			      "user:port_range,seconds=5\n"
			      "  # Record while a command runs.\n"
			      "  klin record port_range -- ./my-test\n"
			      "  # Record for ten seconds, into a file of that name.\n"
			      "  klin record -o run.klh --duration 10 port_range\n\n"
			      "Exit status: 0 the history is written, 2 usage or input, 4 the "
			      "system refused,\nor COMMAND failed.\n");
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "SPEC [-- COMMAND...]",
	.doc = "Record the operations of a running kernel by SPEC's probe clauses.  klin "
	       "reports where it is attached when all is set, and then starts COMMAND or the load "
	       "of --load.  A load that is started by hand before this report comes too early.\v ",
	.help_filter = help_filter,
};

/*
 * Return: the name of the spec's file with .klh in place of .lin, to be freed by free(), or NULL
 * when out of memory.
 */
static char *default_output(const char *spec)
{
	const char *base = kl_last_part(spec);
	char *name = NULL;

	if (asprintf(&name, "%.*s.klh", (int)kl_stem(base, ".lin"), base) < 0)
		return NULL;
	return name;
}

/*
 * Write the history.  Only its owner can read the file, since a history has addresses in the
 * kernel.
 */
static int write_history(const struct kl_history *h, const char *path)
{
	const mode_t before = umask(S_IRWXG | S_IRWXO);
	size_t len = strlen(path);
	struct kl_outfile out;
	int err;

	if (strcmp(path, "-") && (len < 4 || strcmp(path + len - 4, ".txt"))) {
		err = kl_klh_write(h, path);
	} else {
		err = kl_outfile_open(&out, path);
		if (!err) {
			err = kl_text_write(h, out.f);
			if (err)
				kl_outfile_abort(&out);
			else
				err = kl_outfile_commit(&out);
		}
	}
	umask(before);
	if (err)
		kl_cannot_write(path, err);
	return err;
}

static void summary(FILE *f, const struct kl_recorder *r, const struct kl_history *h,
		    const struct kl_record_stats *s, const char *output)
{
	double seconds = (s->end - s->begin) / 1e9;

	fprintf(f, "%llu operations in %.2f s (%.0f/s), %.0f bytes each in the buffers\n",
		(unsigned long long)s->ops, seconds, seconds > 0 ? s->ops / seconds : 0,
		s->received ? (double)s->bytes / s->received : 0.0);
	fprintf(f, "lost %llu, missed %llu, gaps %zu, pending %llu, without a call %llu, "
		"calls missed %llu\n",
		(unsigned long long)s->lost, (unsigned long long)s->missed, h->ngaps,
		(unsigned long long)s->pending, (unsigned long long)s->nocall,
		(unsigned long long)s->missed_calls);
	if (s->freed)
		fprintf(f, "%llu recorded objects were freed; what uses their memory later is "
			"another object\n", (unsigned long long)s->freed);
	if (s->ignored)
		fprintf(f,
			"(%llu calls by interrupts were not seen; these cannot have used the "
			"object)\n",
			(unsigned long long)s->ignored);
	if (s->lent)
		fprintf(f,
			"slots were lent %llu times, which drained the store buffer; a larger "
			"--slots avoids this\n",
			(unsigned long long)s->lent);
	if (s->shared)
		fprintf(f,
			"%llu of %zu objects were also used by others; their states are "
			"unknown\n",
			(unsigned long long)s->shared, h->nobjects);
	kl_recorder_show_clock(r, h, f);
	fprintf(f, "history: %s\n", output);
}

static int poll_recorder(void *r)
{
	return kl_recorder_poll(r);
}

/* Warn of a history from which nothing can be concluded.  Return: 0 or -ENOMEM. */
static int warn_useless(const char *path, const struct kl_spec *spec, const struct kl_history *h)
{
	const int apart = kl_reads_apart(spec, h);

	if (!h->nops)
		kl_warn("no operation was recorded: no function that '%s' names was called, or "
			"options filtered its calls out",
			path);
	if (apart > 0)
		kl_warn("no object has operations that write and operations that read, so no read "
			"can be wrong: does each `object' in '%s' name the same structure?",
			path);
	return apart < 0 ? apart : 0;
}

static int record(struct record_args *a, const struct kl_spec *spec, struct kl_recorder *r,
		  struct kl_load *load, const char *output)
{
	FILE *say = strcmp(output, "-") ? stdout : stderr;
	struct kl_record_stats stats;
	struct kl_history *h;
	int err, stop_err = 0;

	err = kl_recorder_attach(r);
	if (err)
		return err;
	kl_recorder_show(r, say);
	fflush(say);
	err = recording_run(&a->rec, r, load, poll_recorder, r);
	/*
	 * Stop the load before the probes are detached.  It is safest to patch code while no
	 * thread executes it.
	 */
	if (load)
		stop_err = load->ops->stop(load);
	if (!err)
		err = kl_recorder_stop(r, &h, &stats);
	if (load && load->ops->report && !stop_err)
		load->ops->report(load, say);
	if (err)
		return err;
	err = write_history(h, output);
	if (!err) {
		summary(say, r, h, &stats, output);
		err = warn_useless(a->rec.spec, spec, h);
	}
	kl_history_free(h);
	return err ? err : stop_err;
}

static int cmd_record(int argc, char **argv)
{
	struct kl_recorder *r = NULL;
	struct kl_load *load = NULL;
	struct kl_spec *spec = NULL;
	struct record_args a = { 0 };
	char *output = NULL;
	int err;

	recording_init(&a.rec);
	err = kl_args(&argp, argc, argv, ARGP_IN_ORDER, &a);
	if (err)
		return err;
	output = a.output ? strdup(a.output) : default_output(a.rec.spec);
	err = output ? recording_open(&a.rec, &spec, &load, &r) : -ENOMEM;
	if (!err)
		err = record(&a, spec, r, load, output);
	kl_recorder_free(r);
	if (load)
		load->ops->free(load);
	kl_spec_free(spec);
	free(output);
	return !err && a.rec.command_failed ? KLIN_EXIT_SYSTEM : recording_exit_code(err);
}

KL_COMMAND("record", cmd_record, "record a running kernel, by a spec's probe clauses");
