// SPDX-License-Identifier: GPL-2.0
/* The kept values of a register: a table by word, and lists; see register.h. */
#include <errno.h>
#include <stdlib.h>

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

/* Return: the index of the word's entry in r->words.at, or of the free entry for it. */
static inline size_t find(const struct reg *r, uint64_t word)
{
	return on_words_find(&r->words, r->v, sizeof(*r->v), word);
}

uint32_t value_find(const struct reg *r, uint64_t word)
{
	return r->words.size ? r->words.at[find(r, word)] - 1 : ON_NONE;
}

/* Remove a value from its word's list, and the word if it has no other. */
static void unlink_value(struct reg *r, uint32_t i)
{
	const size_t hole = find(r, r->v[i].word);
	uint32_t *next;

	if (r->words.at[hole] == i + 1) {
		r->words.at[hole] = r->v[i].same + 1;
	} else {
		for (next = &r->v[r->words.at[hole] - 1].same; *next != i; next = &r->v[*next].same)
			;
		*next = r->v[i].same;
	}
	if (!r->words.at[hole])
		on_words_unlink(&r->words, r->v, sizeof(*r->v), hole);
}

int value_new(struct reg *r, uint64_t word, uint32_t *i)
{
	size_t at;
	int ret = on_words_room(&r->words, r->v, sizeof(*r->v));

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
		.word = word, .first_ret = NEVER, .sure = NEVER, .over = NEVER, .write = ON_NONE,
		.see = ON_NONE, .last = ON_NONE, .by = { ON_NONE, ON_NONE, ON_NONE },
		.prev = ON_NONE, .next = ON_NONE, .same = r->words.at[at] - 1, .linked = true,
	};
	r->words.n += !r->words.at[at];
	r->words.at[at] = *i + 1;
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

	/* A pending write of the value took effect. */
	if (v->write != ON_NONE && on_op(o, v->write)->ret == KL_TIME_MAX)
		r->d[*doing_of(r, on_op(o, v->write))].value = ON_NONE;
	unlink_value(r, i);
	value_release(o, v);
	v->linked = false;
	v->same = r->free;
	r->free = i;
}
