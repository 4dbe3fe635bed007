// SPDX-License-Identifier: GPL-2.0
/*
 * Builds the next state of a path in canonical form: unknowns are replaced by their values,
 * entries are sorted, and unknowns are numbered by first occurrence.  Equal states get equal
 * bytes, with one exception: states with several unknown keys may have more than one form.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec/interp/run.h"

/* Compare two entries by their first value: words are first, then special values, then unknowns. */
static inline int entry_cmp(const struct kl_val *a, const struct kl_val *b)
{
	unsigned int x = a->tag == KL_ANY ? UINT32_MAX : a->tag;
	unsigned int y = b->tag == KL_ANY ? UINT32_MAX : b->tag;

	if (x != y)
		return x < y ? -1 : 1;
	return (a->v > b->v) - (a->v < b->v);
}

static int key_cmp(const void *p, const void *q)
{
	return entry_cmp(p, q);
}

#define MAX_STRIDE	2

/*
 * Insert entry @i into the sorted entries before it, after equal ones.  Return: its new index.
 */
static size_t insert_entry(struct kl_val *e, size_t i, unsigned int stride)
{
	const struct kl_val *last = &e[i * stride];
	struct kl_val moved[MAX_STRIDE];
	size_t low = 0, high = i;

	while (low < high) {
		const size_t mid = (low + high) / 2;

		if (entry_cmp(&e[mid * stride], last) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	memcpy(moved, last, stride * sizeof(*e));
	memmove(&e[(low + 1) * stride], &e[low * stride], (i - low) * stride * sizeof(*e));
	memcpy(&e[low * stride], moved, stride * sizeof(*e));
	return low;
}

/* Return: true if two of the sorted entries have equal keys. */
static bool has_equals(const struct kl_val *e, size_t n, unsigned int stride)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (kl_val_eq(e[(i - 1) * stride], e[i * stride]))
			return true;
	return false;
}

#define FEW_MOVES	4	/* insertions before sort_entries() calls qsort() */

/* Sort @n entries.  Return: 0, or KL_DROP if two keys are equal. */
static int sort_entries(struct kl_val *e, size_t n, const unsigned int stride)
{
	const bool keys = stride > 1;
	unsigned int moves = 0;
	size_t i, at;

	/* Mostly only the last entries are out of order, which this operation appended. */
	for (i = 1; i < n; i++) {
		const struct kl_val *a = &e[(i - 1) * stride], *b = &e[i * stride];

		/* Fast case: two words in order. */
		if (!(a->tag | b->tag) && a->v < b->v)
			continue;
		if (entry_cmp(a, b) <= 0) {
			if (keys && kl_val_eq(*a, *b))
				return KL_DROP;
			continue;
		}
		if (++moves > FEW_MOVES) {
			qsort(e, n, stride * sizeof(*e), key_cmp);
			return keys && has_equals(e, n, stride) ? KL_DROP : 0;
		}
		at = insert_entry(e, i, stride);
		if (keys && at && kl_val_eq(e[(at - 1) * stride], e[at * stride]))
			return KL_DROP;
	}
	return 0;
}

static bool sorted_kind(enum kl_cont_kind k)
{
	return k == KL_C_PQUEUE || k == KL_C_SET || k == KL_C_MAP || k == KL_C_BAG;
}

static int reserve(struct kl_run *r, size_t n)
{
	return kl_grow(r->out, r->cout, r->nout + n);
}

/*
 * Return: true if the entry is redundant: it says that its key is absent, and all keys are listed.
 */
static bool is_redundant(const struct kl_cont *c, enum kl_cont_kind kind, const struct kl_val *e)
{
	if (c->unknown)
		return false;
	return kind == KL_C_BAG ? !e[1].v : e[1].tag == KL_ABSENT;
}

/* Write the entries of @c to @e, with unknowns looked up.  Return: the end of the entries. */
static struct kl_val *put_entries(struct kl_run *r, const struct kl_cont *c,
				  enum kl_cont_kind kind, struct kl_val *e)
{
	const unsigned int stride = kl_cont_stride(kind);
	size_t i;

	/* A deque with KL_REST alone is written without entries, so that it has one form. */
	i = kind == KL_C_DEQUE && c->unknown && c->n == 1;
	for (; i < c->n; i += stride) {
		e[0] = kl_sym_get(r, c->e[i]);
		if (kind == KL_C_BAG) {
			e[1] = c->e[i + 1];
			if (!c->unknown)
				e[1].tag = KL_WORD;
		} else if (stride > 1) {
			e[1] = kl_sym_get(r, c->e[i + 1]);
		}
		if (stride == 1 || !is_redundant(c, kind, e))
			e += stride;
		else
			/* The knowledge that an unknown key differs is lost. */
			r->lost |= e->tag == KL_ANY;
	}
	return e;
}

static int put_loaded(struct kl_run *r, unsigned int index)
{
	const enum kl_cont_kind kind = r->s->conts[index]->cont;
	const struct kl_cont *c = &r->conts[index];
	const unsigned int stride = kl_cont_stride(kind);
	const bool known = !r->nsym && r->known;
	struct kl_val *head;
	size_t n;
	int ret;

	ret = reserve(r, c->n + 1);
	if (ret)
		return ret;
	head = r->out + r->nout;
	/* If all containers were known before the operation, no entry is redundant. */
	if (known) {
		memcpy(head + 1, c->e, c->n * sizeof(*c->e));
		n = c->n;
	} else {
		n = put_entries(r, c, kind, head + 1) - (head + 1);
	}
	*head = (struct kl_val){ .v = n / stride, .tag = c->unknown ? KL_ANY : KL_WORD };
	r->nout += n + 1;
	/* If also nothing was appended, the entries are still in order. */
	if (!sorted_kind(kind) || (known && !c->appended))
		return 0;
	return sort_entries(head + 1, n / stride, stride);
}

static int put_container(struct kl_run *r, unsigned int index)
{
	const struct kl_val *head = r->in + r->cont_at[index];
	size_t n = head->v * kl_cont_stride(r->s->conts[index]->cont) + 1;
	int ret;

	r->out_at[index] = r->nout;
	if (!r->conts[index].loaded && r->bound) {
		ret = kl_cont_load(r, index);
		if (ret)
			return ret;
	}
	if (r->conts[index].loaded)
		return put_loaded(r, index);
	ret = reserve(r, n);
	if (ret)
		return ret;
	memcpy(r->out + r->nout, head, n * sizeof(*head));
	r->nout += n;
	return 0;
}

void kl_canon_name(struct kl_run *r, struct kl_val *v)
{
	struct kl_term t;
	uint64_t k;

	if (!kl_sym_term(r, *v, &t))
		return;
	for (k = r->rename[t.root]; k != UINT64_MAX; k = r->names[k].next)
		if (r->names[k].term.c == t.c && r->names[k].term.minus == t.minus)
			break;
	if (k == UINT64_MAX) {
		k = r->nnames++;
		r->names[k] = (struct kl_name){
			.term = t, .number = k, .next = r->rename[t.root],
		};
		r->rename[t.root] = k;
	}
	v->v = k;
}

/* Replace a number that kl_canon_name() gave by a number in the order of first occurrence. */
static void renumber(struct kl_run *r, struct kl_val *v)
{
	if (v->tag != KL_ANY)
		return;
	if (r->rename[v->v] == UINT64_MAX)
		r->rename[v->v] = r->nnames++;
	v->v = r->rename[v->v];
}

/* Call @name for each value of out[] that may be unknown. */
static void name_all(struct kl_run *r, void (*name)(struct kl_run *r, struct kl_val *v))
{
	unsigned int i;
	size_t k;

	memset(r->rename, 0xff, r->nsym * sizeof(*r->rename));
	r->nnames = 0;
	for (k = 0; k < r->s->nslots; k++)
		name(r, &r->out[k]);
	for (i = 0; i < r->s->nconts; i++) {
		const enum kl_cont_kind kind = r->s->conts[i]->cont;
		struct kl_val *head = r->out + r->out_at[i];

		for (k = 1; k <= head->v * kl_cont_stride(kind); k += kind == KL_C_BAG ? 2 : 1)
			name(r, &head[k]);
	}
}

/* Sort names[] by the numbers that renumber() gave. */
static void order_names(struct kl_run *r)
{
	struct kl_name *old = r->names + r->nsym;
	uint64_t k;

	memcpy(old, r->names, r->nnames * sizeof(*old));
	for (k = 0; k < r->nnames; k++)
		r->names[r->rename[k]] = old[k];
	memset(r->rename, 0xff, r->nsym * sizeof(*r->rename));
	for (k = 0; k < r->nnames; k++) {
		uint64_t *head = &r->rename[r->names[k].term.root];

		r->names[k].number = k;
		r->names[k].next = *head;
		*head = k;
	}
}

/* Sort the entries again after their unknowns got new numbers. */
static int sort_again(struct kl_run *r)
{
	size_t i;
	int ret;

	for (i = 0; i < r->s->nconts; i++) {
		enum kl_cont_kind kind = r->s->conts[i]->cont;
		struct kl_val *head = r->out + r->out_at[i];

		ret = sorted_kind(kind) ? sort_entries(head + 1, head->v, kl_cont_stride(kind)) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

/* Number the unknowns of out[] by first occurrence. */
static int name_unknowns(struct kl_run *r)
{
	int ret;

	name_all(r, kl_canon_name);
	if (!r->s->nconts)
		return 0;
	/* New numbers change the order of unknown keys, so sort and number once more. */
	ret = sort_again(r);
	if (ret)
		return ret;
	name_all(r, renumber);
	order_names(r);
	return 0;
}

int kl_run_canon(struct kl_run *r)
{
	size_t n = r->s->nslots, i;
	int ret;

	/* The path changed nothing and learned nothing: the next state is the old one. */
	if (!r->nsym && r->known && !r->nwrote && !r->cont_changed) {
		r->next = r->in;
		r->nout = r->in_len;
		r->notes_out = r->notes;
		return 0;
	}
	r->next = r->slots;
	r->nout = r->notes_out = n;
	if (!r->nsym && !r->s->nconts && !r->lost)
		return 0;
	ret = kl_relations_settle(r);
	if (ret)
		return ret;
	r->nout = 0;
	ret = reserve(r, n);
	if (!ret)
		ret = kl_grow(r->rename, r->crename, r->nsym);
	if (ret)
		return ret;
	for (i = 0; i < n; i++)
		r->out[r->nout++] = kl_sym_get(r, r->slots[i]);
	for (i = 0; i < r->s->nconts; i++) {
		ret = put_container(r, i);
		if (ret)
			return ret;
	}
	/* Fast case: nothing is unknown. */
	r->notes_out = r->nout;
	r->next = r->out;
	if (!r->nsym && r->known && !r->lost)
		return 0;
	r->nnames = 0;
	ret = kl_grow(r->names, r->cnames, 2 * r->nsym);
	if (!ret && r->nsym && !r->raw)
		ret = name_unknowns(r);
	if (!ret && kl_run_keeps(r))
		ret = kl_notes_put(r);
	r->next = r->out;
	for (i = 0; i < r->m->pub.nresults && r->nsym && !r->raw && !ret; i++) {
		r->results[i] = kl_sym_get(r, r->results[i]);
		kl_canon_name(r, &r->results[i]);
	}
	return ret;
}

void kl_state_canon(struct kl_val *state, size_t len)
{
	uint64_t next = 0;
	size_t i, j;

	/* Old numbers are complemented, so that numbers below @next are new ones. */
	for (i = 0; i < len; i++)
		if (state[i].tag == KL_ANY)
			state[i].v = ~state[i].v;
	for (i = 0; i < len; i++) {
		uint64_t old = state[i].v;

		if (state[i].tag != KL_ANY || old < next)
			continue;
		for (j = i; j < len; j++)
			if (state[j].tag == KL_ANY && state[j].v == old)
				state[j].v = next;
		next++;
	}
}
