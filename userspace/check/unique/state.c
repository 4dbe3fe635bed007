// SPDX-License-Identifier: GPL-2.0
/* The values inside, and operations that may or did take effect; see state.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/unique/state.h"

#define NEAR	8	/* values at an end that a new value is compared with */
#define LOOKS	8	/* looks at a value, around the next one, that are compared */
#define NEWEST	64	/* pushes that a new push is compared with */

static uint32_t ring_of(const struct unique_state *s, uint32_t item)
{
	const uint32_t first = s->o.p->nitems;

	if (!unique_changes(s->o.op[item].kind))
		return first + UNIQUE_READERS;
	return first +
	       (s->o.p->items[item].ret_ev == KL_NO_EVENT ? UNIQUE_NEVER_RETURN : UNIQUE_CHANGERS);
}

/*
 * Return: the event by which @v must be at @end, or UNIQUE_NONE: the first return of its pop there,
 * and of looks there that were called from the event @after on and have not taken effect.
 */
static uint32_t seen_by(const struct unique_state *s, const struct unique_value *v, uint8_t end,
			uint32_t after)
{
	uint32_t seen = v->leaves == end ? s->o.p->items[v->pop].ret_ev : UNIQUE_NONE;
	/* Looks take effect nearly in order. */
	const uint32_t done = v->nlooks - v->looks, from = done < LOOKS ? 0 : done - LOOKS;
	uint32_t i;

	for (i = from; v->looks && i < v->nlooks && i < from + 2 * LOOKS; i++) {
		const uint32_t look = s->o.look[v->look + i];

		if (!s->done[look] && s->o.op[look].back == (end == UNIQUE_BACK) &&
		    s->o.p->items[look].call_ev >= after && s->o.p->items[look].ret_ev < seen)
			seen = s->o.p->items[look].ret_ev;
	}
	return seen;
}

/* Return: true if @out and @in can be inside together, with @out nearer to @end from @since on. */
static bool agree(const struct unique_state *s, const struct unique_value *out,
		  const struct unique_value *in, uint8_t end, uint32_t since)
{
	const uint8_t other = end == UNIQUE_BACK ? UNIQUE_FRONT : UNIQUE_BACK;

	if (out->leaves == other && in->leaves == end)
		return false;
	return seen_by(s, in, end, since) >= out->last_call &&
	       seen_by(s, out, other, 0) >= in->last_call;
}

uint32_t unique_against_inside(const struct unique_state *s, const struct unique_value *v,
			       bool back)
{
	const uint8_t end = back ? UNIQUE_BACK : UNIQUE_FRONT;
	uint32_t i, value;

	for (i = 0; i < NEAR && i < unique_size(s); i++) {
		value = back ? s->deque[s->tail - 1 - i] : s->deque[s->head + i];
		if (!agree(s, v, &s->o.v[value], end, 0))
			return value;
	}
	return UNIQUE_NONE;
}

bool unique_leaves_in_turn(const struct unique_state *s, const struct unique_value *v, bool back)
{
	const uint8_t end = back ? UNIQUE_BACK : UNIQUE_FRONT,
		      other = back ? UNIQUE_FRONT : UNIQUE_BACK;

	if (v->leaves == other && s->leaving[end])
		return false;
	return s->o.nwild || ((v->leaves != other || !s->leaving[UNIQUE_STAYS]) &&
			      (v->leaves != UNIQUE_STAYS || !s->leaving[end]));
}

uint32_t unique_against_open(const struct unique_state *s, uint32_t item,
			     const struct unique_value *v)
{
	uint32_t ring, first, i, n;

	for (ring = UNIQUE_CHANGERS; ring <= UNIQUE_NEVER_RETURN; ring++) {
		first = s->o.p->nitems + ring;
		for (i = s->prev[first], n = 0; i != first && n < NEWEST; i = s->prev[i], n++) {
			const struct unique_op *op = &s->o.op[i];
			const struct unique_value *w;

			/* Other operations may have no value. */
			if (i == item || op->kind != UNIQUE_PUSH || s->done[i])
				continue;
			w = &s->o.v[op->value];
			if (w->first_ret < v->last_call &&
			    !agree(s, w, v, op->back ? UNIQUE_BACK : UNIQUE_FRONT, w->first_ret))
				return i;
		}
	}
	return UNIQUE_NONE;
}

static bool preds_done(const struct unique_state *s, uint32_t item)
{
	const struct kl_part *p = s->o.p;
	uint32_t k;

	for (k = p->has_preds ? p->pred_at[item] : 0; p->has_preds && k < p->pred_at[item + 1]; k++)
		if (!s->done[p->pred[k]] && s->o.op[p->pred[k]].kind != UNIQUE_NOTHING)
			return false;
	return true;
}

bool unique_may(const struct unique_state *s, uint32_t item)
{
	const struct unique_op *op = &s->o.op[item];
	const uint32_t value = unique_size(s) ? unique_at_end(s, op->back) : UNIQUE_NONE;

	if (s->done[item] || !preds_done(s, item))
		return false;
	switch (op->kind) {
	case UNIQUE_MAYBE:
		if (unique_size(s) == s->o.capacity)
			return true;
		/* fall through */
	case UNIQUE_PUSH:
		return unique_size(s) < s->o.capacity &&
		       unique_leaves_in_turn(s, &s->o.v[op->value], op->back) &&
		       unique_against_inside(s, &s->o.v[op->value], op->back) == UNIQUE_NONE &&
		       unique_against_open(s, item, &s->o.v[op->value]) == UNIQUE_NONE;
	case UNIQUE_POP:
		return value == op->value && !s->o.v[value].looks;
	case UNIQUE_WILD:
		return value != UNIQUE_NONE && s->o.v[value].leaves == UNIQUE_STAYS &&
		       !s->o.v[value].looks;
	case UNIQUE_HIDDEN:
		return value == UNIQUE_NONE ?
			       !op->some :
			       (s->o.v[value].leaves == UNIQUE_STAYS && !s->o.v[value].looks);
	case UNIQUE_LOOK:
		return value == op->value;
	case UNIQUE_EMPTY:
		return !unique_size(s);
	case UNIQUE_FULL:
		return unique_size(s) == s->o.capacity;
	case UNIQUE_FREE:
		return !op->some || unique_size(s);
	default:
		return true;
	}
}

static void push(struct unique_state *s, uint32_t value, bool back)
{
	s->hash ^= kl_mix(value, back ? s->tail : s->head - 1);
	if (back)
		s->deque[s->tail++] = value;
	else
		s->deque[--s->head] = value;
	s->leaving[s->o.v[value].leaves]++;
}

static uint32_t pop(struct unique_state *s, bool back)
{
	const uint32_t value = back ? s->deque[--s->tail] : s->deque[s->head++];

	s->hash ^= kl_mix(value, back ? s->tail : s->head - 1);
	s->leaving[s->o.v[value].leaves]--;
	return value;
}

static uint64_t done_hash(uint32_t item)
{
	return kl_mix(item, UINT64_MAX);
}

void unique_take_effect(struct unique_state *s, uint32_t item)
{
	struct unique_op *op = &s->o.op[item];

	op->full = op->kind == UNIQUE_MAYBE && unique_size(s) == s->o.capacity;
	if (unique_pushes(op))
		push(s, op->value, op->back);
	else if (op->kind == UNIQUE_MAYBE)
		;
	else if (unique_changes(op->kind))
		op->value = unique_size(s) ? pop(s, op->back) : UNIQUE_NONE;
	else if (op->kind == UNIQUE_LOOK)
		s->o.v[op->value].looks--;
	s->done[item] = 1;
	s->hash ^= done_hash(item);
	s->step[s->nsteps++] = item;
}

void unique_undo(struct unique_state *s, uint32_t nsteps)
{
	while (s->nsteps > nsteps) {
		const uint32_t item = s->step[--s->nsteps];
		const struct unique_op *op = &s->o.op[item];

		if (unique_pushes(op))
			pop(s, op->back);
		else if (op->kind == UNIQUE_MAYBE)
			;
		else if (unique_changes(op->kind) && op->value != UNIQUE_NONE)
			push(s, op->value, op->back);
		else if (op->kind == UNIQUE_LOOK)
			s->o.v[op->value].looks++;
		s->done[item] = 0;
		s->hash ^= done_hash(item);
	}
}

/*
 * Let operations of a ring take effect that can: those that change nothing, and pops.  But a pop
 * waits unless it returns before the next event at which an operation is open that found the
 * container full.
 */
static void settle_ring(struct unique_state *s, uint32_t ring)
{
	const uint32_t first = s->o.p->nitems + ring;
	uint32_t i;

	for (i = s->next[first]; i != first; i = s->next[i])
		if ((ring == UNIQUE_READERS || (s->o.op[i].kind == UNIQUE_POP &&
						s->o.p->items[i].ret_ev < s->full_at[s->now])) &&
		    unique_may(s, i))
			unique_take_effect(s, i);
}

/*
 * Operations that change nothing take effect as soon as they can; that is never worse.  So do pops,
 * unless an operation that found the container full may come first.  Later pushes do not need the
 * popped value, and have more room without it.
 */
void unique_settle(struct unique_state *s)
{
	uint32_t before;

	do {
		before = s->nsteps;
		settle_ring(s, UNIQUE_READERS);
		settle_ring(s, UNIQUE_CHANGERS);
	} while (s->nsteps > before);
}

void unique_enter(struct unique_state *s, uint32_t item)
{
	const uint32_t ring = ring_of(s, item);

	s->next[item] = ring;
	s->prev[item] = s->prev[ring];
	s->next[s->prev[ring]] = item;
	s->prev[ring] = item;
}

void unique_leave(struct unique_state *s, uint32_t item)
{
	s->next[s->prev[item]] = s->next[item];
	s->prev[s->next[item]] = s->prev[item];
}

/* Fill s->full_at. */
static int find_full(struct unique_state *s)
{
	const struct kl_part *p = s->o.p;
	uint32_t e = p->nevents, open = 0;

	s->full_at = kl_big_alloc(((size_t)p->nevents + 1) * sizeof(*s->full_at));
	if (!s->full_at)
		return -ENOMEM;
	s->full_at[e] = UNIQUE_NONE;
	while (e--) {
		const bool full = s->o.op[p->events[e].item].kind == UNIQUE_FULL;

		open += full ? (p->events[e].kind == KL_EV_RET) : 0;
		s->full_at[e] = open ? e : s->full_at[e + 1];
		open -= full ? p->events[e].kind == KL_EV_CALL : 0;
	}
	return 0;
}

int unique_state_init(struct unique_state *s)
{
	const size_t n = (size_t)s->o.p->nitems + UNIQUE_RINGS;
	uint32_t i;

	s->deque = kl_big_alloc(2 * n * sizeof(*s->deque));
	s->done = calloc(n, 1);
	s->step = kl_big_alloc(n * sizeof(*s->step));
	s->next = kl_big_alloc(n * sizeof(*s->next));
	s->prev = kl_big_alloc(n * sizeof(*s->prev));
	if (!s->deque || !s->done || !s->step || !s->next || !s->prev)
		return -ENOMEM;
	s->head = s->tail = n;
	for (i = s->o.p->nitems; i < n; i++)
		s->next[i] = s->prev[i] = i;
	return find_full(s);
}

void unique_state_free(struct unique_state *s)
{
	unique_free(&s->o);
	free(s->deque);
	free(s->done);
	free(s->step);
	free(s->next);
	free(s->prev);
	free(s->full_at);
}
