// SPDX-License-Identifier: GPL-2.0
/*
 * Soundness of the verifier.  Every concrete state of a bounded run lies below a stored
 * abstract state.  No random mutant of a model is verified if the explorer finds a wrong run
 * of it.  KLIN_RUNS sets the number of mutants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "history_util.h"
#include "report/verified.h"
#include "tso/explore/explore.h"
#include "verify/model.h"

#define TEXT_MAX	8192
#define LINES_MAX	200

static const char *const models[] = {
	"explore/treiber", "explore/msqueue", "explore/dglm", "verify/twolock",
	"verify/pessimistic", "verify/llist", "verify/treiber_peek",
	/* These models have by far the most states for two threads: */
	"verify/lazy", "verify/optimistic",
};

#define NMODELS	(sizeof(models) / sizeof(*models))
#define NSMALL	(NMODELS - 2)

static void silent(enum kl_level level, const char *line)
{
	(void)level;
	(void)line;
}

static size_t read_model(const char *name, char *text)
{
	const char *dir = getenv("KLIN_SPECS");
	char path[256];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.lin", dir ? dir : "specs", name);
	f = fopen(path, "r");
	if (!f) {
		print_message("%s: cannot be read\n", path);
		fail();
	}
	n = fread(text, 1, TEXT_MAX - 1, f);
	fclose(f);
	text[n] = 0;
	return n;
}

static unsigned long runs(void)
{
	return wanted_runs(10000);
}

/* ---- coverage of concrete states -------------------------------------------------------- */

static void cover_text(const char *name, const char *text, unsigned int threads,
		       unsigned int of, unsigned int ops)
{
	struct kl_verify_options o = { .threads = threads, .memory = 1u << 30 };
	enum kl_verify_verdict v;
	struct kl_verifier *x;
	struct kl_spec *spec;
	char why[200] = "";
	uint64_t states = 0;
	int ret;

	assert_int_equal(kl_spec_parse(name, text, strlen(text), &spec), 0);
	assert_int_equal(kl_verify(spec, &o, &v, &x), 0);
	assert_int_equal(v, KL_VF_VERIFIED);
	ret = kl_verify_cover(x, of, ops, &states, why, sizeof(why));
	if (ret != 1)
		print_message("%s, %u threads: %s\n", name, threads, why);
	assert_int_equal(ret, 1);
	assert_true(states > 5);
	kl_verifier_free(x);
	kl_spec_free(spec);
}

static void cover(const char *name, unsigned int threads, unsigned int of, unsigned int ops)
{
	char text[TEXT_MAX];

	read_model(name, text);
	cover_text(name, text, threads, of, ops);
}

static void test_abstract_covers_concrete(void **state)
{
	/* Tests with sanitizers set a small KLIN_RUNS, because each check is much slower. */
	const bool lengthy = runs() > 10000, brief = runs() < 1000;
	size_t i;

	(void)state;
	for (i = 0; i < NMODELS; i++) {
		const bool large = i >= NSMALL;

		if (brief && i % 3)
			continue;
		cover(models[i], 1, 1, 4);
		/* For the optimistic set, more than one thread is tested only as "any number". */
		if (i < NMODELS - 1 || lengthy)
			cover(models[i], 2, 2, 2 + (lengthy && !large));
		cover(models[i], 0, 2, 2 + (lengthy && !large));
		if (lengthy && !large)
			cover(models[i], 3, 3, 2);
	}
	cover("verify/harris", 1, 1, 4);
	if (!brief)
		cover("verify/harris", 0, 2, 2);
}

/* A mutant that only finer searches prove: it unlocks the second node before the write. */
static void test_cover_after_refinement(void **state)
{
	static const char unlocked[] = "unlock(c->l);\n\tp->next = x @lin;\n\tunlock(p->l);\n",
		from[] = "p->next = x @lin;\n\tunlock(p->l);\n\tunlock(c->l);\n";
	char text[TEXT_MAX], *at;

	(void)state;
	read_model("verify/pessimistic", text);
	at = strstr(text, from);
	assert_non_null(at);
	assert_int_equal(strlen(from), strlen(unlocked));
	memcpy(at, unlocked, strlen(unlocked));
	cover_text("add unlocks early", text, 1, 1, 4);
	cover_text("add unlocks early", text, 2, 2, 2);
	cover_text("add unlocks early", text, 0, 2, 2);
}

/* Half of the abstract states do not cover all runs: test_abstract_covers_concrete can fail. */
static void test_half_the_states_do_not_cover(void **state)
{
	struct kl_verify_options o = { .threads = 2, .memory = 200000 };
	enum kl_verify_verdict v;
	struct kl_verifier *x;
	struct kl_spec *spec;
	char text[TEXT_MAX], why[200] = "";
	size_t n = read_model("explore/msqueue", text);

	(void)state;
	assert_int_equal(kl_spec_parse("msqueue", text, n, &spec), 0);
	assert_int_equal(kl_verify(spec, &o, &v, &x), 0);
	assert_int_equal(v, KL_VF_MEMORY);
	assert_int_equal(kl_verify_cover(x, 2, 3, NULL, why, sizeof(why)), 0);
	assert_non_null(strstr(why, "not covered"));
	kl_verifier_free(x);
	kl_spec_free(spec);
}

/* ---- mutation ------------------------------------------------------------------------------ */

struct lines {
	char *line[LINES_MAX];
	size_t n, first;	/* range of the implementation's methods */
};

static void split(char *text, struct lines *l)
{
	char *rest = NULL, *p;
	bool spec = true;

	l->n = l->first = 0;
	for (p = strtok_r(text, "\n", &rest); p && l->n < LINES_MAX;
	     p = strtok_r(NULL, "\n", &rest)) {
		l->line[l->n++] = p;
		spec = spec && strcmp(p, "}");
		if (!spec && !l->first && !strncmp(p, "method", 6))
			l->first = l->n - 1;
	}
}

static bool is_statement(const char *p)
{
	const size_t n = strlen(p);

	return p[0] == '\t' && n > 1 && p[n - 1] == ';' && !strstr(p, "node *") &&
	       !strstr(p, "data r") && !strstr(p, "bool ");
}

/* Replace the first @from after a random position of line @i. */
static bool replace(struct lines *l, size_t i, const char *from, const char *to, char *room)
{
	char *at = strstr(l->line[i], from);

	if (!at)
		return false;
	snprintf(room, 300, "%.*s%s%s", (int)(at - l->line[i]), l->line[i], to,
		 at + strlen(from));
	l->line[i] = room;
	return true;
}

/* Make a cas(&a, b, c) store without comparing. */
static bool always_swap(struct lines *l, size_t i, char *room)
{
	char place[64], old[64], new[64], from[256], to[256];
	const char *at = strstr(l->line[i], "cas(");

	if (!at || sscanf(at, "cas(&%60[^,], %60[^,], %60[^)])", place, old, new) != 3)
		return false;
	snprintf(from, sizeof(from), "cas(&%s, %s, %s)", place, old, new);
	snprintf(to, sizeof(to), "xchg(&%s, %s) == %s", place, new, old);
	return replace(l, i, from, to, room);
}

static bool mutate(struct lines *l, uint64_t *seed, char *room)
{
	static const char *const pairs[][2] = {
		{ "==", "!=" }, { "!=", "==" }, { " @lin", "" }, { "continue;", "break;" },
		{ "break;", "continue;" }, { ";", "; @lin;" }, { "<", "<=" }, { "null", "x" },
		{ " n;", " h;" }, { " c;", " p;" }, { " t;", " s;" }, { "p->", "c->" },
		{ "c->", "p->" }, { "h->", "n->" }, { "t->", "n->" }, { "h = head", "h = tail" },
		{ "t = tail", "t = head" }, { "hl", "tl" }, { "@lin if (n == null)", "@lin" },
		{ "@lin", "@lin if (false)" }, { "unlock(", "lock(" }, { "lock(p", "lock(c" },
		{ "lock(c", "lock(p" }, { "true", "false" }, { "false", "true" },
		{ ", x)", ", t)" },
		{ "null", "t" }, { " @lin;", "; @lin;" }, { "if (", "if (!" }, { "&& ", "|| " },
		{ "return", "if (true) return" }, { "empty", "1" },
	};
	const size_t i = l->first + kl_rand_below(seed, l->n - l->first);
	const uint64_t what = kl_rand_below(seed, 8);
	const char *const *pair;
	char *t;

	switch (what) {
	case 0:
		if (!is_statement(l->line[i]))
			return false;
		l->line[i] = "\t;";
		return true;
	case 1:
	case 2:
		if (i + 1 >= l->n || !is_statement(l->line[i]) || !is_statement(l->line[i + 1]) ||
		    !strcmp(l->line[i], l->line[i + 1]))
			return false;
		t = l->line[i];
		l->line[i] = l->line[i + 1];
		l->line[i + 1] = t;
		return true;
	case 3:
		return always_swap(l, i, room);
	default:
		pair = pairs[kl_rand_below(seed, sizeof(pairs) / sizeof(*pairs))];
		return replace(l, i, pair[0], pair[1], room);
	}
}

/* Reductions, a bit each. */
enum { MERGE = 1, POR = 2, SYMMETRY = 4, ALL = 7 };

/* Sets @live if it is proved that threads do not wait for each other in a cycle. */
static enum kl_verify_verdict verify(struct kl_spec *spec, unsigned int threads,
				     unsigned int reduce, bool *live)
{
	struct kl_verify_options o = {
		.threads = threads, .memory = 16u << 20, .no_merge = !(reduce & MERGE),
		.no_por = !(reduce & POR), .no_symmetry = !(reduce & SYMMETRY),
	};
	enum kl_verify_verdict v = KL_VF_ALARM;
	struct kl_verify_stats st;
	struct kl_verifier *x;

	if (kl_verify(spec, &o, &v, &x))
		v = KL_VF_ALARM;
	kl_verify_stats(x, &st);
	*live |= v == KL_VF_VERIFIED && (st.ordered_locks || !st.waits);
	kl_verifier_free(x);
	return v;
}

static enum kl_explore_verdict explore(struct kl_spec *spec, unsigned int ops)
{
	struct kl_explore_options o = {
		.sc = true, .threads = 2, .ops = ops, .memory = 256u << 20
	};
	enum kl_explore_verdict v = KL_EX_MEMORY;
	struct kl_explorer *x;

	if (kl_explore(spec, &o, &v, &x))
		v = KL_EX_MEMORY;
	kl_explorer_free(x);
	return v;
}

static void join(const struct lines *l, char *out)
{
	size_t i, at = 0;

	for (i = 0; i < l->n; i++)
		at += snprintf(out + at, TEXT_MAX - at, "%s\n", l->line[i]);
}

/* Return: true if the answer is the same with the given reductions, or memory ran out. */
static bool same_without(struct kl_spec *spec, unsigned int threads, unsigned int reduce,
			 enum kl_verify_verdict v, bool *live)
{
	const enum kl_verify_verdict w = verify(spec, threads, reduce, live);

	return v == w || v == KL_VF_MEMORY || w == KL_VF_MEMORY;
}

static void test_mutants_not_verified(void **state)
{
	static const unsigned int reduce[] = { 0, ALL & ~MERGE, ALL & ~POR, ALL & ~SYMMETRY };
	const unsigned long n = runs() / 20 + 1;
	unsigned long i, tried = 0, proved = 0, wrong = 0;
	char text[TEXT_MAX], out[TEXT_MAX], room[3][300];
	uint64_t seed = 2007;

	(void)state;
	kl_log_sink = silent;
	for (i = 0; i < n; i++) {
		const size_t m = kl_rand_below(&seed, i % 8 ? NSMALL : NMODELS);
		const char *name = models[m];
		const unsigned int count = 1 + kl_rand_below(&seed, 3);
		enum kl_explore_verdict e = KL_EX_OK;
		struct kl_spec *spec = NULL;
		struct lines l;
		unsigned int k, try, done = 0;
		enum kl_verify_verdict fixed, any;
		bool live = false;

		read_model(name, text);
		split(text, &l);
		for (k = 0; k < count; k++)
			for (try = 0; try < 8; try++)
				if (mutate(&l, &seed, room[k])) {
					done++;
					break;
				}
		join(&l, out);
		if (!done || kl_spec_parse(name, out, strlen(out), &spec)) {
			kl_spec_free(spec);
			continue;
		}
		tried++;
		fixed = m < NSMALL ? verify(spec, 2, ALL, &live) : KL_VF_MEMORY;
		any = verify(spec, 0, ALL, &live);
		if ((m < NSMALL && !same_without(spec, 2, reduce[i % 4], fixed, &live)) ||
		    !same_without(spec, 0, reduce[i % 4], any, &live)) {
			printf("not the same with reductions %x (2 threads: %d, any number: %d):\n"
			       "%s\n", reduce[i % 4], fixed, any, out);
			fail();
		}
		if (fixed == KL_VF_VERIFIED || any == KL_VF_VERIFIED) {
			proved++;
			e = explore(spec, 2);
			if (e == KL_EX_OK)
				e = explore(spec, 3);
		} else if (i % 8 == 0) {
			wrong += explore(spec, 2) != KL_EX_OK;
		}
		if (e == KL_EX_NOT_LINEARIZABLE || e == KL_EX_FAULT ||
		    (live && e == KL_EX_DEADLOCK)) {
			printf("verified (2 threads: %d, any number: %d), but wrong:\n%s\n",
			       fixed, any, out);
			fail();
		}
		kl_spec_free(spec);
	}
	kl_log_sink = NULL;
	print_message("%lu mutants, %lu verified; of %lu others one in eight was looked at, %lu "
		      "were wrong\n", tried, proved, tried - proved, wrong);
	assert_true(n < 100 || (proved > tried / 50 && proved < tried * 9 / 10 && wrong));
}

/* The largest possible state fits into the buffer, and is read back. */
static void test_largest_state_is_packed(void **state)
{
	static struct kl_verifier x;
	static uint8_t key[2 * KL_VF_KEY_MAX];
	struct kl_vf_state s = { .nn = KL_VF_NODES, .nt = KL_VF_THREADS }, back;
	uint64_t live = (1ULL << KL_VF_REGS) - 1;
	uint32_t edges[KL_VF_EDGES_MAX];
	struct kl_vf_entry e = { 0 };
	unsigned int t, i, nedges, len;

	x.concrete = true;
	x.nt = KL_VF_THREADS;
	x.m.ng = KL_VF_GLOBALS;
	x.m.m[0].nresults = KL_VF_RESULTS;
	x.m.m[0].live = &live;
	for (t = 0; t < s.nt; t++)
		for (i = 0; i < KL_VF_REGS; i++)
			s.th[t].reg[i] = t + i;
	for (i = 1; i < s.nn; i++) {
		s.kind[i] = KF_CAND | KF_REF;
		s.succ[i] = i;
		s.rsucc[i] = kl_vf_bit(i);
	}
	kl_vf_pack(&x, &s, key, &len, edges, &nedges);
	assert_true(len <= KL_VF_KEY_MAX && !nedges);
	e.len = len;
	x.store.bytes = key;
	x.store.e = &e;
	kl_vf_unpack(&x, 0, &back);
	assert_memory_equal(back.th, s.th, sizeof(s.th));
	assert_memory_equal(back.kind, s.kind, sizeof(s.kind));
	assert_memory_equal(back.succ, s.succ, sizeof(s.succ));
	assert_memory_equal(back.rsucc, s.rsucc, sizeof(s.rsucc));
}

/* ---- models that are wrong ----------------------------------------------------------- */

/*
 * Check that the model is not verified: for two or any number of threads, with and without
 * reductions.
 */
static void not_verified(const char *name, const char *text)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct kl_verify_options o = {
			.threads = i & 1 ? 2 : 0, .memory = 1u << 30, .no_por = i & 2,
		};
		enum kl_verify_verdict v;
		struct kl_verifier *x;
		struct kl_spec *spec;

		assert_int_equal(kl_spec_parse(name, text, strlen(text), &spec), 0);
		assert_int_equal(kl_verify(spec, &o, &v, &x), 0);
		if (v != KL_VF_ALARM)
			print_message("%s, %u threads: %d\n", name, o.threads, v);
		assert_int_equal(v, KL_VF_ALARM);
		kl_verifier_free(x);
		kl_spec_free(spec);
	}
}

/*
 * A store takes effect although the thread waits forever after it: g() reads it, but the
 * specification's f() cannot have taken effect.
 */
static void test_store_before_endless_wait(void **state)
{
	static const char text[] =
		"spec s {\n"
		"	bool x = false;\n"
		"	method f(bool v) { atomic_flush { assume(v); x = true; } }\n"
		"	method g() -> bool { atomic { return x; } }\n"
		"	method tick() { atomic_flush { } }\n"
		"}\n"
		"shared bool y = false;\n"
		"shared word n = 0;\n"
		"method f(bool v) {\n"
		"	word k = n, q, c = 0;\n"
		"	if (v) c = 1;\n"
		"	if (k == 4 || v) y = true @lin if (v);\n"
		"	%s\n"
		"}\n"
		"method g() -> bool { bool r = y @lin; return r; }\n"
		"method tick() { atomic { if (n < 4) n += 1; } @lin; }\n"
		"client general(2) ops(3);\n";
	static const char *const waits[] = {
		"q = 1; assume(v);", "choose q in 1..c;", "assume(c == 1); q = 1;",
	};
	char out[sizeof(text) + 32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		snprintf(out, sizeof(out), text, waits[i]);
		not_verified(waits[i], out);
	}
}

/* Replace the first @from in @text by @to. */
static void substitute(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from);
	const size_t n = strlen(from), k = strlen(to);

	assert_non_null(at);
	assert_true(strlen(text) + k - n < TEXT_MAX);
	memmove(at + k, at + n, strlen(at + n) + 1);
	memcpy(at, to, k);
}

/* The verifier must not take two completely unknown results for equal, even after a choice. */
static void test_unknown_in_hindsight(void **state)
{
	char text[TEXT_MAX];

	(void)state;
	read_model("verify/lazy", text);
	substitute(text, "contains(word k) -> bool ok { atomic { return s.has(k); } }",
		   "contains(word k, word v) -> (bool ok, word w) "
		   "{ atomic { bool h = s.has(k); return (h, v + 1); } }");
	substitute(text, "contains(key k) -> bool {",
		   "contains(key k, word v) -> (bool ok, word w) {");
	substitute(text, "return c->k == k && !m;",
		   "m = c->k == k && !m; return (m, v + v / 3 + 1);");
	not_verified("lazy, another number", text);
}

/* ---- reports ----------------------------------------------------------------------------- */

/* If a proof and a run contradict each other, the report does not say linearizable. */
static void test_proof_contradicts_run(void **state)
{
	static const char right[] =
		"spec s { word x = 0; method w() { atomic_flush { x = 1; } }\n"
		"	method r() -> word { atomic { return x; } } }\n"
		"shared word y = 0;\n"
		"method w() { y = 1 @lin; }\n"
		"method r() -> word { word v = y @lin; return v; }\n"
		"client general(2) ops(1);\n";
	struct kl_verify_options o = { .memory = 1u << 30 };
	struct kl_verified r = { .file = "right.lin", .searched = true };
	struct kl_explore_options eo = { .sc = true, .memory = 1u << 24 };
	enum kl_explore_verdict v;
	struct kl_spec *spec, *wrong;
	char text[sizeof(right)], *out = NULL;
	size_t len;
	FILE *f;

	(void)state;
	memcpy(text, right, sizeof(text));
	substitute(text, "y = 1 @lin;", "y = 2 @lin;");
	assert_int_equal(kl_spec_parse("right.lin", right, strlen(right), &spec), 0);
	assert_int_equal(kl_spec_parse("wrong.lin", text, strlen(text), &wrong), 0);
	assert_int_equal(kl_verify(spec, &o, &r.verdict, &r.x), 0);
	assert_int_equal(kl_explore(wrong, &eo, &v, &r.run), 0);
	assert_int_equal(v, KL_EX_NOT_LINEARIZABLE);
	r.search.not_linearizable = true;
	f = open_memstream(&out, &len);
	assert_non_null(f);
	assert_int_equal(kl_verified_print(f, &r), 0);
	fclose(f);
	assert_non_null(strstr(out, "VIOLATION: "));
	assert_non_null(strstr(out, "defect of klin"));
	assert_null(strstr(out, "linearizable, but"));
	free(out);
	kl_explorer_free(r.run);
	kl_verifier_free(r.x);
	/* The search reports that its run is not linearizable. */
	assert_int_equal(kl_verify(wrong, &o, &r.verdict, &r.x), 0);
	assert_int_equal(kl_verify_confirm(r.x, 1u << 24, 2, &r.search, &r.run), 1);
	assert_true(r.search.not_linearizable);
	kl_explorer_free(r.run);
	kl_verifier_free(r.x);
	kl_spec_free(spec);
	kl_spec_free(wrong);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest_state_is_packed),
		cmocka_unit_test(test_store_before_endless_wait),
		cmocka_unit_test(test_unknown_in_hindsight),
		cmocka_unit_test(test_proof_contradicts_run),
		cmocka_unit_test(test_abstract_covers_concrete),
		cmocka_unit_test(test_cover_after_refinement),
		cmocka_unit_test(test_half_the_states_do_not_cover),
		cmocka_unit_test(test_mutants_not_verified),
	};

	kl_log_level = KL_LOG_ERR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
