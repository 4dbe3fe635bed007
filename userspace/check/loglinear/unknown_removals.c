// SPDX-License-Identifier: GPL-2.0
/*
 * Removals that returned, but with what is not known: each is guessed to have taken a
 * value that nobody is known to have removed, or to have found it empty.  An order with
 * such guesses is an order; that there is none says nothing.
 *
 * In a queue what was added first has to be gone first, so it is taken first; on a stack
 * of what is inside for certain what was added last, in a priority queue what goes first.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/loglinear/loglinear.h"

#define WORK	(1u << 26)	/* values that are looked at */

/* Is @a a better guess than @b for a removal that was called at @call? */
static bool better(const struct mono *m, uint32_t a, uint32_t b, uint32_t call)
{
	const struct mono_value *x = &m->v[a], *y = &m->v[b];

	if (m->c.kind == KL_CONTAINER_QUEUE)
		return x->call < y->call;
	if ((x->lo <= call) != (y->lo <= call))
		return x->lo <= call;
	if (m->c.kind == KL_CONTAINER_STACK)
		return x->call > y->call;
	return m->c.max ? mono_word(m, a) > mono_word(m, b) : mono_word(m, a) < mono_word(m, b);
}

static void guess(struct mono *m, uint32_t item, uint32_t *left, uint32_t *nleft)
{
	uint32_t best = MONO_NONE, i;

	for (i = 0; i < *nleft; i++)
		if (m->v[left[i]].call < mono_ret(m, item) &&
		    (best == MONO_NONE || better(m, left[i], left[best], mono_call(m, item))))
			best = i;
	if (best == MONO_NONE) {
		m->op[item] = mono_op(MONO_EMPTY, 0);
		m->nempty++;
		return;
	}
	m->op[item] = mono_op(MONO_REMOVE, left[best]);
	left[best] = left[--*nleft];
}

int mono_guess_unknown(struct mono *m)
{
	uint32_t *left = malloc(((size_t)m->nvalues + 1) * sizeof(*left)), nleft = 0, i;
	int ret = 0;

	if (!left || mono_times(m) || mono_events(m) ||
	    kl_grow(m->cut, m->ccuts, m->nempty + m->nunknown))
		ret = -ENOMEM;
	for (i = 0; !ret && i < m->nvalues; i++)
		if (m->v[i].remove == MONO_NONE && !mono_gone(m, &m->v[i]))
			left[nleft++] = i;
	if (!ret && (uint64_t)m->nunknown * nleft > WORK)
		ret = -EAGAIN;
	for (i = 0; !ret && i < m->nitems; i++)
		if (mono_kind(m->op[i]) == MONO_WILD && !mono_pending(m, i))
			guess(m, i, left, &nleft);
	free(left);
	return ret;
}
