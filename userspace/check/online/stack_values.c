// SPDX-License-Identifier: GPL-2.0
/* The values of a stack and their marks, see stack.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/online/stack.h"

static void unlink_level(struct stack *st, uint32_t i)
{
	const struct level *l = &st->l[i];

	*(l->prev == ON_NONE ? &st->head : &st->l[l->prev].next) = l->next;
	*(l->next == ON_NONE ? &st->tail : &st->l[l->next].prev) = l->prev;
}

/* Insert a value into the list of alive values.  Its key is 0, or among the last of the list. */
static void link_level(struct stack *st, uint32_t i)
{
	struct level *l = &st->l[i];
	uint32_t prev = l->key ? st->tail : ON_NONE;

	while (prev != ON_NONE && st->l[prev].key > l->key)
		prev = st->l[prev].prev;
	l->prev = prev;
	l->next = prev == ON_NONE ? st->head : st->l[prev].next;
	*(prev == ON_NONE ? &st->head : &st->l[prev].next) = i;
	*(l->next == ON_NONE ? &st->tail : &st->l[l->next].prev) = i;
}

static void drop_mark(struct kl_online *o, struct stack *st, uint32_t *at)
{
	const uint32_t i = *at;
	struct mark *m = &st->marks[i];

	proof_put(o, &st->dead, &m->proof);
	*at = m->next;
	m->next = st->free_mark;
	st->free_mark = i;
}

static void set_key(struct stack *st, uint32_t i)
{
	struct level *l = &st->l[i];
	uint64_t key = 0;
	uint32_t m;

	for (m = l->marks; m != ON_NONE; m = st->marks[m].next)
		if (st->marks[m].at > key)
			key = st->marks[m].at;
	if (key == l->key)
		return;
	if (l->state == LEVEL_ALIVE)
		unlink_level(st, i);
	l->key = key;
	if (l->state == LEVEL_ALIVE)
		link_level(st, i);
}

/*
 * Return: true if a new mark at @later makes the mark @m needless.  A value whose removal is called
 * from now on covers both marks to their ends if it covers @m.  A value that is dying may cover @m,
 * and end before @later or before an end of these windows; then @m is still needed.
 */
static bool is_said(const struct stack *st, const struct mark *m, uint64_t later, uint32_t use)
{
	size_t k;

	if (m->at > later)
		return false;
	for (k = 0; k < st->ndying; k++)
		if (st->dying[k].use != use && st->dying[k].last_call > m->at)
			return false;
	return true;
}

int level_mark(struct kl_online *o, struct stack *st, uint32_t i, uint64_t call, uint64_t at,
	       uint64_t end)
{
	struct mark new = { .at = at, .end = end, .call = call };
	uint32_t *m, place;
	int ret;

	for (m = &st->l[i].marks; *m != ON_NONE; ) {
		if (is_said(st, &st->marks[*m], at, i))
			drop_mark(o, st, m);
		else
			m = &st->marks[*m].next;
	}
	place = st->free_mark;
	if (place == ON_NONE) {
		ret = kl_grow(st->marks, st->cmarks, st->nmarks + 1);
		if (ret)
			return ret;
		place = st->nmarks++;
	} else {
		st->free_mark = st->marks[place].next;
	}
	proof_get(&st->dead, &new.proof, call, at);
	new.next = st->l[i].marks;
	st->marks[place] = new;
	st->l[i].marks = place;
	set_key(st, i);
	return 0;
}

struct dying *level_dying(struct stack *st, uint32_t i)
{
	size_t k;

	for (k = 0; k < st->ndying && st->dying[k].use != i; k++)
		;
	return k < st->ndying ? &st->dying[k] : NULL;
}

void level_enter(struct stack *st, uint32_t i)
{
	st->l[i].state = LEVEL_ALIVE;
	st->l[i].key = 0;
	link_level(st, i);
}

int level_leave(struct stack *st, uint32_t i, uint64_t first_ret, uint64_t last_call,
		uint64_t at)
{
	int ret = kl_grow(st->dying, st->cdying, st->ndying + 1);

	if (ret)
		return ret;
	if (st->l[i].state == LEVEL_ALIVE)
		unlink_level(st, i);
	st->l[i].state = LEVEL_DYING;
	st->dying[st->ndying++] = (struct dying){
		.first_ret = first_ret, .last_call = last_call, .at = at, .use = i,
	};
	return 0;
}

static void clear(struct kl_online *o, struct stack *st, uint32_t i, enum level_state state)
{
	struct level *l = &st->l[i];

	if (l->state == LEVEL_ALIVE)
		unlink_level(st, i);
	while (l->marks != ON_NONE)
		drop_mark(o, st, &l->marks);
	l->key = 0;
	l->state = state;
}

void level_forget(struct kl_online *o, struct stack *st, uint32_t i)
{
	struct dying *d = st->l[i].state == LEVEL_DYING ? level_dying(st, i) : NULL;

	if (d)
		*d = st->dying[--st->ndying];
	clear(o, st, i, LEVEL_NONE);
}

void level_forget_all(struct kl_online *o, struct stack *st)
{
	uint32_t i;

	for (i = 0; i < st->nl; i++)
		clear(o, st, i, LEVEL_NONE);
	st->ndying = 0;
	proofs_free(o, &st->dead);
}

/*
 * Move the marks of the value @i that the dead value @x covers.  *forced becomes true if a mark has
 * no slot left.
 */
static void move_marks(struct kl_online *o, struct stack *st, uint32_t i, const struct dying *x,
		       bool *forced)
{
	bool moved = false;
	uint32_t *at;

	for (at = &st->l[i].marks; *at != ON_NONE; ) {
		struct mark *m = &st->marks[*at];

		if (m->at < x->first_ret || m->at >= x->last_call) {
			at = &m->next;
			continue;
		}
		moved = true;
		m->at = x->at;
		if (m->at >= m->end) {
			*forced = true;
			drop_mark(o, st, at);
			continue;
		}
		proof_put(o, &st->dead, &m->proof);
		proof_get(&st->dead, &m->proof, m->call, m->at);
		at = &m->next;
	}
	if (moved)
		set_key(st, i);
}

/* The value @x is dead: keep it for proofs, and move all that it covers to later slots. */
static int bury(struct kl_online *o, struct stack *st, const struct dying *x, bool whole)
{
	bool forced = false;
	uint32_t i, prev;
	size_t k;
	int ret = proofs_add(o, &st->dead, &st->s, x->use, x->first_ret, x->last_call, whole);

	for (k = 0; k < st->nopen; k++)
		if (st->open[k].at >= x->first_ret && st->open[k].at < x->last_call)
			st->open[k].at = x->at;
	for (k = 0; k < st->ndying; k++) {
		struct dying *d = &st->dying[k];

		if (d->at >= x->first_ret && d->at < x->last_call)
			d->at = x->at;
		if (st->l[d->use].key >= x->first_ret)
			move_marks(o, st, d->use, x, &d->forced);
	}
	/* Each mark of an alive value can move, unless the value was found wrong. */
	for (i = st->tail; i != ON_NONE && st->l[i].key >= x->first_ret; i = prev) {
		prev = st->l[i].prev;
		move_marks(o, st, i, x, &forced);
	}
	return ret;
}

/* The value of @d is dead, and gets the new state @state. */
static int take(struct kl_online *o, struct stack *st, struct dying *d, enum level_state state)
{
	const struct dying x = *d;

	*d = st->dying[--st->ndying];
	clear(o, st, x.use, state);
	return x.first_ret < x.last_call ? bury(o, st, &x, state == LEVEL_NONE) : 0;
}

int level_die(struct kl_online *o, struct stack *st, struct dying *d)
{
	int ret = take(o, st, d, LEVEL_NONE);
	size_t k = 0;

	while (k < st->ndying && !ret) {
		if (!st->dying[k].forced) {
			k++;
			continue;
		}
		ret = take(o, st, &st->dying[k], LEVEL_GONE);
		k = 0;
	}
	return ret;
}
