// SPDX-License-Identifier: GPL-2.0
/* The values of a register that are kept: a table by word, and lists; see register.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/online/register.h"

void reg_put(struct kl_online *o, uint32_t *op)
{
	if (*op != ON_NONE)
		on_op_put(o, *op);
	*op = ON_NONE;
}

void reg_hold(struct kl_online *o, uint32_t *at, uint32_t op)
{
	if (op != ON_NONE)
		on_op(o, op)->refs++;
	reg_put(o, at);
	*at = op;
}

static inline size_t home(const struct reg *r, uint64_t word)
{
	return kl_mix(word, 0) & (r->size - 1);
}

/* Where the word is, or would be. */
static inline size_t find(const struct reg *r, uint64_t word)
{
	size_t at = home(r, word);

	while (r->table[at] && r->v[r->table[at] - 1].word != word)
		at = (at + 1) & (r->size - 1);
	return at;
}

uint32_t value_find(const struct reg *r, uint64_t word)
{
	return r->size ? r->table[find(r, word)] - 1 : ON_NONE;
}

static int grow_table(struct reg *r)
{
	const size_t old = r->size;
	uint32_t *from = r->table;
	size_t i;

	r->size = old ? 2 * old : 64;
	r->table = calloc(r->size, sizeof(*r->table));
	if (!r->table) {
		r->table = from;
		r->size = old;
		return -ENOMEM;
	}
	for (i = 0; i < old; i++)
		if (from[i])
			r->table[find(r, r->v[from[i] - 1].word)] = from[i];
	free(from);
	return 0;
}

/* Take a value out of its word's list, and the word out if it was the only one. */
static void unlink_value(struct reg *r, uint32_t i)
{
	size_t hole = find(r, r->v[i].word), at;
	uint32_t *next;

	if (r->table[hole] == i + 1) {
		r->table[hole] = r->v[i].same + 1;
	} else {
		for (next = &r->v[r->table[hole] - 1].same; *next != i; next = &r->v[*next].same)
			;
		*next = r->v[i].same;
	}
	if (r->table[hole])
		return;
	for (at = (hole + 1) & (r->size - 1); r->table[at]; at = (at + 1) & (r->size - 1)) {
		if (((at - home(r, r->v[r->table[at] - 1].word)) & (r->size - 1)) >=
		    ((at - hole) & (r->size - 1))) {
			r->table[hole] = r->table[at];
			hole = at;
		}
	}
	r->table[hole] = 0;
}

int value_new(struct reg *r, uint64_t word, uint32_t *i)
{
	size_t at;
	int ret = 2 * (r->nlinked + 1) > r->size ? grow_table(r) : 0;

	if (ret)
		return ret;
	*i = r->free;
	if (*i != ON_NONE) {
		r->free = r->v[*i].same;
	} else {
		ret = kl_grow(r->v, r->cap, r->n + 1);
		if (ret)
			return ret;
		*i = r->n++;
	}
	at = find(r, word);
	r->v[*i] = (struct value){
		.word = word, .lo = NEVER, .sure = NEVER, .over = NEVER, .write = ON_NONE,
		.see = ON_NONE, .last = ON_NONE, .by = { ON_NONE, ON_NONE, ON_NONE },
		.prev = ON_NONE, .next = ON_NONE, .same = r->table[at] - 1, .linked = true,
	};
	r->table[at] = *i + 1;
	r->nlinked++;
	return 0;
}

void value_enter(struct reg *r, uint32_t i, uint32_t *head, uint32_t *tail)
{
	struct value *v = &r->v[i];

	v->prev = tail ? *tail : ON_NONE;
	v->next = tail ? ON_NONE : *head;
	if (v->prev != ON_NONE)
		r->v[v->prev].next = i;
	else
		*head = i;
	if (v->next != ON_NONE)
		r->v[v->next].prev = i;
	if (tail)
		*tail = i;
}

void value_leave(struct reg *r, uint32_t i, uint32_t *head, uint32_t *tail)
{
	struct value *v = &r->v[i];

	if (v->prev != ON_NONE)
		r->v[v->prev].next = v->next;
	else
		*head = v->next;
	if (v->next != ON_NONE)
		r->v[v->next].prev = v->prev;
	else if (tail)
		*tail = v->prev;
}

void value_release(struct kl_online *o, struct value *v)
{
	reg_put(o, &v->write);
	reg_put(o, &v->see);
	reg_put(o, &v->last);
	reg_put(o, &v->by[0]);
	reg_put(o, &v->by[1]);
	reg_put(o, &v->by[2]);
}

void value_forget(struct kl_online *o, struct reg *r, uint32_t i)
{
	struct value *v = &r->v[i];

	unlink_value(r, i);
	value_release(o, v);
	v->linked = false;
	v->same = r->free;
	r->free = i;
	r->nlinked--;
}
