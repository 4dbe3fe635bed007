// SPDX-License-Identifier: GPL-2.0
/* The core of a violation: the operations on some words; see lifetimes.h. */
#include "base/mem.h"
#include "check/online/lifetimes.h"

void core_start(struct uses *s)
{
	s->ncore = 0;
	s->accused = ON_NONE;
}

int core_op(struct uses *s, uint32_t op)
{
	size_t i;
	int ret;

	for (i = 0; i < s->ncore; i++)
		if (s->core[i] == op)
			return 0;
	if (op == ON_NONE)
		return 0;
	ret = kl_grow(s->core, s->ccore, s->ncore + 1);
	if (!ret)
		s->core[s->ncore++] = op;
	return ret;
}

static int core_use(struct uses *s, const struct use *u)
{
	return core_op(s, u->add) ?: core_op(s, u->remove) ?: core_op(s, u->see) ?:
	       core_op(s, u->last);
}

int core_word(struct uses *s, uint32_t i)
{
	const uint64_t word = use(s, i)->word;
	int ret = core_use(s, use(s, i));

	if (s->accused == ON_NONE)
		s->accused = i;
	for (i = uses_first(s, word); i != ON_NONE && !ret; i = use(s, i)->same)
		ret = core_use(s, use(s, i));
	return ret;
}

/* Return: the use that was inside in the slot @at and left last, or ON_NONE. */
static uint32_t reaches(const struct uses *s, uint64_t at)
{
	uint32_t best = ON_NONE, i;

	if (s->head != ON_NONE && s->u[s->head].first_ret <= at)
		return s->head;
	for (i = 0; i < s->n; i++) {
		const struct use *u = &s->u[i];

		if (u->linked && u->first_ret <= at && use_over(u) && u->last_call > at &&
		    (best == ON_NONE || u->last_call > s->u[best].last_call))
			best = i;
	}
	return best;
}

int core_since(struct uses *s, uint64_t from)
{
	uint32_t i;
	int ret = 0;

	while (!ret) {
		i = reaches(s, from);
		if (i == ON_NONE)
			break;
		ret = core_word(s, i);
		if (!use_over(use(s, i)))
			break;
		from = use(s, i)->last_call;
	}
	return ret;
}

bool uses_doubted(const struct uses *s, uint32_t i)
{
	for (i = s->ndoubts ? uses_first(s, s->u[i].word) : ON_NONE; i != ON_NONE;
	     i = s->u[i].same)
		if (s->u[i].doubt)
			return true;
	return false;
}

int uses_doubt(struct kl_online *o, struct uses *s)
{
	struct use *u;
	uint32_t i;
	int ret;

	if (s->accused == ON_NONE || s->begin != ON_FRESH || s->returning == ON_NONE)
		return 0;
	u = use(s, s->accused);
	for (i = uses_first(s, u->word); i != ON_NONE; i = use(s, i)->same)
		if (use(s, i)->opens)
			break;
	if (i == ON_NONE)
		return 0;
	s->ndoubts += !u->doubt;
	u->doubt = true;
	ret = uses_returned(o, s, s->returning);
	return ret ? ret : 1;
}

/* Add whole clusters, since the assignment of removals to additions is a guess. */
static int add_clusters(const struct kl_online *o, struct uses *s)
{
	size_t i;
	uint32_t k;
	int ret = 0;

	for (i = 0; i < s->ncore && !ret; i++) {
		const struct on_op *op = &o->ops[s->core[i]];

		for (k = op->kind <= ON_PEEK ? uses_first(s, op->word) : ON_NONE;
		     k != ON_NONE && !ret; k = use(s, k)->same)
			ret = core_use(s, use(s, k));
	}
	return ret;
}

int uses_core(const struct kl_online *o, struct uses *s, const uint32_t **ops, size_t *n)
{
	size_t i;
	int ret = 0;

	*n = 0;
	/* The unknown first state may hold any of these words. */
	if (s->begin != ON_FRESH || !s->ncore)
		return 0;
	/* A pending removal may have taken any of these words. */
	for (i = 0; i < s->nwild && !ret; i++)
		ret = core_op(s, s->wild[i]);
	if (!ret)
		ret = add_clusters(o, s);
	for (i = 0; i < s->ncore && !ret; i++)
		if (o->ops[s->core[i]].crowd)
			return 0;
	*ops = s->core;
	*n = s->ncore;
	return ret;
}
