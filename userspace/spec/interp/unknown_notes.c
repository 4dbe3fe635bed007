// SPDX-License-Identifier: GPL-2.0
/*
 * Notes: the constraints on the unknowns of a state, in values after its containers.  run.h has
 * their format.  A path loads the notes of the state before, and appends notes to the next state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec/interp/run.h"

static bool is_relation(uint32_t tag)
{
	return tag == KL_NOTE_NE || tag == KL_NOTE_LE || tag == KL_NOTE_LT;
}

static void count_unknown(struct kl_run *r, struct kl_val v)
{
	if (v.tag == KL_ANY && v.v >= r->nstate)
		r->nstate = v.v + 1;
}

/* Return: the number of values of the note at @v, 0 if it is invalid.  @n values can be read. */
static size_t note_len(const struct kl_val *v, size_t n)
{
	size_t len = 2;

	if (v->tag == KL_NOTE_LOST)
		return 1;
	if (n < 2)
		return 0;
	if (v->tag == KL_NOTE_LENGTH || v->tag == KL_NOTE_FLOOR)
		return 2;
	if (v->tag != KL_ANY)
		return 0;
	if (v[1].tag == KL_NOTE_ALIVE)
		return 2;
	if (v[1].tag == KL_NOTE_MAY) {
		while (len + 1 < n && v[len].tag == KL_WORD)
			len += 2;
		return len;
	}
	return v[1].tag == KL_ANY && n > 2 &&
	       (v[2].tag == KL_NOTE_PLUS || v[2].tag == KL_NOTE_MINUS || is_relation(v[2].tag)) ?
	       3 : 0;
}

int kl_notes_scan(struct kl_run *r, size_t at)
{
	const struct kl_val *v = r->in;
	const size_t n = r->in_len;

	r->notes = at;
	while (at < n) {
		const size_t len = note_len(v + at, n - at);

		if (!len || (v[at].tag >= KL_NOTE_LENGTH && v[at].tag <= KL_NOTE_FLOOR &&
			     v[at].v >= r->s->nconts))
			return -EINVAL;
		if (v[at].tag != KL_NOTE_LOST) {
			count_unknown(r, v[at]);
			count_unknown(r, v[at + 1]);
		}
		at += len;
	}
	return 0;
}

void kl_raw_alive(uint64_t unknown, struct kl_val *to)
{
	to[0] = (struct kl_val){ .v = unknown, .tag = KL_ANY };
	to[1] = (struct kl_val){ .tag = KL_NOTE_ALIVE };
}

bool kl_outcome_added(const struct kl_outcome *o, size_t slot, uint64_t unknown, uint64_t *by)
{
	const struct kl_val *v = o->state + slot;
	size_t at, len;

	for (at = o->notes; at < o->len; at += len) {
		const struct kl_val *n = o->state + at;
		const bool second = v->v == n[0].v;

		len = note_len(n, o->len - at);
		if (!len)
			break;
		if (len == 3 && n[2].tag == KL_NOTE_PLUS && v->tag == KL_ANY &&
		    (second || v->v == n[1].v) && unknown == n[second].v) {
			*by = second ? n[2].v : -n[2].v;
			return true;
		}
	}
	return false;
}

void kl_notes_each_alive(struct kl_run *r, void (*fn)(struct kl_run *r, struct kl_val v))
{
	size_t at;

	for (at = r->notes + 1; at < r->in_len; at++)
		if (r->in[at].tag == KL_NOTE_ALIVE)
			fn(r, r->in[at - 1]);
}

/* ---- reading notes ---- */

/* Load the note ANY a, MAY s, ranges, at index *@at, and advance *@at to the next note. */
static int load_dom(struct kl_run *r, size_t *at)
{
	const struct kl_val sym = r->in[*at], *v = r->in + *at + 2;
	struct kl_dom d = { .at = r->nranges, .special = v[-1].v };
	const size_t most = (r->in_len - *at - 2) / 2;
	struct kl_val is;
	struct kl_term t;
	int ret = kl_grow(r->ranges, r->cranges, r->nranges + most);

	if (ret)
		return ret;
	d.doubtful = d.special & KL_MAY_DOUBT;
	d.special &= ~KL_MAY_DOUBT;
	if (d.doubtful) {
		d.doubt = (struct kl_range){ v[0].v, v[1].v };
		v += 2;
	}
	for (; v < r->in + r->in_len && v->tag == KL_WORD; d.n++, v += 2)
		r->ranges[r->nranges++] = (struct kl_range){ v[0].v, v[1].v };
	*at = v - r->in;
	is = kl_sym_get(r, sym);
	if (kl_sym_term(r, is, &t))
		return kl_sym_restrict(r, &t, &d);
	r->lost |= kl_dom_doubts(&d, is);
	return kl_dom_has(r, &d, is) ? 0 : KL_DROP;
}

/* Load the note ANY a, ANY b, PLUS c or MINUS c. */
static int load_sum(struct kl_run *r, const struct kl_val *v)
{
	struct kl_val sum = v[0];
	int ret = 0;

	/* A preset may have given the unknown a value: then require that the sum equals it. */
	if (!kl_val_eq(r->sym[sum.v], sum) || r->def[sum.v].kind != KL_DEF_NONE)
		ret = kl_sym_fresh(r, &sum);
	if (ret)
		return ret;
	r->def[sum.v] = (struct kl_def){
		.kind = KL_DEF_SUM, .minus = v[2].tag == KL_NOTE_MINUS, .base = v[1].v, .c = v[2].v,
	};
	return kl_sym_unify(r, v[0], sum);
}

int kl_notes_load(struct kl_run *r)
{
	size_t at = r->notes;
	int ret = 0;

	while (at < r->in_len && !ret) {
		const struct kl_val *v = &r->in[at];

		if (v->tag == KL_NOTE_LOST) {
			r->lost = true;
			at++;
		} else if (v->tag == KL_NOTE_LENGTH) {
			r->conts[v->v].rest = v[1];
			at += 2;
		} else if (v->tag == KL_NOTE_FLOOR) {
			r->conts[v->v].floor = v[1];
			at += 2;
		} else if (v[1].tag == KL_NOTE_ALIVE) {
			at += 2;
		} else if (v[1].tag == KL_NOTE_MAY) {
			ret = load_dom(r, &at);
		} else {
			ret = is_relation(v[2].tag) ? kl_relate(r, v[0], v[1], v[2].tag) :
			      load_sum(r, v);
			at += 3;
		}
	}
	return ret;
}

bool kl_state_lost(const struct kl_val *state, size_t len)
{
	return len && state[len - 1].tag == KL_NOTE_LOST;
}

/* Return: the index of the first note of a state. */
static size_t notes_at(const struct kl_spec *s, const struct kl_val *state, size_t len)
{
	size_t at = s->nslots;
	unsigned int i;

	for (i = 0; i < s->nconts && at < len; i++)
		at += 1 + state[at].v * kl_cont_stride(s->conts[i]->cont);
	return at;
}

/* Compare two MAY notes.  Return: true if @a allows all that @b allows, and doubts no more. */
static bool covers_ranges(const struct kl_val *a, size_t alen, const struct kl_val *b, size_t blen)
{
	const bool doubt_a = a[1].v & KL_MAY_DOUBT, doubt_b = b[1].v & KL_MAY_DOUBT;
	size_t i = 2 + 2 * doubt_a, k;

	if ((b[1].v & ~a[1].v & (KL_MAY_DOUBT - 1)) ||
	    (doubt_a && (!doubt_b || a[2].v - b[2].v > b[3].v - b[2].v ||
			 a[3].v - a[2].v > b[3].v - a[2].v)))
		return false;
	for (k = 2 + 2 * doubt_b; k < blen; k += 2) {
		while (i < alen && a[i + 1].v < b[k].v)
			i += 2;
		if (i >= alen || a[i].v > b[k].v || a[i + 1].v < b[k + 1].v)
			return false;
	}
	return true;
}

/* Return: true if the note @a follows from the notes @b. */
static bool is_implied(const struct kl_val *a, size_t alen, const struct kl_val *b, size_t blen)
{
	size_t at, n;

	for (at = 0; at < blen; at += n) {
		n = note_len(b + at, blen - at);
		if (!n)
			return false;
		if (n == alen && !memcmp(a, b + at, n * sizeof(*a)))
			return true;
		if (alen > 1 && n > 1 && kl_val_eq(a[0], b[at]) && a[1].tag == KL_NOTE_MAY &&
		    b[at + 1].tag == KL_NOTE_MAY)
			return covers_ranges(a, alen, b + at, n);
	}
	return false;
}

bool kl_state_covers(const struct kl_spec *s, const struct kl_val *a, size_t alen,
		     const struct kl_val *b, size_t blen)
{
	const size_t base = notes_at(s, a, alen);
	size_t at, n;

	if (base > blen || base != notes_at(s, b, blen) || memcmp(a, b, base * sizeof(*a)))
		return false;
	for (at = base; at < alen; at += n) {
		n = note_len(a + at, alen - at);
		if (!n || !is_implied(a + at, n, b + base, blen - base))
			return false;
	}
	return true;
}

/* ---- writing notes ---- */

static int put(struct kl_run *r, struct kl_val v)
{
	int ret = kl_grow(r->out, r->cout, r->nout + 1);

	if (!ret)
		r->out[r->nout++] = v;
	return ret;
}

static struct kl_val note(uint32_t tag, uint64_t v)
{
	return (struct kl_val){ .v = v, .tag = tag };
}

static int put_value(struct kl_run *r, struct kl_val head, struct kl_val v)
{
	v = kl_sym_get(r, v);
	kl_canon_name(r, &v);
	return put(r, head) ?: put(r, v);
}

/*
 * Set @d to the domain of a term; @length is set if the term is a number of unlisted entries.
 * Return: 0, -ENOMEM, or -E2BIG if there are too many ranges.
 */
static int term_domain(struct kl_run *r, const struct kl_term *t, bool length, struct kl_dom *d)
{
	int ret;

	*d = r->dom[t->root];
	if (!t->minus && !t->c && !length)
		return kl_dom_fold(r, d);
	ret = kl_dom_map(r, d, t->minus, t->c, d) ?: kl_dom_fold(r, d);
	/*
	 * Numbers above KL_LENGTH_MAX do not occur, so allow all of them.  Then states that differ
	 * only in a bound of such numbers are equal.
	 */
	if (!ret && length && d->n && r->ranges[d->at + d->n - 1].hi >= KL_LENGTH_MAX / 2)
		r->ranges[d->at + d->n - 1].hi = UINT64_MAX;
	return ret;
}

/* Put the number of unlisted entries of a container, unless it may be any number. */
static int put_length(struct kl_run *r, unsigned int index)
{
	const struct kl_val rest = r->conts[index].rest;
	const size_t nnames = r->nnames;
	struct kl_term t;
	struct kl_dom d;
	bool own;
	int ret;

	if (!kl_sym_term(r, rest, &t))
		return put_value(r, note(KL_NOTE_LENGTH, index), rest);
	own = r->rename[t.root] == UINT64_MAX && !r->nrelations;
	ret = own ? term_domain(r, &t, true, &d) : 0;
	if (ret && ret != -E2BIG)
		return ret;
	if (own && !ret && kl_dom_all_words(r, &d))
		return 0;
	ret = put_value(r, note(KL_NOTE_LENGTH, index), rest);
	if (r->nnames > nnames)
		r->names[nnames].length = own;
	return ret;
}

/* Put the notes of an unknown container. */
static int put_container(struct kl_run *r, unsigned int index)
{
	const struct kl_cont *c = &r->conts[index];
	int ret = c->rest.tag != KL_REST ? put_length(r, index) : 0;

	if (!ret && c->floor.tag != KL_REST)
		ret = put_value(r, note(KL_NOTE_FLOOR, index), c->floor);
	return ret;
}

/* Put the domain of @v, unless it has all values. */
static int put_dom(struct kl_run *r, struct kl_val v, const struct kl_dom *d)
{
	uint32_t i;
	int ret;

	if (kl_dom_is_all(r, d))
		return 0;
	ret = put(r, v) ?:
	      put(r, note(KL_NOTE_MAY, d->special | (d->doubtful ? KL_MAY_DOUBT : 0)));
	if (!ret && d->doubtful)
		ret = put(r, kl_word(d->doubt.lo)) ?: put(r, kl_word(d->doubt.hi));
	for (i = 0; i < d->n && !ret; i++)
		ret = put(r, kl_word(r->ranges[d->at + i].lo)) ?:
		      put(r, kl_word(r->ranges[d->at + i].hi));
	return ret;
}

/* Put the domain of @name; other names of its root are then put as sums of @name. */
static int put_base(struct kl_run *r, uint64_t name)
{
	const struct kl_term *t = &r->names[name].term;
	struct kl_dom is;
	int ret;

	ret = term_domain(r, t, r->names[name].length, &is);
	return ret ? kl_run_lose_e2big(r, ret) :
	       put_dom(r, note(KL_ANY, r->names[name].number), &is);
}

/* Return: the least name with the root of @name. */
static uint64_t first_of_root(const struct kl_run *r, uint64_t name)
{
	uint64_t k = r->rename[r->names[name].term.root], least = k;

	for (; k != UINT64_MAX; k = r->names[k].next)
		if (k < least)
			least = k;
	return least;
}

/* Put @name as the sum of another name of its root and a word. */
static int put_sum(struct kl_run *r, uint64_t name, uint64_t base)
{
	const struct kl_term *t = &r->names[name].term, *b = &r->names[base].term;
	const bool minus = t->minus != b->minus;

	return put(r, note(KL_ANY, r->names[name].number)) ?:
	       put(r, note(KL_ANY, r->names[base].number)) ?:
	       put(r, note(minus ? KL_NOTE_MINUS : KL_NOTE_PLUS,
			   minus ? t->c + b->c : t->c - b->c));
}

static int relation_cmp(const void *p, const void *q)
{
	const struct kl_relation *a = p, *b = q;

	if (a->a.v != b->a.v)
		return a->a.v < b->a.v ? -1 : 1;
	if (a->b.v != b->b.v)
		return a->b.v < b->b.v ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

/* Replace unknowns by their numbers in all relations; sort relations and drop equal ones. */
static void name_relations(struct kl_run *r)
{
	unsigned int i, n = 0;

	for (i = 0; i < r->nrelations; i++) {
		struct kl_relation *rel = &r->relation[i];

		kl_canon_name(r, &rel->a);
		kl_canon_name(r, &rel->b);
		if (rel->kind == KL_NOTE_NE && rel->a.v > rel->b.v) {
			const struct kl_val swap = rel->a;

			rel->a = rel->b;
			rel->b = swap;
		}
	}
	qsort(r->relation, r->nrelations, sizeof(r->relation[0]), relation_cmp);
	for (i = 0; i < r->nrelations; i++)
		if (!n || relation_cmp(&r->relation[n - 1], &r->relation[i]))
			r->relation[n++] = r->relation[i];
	r->nrelations = n;
}

/* In raw mode unknowns keep their numbers: name @v if it is unknown and has no name. */
static void name_raw(struct kl_run *r, struct kl_val v)
{
	struct kl_term t;
	uint64_t k;

	v = kl_sym_get(r, v);
	if (!kl_sym_term(r, v, &t))
		return;
	for (k = r->rename[t.root]; k != UINT64_MAX; k = r->names[k].next)
		if (r->names[k].number == v.v)
			return;
	r->names[r->nnames] = (struct kl_name){
		.term = t, .number = v.v, .next = r->rename[t.root],
	};
	r->rename[t.root] = r->nnames++;
}

static void name_all_raw(struct kl_run *r)
{
	size_t i;

	memset(r->rename, 0xff, r->nsym * sizeof(*r->rename));
	for (i = 0; i < r->s->nslots; i++)
		name_raw(r, r->out[i]);
	kl_notes_each_alive(r, name_raw);
	for (i = 0; i < r->nrelations; i++) {
		name_raw(r, r->relation[i].a);
		name_raw(r, r->relation[i].b);
	}
}

int kl_notes_put(struct kl_run *r)
{
	uint64_t name;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < r->s->nconts && !ret; i++)
		if (r->out[r->out_at[i]].tag == KL_ANY)
			ret = put_container(r, i);
	for (i = 0; i < r->nrelations; i++) {
		r->relation[i].a = kl_sym_get(r, r->relation[i].a);
		r->relation[i].b = kl_sym_get(r, r->relation[i].b);
	}
	if (r->raw)
		name_all_raw(r);
	else if (r->nrelations)
		name_relations(r);
	for (name = 0; name < r->nnames && !ret; name++) {
		const uint64_t base = first_of_root(r, name);

		ret = base == name ? put_base(r, name) : put_sum(r, name, base);
	}
	for (i = 0; i < r->nrelations && !ret; i++)
		ret = put(r, r->relation[i].a) ?: put(r, r->relation[i].b) ?:
		      put(r, note(r->relation[i].kind, 0));
	if (r->lost && !ret)
		ret = put(r, note(KL_NOTE_LOST, 0));
	return ret;
}
