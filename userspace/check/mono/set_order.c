// SPDX-License-Identifier: GPL-2.0
/*
 * Sets: an order of all operations, a witness.  Nearly all take effect at their own calls,
 * whose order is that of the history; the others, which are late, are put between them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/mono/set.h"

struct order {
	const struct set *t;
	struct set_late *late;
	size_t nlate;
	struct kl_key *sorted;	/* late ones in order, by their numbers */
	uint64_t *moved;	/* a bit of each item: it is not at its call */
	struct kl_step *steps;
	size_t nsteps;
};

/*
 * By time; of those of equal times first returns that come before calls.  Those of one key
 * are in the order in which they came; which of two keys goes first does not matter, but
 * is always the same one.
 */
static int sort_late(struct order *o)
{
	const size_t n = o->nlate;
	struct kl_key *k = kl_big_alloc(2 * (n + 1) * sizeof(*k));
	size_t i;

	o->sorted = k;
	if (!k)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ .key = o->late[i].time, .val = i };
	kl_sort_keys(k, n, k + n);
	for (i = 1; i < n && k[i].key != k[i - 1].key; i++)
		;
	if (i >= n)
		return 0;
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ .key = o->late[i].group, .val = i };
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		k[i].key = o->late[k[i].val].time;
	kl_sort_keys(k, n, k + n);
	return 0;
}

static inline void move(struct order *o, uint32_t item)
{
	o->moved[item / 64] |= 1ull << item % 64;
}

static int gather(struct order *o)
{
	const struct set *t = o->t;
	uint32_t c;
	size_t i, n = 0;

	for (c = 0; c < t->nsides; c++)
		n += t->side[c].nlate;
	o->late = kl_big_alloc((n + 1) * sizeof(*o->late));
	o->moved = calloc(t->s->nops / 64 + 1, sizeof(*o->moved));
	if (!o->late || !o->moved)
		return -ENOMEM;
	for (c = 0; c < t->nsides; c++) {
		const struct set_side *s = &t->side[c];

		if (s->nlate)
			memcpy(o->late + o->nlate, s->late, s->nlate * sizeof(*s->late));
		o->nlate += s->nlate;
		for (i = 0; i < s->nabsent; i++)
			move(o, s->absent[i]);
	}
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
		const struct set_late *l = i < o->nlate ? &o->late[o->sorted[i].val] : NULL;
		const uint32_t until = l ? l->place : n;

		for (; item < until; item++) {
			/* Whether it is there is chance: nothing to be guessed. */
			*step = (struct kl_step){ .item = item };
			step += ~o->moved[item / 64] >> item % 64 & 1;
		}
		if (l)
			*step++ = (struct kl_step){ .item = l->item };
	}
	o->nsteps = step - o->steps;
	return 0;
}

/* 1, 0 or -ENOMEM. */
static int keeps_lines(const struct order *o)
{
	struct mono m = { .s = o->t->s, .norder = o->nsteps };
	size_t i;
	int ret = -ENOMEM;

	m.order = malloc((o->nsteps + 1) * sizeof(*m.order));
	for (i = 0; m.order && i < o->nsteps; i++)
		m.order[i] = o->steps[i].item;
	if (m.order)
		ret = mono_keeps_lines(&m);
	free(m.order);
	return ret;
}

int set_order(struct set *t, struct kl_answer *a)
{
	struct order o = { .t = t };
	int ret = gather(&o) ?: merge(&o);

	if (!ret)
		ret = t->lines ? keeps_lines(&o) : 1;
	a->steps = o.steps;
	a->nsteps = o.nsteps;
	free(o.late);
	free(o.sorted);
	free(o.moved);
	return ret;
}
