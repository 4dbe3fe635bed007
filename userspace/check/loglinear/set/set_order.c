// SPDX-License-Identifier: GPL-2.0
/*
 * Sets: an order of all operations, for a witness.  Nearly all operations take effect at their own
 * calls, in the order of the history.  The others are late, and are put between these.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/set/set.h"

#define NEAR	8	/* neighbouring places that are sorted together */
#define FEW	32	/* number of late operations up to which insertion sort is used */

struct order {
	const struct set *t;
	const struct set_late *late;
	size_t nlate;
	uint32_t *sorted;	/* indices in @late, in order */
	uint64_t *moved;	/* bit set of items that are late, or are not in the order */
	struct kl_step *steps;
	size_t nsteps;
};

/*
 * Return: a sort key for a late operation.  Several may have one place between two calls.  Those of
 * one group keep their order.  Of two groups, always the same goes first; which does not matter.
 */
static inline uint64_t rank(const struct set_late *l)
{
	return (uint64_t)l->place << 32 | l->group;
}

static int sort_many(const struct order *o, uint32_t *number, size_t n)
{
	struct kl_key *k = kl_big_alloc(2 * n * sizeof(*k));
	size_t i;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ .key = rank(&o->late[number[i]]), .val = number[i] };
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		number[i] = k[i].val;
	free(k);
	return 0;
}

static int sort_few(const struct order *o, uint32_t *number, size_t n)
{
	size_t i, at;

	for (i = 1; i < n; i++) {
		const uint32_t one = number[i];

		for (at = i; at && rank(&o->late[number[at - 1]]) > rank(&o->late[one]); at--)
			number[at] = number[at - 1];
		number[at] = one;
	}
	return 0;
}

/* Sort the late operations; few have nearly the same place. */
static int sort_late(struct order *o)
{
	const size_t nbuckets = o->t->s->nops / NEAR + 1;
	uint32_t *end = calloc(nbuckets + 1, sizeof(*end));
	size_t i, from;
	int ret = 0;

	o->sorted = kl_big_alloc((o->nlate + 1) * sizeof(*o->sorted));
	if (!end || !o->sorted) {
		free(end);
		return -ENOMEM;
	}
	for (i = 0; i < o->nlate; i++)
		end[o->late[i].place / NEAR + 1]++;
	for (i = 1; i < nbuckets; i++)
		end[i] += end[i - 1];
	for (i = 0; i < o->nlate; i++)
		o->sorted[end[o->late[i].place / NEAR]++] = i;
	for (i = from = 0; i < nbuckets && !ret; from = end[i++]) {
		const size_t n = end[i] - from;

		ret = (n > FEW ? sort_many : sort_few)(o, o->sorted + from, n);
	}
	free(end);
	return ret;
}

static inline void move(struct order *o, uint32_t item)
{
	o->moved[item / 64] |= 1ull << item % 64;
}

static int gather(struct order *o)
{
	const struct set_part *s = &o->t->part[0];
	size_t i;

	o->late = s->late;
	o->nlate = s->nlate;
	o->moved = calloc(o->t->s->nops / 64 + 1, sizeof(*o->moved));
	if (!o->moved)
		return -ENOMEM;
	/* Operations in flight at the end of all parts are pending. */
	for (i = 0; i < s->nflight; i++)
		move(o, s->flight[i]);
	for (i = 0; i < o->nlate; i++)
		move(o, o->late[i].item);
	return sort_late(o);
}

static int merge(struct order *o)
{
	const uint32_t n = o->t->s->nops;
	struct kl_step *step = kl_big_alloc(((size_t)n + 1) * sizeof(*step));
	uint32_t item = 0;
	size_t i;

	if (!step)
		return -ENOMEM;
	o->steps = step;
	for (i = 0; i <= o->nlate; i++) {
		const struct set_late *l = i < o->nlate ? &o->late[o->sorted[i]] : NULL;
		const uint32_t until = l ? l->place : n;

		for (; item < until; item++) {
			/* Whether the item stays at its call cannot be predicted: no branch. */
			*step = (struct kl_step){ .item = item };
			step += ~o->moved[item / 64] >> item % 64 & 1;
		}
		if (l)
			*step++ = (struct kl_step){ .item = l->item };
	}
	o->nsteps = step - o->steps;
	return 0;
}

/* Return: 1 if the order keeps the order of each thread, 0 if not, -ENOMEM. */
static int keeps_lines(const struct order *o)
{
	const struct loglinear m = { .s = o->t->s, .order = o->steps, .norder = o->nsteps };

	return ll_keeps_thread_order(&m);
}

int set_order(struct set *t, struct kl_answer *a)
{
	struct order o = { .t = t };
	int ret = gather(&o) ?: merge(&o);

	if (!ret)
		ret = t->lines ? keeps_lines(&o) : 1;
	a->steps = o.steps;
	a->nsteps = o.nsteps;
	free(o.sorted);
	free(o.moved);
	return ret;
}
