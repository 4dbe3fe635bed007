// SPDX-License-Identifier: GPL-2.0
/*
 * The run that the explorer shows is real: the plain machine makes it from the text, step by
 * step, and finds the explorer's fault at its end.  For random programs, with each reduction
 * and without.  KLIN_RUNS sets the number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "history_util.h"
#include "random_impl.h"
#include "shown_run.h"

static bool unknown(enum kl_explore_verdict v)
{
	return v == KL_EX_OK || kl_explore_unknown(v);
}

/* Explore, and replay the shown run. */
static enum kl_explore_verdict check(const char *text, struct kl_explore_options o)
{
	enum kl_explore_verdict v = KL_EX_OK;
	struct kl_explorer *x;
	struct kl_spec *spec;

	assert_int_equal(kl_spec_parse("random.lin", text, strlen(text), &spec), 0);
	assert_int_equal(kl_explore(spec, &o, &v, &x), 0);
	if (!unknown(v) && !shown_run_check(spec, &o, v, x)) {
		print_message("%s\n", text);
		fail();
	}
	kl_explorer_free(x);
	kl_spec_free(spec);
	return v;
}

static void test_random_programs(void **state)
{
	static const struct kl_explore_options less[] = {
		{ 0 }, { .no_merge = true }, { .no_dead = true }, { .no_canon = true },
		{ .no_hidden = true }, { .no_symmetry = true }, { .no_facts = true },
		{ .no_cover = true }, { .no_known = true }, { .shortest = true },
		{ .compact = true },
		{ .no_merge = true, .no_dead = true, .no_canon = true, .no_hidden = true,
		  .no_symmetry = true, .no_facts = true, .no_cover = true, .no_known = true },
	};
	const unsigned long runs = wanted_runs(10000) / 10 + 1;
	unsigned long i, found[KL_EX_LOST + 1] = { 0 };
	uint64_t seed = 1985;
	char text[RANDOM_IMPL_TEXT];
	struct kl_explore_options o;
	struct n_program p;

	(void)state;
	for (i = 0; i < runs; i++) {
		random_impl(&seed, &p, text);
		o = less[i % (sizeof(less) / sizeof(*less))];
		o.sc = i % 5 == 4;
		o.memory = 16u << 20;
		found[check(text, o)]++;
	}
	print_message("%lu programs: %lu not linearizable, %lu at fault, %lu deadlocked, "
		      "%lu without end\n", runs, found[KL_EX_NOT_LINEARIZABLE], found[KL_EX_FAULT],
		      found[KL_EX_DEADLOCK], found[KL_EX_ENDLESS]);
	assert_true(runs < 200 || (found[KL_EX_NOT_LINEARIZABLE] > runs / 20 &&
				   found[KL_EX_FAULT] && found[KL_EX_DEADLOCK]));
}

/*
 * If hashes of a few bits replace states, replaying a run may lead to another state.  The
 * verdict must then be unknown.
 */
static void test_hash_compaction_unknown(void **state)
{
	const unsigned long runs = wanted_runs(10000) / 10 + 1;
	unsigned long i, found[KL_EX_LOST + 1] = { 0 };
	uint64_t seed = 1977;
	char text[RANDOM_IMPL_TEXT];
	struct kl_explore_options o = { .compact = true };
	struct n_program p;

	(void)state;
	for (i = 0; i < runs; i++) {
		random_impl(&seed, &p, text);
		o.hash_bits = 4 + i % 6;
		o.shortest = i & 1;
		o.no_known = i & 2;
		o.sc = i % 5 == 4;
		o.memory = 16u << 20;
		found[check(text, o)]++;
	}
	print_message("%lu programs: %lu not linearizable, %lu lost\n", runs,
		      found[KL_EX_NOT_LINEARIZABLE], found[KL_EX_LOST]);
	assert_true(runs < 100 || (found[KL_EX_LOST] && found[KL_EX_NOT_LINEARIZABLE]));
}

/* ---- mutants of the shipped models, see selftests/cli/models.sh -------------------- */

static const char *models(void)
{
	return getenv("KLIN_SPECS") ?: "specs";
}

/* Return: the output of a shell command. */
static char *output(const char *command)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = popen(command, "r");

	assert_non_null(f);
	assert_true(getdelim(&text, &len, 0, f) > 0);
	assert_int_equal(pclose(f), 0);
	return text;
}

/* Return: the text of mutant number @n of a model, NULL if there are fewer. */
static char *mutant(const char *name, unsigned int n, struct kl_explore_options *o)
{
	char command[1200], *text = NULL;
	const char *with;

	snprintf(command, sizeof(command), "awk -v n=%u '/^mutant / { at++ } at == n' "
		 "%s/explore/%s.mutants; printf '\\n'", n, models(), name);
	text = output(command);
	if (text[0] == '\n') {
		free(text);
		return NULL;
	}
	*o = (struct kl_explore_options){ .memory = 1u << 30 };
	with = strstr(text, "with --ops=");
	if (with)
		o->ops = atoi(with + strlen("with --ops="));
	free(text);
	snprintf(command, sizeof(command), "awk -v n=%u '/^mutant / { at++ } at == n && "
		 "sub(/^\\t/, \"\")' %s/explore/%s.mutants | sed -f /dev/stdin %s/explore/%s.lin",
		 n, models(), name, models(), name);
	return output(command);
}

static void test_mutants_of_models(void **state)
{
	static const char *const names[] = {
		"chaselev", "dcl", "dcl_whole", "dekker", "dglm", "fig5", "mcs", "msqueue",
		"perf_ring", "peterson", "seqcount", "seqlock", "seqlock_t", "spinlock",
		"ticketlock", "treiber", "twolock",
	};
	struct kl_explore_options o;
	unsigned int n, all = 0;
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (n = 1; (text = mutant(names[i], n, &o)); n++, all++) {
			if (unknown(check(text, o))) {
				print_message("mutant %u of %s is not found\n", n, names[i]);
				fail();
			}
			free(text);
		}
	}
	print_message("%u mutants\n", all);
	assert_true(all > 80);
}

/* Models for SC, explored on TSO. */
static void test_sc_models_on_tso(void **state)
{
	static const char *const names[] = { "lazy", "harris", "twolock" };
	struct kl_explore_options o = { .memory = 1u << 30 };
	char command[400], *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(command, sizeof(command), "cat %s/verify/%s.lin", models(), names[i]);
		text = output(command);
		assert_false(unknown(check(text, o)));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_hash_compaction_unknown),
		cmocka_unit_test(test_mutants_of_models),
		cmocka_unit_test(test_sc_models_on_tso),
	};

	kl_log_level = KL_LOG_ERR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
