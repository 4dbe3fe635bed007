// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks (section 7).  A value can be at the bottom if each of its operations has a
 * gap in no critical interval of another (Definition 7.1); then all others have
 * their places between these gaps, and are an order by themselves if there is one
 * at all.  So such values are taken away one by one; if at last none is left there
 * is an order, else those left have none: the first of them to be pushed would
 * be one.
 *
 * An operation is safe once it has such a gap, and stays so.  A gap that nothing
 * covers any more makes all operations safe that have it; one that a single
 * value covers, the peeks of that value.  The lower a value is the earlier it was
 * taken away.  It is pushed as late and popped as early as it can be at that time:
 * then no gap is inside its life that one below it was found in.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/position_set.h"
#include "check/loglinear/window_index.h"

#define STARTS	16	/* cores that are looked at, the smallest is taken */

struct stack {
	struct mono *m;
	struct cover cover;
	struct mono_bits open;	/* gaps that nothing covers, for an order */
	struct mono_bits seen;	/* gaps that a single value covers, or covered */
	struct pieces ops, peeks;	/* that are not safe, perhaps; ops: all others */
	uint8_t *safe;		/* of each item; 2: a gap that only its value covered */
	/*
	 * Of each value the operations that are not safe, plus 1; of those that can be at the
	 * bottom the next of these; 0: taken away.
	 */
	uint32_t *need;
	uint32_t todo;		/* the first that can be at the bottom, MONO_NONE */
	uint32_t alive, ntaken;
};

static void stack_free(struct stack *s)
{
	cover_free(&s->cover);
	mono_bits_free(&s->open);
	mono_bits_free(&s->seen);
	pieces_free(&s->ops);
	pieces_free(&s->peeks);
	free(s->safe);
	free(s->need);
}

/* Critical intervals, and how many operations are to become safe. */
static void put_values(struct stack *s)
{
	const struct mono *m = s->m;
	int32_t *count = s->cover.count[0];
	uint32_t *ids = s->cover.ids[0], critical, i;

	for (i = 0; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		s->need[i] = 0;
		if (mono_gone(m, v))
			continue;
		s->alive++;
		s->need[i] = 1 + (v->add != MONO_NONE) + (v->remove != MONO_NONE) + v->peeks;
		/* Which are critical is chance. */
		critical = mono_critical(v);
		count[v->lo] += critical;
		count[v->hi] -= critical;
		if (!ids)
			continue;
		ids[v->lo] += i & -critical;
		ids[v->hi] -= i & -critical;
	}
}

static int fill_cover(struct stack *s)
{
	const struct mono *m = s->m;
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

/* Whether it is the last one of its value is chance. */
static inline void mark_safe(struct stack *s, uint32_t item, uint8_t how)
{
	const uint32_t value = s->m->op[item] & MONO_VALUE, need = s->need[value] - 1;
	const uint32_t last = -(uint32_t)(need == 1);

	s->safe[item] = how;
	__builtin_prefetch(&s->m->v[value]);
	s->need[value] = (need & ~last) | (s->todo & last);
	s->todo = (s->todo & ~last) | (value & last);
}

/* Gaps that were found in a block, see visit_list(). */
struct found {
	uint64_t open, alone, gaps;
	uint32_t base;
};

/* A peek whose value is all that covers a gap of it, one of those that @mask has part in. */
static bool seen_alone(struct stack *s, uint32_t item, uint64_t mask, const struct found *f)
{
	const uint32_t value = s->m->op[item] & MONO_VALUE;
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
 * The operations listed with a block: in its gaps @open nothing covers them any more, in
 * @alone, which only peeks ask for, a single value.  On a higher level, where bits are
 * blocks, @gaps are those of the block at @base.
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
			/* Found once more when nothing is left. */
			s->seen.word[0][gap / 64] |= 1ull << gap % 64;
			count[i]++;
			alone |= 1ull << i;
		} else {
			count[i] = COVER_NEVER;
			if (s->m->ordered)
				mono_bits_set(&s->open, gap);
		}
	}
	cover_update(&s->cover, block);
	visit_ops(s, block, open & ~alone, alone);
}

/* Visit all that is not covered any more, in blocks @block .. @last. */
static void visit_all(struct stack *s, uint32_t block, uint32_t last)
{
	int32_t owed;

	while ((block = cover_find(&s->cover, block, last, &owed)) != UINT32_MAX)
		visit(s, block, owed);
}

/* Where the operations of a value at the bottom of what is left take effect. */
static void put_value(struct stack *s, uint32_t value)
{
	const struct mono *m = s->m;
	const struct mono_value *v = &m->v[value];
	uint32_t in = 0, out = m->end - 1, first, i, *at = m->places->at;

	m->places->rank[value] = s->ntaken;
	if (v->add != MONO_NONE)
		in = mono_bits_prev(&s->open, v->lo - 1);
	if (v->remove != MONO_NONE) {
		out = mono_bits_next(&s->open, v->hi);
		/* All at one time. */
		if (v->add != MONO_NONE && out < in)
			out = in;
		at[v->remove] = out;
	}
	first = in;
	for (i = 0; i < v->peeks; i++) {
		const uint32_t peek = mono_peeks(m, value)[i];
		const uint32_t from = mono_peek_window(m, v, peek).from;

		if (s->safe[peek] != 2)
			at[peek] = mono_bits_next(&s->open, from > in ? from : in);
		first = at[peek] < first ? at[peek] : first;
	}
	if (v->add != MONO_NONE)
		at[v->add] = first;
}

/* @value is at the bottom of what is left. */
static void take_away(struct stack *s, uint32_t value)
{
	const struct mono_value *v = &s->m->v[value];

	s->need[value] = 0;
	if (s->m->ordered)
		put_value(s, value);
	s->ntaken++;
	if (!mono_critical(v))
		return;
	cover_take(&s->cover, v->lo, v->hi - 1, value);
	visit_all(s, v->lo / COVER_BLOCK, (v->hi - 1) / COVER_BLOCK);
}

/* The values that were left, other than @but, which cover all gaps of @w. */
static int add_cover(struct stack *s, const uint32_t *left, uint32_t nleft, struct mono_window w,
		     uint32_t but, uint8_t *in, uint32_t *core, uint32_t *n)
{
	const struct mono *m = s->m;
	uint32_t i, best;

	while (w.from <= w.to) {
		best = MONO_NONE;
		for (i = 0; i < nleft; i++) {
			const struct mono_value *v = &m->v[left[i]];

			if (left[i] == but || !mono_critical(v) || v->lo > w.from ||
			    v->hi <= w.from)
				continue;
			if (best == MONO_NONE || v->hi > m->v[best].hi ||
			    (v->hi == m->v[best].hi && in[left[i]]))
				best = left[i];
		}
		if (best == MONO_NONE)
			return -EINVAL;
		if (!in[best]) {
			in[best] = 1;
			core[(*n)++] = best;
		}
		w.from = m->v[best].hi;
	}
	return 0;
}

/* The window of an operation of @value that is not safe. */
static struct mono_window unsafe_op(const struct stack *s, uint32_t value)
{
	const struct mono *m = s->m;
	const struct mono_value *v = &m->v[value];
	const uint32_t *peek;

	if (v->remove != MONO_NONE && !s->safe[v->remove])
		return mono_remove_window(v);
	if (v->add != MONO_NONE && !s->safe[v->add])
		return mono_add_window(v);
	for (peek = mono_peeks(m, value); s->safe[*peek]; peek++)
		;
	return mono_peek_window(m, v, *peek);
}

static void say_why(struct stack *s, const uint32_t *core, uint32_t n)
{
	struct mono *m = s->m;

	mono_core_start(m, unsafe_op(s, core[0]).to + 1);
	if (n == 2)
		mono_core_say(m, "%" PRIu64 " was pushed, seen or popped while %" PRIu64 " was on top "
			      "of it, and %" PRIu64 " while %" PRIu64 " was", mono_word(m, core[0]),
			      mono_word(m, core[1]), mono_word(m, core[1]), mono_word(m, core[0]));
	else
		mono_core_say(m, "%" PRIu64 " was pushed, seen or popped while %" PRIu64 " was on top "
			      "of it, and so on: each of %u values has another on top",
			      mono_word(m, core[0]), mono_word(m, core[n > 1]), n);
}

/*
 * A few of those left that have no order without the others either: one, those
 * that cover an operation of it, those that cover one of theirs, and so on.
 */
static int find_core(struct stack *s)
{
	struct mono *m = s->m;
	const size_t nv = (size_t)m->nvalues + 1;
	uint32_t *left = malloc(nv * sizeof(*left)), *core = malloc(nv * sizeof(*core));
	uint32_t *best = calloc(nv, sizeof(*best)), nleft = 0, nbest = UINT32_MAX, i, k, n;
	uint8_t *in = calloc(nv, 1);
	int ret = left && core && best && in ? 0 : -ENOMEM;

	if (!ret && m->npeeks)
		ret = mono_need_peek_times(m) ?: mono_list_peeks(m);
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
		ret = mono_core_add(m, best[i]);
	free(left);
	free(core);
	free(best);
	free(in);
	return ret;
}

static int stack_init(struct stack *s)
{
	struct mono *m = s->m;
	int ret;

	ret = mono_places_init(m) ?: pieces_of_others(&s->ops, m);
	if (!ret && m->npeeks)
		ret = pieces_of_peeks(&s->peeks, m);
	if (!ret && m->ordered)
		ret = mono_list_peeks(m);
	/* Made again for a core. */
	if (!m->ordered)
		mono_free_times(m);
	if (!ret)
		ret = fill_cover(s);
	if (!ret && m->ordered)
		ret = mono_bits_init(&s->open, m->end, false);
	if (!ret && m->npeeks)
		ret = mono_bits_init(&s->seen, m->end, false);
	s->safe = calloc((size_t)m->nitems + 1, 1);
	return ret ? ret : s->safe ? 0 : -ENOMEM;
}

static int stack_decide(struct mono *m)
{
	struct stack s = { .m = m, .todo = MONO_NONE };
	uint32_t i;
	int ret = stack_init(&s);

	if (ret)
		goto out;
	visit_all(&s, 0, (m->end - 1) / COVER_BLOCK);
	while (s.todo != MONO_NONE) {
		i = s.todo;
		s.todo = s.need[i];
		take_away(&s, i);
	}
	ret = s.ntaken == s.alive ? 1 : find_core(&s);
out:
	stack_free(&s);
	return ret;
}

const struct mono_type mono_stack = { .decide = stack_decide, .order = mono_places_order };
