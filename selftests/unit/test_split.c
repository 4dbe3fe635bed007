// SPDX-License-Identifier: GPL-2.0
/*
 * Splitting a history.  Each operation is in the partition of its object and key, once and in
 * order, and partitions are numbered by their first operation.  The result is the same with
 * any number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/split.h"
#include "history_util.h"

/* Upper bounds. */
struct form {
	uint32_t ops, objects, keys;
};

static struct kl_history *make_history(const struct form *f, uint64_t *seed)
{
	struct kl_history *h = kl_history_new();
	const struct kl_opsig s = { .nargs = 1, .nres = 1 };
	uint32_t i;

	assert_non_null(h);
	assert_int_equal(kl_history_method(h, "add", 3), 0);
	for (i = 0; i < f->ops; i++) {
		/* Some keys appear late, so that the first range does not have all. */
		const uint64_t late = 1 + (uint64_t)f->keys * (i + 1) / f->ops;
		const struct kl_val v[] = { kl_word(kl_rand_below(seed, late)), kl_word(1) };
		struct kl_op op = {
			.call = 2 * i, .ret = 2 * i + 1,
			.thread = kl_history_thread(h, 1),
			.object = kl_history_object(h, kl_rand_below(seed, f->objects)),
		};

		assert_int_equal(kl_history_add(h, &op, &s, v, NULL), 0);
	}
	assert_int_equal(kl_history_finish(h), 0);
	return h;
}

static uint64_t key_of(const struct kl_history *h, uint32_t op)
{
	return kl_op_args(h, &h->ops[op])->v;
}

/* Check the partitions by the definition, with a table of all pairs (object, key). */
static void assert_split(const struct kl_history *h, const struct form *f, bool by_key,
			 const struct kl_split *s)
{
	const size_t keys = by_key ? f->keys + 1 : 1;
	uint32_t *part = calloc(f->objects * keys, sizeof(*part));
	size_t *at = malloc((s->n + 1) * sizeof(*at));
	size_t n = 0, i;

	assert_non_null(part);
	assert_non_null(at);
	memcpy(at, s->at, (s->n + 1) * sizeof(*at));
	for (i = 0; i < h->nops; i++) {
		const uint32_t object = h->ops[i].object;
		const uint64_t key = by_key ? key_of(h, i) : 0;
		uint32_t *p = &part[object * keys + key];

		if (!*p) {
			*p = ++n;
			assert_true(n <= s->n);
			assert_int_equal(s->object[n - 1], object);
			assert_int_equal(s->key[n - 1], key);
		}
		assert_int_equal(s->ops[at[*p - 1]++], i);
	}
	assert_int_equal(n, s->n);
	assert_int_equal(s->at[0], 0);
	assert_int_equal(s->at[n], h->nops);
	for (i = 0; i < n; i++)
		assert_int_equal(at[i], s->at[i + 1]);
	free(at);
	free(part);
}

static void test_partitions_by_definition(void **state)
{
	static const struct form forms[] = {
		{ 1, 2, 1 }, { 50, 3, 4 }, { 1000, 40, 900 },	/* few operations */
		{ 70000, 1, 1000 }, { 150000, 3, 24 }, { 600000, 2, 10 },
		{ 150000, 1, 140000 },				/* too many keys to count twice */
		{ 70000, 3000, 3000 },				/* too many pairs for a table */
	};
	static const unsigned int threads[] = { 0, 1, 2, 3, 16, 64 };
	struct kl_spec *spec = shipped_spec("set");
	const int map[] = { 0 };
	uint64_t seed = 1;
	unsigned int i, j;

	assert_int_equal(kl_spec_method(spec, 0)->nparams, 1);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct kl_history *h = make_history(&forms[i], &seed);

		for (j = 0; j < 2 * sizeof(threads) / sizeof(threads[0]); j++) {
			const bool by_object = (j & 1) && h->nobjects > 1;
			struct kl_split s;

			assert_int_equal(kl_split(spec, h, map, by_object, threads[j / 2], &s), 0);
			assert_int_equal(s.by_key, !by_object);
			assert_split(h, &forms[i], !by_object, &s);
			kl_split_free(&s);
		}
		kl_history_free(h);
	}
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partitions_by_definition),
	};

	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
