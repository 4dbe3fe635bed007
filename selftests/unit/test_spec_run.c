// SPDX-License-Identifier: GPL-2.0
/* The interpreter on known states: outcomes, errors, and containers compared with models in C. */
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
#include "spec/spec.h"

#define STATE_MAX	1024
#define ANY		((struct kl_val){ .tag = KL_ANY })
#define W(x)		((struct kl_val){ .v = (x) })
#define EMPTY		((struct kl_val){ .tag = KL_EMPTY })
#define ABSENT		((struct kl_val){ .tag = KL_ABSENT })

struct bench {
	struct kl_spec *s;
	struct kl_run *r;
	struct kl_val state[STATE_MAX];
	size_t len;
	char log[8192];		/* outcomes of the last operation, one a line */
	struct kl_val results[KL_MAX_ARGS];
	int stop;
};

static void setup(struct bench *b, const char *text, bool fresh)
{
	const struct kl_val *state;

	memset(b, 0, sizeof(*b));
	assert_int_equal(kl_spec_parse("t.lin", text, strlen(text), &b->s), 0);
	b->r = kl_run_new(b->s);
	assert_non_null(b->r);
	state = kl_run_init(b->r, fresh, &b->len);
	assert_non_null(state);
	memcpy(b->state, state, b->len * sizeof(*state));
}

static void teardown(struct bench *b)
{
	kl_run_free(b->r);
	kl_spec_free(b->s);
}

static int keep(void *ctx, const struct kl_outcome *o)
{
	struct bench *b = ctx;
	size_t len = strlen(b->log), i;

	assert_true(o->len <= STATE_MAX);
	kl_state_print(b->log + len, sizeof(b->log) - len, b->s, NULL, o->state, o->len);
	len = strlen(b->log);
	len += snprintf(b->log + len, sizeof(b->log) - len, "%s%s", o->barrier ? " barrier" : "",
			o->through ? " through" : "");
	for (i = 0; i < o->nwrote; i++)
		len += snprintf(b->log + len, sizeof(b->log) - len, " w%u", o->wrote[i]);
	snprintf(b->log + len, sizeof(b->log) - len, "\n");
	memcpy(b->state, o->state, o->len * sizeof(*o->state));
	b->len = o->len;
	memcpy(b->results, o->results, sizeof(b->results));
	return b->stop;
}

/* Apply a method; the state becomes that of the last outcome. */
static int apply(struct bench *b, const char *method, const struct kl_val *args,
		 const struct kl_val *res)
{
	struct kl_val before[STATE_MAX];
	int m = kl_spec_find_method(b->s, method);

	assert_true(m >= 0);
	memcpy(before, b->state, sizeof(before));
	b->log[0] = 0;
	return kl_run_apply(b->r, before, b->len, m, args, res, keep, b);
}

#define ARGS(...)	((const struct kl_val[]){ __VA_ARGS__ })

static void test_outcomes(void **state)
{
	struct bench b;

	setup(&b, "spec t { word x = 0; word a[3] = 7; bool h = false;\n"
	      "method pick() -> word { word v; choose v in 1..3; atomic { x = v; a[v - 1] = v; "
	      "return v; } }\n"
	      "method same() { either { atomic { x = 5; } } or { atomic { x = 5; } } or { "
	      "atomic_flush { x = 5; } } }\n"
	      "method never() { atomic { assume(false); } }\n"
	      "method loop(word n) -> word { word i = 0, s = 0; while (i < n) { i += 1; s += i; } "
	      "return s; }\n"
	      "method flag(bool v) -> bool { fence; atomic { bool o = h; h = v; return o; } }\n"
	      "method logic(word v) -> word { return v > 1 && v <= 3 || v == 9 ? v << 1 | 1 : ~v; "
	      "} }", true);
	assert_int_equal(apply(&b, "pick", NULL, NULL), 0);
	assert_string_equal(b.log, "x = 1, a = [1, 7, 7], h = false w0 w1\n"
			    "x = 2, a = [7, 2, 7], h = false w0 w2\n"
			    "x = 3, a = [7, 7, 3], h = false w0 w3\n");
	assert_int_equal(apply(&b, "pick", NULL, ARGS(W(2))), 0);
	assert_string_equal(b.log, "x = 2, a = [7, 2, 3], h = false w0 w2\n");
	assert_int_equal(apply(&b, "pick", NULL, ARGS(W(4))), 0);
	assert_string_equal(b.log, "");
	assert_int_equal(apply(&b, "same", NULL, NULL), 0);
	assert_string_equal(b.log, "x = 5, a = [7, 2, 3], h = false w0\n"
			    "x = 5, a = [7, 2, 3], h = false barrier through w0\n");
	assert_int_equal(apply(&b, "never", NULL, NULL), 0);
	assert_string_equal(b.log, "");
	assert_int_equal(apply(&b, "loop", ARGS(W(1000)), ARGS(W(500500))), 0);
	assert_string_equal(b.log, "x = 5, a = [7, 2, 3], h = false\n");
	assert_int_equal(apply(&b, "flag", ARGS(W(7)), NULL), 0);
	assert_string_equal(b.log, "x = 5, a = [7, 2, 3], h = true barrier w4\n");
	assert_int_equal(b.results[0].v, 0);
	assert_int_equal(apply(&b, "flag", ARGS(W(0)), ARGS(W(42))), 0);
	assert_string_equal(b.log, "x = 5, a = [7, 2, 3], h = false barrier w4\n");
	assert_int_equal(apply(&b, "logic", ARGS(W(3)), ARGS(W(7))), 0);
	assert_true(b.log[0]);
	assert_int_equal(apply(&b, "logic", ARGS(W(9)), ARGS(W(19))), 0);
	assert_true(b.log[0]);
	assert_int_equal(apply(&b, "logic", ARGS(W(4)), ARGS(W(~4ull))), 0);
	assert_true(b.log[0]);
	b.stop = 17;
	assert_int_equal(apply(&b, "pick", NULL, NULL), 17);
	assert_string_equal(b.log, "x = 1, a = [1, 2, 3], h = false w0 w1\n");
	teardown(&b);
}

static int count_outcomes(void *ctx, const struct kl_outcome *o)
{
	(void)o;
	++*(unsigned int *)ctx;
	return 0;
}

static bool asked_twice(void *ctx)
{
	return ++*(unsigned int *)ctx == 2;
}

static bool never(void *ctx)
{
	return false;
}

/* A work limit applies to one call, as does a time limit; larger states cost more work. */
static void test_work_limit(void **state)
{
	static const struct kl_val any[] = { { .tag = KL_ANY }, { .v = 1 } };
	struct bench b;
	uint64_t small;
	unsigned int n = 0, asked = 0;
	int m;

	setup(&b, "spec t { word x = 0;\n"
	      "method pick() { atomic { choose v in 1..1000; x = v; } } }", true);
	kl_run_set_bound(b.r, 1000, NULL, NULL);
	assert_int_equal(kl_run_apply(b.r, b.state, b.len, 0, NULL, NULL, count_outcomes, &n),
			 -EDQUOT);
	assert_in_range(n, 1, 200);
	assert_in_range(kl_run_work(b.r), 1001, 1100);
	n = 0;
	assert_int_equal(kl_run_apply(b.r, b.state, b.len, 0, NULL, NULL, count_outcomes, &n), 0);
	assert_int_equal(n, 1000);
	small = kl_run_work(b.r);
	kl_run_set_bound(b.r, small, NULL, NULL);
	n = 0;
	assert_int_equal(kl_run_apply(b.r, b.state, b.len, 0, NULL, NULL, count_outcomes, &n), 0);
	assert_int_equal(n, 1000);
	teardown(&b);

	setup(&b, "spec t { word a[1000];\n"
	      "method put(word i, word x) { atomic { a[i] = x; } } }", true);
	m = kl_spec_find_method(b.s, "put");
	n = 0;
	assert_int_equal(kl_run_apply(b.r, b.state, b.len, m, any, NULL, count_outcomes, &n), 0);
	assert_int_equal(n, 1000);
	small = kl_run_work(b.r);
	kl_run_set_bound(b.r, 0, asked_twice, &asked);
	n = 0;
	assert_int_equal(kl_run_apply(b.r, b.state, b.len, m, any, NULL, count_outcomes, &n),
			 -EDQUOT);
	assert_int_equal(asked, 2);
	assert_in_range(n, 1, 200);
	kl_run_set_bound(b.r, 0, never, NULL);
	n = 0;
	assert_int_equal(kl_run_apply(b.r, b.state, b.len, m, any, NULL, count_outcomes, &n), 0);
	assert_int_equal(n, 1000);
	assert_int_equal(kl_run_work(b.r), small);
	/* Each outcome copies a thousand values, and names as many unknowns. */
	assert_true(kl_run_work(b.r) > 2 * 1000 * 1000);
	teardown(&b);
}

static void test_errors(void **state)
{
	struct bench b;

	setup(&b, "spec t { word x = 0; word a[3] = 0; queue<word> q = empty;\n"
	      "method forever() { while (true) { } }\n"
	      "method wide() { word v, most = 100000; choose v in 0..most; }\n"
	      "method deep() { word v, w; choose v in 0..300; choose w in 0..300; }\n"
	      "method check(word v) {\nassert(v != 3); }\n"
	      "method at(word i) -> word { atomic { return a[i]; } }\n"
	      "method div(word d) -> word { return 10 / d; }\n"
	      "method sum() -> word { atomic { return q.pop() + 1; } }\n"
	      "method grow() { atomic { while (true) { q.push(1); } } } }", true);
	assert_int_equal(apply(&b, "forever", NULL, NULL), -E2BIG);
	assert_string_equal(kl_run_error(b.r), "'forever' takes more than 1048576 steps");
	assert_int_equal(apply(&b, "wide", NULL, NULL), -E2BIG);
	assert_string_equal(kl_run_error(b.r), "'choose' among more than 65536 values");
	assert_int_equal(apply(&b, "deep", NULL, NULL), -E2BIG);
	assert_string_equal(kl_run_error(b.r), "'deep' has more than 65536 paths");
	assert_int_equal(apply(&b, "check", ARGS(W(2)), NULL), 0);
	assert_int_equal(apply(&b, "check", ARGS(W(3)), NULL), -E2BIG);
	assert_string_equal(kl_run_error(b.r), "'check': the assertion in line 6 fails");
	assert_int_equal(apply(&b, "at", ARGS(W(2)), NULL), 0);
	assert_int_equal(apply(&b, "at", ARGS(W(3)), NULL), -E2BIG);
	assert_string_equal(kl_run_error(b.r),
			    "'at': index 3 is out of bounds of an array of 3 elements");
	assert_int_equal(apply(&b, "div", ARGS(W(0)), NULL), -E2BIG);
	assert_string_equal(kl_run_error(b.r), "'div': division by zero");
	assert_int_equal(apply(&b, "sum", NULL, NULL), -E2BIG);
	assert_string_equal(kl_run_error(b.r),
			    "'sum': a special value (empty, full, absent) is used as a number");
	assert_int_equal(apply(&b, "grow", NULL, NULL), -E2BIG);
	assert_int_equal(apply(&b, "div", ARGS(EMPTY), NULL), -EINVAL);
	assert_string_equal(kl_run_error(b.r), "argument 'd' of 'div' is a special value (empty, "
					       "full, "
			    "absent), expected a word");
	b.state[b.len - 1].v = 1000;
	assert_int_equal(apply(&b, "div", ARGS(W(1)), NULL), -EINVAL);
	assert_string_equal(kl_run_error(b.r), "not a state of 't'");
	teardown(&b);
}

static void expect(struct bench *b, const char *method, struct kl_val a0, struct kl_val a1,
		   struct kl_val result)
{
	assert_int_equal(apply(b, method, ARGS(a0, a1), NULL), 0);
	assert_true(kl_val_eq(b->results[0], result));
	/* A known state has one outcome, which agrees with its own result. */
	assert_ptr_equal(strchr(b->log, '\n'), b->log + strlen(b->log) - 1);
}

#define ROUNDS 20000

static void test_queue_stack(void **state)
{
	uint64_t seed = 1, queue[64], stack[64], nq = 0, ns = 0, v;
	struct bench b;
	int i;

	setup(&b, "spec t { word pad = 0; queue<word> q = empty; stack<word> s = empty;\n"
	      "method enq(word v) { atomic { q.push(v); } } method push(word v) { atomic { "
	      "s.push(v); } }\n"
	      "method deq() -> word { atomic { return q.pop(); } } method pop() -> word { atomic { "
	      "return s.pop(); } }\n"
	      "method ends() -> (word f, word t) { atomic { return (q.front(), s.top()); } }\n"
	      "method sizes() -> (word m, word n) { atomic { return (q.size(), s.size()); } } }",
	      true);
	for (i = 0; i < ROUNDS; i++) {
		v = kl_rand_below(&seed, 10);
		switch (kl_rand_below(&seed, 4)) {
		case 0:
			if (nq == 64)
				break;
			apply(&b, "enq", ARGS(W(v)), NULL);
			queue[nq++] = v;
			break;
		case 1:
			if (ns == 64)
				break;
			apply(&b, "push", ARGS(W(v)), NULL);
			stack[ns++] = v;
			break;
		case 2:
			expect(&b, "deq", ANY, ANY, nq ? W(queue[0]) : EMPTY);
			if (nq)
				memmove(queue, queue + 1, --nq * sizeof(*queue));
			break;
		default:
			expect(&b, "pop", ANY, ANY, ns ? W(stack[ns - 1]) : EMPTY);
			ns -= ns > 0;
		}
		expect(&b, "ends", ANY, ANY, nq ? W(queue[0]) : EMPTY);
		assert_true(kl_val_eq(b.results[1], ns ? W(stack[ns - 1]) : EMPTY));
		expect(&b, "sizes", ANY, ANY, W(nq));
		assert_true(kl_val_eq(b.results[1], W(ns)));
	}
	teardown(&b);
}

/* The value that means "empty" may itself be in a container. */
static void test_special_values_inside(void **state)
{
	struct bench b;

	setup(&b, "spec t { queue<word> q = empty; stack<word> s = empty; deque<word> d = empty;\n"
	      "method fill() { atomic { q.push(q.pop()); s.push(s.pop()); "
	      "d.push_back(d.pop_back()); } }\n"
	      "method take() -> (word x, word y, word z) { atomic { return (q.pop(), s.pop(), "
	      "d.pop_front()); } }\n"
	      "method sizes() -> (word x, word y, word z) { atomic { return (q.size(), s.size(), "
	      "d.size()); } } }", true);
	apply(&b, "fill", NULL, NULL);
	assert_string_equal(b.log, "q = [empty], s = [empty], d = [empty]\n");
	apply(&b, "sizes", NULL, ARGS(W(1), W(1), W(1)));
	assert_string_equal(b.log, "q = [empty], s = [empty], d = [empty]\n");
	apply(&b, "take", NULL, ARGS(EMPTY, EMPTY, EMPTY));
	assert_string_equal(b.log, "q = [], s = [], d = []\n");
	apply(&b, "take", NULL, ARGS(EMPTY, EMPTY, EMPTY));
	assert_string_equal(b.log, "q = [], s = [], d = []\n");
	teardown(&b);
}

static void test_deque(void **state)
{
	uint64_t seed = 1, deque[64], n = 0, v;
	struct bench b;
	int i;

	setup(&b, "spec t { deque<word> d = empty; word pad = 0;\n"
	      "method pushf(word v) { atomic { d.push_front(v); } }\n"
	      "method pushb(word v) { atomic { d.push_back(v); } }\n"
	      "method popf() -> word { atomic { return d.pop_front(); } }\n"
	      "method popb() -> word { atomic { return d.pop_back(); } }\n"
	      "method ends() -> (word f, word b) { atomic { return (d.front(), d.back()); } }\n"
	      "method size() -> word { atomic { return d.size(); } } }", true);
	for (i = 0; i < ROUNDS; i++) {
		v = kl_rand_below(&seed, 10);
		switch (kl_rand_below(&seed, 4)) {
		case 0:
			if (n == 64)
				break;
			apply(&b, "pushf", ARGS(W(v)), NULL);
			memmove(deque + 1, deque, n++ * sizeof(*deque));
			deque[0] = v;
			break;
		case 1:
			if (n == 64)
				break;
			apply(&b, "pushb", ARGS(W(v)), NULL);
			deque[n++] = v;
			break;
		case 2:
			expect(&b, "popf", ANY, ANY, n ? W(deque[0]) : EMPTY);
			if (n)
				memmove(deque, deque + 1, --n * sizeof(*deque));
			break;
		default:
			expect(&b, "popb", ANY, ANY, n ? W(deque[n - 1]) : EMPTY);
			n -= n > 0;
		}
		expect(&b, "ends", ANY, ANY, n ? W(deque[0]) : EMPTY);
		assert_true(kl_val_eq(b.results[1], n ? W(deque[n - 1]) : EMPTY));
		expect(&b, "size", ANY, ANY, W(n));
	}
	teardown(&b);

	/* The unknown elements are between the two ends. */
	setup(&b, "spec t { deque<word> d;\n"
	      "method pushf(word v) { atomic { d.push_front(v); } }\n"
	      "method pushb(word v) { atomic { d.push_back(v); } }\n"
	      "method popb() -> word { atomic { return d.pop_back(); } } }", true);
	assert_int_equal(apply(&b, "pushf", ARGS(W(1)), NULL), 0);
	assert_string_equal(b.log, "d = [1, ...]\n");
	assert_int_equal(apply(&b, "pushb", ARGS(W(2)), NULL), 0);
	assert_string_equal(b.log, "d = [1, ..., 2]\n");
	assert_int_equal(apply(&b, "popb", NULL, ARGS(W(2))), 0);
	assert_string_equal(b.log, "d = [1, ...]\n");
	assert_int_equal(apply(&b, "popb", NULL, ARGS(W(1))), 0);
	assert_string_equal(b.log, "d = []\nd = [1, ...]\n");
	assert_int_equal(apply(&b, "popb", NULL, ARGS(EMPTY)), 0);
	assert_string_equal(b.log, "");
	teardown(&b);
}

static void test_pqueue(void **state)
{
	uint64_t seed = 2, model[32], n = 0, i, lo, hi;
	struct bench b;
	int k;

	setup(&b, "spec t { pqueue<word> p = empty; pqueue<word> max r = empty;\n"
	      "method push(word v) { atomic { p.push(v); r.push(v); } }\n"
	      "method min() -> word { atomic { return p.pop(); } } method max() -> word { atomic { "
	      "return r.pop(); } }\n"
	      "method tops() -> (word a, word b) { atomic { return (p.top(), r.top()); } }\n"
	      "method size() -> word { atomic { return p.size(); } }\n"
	      "method drop() { atomic { while (r.size() > 0) { r.pop(); } while (p.size() > 0) { "
	      "p.pop(); } } } }", true);
	for (k = 0; k < ROUNDS; k++) {
		if (n < 32 && kl_rand_below(&seed, 8)) {
			model[n] = kl_rand_below(&seed, 40);
			apply(&b, "push", ARGS(W(model[n])), NULL);
			n++;
		} else {
			apply(&b, "drop", NULL, NULL);
			assert_string_equal(b.log, "p = [], r = []\n");
			n = 0;
		}
		lo = UINT64_MAX;
		hi = 0;
		for (i = 0; i < n; i++) {
			lo = model[i] < lo ? model[i] : lo;
			hi = model[i] > hi ? model[i] : hi;
		}
		expect(&b, "tops", ANY, ANY, n ? W(lo) : EMPTY);
		assert_true(kl_val_eq(b.results[1], n ? W(hi) : EMPTY));
		expect(&b, "size", ANY, ANY, W(n));
	}
	teardown(&b);
}

static void test_set_map_bag(void **state)
{
	uint64_t seed = 3, count[12] = { 0 }, total = 0, keys = 0, k, v;
	struct kl_val map[12];
	struct bench b;
	int i;

	for (i = 0; i < 12; i++)
		map[i] = ABSENT;
	setup(&b, "spec t { set<word> s = empty; map<word, word> m = empty; bag<word> g = empty;\n"
	      "method sadd(word k) -> bool { atomic { return s.add(k); } }\n"
	      "method srem(word k) -> bool { atomic { return s.remove(k); } }\n"
	      "method shas(word k) -> bool { atomic { return s.has(k); } }\n"
	      "method put(word k, word v) { atomic { m.put(k, v); } }\n"
	      "method get(word k) -> word { atomic { return m.get(k); } }\n"
	      "method mrem(word k) -> word { atomic { return m.remove(k); } }\n"
	      "method mhas(word k) -> bool { atomic { return m.has(k); } }\n"
	      "method gadd(word k) { atomic { g.add(k); } }\n"
	      "method grem(word k) -> bool { atomic { return g.remove(k); } }\n"
	      "method ghas(word k) -> bool { atomic { return g.has(k); } }\n"
	      "method count(word k) -> word { atomic { return g.count(k); } }\n"
	      "method sizes() -> (word a, word b, word c) { atomic { return (s.size(), m.size(), "
	      "g.size()); } } }",
	      true);
	for (i = 0; i < ROUNDS; i++) {
		k = kl_rand_below(&seed, 12);
		v = kl_rand_below(&seed, 3);
		if (kl_rand_below(&seed, 2)) {
			expect(&b, "sadd", W(k), ANY, W(map[k].tag == KL_ABSENT));
			apply(&b, "put", ARGS(W(k), W(v)), NULL);
			keys += map[k].tag == KL_ABSENT;
			map[k] = W(v);
			apply(&b, "gadd", ARGS(W(k)), NULL);
			count[k]++;
			total++;
		} else {
			expect(&b, "srem", W(k), ANY, W(map[k].tag != KL_ABSENT));
			expect(&b, "mrem", W(k), ANY, map[k]);
			keys -= map[k].tag != KL_ABSENT;
			map[k] = ABSENT;
			expect(&b, "grem", W(k), ANY, W(count[k] > 0));
			total -= count[k] > 0;
			count[k] -= count[k] > 0;
		}
		k = kl_rand_below(&seed, 12);
		expect(&b, "shas", W(k), ANY, W(map[k].tag != KL_ABSENT));
		expect(&b, "mhas", W(k), ANY, W(map[k].tag != KL_ABSENT));
		expect(&b, "get", W(k), ANY, map[k]);
		expect(&b, "ghas", W(k), ANY, W(count[k] > 0));
		expect(&b, "count", W(k), ANY, W(count[k]));
		expect(&b, "sizes", ANY, ANY, W(keys));
		assert_true(kl_val_eq(b.results[1], W(keys)));
		assert_true(kl_val_eq(b.results[2], W(total)));
	}
	teardown(&b);
}

/* A container that is partly known, and its state after it becomes completely known. */
static void test_partly_known_containers(void **state)
{
	struct bench b;

	setup(&b, "spec t { bag<word> g = empty; set<word> s = empty; pqueue<word> p; queue<word> "
		  "q;\n"
	      "method add(word v) { atomic { g.add(v); s.add(v); p.push(v); q.push(v); } }\n"
	      "method has(word v) -> (bool a, bool b) { atomic { return (g.has(v), s.has(v)); } }\n"
	      "method sizes() -> (word a, word b, word c, word d) {\n"
	      "	atomic { return (g.size(), s.size(), p.size(), q.size()); } } }", false);
	kl_state_print(b.log, sizeof(b.log), b.s, NULL, b.state, b.len);
	assert_string_equal(b.log, "g = {...}, s = {...}, p = [...], q = [...]");
	assert_int_equal(apply(&b, "has", ARGS(W(1)), ARGS(W(0), W(0))), 0);
	assert_string_equal(b.log, "g = {1 x0, ...}, s = {not 1, ...}, p = [...], q = [...]\n");
	assert_int_equal(apply(&b, "has", ARGS(W(3)), ARGS(W(1), W(1))), 0);
	assert_int_equal(apply(&b, "add", ARGS(W(2)), NULL), 0);
	assert_non_null(strstr(b.log, "g = {1 x0, 2 x1+, 3 x1+, ...}, s = {not 1, 2, 3, ...}, "
			       "p = [2, ...], q = [..., 2]\n"));
	assert_int_equal(apply(&b, "sizes", NULL, ARGS(W(2), W(2), W(1), W(1))), 0);
	assert_string_equal(b.log, "g = {2 x1, 3 x1}, s = {2, 3}, p = [2], q = [2]\n");
	teardown(&b);
}

struct steps {
	struct kl_outcome o[4];		/* state, locals and results point into the arrays below */
	struct kl_val state[4][STATE_MAX], locals[4][8], results[4][KL_MAX_ARGS];
	unsigned int n;
};

static int keep_step(void *ctx, const struct kl_outcome *o)
{
	struct steps *s = ctx;
	const unsigned int i = s->n++;

	assert_true(i < 4 && o->len <= STATE_MAX && o->nlocals <= 8);
	s->o[i] = *o;
	memcpy(s->state[i], o->state, o->len * sizeof(*o->state));
	memcpy(s->locals[i], o->locals, o->nlocals * sizeof(*o->locals));
	memcpy(s->results[i], o->results, sizeof(s->results[i]));
	s->o[i].locals = s->locals[i];
	return 0;
}

/* A method of two atomic steps, between which the state changes. */
static void test_two_atomic_steps(void **state)
{
	struct steps first = { 0 }, second = { 0 };
	struct bench b;

	setup(&b, "spec t { word x = 0, y = 0; method m(word v) -> word {\n"
		  "	word k = 0;\n"
		  "	either { atomic_flush { x = v; k = v + 1; } atomic { y = k + x; "
		  "return y; } }\n"
		  "	or { atomic { return 9; } } } }", true);
	kl_run_set_steps(b.r, true);
	assert_int_equal(kl_run_apply(b.r, b.state, b.len, 0, ARGS(W(4)), NULL, keep_step, &first),
			 0);
	assert_int_equal(first.n, 2);
	assert_true(first.o[0].at && first.o[0].through && first.o[0].nwrote == 1);
	assert_int_equal(first.state[0][0].v, 4);
	assert_true(!first.o[1].at && !first.o[1].nwrote);
	assert_int_equal(first.results[1][0].v, 9);
	first.state[0][0] = kl_word(10);
	assert_int_equal(kl_run_resume(b.r, first.state[0], b.len, 0, &first.o[0], keep_step,
				       &second), 0);
	assert_int_equal(second.n, 1);
	assert_true(!second.o[0].at && !second.o[0].through);
	assert_int_equal(second.results[0][0].v, 15);
	assert_int_equal(second.state[0][1].v, 15);
	/* All steps at once, as a monitor runs a method. */
	kl_run_set_steps(b.r, false);
	assert_int_equal(apply(&b, "m", ARGS(W(4)), ARGS(W(9))), 0);
	assert_string_equal(b.log, "x = 4, y = 9 barrier through w0 w1\nx = 0, y = 0\n");
	teardown(&b);
}

/* Equal contents have equal words, however they were made. */
static void test_canonical_states(void **state)
{
	struct kl_val first[STATE_MAX];
	struct bench b;
	size_t len;

	setup(&b, "spec t { map<word, bool> m = empty; method put(word k, bool v) { atomic { "
		  "m.put(k, v); } }\n"
	      "method del(word k) { atomic { m.remove(k); } } }", true);
	apply(&b, "put", ARGS(W(1), W(1)), NULL);
	apply(&b, "put", ARGS(W(5), W(0)), NULL);
	apply(&b, "put", ARGS(W(3), W(1)), NULL);
	assert_string_equal(b.log, "m = {1: true, 3: true, 5: false}\n");
	memcpy(first, b.state, sizeof(first));
	len = b.len;
	apply(&b, "del", ARGS(W(1)), NULL);
	apply(&b, "del", ARGS(W(3)), NULL);
	apply(&b, "put", ARGS(W(3), W(8)), NULL);
	apply(&b, "put", ARGS(W(1), W(1)), NULL);
	assert_int_equal(b.len, len);
	assert_memory_equal(b.state, first, len * sizeof(*first));
	teardown(&b);
}

/* Containers take any number of entries in one operation, in any order. */
static void test_entries_any_order(void **state)
{
	/* f is odd: all of 0 .. N - 1 are added, in one order or another */
	static const char text[] = "spec t { const N = 64; set<word> s = empty;\n"
		"map<word, word> m = empty; bag<word> g = empty; pqueue<word> p = empty;\n"
		"method add(word f) { word i = 0; atomic { while (i < N) { word k = i * f % N;\n"
		"s.add(k); m.put(k, k + 1); g.add(k); p.push(k); i += 1; } } }\n"
		"method drop(word n) { word k = n; atomic { while (k < N) {\n"
		"s.remove(k); m.remove(k); g.remove(k); k += 1; } } } }";
	struct kl_val first[STATE_MAX];
	uint64_t n, factor;
	struct bench b;
	size_t len;

	for (n = 1; n < 40; n++) {
		for (factor = 1, len = 0; factor < n; factor += 2) {
			setup(&b, text, true);
			apply(&b, "add", ARGS(W(factor)), NULL);
			apply(&b, "drop", ARGS(W(n)), NULL);
			assert_true(b.log[0]);
			if (len) {
				assert_int_equal(b.len, len);
				assert_memory_equal(b.state, first, len * sizeof(*first));
			}
			len = b.len;
			memcpy(first, b.state, sizeof(first));
			teardown(&b);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_work_limit),
		cmocka_unit_test(test_queue_stack),
		cmocka_unit_test(test_special_values_inside),
		cmocka_unit_test(test_deque),
		cmocka_unit_test(test_pqueue),
		cmocka_unit_test(test_set_map_bag),
		cmocka_unit_test(test_partly_known_containers),
		cmocka_unit_test(test_two_atomic_steps),
		cmocka_unit_test(test_canonical_states),
		cmocka_unit_test(test_entries_any_order),
	};

	return cmocka_run_group_tests_name("spec_run", tests, NULL, NULL);
}
