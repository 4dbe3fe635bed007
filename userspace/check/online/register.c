// SPDX-License-Identifier: GPL-2.0
/* Registers whose values can be distinguished by time; see register.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/online/register.h"

static const char doubt[] = "a read may have seen the first value or one that was written";

static int decline(struct kl_online *o, const char *why)
{
	snprintf(o->reason, sizeof(o->reason), "%s", why);
	return -EDQUOT;
}

static void *reg_new(struct kl_online *o, bool strict, int begin)
{
	struct reg *r = calloc(1, sizeof(*r));
	uint32_t i;

	if (!r)
		return NULL;
	r->free = r->free_doing = r->head = r->tail = r->over = r->first_read = ON_NONE;
	r->pins[0] = r->pins[1] = r->ends[0] = r->ends[1] = r->ends[2] = ON_NONE;
	r->calling = ON_NONE;
	r->strict = strict;
	r->begin = begin == ON_FRESH && !o->c.init ? ON_ANY : (enum on_begin)begin;
	r->since = r->other = NEVER;
	if (r->begin == ON_FRESH) {
		r->seen_word = o->c.first.v;
		if (o->c.first.tag != KL_WORD || value_new(r, o->c.first.v, &i)) {
			free(r);
			return NULL;
		}
		r->v[i].written = true;
		r->v[i].first_ret = r->v[i].sure = 0;
		value_enter(r, i, &r->head, &r->tail);
	}
	return r;
}

static void reg_free(struct kl_online *o, void *mon)
{
	struct reg *r = mon;
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->v[i].linked)
			value_release(o, &r->v[i]);
	reg_put(o, &r->pins[0]);
	reg_put(o, &r->pins[1]);
	for (i = 0; i < 3; i++)
		reg_put(o, &r->ends[i]);
	reg_put(o, &r->first_read);
	free(r->v);
	free(r->words.at);
	free(r->d);
	free(r);
}

static int begin_op(struct reg *r, struct on_op *op, uint32_t value)
{
	uint32_t i = r->free_doing;
	int ret;

	if (i != ON_NONE) {
		r->free_doing = r->d[i].value;
	} else {
		ret = kl_grow(r->d, r->cdoing, r->ndoing + 1);
		if (ret)
			return ret;
		i = r->ndoing++;
	}
	r->d[i] = (struct doing){ .call = r->ev, .value = value };
	*doing_of(r, op) = i;
	if (value != ON_NONE)
		r->v[value].opens += op->ret != KL_TIME_MAX;
	return 0;
}

/* Enter a write that was open at a gap's end. */
static int old_write(struct kl_online *o, struct reg *r, uint32_t op)
{
	uint32_t i = value_find(r, on_op(o, op)->word);
	int ret = 0;

	if (i != ON_NONE)
		r->v[i].vague = true;
	else
		ret = value_new(r, on_op(o, op)->word, &i);
	if (ret)
		return ret;
	r->v[i].written = true;
	reg_hold(o, &r->v[i].write, op);
	return begin_op(r, on_op(o, op), i);
}

static int reg_announce(struct kl_online *o, void *mon, uint32_t i)
{
	const struct on_op *op = on_op(o, i);

	if (op->old && op->kind == ON_ADD)
		return old_write(o, mon, i);
	return op->kind == ON_ADD || op->kind == ON_PEEK || op->kind == ON_NOTHING ? 0 :
	       decline(o, "an operation is not a plain read or write, or its word is unknown");
}

static int cannot_call(struct kl_online *o, struct reg *r, uint32_t op, const char *why)
{
	r->calling = op;
	return decline(o, why);
}

static int reg_call(struct kl_online *o, void *mon, uint32_t i)
{
	struct reg *r = mon;
	struct on_op *op = on_op(o, i);
	uint32_t at, k;
	int ret = 0;

	r->ev++;
	if (op->kind != ON_ADD && op->kind != ON_PEEK)
		return 0;
	at = value_find(r, op->word);
	for (k = op->kind == ON_ADD ? at : ON_NONE; k != ON_NONE; k = r->v[k].same)
		if (r->v[k].written)
			return cannot_call(o, r, i,
					   "a word was written again while it could still be read");
	if (at == ON_NONE || (op->kind == ON_PEEK && r->v[at].over != NEVER))
		ret = value_new(r, op->word, &at);
	if (!ret && op->kind == ON_ADD) {
		r->v[at].written = true;
		r->v[at].call = r->ev;
		reg_hold(o, &r->v[at].write, i);
	}
	return ret ? ret : begin_op(r, op, at);
}

/* Add an operation, unless it is ON_NONE, to the core. */
static void say(struct reg *r, uint32_t op)
{
	unsigned int k;

	for (k = 0; k < r->ncore && r->core[k] != op; k++)
		;
	if (op != ON_NONE && k == r->ncore)
		r->core[r->ncore++] = op;
}

/* Make the core of @op, a wrong read of @v; @by: it is wrong since @v had ended, see value.by. */
static int wrong(struct kl_online *o, struct reg *r, struct value *v, uint32_t op, bool by,
		 const char *what)
{
	unsigned int k;

	r->ncore = 0;
	say(r, op);
	say(r, r->pins[0]);
	say(r, r->pins[1]);
	for (k = 0; !by && k < 3 && v->word == r->seen_word; k++)
		say(r, r->ends[k]);
	for (k = 0; by && k < 3; k++)
		say(r, v->by[k]);
	if (by) {
		say(r, v->write);
		say(r, v->see);
	}
	snprintf(o->reason, sizeof(o->reason), what, v->word,
		 by && v->by[1] != ON_NONE ? on_op(o, v->by[1])->word : 0);
	return 1;
}

/* Return: true if reads of the value may have read the unknown first word instead. */
static bool doubtful(const struct reg *r, const struct value *v)
{
	return r->first_read == ON_NONE && v->sure != v->first_ret;
}

/* End @v: @w must come after it, since @op, an operation of @w, was called after @v.first_ret. */
static void end(struct kl_online *o, struct reg *r, struct value *v, const struct value *w,
		uint32_t op)
{
	v->over = w->first_ret;
	v->doubt |= doubtful(r, w);
	reg_hold(o, &v->by[0], w->write);
	reg_hold(o, &v->by[1], w->see);
	reg_hold(o, &v->by[2], op);
	if (r->begin == ON_FRESH ? v->write != ON_NONE : v->see != r->pins[0])
		return;
	reg_hold(o, &r->ends[0], w->write);
	reg_hold(o, &r->ends[1], w->see);
	reg_hold(o, &r->ends[2], op);
}

/* Return: true if it matters, at @call, whether early reads of @v or @w read the first word. */
static bool open_doubt(const struct reg *r, const struct value *v, const struct value *w,
		       uint64_t call)
{
	return (doubtful(r, v) && call < v->sure) || (doubtful(r, w) && w->sure == NEVER);
}

/* Raise the last call of the value @i to that of @op, at @call.  Return: 0, or -EDQUOT. */
static int rise(struct kl_online *o, struct reg *r, uint32_t i, uint64_t call, uint32_t op)
{
	struct value *w = &r->v[i], *v;
	uint32_t k, next;

	w->last_call = call;
	reg_hold(o, &w->last, op);
	for (k = r->over; k != ON_NONE; k = v->next) {
		v = &r->v[k];
		if (k == i || v->first_ret > call || w->first_ret >= v->over)
			continue;
		if (open_doubt(r, v, w, call))
			return decline(o, doubt);
		end(o, r, v, w, op);
	}
	for (k = r->head; k != ON_NONE && r->v[k].first_ret < call; k = next) {
		v = &r->v[k];
		next = v->next;
		if (k == i)
			continue;
		if (open_doubt(r, v, w, call))
			return decline(o, doubt);
		value_leave(r, k, &r->head, &r->tail);
		end(o, r, v, w, op);
		if (v->opens)
			value_enter(r, k, &r->over, NULL);
		else
			value_forget(o, r, k);
	}
	return 0;
}

/*
 * The operation @op of the value @i returns, and was called at @call; @early: it may have read the
 * first word instead.  Return: 0, 1 with a core, or -EDQUOT.
 */
static int returned(struct kl_online *o, struct reg *r, uint32_t i, uint64_t call, uint32_t op,
		    bool early)
{
	struct value *v = &r->v[i];

	if (!early && v->sure == NEVER)
		v->sure = r->ev;
	if (v->first_ret == NEVER) {
		v->first_ret = r->ev;
		reg_hold(o, &v->see, op);
		value_enter(r, i, &r->head, &r->tail);
		if (v->call > call) {
			call = v->call;
			op = v->write;
		}
	} else if (call <= v->last_call) {
		return 0;
	}
	if (call > v->over) {
		if (v->doubt && r->first_read == ON_NONE)
			return decline(o, doubt);
		return wrong(o, r, v, op, true, "%" PRIu64 " was read after %" PRIu64
			     " had replaced it");
	}
	return rise(o, r, i, call, op);
}

/*
 * With an unknown first state, the operation @op on @v returns.  Set r->since if no other returned
 * before, and r->other if @op is the first that is a write or shows another word.
 */
static void note(struct kl_online *o, struct reg *r, const struct value *v, uint32_t op)
{
	const bool write = on_op(o, op)->kind == ON_ADD;

	if (r->begin == ON_LOST && (!write || on_op(o, op)->old))
		return;
	if (r->since == NEVER) {
		r->since = r->ev;
		r->seen_word = v->word;
		reg_hold(o, &r->pins[0], op);
		reg_hold(o, &r->pins[1], v->write);
	}
	if (r->other == NEVER && (write || v->word != r->seen_word))
		r->other = r->ev;
}

/* Whether a read saw the unknown first word.  LEFT_OUT: it did, so no order needs it. */
enum first { NO, MAYBE, LEFT_OUT };

/* Find out whether @op, a read of @v that was called at @call, saw the unknown first word. */
static enum first is_first(struct kl_online *o, struct reg *r, struct value *v, uint64_t call,
		    uint32_t op)
{
	if (r->begin == ON_LOST)
		return call < r->since ? LEFT_OUT : NO;
	if (r->first_read != ON_NONE ? v->word == r->first && call < r->since :
	    !v->written && call < r->since) {
		if (r->first_read == ON_NONE) {
			r->first = v->word;
			reg_hold(o, &r->first_read, op);
		}
		return LEFT_OUT;
	}
	return r->first_read == ON_NONE &&
	       call < (v->word == r->seen_word ? r->other : r->since) ? MAYBE : NO;
}

static void drop_doing(struct reg *r, uint32_t at)
{
	r->d[at].value = r->free_doing;
	r->free_doing = at;
}

static int reg_ret(struct kl_online *o, void *mon, uint32_t i)
{
	struct reg *r = mon;
	struct on_op *op = on_op(o, i);
	uint32_t at, value;
	struct value *v;
	enum first first = NO;
	uint64_t call;
	int ret = 0;

	r->ev++;
	if ((op->kind != ON_ADD && op->kind != ON_PEEK) || (op->old && op->kind == ON_PEEK))
		return 0;
	at = *doing_of(r, op);
	call = r->d[at].call;
	value = r->d[at].value;
	drop_doing(r, at);
	v = &r->v[value];
	v->opens--;
	if (v->vague)
		return 0;
	if (op->kind == ON_PEEK && r->begin != ON_FRESH)
		first = is_first(o, r, v, call, i);
	if (first == LEFT_OUT) {
		;
	} else if (!v->written) {
		ret = wrong(o, r, v, i, false, "%" PRIu64 " was read, but was not written before");
		if (r->begin == ON_ANY && r->first_read != ON_NONE && call < r->since)
			say(r, r->first_read);
	} else {
		ret = returned(o, r, value, call, i, first == MAYBE);
		if (r->begin != ON_FRESH && !ret)
			note(o, r, &r->v[value], i);
	}
	v = &r->v[value];
	if (ret || v->opens)
		return ret;
	if (v->over != NEVER) {
		value_leave(r, value, &r->over, NULL);
		value_forget(o, r, value);
	} else if (!v->written) {
		value_forget(o, r, value);
	}
	return 0;
}

static int reg_core(struct kl_online *o, void *mon, const uint32_t **ops, size_t *n)
{
	struct reg *r = mon;

	*ops = r->core;
	*n = r->ncore;
	return 0;
}

static int reg_doubt(struct kl_online *o, void *mon)
{
	return 0;
}

const struct on_monitor on_register = {
	.new = reg_new, .free = reg_free, .announce = reg_announce, .call = reg_call,
	.ret = reg_ret, .core = reg_core, .doubt = reg_doubt,
};
