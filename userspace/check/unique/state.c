// SPDX-License-Identifier: GPL-2.0
/* What is inside, what may take effect, and what then has, see state.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/unique/state.h"

#define NEAR	8	/* values at an end that a new one is compared with */
#define LOOKS	8	/* that see a value, around the next one, that are asked */
#define NEWEST	64	/* pushes that a new one is compared with */

static uint32_t ring_of(const struct ends_state *s, uint32_t item)
{
	const uint32_t first = s->o.p->nitems;

	if (!ends_changes(s->o.op[item].kind))
		return first + ENDS_READERS;
	return first + (s->o.p->items[item].ret_ev == KL_NO_EVENT ? ENDS_NEVER_RETURN :
			ENDS_CHANGERS);
}

/* The event by which a value has to be at that end, for what is called after @after. */
static uint32_t seen_by(const struct ends_state *s, const struct ends_value *v, uint8_t end,
			uint32_t after)
{
	uint32_t seen = v->leaves == end ? s->o.p->items[v->pop].ret_ev : ENDS_NONE;
	/* They take effect nearly in order. */
	const uint32_t done = v->nlooks - v->looks, from = done < LOOKS ? 0 : done - LOOKS;
	uint32_t i;

	for (i = from; v->looks && i < v->nlooks && i < from + 2 * LOOKS; i++) {
		const uint32_t look = s->o.look[v->look + i];

		if (!s->done[look] && s->o.op[look].back == (end == ENDS_BACK) &&
		    s->o.p->items[look].call_ev >= after && s->o.p->items[look].ret_ev < seen)
			seen = s->o.p->items[look].ret_ev;
	}
	return seen;
}

/* Can @out, nearer to the end @end since the event @since or before, and @in be inside together? */
static bool agree(const struct ends_state *s, const struct ends_value *out,
		  const struct ends_value *in, uint8_t end, uint32_t since)
{
	const uint8_t other = end == ENDS_BACK ? ENDS_FRONT : ENDS_BACK;

	if (out->leaves == other && in->leaves == end)
		return false;
	return seen_by(s, in, end, since) >= out->hi && seen_by(s, out, other, 0) >= in->hi;
}

uint32_t ends_against_inside(const struct ends_state *s, const struct ends_value *v, bool back)
{
	const uint8_t end = back ? ENDS_BACK : ENDS_FRONT;
	uint32_t i, value;

	for (i = 0; i < NEAR && i < ends_size(s); i++) {
		value = back ? s->deque[s->tail - 1 - i] : s->deque[s->head + i];
		if (!agree(s, v, &s->o.v[value], end, 0))
			return value;
	}
	return ENDS_NONE;
}

bool ends_leaves_in_turn(const struct ends_state *s, const struct ends_value *v, bool back)
{
	const uint8_t end = back ? ENDS_BACK : ENDS_FRONT, other = back ? ENDS_FRONT : ENDS_BACK;

	if (v->leaves == other && s->leaving[end])
		return false;
	return s->o.nwild || ((v->leaves != other || !s->leaving[ENDS_STAYS]) &&
			      (v->leaves != ENDS_STAYS || !s->leaving[end]));
}

uint32_t ends_against_open(const struct ends_state *s, uint32_t item, const struct ends_value *v)
{
	uint32_t ring, first, i, n;

	for (ring = ENDS_CHANGERS; ring <= ENDS_NEVER_RETURN; ring++) {
		first = s->o.p->nitems + ring;
		for (i = s->prev[first], n = 0; i != first && n < NEWEST; i = s->prev[i], n++) {
			const struct ends_op *op = &s->o.op[i];
			const struct ends_value *w;

			/* Others need not have a value. */
			if (i == item || op->kind != ENDS_PUSH || s->done[i])
				continue;
			w = &s->o.v[op->value];
			if (w->lo < v->hi &&
			    !agree(s, w, v, op->back ? ENDS_BACK : ENDS_FRONT, w->lo))
				return i;
		}
	}
	return ENDS_NONE;
}

static bool preds_done(const struct ends_state *s, uint32_t item)
{
	const struct kl_part *p = s->o.p;
	uint32_t k;

	for (k = p->has_preds ? p->pred_at[item] : 0; p->has_preds && k < p->pred_at[item + 1]; k++)
		if (!s->done[p->pred[k]] && s->o.op[p->pred[k]].kind != ENDS_NOTHING)
			return false;
	return true;
}

bool ends_may(const struct ends_state *s, uint32_t item)
{
	const struct ends_op *op = &s->o.op[item];
	const uint32_t value = ends_size(s) ? ends_at_end(s, op->back) : ENDS_NONE;

	if (s->done[item] || !preds_done(s, item))
		return false;
	switch (op->kind) {
	case ENDS_MAYBE:
		if (ends_size(s) == s->o.capacity)
			return true;
		/* fall through */
	case ENDS_PUSH:
		return ends_size(s) < s->o.capacity &&
		       ends_leaves_in_turn(s, &s->o.v[op->value], op->back) &&
		       ends_against_inside(s, &s->o.v[op->value], op->back) == ENDS_NONE &&
		       ends_against_open(s, item, &s->o.v[op->value]) == ENDS_NONE;
	case ENDS_POP:
		return value == op->value && !s->o.v[value].looks;
	case ENDS_WILD:
		return value != ENDS_NONE && s->o.v[value].leaves == ENDS_STAYS &&
		       !s->o.v[value].looks;
	case ENDS_HIDDEN:
		return value == ENDS_NONE ? !op->some : (s->o.v[value].leaves == ENDS_STAYS &&
					      !s->o.v[value].looks);
	case ENDS_LOOK:
		return value == op->value;
	case ENDS_EMPTY:
		return !ends_size(s);
	case ENDS_FULL:
		return ends_size(s) == s->o.capacity;
	case ENDS_FREE:
		return !op->some || ends_size(s);
	default:
		return true;
	}
}

static void push(struct ends_state *s, uint32_t value, bool back)
{
	s->hash ^= kl_mix(value, back ? s->tail : s->head - 1);
	if (back)
		s->deque[s->tail++] = value;
	else
		s->deque[--s->head] = value;
	s->leaving[s->o.v[value].leaves]++;
}

static uint32_t pop(struct ends_state *s, bool back)
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

void ends_take_effect(struct ends_state *s, uint32_t item)
{
	struct ends_op *op = &s->o.op[item];

	op->full = op->kind == ENDS_MAYBE && ends_size(s) == s->o.capacity;
	if (ends_pushes(op))
		push(s, op->value, op->back);
	else if (op->kind == ENDS_MAYBE)
		;
	else if (ends_changes(op->kind))
		op->value = ends_size(s) ? pop(s, op->back) : ENDS_NONE;
	else if (op->kind == ENDS_LOOK)
		s->o.v[op->value].looks--;
	s->done[item] = 1;
	s->hash ^= done_hash(item);
	s->step[s->nsteps++] = item;
}

void ends_undo(struct ends_state *s, uint32_t nsteps)
{
	while (s->nsteps > nsteps) {
		const uint32_t item = s->step[--s->nsteps];
		const struct ends_op *op = &s->o.op[item];

		if (ends_pushes(op))
			pop(s, op->back);
		else if (op->kind == ENDS_MAYBE)
			;
		else if (ends_changes(op->kind) && op->value != ENDS_NONE)
			push(s, op->value, op->back);
		else if (op->kind == ENDS_LOOK)
			s->o.v[op->value].looks++;
		s->done[item] = 0;
		s->hash ^= done_hash(item);
	}
}

/* All of a ring that can, but for what may still help to find it full. */
static void settle_ring(struct ends_state *s, uint32_t ring)
{
	const uint32_t first = s->o.p->nitems + ring;
	uint32_t i;

	for (i = s->next[first]; i != first; i = s->next[i])
		if ((ring == ENDS_READERS || (s->o.op[i].kind == ENDS_POP &&
					 s->o.p->items[i].ret_ev < s->full_at[s->now])) && ends_may(s, i))
			ends_take_effect(s, i);
}

/*
 * What changes nothing takes effect where it can: no order is better without.  So does what
 * pops, unless something that finds it full may take effect before it has to: what is
 * pushed on top of its value in the meantime does as well without it, what is at the other
 * end, too, and there is more room.
 */
void ends_settle(struct ends_state *s)
{
	uint32_t before;

	do {
		before = s->nsteps;
		settle_ring(s, ENDS_READERS);
		settle_ring(s, ENDS_CHANGERS);
	} while (s->nsteps > before);
}

void ends_enter(struct ends_state *s, uint32_t item)
{
	const uint32_t ring = ring_of(s, item);

	s->next[item] = ring;
	s->prev[item] = s->prev[ring];
	s->next[s->prev[ring]] = item;
	s->prev[ring] = item;
}

void ends_leave(struct ends_state *s, uint32_t item)
{
	s->next[s->prev[item]] = s->next[item];
	s->prev[s->next[item]] = s->prev[item];
}

/* When is the next event of an operation under way that found it full? */
static int find_full(struct ends_state *s)
{
	const struct kl_part *p = s->o.p;
	uint32_t e = p->nevents, open = 0;

	s->full_at = kl_big_alloc(((size_t)p->nevents + 1) * sizeof(*s->full_at));
	if (!s->full_at)
		return -ENOMEM;
	s->full_at[e] = ENDS_NONE;
	while (e--) {
		const bool full = s->o.op[p->events[e].item].kind == ENDS_FULL;

		open += full ? (p->events[e].kind == KL_EV_RET) : 0;
		s->full_at[e] = open ? e : s->full_at[e + 1];
		open -= full ? p->events[e].kind == KL_EV_CALL : 0;
	}
	return 0;
}

int ends_state_init(struct ends_state *s)
{
	const size_t n = (size_t)s->o.p->nitems + ENDS_RINGS;
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

void ends_state_free(struct ends_state *s)
{
	ends_free(&s->o);
	free(s->deque);
	free(s->done);
	free(s->step);
	free(s->next);
	free(s->prev);
	free(s->full_at);
}
