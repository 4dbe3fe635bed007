// SPDX-License-Identifier: GPL-2.0
/* The steps that let an operation take effect, see unique.h. */
#include "base/hash.h"
#include "check/unique/state.h"

#define TRIES	500	/* steps that are tried for one return, if none is known to help */
#define DEEP	24	/* steps of such a try in a row */

static bool try_step(struct unique_state *s, uint32_t item)
{
	s->tries++;
	if (!unique_may(s, item))
		return false;
	unique_take_effect(s, item);
	unique_settle(s);
	return true;
}

static bool is_push(const struct unique_state *s, uint32_t item)
{
	return s->o.op[item].kind == UNIQUE_PUSH || s->o.op[item].kind == UNIQUE_MAYBE;
}

/*
 * Find @left steps, each followed by unique_settle(), so that @goal takes effect with the last one.
 * Return: false if there are none.
 */
static bool reach(struct unique_state *s, uint32_t goal, uint32_t left)
{
	const uint32_t before = s->nsteps;
	uint32_t ring, first, i;
	bool last;

	if (s->done[goal] || !left)
		return s->done[goal] && !left;
	/*
	 * If @goal is a pop, the last step may be another operation, and unique_settle() does
	 * @goal.
	 */
	last = left == 1 && is_push(s, goal);
	for (ring = UNIQUE_CHANGERS; ring <= UNIQUE_NEVER_RETURN; ring++) {
		first = s->o.p->nitems + ring;
		for (i = s->next[first]; i != first && s->tries < TRIES; i = s->next[i]) {
			if ((last && i != goal) || !try_step(s, i))
				continue;
			if (reach(s, goal, left - 1))
				return true;
			unique_undo(s, before);
		}
	}
	return false;
}

static bool is_open(const struct unique_state *s, uint32_t item)
{
	return item != UNIQUE_NONE && !s->done[item] && s->o.p->items[item].call_ev < s->now &&
	       s->o.p->items[item].ret_ev >= s->now;
}

/* Return: the open operation that pops the value at an end, or UNIQUE_NONE. */
static uint32_t room_at(const struct unique_state *s, bool back)
{
	const uint32_t pop = unique_size(s) ? s->o.v[unique_at_end(s, back)].pop : UNIQUE_NONE;

	return is_open(s, pop) ? pop : UNIQUE_NONE;
}

/* Return: an operation that the push @item must wait for, or that may help it; or UNIQUE_NONE. */
static uint32_t push_needs(const struct unique_state *s, uint32_t item)
{
	const struct unique_op *op = &s->o.op[item];
	const struct unique_value *v = &s->o.v[op->value];
	uint32_t value, front;

	if (unique_size(s) >= s->o.capacity || !unique_leaves_in_turn(s, v, op->back)) {
		front = room_at(s, false);
		return front == UNIQUE_NONE ? room_at(s, true) : front;
	}
	value = unique_against_inside(s, v, op->back);
	return value != UNIQUE_NONE ? s->o.v[value].pop : unique_against_open(s, item, v);
}

static uint32_t needs(const struct unique_state *s, uint32_t item)
{
	const struct unique_op *op = &s->o.op[item];

	if (is_push(s, item))
		return push_needs(s, item);
	if (op->kind == UNIQUE_EMPTY)
		return room_at(s, false) == UNIQUE_NONE ? room_at(s, true) : room_at(s, false);
	if (op->kind == UNIQUE_HIDDEN)
		return room_at(s, op->back);
	if (op->kind != UNIQUE_POP && op->kind != UNIQUE_LOOK)
		return UNIQUE_NONE;
	if (s->o.v[op->value].push != UNIQUE_NONE && !s->done[s->o.v[op->value].push])
		return s->o.v[op->value].push;
	return room_at(s, op->back);
}

/* Return: how much better it is to push @w before @v at the end @end; 0 if it is not better. */
static uint32_t before(const struct unique_state *s, const struct unique_value *w,
		       const struct unique_value *v, uint8_t end)
{
	if (v->leaves == UNIQUE_STAYS || w->first_ret >= s->o.p->items[v->pop].ret_ev)
		return 0;
	/*
	 * A value that is pushed before @v leaves before @v at the other end, and after it at @end.
	 */
	if (v->leaves != end)
		return w->leaves == v->leaves && w->rank < v->rank ? UNIQUE_NONE - w->rank : 0;
	if (w->leaves == UNIQUE_STAYS)
		return w->last_call;
	return w->leaves == end && w->last_call > v->last_call &&
	       s->o.p->items[w->pop].ret_ev > s->o.p->items[v->pop].ret_ev ? w->last_call : 0;
}

/*
 * Return: an open push at the same end that should take effect before @goal; if it has no room, a
 * pop that makes room; or UNIQUE_NONE.
 */
static uint32_t better_first(const struct unique_state *s, uint32_t goal)
{
	const struct unique_op *op = &s->o.op[goal], *o;
	const uint32_t ring = s->o.p->nitems + UNIQUE_CHANGERS;
	const uint8_t end = op->back ? UNIQUE_BACK : UNIQUE_FRONT;
	uint32_t i, much, most = 0, best = UNIQUE_NONE;

	if (op->kind != UNIQUE_PUSH)
		return UNIQUE_NONE;
	for (i = s->next[ring]; i != ring; i = s->next[i]) {
		o = &s->o.op[i];
		if (i == goal || o->kind != UNIQUE_PUSH || s->done[i] || o->back != op->back)
			continue;
		much = before(s, &s->o.v[o->value], &s->o.v[op->value], end);
		if (much > most && (unique_size(s) >= s->o.capacity || unique_may(s, i))) {
			most = much;
			best = i;
		}
	}
	return most && unique_size(s) >= s->o.capacity ? room_at(s, !op->back) : best;
}

/* Let @goal take effect, after the operations that it needs, and those that these need. */
static bool achieve(struct unique_state *s, uint32_t goal, uint32_t depth)
{
	uint32_t n, need;

	for (n = 0; n < DEEP && !s->done[goal]; n++) {
		need = s->orderly ? better_first(s, goal) : UNIQUE_NONE;
		if (need != UNIQUE_NONE && try_step(s, need))
			continue;
		if (try_step(s, goal))
			return true;
		need = depth < DEEP ? needs(s, goal) : UNIQUE_NONE;
		if (!is_open(s, need) || need == goal || !achieve(s, need, depth + 1))
			return false;
	}
	return s->done[goal];
}

/*
 * Return: the number of steps after which @reader finds the container full, or empty.  It is 0 if
 * the next step (@push: a push) does not lead away from that, or if too few operations are open.
 */
static uint32_t steps_to(const struct unique_state *s, uint32_t reader, bool push)
{
	const uint8_t kind = s->o.op[reader].kind;
	const uint64_t need = kind == UNIQUE_FULL && !push ? s->o.capacity - unique_size(s) :
			      kind == UNIQUE_EMPTY && push ? unique_size(s) :
							     0;
	const uint32_t ring = s->o.p->nitems + UNIQUE_CHANGERS;
	uint32_t i, n = 0;

	for (i = s->next[ring]; need && i != ring && n < need; i = s->next[i])
		n += !s->done[i] && is_push(s, i) == !push;
	return n == need ? n : 0;
}

/* Let an open operation find the container full, or empty, before @goal leads away from that. */
static void detour(struct unique_state *s, uint32_t goal)
{
	const uint32_t first = s->o.p->nitems + UNIQUE_READERS;
	const bool pushes = is_push(s, goal);
	uint32_t i, need;

	if (!unique_changes(s->o.op[goal].kind))
		return;
	for (i = s->next[first]; i != first; i = s->next[i]) {
		need = s->done[i] ? 0 : steps_to(s, i, pushes);
		if (need && need <= DEEP && reach(s, i, need))
			return;
	}
}

/* Fill the container before @goal, a push with an unknown result, which need not push then. */
static void fill(struct unique_state *s, uint32_t goal)
{
	const uint64_t room = s->o.capacity - unique_size(s);

	if (s->o.op[goal].kind == UNIQUE_MAYBE && !s->done[goal] && room < DEEP)
		reach(s, goal, room + 1);
}

/* Take some random steps. */
static void stray(struct unique_state *s)
{
	const uint32_t first = s->o.p->nitems + UNIQUE_CHANGERS;
	uint32_t i;

	for (i = s->next[first]; i != first; i = s->next[i])
		if (kl_rand(&s->seed) & 1)
			try_step(s, i);
}

bool unique_go_on(struct unique_state *s, uint32_t goal)
{
	const bool lost = s->now < s->lost;
	uint32_t before;

	s->tries = 0;
	if (lost && kl_rand(&s->seed) & 1)
		stray(s);
	s->orderly = !lost || kl_rand(&s->seed) & 1;
	if (!lost || kl_rand(&s->seed) & 1)
		detour(s, goal);
	before = s->nsteps;
	if (!achieve(s, goal, 0)) {
		unique_undo(s, before);
		fill(s, goal);
	}
	return s->done[goal];
}
