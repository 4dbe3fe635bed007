// SPDX-License-Identifier: GPL-2.0
/*
 * Which operations a counterexample of a container may omit, on small random histories with
 * few words.  A history that has an order still has one after the omission.  A counterexample
 * that klin found cannot be made smaller.  KLIN_RUNS sets the number of histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/explain/omit.h"
#include "check/check.h"
#include "check/engines.h"
#include "history_util.h"
#include "random_history.h"

#define MOST	16	/* maximum number of operations */

static const char *const specs[] = {
	"spec q { queue<word> q = empty;\n"
	"method add(word v) { atomic_flush { q.push(v); } }\n"
	"method take() -> word { atomic_flush { return q.pop(); } }\n"
	"method look() -> word { atomic { return q.front(); } } }\n",
	"spec s { stack<word> s = empty;\n"
	"method add(word v) { atomic_flush { s.push(v); } }\n"
	"method take() -> word { atomic_flush { return s.pop(); } }\n"
	"method look() -> word { atomic { return s.top(); } } }\n",
	"spec p { pqueue<word> p = empty;\n"
	"method add(word v) { atomic_flush { p.push(v); } }\n"
	"method take() -> word { atomic_flush { return p.pop(); } }\n"
	"method look() -> word { atomic { return p.top(); } } }\n",
	"spec m { bag<word> b = empty;\n"
	"method add(word v) { atomic_flush { b.add(v); } }\n"
	"method take(word v) -> bool { atomic_flush { return b.remove(v); } }\n"
	"method look(word v) -> bool { atomic { return b.has(v); } }\n"
	"method count(word v) -> word { atomic { return b.count(v); } } }\n",
};

static unsigned long runs(void)
{
	return wanted_runs(20000);
}

static uint32_t below(uint64_t *seed, uint32_t n)
{
	*seed = kl_mix(*seed, 1);
	return *seed % n;
}

static struct kl_history *make(const struct kl_spec *spec, bool unknown, uint64_t *seed)
{
	const struct random_config c = {
		.max_ops = 12, .threads = 1 + below(seed, 4), .values = 1 + below(seed, 3),
		.clocks = below(seed, 2), .overlap = !below(seed, 4),
		.unknown = unknown && !below(seed, 4),
		.far = !below(seed, 4),
	};
	bool falsified;

	return random_history(spec, &c, seed, &falsified);
}

/* Return: the oracle's verdict on some operations of @h, up to @end. */
static enum kl_verdict ask(const struct kl_spec *spec, const struct kl_history *h,
			   const uint32_t *kept, size_t n, uint64_t end)
{
	const struct kl_limits lim = { 0 };
	struct kl_cut cut;
	struct kl_answer a = { 0 };
	struct kl_history *some;
	enum kl_verdict v;
	uint32_t order[MOST], all[MOST], i;

	for (i = 0; i < h->nops; i++)
		all[i] = i;
	assert_int_equal(kl_cut_init(&cut, spec, h, all, h->nops, false, 0, end), 0);
	assert_int_equal(kl_cut_history(&cut, kept, n, false, &some, order), 0);
	assert_int_equal(kl_decide_history(spec, some, &kl_oracle_engine, &lim, &a, NULL), 0);
	v = a.verdict;
	kl_answer_free(&a);
	kl_history_free(some);
	kl_cut_free(&cut);
	return v;
}

static void wrong(const struct kl_history *h, const uint32_t *kept, size_t n, const char *what)
{
	size_t i;

	fprintf(stderr, "%s; kept", what);
	for (i = 0; i < n; i++)
		fprintf(stderr, " %u", kept[i]);
	fputc('\n', stderr);
	kl_text_write(h, stderr);
	fail();
}

/* Collect the operations of @word and those of unknown words in @out.  Return: their number. */
static size_t of_word(const struct kl_spec *spec, const struct kl_history *h, uint64_t word,
		      uint32_t *out)
{
	enum kl_role role;
	struct kl_val v;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < h->nops; i++)
		if (kl_op_word(spec, h, &h->ops[i], &role, &v) &&
		    ((v.tag == KL_WORD && v.v == word) || v.tag == KL_ANY))
			out[n++] = i;
	return n;
}

static bool has_word(const struct kl_spec *spec, const struct kl_history *h, const uint32_t *ops,
		     size_t n)
{
	enum kl_role role;
	struct kl_val v = { .tag = KL_ANY };
	size_t i;

	for (i = 0; i < n && v.tag != KL_WORD; i++)
		kl_op_word(spec, h, &h->ops[ops[i]], &role, &v);
	return v.tag == KL_WORD;
}

/*
 * Omit random operations of a word if the rules allow it, or all operations that kl_count_cut()
 * omits: the history still has an order.
 */
static void test_omitted_keeps_order(void **state)
{
	uint64_t seed = 1;
	unsigned long i, may = 0, left_out = 0, refused = 0, needed = 0;
	size_t k;

	for (k = 0; k < sizeof(specs) / sizeof(*specs); k++) {
		struct kl_spec *spec;

		assert_int_equal(kl_spec_parse("t.lin", specs[k], strlen(specs[k]), &spec), 0);
		for (i = 0; i < runs(); i++) {
			struct kl_history *h = make(spec, true, &seed);
			uint32_t all[MOST], word[MOST], kept[MOST], j;
			size_t nword, n = 0;
			uint64_t end;
			bool right;

			for (j = 0; j < h->nops; j++)
				all[j] = j;
			end = h->nops && !below(&seed, 2) ? h->ops[below(&seed, h->nops)].ret :
			      KL_TIME_MAX;
			nword = of_word(spec, h, 1, word);
			/* The omission assumes that later returns, too, are right. */
			right = h->nops &&
				ask(spec, h, all, h->nops, KL_TIME_MAX) == KL_LINEARIZABLE;
			if (nword && kl_count_cut(spec, h, all, h->nops, word, nword, end,
						  below(&seed, nword), kept, &n) > 0) {
				if (has_word(spec, h, kept, n) &&
				    kl_count_kept(spec, h, all, h->nops, kept, n, end) != 1)
					wrong(h, kept, n, "a cut is none");
				left_out += n < nword;
			} else {
				for (j = n = 0; j < nword; j++)
					if (below(&seed, 3))
						kept[n++] = word[j];
			}
			if (n && kl_count_kept(spec, h, all, h->nops, kept, n, end) == 1) {
				may++;
				if (right && ask(spec, h, kept, n, end) != KL_LINEARIZABLE)
					wrong(h, kept, n, "what is left has no order");
			} else if (n && right) {
				refused++;
				needed += ask(spec, h, kept, n, end) != KL_LINEARIZABLE;
			}
			kl_history_free(h);
		}
		kl_spec_free(spec);
	}
	printf("# %lu left out, %lu of them by a cut, %lu refused, %lu of them rightly\n", may,
	       left_out, refused, needed);
	assert_true(may > runs() / 20 && left_out > runs() / 40 && needed > runs() / 100);
}

/*
 * The order of a thread holds even within the clock's error, and no reordering may change it.
 * Here all operations have an order, but the last two alone do not.
 */
static void test_program_order_within_error(void **state)
{
	static const char plain[] =
		"# klin history 1\n# clock mono error 10\n# first init\n"
		"t1 @0 0 10 add 1\nt1 @0 11 20 take -> 1\nt2 @0 15 25 take -> 1\n"
		"t2 @0 27 40 add 1\n";
	static const char keyed[] =
		"# klin history 1\n# clock mono error 10\n# first init\n"
		"t1 @0 0 10 add 1\nt1 @0 11 20 take 1 -> 1\nt2 @0 15 25 take 1 -> 1\n"
		"t2 @0 27 40 add 1\n";
	const uint32_t all[] = { 0, 1, 2, 3 };
	uint32_t out[4];
	size_t k, n;

	for (k = 0; k < sizeof(specs) / sizeof(*specs); k++) {
		struct kl_spec *spec;
		struct kl_history *h;
		const char *text;

		assert_int_equal(kl_spec_parse("t.lin", specs[k], strlen(specs[k]), &spec), 0);
		text = strstr(specs[k], "bag") ? keyed : plain;
		assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
		assert_int_equal(ask(spec, h, all, 4, KL_TIME_MAX), KL_LINEARIZABLE);
		assert_int_equal(ask(spec, h, all + 2, 2, KL_TIME_MAX), KL_VIOLATION);
		assert_int_equal(kl_count_kept(spec, h, all, 4, all + 2, 2, KL_TIME_MAX), 0);
		assert_int_equal(kl_count_cut(spec, h, all, 4, all, 4, KL_TIME_MAX, 2, out, &n), 0);
		kl_history_free(h);
		kl_spec_free(spec);
	}
}

/* Return: true if all operations except @kept may be omitted. */
static bool may_keep(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		     const uint32_t *kept, size_t n, uint64_t end)
{
	uint32_t all[MOST], i;
	int count = -1;
	size_t k = 0;

	for (i = 0; i < h->nops; i++)
		all[i] = i;
	for (i = 0; i < h->nops; i++) {
		if (k < n && kept[k] == i) {
			k++;
			continue;
		}
		if (h->ops[i].call > kl_time_add(end, h->error) ||
		    kl_may_omit(spec, run, h, i, kept, n, end, false) == 1)
			continue;
		if (count < 0)
			count = kl_count_kept(spec, h, all, h->nops, kept, n, end);
		if (count != 1)
			return false;
	}
	return true;
}

/*
 * Return: true if a removal of an unknown word has returned.  At the end of a counterexample that
 * removal may be pending.
 */
static bool unknown(const struct kl_spec *spec, const struct kl_history *h)
{
	enum kl_role role;
	struct kl_val v;
	size_t i;

	for (i = 0; i < h->nops; i++)
		if (kl_op_word(spec, h, &h->ops[i], &role, &v) && role == KL_ROLE_REMOVE &&
		    v.tag == KL_ANY && h->ops[i].ret != KL_TIME_MAX)
			return true;
	return false;
}

/*
 * Return: true if a violation remains without the operations of @word, or, if @word is KL_ANY,
 * without operation @op.
 */
static bool smaller(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		    const struct kl_counterexample *c, struct kl_val word, uint32_t op)
{
	uint32_t kept[MOST];
	enum kl_role role;
	struct kl_val v;
	size_t i, n = 0;

	for (i = 0; i < c->h->nops; i++) {
		const bool known = kl_op_word(spec, h, &h->ops[c->ops[i]], &role, &v);

		if (word.tag == KL_ANY ? c->ops[i] != op : !known || !kl_val_eq(v, word))
			kept[n++] = c->ops[i];
	}
	return n && may_keep(spec, run, h, kept, n, c->end) &&
	       ask(spec, h, kept, n, c->end) == KL_VIOLATION;
}

static void check_least(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
			const struct kl_counterexample *c)
{
	enum kl_role role;
	struct kl_val v;
	size_t i;

	if (c->oracle != KL_VIOLATION)
		wrong(h, c->ops, c->h->nops, "no violation");
	/* With an unknown state, further omissions lose information. */
	for (i = 0; i < c->h->nops && !c->forgot && !unknown(spec, h); i++) {
		if (smaller(spec, run, h, c, (struct kl_val){ .tag = KL_ANY }, c->ops[i]))
			wrong(h, c->ops, c->h->nops, "one operation less would do");
		if (kl_op_word(spec, h, &h->ops[c->ops[i]], &role, &v) && v.tag == KL_WORD &&
		    smaller(spec, run, h, c, v, 0))
			wrong(h, c->ops, c->h->nops, "one word less would do");
	}
}

static void test_counterexample_is_minimal(void **state)
{
	static const struct kl_engine *const engines[] = {
		&kl_loglinear_engine,
		&kl_frontier_engine,
		NULL,
	};
	const struct kl_options opt = {
		.engines = engines, .threads = 1, .max_shrink = 1, .classical = true,
	};
	unsigned long i, least = 0, copies = 0;
	uint64_t seed = 2;
	size_t k;

	for (k = 0; k < sizeof(specs) / sizeof(*specs); k++) {
		struct kl_spec *spec;
		struct kl_run *run;

		assert_int_equal(kl_spec_parse("t.lin", specs[k], strlen(specs[k]), &spec), 0);
		run = kl_run_new(spec);
		assert_non_null(run);
		for (i = 0; i < runs(); i++) {
			struct kl_history *h = make(spec, false, &seed);
			struct kl_report *r;

			assert_int_equal(kl_check(spec, h, &opt, &r), 0);
			if (r->verdict == KL_VIOLATION && r->nparts == 1) {
				assert_non_null(r->parts[0].cex);
				check_least(spec, run, h, r->parts[0].cex);
				copies += r->parts[0].cex->copies;
				least++;
			}
			kl_report_free(r);
			kl_history_free(h);
		}
		kl_run_free(run);
		kl_spec_free(spec);
	}
	printf("# %lu counterexamples, %lu without copies\n", least, copies);
	assert_true(least > runs() / 20 && copies > runs() / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_omitted_keeps_order),
		cmocka_unit_test(test_program_order_within_error),
		cmocka_unit_test(test_counterexample_is_minimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
