// SPDX-License-Identifier: GPL-2.0
/* An index of operations by blocks of slots, see window_index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/window_index.h"

void pieces_free(struct pieces *p)
{
	free(p->item);
	free(p->gaps);
	free(p->from);
	free(p->left);
}

/* Count an operation of a block in p->from[block + 2] or, with @list, list it. */
static inline void put(struct pieces *p, bool list, unsigned int l, uint32_t block, uint32_t item,
		       uint32_t from, uint32_t to)
{
	uint32_t at;

	block += p->base[l];
	if (!list) {
		p->from[block + 2]++;
		return;
	}
	at = p->from[block + 1]++;
	p->item[at] = item;
	p->gaps[at] = pieces_gaps(from % COVER_BLOCK, to % COVER_BLOCK);
}

static inline void put_window(struct pieces *p, bool list, struct ll_window w, uint32_t item)
{
	uint32_t from = w.from, to = w.to, a, b;
	unsigned int l;

	for (l = 0; ; l++, from = a + 1, to = b - 1) {
		a = from / COVER_BLOCK;
		b = to / COVER_BLOCK;
		if (a == b) {
			put(p, list, l, a, item, from, to);
			return;
		}
		put(p, list, l, a, item, from, COVER_BLOCK - 1);
		put(p, list, l, b, item, 0, to);
		if (a + 1 == b)
			return;
	}
}

/*
 * Return: an array of all peeks, ended by LL_NONE; NULL without memory.  Which items are peeks
 * cannot be predicted, so there is no branch.
 */
static uint32_t *find_peeks(const struct loglinear *m)
{
	uint32_t *peek = kl_big_alloc(((size_t)m->npeeks + 1) * sizeof(*peek)), i, n = 0;

	for (i = 0; peek && i < m->nitems; i++) {
		peek[n] = i;
		n += ll_kind(m->op[i]) == LL_PEEK;
	}
	if (peek)
		peek[n] = LL_NONE;
	return peek;
}

static void put_peeks(struct pieces *p, bool list, const struct loglinear *m, const uint32_t *peek)
{
	for (; *peek != LL_NONE; peek++) {
		const struct ll_value *v = &m->v[m->op[*peek] & LL_VALUE];

		put_window(p, list, ll_peek_window(m, v, *peek), *peek);
	}
}

static void put_others(struct pieces *p, bool list, const struct loglinear *m)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++) {
		const struct ll_value *v = &m->v[i];

		if (ll_gone(m, v))
			continue;
		if (v->add != LL_NONE)
			put_window(p, list, ll_add_window(v), v->add);
		if (v->remove != LL_NONE)
			put_window(p, list, ll_remove_window(v), v->remove);
	}
}

static void put_all(struct pieces *p, bool list, const struct loglinear *m, const uint32_t *peek)
{
	if (peek)
		put_peeks(p, list, m, peek);
	else
		put_others(p, list, m);
}

/* Make an index of the peeks @peek or, if that is NULL, of all additions and removals. */
static int list_all(struct pieces *p, const struct loglinear *m, const uint32_t *peek)
{
	uint64_t blocks = m->end, n = 0;
	uint32_t i, all;
	unsigned int l;

	memset(p, 0, sizeof(*p));
	for (l = 0; l < COVER_LEVELS; l++) {
		blocks = blocks / COVER_BLOCK + 1;
		p->base[l + 1] = p->base[l] + blocks;
	}
	all = p->base[COVER_LEVELS];
	p->from = calloc((size_t)all + 2, sizeof(*p->from));
	p->left = malloc((size_t)all * sizeof(*p->left));
	if (!p->from || !p->left)
		return -ENOMEM;
	put_all(p, false, m, peek);
	for (i = 0; i < all; i++)
		n += p->left[i] = p->from[i + 2];
	if (n >= UINT32_MAX - PIECES_TOGETHER)
		return -ENOMEM;
	for (i = 2; i < all + 2; i++)
		p->from[i] += p->from[i - 1];
	p->item = kl_big_alloc((n + 1) * sizeof(*p->item));
	p->gaps = kl_big_alloc((n + PIECES_TOGETHER) * sizeof(*p->gaps));
	if (!p->item || !p->gaps)
		return -ENOMEM;
	memset(p->gaps + n, 0xff, PIECES_TOGETHER * sizeof(*p->gaps));
	put_all(p, true, m, peek);
	return 0;
}

int pieces_of_peeks(struct pieces *p, const struct loglinear *m)
{
	uint32_t *peek = find_peeks(m);
	const int ret = peek ? list_all(p, m, peek) : -ENOMEM;

	free(peek);
	return ret;
}

int pieces_of_others(struct pieces *p, const struct loglinear *m)
{
	return list_all(p, m, NULL);
}
