// SPDX-License-Identifier: GPL-2.0
/* klin litmus: run x86 litmus tests on the explorer's machine, and print results as herd does. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/file.h"
#include "base/shipped.h"
#include "base/text.h"
#include "history/wrong_file.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/output.h"
#include "klin/stop.h"
#include "report/envelope.h"
#include "report/litmus_result.h"
#include "report/litmus_story.h"
#include "tso/litmus/litmus.h"

struct litmus_args {
	struct kl_litmus_options o;
	struct kl_limits lim;
	bool summary, explain;
	const char *condition;	/* the outcome to explain, or NULL for the test's */
	enum kl_output output;
	json_t *tests;		/* results for a form that is printed at the end, or NULL */
	char **files;
	size_t nfiles;
	/* Numbers of tests, by result. */
	size_t run, unread, unknown, failed, ok, never, sometimes, always;
};

enum { OPT_MEMORY = 256, OPT_NO_REDUCE, OPT_LIMIT, OPT_TIME, OPT_OUTPUT, OPT_JSON, OPT_EXPLAIN };

static const struct argp_option options[] = {
	{ "memory-model", OPT_MEMORY, "MODEL", 0, "tso (the default) or sc", 0 },
	{ "memory-limit", OPT_LIMIT, "MIB", 0,
	  "Give up a test (UNKNOWN) if it needs more memory "
	  "(default 1024)",
	  0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0,
	  "Give up (UNKNOWN) after SECONDS, for all tests together", 0 },
	{ "no-reduce", OPT_NO_REDUCE, NULL, 0, "Do not merge the steps of several instructions",
	  0 },
	{ "summary", 's', NULL, 0, "Print one line for each test", 0 },
	{ "explain", OPT_EXPLAIN, "CONDITION", OPTION_ARG_OPTIONAL,
	  "Show a run to the outcome that the test's condition is about, or to one with CONDITION "
	  "(such as '0:EAX=0 /\\ x=1', or a line of final states); why no run without store "
	  "buffers has it; and which fences or locks would forbid it.  If there is no such run, "
	  "name the fences and locks of the test, or the order of two of its loads and stores, "
	  "that forbid it", 0 },
	{ "output", OPT_OUTPUT, "FORM", 0,
	  KLIN_OUTPUT ".  A test that was run is passed, whether its condition holds or not", 0 },
	{ "json", OPT_JSON, NULL, 0, "The same as --output=json", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct litmus_args *a = state->input;

	switch (key) {
	case OPT_MEMORY:
		a->o.sc = kl_arg_sc(state, arg);
		break;
	case OPT_LIMIT:
		a->o.memory = kl_arg_mib(state, "memory-limit", arg);
		break;
	case OPT_TIME:
		a->lim.deadline_ns = kl_now_ns() + kl_arg_seconds(state, "time-limit", arg);
		break;
	case OPT_NO_REDUCE:
		a->o.unreduced = true;
		break;
	case OPT_OUTPUT:
		a->output = kl_arg_output(state, arg);
		break;
	case OPT_JSON:
		a->output = KL_OUTPUT_JSON;
		break;
	case OPT_EXPLAIN:
		if (arg && !*arg)
			argp_error(state, "--explain=: expected a condition, such as 0:EAX=0");
		a->explain = true;
		a->condition = arg;
		break;
	case 's':
		a->summary = true;
		break;
	case ARGP_KEY_ARGS:
		a->files = state->argv + state->next;
		a->nfiles = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		kl_args_missing(state, "expected a litmus test, or a directory of tests");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE|DIRECTORY...",
	.doc = "Run x86 litmus tests (herd's format, X86 and X86_64) on the x86-TSO machine of "
	       "`klin explore', and print all final states as herd does.  For a directory, run all "
	       "its files *.litmus, and print one line for each.  Witnesses are numbers of final "
	       "states, not of executions.\v"
	       "Exit status: 0 all tests were run, 2 one could not be read, 3 one ran out of "
	       "memory or time, or it was interrupted, 4 the system refused.  Whether a test's "
	       "condition holds (Ok, No) is an answer, not an error.\n\n"
	       "Examples:\n"
	       "  # All final states of a test.\n"
	       "  klin litmus selftests/litmus/SB.litmus\n"
	       "  # How it can end with 0 in both registers.\n"
	       "  klin litmus --explain selftests/litmus/SB.litmus\n"
	       "  # The same test without store buffers.\n"
	       "  klin litmus --memory-model=sc selftests/litmus/SB.litmus\n"
	       "  # All tests of a directory, one line each.\n"
	       "  klin litmus selftests/litmus",
};

static void count(struct litmus_args *a, const struct kl_litmus *l,
		  const struct kl_litmus_result *r)
{
	a->run++;
	a->ok += kl_litmus_ok(l, r);
	a->never += !r->positive;
	a->always += r->positive && !r->negative;
	a->sometimes += r->positive && r->negative;
}

/* Print a result as text, or keep it for the end.  @s: the story, or NULL. */
static void put_result(struct litmus_args *a, const char *path, const struct kl_litmus *l,
		       const struct kl_litmus_result *r, const struct kl_lit_story *s, bool summary)
{
	json_t *j;

	if (a->tests) {
		j = kl_litmus_json(path, l, r);
		if (s)
			json_object_set_new(j, "story", kl_lit_story_json(s));
		json_array_append_new(a->tests, j);
		return;
	}
	if (!summary)
		kl_litmus_print(stdout, l, r);
	printf("Observation %s %s %zu %zu\n", l->name, kl_litmus_observation(r), r->positive,
	       r->negative);
	if (!summary || s)
		putchar('\n');
	if (s && kl_lit_story_print(stdout, s))
		kl_err("out of memory");
}

/* Keep a test without a result for the end.  @verdict: UNKNOWN or ERROR. */
static void put_none(struct litmus_args *a, const char *path, const struct kl_litmus *l,
		     const char *verdict, const char *reason)
{
	if (a->tests)
		json_array_append_new(a->tests, kl_litmus_none_json(path, l, verdict, reason));
}

/* Tell the story of the outcome; after an incomplete search, @r has the reason. */
static int tell(struct litmus_args *a, const char *path, const char *text,
		struct kl_litmus_result *r, struct kl_lit_story **story)
{
	const int ret = kl_litmus_tell(path, text, a->condition, &a->o, story);

	if (ret == -ENOSPC || ret == -ETIME || ret == -E2BIG)
		memcpy(r->why, (*story)->why, sizeof(r->why));
	return ret;
}

/* Return: @hint, what to do about the test @path, which does not exist, or "". */
static const char *missing_hint(const char *path, char hint[KL_FILE_HINT])
{
	char whole[KL_FILE_HINT / 2];

	*hint = '\0';
	snprintf(whole, sizeof(whole), "%s.litmus", path);
	if (!access(whole, F_OK))
		snprintf(hint, KL_FILE_HINT, "; did you mean %s?", whole);
	else if (kl_shipped_text(path))
		snprintf(hint, KL_FILE_HINT, "; this is a shipped specification, not a test");
	else if (strchr(path, '='))
		snprintf(hint, KL_FILE_HINT, "; write a condition as --explain=CONDITION");
	else
		kl_history_hint(path, -ENOENT, hint);
	return hint;
}

static void run_file(struct litmus_args *a, const char *path, bool summary)
{
	struct kl_lit_story *story = NULL;
	struct kl_litmus_result r = { 0 };
	struct kl_litmus *l = NULL;
	char *text = NULL, hint[KL_FILE_HINT];
	size_t len;
	int ret, mark;

	ret = kl_read_file(path, &text, &len);
	if (ret) {
		kl_err("cannot read litmus test %s: %s%s", path, strerror(-ret),
		       ret == -ENOENT ? missing_hint(path, hint) : "");
		put_none(a, path, NULL, "ERROR", strerror(-ret));
		a->failed += kl_ending_error(ret) == KLIN_EXIT_SYSTEM;
		a->unread++;
		return;
	}
	mark = kl_text_start(path, text, len);
	ret = mark < 0 ? mark : kl_text_zero(path, 1, text, len);
	if (!ret && mark)
		memmove(text, text + mark, len - mark + 1);
	if (!ret)
		ret = kl_litmus_parse(path, text, &l);
	if (!ret)
		ret = kl_litmus_run(l, &a->o, &r);
	if (!ret && a->explain)
		ret = tell(a, path, text, &r, &story);
	if (!ret) {
		count(a, l, &r);
		put_result(a, path, l, &r, story, summary);
	} else if (ret == -ENOSPC || ret == -ETIME || ret == -E2BIG) {
		kl_err("%s: UNKNOWN: after %llu states and %llu transitions, %llu states not yet "
		       "followed, %llu levels of the search complete: %s",
		       path, (unsigned long long)r.explored, (unsigned long long)r.transitions,
		       (unsigned long long)r.open, (unsigned long long)r.levels, r.why);
		put_none(a, path, l, "UNKNOWN", r.why);
		a->unknown++;
	} else if (ret == -EINVAL) {
		put_none(a, path, l, "ERROR", "the test is refused; the message is on standard error");
		a->unread++;
	} else {
		kl_err("%s: %s", path, strerror(-ret));
		put_none(a, path, l, "ERROR", strerror(-ret));
		a->failed++;
	}
	kl_lit_story_free(story);
	kl_litmus_result_free(&r);
	kl_litmus_free(l);
	free(text);
}

static bool is_litmus(const char *name)
{
	size_t n = strlen(name);

	return n > 7 && !strcmp(name + n - 7, ".litmus");
}

static void run_path(struct litmus_args *a, const char *path, bool inside);

static void run_directory(struct litmus_args *a, const char *path)
{
	struct dirent **e;
	struct stat st;
	char *sub;
	int n, i;

	n = scandir(path, &e, NULL, alphasort);
	if (n < 0) {
		kl_err("cannot read directory %s: %s", path, strerror(errno));
		put_none(a, path, NULL, "ERROR", strerror(errno));
		a->failed += kl_ending_error(-errno) == KLIN_EXIT_SYSTEM;
		a->unread++;
		return;
	}
	for (i = 0; i < n; i++) {
		if (e[i]->d_name[0] == '.') {
			/* Skip hidden files. */
		} else if (asprintf(&sub, "%s/%s", path, e[i]->d_name) < 0) {
			kl_err("%s/%s: out of memory", path, e[i]->d_name);
			a->failed++;
		} else {
			if (is_litmus(sub) || (!lstat(sub, &st) && S_ISDIR(st.st_mode)))
				run_path(a, sub, true);
			free(sub);
		}
		free(e[i]);
	}
	free(e);
}

/* Run a file or a directory; @inside: it was found in a directory. */
static void run_path(struct litmus_args *a, const char *path, bool inside)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		run_directory(a, path);
	else
		run_file(a, path, inside || a->summary);
}

/* Return: the verdict on all tests together, which is the worst of them. */
static const char *verdict_of(const struct litmus_args *a)
{
	return a->failed || a->unread ? "ERROR" : a->unknown ? "UNKNOWN" :
	       a->ok < a->run ? "No" : "Ok";
}

static int put_tests(struct litmus_args *a, double seconds)
{
	json_t *j = kl_json_envelope("litmus", NULL);

	json_object_set_new(j, "verdict", json_string(verdict_of(a)));
	json_object_set_new(j, "memory", json_string(a->o.sc ? "sc" : "tso"));
	json_object_set_new(j, "run", json_integer(a->run));
	json_object_set_new(j, "ok", json_integer(a->ok));
	json_object_set_new(j, "no", json_integer(a->run - a->ok));
	json_object_set_new(j, "not_read", json_integer(a->unread));
	json_object_set_new(j, "unknown", json_integer(a->unknown));
	json_object_set_new(j, "seconds", json_real(seconds));
	json_object_set_new(j, "tests", a->tests);
	return kl_output_put(stdout, j, a->output);
}

static int cmd_litmus(int argc, char **argv)
{
	struct litmus_args a = { .o.memory = 1ull << 30 };
	const char *empty = NULL; /* a directory without tests */
	bool directory = false;
	uint64_t start = kl_now_ns();
	struct stat st;
	size_t i;
	int code;

	code = kl_args(&argp, argc, argv, 0, &a);
	if (code)
		return code;
	a.lim.stop = stop_on_signals(false);
	a.o.lim = &a.lim;
	a.tests = a.output ? json_array() : NULL;
	for (i = 0; i < a.nfiles; i++) {
		const size_t before = a.run + a.unread + a.unknown + a.failed;
		const bool is_directory = !stat(a.files[i], &st) && S_ISDIR(st.st_mode);

		directory |= is_directory;
		run_path(&a, a.files[i], false);
		if (is_directory && a.run + a.unread + a.unknown + a.failed == before)
			empty = a.files[i];
	}
	if (empty) {
		kl_err("%s: no test found: expected files *.litmus", empty);
		if (a.run + a.unread + a.unknown + a.failed == 0)
			return KLIN_EXIT_USAGE;
		a.unread++;
	}
	if (a.output && put_tests(&a, (kl_now_ns() - start) / 1e9)) {
		kl_err("out of memory");
		return KLIN_EXIT_SYSTEM;
	}
	if (!a.output && (a.nfiles > 1 || directory || a.summary))
		printf("%zu tests run on %s: %zu Ok, %zu No; %zu Never, %zu Sometimes, %zu Always; "
		       "%zu not read, %zu unknown\n", a.run, a.o.sc ? "SC" : "TSO", a.ok,
		       a.run - a.ok, a.never, a.sometimes, a.always, a.unread, a.unknown);
	return a.failed ? KLIN_EXIT_SYSTEM : a.unread ? KLIN_EXIT_USAGE :
	       a.unknown ? KLIN_EXIT_UNKNOWN : KLIN_EXIT_OK;
}

KL_COMMAND("litmus", cmd_litmus, "run x86 litmus tests");
