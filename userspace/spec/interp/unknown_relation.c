// SPDX-License-Identifier: GPL-2.0
/*
 * Relations between two unknowns (!=, <=, <), settled at the end of a path.
 *
 * If one side is known, a relation becomes a bound on the other side.  An unknown is dead if the
 * state does not contain it; it then only has to have some value.  So a relation with a dead side
 * becomes a bound on the other side, too:
 *
 *	dead <= a, dead in 3..9		becomes		3 <= a
 *
 * Relations between live unknowns become notes.  If they might have no solution, the path is lost.
 * The same holds for opaque unknowns (struct kl_opaque) about which the path learned something.
 */
#include <errno.h>

#include "spec/interp/run.h"

/* Marks of a root, in rename[]: flags, and above them the number of its relations. */
#define ALIVE	1u	/* it is in the state */
#define LEFT	2u	/* it is the left side of <= or < */
#define RIGHT	4u	/* it is the right side of <= or < */
#define DIFFERS	8u	/* it is a side of != */
#define SUMMED	16u	/* a side of a relation is the root negated, or plus a constant */
#define ONE	32u	/* one relation */

int kl_relate(struct kl_run *r, struct kl_val a, struct kl_val b, enum kl_note kind)
{
	if (r->nrelations == KL_RELATIONS_MAX) {
		kl_run_lose(r);
		return 0;
	}
	r->relation[r->nrelations++] = (struct kl_relation){ .a = a, .b = b, .kind = kind };
	return 0;
}

static void remove_relation(struct kl_run *r, unsigned int i)
{
	r->relation[i] = r->relation[--r->nrelations];
}

/*
 * If a side of a relation is known, or both sides have the same root, turn the relation into
 * constraints on one root; *@done is then true, and the relation can go.
 */
static int settle_known(struct kl_run *r, const struct kl_relation *rel, bool *done)
{
	const struct kl_val a = kl_sym_get(r, rel->a), b = kl_sym_get(r, rel->b);
	struct kl_term t, u;

	*done = a.tag != KL_ANY || b.tag != KL_ANY || kl_val_eq(a, b);
	if (!*done && kl_sym_term(r, a, &t) && kl_sym_term(r, b, &u) && t.root == u.root) {
		*done = true;
		if (rel->kind != KL_NOTE_NE || t.minus != u.minus) {
			r->lost = true;
			return 0;
		}
	}
	if (!*done)
		return 0;
	return rel->kind == KL_NOTE_NE ? kl_sym_differ(r, a, b) :
	       kl_sym_at_most(r, a, b, rel->kind == KL_NOTE_LT);
}

static void mark_alive(struct kl_run *r, struct kl_val v)
{
	struct kl_term t;

	if (kl_sym_term(r, v, &t))
		r->rename[t.root] |= ALIVE;
}

static void mark_container(struct kl_run *r, unsigned int index)
{
	const enum kl_cont_kind kind = r->s->conts[index]->cont;
	const struct kl_cont *c = &r->conts[index];
	const struct kl_val *head = r->in + r->cont_at[index];
	const struct kl_val *e = c->loaded ? c->e : head + 1;
	const size_t n = c->loaded ? c->n : head->v * kl_cont_stride(kind);
	size_t i;

	for (i = 0; i < n; i += kind == KL_C_BAG ? 2 : 1)
		mark_alive(r, e[i]);
	if (!(c->loaded ? c->unknown : head->tag == KL_ANY))
		return;
	mark_alive(r, c->rest);
	mark_alive(r, c->floor);
}

static void mark_side(struct kl_run *r, struct kl_val v, uint64_t by)
{
	struct kl_term t;

	if (kl_sym_term(r, v, &t))
		r->rename[t.root] = (r->rename[t.root] | by | (t.minus || t.c ? SUMMED : 0)) + ONE;
}

static int mark_all(struct kl_run *r)
{
	unsigned int i;
	int ret = kl_grow(r->rename, r->crename, r->nsym);

	if (ret)
		return ret;
	for (i = 0; i < r->nsym; i++)
		r->rename[i] = 0;
	if (r->raw)
		kl_notes_each_alive(r, mark_alive);
	for (i = 0; i < r->s->nslots; i++)
		mark_alive(r, r->slots[i]);
	for (i = 0; i < r->s->nconts; i++)
		mark_container(r, i);
	for (i = 0; i < r->nrelations; i++) {
		const struct kl_relation *rel = &r->relation[i];

		mark_side(r, rel->a, rel->kind == KL_NOTE_NE ? DIFFERS : LEFT);
		mark_side(r, rel->b, rel->kind == KL_NOTE_NE ? DIFFERS : RIGHT);
	}
	return 0;
}

/* Get the least and the greatest word of the domain of @v. */
static int word_bounds(struct kl_run *r, struct kl_val v, uint64_t *lo, uint64_t *hi)
{
	struct kl_term t;
	struct kl_dom d;
	int ret;

	v = kl_sym_get(r, v);
	*lo = *hi = v.v;
	if (v.tag == KL_WORD)
		return 0;
	*lo = 0;
	*hi = UINT64_MAX;
	if (!kl_sym_term(r, v, &t))
		return KL_DROP;
	ret = kl_dom_map(r, &r->dom[t.root], t.minus, t.c, &d);
	if (ret)
		return kl_run_lose_e2big(r, ret);
	if (!d.n)
		return KL_DROP;
	/* The words at the ends may be among the excluded ones. */
	r->lost |= d.doubtful;
	*lo = r->ranges[d.at].lo;
	*hi = r->ranges[d.at + d.n - 1].hi;
	return 0;
}

/*
 * Remove the dead side of a relation: bound the other side so that a value for the dead side
 * exists.  The dead side is in no other relation that matters.
 */
static int project_dead(struct kl_run *r, const struct kl_relation *rel, bool a_is_dead)
{
	const struct kl_val dead = a_is_dead ? rel->a : rel->b;
	const struct kl_val other = a_is_dead ? rel->b : rel->a;
	const bool strict = rel->kind == KL_NOTE_LT;
	uint64_t lo, hi;
	struct kl_term t;
	int ret;

	/*
	 * A dead unknown with two or more words can always differ.  With one value it would be
	 * known, and settle_known() would have handled the relation.
	 */
	if (rel->kind == KL_NOTE_NE) {
		r->lost |= kl_sym_term(r, dead, &t) &&
			   (!r->dom[t.root].n || r->dom[t.root].doubtful);
		return 0;
	}
	ret = word_bounds(r, dead, &lo, &hi);
	if (ret)
		return ret;
	return a_is_dead ? kl_sym_at_most(r, kl_word(lo), other, strict) :
	       kl_sym_at_most(r, other, kl_word(hi), strict);
}

static uint64_t marks_of(const struct kl_run *r, struct kl_val v)
{
	struct kl_term t;

	return kl_sym_term(r, v, &t) ? r->rename[t.root] : ALIVE;
}

/*
 * Return: true if a dead unknown with these marks is in != relations only, and has more words than
 * there can be relations.  It can then always differ from the other sides.
 */
static bool can_always_differ(const struct kl_run *r, struct kl_val v, uint64_t marks)
{
	struct kl_term t;

	if (marks & (ALIVE | LEFT | RIGHT) || !kl_sym_term(r, v, &t) || !r->dom[t.root].n ||
	    r->dom[t.root].doubtful)
		return false;
	return r->ranges[r->dom[t.root].at].hi - r->ranges[r->dom[t.root].at].lo >=
	       KL_RELATIONS_MAX;
}

/* Return: true if the root of @v is opaque. */
static bool is_opaque(const struct kl_run *r, struct kl_val v)
{
	struct kl_term t;
	unsigned int i;

	for (i = 0; i < r->nopaque && kl_sym_term(r, v, &t); i++)
		if (r->opaque[i].sym == t.root)
			return true;
	return false;
}

/*
 * Return: true if each relation of a dead unknown with these marks can be projected by itself.
 * This holds if the unknown has one relation, or is itself on the same @side of all of them.
 */
static bool can_project(uint64_t marks, unsigned int side)
{
	return !(marks & ALIVE) &&
	       (marks / ONE == 1 || !(marks & (DIFFERS | SUMMED | ((LEFT | RIGHT) & ~side))));
}

/*
 * Remove one relation that has a dead side.  If the path contradicts itself, *@drop is set.
 * Return: 1, 0 if there is no such relation, or a negative errno.
 */
static int remove_dead(struct kl_run *r, bool *drop)
{
	unsigned int i, dead = r->nrelations;
	int ret;

	for (i = 0; i < r->nrelations; i++) {
		const struct kl_relation rel = r->relation[i];
		const uint64_t a = marks_of(r, rel.a), b = marks_of(r, rel.b);
		const bool free = can_always_differ(r, rel.a, a) || can_always_differ(r, rel.b, b);

		if (a & b & ALIVE)
			continue;
		dead = i;
		if (!free && !can_project(a, LEFT) && !can_project(b, RIGHT))
			continue;
		remove_relation(r, i);
		r->lost |= is_opaque(r, rel.a) || is_opaque(r, rel.b);
		ret = free ? 0 : project_dead(r, &rel, can_project(a, LEFT));
		*drop = ret == KL_DROP;
		return ret < 0 ? ret : 1;
	}
	if (dead == r->nrelations)
		return 0;
	r->lost = true;
	remove_relation(r, dead);
	return 1;
}

/* ---- several relations at a time ---- */

static bool same_term(const struct kl_run *r, struct kl_val a, struct kl_val b)
{
	struct kl_term t, u;

	return kl_sym_term(r, a, &t) && kl_sym_term(r, b, &u) && t.root == u.root &&
	       t.c == u.c && t.minus == u.minus;
}

static bool same_root(const struct kl_run *r, struct kl_val a, struct kl_val b)
{
	struct kl_term t, u;

	return kl_sym_term(r, a, &t) && kl_sym_term(r, b, &u) && t.root == u.root;
}

/* If two relations have the same sides, combine them in @p, and set *@done. */
static int combine(struct kl_run *r, struct kl_relation *p, const struct kl_relation *q,
		   bool *done)
{
	const bool straight = same_term(r, p->a, q->a) && same_term(r, p->b, q->b);
	const bool turned = same_term(r, p->a, q->b) && same_term(r, p->b, q->a);
	const enum kl_note kind = p->kind;

	*done = straight || turned;
	if (!*done)
		return 0;
	if (turned && kind != KL_NOTE_NE && q->kind != KL_NOTE_NE)
		return kind == KL_NOTE_LT || q->kind == KL_NOTE_LT ? KL_DROP :
		       kl_sym_unify(r, p->a, p->b);
	/* Together != and <= are <. */
	if (kind == KL_NOTE_NE)
		*p = *q;
	if (kind != q->kind && p->kind == KL_NOTE_LE)
		p->kind = KL_NOTE_LT;
	return 0;
}

/*
 * Return: true if a chain of <= and < leads from @from to @to.  *@gone has a bit for each relation
 * that was tried before.
 */
static bool has_path(const struct kl_run *r, struct kl_val from, struct kl_val to, uint64_t *gone)
{
	unsigned int i;

	_Static_assert(KL_RELATIONS_MAX <= 64, "a bit each");
	if (same_root(r, from, to))
		return true;
	for (i = 0; i < r->nrelations; i++) {
		if (r->relation[i].kind == KL_NOTE_NE || *gone >> i & 1 ||
		    !same_root(r, from, r->relation[i].a))
			continue;
		*gone |= 1ull << i;
		if (has_path(r, r->relation[i].b, to, gone))
			return true;
	}
	return false;
}

/*
 * Return: true if @p and @q may interact in a way that combine_live() does not examine: they
 * share a root, but have different terms of it, or only one of them is !=.
 */
static bool may_interact(const struct kl_run *r, const struct kl_relation *p,
			 const struct kl_relation *q)
{
	const struct kl_val a[] = { p->a, p->b }, b[] = { q->a, q->b };
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < 2; k++)
			if (same_root(r, a[i], b[k]) &&
			    (!same_term(r, a[i], b[k]) ||
			     (p->kind == KL_NOTE_NE) != (q->kind == KL_NOTE_NE)))
				return true;
	return false;
}

/* Bound the right side by the least word of the left side, and the left by the right's greatest. */
static int propagate_bounds(struct kl_run *r, const struct kl_relation *rel)
{
	const bool strict = rel->kind == KL_NOTE_LT;
	uint64_t lo, hi;
	int ret;

	if (rel->kind == KL_NOTE_NE)
		return 0;
	ret = word_bounds(r, rel->a, &lo, &hi) ?: kl_sym_at_most(r, kl_word(lo), rel->b, strict);
	return ret ?: word_bounds(r, rel->b, &lo, &hi) ?:
	       kl_sym_at_most(r, rel->a, kl_word(hi), strict);
}

/*
 * Examine the relations when all their unknowns are alive.  Combine relations that have the same
 * sides.  The rest has a solution if the orders have no cycle, the domains fit each other, and each
 * != has a side with many words.  Else the path is lost.
 */
static int combine_live(struct kl_run *r, bool *again)
{
	unsigned int i, k;
	uint64_t gone;
	int ret = 0;
	bool done;

	for (i = 0; i < r->nrelations; i++) {
		for (k = i + 1; k < r->nrelations; ) {
			ret = combine(r, &r->relation[i], &r->relation[k], &done);
			if (ret)
				return ret;
			if (done)
				remove_relation(r, k);
			else
				k++;
			*again |= done;
		}
	}
	if (*again)
		return 0;
	/* Bounds propagate along chains; the longest chain has nrelations relations. */
	for (k = 0; k < r->nrelations; k++)
		for (i = 0; i < r->nrelations && !ret; i++)
			ret = propagate_bounds(r, &r->relation[i]);
	for (i = 0; i < r->nrelations && !r->lost && !ret; i++) {
		const struct kl_relation *p = &r->relation[i];

		gone = 0;
		r->lost |= p->kind != KL_NOTE_NE && has_path(r, p->b, p->a, &gone);
		r->lost |= p->kind == KL_NOTE_NE && !can_always_differ(r, p->a, 0) &&
			   !can_always_differ(r, p->b, 0);
		for (k = i + 1; k < r->nrelations; k++)
			r->lost |= may_interact(r, p, &r->relation[k]);
	}
	return ret;
}

/* Return: true if a root is dead, and only one opaque sum constrains it. */
static bool is_unconstrained(const struct kl_run *r, uint64_t root)
{
	const struct kl_val v = { .v = root, .tag = KL_ANY };
	unsigned int i, sums = 0;
	struct kl_term t;

	if (root == KL_NO_ROOT || !kl_sym_term(r, v, &t) || t.root != root || r->rename[root] ||
	    r->def[root].kind != KL_DEF_NONE || !kl_dom_all_words(r, &r->dom[root]) ||
	    r->dom[root].doubtful)
		return false;
	for (i = 0; i < r->nopaque; i++) {
		const struct kl_opaque *o = &r->opaque[i];

		if (o->sym == root)
			return false;
		sums += (o->of[0] == root) + (o->of[1] == root);
	}
	return sums == 1;
}

/* Return: true if the path learned something about an opaque unknown. */
static bool is_constrained(const struct kl_run *r, const struct kl_opaque *o)
{
	const struct kl_val v = { .v = o->sym, .tag = KL_ANY };
	const struct kl_dom *d = &r->dom[o->sym];
	struct kl_term t;

	/* An unconstrained summand can make the sum any word. */
	if (is_unconstrained(r, o->of[0]) || is_unconstrained(r, o->of[1]))
		return false;
	/* With an exclusive or, bind() has bound the base; contradicts() checks the domain. */
	if (!kl_sym_term(r, v, &t))
		return r->def[o->sym].kind != KL_DEF_XOR || d->doubtful;
	return t.root != o->sym || r->rename[o->sym] || d->at != o->dom.at ||
	       d->n != o->dom.n || d->doubtful != o->dom.doubtful;
}

/* Return: true if the unknown's value is known from its base, and is not in its domain. */
static bool contradicts(const struct kl_run *r, const struct kl_opaque *o)
{
	const struct kl_val v = { .v = o->sym, .tag = KL_ANY }, is = kl_sym_get(r, v);

	return is.tag != KL_ANY && !kl_dom_has(r, &r->dom[o->sym], is);
}

static bool has_known_side(const struct kl_run *r, const struct kl_relation *rel)
{
	return kl_sym_get(r, rel->a).tag != KL_ANY || kl_sym_get(r, rel->b).tag != KL_ANY;
}

int kl_relations_settle(struct kl_run *r)
{
	bool again, done, drop = false;
	unsigned int i;
	int ret;

	if (!r->nrelations && !r->nopaque)
		return 0;
	do {
		again = false;
		for (i = 0; i < r->nrelations; ) {
			ret = settle_known(r, &r->relation[i], &done);
			if (ret)
				return ret;
			if (done)
				remove_relation(r, i);
			else
				i++;
			again |= done;
		}
		if (again)
			continue;
		ret = mark_all(r) ?: remove_dead(r, &drop);
		if (ret < 0 || drop)
			return ret < 0 ? ret : KL_DROP;
		again = ret;
		ret = again ? 0 : combine_live(r, &again);
		if (ret)
			return ret;
		for (i = 0; i < r->nrelations; i++)
			again |= has_known_side(r, &r->relation[i]);
	} while (again);
	for (i = 0; i < r->nopaque; i++)
		if (contradicts(r, &r->opaque[i]))
			return KL_DROP;
	for (i = 0; i < r->nopaque; i++)
		r->lost |= is_constrained(r, &r->opaque[i]);
	return 0;
}
