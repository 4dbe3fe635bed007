// SPDX-License-Identifier: GPL-2.0
/* The result of `klin verify' as text and as JSON, see verified.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "report/explored.h"
#include "report/codes.h"
#include "report/envelope.h"
#include "report/json.h"
#include "report/run_brief.h"
#include "report/run_columns.h"
#include "report/run_story.h"
#include "report/verified.h"
#include "report/words.h"

static bool is_unknown(const struct kl_verified *v)
{
	return v->verdict == KL_VF_MEMORY || v->verdict == KL_VF_STOPPED;
}

const char *kl_verified_verdict(const struct kl_verified *v)
{
	if (v->run)
		return "VIOLATION";
	return v->verdict == KL_VF_VERIFIED ? "VERIFIED" : is_unknown(v) ? "UNKNOWN" : "NOT PROVED";
}

/* The reason for a verdict UNKNOWN. */
static const char *unknown_reason(const struct kl_verified *v)
{
	return v->verdict == KL_VF_STOPPED ? kl_verify_message(v->x) :
	       "the bound on memory was reached";
}

/* Return: the option that most likely settles a verdict UNKNOWN, without a full stop. */
static const char *advice(const struct kl_verified *v)
{
	return v->verdict == KL_VF_STOPPED ?
	       "Allow more time by --time-limit=SECONDS, or verify fewer threads (--roles)" :
	       "Allow more memory by --memory-limit=MIB, or verify fewer threads (--roles)";
}

/* Return: a sentence, without a full stop, on whether the alarm is a fault of the model. */
static const char *certainty(const struct kl_verified *v)
{
	return v->run ? "This is a definite failure: the concrete run shows it without any abstraction" :
	       "This may be the abstraction's imprecision: no concrete run shows a failure; for a "
	       "client of some threads, klin explore decides it";
}

/* ---- text -------------------------------------------------------------------------------- */

/*
 * Print @before, and the numbers of threads and operations up to which runs were searched.  Return:
 * false, and print nothing, if no search was complete.
 */
static bool print_bounds(FILE *f, const char *before, const struct kl_verify_search *s)
{
	unsigned int t, last = 0;

	for (t = 1; t <= KL_VF_THREADS; t++) {
		if (!s->ops[t])
			continue;
		if (last)
			fprintf(f, " and %u of up to %u", t, s->ops[t]);
		else
			fprintf(f, "%s with %u thread%s of up to %u", before, t, t == 1 ? "" : "s",
				s->ops[t]);
		last = s->ops[t];
	}
	if (last)
		fprintf(f, " operation%s", last == 1 ? "" : "s");
	return last;
}

static bool is_incomplete(const struct kl_verified *v)
{
	return v->search.no_memory || v->search.stopped || v->search.cannot;
}

/* Print whether deadlocks are excluded; linearizability does not exclude them. */
static void print_deadlocks(FILE *f, const struct kl_verified *v, const struct kl_verify_stats *st)
{
	if (!st->waits)
		return;
	if (st->ordered_locks)
		fputs("No deadlock: all operations take their locks in one order.\n", f);
	else if (!v->searched)
		fputs("Deadlocks: not known: there was no search for them.\n", f);
	else if (!print_bounds(f, "Deadlocks: none", &v->search))
		fprintf(f, "Deadlocks: not known: the search for them was incomplete: %s.\n",
			v->search.why);
	else
		fprintf(f,
			"%s%s; others are not excluded: the operations do not all take their locks "
			"in one known order, or an operation waits for something else.\n",
			is_incomplete(v) ? ", then " : "", v->search.why);
}

/* Print what a proof does not cover. */
static void print_limits(FILE *f, const struct kl_verified *v, const struct kl_verify_stats *st)
{
	if (st->keyed)
		fputs("Keys: all but 0 and ~0, the keys of the first and the last node.\n", f);
	print_deadlocks(f, v, st);
	if (v->search.cannot && (!st->waits || st->ordered_locks))
		fprintf(f, "The search of concrete runs was incomplete: %s.\n", v->search.why);
}

static int print_run_title(FILE *f, const void *result)
{
	const struct kl_verified *v = result;
	struct kl_explore_stats st;

	kl_explore_stats(v->run, &st);
	fprintf(f,
		"A concrete wrong run: %s; %u threads, %u steps ([n]: line n of the "
		"file):\n",
		kl_explore_message(v->run), st.threads, st.steps);
	return 0;
}

static int print_steps(FILE *f, const void *result)
{
	const struct kl_verified *v = result;
	const int ret = kl_print_run(f, v->run);

	/* The run exists even if its steps cannot all be shown. */
	if (ret != -ESTALE)
		return ret;
	fputs("The steps after these could not be repeated.\n", f);
	return 0;
}

/* Print the story of the concrete run.  The search of runs was on sequential consistency. */
static int print_run_story(FILE *f, const void *result)
{
	const struct kl_verified *v = result;

	return kl_run_story_print(f, v->run, true);
}

static int print_run(FILE *f, const struct kl_verified *v)
{
	return print_run_story(f, v) ?: print_run_title(f, v) ?: print_steps(f, v);
}

/* Print the verdict and what it is on, without the end of the line unless it is UNKNOWN. */
static void print_verdict(FILE *f, const struct kl_verified *v)
{
	struct kl_verify_stats st;

	kl_verify_stats(v->x, &st);
	fprintf(f, "%s: %s: ", v->file, kl_verified_verdict(v));
	if (is_unknown(v))
		fprintf(f,
			"%s after %llu abstract states and %llu steps in %u rounds, %llu states "
			"not yet followed\n",
			unknown_reason(v), (unsigned long long)st.states,
			(unsigned long long)st.steps, st.rounds, (unsigned long long)st.open);
	else if (st.threads)
		fprintf(f, "%u thread%s", st.threads, st.threads == 1 ? "" : "s");
	else
		fputs("any number of threads", f);
}

/* Print the memory model of the verdict.  A verdict on SC does not consider store buffers. */
static void print_model(FILE *f, const struct kl_verified *v)
{
	if (v->model == KL_EX_SAYS_SC)
		fputs("Memory model sc, as the model says.\n", f);
	else
		fputs("Memory model sc, but the model is for tso; klin explore checks it with "
		      "store buffers.\n",
		      f);
}

/* Set *@text to the @i-th sentence of the alarm's story, or to NULL after the last one. */
static int alarm_sentence(const struct kl_verified *v, unsigned int i, char **text)
{
	struct kl_memstream m;
	bool any;
	int ret = kl_memstream_open(&m);

	*text = NULL;
	if (ret)
		return ret;
	any = kl_verify_print_alarm(v->x, i, m.f);
	ret = kl_memstream_close(&m, text, NULL);
	if (!any) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

/* Print what is known of an alarm that no run shows. */
static int print_alarm_story(FILE *f, const void *result)
{
	const struct kl_verified *v = result;
	unsigned int i;
	char *text;
	int ret;

	fputc('\n', f);
	for (i = 0; ; i++) {
		ret = alarm_sentence(v, i, &text);
		if (!text)
			break;
		kl_put_sentence(f, i ? "  " : "What may be wrong:", text);
		free(text);
	}
	fputc('\n', f);
	return ret;
}

static int print_trail_title(FILE *f, const void *result)
{
	const struct kl_verified *v = result;

	if (v->trail)
		fputs("The abstract run to it (n: a node, s: any number of nodes; numbers of nodes "
		      "and threads hold in one state only):\n",
		      f);
	return 0;
}

static int print_trail(FILE *f, const void *result)
{
	const struct kl_verified *v = result;

	if (v->trail)
		kl_verify_print_trail(v->x, f);
	return 0;
}

/* Print what the search for a concrete run says of an alarm that no run shows. */
static int print_search(FILE *f, const void *result)
{
	const struct kl_verified *v = result;

	if (!v->searched)
		fputs("There was no search for a concrete wrong run.\n", f);
	else if (!print_bounds(f, "No concrete wrong run was found", &v->search))
		fprintf(f, "The search for a concrete wrong run was incomplete: %s.\n",
			v->search.why);
	else
		fprintf(f, "%s%s.\n", is_incomplete(v) ? ", then " : "", v->search.why);
	return 0;
}

/* Print the verdict on an alarm, and how certain it is. */
static int print_alarm_head(FILE *f, const void *result)
{
	const struct kl_verified *v = result;

	print_verdict(f, v);
	fprintf(f, ": %s\n", kl_verify_message(v->x));
	kl_put_sentence(f, "", certainty(v));
	print_model(f, v);
	return 0;
}

static int print_alarm(FILE *f, const struct kl_verified *v)
{
	const int ret = print_alarm_head(f, v) ?: v->run ? 0 : print_alarm_story(f, v);

	if (ret)
		return ret;
	print_trail_title(f, v);
	print_trail(f, v);
	return v->run ? print_run(f, v) : print_search(f, v);
}

/* Say that the concrete run is shown in place of the abstract one. */
static int print_more(FILE *f, const void *result)
{
	const struct kl_verified *v = result;

	if (v->trail)
		fputs("Not shown: the abstract run to it (--full).\n", f);
	return 0;
}

/* Print what is known of an alarm in few lines: its story, and of its run what has room. */
static int print_alarm_brief(FILE *f, const struct kl_verified *v)
{
	static const struct kl_run_parts with_run = {
		.head = print_alarm_head,
		.story = print_run_story,
		.title = print_run_title,
		.run = print_steps,
		.end = print_more,
	};
	static const struct kl_run_parts without = {
		.head = print_alarm_head,
		.story = print_alarm_story,
		.title = print_trail_title,
		.run = print_trail,
		.end = print_search,
	};

	return kl_print_run_brief(f, v->run ? &with_run : &without, v);
}

/* Print why a verified model has a concrete wrong run. */
static void print_contradiction(FILE *f, const struct kl_verify_search *s)
{
	if (!s->not_linearizable)
		fputs(": linearizable, but a run fails\n", f);
	else if (s->other_keys)
		fputs(": the search of runs found a violation; the client's values have the keys 0 "
		      "or ~0, which the proof does not cover\n",
		      f);
	else
		fputs(": the search of runs found a violation, but the proof did not: this is a "
		      "defect of klin; please report it\n",
		      f);
}

int kl_verified_print(FILE *f, const struct kl_verified *v)
{
	struct kl_verify_stats st;
	int ret = 0;

	kl_verify_stats(v->x, &st);
	if (v->verdict != KL_VF_ALARM)
		print_verdict(f, v);
	if (is_unknown(v))
		kl_put_sentence(f, "Advice:", advice(v));
	if (v->verdict == KL_VF_ALARM) {
		ret = v->full ? print_alarm(f, v) : print_alarm_brief(f, v);
	} else if (v->verdict == KL_VF_VERIFIED && v->run) {
		print_contradiction(f, &v->search);
		print_model(f, v);
		ret = print_run(f, v);
	} else if (v->verdict == KL_VF_VERIFIED) {
		fprintf(f, "%s, %llu abstract states\n", st.threads && st.any ?
			", as any number of threads" : "", (unsigned long long)st.states);
		print_model(f, v);
		print_limits(f, v, &st);
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
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	json_object_set_new(j, "trail", lines);
	if (ret)
		return ret;
	kl_verify_print_trail(x, m.f);
	ret = kl_memstream_close(&m, &text, NULL);
	if (ret)
		return ret;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(lines, kl_json_text(line));
	free(text);
	return 0;
}

/* Add what is known of an alarm that no run shows. */
static int add_alarm(json_t *j, const struct kl_verified *v)
{
	json_t *story = json_object(), *facts = json_array();
	unsigned int i;
	char *text;
	int ret;

	for (i = 0; ; i++) {
		ret = alarm_sentence(v, i, &text);
		if (!text)
			break;
		if (i)
			json_array_append_new(facts, kl_json_text(text));
		else
			json_object_set_new(story, "headline", kl_json_text(text));
		free(text);
	}
	json_object_set_new(story, "cast", json_array());
	json_object_set_new(story, "facts", facts);
	json_object_set_new(j, "run_story", story);
	return ret;
}

static int add_run(json_t *j, const struct kl_verified *v)
{
	struct kl_explorer *x = v->run;
	json_t *run = json_object();
	json_t *steps = json_array();
	int ret;

	json_object_set_new(j, "concrete", run);
	json_object_set_new(run, "message", kl_json_text(kl_explore_message(x)));
	json_object_set_new(run, "run", steps);
	ret = kl_run_story_add(run, x, true);
	if (ret)
		return ret;
	ret = kl_explore_run(x, kl_json_add_step, steps);
	json_object_set_new(run, "whole", json_boolean(!ret));
	return ret == -ESTALE ? 0 : ret;
}

int kl_verified_put(FILE *f, const struct kl_verified *v, enum kl_output form)
{
	struct kl_verify_stats st;
	json_t *j = kl_json_envelope("verify", NULL);
	int ret = 0;

	kl_verify_stats(v->x, &st);
	json_object_set_new(j, "file", kl_json_text(v->file));
	json_object_set_new(j, "memory", json_string("sc"));
	json_object_set_new(j, "model_memory",
			    json_string(v->model == KL_EX_SAYS_SC ? "sc" : "tso"));
	json_object_set_new(j, "verdict", json_string(kl_verified_verdict(v)));
	json_object_set_new(j, "threads", st.threads ? json_integer(st.threads) :
			    json_string("any"));
	json_object_set_new(j, "as_any", json_boolean(st.any));
	json_object_set_new(j, "states", json_integer(st.states));
	json_object_set_new(j, "steps", json_integer(st.steps));
	json_object_set_new(j, "not_followed", json_integer(st.open));
	json_object_set_new(j, "rounds", json_integer(st.rounds));
	json_object_set_new(j, "bytes", json_integer(st.bytes));
	json_object_set_new(j, "seconds", json_real(st.seconds));
	if (v->verdict == KL_VF_VERIFIED) {
		json_object_set_new(j, "no_ring_of_locks",
				    json_boolean(!st.waits || st.ordered_locks));
		json_object_set_new(j, "all_keys", json_boolean(!st.keyed));
		if (v->run)
			json_object_set_new(j, "contradiction",
					    json_boolean(v->search.not_linearizable &&
							 !v->search.other_keys));
	}
	if (v->verdict == KL_VF_ALARM) {
		json_object_set_new(j, "definite", json_boolean(v->run));
		json_object_set_new(j, "certainty", json_string(certainty(v)));
		json_object_set_new(j, "message", kl_json_text(kl_verify_message(v->x)));
		if (!v->run)
			ret = add_alarm(j, v);
		if (v->trail && !ret)
			ret = add_trail(j, v->x);
	}
	if (is_unknown(v)) {
		const char *code = v->verdict == KL_VF_MEMORY ? "memory_limit" : "stopped";

		json_object_set_new(j, "message", kl_json_text(unknown_reason(v)));
		kl_json_add_reason(j, code, unknown_reason(v), 0);
		kl_json_add_limit(j, code);
		json_object_set_new(j, "advice", json_string(advice(v)));
	} else if (v->run) {
		kl_json_add_reason(j, "wrong_run", kl_explore_message(v->run), 0);
	} else if (v->verdict == KL_VF_ALARM) {
		kl_json_add_reason(j, "not_proved", kl_verify_message(v->x), 0);
	}
	json_object_set_new(j, "searched", json_boolean(v->searched));
	if (v->searched && !v->run) {
		json_object_set_new(j, "searched_whole", json_boolean(!is_incomplete(v)));
		if (is_incomplete(v))
			json_object_set_new(j, "not_searched", kl_json_text(v->search.why));
	}
	if (!ret && v->run)
		ret = add_run(j, v);
	if (!ret)
		return kl_output_put(f, j, form);
	json_decref(j);
	return ret;
}
