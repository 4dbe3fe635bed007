// SPDX-License-Identifier: GPL-2.0
/* What a verification found, as text and as JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/explored.h"
#include "report/json.h"
#include "report/verified.h"

const char *kl_verified_verdict(const struct kl_verified *v)
{
	if (v->run)
		return "VIOLATION";
	return v->verdict == KL_VF_VERIFIED ? "VERIFIED" :
	       v->verdict == KL_VF_MEMORY ? "UNKNOWN" : "NOT PROVED";
}

/* ---- text -------------------------------------------------------------------------------- */

/* Linearizability says nothing of them. */
static void print_deadlocks(FILE *f, const struct kl_verified *v, const struct kl_verify_stats *st)
{
	if (!st->waits)
		return;
	if (st->ordered_locks)
		fputs("No ring of locks: all operations take their locks in one order.\n", f);
	else if (!v->searched)
		fputs("Deadlocks were not looked for.\n", f);
	else
		fputs("Deadlocks: none with 2 threads of up to 2 operations; whether there are "
		      "others is not known: no order is seen in which all operations take their "
		      "locks, or one waits for something else.\n", f);
}

static int print_run(FILE *f, struct kl_explorer *run)
{
	struct kl_explore_stats st;
	int ret;

	kl_explore_stats(run, &st);
	fprintf(f, "A concrete run that goes wrong: %s; %u threads, %u steps ([n]: line n of the "
		"file):\n", kl_explore_message(run), st.threads, st.steps);
	ret = kl_explored_run(f, run);
	/* There is one, even if its steps are not found again. */
	if (ret != -EINVAL)
		return ret;
	fputs("The steps that follow were not found again.\n", f);
	return 0;
}

static int print_alarm(FILE *f, const struct kl_verified *v)
{
	fprintf(f, ": %s\n", kl_verify_message(v->x));
	if (v->trail) {
		fputs("The abstract run to it (n: a node, s: any number of nodes; each state "
		      "numbers nodes and threads anew):\n", f);
		kl_verify_print_trail(v->x, f);
	}
	if (v->run)
		return print_run(f, v->run);
	fputs(v->searched ? "No concrete run that goes wrong was found with 2 threads of up to 3 "
	      "and 3 of up to 2 operations.\n" : "No concrete run was looked for.\n", f);
	return 0;
}

int kl_verified_print(FILE *f, const struct kl_verified *v)
{
	struct kl_verify_stats st;
	int ret = 0;

	kl_verify_stats(v->x, &st);
	fprintf(f, "%s: %s: ", v->file, kl_verified_verdict(v));
	if (v->verdict == KL_VF_MEMORY)
		fprintf(f, "the bound on memory was reached after %llu abstract states\n",
			(unsigned long long)st.states);
	else if (st.threads)
		fprintf(f, "%u thread%s", st.threads, st.threads == 1 ? "" : "s");
	else
		fputs("any number of threads", f);
	if (v->verdict == KL_VF_ALARM) {
		ret = print_alarm(f, v);
	} else if (v->verdict == KL_VF_VERIFIED && v->run) {
		fputs(": linearizable, but it goes wrong\n", f);
		ret = print_run(f, v->run);
	} else if (v->verdict == KL_VF_VERIFIED) {
		fprintf(f, "%s, %llu abstract states\n", st.threads && st.any ?
			", as any number of threads" : "", (unsigned long long)st.states);
		print_deadlocks(f, v, &st);
	}
	if (v->stats)
		fprintf(f, "%llu states, %llu steps, %u rounds, %.1f MiB, %.3f s\n",
			(unsigned long long)st.states, (unsigned long long)st.steps, st.rounds,
			st.bytes / 1048576.0, st.seconds);
	return ret;
}

/* ---- JSON -------------------------------------------------------------------------------- */

static int add_trail(json_t *j, struct kl_verifier *x)
{
	char *text = NULL, *line, *rest = NULL;
	json_t *lines = json_array();
	size_t size;
	FILE *f = open_memstream(&text, &size);

	json_object_set_new(j, "trail", lines);
	if (!f)
		return -ENOMEM;
	kl_verify_print_trail(x, f);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(lines, kl_json_text(line));
	free(text);
	return 0;
}

static int add_run(json_t *j, struct kl_explorer *x)
{
	json_t *run = json_object();
	json_t *steps = json_array();
	int ret;

	json_object_set_new(j, "concrete", run);
	json_object_set_new(run, "message", kl_json_text(kl_explore_message(x)));
	json_object_set_new(run, "run", steps);
	ret = kl_explore_run(x, kl_json_add_step, steps);
	json_object_set_new(run, "whole", json_boolean(!ret));
	return ret == -EINVAL ? 0 : ret;
}

int kl_verified_json(FILE *f, const struct kl_verified *v)
{
	struct kl_verify_stats st;
	json_t *j = json_object();
	int ret = 0;

	kl_verify_stats(v->x, &st);
	json_object_set_new(j, "file", kl_json_text(v->file));
	json_object_set_new(j, "verdict", json_string(kl_verified_verdict(v)));
	json_object_set_new(j, "threads", st.threads ? json_integer(st.threads) :
			    json_string("any"));
	json_object_set_new(j, "as_any", json_boolean(st.any));
	json_object_set_new(j, "states", json_integer(st.states));
	json_object_set_new(j, "steps", json_integer(st.steps));
	json_object_set_new(j, "rounds", json_integer(st.rounds));
	json_object_set_new(j, "bytes", json_integer(st.bytes));
	json_object_set_new(j, "seconds", json_real(st.seconds));
	if (v->verdict == KL_VF_VERIFIED)
		json_object_set_new(j, "no_ring_of_locks",
				    json_boolean(!st.waits || st.ordered_locks));
	if (v->verdict == KL_VF_ALARM) {
		json_object_set_new(j, "message", kl_json_text(kl_verify_message(v->x)));
		if (v->trail)
			ret = add_trail(j, v->x);
	}
	json_object_set_new(j, "searched", json_boolean(v->searched));
	if (!ret && v->run)
		ret = add_run(j, v->run);
	if (!ret && json_dumpf(j, f, JSON_INDENT(2)))
		ret = -ENOMEM;
	if (!ret)
		fputc('\n', f);
	json_decref(j);
	return ret;
}
