// SPDX-License-Identifier: GPL-2.0
/* Stories of random violations, see story_casts.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check/check.h"
#include "history_util.h"
#include "random_history.h"
#include "story/reason.h"
#include "story_casts.h"

#define MOST 64 /* specs, or reasons, of a test */

/*
 * Return: a history of the cast alone.  With store buffers, operations that are only said to name
 * the value are left out: the story does not say why their stores do not matter.
 */
static struct kl_history *cast_alone(const struct kl_history *h, const struct kl_story *s, bool tso)
{
	struct kl_history *c = kl_history_new();
	size_t i, k = 0;

	assert_non_null(c);
	c->fresh = h->fresh;
	c->clock = h->clock;
	c->error = h->error;
	c->memory = h->memory;
	for (i = 0; i < s->ncast; i++) {
		const struct kl_op *from = &h->ops[s->cast[i].op];
		struct kl_opsig sig = *kl_op_sig(h, from);
		struct kl_op op = *from;
		const char *method = h->methods[sig.method];

		if (tso && !strncmp(s->cast[i].role, "was called", 10))
			continue;
		op.object = kl_history_object(c, h->objects[from->object]);
		op.thread = kl_history_thread(c, h->threads[from->thread]);
		sig.method = kl_history_method(c, method, strlen(method));
		assert_int_equal(
			kl_history_add(c, &op, &sig, kl_op_args(h, from), kl_op_res(h, from)), 0);
		if (tso)
			assert_int_equal(kl_history_set_points(c, k++, KL_TIME_MAX,
							       kl_op_drain(h, from)),
					 0);
	}
	assert_int_equal(kl_history_finish(c), 0);
	return c;
}

static void look_at_cast(const struct kl_spec *spec, const struct kl_history *h,
			 const struct kl_story *s, bool tso)
{
	const struct kl_engine *engines[] = { kl_engine_oracle(tso), NULL };
	const struct kl_options opt = { .engines = engines, .classical = !tso, .threads = 1 };
	struct kl_history *c = cast_alone(h, s, tso);
	struct kl_report *r;
	char *text;
	size_t len;

	assert_int_equal(kl_check(spec, c, &opt, &r), 0);
	if (r->verdict != KL_VIOLATION) {
		text = history_text(h, &len);
		fail_msg("the cast of `%s' is %s, in\n%s", s->headline, kl_verdict_name(r->verdict),
			 text);
	}
	kl_report_free(r);
	kl_history_free(c);
}

/* Tell the story of a partition.  Return: the index of its reason. */
static size_t look_at_part(const struct story_casts *t, const struct kl_spec *spec,
			   const struct kl_history *h, const struct kl_part_result *p)
{
	struct kl_story *s;
	size_t k;

	assert_int_equal(kl_story_tell(spec, h, p, &s), 0);
	assert_non_null(s);
	for (k = 0; k < t->nreasons && strcmp(t->reasons[k], s->reason); k++)
		;
	assert_true(k < t->nreasons);
	/* The general reason casts the counterexample, which has its own oracle. */
	if (s->ncast < KL_STORY_CAST && strcmp(s->reason, "no_order"))
		look_at_cast(spec, h, s, t->tso);
	if (t->look)
		t->look(h, p, s);
	kl_story_free(s);
	return k;
}

void story_casts_test(const struct story_casts *t)
{
	const unsigned long runs = wanted_runs(t->runs);
	const struct kl_options opt = { .classical = !t->tso, .max_shrink = 100, .threads = 1 };
	size_t told[MOST] = { 0 }, wrong[MOST] = { 0 }, counts[MOST] = { 0 }, i, n, k;
	struct kl_spec *spec[MOST];
	unsigned long run;

	assert_true(t->nspecs <= MOST && t->nreasons <= MOST);
	for (i = 0; i < t->nspecs; i++)
		spec[i] = shipped_spec(t->specs[i]);
	for (run = 0; run < runs * t->nspecs; run++) {
		struct random_config c = {
			.max_ops = t->max_ops,
			.threads = 3,
			.values = 2 + run / t->nspecs % 8,
			.tso = t->tso,
			.drains = t->tso && run % 2,
			.overlap = run % 5 == 0,
			.clocks = run % 3 == 0,
			.unknown = run % 7 == 0,
			.gaps = run % 11 == 0,
		};
		uint64_t seed = run + 1;
		struct kl_history *h;
		struct kl_report *r;
		bool falsified;

		i = run % t->nspecs;
		h = random_history(spec[i], &c, &seed, &falsified);
		assert_int_equal(kl_check(spec[i], h, &opt, &r), 0);
		for (n = 0; n < r->nparts; n++) {
			const struct kl_part_result *p = &r->parts[n];

			if (p->answer.verdict != KL_VIOLATION || !p->cex ||
			    (t->tso && !p->cex->tso))
				continue;
			k = look_at_part(t, spec[i], h, p);
			wrong[i]++;
			told[i] += strcmp(t->reasons[k], "no_order") != 0;
			counts[k]++;
		}
		kl_report_free(r);
		kl_history_free(h);
	}
	for (i = n = run = 0; i < t->nspecs; i++) {
		run += wrong[i];
		n += told[i];
		print_message("# %s: %zu violations, %zu with a named reason\n", t->specs[i],
			      wrong[i], told[i]);
		kl_spec_free(spec[i]);
	}
	/* A reason without a name says least. */
	assert_true(100 * n >= 99 * run || runs < 500);
	for (k = 0; k < t->nreasons; k++) {
		print_message("# %s: %zu\n", t->reasons[k], counts[k]);
		assert_true(counts[k] || runs < 500);
	}
}
