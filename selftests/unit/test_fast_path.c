// SPDX-License-Identifier: GPL-2.0
/* The interpreter's fast path for known values, compared with its general path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "spec/lang/ast.h"
#include "base/shipped.h"
#include "spec/spec.h"

/* maximum number of values of a state, and of all compared outcomes */
#define VALUES_MAX	4096
#define WALKS		40
#define STEPS		200

/* Outcomes in order of arrival, with all their parts. */
struct seen {
	const struct kl_method *m;
	struct kl_val v[VALUES_MAX], state[VALUES_MAX];
	size_t n, len;
	uint64_t *seed;
	unsigned int outcomes;
};

static void add(struct seen *s, struct kl_val v)
{
	assert_true(s->n < VALUES_MAX);
	s->v[s->n++] = v;
}

static int see(void *ctx, const struct kl_outcome *o)
{
	struct seen *s = ctx;
	size_t i;

	s->outcomes++;
	add(s, kl_word(o->len));
	add(s, kl_word(o->notes));
	add(s, kl_word(o->changed | o->barrier << 1 | o->through << 2));
	add(s, kl_word(o->nbound | o->at | o->nlocals));
	for (i = 0; i < o->nwrote; i++)
		add(s, kl_word(o->wrote[i]));
	for (i = 0; i < s->m->nresults; i++)
		add(s, o->results[i]);
	for (i = 0; i < o->len; i++)
		add(s, o->state[i]);
	if (s->seed && !kl_rand_below(s->seed, s->outcomes)) {
		s->len = o->len;
		memcpy(s->state, o->state, o->len * sizeof(*o->state));
	}
	return s->n > VALUES_MAX / 2 ? 17 : 0;
}

static struct kl_val random_val(uint64_t *seed)
{
	switch (kl_rand_below(seed, 24)) {
	case 0:
		return kl_special(KL_EMPTY + kl_rand_below(seed, 3));
	case 1:
		return (struct kl_val){ .tag = KL_ANY };
	case 2:
		return kl_word(UINT64_MAX - kl_rand_below(seed, 3));
	default:
		return kl_word(kl_rand_below(seed, 5));
	}
}

/* Return: results of some outcome, or random ones. */
static const struct kl_val *random_results(const struct seen *s, uint64_t *seed,
					   struct kl_val *res)
{
	unsigned int i;

	if (kl_rand_below(seed, 2))
		return NULL;
	for (i = 0; i < s->m->nresults; i++)
		res[i] = random_val(seed);
	return res;
}

static void walk(const struct kl_spec *spec, uint64_t *seed, unsigned int *quick)
{
	static struct seen fast, slow;
	struct kl_run *r = kl_run_new(spec), *t = kl_run_new(spec);
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	const struct kl_val *init, *expected;
	unsigned int step, i, m;
	int ret;

	assert_true(r && t);
	kl_run_set_slow(t, true);
	init = kl_run_init(r, kl_rand_below(seed, 8), &slow.len);
	assert_non_null(init);
	memcpy(slow.state, init, slow.len * sizeof(*init));
	for (step = 0; step < STEPS && slow.len < 60; step++) {
		struct kl_val before[60];
		const size_t len = slow.len;

		m = kl_rand_below(seed, kl_spec_nmethods(spec));
		fast.m = slow.m = kl_spec_method(spec, m);
		memcpy(before, slow.state, len * sizeof(*before));
		for (i = 0; i < KL_MAX_ARGS; i++)
			args[i] = random_val(seed);
		expected = random_results(&slow, seed, res);
		fast.n = slow.n = fast.outcomes = slow.outcomes = 0;
		slow.seed = seed;
		ret = kl_run_apply(t, before, len, m, args, expected, see, &slow);
		assert_int_equal(kl_run_apply(r, before, len, m, args, expected, see, &fast),
				 ret);
		assert_int_equal(fast.n, slow.n);
		assert_memory_equal(fast.v, slow.v, slow.n * sizeof(*slow.v));
		if (ret)
			assert_string_equal(kl_run_error(r), kl_run_error(t));
		*quick += spec->methods[m].fast_path && slow.outcomes;
	}
	kl_run_free(r);
	kl_run_free(t);
}

static unsigned int walks(const char *name, const char *text, uint64_t *seed)
{
	unsigned int quick = 0, i;
	struct kl_spec *spec;

	assert_int_equal(kl_spec_parse(name, text, strlen(text), &spec), 0);
	for (i = 0; i < WALKS && kl_spec_nmethods(spec); i++)
		walk(spec, seed, &quick);
	kl_spec_free(spec);
	return quick;
}

static void test_agrees_on_shipped_specs(void **state)
{
	const struct kl_shipped *s;
	unsigned int quick = 0;
	uint64_t seed = 1;

	for (s = kl_shipped; s->name; s++)
		quick += walks(s->name, s->text, &seed);
	assert_true(quick > 10000);
	/* Specifications that need most of the time elsewhere. */
	assert_true(walks("map", kl_shipped_text("map"), &seed) > WALKS * STEPS / 8);
	assert_true(walks("register", kl_shipped_text("register"), &seed) > WALKS * STEPS / 8);
}

/* Each instruction, with its errors, and all operations of containers. */
static void test_agrees_on_all_instructions(void **state)
{
	static const char *const texts[] = {
		"spec t { word x = 1, y = 2; word a[3] = 0; bool f = false;\n"
		"method put(word i, word v) { atomic { a[i] = v; } }\n"
		"method get(word i) -> word v { atomic_flush { return a[i]; } }\n"
		"method calc(word p, word q) -> word v { atomic { "
		"x = p + q * 3 - (p << q) ^ (p >> 1); y = ~p | -q & 7; return x % 5; } }\n"
		"method divide(word p, word q) -> word v { atomic { y = p / q; return p % q; } }\n"
		"method test(word p, word q, bool b) -> bool r { atomic { f = f != b; "
		"return p < q && f == b || p <= 2 || p > 7 && !b || p != q; } }\n"
		"method wait(word p) { atomic { assume(p < 4 || f); x = x; } }\n"
		"method claim(word p) -> bool r { fence; atomic { assert(p != 3); "
		"return p == y; } }\n"
		"method loop(word n) -> word s { word i = 0, t = 0; while (i < n) { "
		"i += 1; t += i; if (t > 1000) return 0; } atomic { x = t; } return t; }\n"
		"method two(word v) { atomic { y = v; } atomic_flush { x = y; } } }",

		"spec t { word n = 0, a[2] = 3; map<word, word> m = empty; bool f = false;\n"
		"method at(word k) -> word v { atomic { return a[m.get(k)]; } }\n"
		"method set(word k, word v) { atomic { a[m.get(k)] = v; } }\n"
		"method put(word k, word v) { atomic { m.put(k, v); n = m.size(); } }\n"
		"method move(word k, word l) -> word v { atomic { word old = m.remove(k); "
		"if (old != absent) m.put(l, old); f = m.has(l); return old; } }\n"
		"method strange(word k) { atomic { m.put(k, m.get(k)); } }\n"
		"method size() -> word n { atomic { return m.size(); } }\n"
		"method big() -> bool b { atomic { return m.size() > 3; } }\n"
		"method keep(word k) -> word v { atomic { n = k; m.put(n, n); "
		"return m.get(k + 1); } } }",

		"spec t { map<word, bool> m = empty;\n"
		"method put(word k, bool v) { atomic { m.put(k, v); } }\n"
		"method true_(word k) -> bool b { atomic { if (m.get(k)) return true; "
		"return false; } }\n"
		"method not(word k) -> bool b { atomic { return !m.get(k); } } }",

		"spec t { set<word> s = empty; word last;\n"
		"method add(word k) -> bool b { atomic { last = k; return s.add(k); } }\n"
		"method del(word k) -> bool b { atomic_flush { return s.remove(k); } }\n"
		"method swap(word k, word l) -> bool b { atomic { if (!s.remove(k)) return false; "
		"return s.add(l); } }\n"
		"method same() -> bool b { atomic { return s.has(last); } } }",

		/* methods that add and remove many entries */
		"spec t { set<word> s = empty;\n"
		"method fill(word k) { atomic { word i = 0; while (i < 20) { s.add(k + i); "
		"i += 1; } } }\n"
		"method drain(word k) { atomic { word i = 0; while (i < 40) { s.remove(k + i); "
		"i += 1; } } } }",
	};
	uint64_t seed = 2;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_true(walks("t.lin", texts[i], &seed) > WALKS * STEPS / 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_on_shipped_specs),
		cmocka_unit_test(test_agrees_on_all_instructions),
	};

	return cmocka_run_group_tests_name("fast_path", tests, NULL, NULL);
}
