// SPDX-License-Identifier: GPL-2.0
/* Unknown values on a path of the interpreter: what they turn out to be. */
#include <errno.h>

#include "spec/run.h"

struct kl_val kl_sym_follow(const struct kl_run *r, struct kl_val v)
{
	while (v.tag == KL_ANY && !kl_val_eq(r->sym[v.v], v))
		v = r->sym[v.v];
	return v;
}

int kl_sym_reserve(struct kl_run *r, size_t n)
{
	int ret = kl_grow(r->sym, r->csym, n);

	return ret ? ret : kl_grow(r->def, r->cdef, n);
}

int kl_sym_fresh(struct kl_run *r, struct kl_val *v)
{
	int ret;

	if (r->nsym >= KL_SYMS_MAX)
		return kl_run_fail(r, -E2BIG, "more than %u unknown values", KL_SYMS_MAX);
	ret = kl_sym_reserve(r, r->nsym + 1);
	if (ret)
		return ret;
	r->def[r->nsym].op = 0;
	*v = (struct kl_val){ .v = r->nsym, .tag = KL_ANY };
	r->sym[r->nsym++] = *v;
	return 0;
}

static bool observed(const struct kl_run *r, struct kl_val v)
{
	unsigned int i;

	for (i = 0; r->res && i < r->m->pub.nresults; i++)
		if (kl_val_eq(r->res[i], v))
			return true;
	return false;
}

static bool within(const struct kl_run *r, const struct kl_limit *l, struct kl_val v)
{
	switch (l->kind) {
	case KL_LIMIT_RANGE:
		return v.tag == KL_WORD && v.v >= l->lo && v.v <= l->hi;
	case KL_LIMIT_NOT:
		return v.tag != KL_WORD || v.v != l->lo;
	default:
		return v.tag == KL_WORD && !observed(r, v);
	}
}

static bool within_limits(const struct kl_run *r, struct kl_val sym, struct kl_val to)
{
	unsigned int i;

	for (i = 0; i < r->nlimits; i++) {
		const struct kl_limit *l = &r->limits[i];
		struct kl_val v = kl_sym_follow(r, (struct kl_val){ .v = l->sym, .tag = KL_ANY });

		if (kl_val_eq(v, sym) && !within(r, l, to))
			return false;
	}
	return true;
}

/* Without a limit more is accepted, so one may be left out. */
static void add_limit(struct kl_run *r, struct kl_limit l)
{
	if (r->nlimits < KL_LIMITS_MAX)
		r->limits[r->nlimits++] = l;
	else
		r->widened = true;
}

/*
 * An unknown that was computed from another one by adding, subtracting or xor
 * of a known word tells what that one is.  Returns true if there is such a one.
 */
static bool invert(const struct kl_run *r, struct kl_val *sym, struct kl_val *to)
{
	const struct kl_def *d = &r->def[sym->v];
	struct kl_val a, b;

	if (!d->op || to->tag != KL_WORD)
		return false;
	a = kl_sym_get(r, d->a);
	b = kl_sym_get(r, d->b);
	if (d->op == '-' && a.tag == KL_WORD)
		to->v = a.v - to->v;
	else if (d->op == '^')
		to->v ^= a.tag == KL_WORD ? a.v : b.v;
	else if (d->op == '-')
		to->v += b.v;
	else
		to->v -= a.tag == KL_WORD ? a.v : b.v;
	*sym = a.tag == KL_WORD ? b : a;
	return a.tag == KL_WORD || b.tag == KL_WORD;
}

static int bind(struct kl_run *r, struct kl_val sym, struct kl_val to)
{
	do {
		if (sym.tag != KL_ANY)
			return kl_val_eq(sym, to) ? 0 : KL_DROP;
		/* An unknown of a specification that keeps no special values is a word. */
		if (to.tag != KL_WORD && !r->s->specials)
			return KL_DROP;
		if (!within_limits(r, sym, to))
			return KL_DROP;
		r->sym[sym.v] = to;
		r->bound = true;
	} while (invert(r, &sym, &to));
	return 0;
}

int kl_sym_result(struct kl_run *r, int op, struct kl_val a, struct kl_val b, struct kl_val *v)
{
	bool invertible = (op == '+' || op == '-' || op == '^') &&
			  (a.tag == KL_WORD || b.tag == KL_WORD);
	int ret;

	r->widened = true;
	ret = kl_sym_fresh(r, v);
	if (!ret && invertible)
		r->def[v->v] = (struct kl_def){ .op = op, .a = a, .b = b };
	return ret;
}

int kl_sym_unify(struct kl_run *r, struct kl_val a, struct kl_val b)
{
	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (kl_val_eq(a, b))
		return 0;
	if (a.tag == KL_ANY && b.tag == KL_ANY) {
		/* The older one stands for both. */
		r->sym[a.v > b.v ? a.v : b.v] = a.v > b.v ? b : a;
		r->bound = true;
		return 0;
	}
	if (a.tag == KL_ANY)
		return bind(r, a, b);
	if (b.tag == KL_ANY)
		return bind(r, b, a);
	return KL_DROP;
}

int kl_sym_equal(struct kl_run *r, struct kl_val a, struct kl_val b, bool *equal)
{
	int ret;

	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	*equal = kl_val_eq(a, b);
	if (*equal || (a.tag != KL_ANY && b.tag != KL_ANY))
		return 0;
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	*equal = !ret;
	if (*equal)
		return kl_sym_unify(r, a, b);
	kl_sym_differ(r, a, b);
	return 0;
}

void kl_sym_differ(struct kl_run *r, struct kl_val a, struct kl_val b)
{
	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (a.tag == KL_ANY && b.tag == KL_WORD)
		add_limit(r, (struct kl_limit){ .sym = a.v, .lo = b.v, .kind = KL_LIMIT_NOT });
	else if (b.tag == KL_ANY && a.tag == KL_WORD)
		add_limit(r, (struct kl_limit){ .sym = b.v, .lo = a.v, .kind = KL_LIMIT_NOT });
	else if (a.tag == KL_ANY || b.tag == KL_ANY)
		r->widened = true;	/* of two unknowns it is not kept */
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
		return kl_run_fault(r, "a special value (empty, full, absent) is no condition");
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	*truth = ret;
	return bind(r, v, kl_word(ret));
}

int kl_sym_limit(struct kl_run *r, struct kl_val v, uint64_t lo, uint64_t hi)
{
	v = kl_sym_get(r, v);
	if (v.tag == KL_WORD)
		return v.v >= lo && v.v <= hi ? 0 : KL_DROP;
	if (v.tag != KL_ANY)
		return KL_DROP;
	add_limit(r, (struct kl_limit){ .sym = v.v, .lo = lo, .hi = hi });
	return 0;
}

/*
 * A word that is observed as a result is one of a few, which the path knows from here on:
 * what it finds out about an unknown is not all kept.  The last choice is any other word.
 */
int kl_sym_any(struct kl_run *r, struct kl_val *v)
{
	struct kl_val seen[KL_MAX_ARGS];
	unsigned int n = 0, i;
	int ret;

	for (i = 0; r->res && i < r->m->pub.nresults; i++)
		if (r->res[i].tag == KL_WORD)
			seen[n++] = r->res[i];
	ret = kl_run_choose(r, n + 1);
	if (ret < 0)
		return ret;
	if ((unsigned int)ret < n) {
		*v = seen[ret];
		return 0;
	}
	ret = kl_sym_fresh(r, v);
	if (!ret)
		add_limit(r, (struct kl_limit){ .sym = v->v, .kind = KL_LIMIT_UNSEEN });
	return ret;
}
