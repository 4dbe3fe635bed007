// SPDX-License-Identifier: GPL-2.0
/* Uses of words, see lifetimes.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/online/lifetimes.h"

#define CLUSTER	64	/* maximal number of uses of one word at a time */

void uses_init(struct uses *s, bool strict, enum on_begin begin)
{
	memset(s, 0, sizeof(*s));
	s->free = s->head = s->tail = ON_NONE;
	s->strict = strict;
	s->begin = begin;
}

static void put(struct kl_online *o, uint32_t op)
{
	if (op != ON_NONE)
		on_op_put(o, op);
}

static void set(struct kl_online *o, uint32_t *at, uint32_t op)
{
	put(o, *at);
	on_op(o, op)->refs++;
	*at = op;
}

static void free_use(struct kl_online *o, struct uses *s, uint32_t i)
{
	struct use *u = use(s, i);

	if (u->inside)
		uses_leave(o, s, i);
	put(o, u->add);
	put(o, u->remove);
	put(o, u->see);
	put(o, u->last);
	s->ndoubts -= u->doubt;
	u->linked = u->doubt = u->held = false;
	u->next = s->free;
	s->free = i;
}

void uses_free(struct kl_online *o, struct uses *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->u[i].linked)
			free_use(o, s, i);
	for (i = 0; i < s->nwild; i++)
		put(o, s->wild[i]);
	free(s->u);
	free(s->words.at);
	free(s->empties);
	free(s->wild);
	free(s->dead);
	free(s->core);
}

static inline size_t find(const struct uses *s, uint64_t word)
{
	return on_words_find(&s->words, s->u, sizeof(*s->u), word);
}

uint32_t uses_first(const struct uses *s, uint64_t word)
{
	return s->words.size ? s->words.at[find(s, word)] - 1 : ON_NONE;
}

bool uses_alone(const struct uses *s, uint32_t i)
{
	return s->u[i].same == ON_NONE && s->words.at[find(s, s->u[i].word)] == i + 1;
}

static void unlink_word(struct uses *s, size_t at)
{
	on_words_unlink(&s->words, s->u, sizeof(*s->u), at);
}

static int new_use(struct uses *s, uint64_t word, uint32_t *i)
{
	struct use *u;
	int ret;

	*i = s->free;
	if (*i != ON_NONE) {
		s->free = s->u[*i].next;
	} else {
		ret = kl_grow(s->u, s->cap, s->n + 1);
		if (ret)
			return ret;
		*i = s->n++;
	}
	u = use(s, *i);
	*u = (struct use){
		.word = word,
		.first_ret = NEVER,
		.last_call = NEVER,
		.first_seen_ret = NEVER,
		.seen = NEVER,
		.add = ON_NONE,
		.remove = ON_NONE,
		.see = ON_NONE,
		.last = ON_NONE,
		.prev = ON_NONE,
		.next = ON_NONE,
		.same = ON_NONE,
		.linked = true,
	};
	return 0;
}

static inline uint64_t end_of(const struct kl_online *o, const struct uses *s,
			      const struct on_op *op)
{
	return s->strict ? op->ret : on_end_key(o, op);
}

/* Return: true if the removal of the use returned before @time. */
static bool removed_by(const struct kl_online *o, const struct uses *s, const struct use *u,
		       uint64_t time)
{
	return u->removed || (u->remove != ON_NONE && end_of(o, s, &o->ops[u->remove]) < time);
}

/* Return: true if a removal or peek of the use returned before the addition @op was called. */
static bool seen_by(const struct kl_online *o, const struct uses *s, const struct use *u,
		    const struct on_op *op)
{
	if (u->seen != op->call || !s->strict)
		return u->seen < op->call;
	return (u->last != ON_NONE && on_before(&o->ops[u->last], op)) ||
	       (u->remove != ON_NONE && on_before(&o->ops[u->remove], op));
}

/*
 * Choose the use to which an operation belongs, in the cluster that begins with the use @first.
 * *n becomes the number of uses in the cluster.  Return: the use, or ON_NONE if none fits.
 */
static uint32_t choose(const struct kl_online *o, const struct uses *s, uint32_t first,
		       const struct on_op *op, unsigned int *n)
{
	const enum on_kind kind = op->kind;
	uint32_t i, found = ON_NONE;

	for (i = first, *n = 0; i != ON_NONE; i = s->u[i].same, ++*n) {
		const struct use *u = &s->u[i];
		const bool fits = kind == ON_REMOVE ? u->remove == ON_NONE :
				  !removed_by(o, s, u, op->call) &&
				  (kind == ON_PEEK ||
				   (u->add == ON_NONE && u->first_ret == NEVER &&
				    !seen_by(o, s, u, op)));

		/* The oldest use is the last in the list, the newest is the first. */
		if (fits && (found == ON_NONE || !s->lifo || kind == ON_ADD))
			found = i;
	}
	return found;
}

int uses_announce(struct kl_online *o, struct uses *s, uint32_t i)
{
	struct on_op *op = on_op(o, i);
	uint32_t first, at = ON_NONE;
	struct use *u;
	unsigned int n;
	size_t slot;
	int ret;

	if (op->old && op->kind != ON_EMPTY && op->kind != ON_NOTHING)
		s->bad++;
	if (op->kind == ON_OTHER && s->begin != ON_LOST) {
		snprintf(o->reason, sizeof(o->reason), "%s",
			 "an operation has an unknown value, or is not one of a container");
		return -EDQUOT;
	}
	if (op->kind > ON_PEEK)
		return 0;
	ret = on_words_room(&s->words, s->u, sizeof(*s->u));
	if (ret)
		return ret;
	slot = find(s, op->word);
	first = s->words.at[slot] ? s->words.at[slot] - 1 : ON_NONE;
	at = choose(o, s, first, op, &n);
	if (at == ON_NONE) {
		if (n >= CLUSTER) {
			snprintf(o->reason, sizeof(o->reason), "%s",
				 "too many overlapping additions or removals of one value");
			return -EDQUOT;
		}
		ret = new_use(s, op->word, &at);
		if (ret)
			return ret;
		use(s, at)->same = first;
		if (first != ON_NONE)
			use(s, at)->crowd = use(s, first)->crowd = true;
		s->words.n += first == ON_NONE;
		s->words.at[slot] = at + 1;
	}
	u = use(s, at);
	if (op->kind == ON_ADD)
		set(o, &u->add, i);
	else if (op->kind == ON_REMOVE)
		set(o, &u->remove, i);
	set(o, &u->last, i);
	if (op->kind != ON_ADD && end_of(o, s, op) < u->seen)
		u->seen = end_of(o, s, op);
	u->opens++;
	if (s->strict)
		op->value2 = at;
	else
		op->value = at;
	return 0;
}

int uses_call(struct kl_online *o, struct uses *s, uint32_t i)
{
	struct on_op *op = on_op(o, i);
	struct use *u;
	int ret;

	s->ev++;
	s->returning = ON_NONE;
	switch (op->kind) {
	case ON_EMPTY:
		ret = kl_grow(s->empties, s->cempties, s->nempties + 1);
		if (ret)
			return ret;
		s->empties[s->nempties++] = (struct open_empty){ .call = s->ev, .op = i };
		return 0;
	case ON_WILD:
		ret = kl_grow(s->wild, s->cwild, s->nwild + 1);
		if (ret)
			return ret;
		op->refs++;
		s->wild[s->nwild++] = i;
		s->bad++;
		return 0;
	case ON_OTHER:
		s->bad++;
		return 0;
	case ON_NOTHING:
		return 0;
	default:
		break;
	}
	u = use(s, use_of(s, op));
	if (op->kind == ON_ADD)
		u->call = s->ev;
	else
		s->bad++;
	return 0;
}

void uses_return(struct kl_online *o, struct uses *s, uint32_t i)
{
	const struct on_op *op = on_op(o, i);
	struct use *u;

	s->ev++;
	s->returning = i;
	if (op->kind > ON_PEEK)
		return;
	u = use(s, use_of(s, op));
	u->opens--;
	if (u->first_ret == NEVER)
		u->first_ret = s->ev;
	if (op->kind != ON_ADD && u->first_seen_ret == NEVER) {
		u->first_seen_ret = s->ev;
		set(o, &u->see, i);
	}
	if (op->kind == ON_REMOVE) {
		u->removed = true;
		s->odd += u->opens > 0;
	} else if (u->removed && !u->opens && !--s->odd) {
		s->last_bad = s->ev;
	}
}

/* Free the dead uses that were gone before any open operation that found the container empty. */
static void bury(struct kl_online *o, struct uses *s)
{
	uint64_t since = NEVER;
	size_t i;

	for (i = 0; i < s->nempties; i++)
		if (s->empties[i].call < since)
			since = s->empties[i].call;
	for (; s->bury < s->ndead && use(s, s->dead[s->bury])->last_call <= since; s->bury++)
		free_use(o, s, s->dead[s->bury]);
	if (s->bury < s->ndead && s->bury < s->ndead / 2)
		return;
	memmove(s->dead, s->dead + s->bury, (s->ndead - s->bury) * sizeof(*s->dead));
	s->ndead -= s->bury;
	s->bury = 0;
}

static int forget(struct kl_online *o, struct uses *s, uint32_t i)
{
	int ret;

	if (!s->nempties) {
		free_use(o, s, i);
		return 0;
	}
	ret = kl_grow(s->dead, s->cdead, s->ndead + 1);
	if (!ret)
		s->dead[s->ndead++] = i;
	return ret;
}

/* Mark the operations of a use in a cluster: a guess assigned them, so alone they prove nothing. */
static void mark_crowd(struct kl_online *o, const struct use *u)
{
	const uint32_t ops[] = { u->add, u->remove, u->see, u->last };
	unsigned int k;

	for (k = 0; k < sizeof(ops) / sizeof(*ops); k++)
		if (ops[k] != ON_NONE)
			on_op(o, ops[k])->crowd = true;
}

/*
 * If the whole cluster is over, forget it.  A use that a guess gave to a pending removal stays: if
 * the guess is wrong, later operations may belong to it.
 */
static int close_cluster(struct kl_online *o, struct uses *s, uint64_t word)
{
	const size_t at = find(s, word);
	const uint32_t first = s->words.at[at] - 1;
	uint32_t i, next, kept = ON_NONE;
	int ret = 0;

	for (i = first; i != ON_NONE; i = use(s, i)->same)
		if (use(s, i)->opens || !use(s, i)->removed)
			return 0;
	for (i = first; i != ON_NONE && !ret; i = next) {
		next = use(s, i)->same;
		if (use(s, i)->crowd)
			mark_crowd(o, use(s, i));
		if (!use(s, i)->given) {
			ret = forget(o, s, i);
			continue;
		}
		use(s, i)->same = kept;
		kept = i;
	}
	if (kept == ON_NONE)
		unlink_word(s, at);
	else
		s->words.at[at] = kept + 1;
	return ret;
}

int uses_returned(struct kl_online *o, struct uses *s, uint32_t i)
{
	const struct on_op *op = on_op(o, i);
	const struct use *u;

	if ((op->kind == ON_OTHER || op->kind == ON_REMOVE || op->kind == ON_PEEK ||
	     (op->kind == ON_ADD && op->old)) && !--s->bad)
		s->last_bad = s->ev;
	if (op->kind == ON_EMPTY && s->ndead)
		bury(o, s);
	if (op->kind > ON_PEEK)
		return 0;
	u = use(s, use_of(s, op));
	return u->removed && !u->opens ? close_cluster(o, s, u->word) : 0;
}

void uses_enter(struct kl_online *o, struct uses *s, uint32_t i)
{
	struct use *u = use(s, i);
	const uint32_t prev = u->first_ret ? s->tail : ON_NONE,
		       next = u->first_ret ? ON_NONE : s->head;

	/* The list is by first_ret.  That of @u is 0 or the last event, so @u goes to an end. */
	u->prev = prev;
	u->next = next;
	if (prev == ON_NONE)
		s->head = i;
	else
		use(s, prev)->next = i;
	if (next == ON_NONE)
		s->tail = i;
	else
		use(s, next)->prev = i;
	u->inside = true;
	if (!s->ninside++ && u->first_ret)
		s->empty = s->ev - 1;
	o->inside += !s->strict;
}

void uses_leave(struct kl_online *o, struct uses *s, uint32_t i)
{
	struct use *u = use(s, i);

	if (u->prev == ON_NONE)
		s->head = u->next;
	else
		use(s, u->prev)->next = u->next;
	if (u->next == ON_NONE)
		s->tail = u->prev;
	else
		use(s, u->next)->prev = u->prev;
	u->inside = false;
	s->ninside--;
	o->inside -= !s->strict;
}

uint64_t uses_empty(struct uses *s, uint32_t op)
{
	uint64_t call;
	size_t i;

	for (i = 0; i < s->nempties && s->empties[i].op != op; i++)
		;
	if (i == s->nempties)
		return NEVER;
	call = s->empties[i].call;
	s->empties[i] = s->empties[--s->nempties];
	return call;
}

bool uses_clean(const struct uses *s, uint64_t call)
{
	return !s->bad && !s->odd && call > s->last_bad;
}

/* Uses that were added before @call were removed by operations that were not seen. */
int uses_known(struct kl_online *o, struct uses *s, uint64_t call)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		const struct use *u = use(s, i);
		const size_t at = u->linked ? find(s, u->word) : 0;

		if (!u->linked || u->opens || u->first_ret == NEVER || u->first_ret > call ||
		    !s->words.at[at] || s->words.at[at] - 1 != i || u->same != ON_NONE)
			continue;
		unlink_word(s, at);
		free_use(o, s, i);
	}
	s->begin = ON_FRESH;
	return 0;
}

uint32_t uses_give(struct uses *s, uint32_t i)
{
	struct use *u = use(s, i);

	if (u->remove != ON_NONE || s->given == s->nwild)
		return ON_NONE;
	u->given = true;
	return s->wild[s->given++];
}
