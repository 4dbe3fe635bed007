// SPDX-License-Identifier: GPL-2.0
/*
 * Searches the states between two operations, see reach.h.  The searches of one story meet the same
 * states again and again.  So states are numbered, and what an operation makes of a state is found
 * once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "story/reach.h"

#define MOST_NODES	1000
#define X_DONE		(1u << KL_REACH_MOST)
#define STEP_LOOKS 8 /* looks for a step, also if it is known */

/* The states that an operation makes of a state. */
struct kl_reach_step {
	uint32_t state, sig;
	bool pending;
	bool last; /* only whether it is possible was asked */
	bool over; /* the interpreter could not tell all */
	uint32_t n; /* number of states after it */
	size_t next; /* index of the first one in kl_reach.next */
};

/* A state, and the operations that led to it: a bit each, and X_DONE. */
struct node {
	uint32_t done, state;
};

struct search {
	struct kl_reach *r;
	struct node *nodes;
	size_t nnodes, cnodes;
	struct kl_table table; /* of nodes */
	bool over, found, tried;
};

void kl_reach_free(struct kl_reach *r)
{
	kl_run_free(r->run);
	kl_intern_free(&r->states);
	kl_table_free(&r->table);
	free(r->steps);
	free(r->next);
	free(r->state);
}

static int64_t add_state(struct kl_reach *r, const struct kl_val *state, size_t len)
{
	return kl_intern(&r->states, (const uint64_t *)state, len * sizeof(*state) / 8);
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct kl_reach *r = ctx;
	const int64_t state = add_state(r, o->state, o->len);

	if (state < 0)
		return state;
	if (kl_grow(r->next, r->cnext, r->nnext + 1))
		return -ENOMEM;
	r->next[r->nnext++] = state;
	return kl_scene_over(r->s, o->len) ? -EDQUOT : 0;
}

/* The first outcome shows that the operation is possible. */
static int on_possible(void *ctx, const struct kl_outcome *o)
{
	return 1;
}

/* Find what an operation makes of a state.  Return: 0 or -ENOMEM. */
static int run(struct kl_reach *r, struct kl_reach_step *step, uint32_t op)
{
	const uint64_t *words;
	size_t n;
	int ret;

	step->next = r->nnext;
	words = kl_intern_get(&r->states, step->state, &n);
	if (kl_grow(r->state, r->cstate, n + 1))
		return -ENOMEM;
	/* The states may move while others are added. */
	memcpy(r->state, words, n * sizeof(*words));
	ret = kl_scene_apply(r->s, r->run, r->state, n * sizeof(*words) / sizeof(*r->state), op,
			     step->last ? on_possible : on_outcome, r);
	if (ret == -ENOMEM)
		return ret;
	/* An operation that the interpreter cannot run is not excluded. */
	step->over = ret < 0;
	step->n = step->last ? ret > 0 : r->nnext - step->next;
	return 0;
}

static uint64_t hash_step(const struct kl_reach_step *s)
{
	return kl_mix(s->state, (uint64_t)s->sig << 2 | s->pending << 1 | s->last);
}

/* Set *@i to what operation @op makes of a state; @last: is it possible?  Return: 0 or -ENOMEM. */
static int find_step(struct kl_reach *r, uint32_t state, uint32_t op, bool last, uint32_t *i)
{
	const struct kl_op *o = &r->s->h->ops[op];
	struct kl_reach_step step = {
		.state = state,
		.sig = o->sig,
		.pending = o->flags & KL_OP_PENDING,
		.last = last,
	};
	const uint32_t hash = hash_step(&step);
	size_t at;

	kl_table_for_each(&r->table, hash, at, *i)
	{
		const struct kl_reach_step *k = &r->steps[*i];

		if (k->state == state && k->sig == step.sig && k->pending == step.pending &&
		    k->last == last)
			return 0;
	}
	*i = r->nsteps;
	if (run(r, &step, op) || kl_grow(r->steps, r->csteps, r->nsteps + 1) ||
	    kl_table_add(&r->table, hash, r->nsteps))
		return -ENOMEM;
	r->steps[r->nsteps++] = step;
	return 0;
}

/* Add a node unless it is there.  Return: 0 or -ENOMEM. */
static int add_node(struct search *s, uint32_t done, uint32_t state)
{
	const uint32_t hash = kl_mix(state, done);
	uint32_t i;
	size_t at;

	kl_table_for_each(&s->table, hash, at, i)
	{
		if (s->nodes[i].done == done && s->nodes[i].state == state)
			return 0;
	}
	if (s->nnodes == MOST_NODES) {
		s->over = true;
		return 0;
	}
	if (kl_grow(s->nodes, s->cnodes, s->nnodes + 1))
		return -ENOMEM;
	s->nodes[s->nnodes] = (struct node){ done, state };
	return kl_table_add(&s->table, hash, s->nnodes++) ? -ENOMEM : 0;
}

/* Operation @op takes effect, and the nodes after it have @done.  Return: 0 or -ENOMEM. */
static int apply(struct search *s, uint32_t state, uint32_t op, uint32_t done)
{
	struct kl_reach *r = s->r;
	const struct kl_reach_step *step;
	uint32_t at, i;
	int ret = 0;

	if (kl_scene_over(r->s, STEP_LOOKS)) {
		s->over = true;
		return 0;
	}
	if (find_step(r, state, op, false, &at))
		return -ENOMEM;
	step = &r->steps[at];
	s->over |= step->over;
	for (i = 0; i < step->n && !ret && !s->over; i++)
		ret = add_node(s, done, r->next[step->next + i]);
	return ret;
}

/* Note whether operation @e is possible.  Return: 0 or -ENOMEM. */
static int try_last(struct search *s, uint32_t state, uint32_t e)
{
	uint32_t at;

	if (kl_scene_over(s->r->s, STEP_LOOKS)) {
		s->over = true;
		return 0;
	}
	if (find_step(s->r, state, e, true, &at))
		return -ENOMEM;
	s->over |= s->r->steps[at].over;
	s->found |= s->r->steps[at].n;
	s->tried = true;
	return 0;
}

/* Go on from a node.  Return: 0 or -ENOMEM. */
static int expand(struct search *s, struct node n, uint32_t x, uint32_t e)
{
	size_t k = n.done & X_DONE ? s->r->nbefore : 0;
	int ret;

	ret = n.done & X_DONE ? try_last(s, n.state, e) : apply(s, n.state, x, n.done | X_DONE);
	for (; k < s->r->n && !ret && !s->found && !s->over; k++)
		if (!(n.done & 1u << k))
			ret = apply(s, n.state, s->r->ops[k], n.done | 1u << k);
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

/* Set the first nodes of a search.  Return: 0 or -ENOMEM. */
static int begin(struct search *s, uint32_t x)
{
	struct kl_reach *r = s->r;
	const struct kl_val *v;
	int64_t state;
	size_t len;

	v = kl_run_init(r->run, r->first, &len);
	state = v ? add_state(r, v, len) : -ENOMEM;
	if (state < 0)
		return -ENOMEM;
	if (r->first)
		return add_node(s, x == KL_NO_OP ? X_DONE : 0, state);
	/* The unknown state is that before x. */
	return apply(s, state, x, X_DONE);
}

static void end(struct search *s)
{
	kl_table_free(&s->table);
	free(s->nodes);
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

/* Go on from a node with what may come next.  Return: 0 or -ENOMEM. */
static int expand_order(struct search *s, struct node n, uint32_t e)
{
	const struct kl_reach *r = s->r;
	size_t k;
	int ret = 0;

	if (!(r->must[r->n] & ~n.done))
		ret = try_last(s, n.state, e);
	for (k = 0; k < r->n && !ret && !s->found && !s->over; k++)
		if (!(n.done & 1u << k) && !(r->must[k] & ~n.done))
			ret = apply(s, n.state, r->ops[k], n.done | 1u << k);
	return ret;
}

int kl_reach_never(struct kl_reach *r, uint32_t x, uint32_t e)
{
	struct search s = { .r = r };
	const struct kl_val *v;
	int64_t state;
	size_t len, i;
	int ret;

	if (!find_order(r, x, e))
		return 0;
	v = kl_run_init(r->run, r->s->h->fresh, &len);
	state = v ? add_state(r, v, len) : -ENOMEM;
	ret = state < 0 ? -ENOMEM : add_node(&s, 0, state);
	for (i = 0; i < s.nnodes && !ret && !s.found && !s.over; i++)
		ret = expand_order(&s, s.nodes[i], e);
	end(&s);
	return ret ?: s.tried && !s.found && !s.over;
}

int kl_reach_excludes(struct kl_reach *r, uint32_t x, uint32_t e)
{
	struct search s = { .r = r };
	size_t i;
	int ret;

	if (!find_ops(r, x, e))
		return 0;
	ret = begin(&s, x);
	for (i = 0; i < s.nnodes && !ret && !s.found && !s.over; i++)
		ret = expand(&s, s.nodes[i], x, e);
	end(&s);
	/* An operation that is impossible by itself is a reason of its own. */
	return ret ?: s.nnodes && !s.found && !s.over;
}
