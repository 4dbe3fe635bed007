// SPDX-License-Identifier: GPL-2.0
/* The result of `klin explore' as JSON, see explored.h. */
#include <errno.h>
#include <jansson.h>

#include "report/codes.h"
#include "report/envelope.h"
#include "report/explored.h"
#include "report/json.h"
#include "report/run_story.h"

static const char *verdict_name(enum kl_explore_verdict v)
{
	return v == KL_EX_OK ? "LINEARIZABLE" : kl_explore_unknown(v) ? "UNKNOWN" : "VIOLATION";
}

void kl_json_add_step(void *ctx, const struct kl_explore_step *s)
{
	json_t *j = json_object();

	json_object_set_new(j, "step", json_integer(s->number));
	if (s->number) {
		json_object_set_new(j, "thread", json_integer(s->thread));
		json_object_set_new(j, "flush", json_boolean(s->flush));
	}
	json_object_set_new(j, "what", kl_json_text(s->what));
	json_object_set_new(j, "state", kl_json_text(s->state));
	json_array_append_new(ctx, j);
}

static int add_run(json_t *j, const struct kl_explored *e)
{
	static const char *const what[] = {
		[KL_EX_NOT_LINEARIZABLE] = "not linearizable", [KL_EX_FAULT] = "fault",
		[KL_EX_FINAL] = "final condition", [KL_EX_DEADLOCK] = "deadlock",
		[KL_EX_ENDLESS] = "run without end",
	};
	static const char *const codes[] = {
		[KL_EX_NOT_LINEARIZABLE] = "not_linearizable", [KL_EX_FAULT] = "fault",
		[KL_EX_FINAL] = "final_condition", [KL_EX_DEADLOCK] = "deadlock",
		[KL_EX_ENDLESS] = "endless",
	};
	json_t *run;
	int ret;

	kl_json_add_reason(j, codes[e->verdict], kl_explore_message(e->x), 0);
	json_object_set_new(j, "what", json_string(what[e->verdict]));
	json_object_set_new(j, "message", kl_json_text(kl_explore_message(e->x)));
	if (e->verdict == KL_EX_NOT_LINEARIZABLE && *kl_explore_hint(e->x))
		json_object_set_new(j, "hint", kl_json_text(kl_explore_hint(e->x)));
	if (e->has_sc)
		json_object_set_new(j, "on_sc", json_string(verdict_name(e->on_sc)));
	if (!e->run)
		return 0;
	ret = kl_run_story_add(j, e->x, e->sc);
	if (ret)
		return ret;
	json_object_set_new(j, "shortest", json_boolean(e->shortest));
	run = json_array();
	json_object_set_new(j, "run", run);
	return kl_explore_run(e->x, kl_json_add_step, run);
}

static void add_stats(json_t *j, const struct kl_explored *e)
{
	struct kl_explore_stats st;

	kl_explore_stats(e->x, &st);
	json_object_set_new(j, "hash_compact", json_boolean(e->compact));
	json_object_set_new(j, "threads", json_integer(st.threads));
	json_object_set_new(j, "states", json_integer(st.states));
	json_object_set_new(j, "levels", json_integer(st.levels));
	json_object_set_new(j, "not_followed", json_integer(st.open));
	json_object_set_new(j, "transitions", json_integer(st.transitions));
	json_object_set_new(j, "bytes", json_integer(st.all_bytes));
	json_object_set_new(j, "seconds", json_real(st.seconds));
	json_object_set_new(j, "cpu_seconds", json_real(st.cpu_seconds));
}

static bool all_reached(const struct kl_explorer *x)
{
	struct kl_explore_stats st;

	kl_explore_stats(x, &st);
	return st.all_reached;
}

static void add_outcomes(json_t *j, const struct kl_outcomes *r)
{
	json_t *all = json_array(), *one, *vars;
	char value[32];
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		one = json_object();
		vars = json_object();
		for (k = 0; k < r->nvars; k++) {
			kl_vm_value(value, sizeof(value), r->vals[i * r->nvars + k]);
			json_object_set_new(vars, r->vars[k].name, kl_json_text(value));
		}
		json_object_set_new(one, "variables", vars);
		json_object_set_new(one, "implementation", json_boolean(r->with[i] & KL_WITH_IMPL));
		json_object_set_new(one, "specification", json_boolean(r->with[i] & KL_WITH_SPEC));
		json_object_set_new(one, "sc", json_boolean(r->with[i] & KL_WITH_SC));
		json_array_append_new(all, one);
	}
	json_object_set_new(j, "outcomes", all);
	json_object_set_new(j, "states", json_integer(r->states));
}

/* Add the reason of UNKNOWN, and the limit if that is the reason. */
static void add_unknown(json_t *j, const struct kl_explored *e)
{
	static const char *const codes[] = {
		[KL_EX_MEMORY] = "memory_limit", [KL_EX_LIMIT] = "machine_limit",
		[KL_EX_STOPPED] = "stopped", [KL_EX_LOST] = "not_repeatable",
	};

	kl_json_add_reason(j, codes[e->verdict], kl_explored_reason(e), 0);
	if (e->verdict != KL_EX_LOST)
		kl_json_add_limit(j, codes[e->verdict]);
	if (kl_explored_advice(e))
		json_object_set_new(j, "advice", json_string(kl_explored_advice(e)));
}

int kl_explored_put(FILE *f, const struct kl_explored *e, enum kl_output form)
{
	json_t *j = kl_json_envelope("explore", NULL);
	const bool contained = e->outcomes && !kl_outcomes_wrong(e->outcomes);
	int ret = 0;

	json_object_set_new(j, "file", kl_json_text(e->file));
	json_object_set_new(j, "memory", json_string(e->sc ? "sc" : "tso"));
	json_object_set_new(j, "memory_by", json_string(
		e->model_given ? "command line" : e->model ? "model" : "default"));
	json_object_set_new(j, "model_memory",
			    json_string(e->model == KL_EX_SAYS_SC ? "sc" : "tso"));
	json_object_set_new(j, "command", kl_json_text(e->command));
	json_object_set_new(j, "verdict", json_string(
		!e->outcomes || kl_explore_unknown(e->verdict) ? verdict_name(e->verdict) :
		contained ? "CONTAINED" : "VIOLATION"));
	if (kl_explore_unknown(e->verdict))
		add_unknown(j, e);
	if (e->outcomes && !contained && !kl_explore_unknown(e->verdict))
		kl_json_add_reason(j, "new_outcome",
				   "the implementation has an outcome that the specification lacks",
				   0);
	if (e->outcomes) {
		add_outcomes(j, e->outcomes);
		if (e->verdict == KL_EX_LIMIT || e->verdict == KL_EX_STOPPED)
			json_object_set_new(j, "message", kl_json_text(e->outcomes->limit));
		if (e->outcomes->grown[0])
			json_object_set_new(j, "grown", kl_json_text(e->outcomes->grown));
	} else {
		add_stats(j, e);
		if (kl_explore_unknown(e->verdict)) {
			json_object_set_new(j, "message", kl_json_text(kl_explored_reason(e)));
			json_object_set_new(j, "all_reached", json_boolean(all_reached(e->x)));
			json_object_set_new(j, "grown", kl_json_text(kl_explore_grown(e->x)));
		} else if (e->verdict != KL_EX_OK)
			ret = add_run(j, e);
	}
	if (!ret)
		return kl_output_put(f, j, form);
	json_decref(j);
	return ret;
}
