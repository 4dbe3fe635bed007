// SPDX-License-Identifier: GPL-2.0
/*
 * Multisets: the operations of each key, in groups that do not overlap.
 *
 * As with sets, when nothing of the key is open it is known how many of it there are, so
 * an operation that overlaps no other takes a look at that.  Others are decided together,
 * see multiset_sim.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/loglinear/multiset/multiset.h"

uint64_t multi_seen(const struct set *t, uint32_t op)
{
	return kl_op_res(t->s->h, &t->s->h->ops[set_index(t, set_item(op))])->v;
}

/* How many there are after @op, which saw a number or not.  1, 0 if it cannot be, -EAGAIN. */
static int count_seen(struct set_part *s, uint32_t *state, uint32_t op)
{
	const uint32_t count = *state >> MULTI_COUNT;
	const bool any = *state & MULTI_ANY;
	const uint64_t seen = set_what(op) == SEES_COUNT ? multi_seen(s->t, op) : 0;

	if (any ? seen < count : seen != count) {
		s->bad_why = "was in another number of times";
		return 0;
	}
	*state = seen << MULTI_COUNT | MULTI_SEEN;
	return seen > MULTI_MOST ? -EAGAIN : 1;
}

/* After an operation by itself. */
static inline int after_one(struct set_part *s, uint32_t *state, uint32_t op)
{
	const uint32_t one = 1u << MULTI_COUNT;
	const enum what what = set_what(op);

	if (what == FREE)
		return 1;
	if (what == UP) {
		*state += one;
		return 1;
	}
	if (what == SEES_OUT || what == SEES_COUNT)
		return count_seen(s, state, op);
	if (*state < one && !(*state & MULTI_ANY)) {
		s->bad_why = "was out";
		return 0;
	}
	if (*state < one)
		*state += one;
	if (what == DOWN)
		*state -= one;
	return 1;
}

static int end_one(struct set_part *s, struct set_key *k)
{
	const int ret = k->end == KL_TIME_MAX ? 1 : after_one(s, &k->multi, k->last);

	if (!ret)
		s->bad_item = set_item(k->last);
	return ret;
}

static uint32_t new_sim(struct set_part *s)
{
	uint32_t n = s->free_sim;

	if (n != MONO_NONE) {
		s->free_sim = s->sim[n].free;
		return n;
	}
	if (kl_grow(s->sim, s->csim, (size_t)s->nsim + 1))
		return MONO_NONE;
	s->sim[s->nsim] = (struct multi_sim){ .free = MONO_NONE };
	return s->nsim++;
}

/* The operation becomes one of several. */
static int join(struct set_part *s, struct set_key *k)
{
	const struct set_op op = set_only_op(s->t, k);
	const uint32_t n = new_sim(s);
	int ret;

	if (n == MONO_NONE)
		return -ENOMEM;
	ret = multi_begin(&s->sim[n], k->multi >> MULTI_COUNT, k->multi & MULTI_ANY,
			  set_item(op.op));
	k->multi |= MULTI_SEVERAL;
	k->last = n;
	return ret < 0 ? ret : multi_call(s, &s->sim[n], &op);
}

/* All have returned.  If it is not known how many there are it goes on. */
static int end_several(struct set_part *s, struct set_key *k)
{
	struct multi_sim *sim = &s->sim[k->last];
	const struct multi_config *c;
	int ret = multi_return_all(s, sim);

	if (ret <= 0)
		return ret;
	c = sim->list.c;
	/* What never returns does not end before all others do. */
	if (sim->list.n > 1)
		return 1;
	if (s->t->order && multi_tell(s, sim))
		return -ENOMEM;
	k->multi = c->count << MULTI_COUNT | MULTI_SEEN | (c->any ? MULTI_ANY : 0);
	sim->free = s->free_sim;
	s->free_sim = k->last;
	return 1;
}

int multi_end_key(struct set_part *s, struct set_key *k)
{
	int ret;

	if (!k->multi)
		return 1;
	if (!(k->multi & MULTI_SEVERAL))
		return end_one(s, k);
	ret = end_several(s, k);
	/* Of several numbers any will do. */
	if (ret > 0 && k->multi & MULTI_SEVERAL && s->t->order)
		ret = multi_tell(s, &s->sim[k->last]) ?: 1;
	return ret;
}

static inline void begin(struct set_key *k, const struct set_op *op)
{
	k->end = op->ret;
	k->last = op->op;
}

/* An operation of a key that was not seen yet, or has several or one that goes on. */
static int add_slowly(struct set_part *s, struct set_key *k, const struct set_op *op)
{
	int ret = 1;

	if (!k->multi) {
		k->multi = s->one;
		begin(k, op);
		return 1;
	}
	if (op->call > k->end) {
		ret = end_several(s, k);
		if (ret > 0 && !(k->multi & MULTI_SEVERAL)) {
			begin(k, op);
			return 1;
		}
	} else if (!(k->multi & MULTI_SEVERAL)) {
		ret = join(s, k);
	}
	if (ret > 0)
		ret = multi_call(s, &s->sim[k->last], op);
	k->end = op->ret > k->end ? op->ret : k->end;
	return ret;
}

/* Most are by themselves, and whether a key is new is chance. */
static inline int add(struct set_part *s, struct set_key *k, const struct set_op *op)
{
	uint32_t state = k->multi ? k->multi : s->one;
	int ret;

	if (op->call <= k->end || state & MULTI_SEVERAL)
		return add_slowly(s, k, op);
	ret = after_one(s, &state, k->last);
	if (ret <= 0) {
		s->bad_item = set_item(k->last);
		return ret;
	}
	k->multi = state;
	begin(k, op);
	return 1;
}

int multi_add(struct set_part *s, const struct set_op *op, uint32_t n)
{
	return set_add_each(s, op, n, add);
}

void multi_free(struct set_part *s)
{
	uint32_t i;

	for (i = 0; i < s->nsim; i++)
		multi_sim_free(&s->sim[i]);
	free(s->sim);
	s->sim = NULL;
	s->csim = s->nsim = 0;
	s->free_sim = MONO_NONE;
}
