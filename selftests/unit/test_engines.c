// SPDX-License-Identifier: GPL-2.0
/*
 * All engines against the brute-force oracles, on small random histories.  Verdicts are equal,
 * and no engine rejects a history that is right by construction.  The replayer accepts the
 * certificates, and the oracle rejects the counterexamples.  KLIN_RUNS sets the number of
 * histories of each kind; KLIN_TESTS (a pattern) selects tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "check/explain/omit.h"
#include "check/check.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "history_util.h"
#include "random_history.h"
#include "replayed.h"
#include "tso/engine/tso.h"

static const char *const sc_specs[] = {
	"spec register { word v = 0;\n"
	"method read() -> word { atomic { return v; } }\n"
	"method write(word x) { atomic_flush { v = x; } }\n"
	"method cas(word a, word b) -> bool { atomic_flush { if (v == a) { v = b; return true; }\n"
	"return false; } } }\n",
	"spec pair { word a = 0, b;\n"
	"method write(word x, word y) { atomic_flush { a = x; b = y; } }\n"
	"method read() -> (word x, word y) { atomic { return (a, b); } }\n"
	"method swap() -> word x { atomic_flush { word t = a; a = b; b = t; return a; } } }\n",
	"spec lock { bool held = false;\n"
	"method lock() { atomic_flush { assume(!held); held = true; } }\n"
	"method unlock() { atomic_flush { held = false; } }\n"
	"method trylock() -> bool ok { atomic_flush { if (held) return false; held = true;\n"
	"return true; } } }\n",
	"spec set { set<word> s = empty; partition by k;\n"
	"method insert(word k) -> bool { atomic_flush { return s.add(k); } }\n"
	"method remove(word k) -> bool { atomic_flush { return s.remove(k); } }\n"
	"method contains(word k) -> bool { atomic { return s.has(k); } } }\n",
	"spec queue { queue<word> q = empty;\n"
	"method enqueue(word v) { atomic_flush { q.push(v); } }\n"
	"method dequeue() -> word { atomic_flush { return q.pop(); } } }\n",
	"spec stack { stack<word> s = empty;\n"
	"method push(word v) { atomic_flush { s.push(v); } }\n"
	"method pop() -> word { atomic_flush { return s.pop(); } } }\n",
	"spec loose { word n = 0;\n"
	"method add() { word d; choose d in 1..2; atomic_flush { n = n + d; } }\n"
	"method get() -> word { either { atomic { return n; } } or { atomic { return 0; } } } }\n",
	"spec halves { word a = 0, b;\n"
	"method set_a(word x) { atomic_flush { a = x; } }\n"
	"method set_b(word x) { atomic_flush { b = x; } }\n"
	"method read() -> (word x, word y) { atomic { return (a, b); } } }\n",
	"spec some { bag<word> g = empty; word last;\n"
	"method put(word v) { atomic_flush { g.add(v); last = v; } }\n"
	"method take() -> word v { word v; choose v in 0..2;\n"
	"atomic_flush { assume(g.remove(v)); return v; } }\n"
	"method last() -> word { atomic { return last; } } }\n",
	"spec multiset { bag<word> b = empty;\n"
	"method add(word v) { atomic_flush { b.add(v); } }\n"
	"method remove(word v) -> bool { atomic_flush { return b.remove(v); } }\n"
	"method has(word v) -> bool { atomic { return b.has(v); } }\n"
	"method count(word v) -> word { atomic { return b.count(v); } } }\n",
	"spec deque { deque<word> d;\n"
	"method push(bool back, word v) { atomic_flush { if (back) d.push_back(v);\n"
	"else d.push_front(v); } }\n"
	"method pop(bool back) -> word { atomic_flush { if (back) return d.pop_back();\n"
	"return d.pop_front(); } }\n"
	"method ends() -> (word a, word b) { atomic { return (d.front(), d.back()); } }\n"
	"method size() -> word { atomic { return d.size(); } } }\n",
	"spec two { word x = 0; queue<word> q = empty;\n"
	"method put(word v) -> word { atomic_flush { q.push(v); x += 1; return x; } }\n"
	"method move() -> bool { atomic_flush { word v = q.pop(); if (v == empty) return false;\n"
	"x = v; return true; } }\n"
	"method wait(word v) { atomic { assume(x == v); } }\n"
	"method get() -> word { atomic { return x; } } }\n",
};

static const char *const tso_specs[] = {
	"spec pair { word a = 0, b = 0;\n"
	"method write(word x, word y) { atomic { a = x; b = y; } }\n"
	"method fenced(word x) { fence; atomic { a = x; b = x; } }\n"
	"method read() -> (word x, word y) { atomic { return (a, b); } } }\n",
	"spec fig5 { word x = 0, y = 0;\n"
	"method set_x(word v) { atomic { x = v; } }\n"
	"method set_y(word v) { atomic { y = v; } }\n"
	"method get_x() -> word { atomic { return x; } }\n"
	"method get_y() -> word { atomic { return y; } } }\n",
	"spec lock { bool held = false;\n"
	"method lock() { atomic_flush { assume(!held); held = true; } }\n"
	"method unlock() { atomic { held = false; } }\n"
	"method trylock() -> bool ok {\n"
	"either { atomic { assume(held); return false; } }\n"
	"or { atomic_flush { assume(!held); held = true; return true; } } } }\n",
	"spec cell { word v;\n"
	"method put(word x) { atomic { v = x; } }\n"
	"method xchg(word x) -> word { atomic_flush { word t = v; v = x; return t; } }\n"
	"method get() -> word { atomic { return v; } } }\n",
	"spec fenced { word v;\n"
	"method put(word x) { fence; atomic { v = x; } }\n"
	"method plain(word x) { atomic { v = x; } }\n"
	"method locked(word x) { atomic_flush { v = x; } }\n"
	"method add(word n) -> word { atomic { v = v + n; return v; } }\n"
	"method get() -> word { atomic { return v; } }\n"
	"method get_flush() -> word { atomic_flush { return v; } } }\n",
	"spec mixed { word a = 0, b;\n"
	"method set_a(word x) { atomic { a = x; } }\n"
	"method set_b(word x) { atomic_flush { b = x; } }\n"
	"method fenced_b(word x) { fence; atomic { b = x; } }\n"
	"method read() -> (word x, word y) { atomic { return (a, b); } }\n"
	"method read_flush() -> word { atomic_flush { return a; } }\n"
	"method sum() -> word { atomic_flush { a = a + b; return a; } } }\n",
	"spec loose { word n = 0, m = 0;\n"
	"method add() { word d; choose d in 1..2; atomic { n = n + d; } }\n"
	"method wait(word v) { atomic { assume(n == v); m = v; } }\n"
	"method either_way(word v) { either { atomic { n = v; } } or { atomic_flush { "
	"m = v; } } }\n"
	"method get() -> (word a, word b) { atomic { return (n, m); } } }\n",
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

static unsigned long runs(void)
{
	return wanted_runs(10000);
}

static void show(const struct kl_spec *spec, const struct kl_history *h, const char *what)
{
	fprintf(stderr, "%s\n%s", what, kl_spec_text(spec));
	kl_text_write(h, stderr);
}

/* Return: true if the engine gave up because it does not keep enough about unknown values. */
static bool is_lost(const struct kl_part_result *p)
{
	return p->answer.verdict == KL_UNKNOWN && !strcmp(p->answer.reason, KL_LOST_REASON);
}

static bool lost;		/* what is_lost() returned for the last answer */

static enum kl_verdict ask_within(const struct kl_spec *spec, const struct kl_history *h,
				  const struct kl_engine *e, bool no_partition, uint64_t looks)
{
	const struct kl_engine *const engines[] = { e, NULL };
	struct kl_options opt = {
		.engines = engines, .threads = 1, .no_partition = no_partition,
		.classical = !e->tso, .bytes = 64u << 20, .work = looks,
		/* Horn & Kroening's LRU variant, with a cache so small that it forgets. */
		.cache = h->nops & 1 ? 4 : 0, .no_witness = h->nops & 2,
	};
	struct kl_report *r;
	enum kl_verdict v = KL_LINEARIZABLE;
	size_t i;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	/* With a gap the verdict is UNKNOWN, but this test asks only whether there is an order. */
	for (i = 0; i < r->nparts; i++) {
		if (r->parts[i].answer.verdict == KL_VIOLATION)
			v = KL_VIOLATION;
		else if (!r->parts[i].explained && v != KL_VIOLATION)
			v = KL_UNKNOWN;
	}
	for (i = 0, lost = false; i < r->nparts && v == KL_UNKNOWN; i++)
		lost |= is_lost(&r->parts[i]);
	kl_report_free(r);
	return v;
}

static enum kl_verdict ask(const struct kl_spec *spec, const struct kl_history *h,
			   const struct kl_engine *e, bool no_partition)
{
	return ask_within(spec, h, e, no_partition, 500000000);
}

/*
 * Check with shrinking, and replay the certificate.
 *
 * Return: true if all parts were proved.  A few orders have too many states for the replayer.
 */
static bool check_certificate(const struct kl_spec *spec, const struct kl_history *h,
			      enum kl_verdict expected, bool classical)
{
	struct kl_options opt = {
		.threads = 1, .max_shrink = 100, .classical = classical,
	};
	struct kl_replay replay;
	struct kl_report *r;
	bool large = false;
	size_t i;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	if ((r->count[KL_VIOLATION] != 0) != (expected == KL_VIOLATION)) {
		show(spec, h, "the whole check differs");
		fail();
	}
	for (i = 0; i < r->nparts; i++) {
		const struct kl_part_result *p = &r->parts[i];

		/*
		 * From an unknown state a few histories have too many continuations for the oracle.
		 */
		large |= p->cex && p->cex->oracle == KL_UNKNOWN;
		large |= is_lost(p);
		if (p->answer.verdict == KL_VIOLATION &&
		    (!p->cex || p->cex->oracle == KL_LINEARIZABLE)) {
			show(spec, h, "no counterexample, or the oracle does not reject it");
			if (p->cex)
				show(spec, p->cex->h, "counterexample:");
			fail();
		}
	}
	if (replay_report(r, classical, spec, h, &replay) ||
	    (replay.open && expected == KL_VIOLATION && !large)) {
		show(spec, h, "the replayer rejects the certificate");
		fail();
	}
	kl_report_free(r);
	return !replay.open;
}

/* Results of a comparison. */
struct count {
	unsigned long verdict[3];
	/* histories with a violation as a whole, and with none in any partition */
	unsigned long only_whole;
	unsigned long lost;		/* UNKNOWN answers for which is_lost() is true */
	/* UNKNOWN answers for which many unknown keys exceeded an engine's memory */
	unsigned long declined;
};

static void same(const struct kl_spec *spec, const struct kl_history *h,
		 const struct kl_engine *e, bool no_partition, enum kl_verdict expected,
		 struct count *count)
{
	enum kl_verdict v = ask(spec, h, e, no_partition);
	char what[100];

	count->declined += v == KL_UNKNOWN;
	if (v == expected || v == KL_UNKNOWN)
		return;
	snprintf(what, sizeof(what), "%s says %s, the oracle %s%s", e->name, kl_verdict_name(v),
		 kl_verdict_name(expected), no_partition ? ", of the whole" : "");
	show(spec, h, what);
	fail();
}

/*
 * Partitions decide the whole if intervals alone order the operations (Horn & Kroening,
 * Theorem 1).  Program order is exact even with inexact clocks and ties, so the orders of
 * partitions may form a cycle.  Partitions also ignore the order of stores to different keys.
 * In these cases partitions miss some violations, but report no false ones.
 */
static void differ(const struct kl_spec *spec, const struct kl_history *h, bool falsified,
		   const struct kl_engine *const *engines, const struct kl_engine *oracle,
		   struct count *count)
{
	enum kl_verdict expected = ask(spec, h, oracle, false), whole = expected;
	struct count declined = { 0 };
	size_t i;

	count->verdict[expected] += !lost;
	count->lost += lost;
	/* If the oracle lost information, no engine may claim that an order is correct. */
	for (i = 0; lost && engines[i]; i++)
		same(spec, h, engines[i], false, KL_UNKNOWN, &declined);
	if (expected == KL_UNKNOWN)
		return;
	if (kl_spec_partition(spec) == KL_PART_PARAM)
		whole = ask(spec, h, oracle, true);
	if ((!falsified && whole == KL_VIOLATION) ||
	    (expected == KL_VIOLATION && whole == KL_LINEARIZABLE)) {
		show(spec, h, "false alarm of the oracle itself");
		fail();
	}
	count->only_whole += whole == KL_VIOLATION && expected == KL_LINEARIZABLE;
	for (i = 0; engines[i]; i++) {
		same(spec, h, engines[i], false, expected, count);
		if (whole != KL_UNKNOWN)
			same(spec, h, engines[i], true, whole, count);
	}
	count->declined += !check_certificate(spec, h, expected, !oracle->tso);
}

/* The test's own specifications and all shipped ones. */
struct specs {
	struct kl_spec *s[128];
	size_t n;
};

static bool has_buffers(const struct kl_spec *s)
{
	unsigned int i;

	for (i = 0; i < kl_spec_nmethods(s); i++)
		if (kl_spec_method(s, i)->nblocks > 1)
			return false;
	return kl_spec_fixed_size(s);
}

static void load_specs(struct specs *l, const char *const *texts, size_t ntexts, bool tso)
{
	size_t i, max = sizeof(l->s) / sizeof(l->s[0]);
	glob_t g;

	assert_int_equal(glob("specs/*.lin", 0, NULL, &g), 0);
	/* Fails if the test does not run in the source tree: it needs specs/. */
	assert_true(g.gl_pathc > 20 && g.gl_pathc + ntexts < max);
	for (l->n = 0; l->n < ntexts; l->n++)
		assert_int_equal(kl_spec_parse("test.lin", texts[l->n], strlen(texts[l->n]),
					       &l->s[l->n]), 0);
	for (i = 0; i < g.gl_pathc; i++) {
		assert_int_equal(kl_spec_load(g.gl_pathv[i], &l->s[l->n]), 0);
		if (!tso || has_buffers(l->s[l->n]))
			l->n++;
		else
			kl_spec_free(l->s[l->n]);
	}
	globfree(&g);
}

static void free_specs(struct specs *l)
{
	while (l->n)
		kl_spec_free(l->s[--l->n]);
}

static void compare(const struct random_config *c, uint64_t seed)
{
	static const struct kl_engine *const classical[] = {
		&kl_frontier_engine, &kl_dfs_engine, &kl_beam_engine, &kl_wgl_engine, NULL,
	};
	static const struct kl_engine *const with_tso[] = { &kl_tso_engine, NULL };
	const struct kl_engine *oracle = c->tso ? &kl_tso_oracle_engine : &kl_oracle_engine;
	struct count count = { 0 };
	unsigned long n, i;
	struct specs specs;
	size_t k;

	if (c->tso)
		load_specs(&specs, tso_specs, N(tso_specs), true);
	else
		load_specs(&specs, sc_specs, N(sc_specs), false);
	n = runs() / specs.n + 1;
	for (k = 0; k < specs.n; k++) {
		for (i = 0; i < n; i++) {
			bool falsified;
			struct kl_history *h = random_history(specs.s[k], c, &seed, &falsified);

			differ(specs.s[k], h, falsified, c->tso ? with_tso : classical,
			       oracle, &count);
			kl_history_free(h);
		}
	}
	printf("# %zu specifications: %lu linearizable, %lu violations, %lu more of the whole, %lu "
	       "lost, %lu too large for the oracle, %lu for an engine\n", specs.n,
	       count.verdict[KL_LINEARIZABLE], count.verdict[KL_VIOLATION], count.only_whole,
	       count.lost, count.verdict[KL_UNKNOWN], count.declined);
	n *= specs.n;
	free_specs(&specs);
	/* Fails if the random histories are mostly of one kind. */
	assert_true(count.verdict[KL_VIOLATION] > n / 40 && count.verdict[KL_LINEARIZABLE] > n / 4);
	assert_true(count.verdict[KL_UNKNOWN] < n / 200 + 1 && count.only_whole < n / 200 + 1);
	assert_true(count.lost < n / 40 + 2 && count.declined < n / 500 + 2);
}

static void test_classical(void **state)
{
	compare(&(struct random_config){ .max_ops = 8, .threads = 4, .values = 3 }, 1);
}

static void test_classical_gaps(void **state)
{
	compare(&(struct random_config){ .max_ops = 7, .threads = 3, .values = 3, .gaps = true },
		2);
}

static void test_tso(void **state)
{
	compare(&(struct random_config){ .max_ops = 6, .threads = 3, .values = 3, .tso = true }, 3);
}

static void test_tso_gaps(void **state)
{
	compare(&(struct random_config){
		.max_ops = 6, .threads = 3, .values = 3, .tso = true, .gaps = true,
	}, 4);
}

static void test_sc_engines_agree_on_overlap_in_a_thread(void **state)
{
	compare(&(struct random_config){
		.max_ops = 7, .threads = 3, .values = 3, .overlap = true, .clocks = true,
	}, 11);
}

static void test_classical_extreme_times(void **state)
{
	compare(&(struct random_config){
		.max_ops = 7, .threads = 3, .values = 3, .far = true, .clocks = true,
	}, 12);
}

static void test_classical_unknown(void **state)
{
	compare(&(struct random_config){
		.max_ops = 7, .threads = 3, .values = 3, .unknown = true,
	}, 13);
}

static void test_classical_all_difficulties(void **state)
{
	compare(&(struct random_config){
		.max_ops = 7, .threads = 3, .values = 3, .gaps = true, .overlap = true,
		.clocks = true, .far = true, .unknown = true,
	}, 14);
}

static void test_tso_overlap(void **state)
{
	compare(&(struct random_config){
		.max_ops = 6, .threads = 3, .values = 3, .tso = true, .overlap = true,
		.clocks = true,
	}, 15);
}

static void test_tso_drains(void **state)
{
	compare(&(struct random_config){
		.max_ops = 6, .threads = 3, .values = 3, .tso = true, .drains = true,
		.clocks = true,
	}, 16);
}

static void test_tso_extreme_times(void **state)
{
	compare(&(struct random_config){
		.max_ops = 6, .threads = 3, .values = 3, .tso = true, .far = true, .clocks = true,
	}, 17);
}

static void test_tso_unknown(void **state)
{
	compare(&(struct random_config){
		.max_ops = 6, .threads = 3, .values = 3, .tso = true, .unknown = true,
	}, 18);
}

static void test_tso_all_difficulties(void **state)
{
	compare(&(struct random_config){
		.max_ops = 6, .threads = 3, .values = 3, .tso = true, .gaps = true,
		.overlap = true, .clocks = true, .far = true, .unknown = true, .drains = true,
	}, 19);
}

/* A history that is linearizable without store buffers is linearizable with them. */
static void test_tso_accepts_more(void **state)
{
	const struct random_config c = { .max_ops = 7, .threads = 3, .values = 3, .tso = true };
	unsigned long i, n = runs() / 4, only_tso = 0, unknown = 0;
	struct specs specs;
	uint64_t seed = 5;
	size_t k;

	load_specs(&specs, tso_specs, N(tso_specs), true);
	for (k = 0; k < specs.n; k++) {
		for (i = 0; i < n / specs.n; i++) {
			bool falsified;
			struct kl_history *h = random_history(specs.s[k], &c, &seed, &falsified);
			enum kl_verdict sc = ask(specs.s[k], h, &kl_frontier_engine, false);
			enum kl_verdict tso = ask(specs.s[k], h, &kl_tso_engine, false);

			unknown += tso == KL_UNKNOWN && !lost;
			if (sc == KL_LINEARIZABLE && tso == KL_VIOLATION) {
				show(specs.s[k], h, "TSO rejects what SC accepts");
				fail();
			}
			only_tso += sc == KL_VIOLATION && tso == KL_LINEARIZABLE;
			kl_history_free(h);
		}
	}
	free_specs(&specs);
	printf("# %lu histories that only the store buffer explains\n", only_tso);
	assert_true(only_tso > 0 && unknown < n / 500 + 2);
}

/*
 * Engine @e on the one kind of container that it supports: small histories compared with the
 * oracle.  For unsupported histories (gaps, unknown values) it must return UNKNOWN.
 */
static void with_repeats(const char *text, const struct kl_engine *e, unsigned int percent)
{
	static const struct random_config configs[] = {
		{ .max_ops = 10, .threads = 4, .values = 2 },
		{ .max_ops = 8, .threads = 3, .values = 3, .gaps = true },
		{ .max_ops = 9, .threads = 3, .values = 2, .overlap = true, .clocks = true },
		{ .max_ops = 9, .threads = 4, .values = 2, .unknown = true },
	};
	unsigned long i, n = runs(), decided = 0, violations = 0;
	uint64_t seed = 21;
	struct kl_spec *spec;

	assert_int_equal(kl_spec_parse("test.lin", text, strlen(text), &spec), 0);
	for (i = 0; i < n; i++) {
		bool falsified;
		struct kl_history *h = random_history(spec, &configs[i % N(configs)], &seed,
						      &falsified);
		enum kl_verdict v = ask(spec, h, e, false), o = v;

		decided += v != KL_UNKNOWN;
		violations += v == KL_VIOLATION;
		if (v != KL_UNKNOWN)
			o = ask(spec, h, &kl_oracle_engine, false);
		if (v != o && o != KL_UNKNOWN) {
			show(spec, h, v == KL_VIOLATION ? "a false alarm" : "missed");
			fail();
		}
		kl_history_free(h);
	}
	kl_spec_free(spec);
	printf("# %lu histories, %lu decided, %lu violations\n", n, decided, violations);
	assert_true(decided > n * percent / 100 && violations > n / 20);
}

static void test_fifo_against_oracle(void **state)
{
	with_repeats("spec q { queue<word> q = empty;\n"
		     "method add(word v) { atomic_flush { q.push(v); } }\n"
		     "method take() -> word { atomic_flush { return q.pop(); } }\n"
		     "method look() -> word { atomic { return q.front(); } } }\n",
		     &kl_fifo_engine, 50);
}

static void test_lifo_against_oracle(void **state)
{
	with_repeats("spec s { stack<word> s = empty;\n"
		     "method add(word v) { atomic_flush { s.push(v); } }\n"
		     "method take() -> word { atomic_flush { return s.pop(); } }\n"
		     "method look() -> word { atomic { return s.top(); } } }\n",
		     &kl_lifo_engine, 25);
}

/* A history too large for the oracle, of random kind; several engines decide it. */
static struct kl_history *middle_history(const struct kl_spec *spec, uint64_t *seed,
					 unsigned int least, bool *wrong)
{
	struct kl_gen_config c = {
		.spec = spec, .seed = kl_rand(seed), .threads = 2 + kl_rand_below(seed, 5),
		.objects = 1 + kl_rand_below(seed, 2), .keys = kl_rand_below(seed, 5),
		.delay = kl_rand_below(seed, 30), .pending = kl_rand_below(seed, 3),
		.any = !kl_rand_below(seed, 4), .stall = !kl_rand_below(seed, 4),
	};
	struct kl_history *h;

	c.ops = least + kl_rand_below(seed, 70);
	c.error = kl_rand_below(seed, 2) ? 0 : kl_rand_below(seed, 10);
	c.mutate = kl_rand_below(seed, 3);
	c.where = kl_rand_below(seed, 3);
	*wrong = c.mutate;
	assert_int_equal(kl_gen(&c, &h), 0);
	return h;
}

static void test_engines_agree_beyond_oracle(void **state)
{
	static const struct kl_engine *const engines[] = {
		&kl_frontier_engine, &kl_dfs_engine, &kl_wgl_engine, &kl_beam_engine,
		&kl_fifo_engine, &kl_lifo_engine,
	};
	unsigned long i, n = runs() / 8 + 1, decided[N(engines)] = { 0 }, violations = 0;
	struct specs specs;
	uint64_t seed = 6;
	size_t k;

	load_specs(&specs, sc_specs, N(sc_specs), false);
	for (i = 0; i < n; i++) {
		const struct kl_spec *spec = specs.s[i % specs.n];
		bool wrong, whole, said[2] = { false };
		struct kl_history *h;

		h = middle_history(spec, &seed, 30, &wrong);
		whole = kl_rand(&seed) & 1;
		for (k = 0; k < N(engines); k++) {
			enum kl_verdict v = ask_within(spec, h, engines[k], whole, 30000000);

			decided[k] += v != KL_UNKNOWN;
			if (v != KL_UNKNOWN)
				said[v == KL_VIOLATION] = true;
		}
		violations += said[1];
		if ((said[0] && said[1]) || (said[1] && !wrong)) {
			show(spec, h, "engines differ, or call a right history wrong");
			fail();
		}
		kl_history_free(h);
	}
	free_specs(&specs);
	printf("# %lu histories, %lu violations; frontier decided %lu, dfs %lu, wgl %lu\n", n,
	       violations, decided[0], decided[1], decided[2]);
	assert_true(violations > n / 10);
	/* The last two support only queues and stacks. */
	for (k = 0; k < N(engines) - 2; k++)
		assert_true(decided[k] > n * 8 / 10);
}

/*
 * For histories with store buffers that are too large for the oracle: the oracle checks the
 * counterexample, and the replayer the order.
 */
static void test_tso_beyond_oracle(void **state)
{
	static const struct kl_engine *const engines[] = { &kl_tso_engine, NULL };
	const struct kl_options opt = {
		.engines = engines, .threads = 1, .max_shrink = 1, .work = 100000000,
	};
	unsigned long i, n = runs() / 200 + 1, shown[3] = { 0 };
	struct kl_replay replay;
	struct kl_report *r;
	struct specs specs;
	uint64_t seed = 16;

	load_specs(&specs, tso_specs, N(tso_specs), true);
	for (i = 0; i < n; i++) {
		const struct kl_spec *spec = specs.s[i % specs.n];
		const struct kl_counterexample *cex = NULL;
		bool wrong;
		struct kl_history *h = middle_history(spec, &seed, 10, &wrong);
		size_t k;

		assert_int_equal(kl_check(spec, h, &opt, &r), 0);
		for (k = 0; k < r->nparts && !cex; k++)
			cex = r->parts[k].cex;
		if ((r->verdict == KL_VIOLATION && !wrong) || strstr(r->reason, "defect") ||
		    (cex && cex->oracle == KL_LINEARIZABLE) ||
		    (r->verdict == KL_LINEARIZABLE && replay_report(r, false, spec, h, &replay))) {
			show(spec, h, kl_verdict_name(r->verdict));
			fail();
		}
		shown[r->verdict] += r->verdict != KL_VIOLATION ||
				     (cex && cex->oracle == KL_VIOLATION);
		kl_report_free(r);
		kl_history_free(h);
	}
	free_specs(&specs);
	printf("# %lu histories: %lu orders replayed, %lu counterexamples rejected, %lu unknown\n",
	       n, shown[KL_LINEARIZABLE], shown[KL_VIOLATION], shown[KL_UNKNOWN]);
	assert_true(shown[KL_LINEARIZABLE] >= n / 3 && shown[KL_VIOLATION] >= n / 20);
}

/*
 * Choose some operations of an object.  Return: their number, or 0 if the object's other operations
 * may not be omitted.
 */
static size_t some_ops(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		       uint64_t *seed, uint32_t *kept)
{
	size_t n = 0, i, left = 0;

	for (i = 0; i < h->nops; i++)
		if (!h->ops[i].object && kl_rand_below(seed, 3))
			kept[n++] = i;
	for (i = 0; i < h->nops && n; i++) {
		size_t k;
		int ret;

		for (k = 0; k < n && kept[k] != i; k++)
			;
		if (h->ops[i].object || k < n)
			continue;
		ret = kl_may_omit(spec, run, h, i, kept, n, KL_TIME_MAX, false);
		assert_true(ret >= 0);
		if (!ret)
			return 0;
		left++;
	}
	return left ? n : 0;
}

#define FILLERS	70

/*
 * Return: a history of @h and more operations, which are called before the operations of @h,
 * return after them, and take effect at the end.
 */
static struct kl_history *widen(const struct kl_history *h)
{
	struct kl_history *w = kl_history_new();
	struct kl_opsig late = { .nargs = 1 }, finish = { 0 };
	struct kl_op op = { .call = 1, .cpu = KL_NO_CPU };
	uint64_t end = 0;
	size_t i;

	assert_non_null(w);
	w->clock = h->clock;
	w->error = h->error;
	w->fresh = true;
	for (i = 0; i < h->nmethods; i++)
		assert_int_equal(kl_history_method(w, h->methods[i], strlen(h->methods[i])), i);
	late.method = kl_history_method(w, "late", 4);
	finish.method = kl_history_method(w, "finish", 6);
	assert_int_equal(kl_history_object(w, 1), 0);
	for (i = 0; i < h->nops; i++) {
		const struct kl_op *o = &h->ops[i];

		if (o->ret != KL_TIME_MAX && o->ret > end)
			end = o->ret;
		if (o->call > end)
			end = o->call;
	}
	end += 2000 + 2 * h->error;
	for (i = 0; i < FILLERS; i++) {
		const struct kl_val k = kl_word(i);

		op.thread = kl_history_thread(w, 1000 + i);
		op.ret = end + 1000;
		assert_int_equal(kl_history_add(w, &op, &late, &k, NULL), 0);
	}
	op.thread = kl_history_thread(w, 999);
	op.call = end;
	op.ret = end + 1;
	assert_int_equal(kl_history_add(w, &op, &finish, NULL, NULL), 0);
	for (i = 0; i < h->nops; i++) {
		const struct kl_op *o = &h->ops[i];

		op = (struct kl_op){
			.thread = kl_history_thread(w, h->threads[o->thread]), .cpu = o->cpu,
			.flags = o->flags & (KL_OP_PENDING | KL_OP_NOCALL),
			.call = o->flags & KL_OP_NOCALL ? o->call : o->call + 1000,
			.ret = o->ret == KL_TIME_MAX ? o->ret : o->ret + 1000,
		};
		assert_int_equal(kl_history_add(w, &op, kl_op_sig(h, o), kl_op_args(h, o),
						kl_op_res(h, o)),
				 0);
	}
	assert_int_equal(kl_history_finish(w), 0);
	return w;
}

/*
 * There are more concurrent operations than bits in a word, but only few of them can take effect.
 * The verdict must be the same as without the operations that cannot.
 */
static void test_more_concurrent_than_bits(void **state)
{
	static const char wide[] = "spec wide { word v = 0; bool done = false;\n"
		"method read() -> word { atomic { return v; } }\n"
		"method write(word x) { atomic_flush { v = x; } }\n"
		"method cas(word a, word b) -> bool {\n"
		"atomic_flush { if (v == a) { v = b; return true; } return false; } }\n"
		"method finish() { atomic_flush { done = true; } }\n"
		"method late(word k) { atomic { assume(done); } } }\n";
	static const struct kl_engine *const engines[] = {
		&kl_frontier_engine, &kl_dfs_engine, &kl_wgl_engine, &kl_beam_engine,
	};
	const struct random_config c = { .max_ops = 12, .threads = 5, .values = 3 };
	unsigned long i, n = runs() / 4 + 1, count[3] = { 0 };
	struct kl_spec *spec, *small;
	uint64_t seed = 21;
	size_t k;

	assert_int_equal(kl_spec_parse("w.lin", wide, strlen(wide), &spec), 0);
	assert_int_equal(kl_spec_parse("s.lin", sc_specs[0], strlen(sc_specs[0]), &small), 0);
	for (i = 0; i < n; i++) {
		bool falsified;
		struct kl_history *h = random_history(small, &c, &seed, &falsified), *w;
		enum kl_verdict expected = h->fresh ? ask(small, h, &kl_oracle_engine, true) :
					   KL_UNKNOWN;

		count[expected]++;
		w = expected == KL_UNKNOWN ? NULL : widen(h);
		for (k = 0; w && k < N(engines); k++) {
			const enum kl_verdict v = ask(spec, w, engines[k], true);

			/* A beam search cannot prove a violation. */
			if (v == expected || (engines[k] == &kl_beam_engine && v == KL_UNKNOWN))
				continue;
			show(spec, w, engines[k]->name);
			show(small, h, "the same, small:");
			fail();
		}
		kl_history_free(w);
		kl_history_free(h);
	}
	kl_spec_free(spec);
	kl_spec_free(small);
	printf("# %lu linearizable, %lu violations, %lu from an unknown state\n",
	       count[KL_LINEARIZABLE], count[KL_VIOLATION], count[KL_UNKNOWN]);
	assert_true(count[KL_LINEARIZABLE] > n / 4 && count[KL_VIOLATION] > n / 40);
}

/* Check that the order of @a has all operations that returned before @fail. */
static void assert_reaches(const struct kl_spec *spec, const struct kl_history *h,
			   const struct kl_answer *a, struct kl_event fail)
{
	bool placed[16] = { false };
	uint32_t i;

	for (i = 0; i < a->nsteps; i++)
		placed[a->steps[i].item] = true;
	for (i = 0; i < h->nops; i++) {
		if (h->ops[i].ret < h->ops[fail.item].ret && !placed[i]) {
			show(spec, h, "an order that does not come as far as it says");
			fail();
		}
	}
}

/* All engines report the same first event that no order reaches. */
static void test_furthest_event_is_the_same(void **state)
{
	static const struct kl_engine *const engines[] = {
		&kl_frontier_engine, &kl_dfs_engine, &kl_wgl_engine,
	};
	const struct random_config c = { .max_ops = 10, .threads = 4, .values = 3 };
	const struct kl_limits lim = { .bytes = 64u << 20 };
	unsigned long i, n = runs(), violations = 0;
	struct specs specs;
	uint64_t seed = 22;
	size_t k;

	load_specs(&specs, sc_specs, N(sc_specs), false);
	for (i = 0; i < n; i++) {
		const struct kl_spec *spec = specs.s[i % specs.n];
		bool falsified;
		struct kl_history *h = random_history(spec, &c, &seed, &falsified);
		struct kl_event fail[N(engines)];

		for (k = 0; falsified && k < N(engines); k++) {
			struct kl_answer a;

			assert_int_equal(kl_decide_history(spec, h, engines[k], &lim, &a,
							   &fail[k]), 0);
			if (k)
				assert_int_equal(a.verdict, KL_VIOLATION);
			if (a.verdict != KL_VIOLATION)
				falsified = false;
			else
				assert_reaches(spec, h, &a, fail[k]);
			kl_answer_free(&a);
			if (falsified && (fail[k].item != fail[0].item ||
					  fail[k].kind != fail[0].kind)) {
				show(spec, h, engines[k]->name);
				fail();
			}
		}
		violations += falsified;
		kl_history_free(h);
	}
	free_specs(&specs);
	printf("# %lu histories, %lu violations\n", n, violations);
	assert_true(violations > n / 40);
}

/* A single step with very many outcomes stops at the work limit, too. */
static void test_work_limit_in_one_step(void **state)
{
	static const char text[] = "spec t { word v = 0;\n"
		"method set() { atomic { choose x in 0..30000; v = x; } }\n"
		"method get() -> word { atomic { return v; } } }";
	const struct kl_limits lim = { .work = 200000, .cap = 200000 };
	const struct kl_engine *const *e;
	struct kl_gen_config c = { .threads = 4, .objects = 1, .delay = 50, .ops = 8, .seed = 1 };
	struct kl_history *h;
	struct kl_spec *spec;
	unsigned int stopped = 0;

	assert_int_equal(kl_spec_parse("t.lin", text, strlen(text), &spec), 0);
	c.spec = spec;
	assert_int_equal(kl_gen(&c, &h), 0);
	for (e = kl_engines_all(); *e; e++) {
		struct kl_answer a;

		assert_int_equal(kl_decide_history(spec, h, *e, &lim, &a, NULL), 0);
		printf("# %s: %s, %llu looks: %s\n", (*e)->name, kl_verdict_name(a.verdict),
		       (unsigned long long)a.work, a.reason);
		assert_true(a.work < 2 * lim.work);
		stopped += a.work > lim.work;
		kl_answer_free(&a);
	}
	assert_true(stopped >= 5);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* Omitting operations that may be omitted keeps right histories right. */
static void test_omitted_ops_leave_no_trace(void **state)
{
	const struct random_config c = { .max_ops = 8, .threads = 3, .values = 3, .overlap = true };
	unsigned long i, n = runs() * 4, smaller = 0;
	struct specs specs;
	uint64_t seed = 12;

	load_specs(&specs, sc_specs, N(sc_specs), false);
	for (i = 0; i < n; i++) {
		const struct kl_spec *spec = specs.s[i % specs.n];
		struct kl_run *run = kl_run_new(spec);
		uint32_t kept[16], order[16];
		struct kl_history *h, *part;
		struct kl_cut cut;
		bool falsified;
		size_t nkept;

		assert_non_null(run);
		h = random_history(spec, &c, &seed, &falsified);
		nkept = falsified ? 0 : some_ops(spec, run, h, &seed, kept);
		if (nkept) {
			smaller++;
			assert_int_equal(kl_cut_init(&cut, spec, h, kept, nkept, false, 0,
						     KL_TIME_MAX), 0);
			assert_int_equal(kl_cut_history(&cut, kept, nkept, false, &part, order), 0);
			if (ask(spec, part, &kl_oracle_engine, true) == KL_VIOLATION) {
				show(spec, h, "what is left out left a trace");
				show(spec, part, "without it:");
				fail();
			}
			kl_cut_free(&cut);
			kl_history_free(part);
		}
		kl_history_free(h);
		kl_run_free(run);
	}
	free_specs(&specs);
	printf("# %lu histories, %lu made smaller\n", n, smaller);
	assert_true(smaller > n / 50);
}

/*
 * So many concurrent operations that only an engine with few configurations decides.  The beam
 * decides most histories, and must not call any wrong.
 */
static void test_beam_decides_many_concurrent(void **state)
{
	unsigned long i, n = runs() / 1000 + 4, decided = 0;
	struct kl_gen_config c = {
		.threads = 40, .objects = 1, .keys = 8, .delay = 100, .ops = 400,
		.weight = (const uint32_t[]){ 1, 1, 0, 0 },	/* read and write only */
	};
	struct kl_spec *spec;

	assert_int_equal(kl_spec_load("specs/register.lin", &spec), 0);
	c.spec = spec;
	for (i = 0; i < n; i++) {
		struct kl_history *h;
		enum kl_verdict v;

		c.seed = i;
		assert_int_equal(kl_gen(&c, &h), 0);
		v = ask(spec, h, &kl_beam_engine, false);
		assert_int_not_equal(v, KL_VIOLATION);
		decided += v == KL_LINEARIZABLE;
		if (v == KL_LINEARIZABLE && i < 2)
			check_certificate(spec, h, v, true);
		kl_history_free(h);
	}
	kl_spec_free(spec);
	printf("# %lu histories, %lu decided\n", n, decided);
	assert_true(decided > n * 8 / 10);
}

/*
 * The analysis of which operation needs which word guides a narrow beam; an order that it
 * finds is correct.  Without it, compare-and-sets and fetch-and-adds of 40 threads needed 256
 * to 1024 configurations.  Four suffice only because the beam goes back if none of them
 * continues.
 */
static void test_narrow_beam_is_guided(void **state)
{
	static const struct kl_engine *const beam[] = { &kl_beam_engine, NULL };
	const struct kl_options opt = { .engines = beam, .threads = 1 };
	const struct kl_limits narrow = {
		.work = 1ull << 40, .each = 16 * KL_CONFIG_LOOKS, .bytes = 1u << 30,
	};
	unsigned long i, n = runs() / 1000 + 4, decided = 0;
	struct kl_gen_config c = {
		.threads = 40, .objects = 1, .keys = 8, .delay = 100, .ops = 2000
	};
	struct kl_spec *spec;

	assert_int_equal(kl_spec_load("specs/register.lin", &spec), 0);
	c.spec = spec;
	for (i = 0; i < n; i++) {
		struct kl_answer a;
		struct kl_history *h;
		struct kl_replay replay;
		struct kl_report *r;

		c.seed = i;
		c.pending = i % 8 == 7;
		assert_int_equal(kl_gen(&c, &h), 0);
		assert_int_equal(kl_decide_history(spec, h, &kl_beam_engine, &narrow, &a, NULL), 0);
		assert_int_not_equal(a.verdict, KL_VIOLATION);
		decided += a.verdict == KL_LINEARIZABLE;
		kl_answer_free(&a);
		if (i < 4) {
			assert_int_equal(kl_check(spec, h, &opt, &r), 0);
			assert_int_equal(r->verdict, KL_LINEARIZABLE);
			assert_int_equal(replay_report(r, true, spec, h, &replay), 0);
			assert_int_equal(replay.accepted, 1);
			kl_report_free(r);
		}
		kl_history_free(h);
	}
	kl_spec_free(spec);
	printf("# %lu histories, %lu decided\n", n, decided);
	assert_true(decided > n * 8 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classical),
		cmocka_unit_test(test_classical_gaps),
		cmocka_unit_test(test_tso),
		cmocka_unit_test(test_tso_gaps),
		cmocka_unit_test(test_sc_engines_agree_on_overlap_in_a_thread),
		cmocka_unit_test(test_classical_extreme_times),
		cmocka_unit_test(test_classical_unknown),
		cmocka_unit_test(test_classical_all_difficulties),
		cmocka_unit_test(test_tso_overlap),
		cmocka_unit_test(test_tso_drains),
		cmocka_unit_test(test_tso_extreme_times),
		cmocka_unit_test(test_tso_unknown),
		cmocka_unit_test(test_tso_all_difficulties),
		cmocka_unit_test(test_tso_accepts_more),
		cmocka_unit_test(test_fifo_against_oracle),
		cmocka_unit_test(test_lifo_against_oracle),
		cmocka_unit_test(test_engines_agree_beyond_oracle),
		cmocka_unit_test(test_tso_beyond_oracle),
		cmocka_unit_test(test_more_concurrent_than_bits),
		cmocka_unit_test(test_furthest_event_is_the_same),
		cmocka_unit_test(test_work_limit_in_one_step),
		cmocka_unit_test(test_omitted_ops_leave_no_trace),
		cmocka_unit_test(test_beam_decides_many_concurrent),
		cmocka_unit_test(test_narrow_beam_is_guided),
	};

	if (getenv("KLIN_TESTS"))
		cmocka_set_test_filter(getenv("KLIN_TESTS"));
	return cmocka_run_group_tests_name("engines", tests, NULL, NULL);
}
