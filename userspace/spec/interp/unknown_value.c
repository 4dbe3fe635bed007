// SPDX-License-Identifier: GPL-2.0
/*
 * Unknown values on a path of the interpreter.  An unknown is one of these:
 *	sym[]	equal to another value
 *	def[]	computed from another unknown and a known word, as in a = b + 3
 *	dom[]	a root, which is any value of its domain
 * Relations between two roots are in unknown_relation.c.
 */
#include <errno.h>

#include "spec/interp/run.h"

#define XOR_MAX	64	/* unknowns of a path that are recorded as an exclusive or */

/* Return: the word of the term if its root has the word @root. */
static uint64_t term_word(const struct kl_term *t, uint64_t root)
{
	return (t->minus ? -root : root) + t->c;
}

/* Return: the word of the root if the term has the word @word. */
static uint64_t root_word(const struct kl_term *t, uint64_t word)
{
	return t->minus ? t->c - word : word - t->c;
}

/* Return: true if the term is the root itself. */
static bool is_root(const struct kl_term *t)
{
	return !t->minus && !t->c;
}

/*
 * Follow sym[] and def[] from the unknown @v.  Return: true if they end at a root, and set @t;
 * false if the value is known, or is an exclusive or, and set @known.
 */
static bool find_root(const struct kl_run *r, struct kl_val v, struct kl_term *t,
		      struct kl_val *known)
{
	*t = (struct kl_term){ .root = v.v };
	for (;;) {
		const struct kl_def *d = &r->def[t->root];
		const struct kl_val to = r->sym[t->root];

		if (to.tag != KL_ANY) {
			*known = to;
			if (to.tag == KL_WORD)
				known->v = term_word(t, to.v);
			return false;
		}
		if (to.v != t->root) {
			t->root = to.v;
		} else if (d->kind == KL_DEF_SUM) {
			t->c = term_word(t, d->c);
			t->minus ^= d->minus;
			t->root = d->base;
		} else if (d->kind == KL_DEF_XOR) {
			const struct kl_val base = { .v = d->base, .tag = KL_ANY };
			const struct kl_val is = kl_sym_follow(r, base);

			*known = kl_word(term_word(t, is.v ^ d->c));
			return is.tag != KL_WORD;
		} else {
			return true;
		}
	}
}

bool kl_sym_term(const struct kl_run *r, struct kl_val v, struct kl_term *t)
{
	struct kl_val known;

	return v.tag == KL_ANY && find_root(r, v, t, &known);
}

struct kl_val kl_sym_follow(const struct kl_run *r, struct kl_val v)
{
	struct kl_val known;
	struct kl_term t;

	if (v.tag != KL_ANY)
		return v;
	if (!find_root(r, v, &t, &known))
		return known;
	if (is_root(&t))
		return (struct kl_val){ .v = t.root, .tag = KL_ANY };
	while (!kl_val_eq(r->sym[v.v], v))
		v = r->sym[v.v];
	return v;
}

int kl_sym_reserve(struct kl_run *r, size_t n)
{
	return kl_grow(r->sym, r->csym, n) ?: kl_grow(r->def, r->cdef, n) ?:
	       kl_grow(r->dom, r->cdom, n);
}

void kl_sym_reset(struct kl_run *r, size_t i)
{
	r->sym[i] = (struct kl_val){ .v = i, .tag = KL_ANY };
	r->def[i].kind = KL_DEF_NONE;
	r->dom[i] = kl_dom_all(r);
}

int kl_sym_fresh(struct kl_run *r, struct kl_val *v)
{
	int ret;

	if (r->nsym >= KL_SYMS_MAX)
		return kl_run_fail(r, -E2BIG, "more than %u unknown values", KL_SYMS_MAX);
	ret = kl_sym_reserve(r, r->nsym + 1);
	if (ret)
		return ret;
	kl_sym_reset(r, r->nsym);
	*v = r->sym[r->nsym++];
	return 0;
}

/* Require that the unknown @v has the known value @to. */
static int bind(struct kl_run *r, struct kl_val v, struct kl_val to)
{
	struct kl_val known;
	struct kl_term t;

	for (;;) {
		const struct kl_def *d;

		if (v.tag != KL_ANY || !find_root(r, v, &t, &known))
			return kl_val_eq(v.tag == KL_ANY ? known : v, to) ? 0 : KL_DROP;
		if (to.tag == KL_WORD)
			to.v = root_word(&t, to.v);
		else if (!is_root(&t))
			return KL_DROP;
		if (!kl_dom_has(r, &r->dom[t.root], to))
			return KL_DROP;
		r->lost |= kl_dom_doubts(&r->dom[t.root], to);
		r->sym[t.root] = to;
		r->bound = true;
		/* With an exclusive or, its base becomes known, too. */
		d = &r->def[t.root];
		if (d->kind != KL_DEF_XOR)
			return 0;
		v = (struct kl_val){ .v = d->base, .tag = KL_ANY };
		to.v ^= d->c;
	}
}

/* Bind the root if its domain has a single word. */
static int bind_single(struct kl_run *r, uint64_t root)
{
	uint64_t word;

	if (!kl_dom_one(r, &r->dom[root], &word))
		return 0;
	return bind(r, (struct kl_val){ .v = root, .tag = KL_ANY }, kl_word(word));
}

int kl_sym_restrict(struct kl_run *r, const struct kl_term *t, const struct kl_dom *d)
{
	struct kl_dom of_root = *d;
	int ret = 0;

	/* term = c - root, or root + c: root = c - term, or term - c. */
	if (!is_root(t))
		ret = kl_dom_map(r, d, t->minus, t->minus ? t->c : -t->c, &of_root);
	if (ret)
		return kl_run_lose_e2big(r, ret);
	return kl_dom_cut(r, &r->dom[t->root], &of_root) ?: bind_single(r, t->root);
}

int kl_sym_limit(struct kl_run *r, struct kl_val v, uint64_t lo, uint64_t hi)
{
	struct kl_dom d;
	struct kl_term t;
	int ret;

	v = kl_sym_get(r, v);
	if (v.tag != KL_ANY)
		return v.tag == KL_WORD && v.v >= lo && v.v <= hi ? 0 : KL_DROP;
	if (lo > hi)
		return KL_DROP;
	ret = kl_dom_range(r, lo, hi, &d);
	if (ret)
		return kl_run_lose_e2big(r, ret);
	return kl_sym_term(r, v, &t) ? kl_sym_restrict(r, &t, &d) : 0;
}

/* Require that an operand of arithmetic is a word. */
static int require_word(struct kl_run *r, struct kl_val v)
{
	return r->s->specials && v.tag == KL_ANY ? kl_sym_limit(r, v, 0, UINT64_MAX) : 0;
}

void kl_sym_set_opaque(struct kl_run *r, struct kl_val v)
{
	r->widened = true;
	if (v.tag == KL_ANY && r->nopaque < KL_RELATIONS_MAX)
		r->opaque[r->nopaque++] = (struct kl_opaque){
			v.v, r->dom[v.v], { KL_NO_ROOT, KL_NO_ROOT },
		};
	else
		r->lost = true;
}

/* Make an opaque unknown that is a word. */
static int fresh_opaque(struct kl_run *r, struct kl_val *v)
{
	int ret = kl_sym_fresh(r, v);

	if (ret)
		return ret;
	r->dom[v->v].special = 0;
	kl_sym_set_opaque(r, *v);
	return 0;
}

/* Make an unknown that equals the term. */
static int fresh_sum(struct kl_run *r, const struct kl_term *t, struct kl_val *v)
{
	int ret;

	if (is_root(t)) {
		*v = (struct kl_val){ .v = t->root, .tag = KL_ANY };
		return 0;
	}
	ret = kl_sym_fresh(r, v);
	if (!ret)
		r->def[v->v] = (struct kl_def){
			.kind = KL_DEF_SUM, .minus = t->minus, .base = t->root, .c = t->c,
		};
	return ret;
}

/* Make an unknown that equals @a ^ @c, where @a is unknown. */
static int fresh_xor(struct kl_run *r, struct kl_val a, uint64_t c, struct kl_val *v)
{
	int ret = fresh_opaque(r, v);

	if (!ret && r->nxor < XOR_MAX) {
		r->nxor++;
		r->def[v->v] = (struct kl_def){ .kind = KL_DEF_XOR, .base = a.v, .c = c };
	}
	return ret;
}

/*
 * Make an unknown that is the sum, difference or exclusive or of two roots.  kl_opaque.of records
 * the roots, because any two of the three determine the third.
 */
static int fresh_opaque_sum(struct kl_run *r, uint64_t a, uint64_t b, struct kl_val *v)
{
	const unsigned int n = r->nopaque;
	int ret = fresh_opaque(r, v);

	if (!ret && r->nopaque > n) {
		r->opaque[n].of[0] = a;
		r->opaque[n].of[1] = b;
	}
	return ret;
}

int kl_sym_result(struct kl_run *r, int op, struct kl_val a, struct kl_val b, struct kl_val *v)
{
	const bool any_a = a.tag == KL_ANY, any_b = b.tag == KL_ANY;
	struct kl_term t = { 0 }, u = { 0 };
	int ret = require_word(r, a) ?: require_word(r, b);

	if (ret)
		return ret;
	/* require_word() may have made a value known. */
	if ((any_a && !kl_sym_term(r, a, &t)) || (any_b && !kl_sym_term(r, b, &u)))
		return fresh_opaque(r, v);
	if (op == '^' && !(any_a && any_b) && (any_a ? b.v : a.v) == UINT64_MAX) {
		/* ~x is -x - 1. */
		t = any_a ? t : u;
		t.minus = !t.minus;
		t.c = -t.c - 1;
		return fresh_sum(r, &t, v);
	}
	if (op == '^' && !(any_a && any_b))
		return fresh_xor(r, any_a ? a : b, any_a ? b.v : a.v, v);
	if (op == '-') {
		u.minus = !u.minus;
		u.c = -u.c;
	}
	if (any_a && any_b && t.root != u.root && (op == '+' || op == '-' || op == '^'))
		return fresh_opaque_sum(r, t.root, u.root, v);
	if ((op != '+' && op != '-') || (any_a && any_b && t.minus == u.minus))
		return fresh_opaque(r, v);
	if (any_a && any_b) {
		*v = kl_word(t.c + u.c);
		return 0;
	}
	if (any_a) {
		t.c += op == '-' ? -b.v : b.v;
		return fresh_sum(r, &t, v);
	}
	u.c += a.v;
	return fresh_sum(r, &u, v);
}

/*
 * Require that two terms with different roots are equal: express the newer root by the older one.
 */
static int join_roots(struct kl_run *r, struct kl_term t, struct kl_term u)
{
	struct kl_term is;
	struct kl_dom d;

	if (t.root < u.root) {
		const struct kl_term swap = t;

		t = u;
		u = swap;
	}
	/* Solve term t = term u for the root of t. */
	is = (struct kl_term){
		.root = u.root, .c = root_word(&t, u.c), .minus = t.minus != u.minus,
	};
	if (r->def[t.root].kind != KL_DEF_NONE)
		kl_run_lose(r);
	d = r->dom[t.root];
	r->bound = true;
	if (is_root(&is))
		r->sym[t.root] = (struct kl_val){ .v = is.root, .tag = KL_ANY };
	r->def[t.root] = (struct kl_def){
		.kind = is_root(&is) ? KL_DEF_NONE : KL_DEF_SUM,
		.minus = is.minus, .base = is.root, .c = is.c,
	};
	return kl_sym_restrict(r, &is, &d);
}

int kl_sym_unify(struct kl_run *r, struct kl_val a, struct kl_val b)
{
	struct kl_term t, u;

	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (kl_val_eq(a, b))
		return 0;
	if (a.tag != KL_ANY)
		return b.tag == KL_ANY ? bind(r, b, a) : KL_DROP;
	if (b.tag != KL_ANY)
		return bind(r, a, b);
	kl_sym_term(r, a, &t);
	kl_sym_term(r, b, &u);
	if (t.root != u.root)
		return join_roots(r, t, u);
	if (t.minus == u.minus)
		return t.c == u.c ? 0 : KL_DROP;
	/* root + c = d - root has two solutions or none, which is not recorded. */
	kl_run_lose(r);
	return 0;
}

/* Compare two unknowns that have the same root.  Return: false if the result is not known. */
static bool compare_terms(const struct kl_run *r, struct kl_val a, struct kl_val b, bool *equal)
{
	struct kl_term t, u;

	if (!kl_sym_term(r, a, &t) || !kl_sym_term(r, b, &u) || t.root != u.root ||
	    t.minus != u.minus)
		return false;
	*equal = t.c == u.c;
	return true;
}

int kl_sym_equal(struct kl_run *r, struct kl_val a, struct kl_val b, bool *equal)
{
	int ret;

	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	*equal = kl_val_eq(a, b);
	if (*equal || (a.tag != KL_ANY && b.tag != KL_ANY) || compare_terms(r, a, b, equal))
		return 0;
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	*equal = !ret;
	return ret ? kl_sym_differ(r, a, b) : kl_sym_unify(r, a, b);
}

int kl_sym_differ(struct kl_run *r, struct kl_val a, struct kl_val b)
{
	struct kl_term t;
	bool equal;
	int ret;

	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (kl_val_eq(a, b))
		return KL_DROP;
	if (a.tag != KL_ANY && b.tag != KL_ANY)
		return 0;
	if (compare_terms(r, a, b, &equal))
		return equal ? KL_DROP : 0;
	if (a.tag == KL_ANY && b.tag == KL_ANY)
		return kl_relate(r, a, b, KL_NOTE_NE);
	if (!kl_sym_term(r, a.tag == KL_ANY ? a : b, &t))
		return 0;
	if (a.tag == KL_ANY)
		a = b;
	if (a.tag == KL_WORD)
		a.v = root_word(&t, a.v);
	else if (!is_root(&t))
		return 0;
	ret = kl_dom_remove(r, &r->dom[t.root], a);
	return ret ? ret : bind_single(r, t.root);
}

int kl_sym_at_most(struct kl_run *r, struct kl_val a, struct kl_val b, bool strict)
{
	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (a.tag > KL_ANY || b.tag > KL_ANY)
		return KL_DROP;
	if (a.tag == KL_WORD)
		return strict && a.v == UINT64_MAX ? KL_DROP :
		       kl_sym_limit(r, b, a.v + strict, UINT64_MAX);
	if (b.tag == KL_WORD)
		return strict && !b.v ? KL_DROP : kl_sym_limit(r, a, 0, b.v - strict);
	if (kl_val_eq(a, b))
		return strict ? KL_DROP : 0;
	return require_word(r, a) ?: require_word(r, b) ?:
	       kl_relate(r, a, b, strict ? KL_NOTE_LT : KL_NOTE_LE);
}

int kl_sym_truth(struct kl_run *r, struct kl_val v, bool *truth)
{
	int ret;

	v = kl_sym_get(r, v);
	if (v.tag == KL_WORD) {
		*truth = v.v;
		return 0;
	}
	if (v.tag != KL_ANY)
		return kl_run_fault(r,
				    "a special value (empty, full, absent) is used as a condition");
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	*truth = ret;
	return bind(r, v, kl_word(ret));
}

/*
 * There are few observed results, so each is tried as a known word.  The last choice is an unknown
 * for any other word.
 */
int kl_sym_any(struct kl_run *r, uint64_t least, struct kl_val *v, bool *seen)
{
	struct kl_val words[KL_MAX_ARGS];
	unsigned int n = 0, i;
	int ret;

	for (i = 0; r->res && i < r->m->pub.nresults; i++)
		if (r->res[i].tag == KL_WORD && r->res[i].v >= least)
			words[n++] = r->res[i];
	ret = kl_run_choose(r, n + 1);
	if (ret < 0)
		return ret;
	*seen = (unsigned int)ret < n;
	if (*seen) {
		*v = words[ret];
		return 0;
	}
	ret = kl_sym_fresh(r, v);
	if (!ret)
		ret = kl_sym_limit(r, *v, least, UINT64_MAX);
	for (i = 0; i < n && !ret; i++)
		ret = kl_sym_differ(r, *v, words[i]);
	return ret;
}
