// SPDX-License-Identifier: GPL-2.0
/* The result of `klin explore' as text, see explored.h. */
#include <string.h>

#include "report/explored.h"
#include "report/run_brief.h"
#include "report/run_columns.h"
#include "report/run_story.h"
#include "report/words.h"

static const char *const what[] = {
	[KL_EX_OK] = "linearizable",
	[KL_EX_NOT_LINEARIZABLE] = "not linearizable",
	[KL_EX_FAULT] = "a fault",
	[KL_EX_FINAL] = "a false final condition",
	[KL_EX_DEADLOCK] = "a deadlock",
	[KL_EX_ENDLESS] = "a run without end",
	[KL_EX_MEMORY] = "not known: the bound on memory",
	[KL_EX_LIMIT] = "not known: a bound of the explorer",
	[KL_EX_STOPPED] = "not known: the search was stopped",
	[KL_EX_LOST] = "not known: a run cannot be repeated",
};

static void print_stats(FILE *f, const struct kl_explore_stats *st)
{
	const double cpu = st->cpu_seconds > 0 ? st->cpu_seconds : 1e-9;

	fprintf(f, "%llu states, %llu transitions, %.0f states/s, %.0f transitions/s, "
		"%.1f bytes/state, %.1f MiB, %llu sets of %llu configurations, %.4f s of CPU, "
		"%.3f s\n",
		(unsigned long long)st->states, (unsigned long long)st->transitions,
		st->states / cpu, st->transitions / cpu,
		(double)st->bytes / st->states, st->all_bytes / 1048576.0,
		(unsigned long long)st->sets, (unsigned long long)st->configs, st->cpu_seconds,
		st->seconds);
}

/* The parts of the result with a run. */

static int print_story(FILE *f, const void *result)
{
	const struct kl_explored *e = result;

	return kl_run_story_print(f, e->x, e->sc);
}

static int print_title(FILE *f, const void *result)
{
	const struct kl_explored *e = result;
	struct kl_explore_stats st;

	kl_explore_stats(e->x, &st);
	fprintf(f, "%s run, %u step%s ([n]: line n of the file):\n",
		e->shortest ? "The shortest" : "A", st.steps, st.steps == 1 ? "" : "s");
	return 0;
}

static int print_run(FILE *f, const void *result)
{
	const struct kl_explored *e = result;

	return kl_print_run(f, e->x);
}

static int print_end(FILE *f, const void *result)
{
	const struct kl_explored *e = result;

	if (e->has_sc && e->on_sc == KL_EX_OK)
		fputs("On SC the same client is linearizable: the violation needs store buffers.\n",
		      f);
	else if (e->has_sc)
		fprintf(f, "On SC the same client: %s.\n", what[e->on_sc]);
	fprintf(f, "Again: %s\n", e->command);
	return 0;
}

static void print_vars(FILE *f, const struct kl_outcomes *r, size_t i)
{
	char value[32];
	size_t k;

	for (k = 0; k < r->nvars; k++) {
		kl_vm_value(value, sizeof(value), r->vals[i * r->nvars + k]);
		fprintf(f, "%s=%s; ", r->vars[k].name, value);
	}
}

static void print_grown(FILE *f, const char *grown)
{
	if (*grown)
		fprintf(f, "%s.\n", grown);
}

const char *kl_explored_reason(const struct kl_explored *e)
{
	if (e->verdict == KL_EX_MEMORY)
		return "the bound on memory was reached";
	return e->outcomes ? e->outcomes->limit : kl_explore_message(e->x);
}

const char *kl_explored_advice(const struct kl_explored *e)
{
	/* The sentence about what grew advises on it, and no larger bound helps. */
	if (*(e->outcomes ? e->outcomes->grown : kl_explore_grown(e->x)))
		return NULL;
	switch (e->verdict) {
	case KL_EX_MEMORY:
		return "Allow more memory by --memory-limit=MIB, keep only hashes of states by "
		       "--hash-compact, or take a smaller client (--threads, --ops)";
	case KL_EX_STOPPED:
		return "Allow more time by --time-limit=SECONDS, or take a smaller client (--threads, "
		       "--ops)";
	case KL_EX_LIMIT:
		return "Take a smaller client (--threads, --ops), or bound what grows in the model";
	default:
		return NULL;
	}
}

static void print_advice(FILE *f, const struct kl_explored *e)
{
	if (kl_explored_advice(e))
		kl_put_sentence(f, "Advice:", kl_explored_advice(e));
}

static int print_outcomes(FILE *f, const struct kl_explored *e)
{
	const struct kl_outcomes *r = e->outcomes;
	const size_t wrong = kl_outcomes_wrong(r);
	size_t i, n[3] = { 0 };

	if (e->verdict == KL_EX_MEMORY || e->verdict == KL_EX_STOPPED) {
		fprintf(f, "%s: UNKNOWN: %s after %llu states\n", e->file, kl_explored_reason(e),
			(unsigned long long)r->states);
		print_grown(f, r->grown);
		return 0;
	}
	if (e->verdict == KL_EX_LIMIT) {
		fprintf(f, "%s: UNKNOWN: a bound of the explorer was reached: %s\n", e->file,
			r->limit);
		return 0;
	}
	for (i = 0; i < r->n; i++) {
		n[0] += !!(r->with[i] & KL_WITH_IMPL);
		n[1] += !!(r->with[i] & KL_WITH_SPEC);
		n[2] += (r->with[i] & (KL_WITH_IMPL | KL_WITH_SC)) == KL_WITH_IMPL;
		print_vars(f, r, i);
		fprintf(f, "%s%s\n",
			!(r->with[i] & KL_WITH_SPEC) ? "with the implementation only" :
			!(r->with[i] & KL_WITH_IMPL) ? "with the specification only" : "with both",
			!e->sc && r->with[i] & KL_WITH_IMPL && !(r->with[i] & KL_WITH_SC) ?
			", not on SC" : "");
	}
	fprintf(f, "%s: %s: %zu outcomes with the implementation, %zu with the specification on %s",
		e->file, wrong ? "VIOLATION" : "CONTAINED", n[0], n[1], e->sc ? "SC" : "TSO");
	if (!e->sc)
		fprintf(f, ", %zu not on SC", n[2]);
	if (wrong)
		fprintf(f, "; %zu of the implementation's are not in the specification", wrong);
	fputc('\n', f);
	if (e->stats)
		fprintf(f, "%llu states\n", (unsigned long long)r->states);
	return 0;
}

static int print_histories(FILE *f, const struct kl_explored *e)
{
	int64_t n = kl_explore_print_histories(e->x, f);

	if (n < 0)
		return n;
	fprintf(f, "%s: HISTORIES: %lld that are the hardest to explain\n", e->file, (long long)n);
	return 0;
}

/* Print how far a search without an answer came, and a possible reason for its size. */
static void print_stopped(FILE *f, const struct kl_explored *e, const struct kl_explore_stats *st)
{
	fprintf(f, "%s: UNKNOWN: %s after %llu states and %llu transitions", e->file,
		kl_explored_reason(e), (unsigned long long)st->states,
		(unsigned long long)st->transitions);
	if (st->all_reached) {
		fputs("; these are all states, and none is a violation; the search for runs "
		      "without end was not completed\n",
		      f);
		return;
	}
	fprintf(f,
		", %llu states not yet followed; no violation so far; %llu levels of the search "
		"are complete\n",
		(unsigned long long)st->open, (unsigned long long)st->levels);
	print_grown(f, kl_explore_grown(e->x));
}

/* Print the memory model and its source, if the file names a model. */
static void print_model(FILE *f, const struct kl_explored *e)
{
	const char *is = e->sc ? "sc" : "tso";

	if (e->model == KL_EX_SAYS_NOTHING)
		return;
	if (!e->model_given)
		fprintf(f, "Memory model %s, as the model says.\n", is);
	else
		fprintf(f, "Memory model %s, as the command line says; the model says %s.\n", is,
			e->model == KL_EX_SAYS_SC ? "sc" : "tso");
}

static int print_hint(FILE *f, const void *result)
{
	const struct kl_explored *e = result;

	if (e->verdict == KL_EX_NOT_LINEARIZABLE && *kl_explore_hint(e->x))
		fprintf(f, "Hint: %s.\n", kl_explore_hint(e->x));
	return 0;
}

/* Print the verdict, and what is known beside the run. */
static int print_head(FILE *f, const void *result)
{
	const struct kl_explored *e = result;
	struct kl_explore_stats st;
	int ret = 0;

	if (e->outcomes) {
		ret = print_outcomes(f, e);
		print_advice(f, e);
		print_model(f, e);
		return ret;
	}
	kl_explore_stats(e->x, &st);
	if (e->verdict == KL_EX_OK && e->histories)
		ret = print_histories(f, e);
	else if (e->verdict == KL_EX_OK && e->compact)
		fprintf(f, "%s: LINEARIZABLE: %u threads on %s, all %llu states, unless two of "
			"them have the same hash: a probability below %.0e\n", e->file, st.threads,
			e->sc ? "SC" : "TSO", (unsigned long long)st.states,
			(double)st.states * st.states / 0x1p64);
	else if (e->verdict == KL_EX_OK)
		fprintf(f, "%s: LINEARIZABLE: %u threads on %s, all %llu states\n", e->file,
			st.threads, e->sc ? "SC" : "TSO", (unsigned long long)st.states);
	else if (e->verdict == KL_EX_MEMORY || e->verdict == KL_EX_STOPPED)
		print_stopped(f, e, &st);
	else if (e->verdict == KL_EX_LOST)
		fprintf(f, "%s: UNKNOWN: %s\n", e->file, kl_explore_message(e->x));
	else if (e->verdict == KL_EX_LIMIT)
		fprintf(f,
			"%s: UNKNOWN: a bound of the explorer was reached after %llu "
			"state%s: %s; no violation so far\n",
			e->file, (unsigned long long)st.states, st.states == 1 ? "" : "s",
			kl_explore_message(e->x));
	else
		fprintf(f, "%s: VIOLATION: %s: %s\n", e->file, what[e->verdict],
			kl_explore_message(e->x));
	if (ret)
		return ret;
	print_advice(f, e);
	print_model(f, e);
	if (e->stats)
		print_stats(f, &st);
	return 0;
}

int kl_explored_print(FILE *f, const struct kl_explored *e)
{
	static const struct kl_run_parts parts = {
		.head = print_head,
		.hint = print_hint,
		.story = print_story,
		.title = print_title,
		.run = print_run,
		.end = print_end,
	};

	if (e->outcomes || e->verdict == KL_EX_OK || kl_explore_unknown(e->verdict) || !e->run)
		return print_head(f, e) ?: (e->outcomes ? 0 : print_hint(f, e));
	if (e->full)
		return print_head(f, e) ?: print_hint(f, e) ?: print_story(f, e) ?:
		       print_title(f, e) ?: print_run(f, e) ?: print_end(f, e);
	return kl_print_run_brief(f, &parts, e);
}
