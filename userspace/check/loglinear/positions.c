// SPDX-License-Identifier: GPL-2.0
/* The slots of operations, and an order from them; see positions.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/positions.h"

#define FEW	32	/* number of items in a slot up to which insertion sort is used */

/* What an item's value does in the item's slot, in this order; EMPTY: the item has no value. */
enum { ENDS, STAYS, EMPTY, BEGINS };

void ll_positions_free(struct ll_positions *p)
{
	if (!p)
		return;
	free(p->at);
	free(p->rank);
	free(p);
}

int ll_positions_init(struct loglinear *m)
{
	struct ll_positions *p;

	if (m->npeeks && ll_need_peek_times(m))
		return -ENOMEM;
	ll_positions_free(m->places);
	m->places = NULL;
	if (!m->ordered)
		return 0;
	m->places = p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->at = kl_big_alloc(((size_t)m->nitems + 1) * sizeof(*p->at));
	p->rank = kl_big_alloc(((size_t)m->nvalues + 1) * sizeof(*p->rank));
	return p->at && p->rank ? 0 : -ENOMEM;
}

/* Return: the key by which an item is sorted in its slot, see ll_positions_order(). */
static uint64_t key(const struct loglinear *m, uint32_t item)
{
	static const uint8_t turn[] = { [LL_ADD] = 0, [LL_PEEK] = 1, [LL_REMOVE] = 2 };
	const struct ll_positions *p = m->places;
	const enum ll_kind kind = ll_kind(m->op[item]);
	const uint32_t value = m->op[item] & LL_VALUE, at = p->at[item];
	const struct ll_value *v = &m->v[value];
	uint64_t rank, what = STAYS;

	if (kind == LL_EMPTY)
		return (uint64_t)EMPTY << 30;
	rank = p->rank[value];
	if (v->remove != LL_NONE && p->at[v->remove] == at) {
		what = ENDS;
		rank = LL_VALUE - rank;
	} else if (v->add != LL_NONE && p->at[v->add] == at) {
		what = BEGINS;
	}
	return what << 30 | rank << 2 | turn[kind];
}

static int sort_many(const struct loglinear *m, struct kl_step *step, size_t n)
{
	struct kl_key *k = kl_big_alloc(2 * n * sizeof(*k));
	size_t i;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ .key = key(m, step[i].item), .val = step[i].item };
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		step[i].item = k[i].val;
	free(k);
	return 0;
}

/* Sort the items of one slot. */
static int sort_gap(const struct loglinear *m, struct kl_step *step, size_t n)
{
	uint64_t keys[FEW];
	size_t i, at;

	if (n > FEW)
		return sort_many(m, step, n);
	for (i = 0; i < n; i++) {
		const struct kl_step one = step[i];
		const uint64_t of_one = key(m, one.item);

		for (at = i; at && keys[at - 1] > of_one; at--) {
			keys[at] = keys[at - 1];
			step[at] = step[at - 1];
		}
		keys[at] = of_one;
		step[at] = one;
	}
	return 0;
}

/* Return: true if the item takes effect in a slot. */
static inline bool placed(const struct loglinear *m, uint32_t item)
{
	return ll_kind(m->op[item]) <= LL_EMPTY && m->places->at[item] < m->end;
}

int ll_positions_order(struct loglinear *m)
{
	/* The index in m->order of each slot's next item. */
	const size_t bytes = ((size_t)m->end + 1) * sizeof(uint32_t);
	uint32_t *next = kl_zero_map(bytes, bytes);
	uint32_t *at = m->places->at, i, from;
	int ret = 0;

	if (!next)
		return -ENOMEM;
	for (i = 0; i < m->ncuts; i++)
		at[m->cut[i].item] = m->cut[i].gap;
	for (i = 0; i < m->nitems; i++)
		if (placed(m, i))
			next[at[i] + 1]++;
	for (i = 0; i < m->end; i++)
		next[i + 1] += next[i];
	m->norder = next[m->end];
	for (i = 0; i < m->nitems; i++)
		if (placed(m, i))
			m->order[next[at[i]]++] = (struct kl_step){ .item = i };
	for (i = from = 0; i < m->end && !ret; from = next[i++])
		if (next[i] - from > 1)
			ret = sort_gap(m, m->order + from, next[i] - from);
	kl_zero_unmap(next, bytes);
	return ret;
}
