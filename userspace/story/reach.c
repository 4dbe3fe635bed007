// SPDX-License-Identifier: GPL-2.0
/* Searches the states between two operations, see reach.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "story/reach.h"

#define MOST_NODES	1000
#define X_DONE		(1u << KL_REACH_MOST)
#define APPLY_LOOKS	20	/* looks for a call of the interpreter */

/* A state, and the operations that led to it: a bit each, and X_DONE. */
struct node {
	uint32_t done;
	size_t at, len;	/* its values */
	uint64_t hash;
};

struct search {
	struct kl_reach *r;
	struct node *nodes;
	size_t nnodes, cnodes;
	struct kl_val *vals;
	size_t nvals, cvals;
	struct kl_val *state;	/* a copy of the present one, since vals[] may move */
	size_t cstate;
	uint32_t done;	/* of the nodes that outcomes become */
	bool over, found, tried;
};

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct search *s = ctx;
	const uint64_t hash = kl_hash_bytes(o->state, o->len * sizeof(*o->state)) ^ s->done;
	size_t i;

	for (i = 0; i < s->nnodes; i++) {
		const struct node *n = &s->nodes[i];

		if (n->hash == hash && n->done == s->done && n->len == o->len &&
		    !memcmp(s->vals + n->at, o->state, o->len * sizeof(*o->state)))
			return 0;
	}
	if (s->nnodes == MOST_NODES) {
		s->over = true;
		return 1;
	}
	if (kl_grow(s->nodes, s->cnodes, s->nnodes + 1) ||
	    kl_grow(s->vals, s->cvals, s->nvals + o->len))
		return -ENOMEM;
	memcpy(s->vals + s->nvals, o->state, o->len * sizeof(*o->state));
	s->nodes[s->nnodes++] = (struct node){ s->done, s->nvals, o->len, hash };
	s->nvals += o->len;
	return 0;
}

static int on_possible(void *ctx, const struct kl_outcome *o)
{
	struct search *s = ctx;

	s->found = true;
	return 1;
}

static int apply(struct search *s, const struct kl_val *state, size_t len, uint32_t op,
		 kl_outcome_fn fn)
{
	const struct kl_scene *scene = s->r->s;
	const struct kl_op *o = &scene->h->ops[op];
	const int m = kl_spec_find_method(scene->spec, scene->h->methods[kl_op_method(scene->h,
										      o)]);
	int ret = -EINVAL;

	if (m >= 0 && !kl_scene_over(scene, APPLY_LOOKS))
		ret = kl_run_apply(s->r->run, state, len, m, kl_op_args(scene->h, o),
				   o->flags & KL_OP_PENDING ? NULL : kl_op_res(scene->h, o), fn, s);
	/* What the interpreter cannot do is not excluded. */
	if (ret < 0 && ret != -ENOMEM)
		s->over = true;
	return ret == -ENOMEM ? ret : 0;
}

/* Go on from node @i.  Return: 0 or -ENOMEM. */
static int expand(struct search *s, size_t i, uint32_t x, uint32_t e)
{
	const struct node n = s->nodes[i];
	size_t k = n.done & X_DONE ? s->r->nbefore : 0;
	int ret = 0;

	if (kl_grow(s->state, s->cstate, n.len + 1))
		return -ENOMEM;
	memcpy(s->state, s->vals + n.at, n.len * sizeof(*s->state));
	s->done = n.done | X_DONE;
	if (n.done & X_DONE)
		ret = apply(s, s->state, n.len, e, on_possible);
	else
		ret = apply(s, s->state, n.len, x, on_outcome);
	for (; k < s->r->n && !ret && !s->found && !s->over; k++) {
		s->done = n.done | 1u << k;
		if (s->done != n.done)
			ret = apply(s, s->state, n.len, s->r->ops[k], on_outcome);
	}
	return ret;
}

/* Add the operations certainly before @x, or those that are not.  Return: false if full. */
static bool add_ops(struct kl_reach *r, uint32_t x, uint32_t e, bool before)
{
	const struct kl_part_result *p = r->s->part;
	uint32_t i;

	if (kl_scene_over(r->s, p->nops))
		return false;
	for (i = 0; i < p->nops; i++) {
		const uint32_t op = kl_result_op(p, i);

		if (op == x || op == e || kl_scene_before(r->s, e, op) ||
		    before != (x != KL_NO_OP && kl_scene_before(r->s, op, x)))
			continue;
		if (r->n == KL_REACH_MOST)
			return false;
		r->ops[r->n++] = op;
	}
	return true;
}

/* Find the operations that the search applies.  Return: false if they are too many. */
static bool find_ops(struct kl_reach *r, uint32_t x, uint32_t e)
{
	r->n = r->nbefore = 0;
	if (r->first && x != KL_NO_OP && !add_ops(r, x, e, true))
		return false;
	r->nbefore = r->n;
	return add_ops(r, x, e, false);
}

/* Find the operations that may be before @e, and their order.  Return: false if too many. */
static bool find_order(struct kl_reach *r, uint32_t x, uint32_t e)
{
	size_t i, k;

	r->n = r->nbefore = 0;
	if (!add_ops(r, KL_NO_OP, e, false))
		return false;
	for (i = 0; i <= r->n; i++) {
		const uint32_t op = i < r->n ? r->ops[i] : e;

		r->must[i] = 0;
		for (k = 0; k < r->n; k++)
			r->must[i] |= (uint32_t)(kl_scene_before(r->s, r->ops[k], op) ||
						 (i == r->n && r->ops[k] == x))
				      << k;
	}
	return true;
}

/* Go on from node @i with what may come next.  Return: 0 or -ENOMEM. */
static int expand_order(struct search *s, size_t i, uint32_t e)
{
	const struct node n = s->nodes[i];
	const struct kl_reach *r = s->r;
	size_t k;
	int ret = 0;

	if (kl_grow(s->state, s->cstate, n.len + 1))
		return -ENOMEM;
	memcpy(s->state, s->vals + n.at, n.len * sizeof(*s->state));
	if (!(r->must[r->n] & ~n.done)) {
		s->tried = true;
		ret = apply(s, s->state, n.len, e, on_possible);
	}
	for (k = 0; k < r->n && !ret && !s->found && !s->over; k++) {
		s->done = n.done | 1u << k;
		if (s->done != n.done && !(r->must[k] & ~n.done))
			ret = apply(s, s->state, n.len, r->ops[k], on_outcome);
	}
	return ret;
}

int kl_reach_never(struct kl_reach *r, uint32_t x, uint32_t e)
{
	struct search s = { .r = r };
	struct kl_outcome first = { 0 };
	int ret = -ENOMEM;
	size_t i;

	if (!find_order(r, x, e))
		return 0;
	first.state = kl_run_init(r->run, r->s->h->fresh, &first.len);
	if (first.state)
		ret = on_outcome(&s, &first);
	for (i = 0; i < s.nnodes && !ret && !s.found && !s.over; i++)
		ret = expand_order(&s, i, e);
	free(s.nodes);
	free(s.vals);
	free(s.state);
	return ret ?: s.tried && !s.found && !s.over;
}

int kl_reach_excludes(struct kl_reach *r, uint32_t x, uint32_t e)
{
	struct search s = { .r = r };
	struct kl_outcome first = { 0 };
	int ret = -ENOMEM;
	size_t i;

	if (!find_ops(r, x, e))
		return 0;
	first.state = kl_run_init(r->run, r->first, &first.len);
	s.done = x == KL_NO_OP ? X_DONE : 0;
	if (first.state)
		ret = on_outcome(&s, &first);
	/* The unknown state is that before x. */
	if (!ret && !r->first && !kl_grow(s.state, s.cstate, first.len + 1)) {
		memcpy(s.state, s.vals, first.len * sizeof(*s.state));
		s.nnodes = 0;
		s.done = X_DONE;
		ret = apply(&s, s.state, first.len, x, on_outcome);
	}
	for (i = 0; i < s.nnodes && !ret && !s.found && !s.over; i++)
		ret = expand(&s, i, x, e);
	free(s.nodes);
	free(s.vals);
	free(s.state);
	/* An operation that is impossible by itself is a reason of its own. */
	return ret ?: s.nnodes && !s.found && !s.over;
}
