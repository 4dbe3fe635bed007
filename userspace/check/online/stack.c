// SPDX-License-Identifier: GPL-2.0
/* The monitor of stacks, see stack.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/online/stack.h"

static void *stack_new(struct kl_online *o, bool strict, int begin)
{
	struct stack *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	uses_init(&st->s, strict, begin);
	st->s.lifo = true;
	st->first = NEVER;
	st->head = st->tail = st->free_mark = ON_NONE;
	return st;
}

static void stack_free(struct kl_online *o, void *mon)
{
	struct stack *st = mon;

	level_forget_all(o, st);
	uses_free(o, &st->s);
	free(st->l);
	free(st->dying);
	free(st->open);
	free(st->marks);
	free(st->above);
	free(st->wild_call);
	free(st);
}

static int stack_announce(struct kl_online *o, void *mon, uint32_t op)
{
	struct stack *st = mon;
	struct uses *s = &st->s;
	int ret = uses_announce(o, s, op);
	uint32_t at;

	if (ret || on_op(o, op)->kind > ON_PEEK)
		return ret;
	ret = kl_grow(st->l, st->cl, s->n);
	for (; !ret && st->nl < s->n; st->nl++)
		st->l[st->nl] = (struct level){ .marks = ON_NONE };
	/* A new use may have the index of a freed one that a pending removal took: forget that. */
	at = use_of(s, on_op(o, op));
	if (!ret && use(s, at)->opens == 1 && use(s, at)->first_ret == NEVER &&
	    st->l[at].state != LEVEL_NONE)
		level_forget(o, st, at);
	return ret;
}

static int wrong(struct kl_online *o, struct stack *st, const char *what, uint64_t v, uint64_t w)
{
	if (st->s.begin == ON_LOST)
		return 0;
	snprintf(o->reason, sizeof(o->reason), what, v, w);
	return 1;
}

/* The value @i is from before the start: check that the stack was not found empty since. */
static int was_there(struct kl_online *o, struct stack *st, uint32_t i)
{
	core_start(&st->s);
	return st->first >= st->s.ev ? 0 :
	       wrong(o, st, "%" PRIu64 " was inside before the container was found "
				       "empty", use(&st->s, i)->word,
		     0);
}

/* The last operation of the value @i has been called. */
static int leave(struct kl_online *o, struct stack *st, uint32_t i)
{
	struct uses *s = &st->s;
	struct use *u = use(s, i);
	int ret;

	u->last_call = s->ev;
	if (u->inside)
		uses_leave(o, s, i);
	core_start(s);
	if (u->removed) {
		ret = core_word(s, i);
		return ret ? ret : wrong(o, st, "%" PRIu64 " was seen after it was removed",
					 u->word, 0);
	}
	if (st->l[i].state == LEVEL_ALIVE)
		return level_leave(st, i, u->first_ret, s->ev, s->ev);
	if (u->add != ON_NONE || s->begin != ON_ANY || st->l[i].state != LEVEL_NONE)
		return 0;
	/* The value is from before the start, and was inside until now. */
	if (s->ninside)
		s->empty = 0;
	ret = level_leave(st, i, 0, s->ev, s->ev);
	return ret ? ret : was_there(o, st, i);
}

static int stack_call(struct kl_online *o, void *mon, uint32_t i)
{
	struct stack *st = mon;
	struct uses *s = &st->s;
	int ret = uses_call(o, s, i);
	const struct on_op *op = on_op(o, i);
	const struct use *u;
	uint32_t at;
	size_t k;

	if (!ret && op->kind == ON_WILD) {
		ret = kl_grow(st->wild_call, st->cwild_call, s->nwild);
		if (!ret)
			st->wild_call[s->nwild - 1] = s->ev;
	}
	if (ret || op->kind > ON_PEEK)
		return ret;
	at = use_of(s, op);
	u = use(s, at);
	st->l[at].last = s->ev;
	if (op->kind == ON_ADD)
		for (k = 0; k < st->nopen; k++)
			if (st->open[k].use == at)
				st->open[k].call = st->open[k].at = s->ev;
	if (op->kind != ON_REMOVE) {
		ret = kl_grow(st->open, st->copen, st->nopen + 1);
		if (ret)
			return ret;
		st->open[st->nopen++] = (struct open_op){
			.call = s->ev, .at = s->ev, .op = i, .use = at, .add = op->kind == ON_ADD,
		};
	}
	return u->remove != ON_NONE && u->last == i ? leave(o, st, at) : 0;
}

/* The first operation of a value returns: the value is certainly inside from now on. */
static int enter(struct kl_online *o, struct stack *st, uint32_t i)
{
	struct uses *s = &st->s;
	struct use *u = use(s, i);
	int ret = 0, fault = 0;
	size_t k;

	/* A value that need not be inside in any slot does not matter. */
	if (use_over(u))
		return 0;
	if (!u->call) {
		if (s->begin != ON_ANY)
			return 0;
		/* The value is from before the start, and is still inside. */
		u->first_ret = 0;
		s->empty = 0;
		fault = was_there(o, st, i);
	}
	uses_enter(o, s, i);
	if (s->begin == ON_LOST)
		return 0;
	level_enter(st, i);
	for (k = 0; k < st->nopen && !ret; k++)
		if (st->open[k].add && st->open[k].use == i)
			ret = level_mark(o, st, i, st->open[k].call, st->open[k].at, s->ev);
	return ret ? ret : fault;
}

/* The value @i is first seen: check that it is from before the start or was added. */
static int sight(struct kl_online *o, struct stack *st, uint32_t i)
{
	struct uses *s = &st->s;
	const struct use *u = use(s, i);
	int ret;

	if ((u->call || s->begin != ON_FRESH) && !uses_doubted(s, i))
		return 0;
	core_start(s);
	ret = core_word(s, i);
	return ret ? ret : wrong(o, st, "%" PRIu64 " was seen, but was not added before, or not as "
						   "often", u->word, 0);
}

/*
 * The removal of the value @i returns.  The value leaves even if something is wrong.  @fault: 1 if
 * something already was.  Return: 0, 1 if something is wrong, -ENOMEM.
 */
static int removed(struct kl_online *o, struct stack *st, uint32_t i, int fault)
{
	const struct dying *d = st->l[i].state == LEVEL_DYING ? level_dying(st, i) : NULL;
	int ret;

	if (!d) {
		level_forget(o, st, i);
		return fault;
	}
	if (!fault)
		fault = above_check(o, st, i, d->last_call, d->at,
				    "%" PRIu64 " was removed while %" PRIu64 " was on top of it");
	ret = level_die(o, st, level_dying(st, i));
	return ret ? ret : fault;
}

/* A peek at a value returns. */
static int seen(struct kl_online *o, struct stack *st, uint32_t i, const struct open_op *op)
{
	int ret;

	if (st->l[i].state != LEVEL_ALIVE && st->l[i].state != LEVEL_DYING)
		return 0;
	ret = above_check(o, st, i, op->call, op->at, "%" PRIu64 " was seen while %" PRIu64
			  " was on top of it");
	return ret ? ret : level_mark(o, st, i, op->call, op->at, st->s.ev);
}

/* The stack was empty at @call, so its values are those that were added since. */
static int known(struct kl_online *o, struct stack *st, uint64_t call)
{
	struct uses *s = &st->s;
	uint32_t i;
	int ret;

	level_forget_all(o, st);
	ret = uses_known(o, s, call);
	for (i = 0; i < s->n && !ret; i++) {
		const struct use *u = use(s, i);

		if (!u->linked || !u->call || u->first_ret == NEVER || u->removed ||
		    u->last_call <= u->first_ret)
			continue;
		level_enter(st, i);
		ret = level_mark(o, st, i, u->call, u->call, u->first_ret);
		if (!ret && use_over(u))
			ret = level_leave(st, i, u->first_ret, u->last_call, u->last_call);
	}
	return ret;
}

static int found_empty(struct kl_online *o, struct stack *st, uint32_t i)
{
	struct uses *s = &st->s;
	const uint64_t call = uses_empty(s, i);
	int ret;

	if (call == NEVER)
		return 0;
	while (s->begin != ON_LOST && s->ninside && s->empty < call) {
		ret = above_give(o, st, s->tail);
		if (ret < 0)
			return ret;
		if (ret)
			continue;
		core_start(s);
		ret = core_op(s, i) ?: core_since(s, call);
		return ret ? ret : wrong(o, st, "it was found empty, but was not empty at any time "
						"of the operation", 0, 0);
	}
	if (s->ev < st->first)
		st->first = s->ev;
	/* A counterexample begins in the spec's first state, so that must be the empty one. */
	if (s->begin == ON_FRESH || !o->c.init || !uses_clean(s, call))
		return 0;
	return known(o, st, call);
}

/* An operation on a value returns. */
static int value_ret(struct kl_online *o, struct stack *st, uint32_t i)
{
	struct uses *s = &st->s;
	const struct on_op *op = on_op(o, i);
	const uint32_t at = use_of(s, op);
	struct open_op *open = NULL;
	int ret = 0;
	size_t k;

	if (op->kind != ON_ADD && use(s, at)->first_seen_ret == s->ev)
		ret = sight(o, st, at);
	if (!ret && use(s, at)->first_ret == s->ev)
		ret = enter(o, st, at);
	if (ret < 0)
		return ret;
	if (op->kind == ON_REMOVE)
		return removed(o, st, at, ret);
	for (k = 0; k < st->nopen && !open; k++)
		if (st->open[k].op == i)
			open = &st->open[k];
	if (!open)
		return ret;
	if (!ret && op->kind == ON_PEEK)
		ret = seen(o, st, at, open);
	*open = st->open[--st->nopen];
	return ret;
}

static int stack_ret(struct kl_online *o, void *mon, uint32_t i)
{
	struct stack *st = mon;
	const enum on_kind kind = on_op(o, i)->kind;
	int ret = 0;

	uses_return(o, &st->s, i);
	if (kind == ON_EMPTY)
		ret = found_empty(o, st, i);
	else if (kind <= ON_PEEK)
		ret = value_ret(o, st, i);
	return ret ? ret : uses_returned(o, &st->s, i);
}

static int stack_core(struct kl_online *o, void *mon, const uint32_t **ops, size_t *n)
{
	return uses_core(o, &((struct stack *)mon)->s, ops, n);
}

static int stack_doubt(struct kl_online *o, void *mon)
{
	return uses_doubt(o, &((struct stack *)mon)->s);
}

const struct on_monitor on_stack = {
	.new = stack_new, .free = stack_free, .announce = stack_announce, .call = stack_call,
	.ret = stack_ret, .core = stack_core, .doubt = stack_doubt,
};
