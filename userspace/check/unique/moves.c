// SPDX-License-Identifier: GPL-2.0
/* The steps that let an operation take effect, see ends.h. */
#include "base/hash.h"
#include "check/unique/state.h"

#define TRIES	500	/* steps to let one operation return, where none is known to help, */
#define DEEP	24	/* so many of them in a row */

static bool try_step(struct ends_state *s, uint32_t item)
{
	s->tries++;
	if (!ends_may(s, item))
		return false;
	ends_take_effect(s, item);
	ends_settle(s);
	return true;
}

static bool is_push(const struct ends_state *s, uint32_t item)
{
	return s->o.op[item].kind == ENDS_PUSH || s->o.op[item].kind == ENDS_MAYBE;
}

/* @left steps, and what follows by itself, so that @goal takes effect with the last. */
static bool reach(struct ends_state *s, uint32_t goal, uint32_t left)
{
	const uint32_t before = s->nsteps;
	uint32_t ring, first, i;
	bool last;

	if (s->done[goal] || !left)
		return s->done[goal] && !left;
	/* What pops may follow by itself. */
	last = left == 1 && is_push(s, goal);
	for (ring = ENDS_CHANGERS; ring <= ENDS_NEVER_RETURN; ring++) {
		first = s->o.p->nitems + ring;
		for (i = s->next[first]; i != first && s->tries < TRIES; i = s->next[i]) {
			if ((last && i != goal) || !try_step(s, i))
				continue;
			if (reach(s, goal, left - 1))
				return true;
			ends_undo(s, before);
		}
	}
	return false;
}

static bool is_open(const struct ends_state *s, uint32_t item)
{
	return item != ENDS_NONE && !s->done[item] && s->o.p->items[item].call_ev < s->now &&
	       s->o.p->items[item].ret_ev >= s->now;
}

/* What pops a value at an end, if that is open. */
static uint32_t room_at(const struct ends_state *s, bool back)
{
	const uint32_t pop = ends_size(s) ? s->o.v[ends_at_end(s, back)].pop : ENDS_NONE;

	return is_open(s, pop) ? pop : ENDS_NONE;
}

/* What certainly has to take effect before a push can, or may help; or ENDS_NONE. */
static uint32_t push_needs(const struct ends_state *s, uint32_t item)
{
	const struct ends_op *op = &s->o.op[item];
	const struct ends_value *v = &s->o.v[op->value];
	uint32_t value, front;

	if (ends_size(s) >= s->o.capacity || !ends_leaves_in_turn(s, v, op->back)) {
		front = room_at(s, false);
		return front == ENDS_NONE ? room_at(s, true) : front;
	}
	value = ends_against_inside(s, v, op->back);
	return value != ENDS_NONE ? s->o.v[value].pop : ends_against_open(s, item, v);
}

static uint32_t needs(const struct ends_state *s, uint32_t item)
{
	const struct ends_op *op = &s->o.op[item];

	if (is_push(s, item))
		return push_needs(s, item);
	if (op->kind == ENDS_EMPTY)
		return room_at(s, false) == ENDS_NONE ? room_at(s, true) : room_at(s, false);
	if (op->kind == ENDS_HIDDEN)
		return room_at(s, op->back);
	if (op->kind != ENDS_POP && op->kind != ENDS_LOOK)
		return ENDS_NONE;
	if (s->o.v[op->value].push != ENDS_NONE && !s->done[s->o.v[op->value].push])
		return s->o.v[op->value].push;
	return room_at(s, op->back);
}

/* Had the value @w better be pushed before @v at that end, the more the greater?  0: no. */
static uint32_t before(const struct ends_state *s, const struct ends_value *w,
		       const struct ends_value *v, uint8_t end)
{
	if (v->leaves == ENDS_STAYS || w->lo >= s->o.p->items[v->pop].ret_ev)
		return 0;
	/* What leaves at the other end follows it there; what leaves at this one is on top. */
	if (v->leaves != end)
		return w->leaves == v->leaves && w->rank < v->rank ? ENDS_NONE - w->rank : 0;
	if (w->leaves == ENDS_STAYS)
		return w->hi;
	return w->leaves == end && w->hi > v->hi &&
	       s->o.p->items[w->pop].ret_ev > s->o.p->items[v->pop].ret_ev ? w->hi : 0;
}

/* A push at the same end that had better be first, or ENDS_NONE. */
static uint32_t better_first(const struct ends_state *s, uint32_t goal)
{
	const struct ends_op *op = &s->o.op[goal], *o;
	const uint32_t ring = s->o.p->nitems + ENDS_CHANGERS;
	const uint8_t end = op->back ? ENDS_BACK : ENDS_FRONT;
	uint32_t i, much, most = 0, best = ENDS_NONE;

	if (op->kind != ENDS_PUSH)
		return ENDS_NONE;
	for (i = s->next[ring]; i != ring; i = s->next[i]) {
		o = &s->o.op[i];
		if (i == goal || o->kind != ENDS_PUSH || s->done[i] || o->back != op->back)
			continue;
		much = before(s, &s->o.v[o->value], &s->o.v[op->value], end);
		if (much > most && (ends_size(s) >= s->o.capacity || ends_may(s, i))) {
			most = much;
			best = i;
		}
	}
	return most && ends_size(s) >= s->o.capacity ? room_at(s, !op->back) : best;
}

/* Do what it needs, and what that needs, then it. */
static bool achieve(struct ends_state *s, uint32_t goal, uint32_t depth)
{
	uint32_t n, need;

	for (n = 0; n < DEEP && !s->done[goal]; n++) {
		need = s->orderly ? better_first(s, goal) : ENDS_NONE;
		if (need != ENDS_NONE && try_step(s, need))
			continue;
		if (try_step(s, goal))
			return true;
		need = depth < DEEP ? needs(s, goal) : ENDS_NONE;
		if (!is_open(s, need) || need == goal || !achieve(s, need, depth + 1))
			return false;
	}
	return s->done[goal];
}

/*
 * Something waits to find it full, or empty, and the next step leads away from that: how
 * many steps would bring it about?  0: that is not so, or they are not there.
 */
static uint32_t steps_to(const struct ends_state *s, uint32_t reader, bool push)
{
	const uint8_t kind = s->o.op[reader].kind;
	const uint64_t need = kind == ENDS_FULL && !push ? s->o.capacity - ends_size(s) :
			      kind == ENDS_EMPTY && push ? ends_size(s) : 0;
	const uint32_t ring = s->o.p->nitems + ENDS_CHANGERS;
	uint32_t i, n = 0;

	for (i = s->next[ring]; need && i != ring && n < need; i = s->next[i])
		n += !s->done[i] && is_push(s, i) == !push;
	return n == need ? n : 0;
}

/* Find it full, or empty, first. */
static void detour(struct ends_state *s, uint32_t goal)
{
	const uint32_t first = s->o.p->nitems + ENDS_READERS;
	const bool pushes = is_push(s, goal);
	uint32_t i, need;

	if (!ends_changes(s->o.op[goal].kind))
		return;
	for (i = s->next[first]; i != first; i = s->next[i]) {
		need = s->done[i] ? 0 : steps_to(s, i, pushes);
		if (need && need <= DEEP && reach(s, i, need))
			return;
	}
}

/* A push of which nobody knows has none to make where it is full: fill it first. */
static void fill(struct ends_state *s, uint32_t goal)
{
	const uint64_t room = s->o.capacity - ends_size(s);

	if (s->o.op[goal].kind == ENDS_MAYBE && !s->done[goal] && room < DEEP)
		reach(s, goal, room + 1);
}

/* Some steps by chance. */
static void stray(struct ends_state *s)
{
	const uint32_t first = s->o.p->nitems + ENDS_CHANGERS;
	uint32_t i;

	for (i = s->next[first]; i != first; i = s->next[i])
		if (kl_rand(&s->seed) & 1)
			try_step(s, i);
}

bool ends_go_on(struct ends_state *s, uint32_t goal)
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
		ends_undo(s, before);
		fill(s, goal);
	}
	return s->done[goal];
}
