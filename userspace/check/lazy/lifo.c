// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `lifo': what lay below what in a stack is decided when the upper one
 * leaves.
 *
 * Go through the removals and peeks in order, each at the first place T that its call
 * and the one before it allow, and choose which addition x it sees.  Of x's places up
 * to T the last one, p, is as good as any: what is still in the stack after T was
 * added before x or after T, and so has no place between p and T (a zone), which is
 * the shorter the later p is.  The places that are left to an addition are those from
 * its call to its return outside all zones.
 *
 * - x can be seen at T if no addition that nobody has removed has all its places in
 *   its zone.
 * - What a peek saw has its place p for good.  Until it is removed everything else is
 *   either below it or was added after the last peek that saw it.
 * - When the stack is found empty at T, nothing that is left has a place before T.
 * - A zone lies within later ones or beside them: new ones swallow those that end
 *   after their beginning.  So zones are a list with the latest in front; so are the
 *   additions left in the stack, with the one that returned last in front, and those
 *   seen by peeks.  What is deep in the stack is shared by all configurations.
 * - At the end, additions that nobody saw leave need a place outside all zones.
 * - From an unknown first state there is what nobody knows at the bottom.  To see that
 *   is to see nothing else; its top is known once a peek saw it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/engines.h"
#include "check/lazy/lifo.h"

#define NONE	UINT32_MAX

static struct late_cell cell_of(const struct late *f, uint32_t op)
{
	const struct late_op *a = &f->o.side[LATE_ADDS].op[op];

	return (struct late_cell){ .op = op, .lo = a->call, .hi = a->ret - 1 };
}

/* Now it is @place: what was called by then is known, and what has returned is in the list. */
static int go_on(struct late *f, uint32_t *r, uint32_t place)
{
	const struct late_side *s = &f->o.side[LATE_ADDS];
	uint32_t *left = late_left(f, r, LATE_ADDS), *next = &r[L_NEXT + LATE_ADDS], i, n = 0;
	int ret = 0;

	for (i = 0; i < r[L_LEFT + LATE_ADDS] && !ret; i++) {
		if (s->op[left[i]].ret > place)
			left[n++] = left[i];
		else
			ret = late_insert(f, r, cell_of(f, left[i]));
	}
	/* The room is for what is open at a time. */
	for (i = n; i < r[L_LEFT + LATE_ADDS]; i++)
		left[i] = 0;
	for (; *next < s->n && s->op[*next].call <= place && !ret; ++*next) {
		if (s->op[*next].ret > place)
			left[n++] = *next;
		else
			ret = late_insert(f, r, cell_of(f, *next));
	}
	r[L_LEFT + LATE_ADDS] = n;
	r[L_PLACE + LATE_ADDS] = place;
	return ret;
}

/* The last peek at what is in front of those seen: when it was. */
static uint32_t seen_at(const struct late *f, const uint32_t *r)
{
	return r[R_SEEN] == LATE_END ? 0 : late_cell(f, r[R_SEEN]).hi;
}

static void leave_out(const struct late *f, uint32_t *r, uint32_t op)
{
	uint32_t *left = late_left(f, r, LATE_ADDS), *n = &r[L_LEFT + LATE_ADDS], i;

	for (i = 0; left[i] != op; i++)
		;
	memmove(left + i, left + i + 1, (*n - i - 1) * sizeof(*left));
	left[--*n] = 0;
}

/*
 * Operation @o sees addition @x, whose place is @p, at @place; in f->tmp.  If x was not
 * seen before it is in the list of f->tmp at that place, or open.
 *
 * Return: 1, 0 if it cannot, negative errno.
 */
static int see(struct late *f, uint32_t o, uint32_t x, uint32_t p, uint32_t place)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	const struct late_op *add = &f->o.side[LATE_ADDS].op[x];
	const bool seen = f->tmp[R_SEEN] != LATE_END && late_cell(f, f->tmp[R_SEEN]).op == x;
	uint32_t *r = f->tmp;
	int ret = 0;

	if (!late_take_effect(f, r, LATE_TAKES, o, place))
		return 0;
	if (seen)
		r[R_SEEN] = late_cell(f, r[R_SEEN]).next;
	else if (add->ret > place)
		leave_out(f, r, x);
	else
		ret = late_take_out(f, r, x);
	if (!ret && !op->removes)
		ret = late_put_seen(f, r, (struct late_cell){ .op = x, .lo = p, .hi = place });
	if (!ret)
		ret = late_add_zone(f, r, p, place);
	if (!ret)
		ret = late_note(f, r, add->item, p);
	if (!ret)
		ret = late_note(f, r, op->item, place);
	return ret ? ret : 1;
}

/* One way to go on: f->tmp up to @place, where @o sees @x at @p. */
static int try_one(struct late *f, uint32_t o, uint32_t x, uint32_t p, uint32_t place)
{
	int ret = 0;

	memcpy(f->tmp, f->ahead, f->len * sizeof(*f->tmp));
	if (place > f->tmp[L_PLACE + LATE_ADDS])
		ret = go_on(f, f->tmp, place);
	if (!ret)
		ret = see(f, o, x, p, place);
	return ret > 0 ? late_add_kid(f, f->o.side[LATE_TAKES].op[o].ret) : ret;
}

static bool fits(const struct late *f, const struct late_op *op, uint32_t x)
{
	return op->value == LATE_ANYTHING || op->value == f->o.side[LATE_ADDS].op[x].value;
}

bool late_see_bottom(uint32_t *old, const struct late_op *op)
{
	if (op->value == LATE_EMPTY) {
		if (*old >= LATE_KNOWN)
			return false;
		*old = LATE_NOTHING;
		return true;
	}
	if (*old == LATE_NOTHING ||
	    (*old >= LATE_KNOWN && op->value != LATE_ANYTHING && *old - LATE_KNOWN != op->value))
		return false;
	*old = op->removes ? LATE_UNKNOWN : LATE_KNOWN + op->value;
	return true;
}

/* Nothing that was added is in the stack when @o looks. */
static int see_old(struct late *f, uint32_t o, uint32_t place)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	int ret;

	memcpy(f->tmp, f->ahead, f->len * sizeof(*f->tmp));
	if (f->tmp[R_LIST] != LATE_END || f->tmp[R_SEEN] != LATE_END ||
	    !late_see_bottom(&f->tmp[R_OLD], op) ||
	    !late_take_effect(f, f->tmp, LATE_TAKES, o, place))
		return 0;
	ret = late_add_zone(f, f->tmp, 0, place);
	if (!ret)
		ret = late_note(f, f->tmp, op->item, place);
	return ret ? ret : late_add_kid(f, op->ret);
}

/* Would one in @list other than @x, where all places have passed, have none before @p or at it? */
static bool has_to_go(const struct late *f, uint32_t list, uint32_t x, uint32_t p)
{
	struct late_cell c;

	for (; list != LATE_END; list = c.next) {
		c = late_cell(f, list);
		if (c.hi <= p)
			break;
		if (c.lo > p && c.op != x)
			return true;
	}
	return false;
}

/*
 * Is @x of no use where @better, of equal value and with a later last place, could be
 * seen?  The zone is shorter then, and @x stays with all the places that @better would
 * have had: but for those before its call, if there is something that has to be above.
 */
static bool is_worse(const struct late *f, uint32_t list, struct late_cell x,
		     struct late_cell better)
{
	const uint32_t zones = f->rec[R_ZONES];
	struct late_cell c;
	uint32_t p;

	for (; list != LATE_END && x.lo > better.lo; list = c.next) {
		c = late_cell(f, list);
		if (c.hi < better.lo)
			break;
		p = late_last_place(f, zones, c.lo, c.hi);
		if (c.op != x.op && c.op != better.op && p >= better.lo && p < x.lo)
			return false;
	}
	for (list = f->rec[R_SEEN]; list != LATE_END && x.lo > better.lo; list = c.next) {
		c = late_cell(f, list);
		if (c.lo >= better.lo && c.lo < x.lo)
			return false;
	}
	return true;
}

/* Those in @list, as it is at @place: the ones that returned last come first. */
static int see_listed(struct late *f, uint32_t o, uint32_t list, uint32_t place)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	const uint32_t zones = f->rec[R_ZONES], top = list;
	uint32_t lowest = seen_at(f, f->rec), p;
	struct late_cell c, best = { .op = NONE };
	int ret = 0;

	for (; list != LATE_END && !ret; list = c.next) {
		c = late_cell(f, list);
		/* Nor have any of those that follow a place as late as that. */
		if (c.hi < lowest)
			break;
		p = late_last_place(f, zones, c.lo, c.hi);
		if (p >= lowest && fits(f, op, c.op) && !has_to_go(f, top, c.op, p) &&
		    !(best.op != NONE && is_worse(f, top, c, best))) {
			ret = try_one(f, o, c.op, p, place);
			best = c;
		}
		lowest = late_max(lowest, c.lo);
	}
	return ret;
}

/* What the last peek saw. */
static int see_again(struct late *f, uint32_t o, uint32_t list, uint32_t place)
{
	const struct late_cell c = late_cell(f, f->rec[R_SEEN]);

	if (!fits(f, &f->o.side[LATE_TAKES].op[o], c.op) || has_to_go(f, list, c.op, c.lo))
		return 0;
	return try_one(f, o, c.op, c.lo, place);
}

/* Is another of the open ones to be seen rather than @x: one that can change places? */
static bool has_twin(const struct late *f, const uint32_t *open, uint32_t n, uint32_t x)
{
	const struct late_op *op = f->o.side[LATE_ADDS].op, *b = &op[x];
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct late_op *a = &op[open[i]];

		if (open[i] != x && a->value == b->value && b->call <= a->call &&
		    (a->must != LATE_NEVER || b->must == LATE_NEVER) &&
		    (a->ret < b->ret || (a->ret == b->ret && open[i] < x)))
			return true;
	}
	return false;
}

/*
 * @o sees @x, which is open at @place, at its own place.  A peek may do so later: then
 * more of what was called in between can be below.
 */
static int see_one(struct late *f, uint32_t o, uint32_t x, uint32_t place, uint32_t by)
{
	const struct late_side *s = &f->o.side[LATE_ADDS];
	uint32_t next = f->ahead[L_NEXT + LATE_ADDS];
	int ret = try_one(f, o, x, place, place);

	if (f->o.side[LATE_TAKES].op[o].removes)
		return ret;
	by = s->op[x].ret < by ? s->op[x].ret : by;
	for (; next < s->n && s->op[next].call < by && !ret; next++)
		if (s->op[next].call > place)
			ret = try_one(f, o, x, s->op[next].call, s->op[next].call);
	return ret;
}

/* Those that are open at @place, or are called while @o waits and nothing has to be over. */
static int see_open(struct late *f, uint32_t o, uint32_t place, uint32_t by)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	const struct late_side *s = &f->o.side[LATE_ADDS];
	const uint32_t *open = late_left(f, f->ahead, LATE_ADDS);
	const uint32_t n = f->ahead[L_LEFT + LATE_ADDS];
	uint32_t next = f->ahead[L_NEXT + LATE_ADDS], i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		if (fits(f, op, open[i]) && !has_twin(f, open, n, open[i]))
			ret = see_one(f, o, open[i], place, by);
	for (; next < s->n && s->op[next].call < by && !ret; next++)
		if (fits(f, op, next))
			ret = see_one(f, o, next, s->op[next].call, by);
	return ret;
}

static int expand_one(struct late *f, uint32_t o, uint32_t by)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	const uint32_t place = late_max(op->call, f->rec[L_PLACE + LATE_TAKES]);
	const uint32_t *list = &f->ahead[R_LIST];
	int ret;

	if (place >= by)
		return 0;
	memcpy(f->ahead, f->rec, f->len * sizeof(*f->ahead));
	ret = go_on(f, f->ahead, place);
	if (ret)
		return ret;
	if (op->value == LATE_EMPTY || f->rec[R_OLD] != LATE_NOTHING) {
		ret = see_old(f, o, place);
		if (ret || op->value == LATE_EMPTY)
			return ret;
	}
	if (f->rec[R_SEEN] != LATE_END)
		ret = see_again(f, o, *list, place);
	if (!ret)
		ret = see_listed(f, o, *list, place);
	return ret ? ret : see_open(f, o, place, by);
}

static int expand(struct late *f, uint32_t ntakes)
{
	const struct late_side *s = &f->o.side[LATE_TAKES];
	uint32_t by = s->least[f->rec[L_NEXT + LATE_TAKES]], i;
	int ret = 0;

	for (i = 0; i < f->rec[L_LEFT + LATE_TAKES]; i++) {
		const uint32_t must = s->op[late_left(f, f->rec, LATE_TAKES)[i]].must;

		by = must < by ? must : by;
	}
	for (i = 0; i < ntakes && !ret; i++)
		ret = expand_one(f, f->takes[i], by);
	return ret;
}

/* Peeks that fit take effect at once where they make no zone longer. */
static int settle(struct late *f, uint32_t *r)
{
	const struct late_side *s = &f->o.side[LATE_TAKES];
	const uint32_t now = r[L_PLACE + LATE_TAKES];
	struct late_cell c;
	uint32_t i, at;
	int ret = 1;

	if (seen_at(f, r) != now || r[R_SEEN] == LATE_END)
		return 1;
	c = late_cell(f, r[R_SEEN]);
	for (i = 0; i < r[L_LEFT + LATE_TAKES] && ret > 0; ) {
		const uint32_t o = late_left(f, r, LATE_TAKES)[i];

		if (s->op[o].removes || s->op[o].ret <= now || s->op[o].call > now ||
		    !fits(f, &s->op[o], c.op)) {
			i++;
			continue;
		}
		ret = see(f, o, c.op, c.lo, now);
		i = 0;
	}
	for (at = r[L_NEXT + LATE_TAKES]; ret > 0 && at < s->n && s->op[at].call <= now; at++)
		if (!s->op[at].removes && s->op[at].ret > now && fits(f, &s->op[at], c.op))
			ret = see(f, at, c.op, c.lo, now);
	return ret;
}

static void start(const struct late *f, uint32_t *r)
{
	r[R_LIST] = r[R_ZONES] = r[R_SEEN] = LATE_END;
	r[R_OLD] = f->old ? LATE_UNKNOWN : LATE_NOTHING;
}

static int lifo_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	static const struct late_discipline lifo = {
		.name = "lifo", .kind = KL_CONTAINER_STACK,
		.start = start, .expand = expand, .settle = settle, .order = late_lifo_order,
		.canonical = late_lifo_canonical,
	};

	return late_decide(&lifo, p, lim, a);
}

const struct kl_engine kl_lifo_engine = {
	.name = "lifo",
	.help = "stacks where values repeat",
	.rank = 60,
	.decide = lifo_decide,
};
KL_ENGINE(kl_lifo_engine);
