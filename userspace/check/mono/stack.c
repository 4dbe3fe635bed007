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

#include "check/mono/cover.h"
#include "check/mono/gaps.h"

#define STARTS	16	/* cores that are looked at, the smallest is taken */

struct stack {
	struct mono *m;
	struct mono_gaps *g;
	struct cover cover;
	struct mono_bits open;	/* gaps that nothing covers */
	struct mono_bits seen;	/* gaps that a single value covers, or covered */
	uint32_t *list, *from;	/* operations that are not safe by block, perhaps */
	uint32_t *nlist;
	uint8_t *safe;		/* of each item */
	uint32_t *need;		/* of each value: operations that are not safe, plus 1 */
	uint32_t *todo, ntodo;	/* values that can be at the bottom */
	uint32_t ntaken;
};

static void stack_free(struct stack *s)
{
	cover_free(&s->cover);
	mono_bits_free(&s->open);
	mono_bits_free(&s->seen);
	free(s->list);
	free(s->from);
	free(s->nlist);
	free(s->safe);
	free(s->need);
	free(s->todo);
}

/* Operations by the blocks of gaps that they have part in. */
static int list_ops(struct stack *s)
{
	const struct mono *m = s->m;
	const uint32_t blocks = s->g->n / COVER_BLOCK + 1;
	uint32_t i, b, n = 0;

	s->from = calloc((size_t)blocks + 2, sizeof(*s->from));
	s->nlist = calloc((size_t)blocks + 1, sizeof(*s->nlist));
	if (!s->from || !s->nlist)
		return -ENOMEM;
	for (i = 0; i < m->nitems; i++) {
		if (mono_kind(m->op[i]) > MONO_PEEK)
			continue;
		for (b = s->g->op[i].from / COVER_BLOCK; b <= s->g->op[i].to / COVER_BLOCK; b++)
			s->from[b + 1]++;
	}
	for (b = 0; b < blocks; b++)
		s->from[b + 1] += s->from[b];
	n = s->from[blocks];
	s->list = malloc(((size_t)n + 1) * sizeof(*s->list));
	if (!s->list)
		return -ENOMEM;
	for (i = 0; i < m->nitems; i++) {
		if (mono_kind(m->op[i]) > MONO_PEEK)
			continue;
		for (b = s->g->op[i].from / COVER_BLOCK; b <= s->g->op[i].to / COVER_BLOCK; b++)
			s->list[s->from[b] + s->nlist[b]++] = i;
	}
	return 0;
}

static int fill_cover(struct stack *s)
{
	const struct mono *m = s->m;
	struct mono_gaps *g = s->g;
	uint32_t i, n = 0;
	int ret = cover_init(&s->cover, g->n, m->npeeks);
	int32_t *count = s->cover.count[0], sum = 0;
	uint32_t *ids = s->cover.ids[0], id = 0;

	if (ret)
		return ret;
	for (i = 0; i < m->nvalues; i++) {
		if (!mono_critical(&m->v[i]))
			continue;
		n++;
		count[g->v[i].lo + 1]++;
		if ((uint32_t)g->v[i].hi < g->n)
			count[g->v[i].hi]--;
		if (!ids)
			continue;
		ids[g->v[i].lo + 1] += i;
		if ((uint32_t)g->v[i].hi < g->n)
			ids[g->v[i].hi] -= i;
	}
	for (i = 0; i < g->n; i++) {
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

static void mark_safe(struct stack *s, uint32_t item)
{
	const uint32_t value = s->m->op[item] & MONO_VALUE;

	s->safe[item] = 1;
	if (--s->need[value] == 1)
		s->todo[s->ntodo++] = value;
}

/* A peek whose value is all that covers a gap of it. */
static bool seen_alone(struct stack *s, uint32_t item, uint64_t alone, uint32_t base)
{
	const uint32_t value = s->m->op[item] & MONO_VALUE;

	if (mono_kind(s->m->op[item]) != MONO_PEEK)
		return false;
	for (; alone; alone &= alone - 1) {
		const uint32_t gap = base + __builtin_ctzll(alone);

		if (cover_id(&s->cover, gap) != value)
			continue;
		s->g->at[item] = gap;
		s->safe[item] = 2;
		return true;
	}
	return false;
}

/* In @block, nothing covers the gaps @open any more, and a single value @alone. */
static void visit_ops(struct stack *s, uint32_t block, uint64_t open, uint64_t alone)
{
	const uint32_t base = block * COVER_BLOCK;
	uint32_t *list = s->list + s->from[block], i, n = 0;

	for (i = 0; i < s->nlist[block]; i++) {
		const struct mono_window w = s->g->op[list[i]];
		uint64_t mask = ~0ull;

		if (s->safe[list[i]])
			continue;
		if (w.from > base)
			mask <<= w.from - base;
		if (w.to - base < 63)
			mask &= (2ull << (w.to - base)) - 1;
		if (mask & open) {
			mark_safe(s, list[i]);
		} else if ((mask & alone) && seen_alone(s, list[i], mask & alone, base)) {
			if (--s->need[s->m->op[list[i]] & MONO_VALUE] == 1)
				s->todo[s->ntodo++] = s->m->op[list[i]] & MONO_VALUE;
		} else {
			list[n++] = list[i];
		}
	}
	s->nlist[block] = n;
}

static void visit(struct stack *s, uint32_t block, int32_t owed)
{
	int32_t *count = s->cover.count[0] + (size_t)block * COVER_BLOCK;
	uint64_t open = 0, alone = 0;
	uint32_t i;

	for (i = 0; i < COVER_BLOCK; i++) {
		const uint32_t gap = block * COVER_BLOCK + i;
		const bool again = s->cover.level &&
				   (s->seen.word[0][gap / 64] >> gap % 64 & 1);

		if (count[i] + owed > s->cover.level)
			continue;
		if (s->cover.level && !again && count[i] + owed == 1) {
			/* Found once more when nothing is left. */
			s->seen.word[0][gap / 64] |= 1ull << gap % 64;
			count[i]++;
			alone |= 1ull << i;
		} else {
			count[i] = INT32_MAX / 2;
			mono_bits_set(&s->open, gap);
			open |= 1ull << i;
		}
	}
	cover_update(&s->cover, block);
	visit_ops(s, block, open, alone);
}

static void visit_all(struct stack *s)
{
	uint32_t block = 0;
	int32_t owed;

	while ((block = cover_find(&s->cover, block, &owed)) != UINT32_MAX)
		visit(s, block, owed);
}

/* @value is at the bottom of what is left. */
static void take_away(struct stack *s, uint32_t value)
{
	const struct mono *m = s->m;
	const struct mono_value *v = &m->v[value];
	const struct mono_edges *e = &s->g->v[value];
	uint32_t in = 0, out = s->g->n - 1, peek, *at = s->g->at;

	s->need[value] = 0;
	s->g->rank[value] = s->ntaken++;
	if (v->add != MONO_NONE)
		at[v->add] = in = mono_bits_prev(&s->open, e->lo);
	if (v->remove != MONO_NONE) {
		out = mono_bits_next(&s->open, e->hi);
		if (v->add != MONO_NONE && out < in)
			out = in;
		at[v->remove] = out;
	}
	for (peek = v->peeks ? m->first_peek[value] : MONO_NONE; peek != MONO_NONE;
	     peek = m->next_peek[peek]) {
		const uint32_t from = s->g->op[peek].from;

		if (s->safe[peek] != 2)
			at[peek] = mono_bits_next(&s->open, from > in ? from : in);
	}
	if (mono_critical(v) && e->lo + 1 < e->hi)
		cover_take(&s->cover, e->lo + 1, e->hi - 1, value);
}

/* The values that were left, other than @but, which cover all gaps of @item. */
static int add_cover(struct stack *s, const uint32_t *left, uint32_t nleft, uint32_t item,
		     uint32_t but, uint8_t *in, uint32_t *core, uint32_t *n)
{
	const struct mono *m = s->m;
	uint32_t from = s->g->op[item].from, i, best;

	while (from <= s->g->op[item].to) {
		best = MONO_NONE;
		for (i = 0; i < nleft; i++) {
			const struct mono_edges *e = &s->g->v[left[i]];

			if (left[i] == but || !mono_critical(&m->v[left[i]]) ||
			    e->lo >= (int64_t)from || e->hi <= (int64_t)from)
				continue;
			if (best == MONO_NONE || e->hi > s->g->v[best].hi ||
			    (e->hi == s->g->v[best].hi && in[left[i]]))
				best = left[i];
		}
		if (best == MONO_NONE)
			return -EINVAL;
		if (!in[best]) {
			in[best] = 1;
			core[(*n)++] = best;
		}
		from = s->g->v[best].hi;
	}
	return 0;
}

static uint32_t unsafe_op(const struct stack *s, uint32_t value)
{
	const struct mono *m = s->m;
	const struct mono_value *v = &m->v[value];
	uint32_t peek;

	if (v->remove != MONO_NONE && !s->safe[v->remove])
		return v->remove;
	if (v->add != MONO_NONE && !s->safe[v->add])
		return v->add;
	for (peek = v->peeks ? m->first_peek[value] : MONO_NONE; peek != MONO_NONE;
	     peek = m->next_peek[peek])
		if (!s->safe[peek])
			break;
	return peek;
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
	uint32_t *best = malloc(nv * sizeof(*best)), nleft = 0, nbest = UINT32_MAX, i, k, n, item;
	uint8_t *in = calloc(nv, 1);
	int ret = left && core && best && in ? mono_times(m) : -ENOMEM;

	for (i = 0; !ret && i < m->nvalues; i++)
		if (s->need[i])
			left[nleft++] = i;
	for (k = 0; !ret && k < nleft && k < STARTS; k++) {
		core[0] = left[(uint64_t)k * nleft / (nleft < STARTS ? nleft : STARTS)];
		in[core[0]] = 1;
		n = 1;
		for (i = 0; i < n && n < nbest && !ret; i++) {
			item = unsafe_op(s, core[i]);
			ret = add_cover(s, left, nleft, item, core[i], in, core, &n);
		}
		for (i = 0; i < n; i++)
			in[core[i]] = 0;
		if (n >= nbest)
			continue;
		nbest = n;
		memcpy(best, core, n * sizeof(*core));
	}
	if (!ret) {
		item = unsafe_op(s, best[0]);
		mono_core_start(m, mono_ret(m, item), "%" PRIu64 " was used while another was on top "
				"of it, and so it is with that one", mono_word(m, best[0]));
	}
	for (i = 0; !ret && i < nbest; i++)
		ret = mono_core_add(m, best[i]);
	free(left);
	free(core);
	free(best);
	free(in);
	return ret;
}

static int stack_decide(struct mono *m)
{
	struct stack s = { .m = m };
	uint32_t i, alive = 0;
	int ret = mono_gaps_init(m);

	s.g = m->gaps;
	if (!ret)
		ret = fill_cover(&s) ?: mono_bits_init(&s.open, s.g->n, false) ?:
		      mono_bits_init(&s.seen, s.g->n, false) ?: list_ops(&s);
	s.safe = calloc((size_t)m->nitems + 1, 1);
	s.need = calloc((size_t)m->nvalues + 1, sizeof(*s.need));
	s.todo = malloc(((size_t)m->nvalues + 1) * sizeof(*s.todo));
	if (ret || !s.safe || !s.need || !s.todo) {
		ret = -ENOMEM;
		goto out;
	}
	for (i = 0; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		if (mono_gone(m, v))
			continue;
		alive++;
		s.need[i] = 1 + (v->add != MONO_NONE) + (v->remove != MONO_NONE) + v->peeks;
	}
	visit_all(&s);
	while (s.ntodo) {
		take_away(&s, s.todo[--s.ntodo]);
		visit_all(&s);
	}
	ret = s.ntaken == alive ? 1 : find_core(&s);
out:
	stack_free(&s);
	return ret;
}

const struct mono_type mono_stack = { .decide = stack_decide, .order = mono_gaps_order };
