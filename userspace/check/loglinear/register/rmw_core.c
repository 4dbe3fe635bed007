// SPDX-License-Identifier: GPL-2.0
/*
 * Registers: the operations that break a condition, see rmw.c.
 *
 * Take some words, and all words that they were made from or that were made from them.  Operations
 * on other words do not matter to these: removing them from an order of all operations leaves an
 * order, see kl_may_omit().  So if the operations on the taken words have no order by themselves,
 * that is a violation, and the general engine has to decide only a few operations.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/loglinear/register/rmw.h"

#define FEW		8	/* a part with less than 1/FEW of all operations is decided alone */
#define PART_WORK	(1000 * KL_CONFIG_LOOKS)	/* bound of looks for such a part, */
#define PART_EACH	(100 * KL_CONFIG_LOOKS)	/* and more for each operation that was placed */

static uint32_t find(uint32_t *in, uint32_t word)
{
	while (in[word] != word)
		word = in[word] = in[in[word]];
	return word;
}

/*
 * Return: for each word a representative of its part, to be freed; NULL without memory.  Words that
 * were made from each other are in one part.
 */
static uint32_t *find_parts(const struct rmw *m)
{
	uint32_t *in = malloc(((size_t)m->words.n + 1) * sizeof(*in)), i;

	for (i = 0; in && i < m->words.n; i++)
		in[i] = i;
	for (i = 0; in && i < m->s->nops; i++)
		if (m->op[i].kind == KL_WORD_MOVES)
			in[find(in, m->op[i].before)] = find(in, m->op[i].after);
	for (i = 0; in && i < m->words.n; i++)
		in[i] = find(in, i);
	return in;
}

/*
 * Return: the part of an operation, or LL_NONE.  A pending operation may have made its word even if
 * rmw_choose() did not choose it.
 */
static uint32_t part_of(const struct rmw *m, const uint32_t *in, uint32_t item)
{
	const struct rmw_op *op = &m->op[item];
	const uint32_t word = op->after != LL_NONE ? op->after : op->before;

	return word == LL_NONE || op->kind == KL_WORD_SEES_NOT ? LL_NONE : in[word];
}

static uint32_t index_of(const struct rmw *m, uint32_t item)
{
	return m->s->ops ? m->s->ops[item] : item;
}

/* Return: true if the operation is pending, and may have seen any word. */
static bool saw_something(const struct rmw *m, uint32_t item)
{
	const struct kl_op *op = &m->s->h->ops[index_of(m, item)];
	const int method = m->s->methods[kl_op_method(m->s->h, op)];

	return op->flags & KL_OP_PENDING && !kl_spec_method(m->s->spec, method)->blind;
}

/*
 * List in a->core the operations of the parts of m->bad.  Return: false if other operations may
 * matter to them, or there are none.
 */
static bool list_core(const struct rmw *m, const uint32_t *in, struct kl_answer *a)
{
	uint32_t i, k, part;

	for (i = 0; i < m->s->nops; i++) {
		bool ours = false;

		part = part_of(m, in, i);
		for (k = 0; k < 2 && part != LL_NONE; k++)
			ours |= m->bad[k] != LL_NONE && in[m->bad[k]] == part;
		if (ours && saw_something(m, i))
			return false;
		if (ours)
			a->core[a->ncore++] = index_of(m, i);
	}
	return a->ncore;
}

int rmw_core(const struct rmw *m, struct kl_answer *a)
{
	uint32_t *in = find_parts(m), i;

	a->core = malloc(((size_t)m->s->nops + 1) * sizeof(*a->core));
	a->ncore = 0;
	if (!in || !a->core) {
		free(in);
		return -ENOMEM;
	}
	if (m->bad[0] == LL_NONE || m->nadds || m->opaque || !list_core(m, in, a)) {
		for (i = 0; i < m->s->nops; i++)
			a->core[i] = index_of(m, i);
		a->ncore = m->s->nops;
	}
	free(in);
	return 0;
}

/* Let the general engine decide the @n operations @item of a part. */
static int ask_part(const struct rmw *m, const uint32_t *item, uint32_t n, struct kl_answer *a)
{
	struct kl_limits lim = *m->lim;
	struct kl_answer general = { .verdict = KL_UNKNOWN };
	uint32_t i;
	int ret;

	for (i = 0; i < n; i++) {
		if (saw_something(m, item[i]))
			return 0;
		a->core[i] = index_of(m, item[i]);
	}
	a->ncore = n;
	lim.work = PART_WORK;
	lim.each = PART_EACH;
	ret = ll_ask_general(m->s, &lim, a, &general);
	a->verdict = general.verdict == KL_VIOLATION ? KL_VIOLATION : KL_UNKNOWN;
	kl_answer_free(&general);
	return ret;
}

/* Return: true if a part with @n operations is small enough to ask the general engine. */
static bool is_asked(const struct rmw *m, uint32_t n)
{
	return n > 1 && n < m->s->nops / FEW;
}

/* Count the operations of each part.  Return: true if the general engine is asked of a part. */
static bool count_parts(const struct rmw *m, const uint32_t *in, uint32_t *count)
{
	bool any = false;
	uint32_t i, part;

	for (i = 0; i < m->s->nops; i++) {
		part = part_of(m, in, i);
		if (part != LL_NONE)
			count[part]++;
	}
	for (i = 0; i < m->words.n; i++)
		any |= is_asked(m, count[i]);
	return any;
}

/* Sort the operations by parts.  @at has the size of each part, and gets its end. */
static uint32_t *sort_by_part(const struct rmw *m, const uint32_t *in, uint32_t *at)
{
	uint32_t *item = malloc(((size_t)m->s->nops + 1) * sizeof(*item)), i, part, sum = 0;

	for (i = 0; item && i < m->words.n; i++) {
		const uint32_t n = at[i];

		at[i] = sum;
		sum += n;
	}
	for (i = 0; item && i < m->s->nops; i++) {
		part = part_of(m, in, i);
		if (part != LL_NONE)
			item[at[part]++] = i;
	}
	return item;
}

static int ask_parts(const struct rmw *m, const uint32_t *in, uint32_t *at, struct kl_answer *a)
{
	uint32_t *item = sort_by_part(m, in, at), i, from = 0;
	int ret = 0;

	a->core = malloc(((size_t)m->s->nops + 1) * sizeof(*a->core));
	if (!item || !a->core)
		ret = -ENOMEM;
	for (i = 0; !ret && a->verdict == KL_UNKNOWN && i < m->words.n; from = at[i++])
		if (is_asked(m, at[i] - from))
			ret = ask_part(m, item + from, at[i] - from, a);
	if (a->verdict == KL_VIOLATION) {
		snprintf(a->reason, sizeof(a->reason),
			 "%" PRIu64 " and the words that were made from it, or it from them, have "
				    "no order",
			 rmw_word(m, i - 1));
	} else {
		free(a->core);
		a->core = NULL;
		a->ncore = 0;
	}
	free(item);
	return ret;
}

int rmw_parts(const struct rmw *m, struct kl_answer *a)
{
	uint32_t *in, *count;
	int ret = 0;

	if (m->nadds || m->opaque)
		return 0;
	in = find_parts(m);
	count = calloc((size_t)m->words.n + 1, sizeof(*count));
	if (!in || !count)
		ret = -ENOMEM;
	else if (count_parts(m, in, count))
		ret = ask_parts(m, in, count, a);
	free(in);
	free(count);
	return ret;
}
