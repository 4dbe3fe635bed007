// SPDX-License-Identifier: GPL-2.0
/* klin monitor: record a running kernel, and check while recording. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/err.h"
#include "klin/certify.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/monitor_top.h"
#include "klin/output.h"
#include "klin/recording.h"
#include "klin/session.h"

enum {
	OPT_JSON = 256, OPT_OUTPUT, OPT_SHOW, OPT_NO_DIAGRAM, OPT_FULL, OPT_COLOR, OPT_MEMORY_MODEL,
	OPT_BYTES, OPT_TOP, OPT_CERT,
};

struct monitor_args {
	struct recording rec;	/* input of the child parser */
	struct session_style style;
	bool top;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct monitor_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->rec;
		break;
	case OPT_OUTPUT:
		a->style.output = kl_arg_output(state, arg);
		break;
	case OPT_JSON:
		a->style.output = KL_OUTPUT_JSON;
		break;
	case OPT_SHOW:
		a->style.show = kl_arg_number(state, "show", arg, 0, 1u << 20);
		break;
	case OPT_NO_DIAGRAM:
		a->style.no_diagram = true;
		break;
	case OPT_FULL:
		a->style.full = true;
		break;
	case OPT_COLOR:
		a->style.colour = kl_arg_colour(state, arg);
		break;
	case OPT_CERT:
		a->style.certificate = arg;
		break;
	case OPT_TOP:
		a->top = true;
		break;
	case OPT_BYTES:
		a->style.bytes = kl_arg_mib(state, "memory-limit", arg);
		break;
	case OPT_MEMORY_MODEL:
		a->style.classical = kl_arg_sc(state, arg);
		a->style.memory_by = KL_MEMORY_BY_COMMAND;
		break;
	case ARGP_KEY_END:
		if (a->style.certificate)
			certify_arg(state, a->style.certificate, a->rec.spec);
		if (a->rec.opts.others)
			argp_error(state,
				   "--pid and --cpu: only a whole recording shows which "
				   "objects others use; use `klin record', then `klin check'");
		if (a->top && a->style.output)
			argp_error(state, "--top and --output exclude each other");
		if (a->top && a->rec.command)
			argp_error(state, "--top: COMMAND would write to the screen; run it in "
				   "another terminal");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "output", OPT_OUTPUT, "FORM", 0, KLIN_OUTPUT ".  Both are printed at the end", 0 },
	{ "json", OPT_JSON, NULL, 0,
	  "The same as --output=json: JSON objects, one a line: each violation, and the "
	  "verdict at the end",
	  0 },
	{ "certificate", OPT_CERT, "FILE", 0,
	  "Write a proof of the first violation to FILE, which `klin replay' can check, and its "
	  "operations to FILE.klh; without a violation both are left as they are",
	  0 },
	{ "show", OPT_SHOW, "N", 0, "Number of counterexamples to show (default 1)", 0 },
	{ "no-diagram", OPT_NO_DIAGRAM, NULL, 0, "Omit the time diagram", 0 },
	{ "full", OPT_FULL, NULL, 0, KLIN_FULL, 0 },
	{ "color", OPT_COLOR, "WHEN", 0, KLIN_COLOR, 0 },
	{ "top", OPT_TOP, NULL, 0,
	  "Show rates, lag, losses, the verdict, and on a key the last violation on a screen, as "
	  "`klin top' does.  Violations are printed at the end",
	  0 },
	{ "memory-model", OPT_MEMORY_MODEL, "MODEL", 0,
	  "tso (default) or sc, as in `klin "
	  "check'",
	  0 },
	{ "memory-limit", OPT_BYTES, "MIB", 0, "Bound of the memory for states (default 1024)", 0 },
	{ 0 }
};

static char *help_filter(int key, const char *text, void *input)
{
	return recording_help(key, text,
			      "  # Watch the running kernel for an hour.\n"
			      "  klin monitor port_range --duration 3600\n"
			      "  # Watch a load of klin.ko.\n"
			      "  klin monitor lock --load subject=ticket,ops=1000000\n"
			      "  # Watch while a command runs.\n"
			      "  klin monitor port_range -- ./my-test\n\n"
			      "Exit status: 0 linearizable, 1 violation, 2 usage or input, 3 "
			      "unknown, 4 the system refused, or COMMAND failed.\n");
}

static const struct argp_child children[] = { { &recording_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "SPEC [-- COMMAND...]",
	.doc = "Record the operations of a running kernel by SPEC's probe clauses, and check "
	       "them at once, in bounded memory.  No history is written, except by "
	       "--certificate.\v ",
	.help_filter = help_filter,
};

struct monitor {
	struct kl_recorder *r;
	struct session *s;
	struct monitor_top *top;	/* NULL without --top */
};

static int poll_monitor(void *ctx)
{
	struct monitor *m = ctx;
	uint64_t floor;
	int err = kl_recorder_follow(m->r, &floor);
	const uint64_t *over;
	size_t n;

	over = kl_recorder_over(m->r, &n);
	if (!err && floor)
		err = session_add(m->s, kl_recorder_history(m->r)) ?:
		      session_floor(m->s, floor) ?: session_over(m->s, over, n);
	if (err || !m->top) {
		session_progress(m->s);
		return err;
	}
	err = monitor_top_work(m->top, m->s, m->r);
	/* As Ctrl-C does, which ends the recording in order. */
	if (err > 0)
		raise(SIGINT);
	return err < 0 ? err : 0;
}

static int monitor(struct monitor_args *a, struct monitor *m, struct kl_load *load, int *code)
{
	int err, stop_err = 0;

	err = kl_recorder_attach(m->r);
	if (err)
		return err;
	kl_recorder_show(m->r, stderr);
	err = m->top ? monitor_top_open(m->top) : 0;
	if (err)
		return err;
	err = recording_run(&a->rec, m->r, load, poll_monitor, m);
	if (load)
		stop_err = load->ops->stop(load);
	if (!err)
		err = kl_recorder_follow_end(m->r);
	if (!err)
		err = session_add(m->s, kl_recorder_history(m->r));
	/* The end may still find violations. */
	if (!err && m->top)
		err = session_floor(m->s, KL_TIME_MAX);
	monitor_top_close(m->top);
	if (load && load->ops->report && !stop_err)
		load->ops->report(load, stderr);
	if (err)
		return err;
	*code = session_end(m->s, true);
	return stop_err;
}

static int cmd_monitor(int argc, char **argv)
{
	struct monitor_args a = { .style = { .show = 1, .bytes = 1ull << 30 } };
	struct monitor m = { 0 };
	struct kl_load *load = NULL;
	struct kl_spec *spec = NULL;
	int err, code = KLIN_EXIT_OK;

	recording_init(&a.rec);
	err = kl_args(&argp, argc, argv, ARGP_IN_ORDER, &a);
	if (err)
		return err;
	if (a.rec.opts.clock != KL_CLOCK_MONO) {
		kl_err("--clock: expected mono, whose times bound later operations; for other "
		       "clocks use `klin record', then `klin check'");
		return KLIN_EXIT_USAGE;
	}
	a.style.name = a.rec.spec;
	err = recording_open(&a.rec, &spec, &load, &m.r);
	if (!err && a.top) {
		m.top = monitor_top_new(kl_spec_name(spec), a.style.colour, &a.style.out);
		err = m.top ? 0 : -ENOMEM;
	}
	if (!err) {
		m.s = session_new(spec, kl_recorder_history(m.r), &a.style);
		err = m.s ? monitor(&a, &m, load, &code) : -ENOMEM;
	}
	if (err == -ENOMEM)
		kl_err("out of memory");
	session_free(m.s);
	monitor_top_free(m.top);
	kl_recorder_free(m.r);
	if (load)
		load->ops->free(load);
	kl_spec_free(spec);
	if (!err && code == KLIN_EXIT_OK && a.rec.command_failed)
		return KLIN_EXIT_SYSTEM;
	return err ? recording_exit_code(err) : code;
}

KL_COMMAND("monitor", cmd_monitor, "record a running kernel, and check while recording");
