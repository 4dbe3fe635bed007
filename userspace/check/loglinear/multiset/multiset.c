// SPDX-License-Identifier: GPL-2.0
/*
 * Multisets: the operations of each key, in groups that do not overlap.
 *
 * As with sets, the count of a key is known when no operation of the key is open.  So an operation
 * that overlaps no other is compared with the count.  Overlapping operations are decided together,
 * see multiset_sim.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/loglinear/multiset/multiset.h"

uint64_t multiset_seen(const struct set *t, uint32_t op)
{
	return kl_op_res(t->s->h, &t->s->h->ops[set_index(t, set_item(op))])->v;
}

/*
 * Update the key's state by @op, which saw a count or none.  Return: 1, 0 if that is impossible,
 * -EAGAIN if the count is too large.
 */
static int count_seen(struct set_part *s, uint32_t *state, uint32_t op)
{
	const uint32_t count = *state >> MULTISET_COUNT;
	const bool any = *state & MULTISET_ANY;
	const uint64_t seen = set_what(op) == SEES_COUNT ? multiset_seen(s->t, op) : 0;

	if (any ? seen < count : seen != count) {
		s->bad_why = "was inside another number of times";
		return 0;
	}
	*state = seen << MULTISET_COUNT | MULTISET_SEEN;
	return seen > MULTISET_MOST ? -EAGAIN : 1;
}

/* Update the key's state by @op, which overlaps no other.  Return: 1, 0, -EAGAIN. */
static inline int after_one(struct set_part *s, uint32_t *state, uint32_t op)
{
	const uint32_t one = 1u << MULTISET_COUNT;
	const enum what what = set_what(op);

	if (what == FREE)
		return 1;
	if (what == UP) {
		*state += one;
		return 1;
	}
	if (what == SEES_OUT || what == SEES_COUNT)
		return count_seen(s, state, op);
	if (*state < one && !(*state & MULTISET_ANY)) {
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

	if (n != LL_NONE) {
		s->free_sim = s->sim[n].free;
		return n;
	}
	if (kl_grow(s->sim, s->csim, (size_t)s->nsim + 1))
		return LL_NONE;
	s->sim[s->nsim] = (struct multiset_sim){ .free = LL_NONE };
	return s->nsim++;
}

/* Turn the group of one operation into a group of several. */
static int join(struct set_part *s, struct set_key *k)
{
	const struct set_op op = set_only_op(s->t, k);
	const uint32_t n = new_sim(s);
	int ret;

	if (n == LL_NONE)
		return -ENOMEM;
	ret = multiset_begin(&s->sim[n], k->multi >> MULTISET_COUNT, k->multi & MULTISET_ANY,
			     set_item(op.op));
	k->multi |= MULTISET_SEVERAL;
	k->last = n;
	return ret < 0 ? ret : multiset_call(s, &s->sim[n], &op);
}

/* All operations have returned: end the group or, if several counts are possible, go on. */
static int end_several(struct set_part *s, struct set_key *k)
{
	struct multiset_sim *sim = &s->sim[k->last];
	const struct multiset_config *c;
	int ret = multiset_return_all(s, sim);

	if (ret <= 0)
		return ret;
	c = sim->list.c;
	/* Pending operations stay open until all others have returned. */
	if (sim->list.n > 1)
		return 1;
	if (s->t->order && multiset_tell(s, sim))
		return -ENOMEM;
	k->multi = c->count << MULTISET_COUNT | MULTISET_SEEN | (c->any ? MULTISET_ANY : 0);
	sim->free = s->free_sim;
	s->free_sim = k->last;
	return 1;
}

static int end_key(struct set_part *s, struct set_key *k)
{
	int ret;

	if (!k->multi)
		return 1;
	if (!(k->multi & MULTISET_SEVERAL))
		return end_one(s, k);
	ret = end_several(s, k);
	/* If several counts are possible, an order may use any of them. */
	if (ret > 0 && k->multi & MULTISET_SEVERAL && s->t->order)
		ret = multiset_tell(s, &s->sim[k->last]) ?: 1;
	return ret;
}

static inline void begin(struct set_key *k, const struct set_op *op)
{
	k->end = op->ret;
	k->last = op->op;
}

/* Add an operation to a key that is new, or whose group has several operations or is not over. */
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
		if (ret > 0 && !(k->multi & MULTISET_SEVERAL)) {
			begin(k, op);
			return 1;
		}
	} else if (!(k->multi & MULTISET_SEVERAL)) {
		ret = join(s, k);
	}
	if (ret > 0)
		ret = multiset_call(s, &s->sim[k->last], op);
	k->end = op->ret > k->end ? op->ret : k->end;
	return ret;
}

/*
 * The fast path: most operations overlap no other of their key.  Whether a key is new cannot be
 * predicted, so @state is chosen without a branch.
 */
static inline int add(struct set_part *s, struct set_key *k, const struct set_op *op)
{
	uint32_t state = k->multi ? k->multi : s->one;
	int ret;

	if (op->call <= k->end || state & MULTISET_SEVERAL)
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

static int add_all(struct set_part *s, const struct set_op *op, uint32_t n)
{
	return set_add_each(s, op, n, add);
}

static void free_all(struct set_part *s)
{
	uint32_t i;

	for (i = 0; i < s->nsim; i++)
		multiset_sim_free(&s->sim[i]);
	free(s->sim);
	s->sim = NULL;
	s->csim = s->nsim = 0;
	s->free_sim = LL_NONE;
}

const struct set_kind multiset_kind = {
	.multi = true,
	.one = { MULTISET_SEEN | MULTISET_ANY, MULTISET_SEEN },
	.add = add_all,
	.end_key = end_key,
	.free = free_all,
	.confirm = multiset_confirm,
};
