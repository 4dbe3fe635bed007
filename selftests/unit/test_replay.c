// SPDX-License-Identifier: GPL-2.0
/*
 * The replayer against every engine, on random histories of every shipped specification, with
 * gaps, unseen calls and unknown results.  The replayer accepts each LINEARIZABLE, and
 * confirms each VIOLATION that the oracle could decide.  No engine rejects a right history.
 * KLIN_RUNS sets the number; KLIN_SPEC and KLIN_ENGINE select a specification and an engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "history_util.h"
#include "random_history.h"
#include "replayed.h"
#include "base/shipped.h"
#include "tso/engine/tso.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* All engines of `klin check --engine=', each alone, and the portfolio. */
#define MAX_ENGINES	32
static const struct kl_engine *engines[MAX_ENGINES];	/* NULL: the portfolio */
static size_t nengines;

static struct count {
	unsigned long accepted, confirmed, open, declined;
} counts[MAX_ENGINES];

/* Maximum number of operations, and the maximum for the enumerating oracles. */
#define MOST_OPS	24
#define ORACLE_OPS	12
#define TSO_ORACLE_OPS	10

static void show(const struct kl_spec *spec, const struct kl_history *h, const struct kl_engine *e,
		 bool classical, const char *what)
{
	fprintf(stderr, "# %s: spec %s, engine %s, %s: %s", what, kl_spec_name(spec),
		e ? e->name : "any", classical ? "sc" : "tso", history_log);
	kl_text_write(h, stderr);
}

/* Return: the history with some operations lost and some results unknown. */
static struct kl_history *worsen(const struct kl_history *from, uint64_t *seed)
{
	const bool lose = !kl_rand_below(seed, 6), forget = !kl_rand_below(seed, 2);
	const bool unseen = !kl_rand_below(seed, 4);
	struct kl_history *h = kl_history_new();
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	unsigned int k;
	size_t i;

	assert_non_null(h);
	h->clock = from->clock;
	h->error = from->error;
	h->fresh = from->fresh;
	h->ncpus = from->ncpus;
	for (i = 0; i < from->nops; i++) {
		struct kl_op op = from->ops[i];
		struct kl_opsig s = *kl_op_sig(from, &op);
		const char *name = from->methods[s.method];

		op.thread = kl_history_thread(h, from->threads[op.thread]);
		op.object = kl_history_object(h, from->objects[op.object]);
		s.method = kl_history_method(h, name, strlen(name));
		memcpy(args, kl_op_args(from, &op), s.nargs * sizeof(*args));
		memcpy(res, kl_op_args(from, &op) + s.nargs, s.nres * sizeof(*res));
		for (k = 0; k < s.nres; k++)
			if (forget && !kl_rand_below(seed, 8))
				res[k] = kl_special(KL_ANY);
		if (lose && !(op.flags & KL_OP_PENDING) && !kl_rand_below(seed, 8)) {
			const struct kl_gap g = {
				.from = op.call, .to = op.ret, .lost = 1, .cpu = op.cpu,
				.object = KL_ALL_OBJECTS,
			};

			assert_int_equal(kl_history_add_gap(h, &g), 0);
			continue;
		}
		if (unseen && !kl_rand_below(seed, 16)) {
			op.call = KL_TIME_MIN;
			op.flags |= KL_OP_NOCALL;
		}
		assert_int_equal(kl_history_add(h, &op, &s, args, res), 0);
		assert_int_equal(kl_history_set_points(h, h->nops - 1,
						       kl_op_point(from, &from->ops[i]),
						       kl_op_drain(from, &from->ops[i])), 0);
	}
	assert_int_equal(kl_history_finish(h), 0);
	return h;
}

static struct kl_history *generated(const struct kl_spec *spec, uint64_t *seed, bool *wrong)
{
	static const uint32_t keys[] = { 0, 2, 4, 30 }, delays[] = { 1, 8, 100 };
	struct kl_gen_config c = {
		.spec = spec, .seed = kl_rand(seed), .ops = 1 + kl_rand_below(seed, MOST_OPS),
		.threads = 1 + kl_rand_below(seed, 6), .objects = 1 + !kl_rand_below(seed, 6),
		.keys = keys[kl_rand_below(seed, N(keys))],
		.delay = delays[kl_rand_below(seed, N(delays))],
		.error = kl_rand_below(seed, 4) ? 0 : 1 + kl_rand_below(seed, 12),
		.pending = kl_rand_below(seed, 2) ? 0 : kl_rand_below(seed, 20),
		.mutate = kl_rand_below(seed, 3) ? 0 : 1 + kl_rand_below(seed, 2),
		.any = kl_rand_below(seed, 3),
	};
	uint32_t weight[32] = { 0 };
	struct kl_history *h, *worse;
	unsigned int k;
	int ret;

	/* Sometimes nearly all calls are of methods that reveal little of the state. */
	assert_true(kl_spec_nmethods(spec) <= N(weight));
	for (k = 0; k < kl_spec_nmethods(spec); k++)
		weight[k] = 1u << 3 * kl_rand_below(seed, 4);
	c.weight = weight;
	c.points = !c.error && !kl_rand_below(seed, 4);
	*wrong = c.mutate;
	ret = kl_gen(&c, &h);
	/* With some methods this rare, all threads may block each other. */
	if (ret == -EDEADLK)
		return NULL;
	assert_int_equal(ret, 0);
	worse = worsen(h, seed);
	kl_history_free(h);
	return worse;
}

static void replay_one(const struct kl_spec *spec, const struct kl_history *h, size_t k,
		       bool classical, bool whole, bool wrong)
{
	const struct kl_engine *const one[] = { engines[k], NULL };
	const struct kl_options opt = {
		.engines = engines[k] ? one : kl_engines(),
		.threads = 1, .max_shrink = 100, .classical = classical, .no_partition = whole,
		.bytes = 64u << 20,
	};
	struct kl_replay replay;
	struct kl_report *r;
	size_t i, shown = 0, orders = 0;
	int ret;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	for (i = 0; i < r->nparts; i++) {
		const struct kl_part_result *p = &r->parts[i];

		orders += p->answer.verdict == KL_LINEARIZABLE || p->explained;
		shown += p->cex && p->cex->oracle == KL_VIOLATION;
	}
	if (r->count[KL_VIOLATION] && !wrong) {
		show(spec, h, engines[k], classical, "a right history is called wrong");
		fail();
	}
	history_log_start();
	ret = replay_report(r, classical, spec, h, &replay);
	history_log_stop();
	/* Unknown first states may exceed the replayer's limit, which a message reports. */
	if (!ret && strstr(history_log, "too many states to replay this order"))
		orders = replay.accepted;
	if (ret || replay.accepted != orders || replay.refuted < shown) {
		show(spec, h, engines[k], classical, ret ? "refused" : "not accepted");
		fail();
	}
	counts[k].accepted += replay.accepted;
	counts[k].confirmed += replay.refuted;
	counts[k].open += replay.open;
	counts[k].declined += r->count[KL_UNKNOWN];
	kl_report_free(r);
}

static void replay_all(const struct kl_spec *spec, const struct kl_history *h, uint64_t *seed,
		       bool wrong)
{
	const char *only = getenv("KLIN_ENGINE");
	const bool whole = !kl_rand_below(seed, 3);
	size_t k;

	for (k = 0; k < nengines; k++) {
		const bool tso = engines[k] && engines[k]->tso;

		if (only && (!engines[k] || strcmp(only, engines[k]->name)))
			continue;
		if (engines[k] == &kl_oracle_engine && h->nops > ORACLE_OPS)
			continue;
		if (engines[k] == &kl_tso_oracle_engine && h->nops > TSO_ORACLE_OPS)
			continue;
		replay_one(spec, h, k, !tso && kl_rand_below(seed, 2), whole, wrong);
	}
}

static void test_generated_histories(void **state)
{
	const unsigned long n = wanted_runs(2000);
	const char *only = getenv("KLIN_SPEC");
	const struct kl_shipped *p;
	uint64_t seed = 1;
	unsigned long i;
	size_t k;

	for (p = kl_shipped; p->name; p++) {
		struct kl_spec *spec;

		if (kl_shipped_is_model(p) || (only && strcmp(only, p->name)))
			continue;
		spec = shipped_spec(p->name);
		for (i = 0; i < n / 400 + 1; i++) {
			bool wrong;
			struct kl_history *h = generated(spec, &seed, &wrong);

			if (!h)
				continue;
			replay_all(spec, h, &seed, wrong);
			kl_history_free(h);
		}
		kl_spec_free(spec);
	}
	for (k = 0; k < nengines; k++)
		print_message("%s: %lu orders accepted, %lu violations confirmed, %lu open, "
			      "%lu declined\n", engines[k] ? engines[k]->name : "any",
			      counts[k].accepted, counts[k].confirmed, counts[k].open,
			      counts[k].declined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_histories),
	};
	const struct kl_engine *const *e = kl_engines_all();

	/* engines[0] stays NULL, which stands for the portfolio. */
	for (nengines = 1; *e && nengines < N(engines); nengines++)
		engines[nengines] = *e++;
	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
