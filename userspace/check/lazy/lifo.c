// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `lifo': the order of two values in a stack is decided when the upper one leaves.
 *
 * The engine goes through the removals and peeks in order.  Each gets the first place T that its
 * call and its predecessor allow, and the engine chooses the addition x that it sees.  The last
 * place p of x up to T is as good as any.  A value that stays in the stack after T was added before
 * x or after T, so it has no place between p and T.  This is a zone, which is shorter for a later
 * p.  An addition may have the places from its call to its return outside all zones.
 *
 * - x can be seen at T if no unremoved addition has all its places in the zone.
 * - An addition that a peek saw keeps its place p.  Until it is removed, every other value lies
 *   below it or was added after the last peek that saw it.
 * - If the stack is found empty at T, no value that is left has a place before T.
 * - A zone lies within a later zone or beside it: a new zone swallows those that end after its
 *   begin.  So zones are a list with the latest in front.  The additions that are left are a list
 *   with the one that returned last in front, and the additions that peeks saw are a list, too.
 *   Configurations share the tails of these lists.
 * - At the end, additions whose values never left need a place outside all zones.
 * - In an unknown first state there are unknown values at the bottom.  An operation that sees them
 *   sees no addition.  Their top is known once a peek saw it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/engines.h"
#include "check/lazy/lifo.h"

#define NONE	UINT32_MAX

static struct lazy_cell cell_of(const struct lazy *f, uint32_t op)
{
	const struct lazy_op *a = &f->o.side[LAZY_ADDS].op[op];

	return (struct lazy_cell){ .op = op, .first_place = a->call, .last_place = a->ret - 1 };
}

/*
 * Move the additions on to @place.  Those that have returned by then go into R_LIST, and those that
 * are open are left out in the record.
 */
static int go_on(struct lazy *f, uint32_t *r, uint32_t place)
{
	const struct lazy_side *s = &f->o.side[LAZY_ADDS];
	uint32_t *left = lazy_left(f, r, LAZY_ADDS), *next = &r[L_NEXT + LAZY_ADDS], i, n = 0;
	int ret = 0;

	for (i = 0; i < r[L_LEFT + LAZY_ADDS] && !ret; i++) {
		if (s->op[left[i]].ret > place)
			left[n++] = left[i];
		else
			ret = lazy_insert(f, r, cell_of(f, left[i]));
	}
	/* The record has room only for operations that are open together. */
	for (i = n; i < r[L_LEFT + LAZY_ADDS]; i++)
		left[i] = 0;
	for (; *next < s->n && s->op[*next].call <= place && !ret; ++*next) {
		if (s->op[*next].ret > place)
			left[n++] = *next;
		else
			ret = lazy_insert(f, r, cell_of(f, *next));
	}
	r[L_LEFT + LAZY_ADDS] = n;
	r[L_PLACE + LAZY_ADDS] = place;
	return ret;
}

/* Return: the place of the last peek that saw the first addition of R_SEEN; 0: R_SEEN is empty. */
static uint32_t seen_at(const struct lazy *f, const uint32_t *r)
{
	return r[R_SEEN] == LAZY_END ? 0 : lazy_cell(f, r[R_SEEN]).last_place;
}

static void leave_out(const struct lazy *f, uint32_t *r, uint32_t op)
{
	uint32_t *left = lazy_left(f, r, LAZY_ADDS), *n = &r[L_LEFT + LAZY_ADDS], i;

	for (i = 0; left[i] != op; i++)
		;
	memmove(left + i, left + i + 1, (*n - i - 1) * sizeof(*left));
	left[--*n] = 0;
}

/*
 * In f->tmp, let operation @o at @place see the addition @x, whose place is @p.  If no peek saw @x
 * before, @x is in the list R_LIST or is open.
 *
 * Return: 1, 0 if it cannot, or a negative errno.
 */
static int see(struct lazy *f, uint32_t o, uint32_t x, uint32_t p, uint32_t place)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	const struct lazy_op *add = &f->o.side[LAZY_ADDS].op[x];
	const bool seen = f->tmp[R_SEEN] != LAZY_END && lazy_cell(f, f->tmp[R_SEEN]).op == x;
	uint32_t *r = f->tmp;
	int ret = 0;

	if (!lazy_take_effect(f, r, LAZY_TAKES, o, place))
		return 0;
	if (seen)
		r[R_SEEN] = lazy_cell(f, r[R_SEEN]).next;
	else if (add->ret > place)
		leave_out(f, r, x);
	else
		ret = lazy_take_out(f, r, x);
	if (!ret && !op->removes)
		ret = lazy_put_seen(f, r, (struct lazy_cell){
			.op = x, .first_place = p, .last_place = place,
		});
	if (!ret)
		ret = lazy_add_zone(f, r, p, place);
	if (!ret)
		ret = lazy_note(f, r, add->item, p);
	if (!ret)
		ret = lazy_note(f, r, op->item, place);
	return ret ? ret : 1;
}

/* Try one way to go on from f->ahead: at @place, @o sees the addition @x, whose place is @p. */
static int try_one(struct lazy *f, uint32_t o, uint32_t x, uint32_t p, uint32_t place)
{
	int ret = 0;

	memcpy(f->tmp, f->ahead, f->len * sizeof(*f->tmp));
	if (place > f->tmp[L_PLACE + LAZY_ADDS])
		ret = go_on(f, f->tmp, place);
	if (!ret)
		ret = see(f, o, x, p, place);
	return ret > 0 ? lazy_add_kid(f, f->o.side[LAZY_TAKES].op[o].ret) : ret;
}

static bool fits(const struct lazy *f, const struct lazy_op *op, uint32_t x)
{
	return op->value == LAZY_ANYTHING || op->value == f->o.side[LAZY_ADDS].op[x].value;
}

bool lazy_see_bottom(uint32_t *old, const struct lazy_op *op)
{
	if (op->value == LAZY_EMPTY) {
		if (*old >= LAZY_KNOWN)
			return false;
		*old = LAZY_NOTHING;
		return true;
	}
	if (*old == LAZY_NOTHING ||
	    (*old >= LAZY_KNOWN && op->value != LAZY_ANYTHING && *old - LAZY_KNOWN != op->value))
		return false;
	*old = op->removes ? LAZY_UNKNOWN : LAZY_KNOWN + op->value;
	return true;
}

/* Try that no addition is in the stack when @o takes effect. */
static int see_old(struct lazy *f, uint32_t o, uint32_t place)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	int ret;

	memcpy(f->tmp, f->ahead, f->len * sizeof(*f->tmp));
	if (f->tmp[R_LIST] != LAZY_END || f->tmp[R_SEEN] != LAZY_END ||
	    !lazy_see_bottom(&f->tmp[R_OLD], op) ||
	    !lazy_take_effect(f, f->tmp, LAZY_TAKES, o, place))
		return 0;
	ret = lazy_add_zone(f, f->tmp, 0, place);
	if (!ret)
		ret = lazy_note(f, f->tmp, op->item, place);
	return ret ? ret : lazy_add_kid(f, op->ret);
}

/*
 * Return: true if the zone after @p would leave an addition in @list other than @x without a place,
 * since all places of that addition are after @p.
 */
static bool has_to_go(const struct lazy *f, uint32_t list, uint32_t x, uint32_t p)
{
	struct lazy_cell c;

	for (; list != LAZY_END; list = c.next) {
		c = lazy_cell(f, list);
		if (c.last_place <= p)
			break;
		if (c.first_place > p && c.op != x)
			return true;
	}
	return false;
}

/*
 * Return: true if @x need not be tried, because @better has an equal value and a later last place.
 * Seeing @better makes a shorter zone.  Then @x stays, and has all places that @better would have
 * had, except those before the call of @x.  Such a place matters only if another value that stays
 * has its place, or its last place, there.
 */
static bool is_worse(const struct lazy *f, uint32_t list, struct lazy_cell x,
		     struct lazy_cell better)
{
	const uint32_t zones = f->rec[R_ZONES];
	struct lazy_cell c;
	uint32_t p;

	for (; list != LAZY_END && x.first_place > better.first_place; list = c.next) {
		c = lazy_cell(f, list);
		if (c.last_place < better.first_place)
			break;
		p = lazy_last_place(f, zones, c.first_place, c.last_place);
		if (c.op != x.op && c.op != better.op && p >= better.first_place &&
		    p < x.first_place)
			return false;
	}
	for (list = f->rec[R_SEEN]; list != LAZY_END && x.first_place > better.first_place;
	     list = c.next) {
		c = lazy_cell(f, list);
		if (c.first_place >= better.first_place && c.first_place < x.first_place)
			return false;
	}
	return true;
}

/* Try that @o sees an addition in @list, which is R_LIST at @place. */
static int see_listed(struct lazy *f, uint32_t o, uint32_t list, uint32_t place)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	const uint32_t zones = f->rec[R_ZONES], top = list;
	uint32_t lowest = seen_at(f, f->rec), p;
	struct lazy_cell c, best = { .op = NONE };
	int ret = 0;

	for (; list != LAZY_END && !ret; list = c.next) {
		c = lazy_cell(f, list);
		/* The additions that follow have no later places. */
		if (c.last_place < lowest)
			break;
		p = lazy_last_place(f, zones, c.first_place, c.last_place);
		if (p >= lowest && fits(f, op, c.op) && !has_to_go(f, top, c.op, p) &&
		    !(best.op != NONE && is_worse(f, top, c, best))) {
			ret = try_one(f, o, c.op, p, place);
			best = c;
		}
		lowest = lazy_max(lowest, c.first_place);
	}
	return ret;
}

/* Try that @o sees the addition that the last peek saw.  @list is R_LIST at @place. */
static int see_again(struct lazy *f, uint32_t o, uint32_t list, uint32_t place)
{
	const struct lazy_cell c = lazy_cell(f, f->rec[R_SEEN]);

	if (!fits(f, &f->o.side[LAZY_TAKES].op[o], c.op) || has_to_go(f, list, c.op, c.first_place))
		return 0;
	return try_one(f, o, c.op, c.first_place, place);
}

/*
 * Return: true if @x need not be tried, because an equal open addition can change places with it.
 */
static bool has_twin(const struct lazy *f, const uint32_t *open, uint32_t n, uint32_t x)
{
	const struct lazy_op *op = f->o.side[LAZY_ADDS].op, *b = &op[x];
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct lazy_op *a = &op[open[i]];

		if (open[i] != x && a->value == b->value && b->call <= a->call &&
		    (a->must != LAZY_NEVER || b->must == LAZY_NEVER) &&
		    (a->ret < b->ret || (a->ret == b->ret && open[i] < x)))
			return true;
	}
	return false;
}

/*
 * Try that the open addition @x takes effect at @place, and @o sees it there.  If @o is a peek,
 * also try later places before the event @by: additions that are called in between can lie below @x
 * then.
 */
static int see_one(struct lazy *f, uint32_t o, uint32_t x, uint32_t place, uint32_t by)
{
	const struct lazy_side *s = &f->o.side[LAZY_ADDS];
	uint32_t next = f->ahead[L_NEXT + LAZY_ADDS];
	int ret = try_one(f, o, x, place, place);

	if (f->o.side[LAZY_TAKES].op[o].removes)
		return ret;
	by = s->op[x].ret < by ? s->op[x].ret : by;
	for (; next < s->n && s->op[next].call < by && !ret; next++)
		if (s->op[next].call > place)
			ret = try_one(f, o, x, s->op[next].call, s->op[next].call);
	return ret;
}

/* Try that @o sees an addition that is open at @place, or is called before the event @by. */
static int see_open(struct lazy *f, uint32_t o, uint32_t place, uint32_t by)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	const struct lazy_side *s = &f->o.side[LAZY_ADDS];
	const uint32_t *open = lazy_left(f, f->ahead, LAZY_ADDS);
	const uint32_t n = f->ahead[L_LEFT + LAZY_ADDS];
	uint32_t next = f->ahead[L_NEXT + LAZY_ADDS], i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		if (fits(f, op, open[i]) && !has_twin(f, open, n, open[i]))
			ret = see_one(f, o, open[i], place, by);
	for (; next < s->n && s->op[next].call < by && !ret; next++)
		if (fits(f, op, next))
			ret = see_one(f, o, next, s->op[next].call, by);
	return ret;
}

static int expand_one(struct lazy *f, uint32_t o, uint32_t by)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	const uint32_t place = lazy_max(op->call, f->rec[L_PLACE + LAZY_TAKES]);
	const uint32_t *list = &f->ahead[R_LIST];
	int ret;

	if (place >= by)
		return 0;
	memcpy(f->ahead, f->rec, f->len * sizeof(*f->ahead));
	ret = go_on(f, f->ahead, place);
	if (ret)
		return ret;
	if (op->value == LAZY_EMPTY || f->rec[R_OLD] != LAZY_NOTHING) {
		ret = see_old(f, o, place);
		if (ret || op->value == LAZY_EMPTY)
			return ret;
	}
	if (f->rec[R_SEEN] != LAZY_END)
		ret = see_again(f, o, *list, place);
	if (!ret)
		ret = see_listed(f, o, *list, place);
	return ret ? ret : see_open(f, o, place, by);
}

static int expand(struct lazy *f, uint32_t ntakes)
{
	const struct lazy_side *s = &f->o.side[LAZY_TAKES];
	uint32_t by = s->least[f->rec[L_NEXT + LAZY_TAKES]], i;
	int ret = 0;

	for (i = 0; i < f->rec[L_LEFT + LAZY_TAKES]; i++) {
		const uint32_t must = s->op[lazy_left(f, f->rec, LAZY_TAKES)[i]].must;

		by = must < by ? must : by;
	}
	for (i = 0; i < ntakes && !ret; i++)
		ret = expand_one(f, f->takes[i], by);
	return ret;
}

/* Peeks that fit take effect at once if they make no zone longer. */
static int settle(struct lazy *f, uint32_t *r)
{
	const struct lazy_side *s = &f->o.side[LAZY_TAKES];
	const uint32_t now = r[L_PLACE + LAZY_TAKES];
	struct lazy_cell c;
	uint32_t i, at;
	int ret = 1;

	if (seen_at(f, r) != now || r[R_SEEN] == LAZY_END)
		return 1;
	c = lazy_cell(f, r[R_SEEN]);
	for (i = 0; i < r[L_LEFT + LAZY_TAKES] && ret > 0;) {
		const uint32_t o = lazy_left(f, r, LAZY_TAKES)[i];

		if (s->op[o].removes || s->op[o].ret <= now || s->op[o].call > now ||
		    !fits(f, &s->op[o], c.op)) {
			i++;
			continue;
		}
		ret = see(f, o, c.op, c.first_place, now);
		i = 0;
	}
	for (at = r[L_NEXT + LAZY_TAKES]; ret > 0 && at < s->n && s->op[at].call <= now; at++)
		if (!s->op[at].removes && s->op[at].ret > now && fits(f, &s->op[at], c.op))
			ret = see(f, at, c.op, c.first_place, now);
	return ret;
}

static void start(const struct lazy *f, uint32_t *r)
{
	r[R_LIST] = r[R_ZONES] = r[R_SEEN] = LAZY_END;
	r[R_OLD] = f->old ? LAZY_UNKNOWN : LAZY_NOTHING;
}

static int lifo_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	static const struct lazy_discipline lifo = {
		.name = "lifo",
		.kind = KL_CONTAINER_STACK,
		.start = start,
		.expand = expand,
		.settle = settle,
		.order = lazy_lifo_order,
		.canonical = lazy_lifo_canonical,
	};

	return lazy_decide(&lifo, p, lim, a);
}

const struct kl_engine kl_lifo_engine = {
	.name = "lifo",
	.help = "stacks where values repeat",
	.rank = 60,
	.decide = lifo_decide,
};
KL_ENGINE(kl_lifo_engine);
