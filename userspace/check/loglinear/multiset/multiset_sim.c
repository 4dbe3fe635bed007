// SPDX-License-Identifier: GPL-2.0
/*
 * Multisets: the operations of one key, return by return.
 *
 * Additions (up) and successful removals (down) take effect as late as possible, at a return that
 * needs them.  Of several that go the same way, the one that returns first takes effect: open
 * operations of one kind may change places.  An operation that saw a count takes effect as soon as
 * the count fits.
 *
 * Let L be a configuration here, and M the configuration of an order at the same time.  L covers M
 * if two things hold:
 *
 * - L has performed all observing operations that M has.
 * - For every time t: of the operations up that return after t, L has at least as many left as M.
 *   The same holds for the operations down.
 *
 * Then L can at once make up for what only M has performed: first the operations up, then those
 * down, so that the count never falls below that of L or M.  After that L goes on as M does.  So
 * only configurations that no other covers are kept.  At each return, a successor of L covers M
 * again:
 *
 * - At the return of an addition L performs it; M has done so.
 * - At the return of a removal L performs it if the count is not 0.  If the count is 0, M has
 *   performed at least one more addition, and L performs the one that returns first.  The same
 *   holds for an operation that found the key: the count in L was 0 since its call, so L has done
 *   nothing since.
 * - If M saw a count of N that is lower (higher) than L's, M has performed that many more removals
 *   (additions).  L performs as many, and nothing else.  So a configuration branches while
 *   operations that saw a count are open.  It does so only just before a return that leads away
 *   from their count.  Both branches are kept, unless one covers the other.
 *
 * Without operations that see a count, or that find none, there is one configuration, and the time
 * is n log n.  With them it grows with the number of configurations, which set.most_work bounds.
 *
 * If the first count is unknown, the count is a lower bound.  Whenever it is 0, one more may have
 * been there at first, or is added.  An operation that saw a count determines the first count; all
 * possibilities are tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/multiset/multiset.h"

static inline uint32_t lowest(uint64_t bits)
{
	return __builtin_ctzll(bits);
}

static inline uint32_t many(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

/* Return: a mask of open operations of a kind that have not taken effect in @c. */
static inline uint64_t left_of(const struct multiset_sim *sim, const struct multiset_config *c,
			       enum what what)
{
	return sim->mask[what] & ~c->done;
}

/* Return: the number of open and pending operations of a kind, UP or DOWN, that @c has left. */
static uint32_t can(const struct multiset_sim *sim, const struct multiset_config *c, enum what what)
{
	const unsigned int up = what == UP;

	return many(left_of(sim, c, what)) + (sim->npending[up] - c->used[up]);
}

/* Return: a mask of open operations that saw a count, or 0. */
static inline uint64_t exact(const struct multiset_sim *sim)
{
	return sim->mask[SEES_OUT] | sim->mask[SEES_COUNT];
}

/*
 * Return: true if each operation of the mask @b can be paired with one of @a, or one of @more
 * pending ones, that returns no earlier.
 */
static bool as_late(uint64_t a, uint64_t b, int64_t more)
{
	const uint64_t only_a = a & ~b;
	uint64_t only_b = b & ~a;
	int64_t n = 0;

	if (more < 0)
		return false;
	while (only_b) {
		const uint32_t last = 63 - __builtin_clzll(only_b);

		if (more + many(only_a >> last) < ++n)
			return false;
		only_b &= ~(1ull << last);
	}
	return true;
}

/* Return: true if @a covers @b. */
static bool does_for(const struct multiset_sim *sim, const struct multiset_config *a,
		     const struct multiset_config *b)
{
	const uint64_t all = sim->mask[SEES_IN] | exact(sim);
	int64_t first = (int64_t)a->count - b->count;
	enum what what;

	if (b->done & ~a->done & all)
		return false;
	for (what = DOWN; what <= UP; what++) {
		const uint64_t x = left_of(sim, a, what), y = left_of(sim, b, what);
		const int64_t more = (int64_t)b->used[what == UP] - a->used[what == UP];

		if (!as_late(x, y, more))
			return false;
		first += (what == UP ? 1 : -1) * ((int64_t)many(x) - many(y) + more);
	}
	/* @first: the first count of @a less the first count of @b. */
	return a->any ? first <= 0 : !b->any && !first;
}

static int append(struct multiset_list *l, const struct multiset_config *c)
{
	if (kl_grow(l->c, l->cap, l->n + 1))
		return -ENOMEM;
	l->c[l->n++] = *c;
	return 1;
}

/* Add a configuration to those after the return, unless another one covers it.  1, or -ENOMEM. */
static int keep(struct set_part *s, struct multiset_sim *sim, const struct multiset_config *c)
{
	struct multiset_list *l = &sim->next;
	size_t i, n = 0;

	s->work += l->n;
	for (i = 0; i < l->n; i++)
		if (does_for(sim, &l->c[i], c))
			return 1;
	for (i = 0; i < l->n; i++)
		if (!does_for(sim, c, &l->c[i]))
			l->c[n++] = l->c[i];
	l->n = n;
	return append(l, c);
}

/* Add a configuration to those that are processed at the current return. */
static int look_at(struct set_part *s, struct multiset_sim *sim, const struct multiset_config *c)
{
	size_t i;

	s->work += sim->list.n;
	for (i = 0; i < sim->list.n; i++)
		if (does_for(sim, &sim->list.c[i], c))
			return 1;
	return append(&sim->list, c);
}

/* Return: true if an operation of the kind @what that saw @seen fits the configuration's count. */
static inline bool sees(const struct multiset_config *c, enum what what, uint32_t seen)
{
	return what == SEES_IN ? c->count > 0 : !c->any && c->count == seen;
}

/* Let all open operations that saw the current count take effect.  1, -EAGAIN or -ENOMEM. */
static int see(struct set_part *s, struct multiset_sim *sim, struct multiset_config *c)
{
	uint64_t wait = left_of(sim, c, SEES_IN) | (exact(sim) & ~c->done);
	int ret = 0;

	for (; wait && !ret; wait &= wait - 1) {
		const struct multiset_open *o = &sim->open[lowest(wait)];

		if (!sees(c, set_what(o->op), o->seen))
			continue;
		c->done |= wait & -wait;
		ret = multiset_step(s, sim, c, set_item(o->op), s->place);
	}
	return ret ? ret : 1;
}

/*
 * Let one operation of the kind @what, UP or DOWN, take effect: an open one or, if there is none, a
 * pending one.  Return: 1, 0 if there is none, -EAGAIN, -ENOMEM.
 */
static int go(struct set_part *s, struct multiset_sim *sim, struct multiset_config *c,
	      enum what what)
{
	const uint64_t wait = left_of(sim, c, what);
	const unsigned int up = what == UP;
	uint32_t item;
	int ret;

	if (wait) {
		c->done |= wait & -wait;
		item = set_item(sim->open[lowest(wait)].op);
	} else {
		if (c->used[up] == sim->npending[up])
			return 0;
		item = sim->pending[up][c->used[up]++];
	}
	c->count += up ? 1 : -1;
	s->work++;
	ret = multiset_step(s, sim, c, item, s->place);
	return ret ? ret : see(s, sim, c);
}

/* Change the count to @count by the fewest operations.  Return: 1, 0 if it cannot, or an errno. */
static int go_to(struct set_part *s, struct multiset_sim *sim, struct multiset_config *c,
		 uint32_t count)
{
	const enum what what = count > c->count ? UP : DOWN;
	int ret = 1;

	if (can(sim, c, what) < (what == UP ? count - c->count : c->count - count))
		return 0;
	while (c->count != count && ret > 0)
		ret = go(s, sim, c, what);
	return ret;
}

typedef int (*put_fn)(struct set_part *s, struct multiset_sim *sim,
		      const struct multiset_config *c);

/*
 * Let the count become @count, and pass the result to @put.  If the first count is unknown, do it
 * for each first count that is possible.
 */
static int put_with(struct set_part *s, struct multiset_sim *sim, const struct multiset_config *c,
		    uint32_t count, put_fn put)
{
	int64_t least = 0, most = 0, more;
	int ret = 1;

	if (c->any) {
		least = (int64_t)count - c->count - can(sim, c, UP);
		least = least > 0 ? least : 0;
		most = (int64_t)count - c->count + can(sim, c, DOWN);
	}
	for (more = least; more <= most && ret >= 0; more++) {
		struct multiset_config with = *c;

		if (with.count + more > MULTISET_MOST)
			return -EAGAIN;
		with.count += more;
		with.any = false;
		ret = see(s, sim, &with);
		if (ret > 0)
			ret = go_to(s, sim, &with, count);
		if (ret > 0)
			ret = put(s, sim, &with);
	}
	return ret < 0 ? ret : 1;
}

/*
 * Branch before the return of the first open operation, which @c has not performed: operations that
 * saw a count may take effect now, when it needs the fewest other operations.
 */
static int branch(struct set_part *s, struct multiset_sim *sim, const struct multiset_config *c)
{
	const enum what what = set_what(sim->open->op);
	const uint32_t count = c->count;
	uint64_t wait = exact(sim) & ~c->done & ~1ull;
	/* The return leads away from lower counts, from higher counts. */
	bool less = what == UP || (what != DOWN && what != SEES_IN && sim->open->seen > count);
	bool more = what == DOWN || (what != UP && what != SEES_IN && sim->open->seen < count);
	int ret = 1;

	for (; wait && ret > 0; wait &= wait - 1) {
		const uint32_t seen = sim->open[lowest(wait)].seen;

		if (c->any || (less && seen < count) || (more && seen > count))
			ret = put_with(s, sim, c, seen, look_at);
	}
	return ret;
}

/* The count is 0: let it be 1, by the first count or an addition, for the first open operation. */
static int force_one(struct set_part *s, struct multiset_sim *sim, const struct multiset_config *c)
{
	int ret = 1, way;

	for (way = c->any ? 0 : 1; way < 2 && ret >= 0; way++) {
		struct multiset_config with = *c;

		with.count += !way;
		ret = way ? go(s, sim, &with, UP) : see(s, sim, &with);
		if (ret > 0 && set_what(sim->open->op) == DOWN)
			ret = go(s, sim, &with, DOWN);
		if (ret > 0)
			ret = keep(s, sim, &with);
	}
	return ret < 0 ? ret : 1;
}

/* The first open operation returns, and @c has not performed it. */
static int force(struct set_part *s, struct multiset_sim *sim, const struct multiset_config *c)
{
	const enum what what = set_what(sim->open->op);
	struct multiset_config with = *c;
	int ret;

	switch (what) {
	case SEES_OUT:
	case SEES_COUNT:
		return put_with(s, sim, c, sim->open->seen, keep);
	case DOWN:
	case SEES_IN:
		if (!c->count)
			return force_one(s, sim, c);
		/* fall through */
	default:
		ret = go(s, sim, &with, what);
		return ret > 0 ? keep(s, sim, &with) : ret;
	}
}

/* Remove the first open operation. */
static void shift(struct multiset_sim *sim)
{
	enum what what;
	size_t i;

	for (what = SEES_OUT; what <= SEES_COUNT; what++)
		sim->mask[what] >>= 1;
	for (i = 0; i < sim->list.n; i++)
		sim->list.c[i].done >>= 1;
	sim->nopen--;
	memmove(sim->open, sim->open + 1, sim->nopen * sizeof(*sim->open));
}

static const char *why(enum what what)
{
	return what == SEES_OUT ? "was inside, and could not be removed as often in time" :
	       what == SEES_COUNT ? "was inside another number of times in every order" :
	       "was not inside, and no operation could add it in time";
}

static bool done_in_all(const struct multiset_sim *sim)
{
	size_t i;

	for (i = 0; i < sim->list.n; i++)
		if (!(sim->list.c[i].done & 1))
			return false;
	return true;
}

static int on_return(struct set_part *s, struct multiset_sim *sim)
{
	const struct multiset_open *o = sim->open;
	struct multiset_list swap;
	size_t i;
	int ret = 1;

	s->work += sim->list.n;
	if (done_in_all(sim)) {
		shift(sim);
		return 1;
	}
	if (s->t->order)
		/* A return with `first' comes before calls at the same time. */
		s->place = set_find_call(s->t, set_item(o->op), o->ret + !o->first);
	sim->next.n = 0;
	for (i = 0; i < sim->list.n && ret >= 0; i++) {
		const struct multiset_config c = sim->list.c[i];

		if (s->work >= s->t->most_work)
			return -EAGAIN;
		if (!(c.done & 1))
			ret = branch(s, sim, &c);
		if (ret >= 0)
			ret = c.done & 1 ? keep(s, sim, &c) : force(s, sim, &c);
	}
	if (ret < 0)
		return ret;
	if (!sim->next.n) {
		s->bad_item = set_item(o->op);
		s->bad_why = why(set_what(o->op));
		return 0;
	}
	swap = sim->list;
	sim->list = sim->next;
	sim->next = swap;
	shift(sim);
	ret = multiset_tidy(s, sim);
	return ret ? ret : 1;
}

int multiset_return_by(struct set_part *s, struct multiset_sim *sim, uint64_t time)
{
	int ret = 1;

	while (ret > 0 && sim->nopen && (sim->open->ret < time ||
					 (sim->open->ret == time && sim->open->first)))
		ret = on_return(s, sim);
	return ret;
}

int multiset_return_all(struct set_part *s, struct multiset_sim *sim)
{
	int ret = 1;

	while (ret > 0 && sim->nopen)
		ret = on_return(s, sim);
	return ret;
}

/* Add a pending operation, which may take effect or not. */
static int wait_for_ever(struct multiset_sim *sim, uint32_t op)
{
	const unsigned int up = set_what(op) == UP;

	if (kl_grow(sim->pending[up], sim->cpending[up], sim->npending[up] + 1))
		return -ENOMEM;
	sim->pending[up][sim->npending[up]++] = set_item(op);
	return 1;
}

/* Return: @mask with a 0 bit inserted at @at. */
static inline uint64_t spread(uint64_t mask, uint32_t at)
{
	const uint64_t low = (1ull << at) - 1;

	return (mask & low) | (mask & ~low) << 1;
}

/* Add an open operation; configurations whose count it saw perform it at once. */
static int open_one(struct multiset_sim *sim, const struct multiset_open *o)
{
	const enum what what = set_what(o->op);
	size_t at = sim->nopen, i;
	enum what w;

	if (sim->nopen == MULTISET_OPEN)
		return -EAGAIN;
	if (kl_grow(sim->open, sim->copen, sim->nopen + 1))
		return -ENOMEM;
	for (; at && (sim->open[at - 1].ret > o->ret ||
		      (sim->open[at - 1].ret == o->ret && o->first && !sim->open[at - 1].first));
	     at--)
		sim->open[at] = sim->open[at - 1];
	sim->open[at] = *o;
	sim->nopen++;
	for (w = SEES_OUT; w <= SEES_COUNT; w++)
		sim->mask[w] = spread(sim->mask[w], at);
	sim->mask[what] |= 1ull << at;
	for (i = 0; i < sim->list.n; i++) {
		struct multiset_config *c = &sim->list.c[i];

		c->done = spread(c->done, at);
		if (what != DOWN && what != UP && sees(c, what, o->seen))
			c->done |= 1ull << at;
	}
	return 1;
}

/* Return: true if an operation that saw @seen fits all configurations. */
static bool seen_by_all(const struct multiset_sim *sim, enum what what, uint32_t seen)
{
	size_t i;

	for (i = 0; i < sim->list.n; i++)
		if (!sees(&sim->list.c[i], what, seen))
			return false;
	return true;
}

int multiset_call(struct set_part *s, struct multiset_sim *sim, const struct set_op *op)
{
	const enum what what = set_what(op->op);
	struct multiset_open o = { .ret = op->ret, .op = op->op };
	int ret = multiset_return_by(s, sim, op->call);

	if (ret <= 0 || what == FREE)
		return ret;
	if (op->ret == KL_TIME_MAX)
		return what == DOWN || what == UP ? wait_for_ever(sim, op->op) : 1;
	if (what == SEES_COUNT) {
		const uint64_t seen = multiset_seen(s->t, op->op);

		if (seen > MULTISET_MOST)
			return -EAGAIN;
		o.seen = seen;
	}
	s->work += sim->list.n;
	if (what != DOWN && what != UP && seen_by_all(sim, what, o.seen))
		return 1;
	o.first = set_called_then(s, set_item(op->op), op->call, op->ret, op->thread);
	return open_one(sim, &o);
}

int multiset_begin(struct multiset_sim *sim, uint32_t count, bool any, uint32_t first)
{
	const struct multiset_config c = { .count = count, .any = any, .head = LL_NONE };

	memset(sim->mask, 0, sizeof(sim->mask));
	sim->nopen = sim->nstep = sim->npending[0] = sim->npending[1] = sim->list.n = 0;
	sim->most_steps = 0;
	sim->first = first;
	return append(&sim->list, &c);
}

void multiset_sim_free(struct multiset_sim *sim)
{
	free(sim->open);
	free(sim->list.c);
	free(sim->next.c);
	free(sim->step);
	free(sim->pending[0]);
	free(sim->pending[1]);
}
