// SPDX-License-Identifier: GPL-2.0
/*
 * A cycle of program order and of what loads and stores tell about their order: po, rf, co and fr.
 * All edges are kept, not only those between neighbours, so a shortest cycle has no two po edges
 * one after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tso/litmus/litmus_story.h"

#define STEPS_MAX	2000	/* a longer run has no cycle: the search is quadratic */

static bool reads(const struct kl_lit_step *s)
{
	return s->kind == KL_LIT_LOAD || s->kind == KL_LIT_LOCKED;
}

static bool writes(const struct kl_lit_step *s)
{
	return s->kind == KL_LIT_STORE || (s->kind == KL_LIT_LOCKED && s->stores);
}

/* Return: the time at which the store that was loaded reached memory; 0 for the first state. */
static size_t time_of(const struct kl_lit_story *s, size_t store)
{
	return store ? s->steps[store].left : 0;
}

/* Return: true, with @edge, if step @a comes before step @b without store buffers. */
static bool before(const struct kl_lit_story *s, size_t a, size_t b, enum kl_lit_edge *edge)
{
	const struct kl_lit_step *x = &s->steps[a], *y = &s->steps[b];

	if (a == b || !(reads(x) || writes(x)) || !(reads(y) || writes(y)))
		return false;
	if (x->thread == y->thread && a < b) {
		*edge = KL_LIT_PO;
		return true;
	}
	if (x->loc != y->loc)
		return false;
	if (writes(x) && reads(y) && y->from == a)
		*edge = KL_LIT_RF;
	else if (writes(x) && writes(y) && x->left < y->left)
		*edge = KL_LIT_CO;
	else if (reads(x) && writes(y) && time_of(s, x->from) < y->left)
		*edge = KL_LIT_FR;
	else
		return false;
	return true;
}

/*
 * Find a shortest way from @start back to @start.  @prev and @queue have room for all steps.
 * Return: the number of its edges, or 0 if it is none or not below @most.
 */
static size_t shortest(const struct kl_lit_story *s, size_t start, size_t most, size_t *prev,
		       size_t *queue)
{
	size_t head = 0, tail = 0, depth = 0, end = 1, at, to, n;
	enum kl_lit_edge edge;

	memset(prev, 0, s->nsteps * sizeof(*prev));
	queue[tail++] = start;
	while (head < tail && depth + 1 < most) {
		at = queue[head++];
		for (to = 1; to < s->nsteps; to++) {
			if (prev[to] || !before(s, at, to, &edge))
				continue;
			prev[to] = at;
			if (to == start) {
				for (n = 1, at = prev[start]; at != start; at = prev[at])
					n++;
				return n;
			}
			queue[tail++] = to;
		}
		if (head == end) {
			depth++;
			end = tail;
		}
	}
	return 0;
}

int kl_lit_find_cycle(struct kl_lit_story *s)
{
	size_t *prev, *queue, start, n, i, to, best = SIZE_MAX;
	int ret = 0;

	s->ncycle = 0;
	if (s->nsteps > STEPS_MAX)
		return 0;
	prev = calloc(2 * s->nsteps, sizeof(*prev));
	if (!prev)
		return -ENOMEM;
	queue = prev + s->nsteps;
	for (start = 1; start < s->nsteps && !ret; start++) {
		n = shortest(s, start, best, prev, queue);
		if (!n)
			continue;
		best = n;
		free(s->cycle);
		s->cycle = calloc(n, sizeof(*s->cycle));
		if (!s->cycle) {
			ret = -ENOMEM;
			break;
		}
		s->ncycle = n;
		for (i = n, to = start; i--; to = prev[to]) {
			s->cycle[i].from = prev[to];
			s->cycle[i].to = to;
			before(s, prev[to], to, &s->cycle[i].edge);
		}
	}
	free(prev);
	return ret;
}
