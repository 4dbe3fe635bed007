// SPDX-License-Identifier: GPL-2.0
/* Generated histories are linearizable in the order of their points; effects of the options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/check.h"
#include "generate/generate.h"
#include "history_util.h"
#include "base/shipped.h"

static struct kl_gen_config config(const struct kl_spec *spec)
{
	return (struct kl_gen_config){
		.spec = spec, .ops = 2000, .seed = 5, .threads = 5, .objects = 3, .delay = 20,
	};
}

static struct kl_history *make(const struct kl_gen_config *c)
{
	struct kl_history *h = NULL;

	assert_int_equal(kl_gen(c, &h), 0);
	assert_int_equal(h->nops, c->ops);
	return h;
}

static enum kl_verdict verdict(const struct kl_spec *spec, const struct kl_history *h)
{
	const struct kl_options opt = { .threads = 1, .classical = true, .work = 300000000 };
	enum kl_verdict v;
	struct kl_report *r;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	v = r->verdict;
	kl_report_free(r);
	return v;
}

/* Return: the index of the first operation that differs, or the number of operations. */
static size_t first_change(const struct kl_history *a, const struct kl_history *b)
{
	size_t i;

	assert_int_equal(a->nops, b->nops);
	for (i = 0; i < a->nops; i++) {
		const struct kl_op *x = &a->ops[i], *y = &b->ops[i];

		assert_memory_equal(kl_op_args(a, x), kl_op_args(b, y),
				    kl_op_sig(a, x)->nargs * sizeof(struct kl_val));
		if (kl_op_sig(a, x)->nres &&
		    memcmp(kl_op_res(a, x), kl_op_res(b, y),
			   kl_op_sig(a, x)->nres * sizeof(struct kl_val)))
			return i;
	}
	return i;
}

/* Each shipped specification gives right histories, with each kind of first state. */
static void test_shipped_specs_linearizable(void **state)
{
	const struct kl_shipped *p;
	unsigned int i, unknown = 0;
	enum kl_verdict v;

	for (p = kl_shipped; p->name; p++) {
		struct kl_spec *spec;

		if (kl_shipped_is_model(p))
			continue;
		spec = shipped_spec(p->name);
		for (i = 0; i < 4; i++) {
			struct kl_gen_config c = config(spec);
			struct kl_history *h;

			c.any = i & 1;
			c.keys = i & 2 ? 5 : 0;
			c.error = 3 * i;
			c.ops = 600;
			h = make(&c);
			v = verdict(spec, h);
			/* From an unknown state some specifications have too many orders. */
			if (v == KL_VIOLATION || (v == KL_UNKNOWN && !c.any))
				fail_msg("%s, options %u", p->name, i);
			unknown += v == KL_UNKNOWN;
			kl_history_free(h);
		}
		kl_spec_free(spec);
	}
	assert_true(unknown < 8);
}

static int first_outcome(void *ctx, const struct kl_outcome *o)
{
	struct kl_val *v = ctx;

	memcpy(v, o->state, o->len * sizeof(*v));
	return 1;
}

static int by_point(const void *a, const void *b)
{
	const struct kl_key *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* The points are inside their operations, and the specification allows their order. */
static void test_points_are_an_order(void **state)
{
	struct kl_spec *spec = shipped_spec("queue");
	struct kl_gen_config c = config(spec);
	static struct kl_val now[1024], next[1024];
	struct kl_key order[2000];
	struct kl_run *run = kl_run_new(spec);
	struct kl_history *h;
	size_t i, len, pending = 0, n = 0;

	c.objects = 1;
	c.pending = 3;
	c.points = true;
	h = make(&c);
	for (i = 0; i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];

		pending += op->flags == KL_OP_PENDING;
		if (kl_op_point(h, op) == KL_TIME_MAX) {
			assert_true(op->flags & KL_OP_PENDING);
			continue;
		}
		assert_in_range(kl_op_point(h, op), op->call, op->ret);
		order[n++] = (struct kl_key){ .key = kl_op_point(h, op), .val = i };
	}
	assert_in_range(pending, 20, 120);
	qsort(order, n, sizeof(*order), by_point);
	memcpy(now, kl_run_init(run, true, &len), sizeof(*now));
	for (i = 0; i < n; i++) {
		const struct kl_op *op = &h->ops[order[i].val];
		const char *name = h->methods[kl_op_method(h, op)];

		assert_int_equal(kl_run_apply(run, now, len, kl_spec_find_method(spec, name),
					      kl_op_args(h, op), kl_op_res(h, op), first_outcome,
					      next), 1);
		len = 1 + next[0].v;
		memcpy(now, next, len * sizeof(*now));
	}
	kl_run_free(run);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* The same configuration gives the same history; with mutation, some results differ. */
static void test_same_seed_same_history(void **state)
{
	struct kl_spec *spec = shipped_spec("set");
	struct kl_gen_config c = config(spec);
	struct kl_history *a = make(&c), *b = make(&c);

	assert_int_equal(first_change(a, b), a->nops);
	kl_history_free(b);
	c.mutate = 3;
	c.where = KL_GEN_LATE;
	b = make(&c);
	assert_in_range(first_change(a, b), 1700, 1999);
	assert_int_equal(verdict(spec, b), KL_VIOLATION);
	kl_history_free(b);
	c.where = KL_GEN_EARLY;
	b = make(&c);
	assert_in_range(first_change(a, b), 0, 300);
	kl_history_free(b);
	kl_history_free(a);
	kl_spec_free(spec);
}

static void test_methods_without_outcome(void **state)
{
	static const char never[] =
		"spec s { word x = 0;\nmethod m() { atomic { assume(x == 1); } } }";
	static const char fails[] = "spec s { word x = 0;\nmethod m() { atomic { x += 1; "
				    "assert(x < 5); } } }";
	struct kl_spec *spec;
	struct kl_gen_config c;
	struct kl_history *h;

	assert_int_equal(kl_spec_parse("never.lin", never, strlen(never), &spec), 0);
	c = config(spec);
	assert_int_equal(kl_gen(&c, &h), -EDEADLK);
	c.threads = 0;
	assert_int_equal(kl_gen(&c, &h), -EINVAL);
	kl_spec_free(spec);

	assert_int_equal(kl_spec_parse("fails.lin", fails, strlen(fails), &spec), 0);
	c = config(spec);
	history_log_start();
	assert_int_equal(kl_gen(&c, &h), -E2BIG);
	history_log_stop();
	assert_string_equal(history_log,
			    "klin: fails.lin: 'm': the assertion in line 2 fails\n");
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped_specs_linearizable),
		cmocka_unit_test(test_points_are_an_order),
		cmocka_unit_test(test_same_seed_same_history),
		cmocka_unit_test(test_methods_without_outcome),
	};

	return cmocka_run_group_tests_name("gen", tests, NULL, NULL);
}
