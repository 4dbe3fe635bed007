// SPDX-License-Identifier: GPL-2.0
/* Results as tests, each passed, failed or skipped, see output.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "report/json_value.h"
#include "report/output.h"

/* A test while it is made.  The streams gather its name and the lines about it. */
struct test {
	struct kl_memstream name, lines;
	const char *end, *code, *why;
};

static const char *string_of(const json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name));
}

static bool is_true(const json_t *j, const char *name)
{
	return json_is_true(json_object_get(j, name));
}

/* Print a number, which is a string from 2^63 on, or a text. */
static void put_value(FILE *f, const json_t *v)
{
	if (json_is_integer(v))
		fprintf(f, "%lld", (long long)json_integer_value(v));
	else if (json_is_string(v))
		fputs(json_string_value(v), f);
}

/* Return: false without memory; then there is nothing to end. */
static bool begin(struct test *t)
{
	char *text;

	*t = (struct test){ .end = "pass" };
	if (!kl_memstream_open(&t->name)) {
		if (!kl_memstream_open(&t->lines))
			return true;
		kl_memstream_close(&t->name, &text, NULL);
		free(text);
	}
	kl_json_no_memory();
	return false;
}

static void set_text(json_t *j, const char *name, struct kl_memstream *m)
{
	char *text = NULL;

	if (kl_memstream_close(m, &text, NULL))
		kl_json_no_memory();
	else if (*text)
		json_object_set_new(j, name, kl_json_text(text));
	free(text);
}

static void add(json_t *tests, struct test *t)
{
	json_t *j = json_object();

	set_text(j, "name", &t->name);
	json_object_set_new(j, "end", json_string(t->end));
	if (t->code)
		json_object_set_new(j, "code", json_string(t->code));
	if (t->why)
		json_object_set_new(j, "why", json_string(t->why));
	set_text(j, "lines", &t->lines);
	json_array_append_new(tests, j);
}

/* Return: the verdict of a command as the end of a test. */
static const char *end_of(const char *verdict)
{
	return !strcmp(verdict, "VIOLATION") ? "fail" :
	       !strcmp(verdict, "UNKNOWN") || !strcmp(verdict, "NOT PROVED") ? "skip" : "pass";
}

/* ---- histories --------------------------------------------------------------------------- */

/* "t3  deq() -> 1  took 1  40-50  line 5" */
static void put_operation(FILE *f, const json_t *op)
{
	const json_t *ret = json_object_get(op, "return"), *source = json_object_get(op, "source");

	fputs("  t", f);
	put_value(f, json_object_get(op, "thread"));
	fprintf(f, "  %s  ", string_of(op, "text"));
	if (string_of(op, "role"))
		fprintf(f, "%s  ", string_of(op, "role"));
	if (json_is_null(ret))
		fputs("from ", f);
	put_value(f, json_object_get(op, "call"));
	if (!json_is_null(ret))
		fputc('-', f);
	put_value(f, ret);
	if (json_object_get(source, "line")) {
		fputs("  line ", f);
		put_value(f, json_object_get(source, "line"));
	}
	fputc('\n', f);
}

static void put_sentences(FILE *f, const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		fprintf(f, "%s.\n", json_string_value(one) ?: string_of(one, "sentence"));
}

/* Print what the text report says of a violation, and the operations of its proof. */
static void put_violation(FILE *f, const json_t *part)
{
	const json_t *story = json_object_get(part, "story"), *proof, *op;
	const json_t *trust = json_object_get(story, "trust");
	size_t i;

	json_array_foreach(json_object_get(story, "cast"), i, op)
		put_operation(f, op);
	put_sentences(f, json_object_get(story, "facts"));
	put_sentences(f, json_object_get(story, "orders"));
	if (json_object_get(story, "allowed"))
		fprintf(f, "%s.\n", string_of(json_object_get(story, "allowed"), "sentence"));
	proof = json_object_get(part, "counterexample");
	if (json_array_size(proof))
		fprintf(f, "Proof:\n");
	json_array_foreach(proof, i, op)
		put_operation(f, op);
	if (trust)
		fprintf(f, "%s.\n", string_of(trust, "sentence"));
	if (string_of(trust, "replay"))
		fprintf(f, "Check it again: %s\n", string_of(trust, "replay"));
}

/* Add a partition of a checked history, or a violation of one that is followed. */
static void add_partition(json_t *tests, const json_t *part)
{
	const json_t *story = json_object_get(part, "story");
	struct test t;

	if (!begin(&t))
		return;
	if (json_object_get(part, "object"))
		fprintf(t.name.f, "object %s", string_of(part, "object"));
	if (json_object_get(part, "key")) {
		fputs(json_object_get(part, "object") ? " key " : "key ", t.name.f);
		put_value(t.name.f, json_object_get(part, "key"));
	}
	if (!json_object_get(part, "object") && !json_object_get(part, "key"))
		fputs("all objects", t.name.f);
	t.end = end_of(string_of(part, "verdict"));
	t.why = string_of(part, "reason");
	if (!strcmp(t.end, "fail") && story) {
		t.why = string_of(story, "headline");
		t.code = string_of(story, "reason");
	} else if (!strcmp(t.end, "fail") && !t.why) {
		t.why = "no order of the operations is right";
	}
	if (!strcmp(t.end, "fail") || is_true(part, "suspected"))
		put_violation(t.lines.f, part);
	add(tests, &t);
}

/* Add the partitions that the result only counts, all as one test. */
static void add_counted(json_t *tests, const json_t *n, const char *verdict)
{
	struct test t;

	if (!n || !begin(&t))
		return;
	fprintf(t.name.f, "%s partitions that are not listed", verdict);
	t.end = end_of(verdict);
	t.why = *t.end == 's' ? "only the first UNKNOWN partitions are listed" : NULL;
	fprintf(t.lines.f, "%lld partitions\n", (long long)json_integer_value(n));
	add(tests, &t);
}

/* Without memory a test may have no end. */
static bool has_end(const json_t *tests, const char *end)
{
	const json_t *test;
	size_t i;

	json_array_foreach(tests, i, test)
		if (!strcmp(string_of(test, "end") ?: "", end))
			return true;
	return false;
}

/* Add the whole history, unless a test that is there already has its verdict. */
static void add_history(json_t *tests, const json_t *j)
{
	const char *end = end_of(string_of(j, "verdict"));
	struct test t;

	if (has_end(tests, end) || !begin(&t))
		return;
	fputs(string_of(j, "history"), t.name.f);
	if (json_is_false(json_object_get(j, "whole")))
		fputs("The history did not come to its end.\n", t.lines.f);
	t.end = end;
	t.why = string_of(j, "reason");
	add(tests, &t);
}

static void add_check(json_t *tests, const json_t *j)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(j, "partitions"), i, part)
		add_partition(tests, part);
	add_counted(tests, json_object_get(j, "linearizable_not_listed"), "LINEARIZABLE");
	add_counted(tests, json_object_get(j, "unknown_not_listed"), "UNKNOWN");
	add_history(tests, j);
}

/* ---- models ------------------------------------------------------------------------------ */

static void put_run(FILE *f, const json_t *run)
{
	const json_t *step;
	size_t i;

	json_array_foreach(run, i, step) {
		if (json_integer_value(json_object_get(step, "step")))
			fprintf(f, "[%lld] T%lld: %s: ",
				(long long)json_integer_value(json_object_get(step, "step")),
				(long long)json_integer_value(json_object_get(step, "thread")),
				string_of(step, "what"));
		fprintf(f, "%s\n", string_of(step, "state"));
	}
}

/* Add an outcome, which is wrong if the implementation alone has it. */
static void add_outcome(json_t *tests, json_t *outcome)
{
	const char *name, *space = "";
	json_t *value;
	struct test t;

	if (!begin(&t))
		return;
	json_object_foreach(json_object_get(outcome, "variables"), name, value) {
		fprintf(t.name.f, "%s%s=%s", space, name, json_string_value(value));
		space = " ";
	}
	if (is_true(outcome, "implementation") && !is_true(outcome, "specification")) {
		t.end = "fail";
		t.why = "the implementation has this outcome, the specification does not";
	} else if (!is_true(outcome, "implementation")) {
		fputs("Only the specification has this outcome.\n", t.lines.f);
	}
	add(tests, &t);
}

static void add_model(json_t *tests, const json_t *j)
{
	const json_t *outcomes = json_object_get(j, "outcomes"), *line;
	const json_t *concrete = json_object_get(j, "concrete");
	json_t *outcome;
	struct test t;
	size_t i;

	json_array_foreach(outcomes, i, outcome)
		add_outcome(tests, outcome);
	if (has_end(tests, end_of(string_of(j, "verdict"))) || !begin(&t))
		return;
	fputs(string_of(j, "file"), t.name.f);
	t.end = end_of(string_of(j, "verdict"));
	t.why = string_of(concrete, "message") ?: string_of(j, "message");
	t.code = *t.end == 'f' ? string_of(j, "what") : NULL;
	if (string_of(j, "hint"))
		fprintf(t.lines.f, "%s\n", string_of(j, "hint"));
	if (string_of(j, "grown") && *string_of(j, "grown"))
		fprintf(t.lines.f, "%s\n", string_of(j, "grown"));
	json_array_foreach(json_object_get(j, "trail"), i, line)
		fprintf(t.lines.f, "%s\n", json_string_value(line));
	put_run(t.lines.f, json_object_get(j, "run") ?: json_object_get(concrete, "run"));
	add(tests, &t);
}

static void add_litmus(json_t *tests, const json_t *j)
{
	const json_t *all = json_object_get(j, "tests"), *one, *state;
	const char *name, *verdict;
	json_t *value;
	struct test t;
	size_t i, k;

	json_array_foreach(all, i, one) {
		if (!begin(&t))
			return;
		verdict = string_of(one, "verdict");
		fputs(string_of(one, "name") ?: string_of(one, "file"), t.name.f);
		/* Whether the condition holds is an answer, not an error. */
		t.end = !strcmp(verdict, "ERROR") ? "error" :
			!strcmp(verdict, "UNKNOWN") ? "skip" : "pass";
		t.why = string_of(one, "reason");
		if (string_of(one, "condition"))
			fprintf(t.lines.f, "%s: %s\nObservation: %s\n", verdict,
				string_of(one, "condition"), string_of(one, "observation"));
		json_array_foreach(json_object_get(one, "states"), k, state) {
			json_object_foreach(json_object_get(state, "values"), name, value)
				fprintf(t.lines.f, "%s=%s; ", name, json_string_value(value));
			fprintf(t.lines.f, "%s\n", is_true(state, "holds") ? "holds" : "does not hold");
		}
		add(tests, &t);
	}
}

static void add_result(json_t *tests, const json_t *j)
{
	static const struct {
		const char *kind;
		void (*add)(json_t *tests, const json_t *j);
	} kinds[] = {
		{ "check", add_check }, { "violation", add_partition }, { "summary", add_history },
		{ "explore", add_model }, { "verify", add_model }, { "litmus", add_litmus },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(string_of(j, "kind"), kinds[i].kind))
			kinds[i].add(tests, j);
}

json_t *kl_output_tests(const json_t *j)
{
	json_t *tests = json_array();
	const json_t *one;
	size_t i;

	if (!json_is_array(j))
		add_result(tests, j);
	json_array_foreach(j, i, one)
		add_result(tests, one);
	return tests;
}
