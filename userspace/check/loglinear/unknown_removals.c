// SPDX-License-Identifier: GPL-2.0
/*
 * Removals that returned an unknown value.  Each is guessed to have removed a value without a known
 * removal, or to have found the container empty.  An order with such guesses is an order of the
 * history.  If there is none, the history may have one with other guesses.
 *
 * The guess is the value that was added first in a queue, the value that was added last of those
 * certainly inside a stack, and the value with the highest priority in a priority queue.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/loglinear/loglinear.h"

#define WORK	(1u << 26)	/* maximal number of comparisons of values */

/* Return: true if @a is a better guess than @b for the value of a removal called at @call. */
static bool better(const struct loglinear *m, uint32_t a, uint32_t b, uint32_t call)
{
	const struct ll_value *x = &m->v[a], *y = &m->v[b];

	if (m->c.kind == KL_CONTAINER_QUEUE)
		return x->call < y->call;
	if ((x->first_ret <= call) != (y->first_ret <= call))
		return x->first_ret <= call;
	if (m->c.kind == KL_CONTAINER_STACK)
		return x->call > y->call;
	return m->c.max ? ll_word(m, a) > ll_word(m, b) : ll_word(m, a) < ll_word(m, b);
}

/* Guess which of the values @left, which have no removal, the removal @item removed. */
static void guess(struct loglinear *m, uint32_t item, uint32_t *left, uint32_t *nleft)
{
	uint32_t best = LL_NONE, i;

	for (i = 0; i < *nleft; i++)
		if (m->v[left[i]].call < ll_ret(m, item) &&
		    (best == LL_NONE || better(m, left[i], left[best], ll_call(m, item))))
			best = i;
	if (best == LL_NONE) {
		m->op[item] = ll_op(LL_EMPTY, 0);
		m->nempty++;
		return;
	}
	m->op[item] = ll_op(LL_REMOVE, left[best]);
	left[best] = left[--*nleft];
}

int ll_guess_unknown(struct loglinear *m)
{
	uint32_t *left = malloc(((size_t)m->nvalues + 1) * sizeof(*left)), nleft = 0, i;
	int ret = 0;

	if (!left || ll_times(m) || ll_events(m) ||
	    kl_grow(m->cut, m->ccuts, m->nempty + m->nunknown))
		ret = -ENOMEM;
	for (i = 0; !ret && i < m->nvalues; i++)
		if (m->v[i].remove == LL_NONE && !ll_gone(m, &m->v[i]))
			left[nleft++] = i;
	if (!ret && (uint64_t)m->nunknown * nleft > WORK)
		ret = -EAGAIN;
	for (i = 0; !ret && i < m->nitems; i++)
		if (ll_kind(m->op[i]) == LL_UNKNOWN && !ll_pending(m, i))
			guess(m, i, left, &nleft);
	free(left);
	return ret;
}
