// SPDX-License-Identifier: GPL-2.0
/*
 * Unknown values, by brute force.  An unknown state stands for a set of known states, and must
 * allow every result that one of them allows.  Random operations with random results are applied
 * to the unknown state and to all known states of a small domain.  While a known state allows
 * all results, the unknown state must allow them.  If no information is lost, the unknown state
 * must refuse a result that no known state allows.  KLIN_RUNS sets the number of runs.
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
#include "base/mem.h"
#include "history_util.h"
#include "spec/spec.h"
#include "tso/machine/machine.h"

#define SLOTS_MAX	64
#define SET_MAX		16384
#define BUCKETS		(4 * SET_MAX)

struct set {
	struct kl_val state[SET_MAX][SLOTS_MAX];
	size_t len[SET_MAX], n;
	uint32_t place[BUCKETS];	/* hash table of indices, plus 1 */
	bool full;			/* the set exceeded its size */
};

/*
 * Domain of words: arguments and results are below @values.  Words in known states are below
 * @most, or among the @below greatest words.
 */
static unsigned int values = 3, most = 3, below;
static bool wide;	/* the domain has all words that matter */
static uint64_t edge = UINT64_MAX;	/* results above this number are not shown */

/*
 * Requirement on unknown states.  ALLOWS: allow all that known states allow.  EXACT: also mark
 * the state as lost if it may allow more.  KEPT: also never be lost.
 */
enum ask { ALLOWS, EXACT, KEPT };

struct world {
	struct kl_spec *s;
	struct kl_run *r;
	struct set *all, *known, *unknown, *raw, *next;
	bool has_raw;			/* the specification has a state of fixed size */
	unsigned int given_up;		/* number of runs with too many states */
	struct kl_machine machine;
	uint32_t thread;
	struct kl_val *view;
	size_t cview;
};

static void add(struct set *set, const struct kl_val *state, size_t len)
{
	uint64_t at = kl_hash_words((const uint64_t *)state, 2 * len, 0);
	uint32_t k;

	set->full |= len > SLOTS_MAX;
	for (; (k = set->place[at % BUCKETS]); at++)
		if (set->len[k - 1] == len &&
		    !memcmp(set->state[k - 1], state, len * sizeof(*state)))
			return;
	set->full |= set->n == SET_MAX;
	if (set->full)
		return;
	memcpy(set->state[set->n], state, len * sizeof(*state));
	set->len[set->n++] = len;
	set->place[at % BUCKETS] = set->n;
}

static void empty(struct set *set)
{
	set->n = 0;
	set->full = false;
	memset(set->place, 0, sizeof(set->place));
}

static int collect(void *ctx, const struct kl_outcome *o)
{
	add(ctx, o->state, o->len);
	return 0;
}

/* Replace *set by all outcomes of an operation in all its states. */
static void step(struct world *w, struct set **set, unsigned int m, const struct kl_val *args,
		 const struct kl_val *res)
{
	struct set *old = *set;
	size_t i;

	empty(w->next);
	for (i = 0; i < old->n; i++)
		assert_int_equal(kl_run_apply(w->r, old->state[i], old->len[i], m, args, res,
					      collect,
					      w->next), 0);
	*set = w->next;
	w->next = old;
}

static uint64_t fill_value(unsigned int i)
{
	return i < most ? i : most - 1ull - i;
}

/* Collect an outcome of raw mode: of a machine whose store buffers are empty before and after. */
static int collect_raw(void *ctx, const struct kl_outcome *o)
{
	struct world *w = ctx;
	struct kl_val state[SLOTS_MAX];
	struct kl_machine m;

	assert_int_equal(kl_machine_init(&m, w->machine.nmem), 0);
	assert_int_equal(kl_machine_copy(&m, &w->machine), 0);
	assert_true(kl_machine_exec(&m, o, 0, KL_NO_OP) >= 0);
	kl_machine_flush(&m, 0);
	kl_machine_canon(&m);
	assert_true(m.nmem + m.nnotes <= SLOTS_MAX);
	memcpy(state, m.mem, m.nmem * sizeof(*state));
	memcpy(state + m.nmem, m.notes, m.nnotes * sizeof(*state));
	add(w->next, state, m.nmem + m.nnotes);
	kl_machine_free(&m);
	return 0;
}

static void step_raw(struct world *w, unsigned int mi, const struct kl_val *args,
		     const struct kl_val *res)
{
	struct kl_machine *m = &w->machine;
	struct set *old = w->raw;
	size_t i, len;

	empty(w->next);
	kl_run_set_raw(w->r, true);
	for (i = 0; i < old->n; i++) {
		memcpy(m->mem, old->state[i], m->nmem * sizeof(*m->mem));
		m->nnotes = old->len[i] - m->nmem;
		assert_int_equal(kl_grow(m->notes, m->cnotes, m->nnotes + 1), 0);
		memcpy(m->notes, old->state[i] + m->nmem, m->nnotes * sizeof(*m->notes));
		assert_int_equal(kl_machine_view(m, 0, &w->view, &w->cview, &len), 0);
		kl_run_set_fresh(w->r, kl_machine_next_unknown(m));
		assert_int_equal(kl_run_apply(w->r, w->view, len, mi, args, res, collect_raw, w),
				 0);
	}
	kl_run_set_raw(w->r, false);
	w->raw = w->next;
	w->next = old;
}

/* Make all known states: those that `fill0`, `fill1`, ...  reach in up to @depth steps. */
static void fill(struct world *w, unsigned int depth)
{
	unsigned int d, m, k;
	const struct kl_val *init;
	struct kl_val args[2];
	size_t len, from = 0, to, i;

	init = kl_run_init(w->r, true, &len);
	assert_non_null(init);
	empty(w->all);
	add(w->all, init, len);
	for (d = 0; d < depth; d++) {
		to = w->all->n;
		for (i = from; i < to; i++) {
			for (m = 0; m < kl_spec_nmethods(w->s); m++) {
				if (strncmp(kl_spec_method(w->s, m)->name, "fill", 4))
					continue;
				for (k = 0; k < (most + below) * (most + below); k++) {
					struct kl_val before[SLOTS_MAX];

					args[0] = kl_word(fill_value(k % (most + below)));
					args[1] = kl_word(fill_value(k / (most + below)));
					memcpy(before, w->all->state[i], sizeof(before));
					assert_int_equal(kl_run_apply(w->r, before, w->all->len[i],
								      m,
								      args, NULL, collect, w->all),
								      0);
				}
			}
		}
		from = to;
	}
	assert_false(w->all->full);
}

static void copy(struct set *to, const struct set *from)
{
	to->n = from->n;
	to->full = from->full;
	memcpy(to->state, from->state, from->n * sizeof(from->state[0]));
	memcpy(to->len, from->len, from->n * sizeof(from->len[0]));
	memcpy(to->place, from->place, sizeof(from->place));
}

static int first_result(void *ctx, const struct kl_outcome *o)
{
	memcpy(ctx, o->results, KL_MAX_ARGS * sizeof(struct kl_val));
	return 1;
}

static struct kl_val random_value(uint64_t *seed, bool special)
{
	uint64_t k = kl_rand_below(seed, values + 2 * special);

	if (k < values)
		return kl_word(k);
	return kl_special(k == values ? KL_EMPTY : KL_ABSENT);
}

/* The operations of a run, to explain a failure. */
static char trace[2048];

static size_t put_vals(size_t at, const struct kl_val *v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && at < sizeof(trace); i++)
		at += snprintf(trace + at, sizeof(trace) - at, v[i].tag ? " #%lld" : " %lld",
			       (long long)(v[i].tag ? v[i].tag : v[i].v));
	return at;
}

static void put_trace(const struct kl_method *m, const struct kl_val *args,
		      const struct kl_val *res)
{
	size_t at = strlen(trace);

	at += snprintf(trace + at, sizeof(trace) - at, "%s", m->name);
	at = put_vals(at, args, m->nparams);
	if (at < sizeof(trace))
		at += snprintf(trace + at, sizeof(trace) - at, " ->");
	at = put_vals(at, res, m->nresults);
	if (at < sizeof(trace))
		snprintf(trace + at, sizeof(trace) - at, "\n");
}

static size_t count_lost(const struct set *set)
{
	size_t i, n = 0;

	for (i = 0; i < set->n; i++)
		n += kl_state_lost(set->state[i], set->len[i]);
	return n;
}

static bool as_asked(const struct world *w, const struct set *unknown, enum ask ask)
{
	const size_t nlost = count_lost(unknown);

	if (w->known->n ? !unknown->n : ask != ALLOWS && nlost < unknown->n)
		return false;
	return ask != KEPT || !nlost;
}

enum hide { NOTHING, RESULTS, VALUES };

static void one_run(struct world *w, uint64_t *seed, unsigned int ops, enum ask ask,
		    enum hide hide)
{
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	const struct kl_val *init;
	unsigned int op, m, i;
	size_t len;

	init = kl_run_init(w->r, false, &len);
	empty(w->unknown);
	add(w->unknown, init, len);
	copy(w->raw, w->unknown);
	copy(w->known, w->all);
	trace[0] = 0;
	for (op = 0; op < ops; op++) {
		const struct kl_method *method;

		do {
			m = kl_rand_below(seed, kl_spec_nmethods(w->s));
			method = kl_spec_method(w->s, m);
		} while (!strncmp(method->name, "fill", 4));
		for (i = 0; i < method->nparams; i++)
			args[i] = kl_word(kl_rand_below(seed,
							method->params[i].type == KL_T_BOOL ? 2 :
							values));
		/* The result of some known state, or a random one. */
		memset(res, 0, sizeof(res));
		if (kl_rand_below(seed, 4)) {
			i = kl_rand_below(seed, w->known->n);
			kl_run_apply(w->r, w->known->state[i], w->known->len[i], m, args, NULL,
				     first_result, res);
		} else {
			for (i = 0; i < method->nresults; i++)
				res[i] = method->results[i].type == KL_T_BOOL ?
					 kl_word(kl_rand_below(seed, 2)) : random_value(seed, true);
		}
		/*
		 * A result that no path determines would be unknown in the known states.  Words
		 * outside the domain would reveal values that the known states lack.
		 */
		for (i = 0; i < method->nresults; i++)
			if (res[i].tag == KL_ANY || (below && res[i].v >= values) ||
			    (res[i].tag == KL_WORD && res[i].v > edge))
				res[i] = random_value(seed, false);
		for (i = 0; hide && i < method->nresults; i++)
			if (!kl_rand_below(seed, 4))
				res[i] = (struct kl_val){ .tag = KL_ANY };
		step(w, &w->known, m, args, res);
		/* With an unknown argument the state knows less than with the real one. */
		if (hide == VALUES && method->nparams && !kl_rand_below(seed, 6))
			args[0] = (struct kl_val){ .tag = KL_ANY };
		step(w, &w->unknown, m, args, res);
		if (w->has_raw)
			step_raw(w, m, args, res);
		put_trace(method, args, res);
		if (w->known->full || w->unknown->full || w->raw->full) {
			w->given_up++;
			return;
		}
		if (!as_asked(w, w->unknown, ask) || (w->has_raw && !as_asked(w, w->raw, ask)))
			fail_msg("%zu known states, %zu unknown ones (%zu lost), %zu raw ones "
				 "(%zu lost), after\n%s", w->known->n, w->unknown->n,
				 count_lost(w->unknown), w->raw->n, count_lost(w->raw), trace);
		if (!w->known->n || !w->unknown->n)
			return;
	}
}

static void world(const char *text, unsigned int depth, unsigned int ops, unsigned int runs,
		  enum ask ask)
{
	struct world w = { 0 };
	uint64_t seed = 99;
	unsigned int i;
	size_t len;

	assert_int_equal(kl_spec_parse("t.lin", text, strlen(text), &w.s), 0);
	w.r = kl_run_new(w.s);
	w.all = calloc(1, sizeof(*w.all));
	w.known = calloc(1, sizeof(*w.known));
	w.unknown = calloc(1, sizeof(*w.unknown));
	w.next = calloc(1, sizeof(*w.next));
	w.raw = calloc(1, sizeof(*w.raw));
	assert_true(w.r && w.all && w.known && w.unknown && w.next && w.raw);
	w.has_raw = kl_spec_fixed_size(w.s);
	assert_non_null(kl_run_init(w.r, false, &len));
	assert_int_equal(kl_machine_init(&w.machine, len), 0);
	fill(&w, depth);
	runs = runs * wanted_runs(4000) / 4000;
	if (runs < 20)
		runs = 20;
	for (i = 0; i < runs; i++) {
		one_run(&w, &seed, ops, ask, NOTHING);
		/* A freely chosen word is unknown unless it is a shown result. */
		if (strstr(text, " any;"))
			continue;
		/* A hidden result may be outside the domain, unless the domain is wide. */
		one_run(&w, &seed, ops, !wide ? ALLOWS : ask == KEPT ? EXACT : ask, RESULTS);
		one_run(&w, &seed, ops, ALLOWS, VALUES);
	}
	assert_true(w.given_up <= runs / 50);
	free(w.all);
	free(w.known);
	free(w.unknown);
	free(w.next);
	free(w.raw);
	free(w.view);
	kl_machine_free(&w.machine);
	kl_run_free(w.r);
	kl_spec_free(w.s);
}

/* Test with a different domain of words: see @values. */
static void world_with(unsigned int nvalues, unsigned int nmost, unsigned int nbelow,
		       const char *text, unsigned int depth, unsigned int ops, unsigned int runs,
		       enum ask ask)
{
	values = nvalues;
	most = nmost;
	below = nbelow;
	wide = true;
	world(text, depth, ops, runs, ask);
	values = most = 3;
	below = 0;
	wide = false;
}

#define SCALARS "word x = 0, y = 0; bool f = false; word a[2] = 0;\n" \
	"method fillx(word v, word w) { atomic { x = v; y = w; } }\n" \
	"method fillf() { atomic { f = true; } }\n" \
	"method filla(word v, word w) { atomic { a[0] = v; a[1] = w; } }\n"

/* Without comparisons the unknown state is exact after any number of operations. */
static void test_copies_without_comparison(void **state)
{
	world("spec t { " SCALARS
	      "method get() -> (word l, word h) { atomic { return (x, y); } }\n"
	      "method twice() -> (word l, word h) { atomic { return (x, x); } }\n"
	      "method set(word v) { atomic { x = v; } } method copy() { atomic { y = x; } }\n"
	      "method swap() -> word { atomic { word t = x; x = y; y = t; return t; } }\n"
	      "method first() -> word { atomic { return a[0]; } } method keep(word v) { atomic { "
	      "a[1] = a[0]; a[0] = v; } }\n"
	      "method second() -> word { atomic { return a[1]; } }\n"
	      "method lock() -> bool { atomic { if (f) return false; f = true; return true; } }\n"
	      "method unlock(bool b) { atomic { f = b; } } method held() -> bool { atomic { return "
	      "!f; } }\n"
	      "method pick() -> word { atomic { return f ? x : y; } } }", 3, 8, 1500, KEPT);
}

/* Comparisons and sums of numbers, in a domain that is closed under these sums. */
static void test_comparisons_and_sums(void **state)
{
	static const char fill[] = "method fill(word v, word w) { atomic { x = v; y = w; } }\n";
	static const char one[] =
		"method cas(word o, word n) -> bool { atomic { if (x == o) { x = n; return true; } "
		"return false; } }\n"
		"method not_one() -> word { atomic { if (x == 1) return 0; return x; } }\n"
		"method set(word v) { atomic { y = v; } } method swap() { atomic { word t = x; "
		"x = y; y = t; } }\n"
		"method below(word v) -> bool { atomic { return x < v; } }\n"
		"method most(word v) -> bool { atomic { return x <= v; } }\n"
		"method above(word v) -> bool { atomic { return v < x; } }\n"
		"method add(word n) { atomic { x += n; } } method dec() { atomic { assume(x != 0); "
		"x -= 1; } }\n"
		"method back() -> bool { atomic { x -= 1; return x == 0; } }\n"
		"method from(word v) { atomic { x = v - x; } } method turn() { atomic { "
		"x = ~x; } }\n"
		"method next() { atomic { y = x + 1; } } method rest() { atomic { y = 2 - x; } }\n"
		"method get() -> word { atomic { return x; } }\n";
	static const char two[] =
		"method eq() -> bool { atomic { return x == y; } }\n"
		"method less() -> bool { atomic { return x < y; } }\n"
		"method least() -> bool { atomic { return x <= y; } }\n"
		"method far() -> bool { atomic { return x == y + 2; } }\n"
		"method clock() -> word { word t; choose t; atomic { "
		"assume(t >= x && t < 3); x = t; return t; } }\n"
		"method range(word v) -> word { word t; choose t in 0 .. v; atomic { x = t; "
		"return t; } }\n";
	static const char rest[] =
		"method sum() -> word { atomic { return x + y; } }\n"
		"method diff() -> (word d, word p) { atomic { return (x - y, x); } }\n"
		"method odd() -> bool { atomic { return (x & 1) == 1; } }\n"
		"method flip(word v) { atomic { x = x ^ v; } }\n"
		"method half() { atomic { assume(x < 30); x = x / 2; } }\n";
	static const char equal[] =
		"method most_x(word v) -> bool { atomic { return x <= v; } }\n"
		"method most_y(word v) -> bool { atomic { return y <= v; } }\n"
		"method same() -> bool { atomic { return x == y; } }\n"
		"method turned() -> bool { atomic { return 3 - x == y; } }\n"
		"method next() -> bool { atomic { return x + 1 == y; } }\n"
		"method get() -> word { atomic { return y; } }\n";
	char text[4096];

	snprintf(text, sizeof(text), "spec t { word x = 0, y = 0;\n%s%s}", fill, equal);
	world_with(3, 12, 12, text, 1, 4, 4000, EXACT);
	/* A fact that an operation reveals holds in the whole operation. */
	world_with(3, 12, 12, "spec t { word x = 0, y = 0;\n"
		   "method fill(word v, word w) { atomic { x = v; y = w; } }\n"
		   "method diff() -> (word d, word p, word q) { atomic { "
		   "return (x - y, x, y); } }\n"
		   "method add() -> (word s, word p) { atomic { x += y; return (x, y); } } }",
		   1, 3, 500, KEPT);
	snprintf(text, sizeof(text), "spec t { word x = 0, y = 0;\n%s%s}", fill, one);
	world_with(3, 14, 14, text, 1, 6, 1000, EXACT);
	snprintf(text, sizeof(text), "spec t { word x = 0, y = 0;\n%s%s%s}", fill, one, two);
	world_with(3, 20, 20, text, 1, 6, 1000, EXACT);
	snprintf(text, sizeof(text), "spec t { word x = 0, y = 0;\n%s%s%s%s}", fill, one, two,
		 rest);
	world_with(3, 30, 30, text, 1, 6, 1000, EXACT);
}

/* Three words that are compared with each other, and forgotten. */
static void test_three_compared_words(void **state)
{
	world_with(3, 7, 4, "spec t { word x = 0, y = 0, z = 0;\n"
		   "method fillx(word v, word w) { atomic { x = v; y = w; } }\n"
		   "method fillz(word v) { atomic { z = v; } }\n"
		   "method xy() -> bool { atomic { return x < y; } }\n"
		   "method yx() -> bool { atomic { return y <= x; } }\n"
		   "method yz() -> bool { atomic { return y <= z; } }\n"
		   "method zx() -> bool { atomic { return z <= x; } }\n"
		   "method xz() -> bool { atomic { return x < z; } }\n"
		   "method ne() -> bool { atomic { return x == y; } }\n"
		   "method nz() -> bool { atomic { return y == z; } }\n"
		   "method most(word v) -> bool { atomic { return y <= v; } }\n"
		   "method least(word v) -> bool { atomic { return x > v; } }\n"
		   "method get() -> word { atomic { return z; } }\n"
		   "method drop(word v) { atomic { y = v; } }\n"
		   "method turn() { atomic { word t = x; x = y; y = z; z = t; } } }",
		   2, 5, 1500, EXACT);
}

static const char comparing[] =
	"spec t { " SCALARS
	"method cas(word o, word n) -> bool { atomic { if (x == o) { x = n; return true; } return "
	"false; } }\n"
	"method eq() -> bool { atomic { return x == y; } }\n"
	"method three() -> (bool p, bool q, word v) { atomic { return (x == y, y == a[0], x); } }\n"
	"method not_one() -> word { atomic { if (x == 1) return 0; return x; } }\n"
	"method order() -> (bool l, word p, word q) { atomic { return (x < y, x, y); } }\n"
	"method less(word v) -> (bool l, word p) { atomic { return (x < v, x); } }\n"
	"method most(word v) -> (bool l, word p) { atomic { return (x <= v, x); } }\n"
	"method above(word v) -> (bool l, word p) { atomic { return (v < x, x); } }\n"
	"method least(word v) -> (bool l, word p) { atomic { return (v <= x, x); } }\n"
	"method at(word i) -> word { atomic { assume(i < 2); return a[i]; } }\n"
	"method at_x() -> (word i, word v) { atomic { assume(x < 2); return (x, a[x]); } }\n"
	"method put_at(word v) { atomic { if (y < 2) a[y] = v; } }\n"
	"method add(word n) -> word { atomic { word o = x; x += n; return o; } }\n"
	"method sub() -> (word d, word p, word q) { atomic { return (x - y, x, y); } }\n"
	"method inc() -> word { atomic { x += 1; return x - 1; } }\n"
	"method logic() -> (bool b, bool g, word v) { atomic { return (f && x != 2 || y == 0, f, "
	"y); } } }";

static void test_comparisons(void **state)
{
	world(comparing, 3, 1, 4000, EXACT);
	world(comparing, 3, 6, 1500, ALLOWS);
}

static void test_sets_and_maps(void **state)
{
	world("spec t { set<word> s = empty; map<word, word> m = empty;\n"
	      "method fills(word k) { atomic { s.add(k); } } method fillm(word k, word v) { atomic "
	      "{ m.put(k, v); } }\n"
	      "method add(word k) -> bool { atomic { return s.add(k); } }\n"
	      "method rem(word k) -> bool { atomic { return s.remove(k); } }\n"
	      "method has(word k) -> bool { atomic { return s.has(k); } }\n"
	      "method put(word k, word v) { atomic { m.put(k, v); } }\n"
	      "method get(word k) -> word { atomic { return m.get(k); } }\n"
	      "method mrem(word k) -> word { atomic { return m.remove(k); } }\n"
	      "method mhas(word k) -> bool { atomic { return m.has(k); } } }", 6, 10, 100, KEPT);
	world_with(3, 8, 0, "spec t { set<word> s = empty; word x = 0;\n"
		   "method fills(word k) { atomic { s.add(k); } } method fillx(word v) { atomic { "
		   "x = v; } }\n"
		   "method addx() -> bool { atomic { return s.add(x); } }\n"
		   "method hasx() -> (bool b, word v) { atomic { return (s.has(x), x); } }\n"
		   "method is(word v) -> bool { atomic { return x == v; } }\n"
		   "method has(word k) -> bool { atomic { return s.has(k); } }\n"
		   "method rem(word k) -> bool { atomic { return s.remove(k); } }\n"
		   "method set(word v) { atomic { x = v; } } }", 5, 5, 200, EXACT);
	/* Six elements inside, none of which an operation names. */
	world_with(3, 9, 0, "spec t { set<word> s = empty; map<word, bool> m = empty; word n = 1;\n"
		   "method fills(word k) { atomic { if (s.size() < 6) s.add(k); } }\n"
		   "method add(word k) -> bool { atomic { return s.add(k); } }\n"
		   "method has(word k) -> bool { atomic { return s.has(k); } }\n"
		   "method rem(word k) -> bool { atomic { return s.remove(k); } }\n"
		   "method size() -> word { atomic { return s.size(); } }\n"
		   "method few(word k) -> bool { atomic { return s.size() <= k; } }\n"
		   "method none() -> bool { atomic { return s.size() == 0; } } }", 6, 4,
		   400, EXACT);
	world_with(3, 9, 0, "spec t { map<word, bool> m = empty;\n"
		   "method fill(word k, word v) { atomic { m.put(k, k < 3 && v == 1); } }\n"
		   "method put(word k, bool v) { atomic { m.put(k, v); } }\n"
		   "method get(word k) -> bool { atomic { return m.get(k); } }\n"
		   "method size() -> word { atomic { return m.size(); } }\n"
		   "method more(word k) -> bool { atomic { return m.size() > k; } }\n"
		   "method rem(word k) -> bool { atomic { return m.remove(k) == true; } } }", 6, 4,
		   400, EXACT);
	world("spec t { set<word> s = empty; map<word, bool> m = empty; word x = 0;\n"
	      "method fills(word k) { atomic { s.add(k); } } method fillm(word k, word v) { atomic "
	      "{ m.put(k, v == 1); } }\n"
	      "method fillx(word v) { atomic { x = v; } } method addx() -> bool { atomic { return "
	      "s.add(x); } }\n"
	      "method hasx() -> (bool b, word v) { atomic { return (s.has(x), x); } }\n"
	      "method ssize() -> word { atomic { return s.size(); } } method msize() -> word { "
	      "atomic { return m.size(); } }\n"
	      "method rem(word k) -> bool { atomic { return s.remove(k); } }\n"
	      "method none() -> bool { atomic { return s.size() == 0; } } method set(word v) { "
	      "atomic { x = v; } }\n"
	      "method put(word k, bool v) { atomic { m.put(k, v); } } method get(word k) -> bool { "
	      "atomic { return m.get(k); } }\n"
	      "method mrem(word k) -> bool { atomic { return m.remove(k) == true; } } }", 4, 8, 60,
	      ALLOWS);
}

static void test_bag(void **state)
{
	world("spec t { bag<word> g = empty; method fill(word k) { atomic { g.add(k); } }\n"
	      "method add(word k) { atomic { g.add(k); } } method rem(word k) -> bool { atomic { "
	      "return g.remove(k); } }\n"
	      "method has(word k) -> bool { atomic { return g.has(k); } } }", 12, 4, 1000, KEPT);
	world("spec t { bag<word> g = empty; word x = 0; method fill(word k) { atomic { g.add(k); "
	      "} }\n"
	      "method add(word k) { atomic { g.add(k); } } method rem(word k) -> bool { atomic { "
	      "return g.remove(k); } }\n"
	      "method count(word k) -> word { atomic { return g.count(k); } } method size() -> "
	      "word { atomic { return g.size(); } }\n"
	      "method addx() -> word { atomic { g.add(x); return x; } } method remx() -> bool { "
	      "atomic { return g.remove(x); } }\n"
	      "method has(word k) -> bool { atomic { return g.has(k); } } }", 5, 8, 300, ALLOWS);
	/* Three numbers, two of which were removed before a result shows one. */
	edge = 4;
	world_with(3, 4, 0,
		   "spec t { bag<word> g = empty; method fill(word k) { atomic { g.add(k); } }\n"
		   "method add(word k) { atomic { g.add(k); } } "
		   "method rem(word k) -> bool { atomic { return g.remove(k); } }\n"
		   "method count(word k) -> word { atomic { return g.count(k); } }\n"
		   "method two(word k) -> bool { atomic { return g.count(k) == 2; } }\n"
		   "method size() -> word { atomic { return g.size(); } }\n"
		   "method has(word k) -> bool { atomic { return g.has(k); } } }", 14, 5,
		   600, EXACT);
	edge = UINT64_MAX;
}

static void test_queue_stack(void **state)
{
	world("spec t { queue<word> q = empty; method fill(word v) { atomic { q.push(v); } }\n"
	      "method push(word v) { atomic { q.push(v); } } method pop() -> word { atomic { "
	      "return q.pop(); } }\n"
	      "method front() -> word { atomic { return q.front(); } } }", 5, 5, 1000, KEPT);
	world("spec t { stack<word> q = empty; method fill(word v) { atomic { q.push(v); } }\n"
	      "method push(word v) { atomic { q.push(v); } } method pop() -> word { atomic { "
	      "return q.pop(); } }\n"
	      "method top() -> word { atomic { return q.top(); } } }", 5, 5, 1000, KEPT);
	world("spec t { queue<word> q = empty; stack<word> s = empty;\n"
	      "method fillq(word v) { atomic { q.push(v); } } method fills(word v) { atomic { "
	      "s.push(v); } }\n"
	      "method push(word v) { atomic { q.push(v); } } method front() -> word { atomic { "
	      "return q.front(); } }\n"
	      "method move() -> bool { atomic { word v = q.pop(); if (v == empty) return false; "
	      "s.push(v); return true; } }\n"
	      "method pop() -> word { atomic { return s.pop(); } }\n"
	      "method sizes() -> (word a, word b) { atomic { return (q.size(), s.size()); } }\n"
	      "method two() -> word { atomic { if (q.size() == 2) return full; return q.size(); } "
	      "} }",
	      4, 8, 100, ALLOWS);
	/*
	 * Seven in all: results do not show sizes that would leave too few for the other container.
	 */
	edge = 3;
	values = most = 2;
	world("spec t { queue<word> q = empty; stack<word> s = empty;\n"
	      "method fillq(word v) { atomic { q.push(v); } } method fills(word v) { atomic { "
	      "s.push(v); } }\n"
	      "method push(word v) { atomic { q.push(v); } } method front() -> word { atomic { "
	      "return q.front(); } }\n"
	      "method down(word v) { atomic { s.push(v); } } method drop() -> word { atomic { "
	      "return q.pop(); } }\n"
	      "method pop() -> word { atomic { return s.pop(); } }\n"
	      "method sizes() -> (word a, word b) { atomic { return (q.size(), s.size()); } }\n"
	      "method sum() -> word { atomic { return q.size() + s.size(); } }\n"
	      "method two() -> word { atomic { if (q.size() == 2) return full; return q.size(); } "
	      "} }", 7, 5, 400, EXACT);
	edge = UINT64_MAX;
	world("spec t { queue<word> q = empty; method fill(word v) { atomic { q.push(v); } }\n"
	      "method push(word v) -> word { atomic { if (q.size() == 3) return full; q.push(v); "
	      "return 0; } }\n"
	      "method pop() -> word { atomic { return q.pop(); } }\n"
	      "method front() -> word { atomic { return q.front(); } } }", 8, 6, 1000, KEPT);
	values = most = 3;
}

static void test_deque(void **state)
{
	world("spec t { deque<word> d = empty; method fill(word v) { atomic { d.push_back(v); } }\n"
	      "method pushf(word v) { atomic { d.push_front(v); } }\n"
	      "method pushb(word v) { atomic { d.push_back(v); } }\n"
	      "method popf() -> word { atomic { return d.pop_front(); } }\n"
	      "method popb() -> word { atomic { return d.pop_back(); } }\n"
	      "method front() -> word { atomic { return d.front(); } }\n"
	      "method back() -> word { atomic { return d.back(); } } }", 6, 6, 1000, KEPT);
	world("spec t { deque<word> d = empty; method fill(word v) { atomic { d.push_back(v); } }\n"
	      "method turn() -> word { atomic { word v = d.pop_front(); if (v != empty) "
	      "d.push_back(v); return v; } }\n"
	      "method pushf(word v) { atomic { d.push_front(v); } }\n"
	      "method popb() -> word { atomic { return d.pop_back(); } }\n"
	      "method size() -> word { atomic { return d.size(); } } }", 5, 8, 300, ALLOWS);
	values = most = 2;
	world("spec t { deque<word> d = empty; method fill(word v) { atomic { d.push_back(v); } }\n"
	      "method popf() -> word { atomic { return d.pop_front(); } } method back() -> word { "
	      "atomic { return d.back(); } }\n"
	      "method pushf(word v) { atomic { d.push_front(v); } }\n"
	      "method popb() -> word { atomic { return d.pop_back(); } }\n"
	      "method few(word v) -> bool { atomic { return d.size() < v; } }\n"
	      "method size() -> word { atomic { return d.size(); } } }", 8, 6, 600, KEPT);
	values = most = 3;
}

/* `choose x;` gives any word, and facts about it are kept. */
static void test_choose_any(void **state)
{
	world_with(3, 5, 0, "spec t { word now = 0; method fill(word v) { atomic { now = v; } }\n"
	      "method read() -> word t { word any; choose any; atomic { assume(any >= now && any "
	      "< 3); now = any; return any; } }\n"
	      "method other() -> word t { word any; choose any; atomic { assume(any != now && any "
	      "< 3); return any; } } }", 2, 8, 1000, EXACT);
	world("spec t { map<word, word> m = empty; method fill(word k, word v) { atomic { "
	      "m.put(k, v); } }\n"
	      "method new(word v) -> word k { word any; choose any; atomic { assume(!m.has(any)); "
	      "m.put(any, v); return any; } }\n"
	      "method take() -> (word k, word v) { word any; choose any; atomic { "
	      "assume(m.has(any)); return (any, m.remove(any)); } } }", 3, 6, 300, EXACT);
}

static void test_pqueue(void **state)
{
	world("spec t { pqueue<word> p = empty; pqueue<word> max q = empty;\n"
	      "method fillp(word v) { atomic { p.push(v); } } method fillq(word v) { atomic { "
	      "q.push(v); } }\n"
	      "method push(word v) { atomic { p.push(v); q.push(v); } } method min() -> word { "
	      "atomic { return p.pop(); } }\n"
	      "method max() -> word { atomic { return q.pop(); } }\n"
	      "method tops() -> (word a, word b) { atomic { return (p.top(), q.top()); } }\n"
	      "method sizes() -> (word a, word b) { atomic { return (p.size(), q.size()); } } }", 7,
	      4, 600, EXACT);
	world_with(3, 3, 0, "spec t { pqueue<word> p = empty;\n"
		   "method fill(word v) { atomic { p.push(v); } }\n"
		   "method push(word v) { atomic { p.push(v); } }\n"
		   "method min() -> word { atomic { return p.pop(); } }\n"
		   "method top() -> word { atomic { return p.top(); } } }", 9, 6, 2000, EXACT);
	world_with(3, 3, 0, "spec t { pqueue<word> max p = empty;\n"
		   "method fill(word v) { atomic { p.push(v); } }\n"
		   "method push(word v) { atomic { p.push(v); } }\n"
		   "method max() -> word { atomic { return p.pop(); } }\n"
		   "method top() -> word { atomic { return p.top(); } } }", 9, 6, 2000, EXACT);
	/* One operation on an unknown queue: it gives any word not above the least known one. */
	world("spec t { pqueue<word> p = empty; method fill(word v) { atomic { p.push(v); } }\n"
	      "method both(word v) -> word { atomic { p.push(v); return p.pop(); } } }", 4, 1, 500,
	      KEPT);
}

#define UNSEEN	99

/* A hidden first element bounds the rest, and so does a known element that comes next. */
static void test_pqueue_hidden_first(void **state)
{
	enum { PUSH, POP, TOP };
	static const struct {
		unsigned int method;
		uint64_t v;		/* the pushed value, or the result */
	} t[][6] = {
		{ { TOP, UNSEEN }, { PUSH, 5 }, { POP, 5 }, { POP, 6 } },
		{ { TOP, UNSEEN }, { PUSH, 5 }, { POP, 5 }, { POP, 4 } },
		{ { TOP, UNSEEN }, { POP, UNSEEN }, { PUSH, 5 }, { POP, 5 }, { POP, 6 } },
		{ { TOP, UNSEEN }, { POP, UNSEEN }, { PUSH, 5 }, { POP, 5 }, { POP, 4 } },
	};
	const struct kl_val none[KL_MAX_ARGS] = { 0 };
	struct world w = { 0 };
	unsigned int i, k, max;

	w.unknown = calloc(1, sizeof(*w.unknown));
	w.next = calloc(1, sizeof(*w.next));
	assert_true(w.unknown && w.next);
	for (i = 0; i < 2 * sizeof(t) / sizeof(*t); i++) {
		const struct kl_val *init;
		bool allows;
		char text[300];
		size_t len;

		max = i % 2;
		snprintf(text, sizeof(text), "spec t { pqueue<word>%s p = empty;\n"
			 "method push(word v) { atomic { p.push(v); } }\n"
			 "method pop() -> word { atomic { return p.pop(); } }\n"
			 "method top() -> word { atomic { return p.top(); } } }",
			 max ? " max" : "");
		assert_int_equal(kl_spec_parse("t.lin", text, strlen(text), &w.s), 0);
		w.r = kl_run_new(w.s);
		assert_non_null(w.r);
		init = kl_run_init(w.r, false, &len);
		empty(w.unknown);
		add(w.unknown, init, len);
		for (k = 0; k < 6 && t[i / 2][k].v; k++) {
			struct kl_val v[KL_MAX_ARGS] = { kl_word(t[i / 2][k].v) };
			const unsigned int m = t[i / 2][k].method;

			if (v[0].v == UNSEEN)
				v[0] = (struct kl_val){ .tag = KL_ANY };
			step(&w, &w.unknown, m, m == PUSH ? v : none, m == PUSH ? none : v);
		}
		/* If some first state allows the result, not all states are lost. */
		allows = t[i / 2][k - 1].v == (max ? 4 : 6);
		assert_int_equal(w.unknown->n > count_lost(w.unknown), allows);
		assert_int_equal(w.unknown->n > 0, allows);
		kl_run_free(w.r);
		kl_spec_free(w.s);
	}
	free(w.unknown);
	free(w.next);
}

static struct kl_val bound[8];
static char line[256];

static int raw_outcome(void *ctx, const struct kl_outcome *o)
{
	size_t i, len = 0;

	for (i = 0; i < o->len; i++)
		len += snprintf(line + len, sizeof(line) - len, "%s%d:%d ",
				o->state[i].tag ? "?" : "",
				o->state[i].tag, (int)o->state[i].v);
	assert_true(o->nbound <= 8);
	memcpy(bound, o->bound, o->nbound * sizeof(*bound));
	*(size_t *)ctx = o->nbound;
	return 0;
}

static void test_raw_mode(void **state)
{
	static const char text[] =
		"spec t { word x, y; method get() -> (word a, word b) { atomic { return (x, y); } "
		"}\n"
		"method inc() { atomic { x += 1; } } method eq() { atomic { assume(x == y); } } }";
	struct kl_val st[2] = { { .v = 5, .tag = KL_ANY }, { .v = 2, .tag = KL_ANY } };
	struct kl_val res[2] = { { .tag = KL_ANY }, { .v = 77 } };
	struct kl_spec *s;
	struct kl_run *r;
	size_t n;

	assert_int_equal(kl_spec_parse("t.lin", text, strlen(text), &s), 0);
	r = kl_run_new(s);
	assert_non_null(r);
	kl_run_set_raw(r, true);
	assert_int_equal(kl_run_apply(r, st, 2, 0, NULL, res, raw_outcome, &n), 0);
	assert_string_equal(line, "?1:5 0:77 ");
	assert_int_equal(n, 6);
	assert_true(kl_val_eq(bound[2], kl_word(77)));
	assert_true(kl_val_eq(bound[5], st[0]));
	assert_int_equal(kl_run_apply(r, st, 2, 1, NULL, NULL, raw_outcome, &n), 0);
	assert_string_equal(line, "?1:6 ?1:2 ");
	kl_run_set_fresh(r, 8);
	assert_int_equal(kl_run_apply(r, st, 2, 1, NULL, NULL, raw_outcome, &n), 0);
	assert_string_equal(line, "?1:8 ?1:2 ");
	assert_int_equal(n, 8);
	assert_int_equal(kl_run_apply(r, st, 2, 2, NULL, NULL, raw_outcome, &n), 0);
	assert_string_equal(line, "?1:2 ?1:2 ");
	assert_true(kl_val_eq(bound[5], st[1]));
	kl_run_free(r);
	kl_spec_free(s);
}

static int first_machine(void *ctx, const struct kl_outcome *o)
{
	struct world *w = ctx;

	return kl_machine_exec(&w->machine, o, w->thread, KL_NO_OP) < 0 ? -ENOMEM : 1;
}

/* Run one operation of a thread.  Return: 1 if it is possible. */
static int execute(struct world *w, uint32_t thread, const char *method, uint64_t arg, uint64_t res)
{
	const struct kl_val a = kl_word(arg), b = kl_word(res);
	size_t len;

	w->thread = thread;
	assert_int_equal(kl_machine_view(&w->machine, thread, &w->view, &w->cview, &len), 0);
	kl_run_set_fresh(w->r, kl_machine_next_unknown(&w->machine));
	return kl_run_apply(w->r, w->view, len, kl_spec_find_method(w->s, method), &a, &b,
			    first_machine, w);
}

/* A thread that sees its own buffered store keeps what it knows about memory. */
static void test_facts_behind_buffered_store(void **state)
{
	static const char text[] =
		"spec t { word x, y;\n"
		"method put(word v) { atomic { x = v; } }\n"
		"method below(word v) -> bool { atomic { return x < v; } }\n"
		"method less(word v) -> bool { atomic { return x < y; } }\n"
		"method y_is(word v) -> bool { atomic { return y == v; } }\n"
		"method get() -> word { atomic { return x; } } }";
	unsigned int read, order;

	for (read = 2; read < 6; read++) {
		struct world w = { 0 };
		const struct kl_val *first;
		size_t len;

		assert_int_equal(kl_spec_parse("t.lin", text, strlen(text), &w.s), 0);
		w.r = kl_run_new(w.s);
		first = kl_run_init(w.r, false, &len);
		assert_int_equal(kl_machine_init(&w.machine, len), 0);
		memcpy(w.machine.mem, first, len * sizeof(*first));
		kl_run_set_raw(w.r, true);
		order = read / 4;
		if (order)
			assert_int_equal(execute(&w, 0, "less", 0, 1), 1);
		else
			assert_int_equal(execute(&w, 0, "below", 3, 1), 1);
		assert_int_equal(execute(&w, 1, "put", 9, 0), 1);
		assert_int_equal(execute(&w, 1, "get", 0, 9), 1);
		assert_int_equal(execute(&w, 1, "y_is", 1, 0), 1);
		if (order)
			assert_int_equal(execute(&w, 1, "y_is", 5, 1), 1);
		/* The store is still buffered, and memory has a value below 3, or 5. */
		assert_int_equal(execute(&w, 0, "get", 0, read), read != (order ? 5 : 3));
		kl_machine_free(&w.machine);
		kl_run_free(w.r);
		kl_spec_free(w.s);
		free(w.view);
	}
}

static void test_renumbered_unknowns(void **state)
{
	struct kl_val st[6] = { { .v = 3, .tag = KL_ANY }, { .v = 0 }, { .v = 0, .tag = KL_ANY },
				{ .v = 3, .tag = KL_ANY }, { .v = 9 }, { .v = 1, .tag = KL_ANY } };

	kl_state_canon(st, 6);
	assert_int_equal(st[0].v, 0);
	assert_int_equal(st[1].v, 0);
	assert_int_equal(st[2].v, 1);
	assert_int_equal(st[3].v, 0);
	assert_int_equal(st[4].v, 9);
	assert_int_equal(st[5].v, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_without_comparison),
		cmocka_unit_test(test_comparisons_and_sums),
		cmocka_unit_test(test_three_compared_words),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_sets_and_maps),
		cmocka_unit_test(test_bag),
		cmocka_unit_test(test_queue_stack),
		cmocka_unit_test(test_deque),
		cmocka_unit_test(test_choose_any),
		cmocka_unit_test(test_pqueue),
		cmocka_unit_test(test_pqueue_hidden_first),
		cmocka_unit_test(test_raw_mode),
		cmocka_unit_test(test_facts_behind_buffered_store),
		cmocka_unit_test(test_renumbered_unknowns),
	};

	return cmocka_run_group_tests_name("spec_unknown", tests, NULL, NULL);
}
