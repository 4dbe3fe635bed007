// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks (section 7).  A value can be at the bottom if each of its operations has a slot in no
 * critical interval of another value (Definition 7.1).  Then all other values fit between these
 * slots, and have an order by themselves if the whole has one.  So bottom values are removed one by
 * one.  If none is left in the end, there is an order.  If some are left, they have no order: the
 * first of them to be pushed would be a bottom value.
 *
 * An operation becomes safe when it has such a slot, and stays safe.  A slot that no interval
 * covers makes all operations safe that have it.  A slot that a single value covers makes the peeks
 * of that value safe.  Values that are removed earlier lie lower in the stack.  When a value is
 * removed, it gets the latest push and the earliest pop that are then possible.  So its life
 * contains no slot in which a lower value's operation takes effect.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/position_set.h"
#include "check/loglinear/window_index.h"

#define STARTS	16	/* cores that are tried; the smallest is taken */

struct stack {
	struct loglinear *m;
	struct cover cover;
	struct position_set open;	/* slots that no interval covers, for an order */
	struct position_set seen;	/* slots that a single value covers, or covered */
	struct pieces ops, peeks;	/* operations that may be unsafe; ops: all but peeks */
	uint8_t *safe;		/* of each item; 2: by a slot that only its value covered */
	/*
	 * For each value the number of unsafe operations + 1.  For a bottom value the next value
	 * of the list @todo.  0 for a value that was removed.
	 */
	uint32_t *need;
	uint32_t todo;		/* the first of a list of bottom values, or LL_NONE */
	uint32_t alive;		/* number of values that had operations left at the start */
	uint32_t ntaken;	/* number of these that were removed since */
};

static void stack_free(struct stack *s)
{
	cover_free(&s->cover);
	position_set_free(&s->open);
	position_set_free(&s->seen);
	pieces_free(&s->ops);
	pieces_free(&s->peeks);
	free(s->safe);
	free(s->need);
}

/* Enter the critical intervals, and count each value's unsafe operations. */
static void put_values(struct stack *s)
{
	const struct loglinear *m = s->m;
	int32_t *count = s->cover.count[0];
	uint32_t *ids = s->cover.ids[0], critical, i;

	for (i = 0; i < m->nvalues; i++) {
		const struct ll_value *v = &m->v[i];

		s->need[i] = 0;
		if (ll_gone(m, v))
			continue;
		s->alive++;
		s->need[i] = 1 + (v->add != LL_NONE) + (v->remove != LL_NONE) + v->peeks;
		/* Whether a value is critical cannot be predicted, so there is no branch. */
		critical = ll_critical(v);
		count[v->first_ret] += critical;
		count[v->last_call] -= critical;
		if (!ids)
			continue;
		ids[v->first_ret] += i & -critical;
		ids[v->last_call] -= i & -critical;
	}
}

static int fill_cover(struct stack *s)
{
	const struct loglinear *m = s->m;
	uint32_t *ids, id = 0, i;
	int32_t *count, sum = 0;
	int ret = cover_init(&s->cover, m->end + 1, m->npeeks);

	s->need = kl_big_alloc(((size_t)m->nvalues + 1) * sizeof(*s->need));
	if (ret || !s->need)
		return -ENOMEM;
	put_values(s);
	count = s->cover.count[0];
	ids = s->cover.ids[0];
	count[m->end] = COVER_NEVER;
	for (i = 0; i < m->end; i++) {
		sum += count[i];
		count[i] = sum;
		if (ids) {
			id += ids[i];
			ids[i] = id;
		}
	}
	s->cover.level = m->npeeks ? 1 : 0;
	cover_build(&s->cover);
	return 0;
}

/*
 * Make an item safe, and put its value into the list s->todo if no unsafe one is left.  Whether one
 * is left cannot be predicted, so there is no branch.
 */
static inline void mark_safe(struct stack *s, uint32_t item, uint8_t how)
{
	const uint32_t value = s->m->op[item] & LL_VALUE, need = s->need[value] - 1;
	const uint32_t last = -(uint32_t)(need == 1);

	s->safe[item] = how;
	__builtin_prefetch(&s->m->v[value]);
	s->need[value] = (need & ~last) | (s->todo & last);
	s->todo = (s->todo & ~last) | (value & last);
}

/* Slots that were found in a block, as masks; see visit_list(). */
struct found {
	uint64_t open, alone, gaps;
	uint32_t base;
};

/* Return: true if the peek has a slot in @mask that only its own value covers. */
static bool seen_alone(struct stack *s, uint32_t item, uint64_t mask, const struct found *f)
{
	const uint32_t value = s->m->op[item] & LL_VALUE;
	uint64_t alone = mask & f->alone;

	if (alone && f->gaps)
		alone = f->gaps;
	for (; alone; alone &= alone - 1) {
		const uint32_t gap = f->base + __builtin_ctzll(alone);

		if (cover_id(&s->cover, gap) != value)
			continue;
		if (s->m->ordered)
			s->m->places->at[item] = gap;
		return true;
	}
	return false;
}

/*
 * Visit the operations of the list @list, which belong to one block.  No interval covers the slots
 * f->open any more, and a single value covers f->alone, which matters to peeks only.  On a higher
 * level the bits of these masks are blocks.  Then f->gaps is the mask of slots with a single value,
 * in the block at f->base.
 */
static inline __attribute__((always_inline))
void visit_list(struct stack *s, struct pieces *p, uint32_t list, const struct found *f, bool peeks)
{
	const uint64_t wanted = f->open | (peeks ? f->alone : 0);
	const uint32_t end = p->from[list + 1];
	uint32_t at = p->from[list];
	uint64_t near;

	for (; at < end; at += PIECES_TOGETHER) {
		near = pieces_near(p, at, wanted);
		if (end - at < PIECES_TOGETHER)
			near &= (1ull << (end - at)) - 1;
		for (; near; near &= near - 1) {
			const uint32_t i = at + __builtin_ctzll(near), item = p->item[i];
			const uint64_t mask = pieces_mask(p->gaps[i]);
			const bool open = mask & f->open;

			if (!s->safe[item]) {
				if (!open && !(peeks && seen_alone(s, item, mask, f)))
					continue;
				mark_safe(s, item, open ? 1 : 2);
			}
			p->gaps[i] = PIECES_GONE;
			p->left[list]--;
		}
	}
}

static inline __attribute__((always_inline))
void visit_lists(struct stack *s, struct pieces *p, uint32_t block, uint64_t open, uint64_t alone,
		 bool peeks)
{
	struct found f = { open, alone, 0, block * COVER_BLOCK };
	unsigned int l;

	visit_list(s, p, block, &f, peeks);
	f.gaps = alone;
	for (l = 1; l < COVER_LEVELS; l++) {
		f.open = (uint64_t)!!open << block % COVER_BLOCK;
		f.alone = (uint64_t)!!alone << block % COVER_BLOCK;
		block /= COVER_BLOCK;
		if (p->left[p->base[l] + block])
			visit_list(s, p, p->base[l] + block, &f, peeks);
	}
}

static void visit_ops(struct stack *s, uint32_t block, uint64_t open, uint64_t alone)
{
	if (open)
		visit_lists(s, &s->ops, block, open, 0, false);
	if (s->m->npeeks)
		visit_lists(s, &s->peeks, block, open, alone, true);
}

static void visit(struct stack *s, uint32_t block, int32_t owed)
{
	int32_t *count = s->cover.count[0] + (size_t)block * COVER_BLOCK;
	uint64_t found = cover_low(&s->cover, block, owed), open = found, alone = 0;

	for (; found; found &= found - 1) {
		const uint32_t i = __builtin_ctzll(found), gap = block * COVER_BLOCK + i;

		if (s->cover.level && count[i] + owed == 1 &&
		    !(s->seen.word[0][gap / 64] >> gap % 64 & 1)) {
			/* cover_find() finds the slot again when no interval is left. */
			s->seen.word[0][gap / 64] |= 1ull << gap % 64;
			count[i]++;
			alone |= 1ull << i;
		} else {
			count[i] = COVER_NEVER;
			if (s->m->ordered)
				position_set_set(&s->open, gap);
		}
	}
	cover_update(&s->cover, block);
	visit_ops(s, block, open & ~alone, alone);
}

/* Visit the slots of the blocks @block .. @last that are covered by at most cover.level values. */
static void visit_all(struct stack *s, uint32_t block, uint32_t last)
{
	int32_t owed;

	while ((block = cover_find(&s->cover, block, last, &owed)) != UINT32_MAX)
		visit(s, block, owed);
}

/* Give slots to the operations of @value, which is at the bottom of the values that are left. */
static void put_value(struct stack *s, uint32_t value)
{
	const struct loglinear *m = s->m;
	const struct ll_value *v = &m->v[value];
	uint32_t in = 0, out = m->end - 1, first, i, *at = m->places->at;

	m->places->rank[value] = s->ntaken;
	if (v->add != LL_NONE)
		in = position_set_prev(&s->open, v->first_ret - 1);
	if (v->remove != LL_NONE) {
		out = position_set_next(&s->open, v->last_call);
		/* All operations take effect in the same slot. */
		if (v->add != LL_NONE && out < in)
			out = in;
		at[v->remove] = out;
	}
	first = in;
	for (i = 0; i < v->peeks; i++) {
		const uint32_t peek = ll_peeks(m, value)[i];
		const uint32_t from = ll_peek_window(m, v, peek).from;

		if (s->safe[peek] != 2)
			at[peek] = position_set_next(&s->open, from > in ? from : in);
		first = at[peek] < first ? at[peek] : first;
	}
	if (v->add != LL_NONE)
		at[v->add] = first;
}

/* Remove @value, which is at the bottom of the values that are left. */
static void take_away(struct stack *s, uint32_t value)
{
	const struct ll_value *v = &s->m->v[value];

	s->need[value] = 0;
	if (s->m->ordered)
		put_value(s, value);
	s->ntaken++;
	if (!ll_critical(v))
		return;
	cover_take(&s->cover, v->first_ret, v->last_call - 1, value);
	visit_all(s, v->first_ret / COVER_BLOCK, (v->last_call - 1) / COVER_BLOCK);
}

/*
 * Add to @core, unless @in says that they are there, values of @left other than @but whose critical
 * intervals together cover all slots of @w.  Return: 0, or -EINVAL if there are none.
 */
static int add_cover(struct stack *s, const uint32_t *left, uint32_t nleft, struct ll_window w,
		     uint32_t but, uint8_t *in, uint32_t *core, uint32_t *n)
{
	const struct loglinear *m = s->m;
	uint32_t i, best;

	while (w.from <= w.to) {
		best = LL_NONE;
		for (i = 0; i < nleft; i++) {
			const struct ll_value *v = &m->v[left[i]];

			if (left[i] == but || !ll_critical(v) || v->first_ret > w.from ||
			    v->last_call <= w.from)
				continue;
			if (best == LL_NONE || v->last_call > m->v[best].last_call ||
			    (v->last_call == m->v[best].last_call && in[left[i]]))
				best = left[i];
		}
		if (best == LL_NONE)
			return -EINVAL;
		if (!in[best]) {
			in[best] = 1;
			core[(*n)++] = best;
		}
		w.from = m->v[best].last_call;
	}
	return 0;
}

/* Return: the window of an unsafe operation of @value. */
static struct ll_window unsafe_op(const struct stack *s, uint32_t value)
{
	const struct loglinear *m = s->m;
	const struct ll_value *v = &m->v[value];
	const uint32_t *peek;

	if (v->remove != LL_NONE && !s->safe[v->remove])
		return ll_remove_window(v);
	if (v->add != LL_NONE && !s->safe[v->add])
		return ll_add_window(v);
	for (peek = ll_peeks(m, value); s->safe[*peek]; peek++)
		;
	return ll_peek_window(m, v, *peek);
}

static void say_why(struct stack *s, const uint32_t *core, uint32_t n)
{
	struct loglinear *m = s->m;

	ll_core_start(m, unsafe_op(s, core[0]).to + 1);
	if (n == 2)
		ll_core_say(m,
			    "%" PRIu64 " was pushed, seen or popped while %" PRIu64
			    " was on top of it, and %" PRIu64 " while %" PRIu64 " was",
			    ll_word(m, core[0]), ll_word(m, core[1]), ll_word(m, core[1]),
			    ll_word(m, core[0]));
	else
		ll_core_say(m,
			    "%" PRIu64 " was pushed, seen or popped while %" PRIu64
			    " was on top of it, and so on in a circle of %u values",
			    ll_word(m, core[0]), ll_word(m, core[n > 1]), n);
}

/*
 * Make a core of a few of the values that are left: one value, the values that cover an unsafe
 * operation of it, the values that cover an unsafe operation of these, and so on.
 */
static int find_core(struct stack *s)
{
	struct loglinear *m = s->m;
	const size_t nv = (size_t)m->nvalues + 1;
	uint32_t *left = malloc(nv * sizeof(*left)), *core = malloc(nv * sizeof(*core));
	uint32_t *best = calloc(nv, sizeof(*best)), nleft = 0, nbest = UINT32_MAX, i, k, n;
	uint8_t *in = calloc(nv, 1);
	int ret = left && core && best && in ? 0 : -ENOMEM;

	if (!ret && m->npeeks)
		ret = ll_need_peek_times(m) ?: ll_list_peeks(m);
	for (i = 0; !ret && i < m->nvalues; i++)
		if (s->need[i])
			left[nleft++] = i;
	for (k = 0; !ret && k < nleft && k < STARTS; k++) {
		core[0] = left[(uint64_t)k * nleft / (nleft < STARTS ? nleft : STARTS)];
		in[core[0]] = 1;
		n = 1;
		for (i = 0; i < n && n < nbest && !ret; i++) {
			ret = add_cover(s, left, nleft, unsafe_op(s, core[i]), core[i], in, core,
					&n);
		}
		for (i = 0; i < n; i++)
			in[core[i]] = 0;
		if (n >= nbest)
			continue;
		nbest = n;
		memcpy(best, core, n * sizeof(*core));
	}
	if (!ret)
		say_why(s, best, nbest);
	for (i = 0; !ret && i < nbest; i++)
		ret = ll_core_add(m, best[i]);
	free(left);
	free(core);
	free(best);
	free(in);
	return ret;
}

static int stack_init(struct stack *s)
{
	struct loglinear *m = s->m;
	int ret;

	ret = ll_positions_init(m) ?: pieces_of_others(&s->ops, m);
	if (!ret && m->npeeks)
		ret = pieces_of_peeks(&s->peeks, m);
	if (!ret && m->ordered)
		ret = ll_list_peeks(m);
	/* A core makes the times again. */
	if (!m->ordered)
		ll_free_times(m);
	if (!ret)
		ret = fill_cover(s);
	if (!ret && m->ordered)
		ret = position_set_init(&s->open, m->end, false);
	if (!ret && m->npeeks)
		ret = position_set_init(&s->seen, m->end, false);
	s->safe = calloc((size_t)m->nitems + 1, 1);
	return ret ? ret : s->safe ? 0 : -ENOMEM;
}

static int stack_decide(struct loglinear *m)
{
	struct stack s = { .m = m, .todo = LL_NONE };
	uint32_t i;
	int ret = stack_init(&s);

	if (ret)
		goto out;
	visit_all(&s, 0, (m->end - 1) / COVER_BLOCK);
	while (s.todo != LL_NONE) {
		i = s.todo;
		s.todo = s.need[i];
		take_away(&s, i);
	}
	ret = s.ntaken == s.alive ? 1 : find_core(&s);
out:
	stack_free(&s);
	return ret;
}

static const struct ll_type ll_stack = {
	.kind = KL_CONTAINER_STACK,
	.phases = true,
	.decide = stack_decide,
	.order = ll_positions_order,
};
LL_MONITOR(ll_stack);
