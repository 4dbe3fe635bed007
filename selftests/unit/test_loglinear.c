// SPDX-License-Identifier: GPL-2.0
/*
 * The log-linear monitors against the brute-force oracle, on small random histories of
 * containers whose values are mostly different.  Verdicts are equal, the replayer accepts the
 * certificates, and the oracle rejects the counterexamples.  Longer histories are compared
 * with the general engines.  KLIN_RUNS sets the number; KLIN_TESTS (a pattern) and KLIN_TYPES
 * (letters, see below) select tests, so that many can run in parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "check/check.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "history_util.h"
#include "replayed.h"
#include "tso/engine/tso.h"

#define MAX_OPS	2000

static const struct type {
	const char *spec;
	bool keyed;		/* every method takes a value */
	bool word;		/* the type is a register */
	/* the register has read-modify-writes that return the value that they saw */
	bool moves;
	/* the type uses only some methods; lost operations may be of others */
	bool some;
	const struct kl_engine *by;	/* tested engine, if not the monitors */
	bool both;		/* a deque, with add2, take2 and look2 at the other end */
	bool bounded;		/* additions return whether there was room */
	bool multi;		/* a multiset: words repeat, and look2 counts them */
} types[] = {
	{ "spec q { queue<word> q = empty;\n"
	  "method add(word v) { atomic_flush { q.push(v); } }\n"
	  "method take() -> word { atomic_flush { return q.pop(); } }\n"
	  "method look() -> word { atomic { return q.front(); } } }\n",
	  .some = false },
	{ "spec s { stack<word> s = empty;\n"
	  "method add(word v) { atomic_flush { s.push(v); } }\n"
	  "method take() -> word { atomic_flush { return s.pop(); } }\n"
	  "method look() -> word { atomic { return s.top(); } } }\n",
	  .some = false },
	{ "spec p { pqueue<word> p = empty;\n"
	  "method add(word v) { atomic_flush { p.push(v); } }\n"
	  "method take() -> word { atomic_flush { return p.pop(); } }\n"
	  "method look() -> word { atomic { return p.top(); } } }\n",
	  .some = false },
	{ "spec m { pqueue<word> max p = empty;\n"
	  "method add(word v) { atomic_flush { p.push(v); } }\n"
	  "method take() -> word { atomic_flush { return p.pop(); } }\n"
	  "method look() -> word { atomic { return p.top(); } } }\n",
	  .some = false },
	{ "spec t { set<word> s = empty;\n"
	  "method add(word v) -> bool ok { atomic_flush { return s.add(v); } }\n"
	  "method take(word v) -> bool ok { atomic_flush { return s.remove(v); } }\n"
	  "method look(word v) -> bool ok { atomic { return s.has(v); } }\n"
	  "partition by v; }\n",
	  .keyed = true },
	{ "spec u { bag<word> b = empty;\n"
	  "method add(word v) { atomic_flush { b.add(v); } }\n"
	  "method take(word v) -> bool ok { atomic_flush { return b.remove(v); } }\n"
	  "method look(word v) -> bool ok { atomic { return b.has(v); } }\n"
	  "method look2(word v) -> word n { atomic { return b.count(v); } }\n"
	  "partition by v; }\n",
	  .keyed = true, .multi = true },
	{ "spec r { word w = 0;\n"
	  "method add(word v) { atomic_flush { w = v; } }\n"
	  "method look() -> word { atomic { return w; } } }\n",
	  .word = true },
	{ "spec c { word w = 0;\n"
	  "method add(word v) { atomic_flush { w = v; } }\n"
	  "method take(word n) -> word { atomic_flush { word v = w; w = v + n; return v; } }\n"
	  "method swap(word old, word new) -> bool { atomic_flush {\n"
	  "if (w != old) return false; w = new; return true; } }\n"
	  "method look() -> word { atomic { return w; } } }\n",
	  .moves = true },
	{ "spec x { word w = 0;\n"
	  "method add(word v) -> word { atomic_flush { word old = w; w = v; return old; } }\n"
	  "method take(word n) -> word { atomic_flush { w += n; return w - n; } }\n"
	  "method swap(word old, word new) -> bool { atomic_flush {\n"
	  "if (!(w != old)) { w = new; return true; } else { return false; } } }\n"
	  "method look() -> word { atomic { return w; } } }\n",
	  .moves = true },
	/* Deques of which only some methods are used. */
	{ "spec dq { deque<word> d = empty;\n"
	  "method add(word v) { atomic_flush { d.push_front(v); } }\n"
	  "method take() -> word { atomic_flush { return d.pop_back(); } }\n"
	  "method look() -> word { atomic { return d.back(); } }\n"
	  "method unused(word v) { atomic_flush { d.push_back(v); } } }\n",
	  .some = true },
	{ "spec ds { deque<word> d = empty;\n"
	  "method add(word v) { atomic_flush { d.push_back(v); } }\n"
	  "method take() -> word { atomic_flush { return d.pop_back(); } }\n"
	  "method look() -> word { atomic { return d.back(); } }\n"
	  "method unused() -> word { atomic_flush { return d.pop_front(); } } }\n",
	  .some = true },
	{ "spec b { const MOST = 3; queue<word> q = empty;\n"
	  "method add(word v) -> word { atomic_flush {\n"
	  "if (q.size() == MOST) return full; q.push(v); return 0; } }\n"
	  "method take() -> word { atomic_flush { return q.pop(); } }\n"
	  "method look() -> word { atomic { return q.front(); } } }\n",
	  .by = &kl_unique_engine, .bounded = true },
	{ "spec n { const MOST = 3; stack<word> s = empty;\n"
	  "method add(word v) -> bool { atomic_flush {\n"
	  "if (s.size() == MOST) { return false; } s.push(v); return true; } }\n"
	  "method take() -> word { atomic_flush { return s.pop(); } }\n"
	  "method look() -> word { atomic { return s.top(); } } }\n",
	  .by = &kl_unique_engine, .bounded = true },
	{ "spec y { deque<word> d = empty;\n"
	  "method add(word v) { atomic_flush { d.push_back(v); } }\n"
	  "method take() -> word { atomic_flush { return d.pop_front(); } }\n"
	  "method look() -> word { atomic { return d.front(); } }\n"
	  "method add2(word v) { atomic_flush { d.push_front(v); } }\n"
	  "method take2() -> word { atomic_flush { return d.pop_back(); } }\n"
	  "method look2() -> word { atomic { return d.back(); } } }\n",
	  .by = &kl_unique_engine, .both = true },
	{ "spec z { const MOST = 2; deque<word> d = empty;\n"
	  "method add(word v) -> word { atomic_flush {\n"
	  "if (d.size() == MOST) return full; d.push_back(v); return 0; } }\n"
	  "method take() -> word { atomic_flush { return d.pop_front(); } }\n"
	  "method look() -> word { atomic { return d.front(); } }\n"
	  "method add2(word v) -> word { atomic_flush {\n"
	  "if (d.size() == MOST) return full; d.push_front(v); return 0; } }\n"
	  "method take2() -> word { atomic_flush { return d.pop_back(); } }\n"
	  "method look2() -> word { atomic { return d.back(); } } }\n",
	  .by = &kl_unique_engine, .both = true, .bounded = true },
};

enum { ADD, TAKE, LOOK, SWAP, ADD2, TAKE2, LOOK2 };
static const char *const names[] = { "add", "take", "look", "swap", "add2", "take2", "look2" };

struct config {
	unsigned int ops, threads;
	unsigned int peeks;	/* percent */
	unsigned int again;	/* percentage of additions that repeat a word */
	unsigned int pending;	/* percent */
	unsigned int longest;	/* maximum time between call and point, and point and return */
	bool unknown;		/* sometimes the first state is unknown */
	unsigned int gaps;	/* maximum number of gaps */
	unsigned int hidden;	/* percentage of removals and peeks with unknown result */
	unsigned int unseen;	/* percentage of operations with unseen call */
	unsigned int words;	/* number of words of a multiset; 0: 2 */
	bool no_counts;		/* a multiset without counts */
	/* No ties, exact times and known results: a monitor has no reason to decline. */
	bool exact;
};

struct rop {
	unsigned int method, thread;
	uint64_t call, point, ret;
	uint64_t arg, arg2;
	struct kl_val res;
	bool done, skipped;
	bool gives;		/* the method has a result */
};

static bool is_add(const struct rop *op)
{
	return op->method == ADD || op->method == ADD2;
}

static unsigned long runs(void)
{
	return wanted_runs(20000);
}

static int by_point(const void *a, const void *b)
{
	const struct rop *const *x = a, *const *y = b;

	return (*x)->point != (*y)->point ? ((*x)->point < (*y)->point ? -1 : 1) :
	       *x < *y ? -1 : *x > *y;
}

/* A state of the specification, and the result of the last operation. */
struct step {
	struct kl_val state[2 * MAX_OPS + 8];
	size_t len;
	struct kl_val res;
};

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct step *s = ctx;

	memcpy(s->state, o->state, o->len * sizeof(*o->state));
	s->len = o->len;
	s->res = o->results[0];
	return 1;
}

static void take_effect(const struct kl_spec *spec, struct rop **order, size_t n, uint64_t *seed)
{
	struct kl_run *run = kl_run_new(spec);
	struct step s, before;
	size_t i;

	memcpy(s.state, kl_run_init(run, true, &s.len), sizeof(*s.state));
	for (i = 0; i < n; i++) {
		const int m = kl_spec_find_method(spec, names[order[i]->method]);
		struct kl_val args[2];

		if (order[i]->method == SWAP)
			order[i]->arg = kl_rand_below(seed, 3) ? s.state[0].v :
					order[kl_rand_below(seed, n)]->arg;
		args[0] = kl_word(order[i]->arg);
		args[1] = kl_word(order[i]->arg2);
		before = s;
		if (!order[i]->done)
			continue;
		assert_int_equal(kl_run_apply(run, before.state, before.len, m, args, NULL,
					      on_outcome, &s), 1);
		order[i]->gives = kl_spec_method(spec, m)->nresults;
		order[i]->res = order[i]->gives ? s.res : kl_word(0);
	}
	kl_run_free(run);
}

static size_t lay_out(const struct type *t, const struct config *c, uint64_t *seed,
		      struct rop *ops)
{
	size_t n = 0, want = c->ops / 2 + kl_rand_below(seed, c->ops / 2 + 1);
	uint64_t at[16] = { 0 }, added = 0;
	const unsigned int adds = 30 + kl_rand_below(seed, 30);

	while (n < want) {
		struct rop *op = &ops[n++];
		unsigned int k = kl_rand_below(seed, 100);
		const unsigned int peeks = t->word && c->peeks < 50 ? 50 : c->peeks;

		op->thread = kl_rand_below(seed, c->threads);
		op->method = t->moves && k >= peeks ? (k % 3 ? k % 3 == 1 ? TAKE : SWAP : ADD) :
			     k < peeks ? LOOK : t->word || k < peeks + (100 - peeks) * adds / 100 ?
			     ADD : TAKE;
		op->arg = op->method != ADD && !t->keyed ? 0 :
			  op->method == ADD && kl_rand_below(seed, 100) >= c->again ? ++added :
			  1 + kl_rand_below(seed, added + 1);
		if (t->moves)
			op->arg = op->method == ADD ? added : op->method == TAKE ? 1 : 0;
		op->arg2 = op->method == SWAP ? ++added : 0;
		op->call = at[op->thread] + kl_rand_below(seed, 4);
		op->point = op->call + kl_rand_below(seed, c->longest);
		op->ret = op->point + kl_rand_below(seed, c->longest);
		op->ret += op->ret == op->call;
		at[op->thread] = op->ret + kl_rand_below(seed, 4);
		op->done = true;
		op->res = kl_word(0);
		op->skipped = op->gives = false;
	}
	/* Shuffle the values, so that priorities are independent of times. */
	for (size_t i = 0; i < n; i++) {
		ops[i].arg2 *= 10000;
		if (t->moves)
			ops[i].arg *= ops[i].method == ADD ? 10000 : 1 + added % 2;
	}
	for (size_t i = 0; i < n && !t->moves; i++)
		ops[i].arg = ops[i].arg ? (ops[i].arg * 37) % 101 + 101 * (ops[i].arg / 101) : 0;
	for (size_t i = 0; i < n && t->multi; i++) {
		ops[i].arg = 1 + kl_rand_below(seed, c->words ? c->words : 2);
		if (ops[i].method == LOOK && !c->no_counts && kl_rand_below(seed, 2))
			ops[i].method = LOOK2;
	}
	for (size_t i = 0; i < n && t->both; i++)
		ops[i].method += kl_rand_below(seed, 2) ? ADD2 - ADD : 0;
	return n;
}

/* Return: true if the operation has no result that could be exchanged with another's result. */
static bool gives_nothing(const struct type *t, const struct rop *op)
{
	return t->moves ? op->method == SWAP || !op->gives : is_add(op) && (!t->keyed || t->multi);
}

/* Change a result to another operation's result, or to another kind. */
static void falsify(const struct type *t, struct rop *ops, size_t n, uint64_t *seed)
{
	struct rop *op = &ops[kl_rand_below(seed, n)], *other = &ops[kl_rand_below(seed, n)];
	struct kl_val v;

	/* Change whether there was room. */
	if (t->bounded && is_add(op) && kl_rand_below(seed, 2)) {
		if (op->gives && strstr(t->spec, "-> bool"))
			op->res.v = !op->res.v;
		else if (op->gives)
			op->res = op->res.tag == KL_FULL ? kl_word(0) : kl_special(KL_FULL);
		return;
	}
	switch (kl_rand_below(seed, 3)) {
	case 0:		/* two results change places */
		if (op->method == SWAP)
			op->res.v = !op->res.v;
		if (gives_nothing(t, op) || gives_nothing(t, other))
			return;
		v = op->res;
		op->res = other->res;
		other->res = v;
		break;
	case 1:		/* one operation gets another's result, or "empty" */
		if (gives_nothing(t, op))
			return;
		if (op->method == LOOK2 && t->multi && kl_rand_below(seed, 2))
			op->res.v++;
		else if (t->keyed)
			op->res = kl_word(!op->res.v);
		else
			op->res = is_add(other) ? kl_word(other->arg) : other->res;
		break;
	case 2:		/* an operation returns earlier */
		op->ret = op->call + 1 + kl_rand_below(seed, op->ret - op->call);
		break;
	}
}

/* Remove some operations within a period, and add a gap. */
static void lose(struct rop *ops, size_t n, struct kl_history *h, uint64_t *seed)
{
	struct kl_gap gap = { .object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU, .reason = KL_GAP_LOST };
	size_t i;

	gap.from = n ? ops[kl_rand_below(seed, n)].call + kl_rand_below(seed, 4) : 0;
	gap.to = gap.from + kl_rand_below(seed, 12);
	for (i = 0; i < n; i++)
		if (ops[i].call >= gap.from && ops[i].ret <= gap.to && kl_rand_below(seed, 3))
			ops[i].skipped = true;
	assert_int_equal(kl_history_add_gap(h, &gap), 0);
}

static struct kl_history *make(const struct type *t, const struct kl_spec *spec,
			       const struct config *c, uint64_t *seed, bool *falsified)
{
	struct rop ops[MAX_OPS], *order[MAX_OPS];
	struct kl_history *h = kl_history_new();
	size_t n = lay_out(t, c, seed, ops), i, skip = 0;
	unsigned int k;

	for (i = 0; i < n; i++)
		order[i] = &ops[i];
	qsort(order, n, sizeof(*order), by_point);
	for (i = 0; i < n; i++)
		if (kl_rand_below(seed, 100) < c->pending)
			order[i]->done = kl_rand_below(seed, 2);
	take_effect(spec, order, n, seed);
	if (c->unknown && kl_rand_below(seed, 3) == 0)
		skip = kl_rand_below(seed, n / 2 + 1);
	for (i = 0; i < skip; i++)
		order[i]->skipped = true;
	*falsified = kl_rand_below(seed, 2);
	for (k = 0; *falsified && n && k < 1 + kl_rand_below(seed, 2); k++)
		falsify(t, ops, n, seed);
	for (k = 0; c->gaps && k < 1 + kl_rand_below(seed, c->gaps); k++)
		lose(ops, n, h, seed);
	h->error = c->exact || c->hidden || kl_rand_below(seed, 4) ? 0 : kl_rand_below(seed, 3);
	h->fresh = !skip && ((c->exact && !c->no_counts) || kl_rand_below(seed, 8));
	for (i = 0; i < n; i++) {
		struct kl_op op = {
			.call = c->exact ? ops[i].call * MAX_OPS + i : ops[i].call,
			.ret = c->exact ? ops[i].ret * MAX_OPS + i : ops[i].ret,
			.thread = kl_history_thread(h, ops[i].thread),
			.object = kl_history_object(h, 0), .cpu = ops[i].thread,
		};
		const struct kl_method *m =
			kl_spec_method(spec, kl_spec_find_method(spec, names[ops[i].method]));
		const struct kl_opsig s = {
			.method = kl_history_method(h, m->name, strlen(m->name)),
			.nargs = m->nparams,
			.nres = m->nresults,
		};
		const struct kl_val v[] = { kl_word(ops[i].arg), kl_word(ops[i].arg2) };

		if (ops[i].skipped)
			continue;
		if (!ops[i].done || kl_rand_below(seed, 100) < c->pending / 2) {
			op.ret = KL_TIME_MAX;
			op.flags = KL_OP_PENDING;
		} else if (c->pending && !c->exact && s.nres && !kl_rand_below(seed, 40)) {
			ops[i].res = kl_special(KL_ANY);
		}
		if (c->hidden && s.nres && !is_add(&ops[i]) &&
		    kl_rand_below(seed, 100) < c->hidden)
			ops[i].res = kl_special(KL_ANY);
		if (c->unseen && !(op.flags & KL_OP_PENDING) &&
		    kl_rand_below(seed, 100) < c->unseen) {
			op.call = KL_TIME_MIN;
			op.flags |= KL_OP_NOCALL;
		}
		/* The result may have been a count. */
		if (s.nres && m->results[0].type == KL_T_BOOL && ops[i].res.tag == KL_WORD)
			ops[i].res.v = !!ops[i].res.v;
		assert_int_equal(kl_history_add(h, &op, &s, v, &ops[i].res), 0);
	}
	assert_int_equal(kl_history_finish(h), 0);
	return h;
}

static void show(const struct kl_spec *spec, const struct kl_history *h, const char *what)
{
	fprintf(stderr, "%s\n%s", what, kl_spec_text(spec));
	kl_text_write(h, stderr);
}

/* Return: the verdict, ignoring gaps. */
static enum kl_verdict verdict(const struct kl_report *r)
{
	size_t i;

	for (i = 0; i < r->nparts && r->verdict == KL_UNKNOWN; i++)
		if (r->parts[i].answer.verdict != KL_LINEARIZABLE && !r->parts[i].explained)
			break;
	return r->verdict != KL_UNKNOWN || i < r->nparts || !r->nparts ? r->verdict :
	       KL_LINEARIZABLE;
}

static enum kl_verdict ask(const struct kl_spec *spec, const struct kl_history *h,
			   const struct kl_engine *e, bool no_witness, char *why)
{
	const struct kl_engine *const engines[] = { e, NULL };
	struct kl_options opt = {
		.engines = engines, .threads = 1, .classical = true, .no_witness = no_witness,
		.work = e == &kl_frontier_engine ? 100000000 : 500000000,
	};
	struct kl_report *r;
	enum kl_verdict v;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	v = verdict(r);
	if (why)
		strcpy(why, r->reason);
	kl_report_free(r);
	return v;
}

/*
 * Check with shrinking, and replay the certificate.
 *
 * Return: true if all is proved, and no counterexample is too large for the oracle.
 */
static bool check_certificate(const struct kl_spec *spec, const struct kl_history *h,
			      enum kl_verdict expected)
{
	static const struct kl_engine *const engines[] = {
		&kl_loglinear_engine, &kl_points_engine, &kl_unique_engine,
		&kl_frontier_engine,  &kl_dfs_engine,	 NULL,
	};
	struct kl_options opt = {
		.engines = engines, .threads = 1, .max_shrink = 9, .classical = true,
	};
	struct kl_replay replay;
	struct kl_report *r;
	size_t i;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	if (verdict(r) != expected) {
		show(spec, h, "the whole check differs");
		fail();
	}
	for (i = 0; i < r->nparts; i++) {
		const struct kl_part_result *p = &r->parts[i];

		if (p->answer.verdict == KL_VIOLATION &&
		    (!p->cex || p->cex->oracle == KL_LINEARIZABLE)) {
			show(spec, h, "no counterexample");
			if (p->cex)
				show(spec, p->cex->h, "counterexample:");
			fail();
		}
	}
	if (replay_report(r, true, spec, h, &replay)) {
		show(spec, h, "the replayer rejects the certificate");
		fail();
	}
	kl_report_free(r);
	return !replay.open;
}

/*
 * Compare with another engine.  The monitors may decline a few histories of each type, up to
 * @most_declined percent.
 */
static void compare_types(const struct config *c, const struct kl_engine *judge, unsigned long n,
			  unsigned int most_declined, uint64_t seed, const char *letters)
{
	/* Engines for histories that are too hard for the judge. */
	static const struct kl_engine *const others[] = {
		&kl_fifo_engine, &kl_dfs_engine, &kl_lifo_engine, &kl_beam_engine,
	};
	char why[160], what[300];
	unsigned int most;
	size_t k, j;

	for (k = 0; k < sizeof(types) / sizeof(*types); k++) {
		unsigned long count[3] = { 0 }, declined = 0, i;
		const char *only = getenv("KLIN_TYPES");
		const struct kl_engine *const by = types[k].by ? types[k].by : &kl_loglinear_engine;
		struct kl_spec *spec;

		/* The letter is the name of the specification. */
		if ((only && !strchr(only, types[k].spec[strlen("spec ")])) ||
		    (letters && !strchr(letters, types[k].spec[strlen("spec ")])))
			continue;
		/* Keyed types do not use gaps; for repeated words other engines decide. */
		if ((c->gaps && (types[k].keyed || types[k].some)) ||
		    ((c->gaps || c->again) && (types[k].moves || types[k].by)))
			continue;
		assert_int_equal(kl_spec_parse("t.lin", types[k].spec,
					       strlen(types[k].spec), &spec),
				 0);
		for (i = 0; i < n; i++) {
			bool falsified;
			struct kl_history *h = make(&types[k], spec, c, &seed, &falsified);
			enum kl_verdict expected = ask(spec, h, judge, true, NULL), v, v2;

			for (j = 0; expected == KL_UNKNOWN && judge != &kl_oracle_engine &&
				    j < sizeof(others) / sizeof(*others); j++)
				expected = ask(spec, h, others[j], true, NULL);
			count[expected]++;
			if (!falsified && expected == KL_VIOLATION) {
				show(spec, h, "false alarm of the judge itself");
				fail();
			}
			v = ask(spec, h, by, false, why);
			v2 = ask(spec, h, by, true, NULL);
			if (expected != KL_UNKNOWN &&
			    ((v != KL_UNKNOWN && v != expected) || v != v2)) {
				snprintf(what, sizeof(what), "%s says %s, without a witness %s, "
					 "%s %s", by->name, kl_verdict_name(v), kl_verdict_name(v2),
					 judge->name, kl_verdict_name(expected));
				show(spec, h, what);
				fail();
			}
			if (c->exact && !falsified && v == KL_UNKNOWN) {
				show(spec, h, "not decided");
				fail();
			}
			/* Types with their own engine support only fresh objects. */
			if (v == KL_UNKNOWN && expected != KL_UNKNOWN &&
			    (!types[k].by || h->fresh)) {
				declined++;
				if (getenv("KLIN_SHOW")) {
					snprintf(what, sizeof(what), "declined: %s; %s", why,
						 kl_verdict_name(expected));
					show(spec, h, what);
				}
			}
			if (c->ops < 16 ? expected != KL_UNKNOWN : c->exact && !expected)
				assert_true(check_certificate(spec, h, expected));
			kl_history_free(h);
		}
		printf("# %s: %lu linearizable, %lu violations, %lu not decided, %lu declined\n",
		       kl_spec_name(spec), count[0], count[1], count[2], declined);
		fflush(stdout);
		assert_true(n < 500 || count[KL_VIOLATION] > n / 100);
		assert_true(n < 500 || count[KL_LINEARIZABLE] > n / 8);
		/*
		 * More for registers: values that no write explains, and writes that do not return
		 * the old value.
		 */
		most = most_declined + (types[k].moves ? most_declined / 2 + 5 : 0);
		assert_true(n < 500 || declined <= n * most / 100 + 1);
		kl_spec_free(spec);
	}
}

static void compare(const struct config *c, const struct kl_engine *judge, unsigned long n,
		    unsigned int most_declined, uint64_t seed)
{
	compare_types(c, judge, n, most_declined, seed, NULL);
}

static void test_adds_and_removals(void **state)
{
	const struct config c = { .ops = 12, .threads = 4, .longest = 6 };

	compare(&c, &kl_oracle_engine, runs() / 20 + 100, 1, 1);
}

static void test_peeks(void **state)
{
	const struct config c = { .ops = 12, .threads = 4, .peeks = 35, .longest = 8 };

	compare(&c, &kl_oracle_engine, runs() / 20 + 100, 1, 2);
}

static void test_unknown_first_state(void **state)
{
	const struct config c = {
		.ops = 14, .threads = 4, .peeks = 20, .longest = 6, .unknown = true,
	};

	compare(&c, &kl_oracle_engine, runs() / 20 + 100, 4, 3);
}

static void test_pending(void **state)
{
	const struct config c = {
		.ops = 12, .threads = 4, .peeks = 20, .pending = 20, .longest = 6, .unknown = true,
	};

	compare(&c, &kl_oracle_engine, runs() / 20 + 100, 15, 4);
}

/* Multisets: many concurrent operations on few words. */
static void test_multiset(void **state)
{
	static const struct config c[] = {
		{ .ops = 12, .threads = 5, .peeks = 20, .longest = 12, .words = 1 },
		{ .ops = 14, .threads = 6, .peeks = 10, .longest = 6, .words = 2 },
		{ .ops = 12, .threads = 5, .peeks = 20, .longest = 9, .words = 1, .pending = 15 },
		{ .ops = 12, .threads = 5, .peeks = 30, .longest = 9, .words = 1, .exact = true },
		{ .ops = 12, .threads = 4, .peeks = 10, .longest = 20, .words = 1, .exact = true },
		{ .ops = 15, .threads = 6, .peeks = 45, .longest = 30, .words = 1, .exact = true },
		{ .ops = 15, .threads = 7, .peeks = 15, .longest = 40, .words = 1, .exact = true },
		{ .ops = 13, .threads = 5, .peeks = 30, .longest = 14, .words = 1, .exact = true,
		  .unknown = true },
		{ .ops = 15, .threads = 6, .peeks = 35, .longest = 14, .words = 1, .exact = true,
		  .unknown = true, .no_counts = true },
		{ .ops = 12, .threads = 4, .peeks = 20, .longest = 7, .words = 1, .pending = 15,
		  .unknown = true, .no_counts = true, .exact = true },
	};
	/* Histories as long as a general engine can decide. */
	static const struct config longer[] = {
		{ .ops = 120, .threads = 5, .peeks = 20, .longest = 9, .exact = true },
		{ .ops = 400, .threads = 4, .peeks = 30, .longest = 7, .words = 1, .exact = true },
		{ .ops = 120, .threads = 5, .peeks = 20, .longest = 9, .words = 1, .pending = 2,
		  .unknown = true, .no_counts = true, .exact = true },
	};
	const unsigned long least = few_wanted() ? 100 : 500;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(*c); i++)
		compare_types(&c[i], &kl_oracle_engine, runs() / 20 + least,
			      c[i].exact ? c[i].unknown : c[i].pending ? 15 : 1,
			      20 + i, "u");
	for (i = 0; i < sizeof(longer) / sizeof(*longer); i++)
		compare_types(&longer[i], &kl_frontier_engine, runs() / 100 + 50, 2, 30 + i, "u");
}

/* Counts that are possible in one order only, which are rare in random histories. */
static void test_multiset_count_order(void **state)
{
	static const struct {
		enum kl_verdict verdict;
		const char *ops;
	} t[] = {
		/*
		 * The count goes down, then up: the read that returns first sees the later count.
		 */
		{ KL_LINEARIZABLE,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 91 add 1\n"
		  "t2 @0 12 92 add 1\nt3 @0 13 20 look2 1 -> 2\nt4 @0 14 30 take 1 -> 0\n" },
		{ KL_LINEARIZABLE,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 91 add 1\n"
		  "t2 @0 12 92 add 1\nt3 @0 13 20 look2 1 -> 2\nt4 @0 14 30 look 1 -> 0\n" },
		{ KL_VIOLATION,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 91 add 1\n"
		  "t2 @0 12 92 add 1\nt3 @0 13 20 look2 1 -> 2\nt4 @0 21 30 take 1 -> 0\n" },
		/* The count goes up, then down. */
		{ KL_LINEARIZABLE,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 91 add 1\n"
		  "t2 @0 12 92 take 1 -> 1\nt3 @0 13 20 look 1 -> 0\nt4 @0 14 30 look2 1 -> 2\n" },
		{ KL_VIOLATION,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 91 add 1\n"
		  "t2 @0 12 92 take 1 -> 1\nt3 @0 13 20 look 1 -> 0\nt4 @0 21 30 look2 1 -> 2\n" },
		/* A count of 0 before the second addition. */
		{ KL_LINEARIZABLE,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 50 look 1 -> 0\n"
		  "t2 @0 12 20 add 1\nt2 @0 21 22 look2 1 -> 1\n" },
		{ KL_VIOLATION,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 50 look 1 -> 0\n"
		  "t2 @0 12 20 add 1\nt2 @0 21 22 look2 1 -> 2\n" },
		/* A count of 2 before a removal that leaves 0. */
		{ KL_LINEARIZABLE,
		  "t0 @0 10 90 add 1\nt1 @0 11 91 add 1\nt2 @0 12 50 look2 1 -> 2\n"
		  "t3 @0 13 20 take 1 -> 1\nt3 @0 21 22 look2 1 -> 1\n" },
		/* The addition that returns first is the one that is removed. */
		{ KL_LINEARIZABLE,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 50 look 1 -> 0\n"
		  "t2 @0 12 20 add 1\nt2 @0 21 28 take 1 -> 1\nt2 @0 29 60 take 1 -> 1\n"
		  "t3 @0 70 80 add 1\n" },
		{ KL_VIOLATION,
		  "t0 @0 0 1 add 1\nt0 @0 10 90 take 1 -> 1\nt1 @0 11 50 look 1 -> 0\n"
		  "t2 @0 12 20 add 1\nt2 @0 21 28 take 1 -> 1\nt2 @0 29 60 take 1 -> 1\n"
		  "t3 @0 91 95 add 1\n" },
		/* A pending operation may have taken effect, once. */
		{ KL_LINEARIZABLE,
		  "t0 @0 0 - add 1\nt1 @0 10 20 look 1 -> 0\nt1 @0 21 30 take 1 -> 1\n" },
		{ KL_LINEARIZABLE,
		  "t0 @0 0 - add 1\nt1 @0 10 20 look 1 -> 0\nt1 @0 21 30 take 1 -> 0\n" },
		{ KL_VIOLATION,
		  "t0 @0 0 - add 1\nt1 @0 10 20 take 1 -> 1\nt1 @0 21 30 take 1 -> 1\n" },
		{ KL_VIOLATION,
		  "t0 @0 0 - add 1\nt1 @0 10 20 look 1 -> 1\nt1 @0 21 30 take 1 -> 0\n" },
		{ KL_LINEARIZABLE,
		  "t0 @0 0 1 add 1\nt0 @0 2 - take 1\nt1 @0 10 20 look 1 -> 1\n"
		  "t1 @0 21 30 take 1 -> 0\n" },
	};
	char text[400], what[40];
	struct kl_history *h;
	struct kl_spec *spec;
	size_t i, k;

	for (k = 0; !types[k].multi; k++)
		;
	assert_int_equal(kl_spec_parse("t.lin", types[k].spec, strlen(types[k].spec), &spec), 0);
	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		snprintf(text, sizeof(text), "# klin history 1\n# clock mono error 0\n%s",
			 t[i].ops);
		assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
		h->fresh = true;
		snprintf(what, sizeof(what), "number %zu", i);
		if (ask(spec, h, &kl_oracle_engine, true, NULL) != t[i].verdict ||
		    ask(spec, h, &kl_loglinear_engine, true, NULL) != t[i].verdict) {
			show(spec, h, what);
			fail();
		}
		assert_true(check_certificate(spec, h, t[i].verdict));
		kl_history_free(h);
	}
	kl_spec_free(spec);
}

/*
 * More concurrent operations on one word than a general engine can decide.  Some operations of
 * a violation suffice to confirm it.
 */
static void test_multiset_many_concurrent(void **state)
{
	const unsigned int n = 10 + runs() / 2000;
	unsigned int i, count[3] = { 0 };
	struct kl_spec *spec;

	assert_int_equal(kl_spec_load("multiset", &spec), 0);
	for (i = 0; i < n; i++) {
		const struct kl_gen_config c = {
			.spec = spec, .seed = i + 1, .ops = 1500, .objects = 1, .keys = 1 + i % 2,
			.threads = 16 + i % 20, .delay = 100, .mutate = i % 3,
		};
		struct kl_history *h;
		enum kl_verdict v;

		assert_int_equal(kl_gen(&c, &h), 0);
		v = ask(spec, h, &kl_loglinear_engine, false, NULL);
		count[v]++;
		if (!c.mutate)
			assert_int_equal(v, KL_LINEARIZABLE);
		if (v == KL_LINEARIZABLE)
			assert_true(check_certificate(spec, h, v));
		kl_history_free(h);
	}
	kl_spec_free(spec);
	printf("# %u linearizable, %u violations, %u declined\n", count[KL_LINEARIZABLE],
	       count[KL_VIOLATION], count[KL_UNKNOWN]);
	assert_true(count[KL_VIOLATION] > n / 3 && count[KL_UNKNOWN] <= n / 8);
}

static void test_repeated_values(void **state)
{
	const struct config c = {
		.ops = 12, .threads = 3, .peeks = 15, .again = 30, .longest = 5,
	};

	compare(&c, &kl_oracle_engine, runs() / 20 + 100, 4, 5);
}

static void test_gaps(void **state)
{
	const struct config c = {
		.ops = 14, .threads = 4, .peeks = 15, .longest = 6, .unknown = true, .gaps = 2,
	};

	compare(&c, &kl_oracle_engine, runs() / 20 + 100, 4, 10);
}

/*
 * A removal that returned an unknown result may have removed any value.  No operation may then
 * be omitted from a counterexample, wherever the gap is.  Many such histories are declined.
 */
static void test_unknown_results_and_gaps(void **state)
{
	const struct config c = {
		.ops = 12, .threads = 3, .peeks = 15, .again = 30, .pending = 8, .longest = 4,
		.unknown = true, .gaps = 2, .hidden = 20, .unseen = 4,
	};

	compare(&c, &kl_oracle_engine, runs() / 20 + 100, 60, 14);
}

/* One or two unknown results are no reason to decline a history without gaps. */
static void test_few_unknown_results(void **state)
{
	const struct config c = {
		.ops = 12, .threads = 4, .peeks = 15, .pending = 8, .longest = 6, .hidden = 12,
	};

	compare_types(&c, &kl_oracle_engine, runs() / 20 + 100, 30, 15, "qspmdbnyz");
}

static void test_60_operations(void **state)
{
	const struct config c = { .ops = 60, .threads = 3, .peeks = 15, .longest = 5 };

	compare(&c, &kl_frontier_engine, runs() / 600 + 20, 2, 6);
}

/*
 * A register's values that repeat, with wrong results among them.  For values that
 * read-modify-writes make from each other, the monitor must not guess an order.
 */
static void test_register_repeated_values(void **state)
{
	const unsigned long n = runs() / 40 + 100;
	unsigned long i, count[3] = { 0 }, told = 0, unproved = 0;
	struct kl_spec *spec;
	uint64_t seed = 11;

	assert_int_equal(kl_spec_load("register", &spec), 0);
	for (i = 0; i < n; i++) {
		struct kl_gen_config c = {
			.spec = spec, .seed = i + 1, .ops = 40 + kl_rand_below(&seed, 60),
			.objects = 1,
			.threads = 2 + kl_rand_below(&seed, 3), .delay = kl_rand_below(&seed, 20),
			.pending = kl_rand_below(&seed, 4) ? 0 : 3, .any = !kl_rand_below(&seed, 4),
			.mutate = kl_rand_below(&seed, 3), .stall = !kl_rand_below(&seed, 4),
			.error = kl_rand_below(&seed, 3) ? 0 : kl_rand_below(&seed, 5),
		};
		enum kl_verdict expected, v;
		struct kl_history *h;

		assert_int_equal(kl_gen(&c, &h), 0);
		expected = ask(spec, h, &kl_frontier_engine, true, NULL);
		v = ask(spec, h, &kl_loglinear_engine, false, NULL);
		count[expected]++;
		if (v != KL_UNKNOWN && v != expected && expected != KL_UNKNOWN) {
			show(spec, h, "the monitor and the frontier differ");
			fail();
		}
		if (v == KL_VIOLATION) {
			told++;
			unproved += !check_certificate(spec, h, v);
		}
		kl_history_free(h);
	}
	kl_spec_free(spec);
	printf("# %lu linearizable, %lu violations, of which the monitor told %lu, %lu too large "
	       "for the oracle\n", count[0], count[1], told, unproved);
	assert_true(told > count[1] / 2);
	/* Except histories with many overlapping operations, within the clock's error. */
	assert_true(unproved <= told / 1000);
}

/* Histories as long as the general engine can decide; few, because each takes it seconds. */
static void test_2000_operations(void **state)
{
	static const struct config c[] = {
		{ .ops = 400, .threads = 3, .peeks = 20, .longest = 4 },
		{ .ops = 400, .threads = 3, .peeks = 10, .again = 1, .longest = 4,
		  .unknown = true },
		{ .ops = 2000, .threads = 3, .peeks = 20, .longest = 3 },
	};

	compare(&c[0], &kl_frontier_engine, runs() / 4000 + 2, 2, 7);
	compare(&c[1], &kl_frontier_engine, runs() / 4000 + 2, 2, 8);
	compare(&c[2], &kl_frontier_engine, runs() / 20000, 2, 9);
}

/*
 * Four rounds in which @n threads call, and then all return.  In two rounds they add the
 * values, in two they remove them: a queue from the first half on, a stack from the second.
 * @wrong swaps the last value of the first half and the first value of the second in the
 * removals.
 */
static struct kl_history *rounds(unsigned int n, bool queue, bool wrong)
{
	struct kl_history *h;
	char *text, *to;
	unsigned int round, i;
	int ret;

	text = to = malloc(100 + 4 * (size_t)n * 60);
	assert_non_null(text);
	to += sprintf(to, "# klin history 1\n# clock mono error 0\n");
	for (round = 0; round < 4; round++) {
		for (i = 0; i < n; i++) {
			const unsigned int half = round < 2 ? round : queue ? round - 2 : 3 - round;
			unsigned int value = 1 + half * n + i;

			if (wrong && round >= 2 && (value == n || value == n + 1))
				value = 2 * n + 1 - value;
			to += sprintf(to, "t%u @0 %u %u %s %u\n", i, 2 * round * n + i,
				      (2 * round + 1) * n + i, round < 2 ? "add" : "take ->",
				      value);
		}
	}
	ret = kl_text_read("t", text, to - text, &h);
	free(text);
	assert_int_equal(ret, 0);
	h->fresh = true;
	return h;
}

/* Many returns between two calls, for more operations than one window holds. */
static void test_many_returns_between_calls(void **state)
{
	static const unsigned int n[] = { 2, 5, 8, 40, 900, 1020, 3000 };
	unsigned int i, stack, wrong;
	struct kl_history *h;
	struct kl_spec *spec;

	for (stack = 0; stack < 2; stack++) {
		assert_int_equal(kl_spec_parse("t.lin", types[stack].spec,
					       strlen(types[stack].spec), &spec), 0);
		for (i = 0; i < sizeof(n) / sizeof(*n); i++) {
			for (wrong = 0; wrong < 2; wrong++) {
				h = rounds(n[i], !stack, wrong);
				assert_int_equal(ask(spec, h, &kl_loglinear_engine, true, NULL),
						 wrong ? KL_VIOLATION : KL_LINEARIZABLE);
				assert_true(check_certificate(spec, h, wrong ? KL_VIOLATION :
							      KL_LINEARIZABLE));
				kl_history_free(h);
			}
		}
		kl_spec_free(spec);
	}
}

/* Three values together show the violation and no two of them do, which is rare in random ones. */
static void test_three_values_violate(void **state)
{
	static const char text[] =
		"# klin history 1\n# clock mono error 0\n"
		"t0 @0 0 1 add 3\nt1 @0 0 4 add 2\nt0 @0 2 3 add 1\n"
		"t2 @0 5 15 take -> 1\nt3 @0 6 10 look -> 2\n"
		"t3 @0 12 25 take -> 3\nt0 @0 20 22 take -> 2\n";
	struct kl_history *h;
	struct kl_spec *spec;

	assert_int_equal(kl_spec_parse("t.lin", types[0].spec, strlen(types[0].spec), &spec), 0);
	assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
	h->fresh = true;
	assert_int_equal(ask(spec, h, &kl_oracle_engine, true, NULL), KL_VIOLATION);
	assert_int_equal(ask(spec, h, &kl_loglinear_engine, true, NULL), KL_VIOLATION);
	assert_true(check_certificate(spec, h, KL_VIOLATION));
	kl_history_free(h);
	kl_spec_free(spec);
}

/* The true linearization points are a witness; wrong points lead to UNKNOWN. */
static void test_points_as_witness(void **state)
{
	static const char *const names[] = {
		"register", "pair", "set", "map", "queue", "stack", "pqueue", "counter",
		"multiset",
	};
	const unsigned int n = sizeof(names) / sizeof(names[0]);
	unsigned int wrong, t, told[2] = { 0 };

	for (t = 0; t < n; t++) {
		for (wrong = 0; wrong < 2; wrong++) {
			struct kl_gen_config c = {
				.ops = 400, .seed = t + 1, .threads = 4, .objects = 2, .keys = 5,
				.delay = 20, .pending = 2, .points = true,
			};
			struct kl_history *h;
			struct kl_spec *spec;
			enum kl_verdict v;
			size_t i;

			assert_int_equal(kl_spec_load(names[t], &spec), 0);
			c.spec = spec;
			assert_int_equal(kl_gen(&c, &h), 0);
			for (i = 100; wrong && i < 110; i++)
				h->points[i] = h->points[i + 40] + 1;
			v = ask(spec, h, &kl_points_engine, false, NULL);
			assert_int_not_equal(v, KL_VIOLATION);
			if (!wrong)
				assert_int_equal(v, KL_LINEARIZABLE);
			told[wrong] += v == KL_LINEARIZABLE;
			if (!wrong)
				assert_true(check_certificate(spec, h, KL_LINEARIZABLE));
			kl_spec_free(spec);
			kl_history_free(h);
		}
	}
	assert_int_equal(told[0], n);
	assert_int_equal(told[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_and_removals),
		cmocka_unit_test(test_peeks),
		cmocka_unit_test(test_unknown_first_state),
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_multiset),
		cmocka_unit_test(test_multiset_count_order),
		cmocka_unit_test(test_multiset_many_concurrent),
		cmocka_unit_test(test_repeated_values),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_unknown_results_and_gaps),
		cmocka_unit_test(test_few_unknown_results),
		cmocka_unit_test(test_60_operations),
		cmocka_unit_test(test_2000_operations),
		cmocka_unit_test(test_register_repeated_values),
		cmocka_unit_test(test_many_returns_between_calls),
		cmocka_unit_test(test_three_values_violate),
		cmocka_unit_test(test_points_as_witness),
	};

	if (getenv("KLIN_TESTS"))
		cmocka_set_test_filter(getenv("KLIN_TESTS"));
	return cmocka_run_group_tests_name("loglinear", tests, NULL, NULL);
}
