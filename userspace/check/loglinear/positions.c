// SPDX-License-Identifier: GPL-2.0
/* Places of operations, and an order from them, see positions.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/positions.h"

#define FEW	32	/* of one gap that are put in order one by one */

/* What happens to a value in a gap, in this order. */
enum { ENDS, STAYS, EMPTY, BEGINS };

void mono_places_free(struct mono_places *p)
{
	if (!p)
		return;
	free(p->at);
	free(p->rank);
	free(p);
}

int mono_places_init(struct mono *m)
{
	struct mono_places *p;

	if (m->npeeks && mono_need_peek_times(m))
		return -ENOMEM;
	mono_places_free(m->places);
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

/* What comes first in a gap; of one value the addition, peeks, the removal. */
static uint64_t key(const struct mono *m, uint32_t item)
{
	static const uint8_t turn[] = { [MONO_ADD] = 0, [MONO_PEEK] = 1, [MONO_REMOVE] = 2 };
	const struct mono_places *p = m->places;
	const enum mono_kind kind = mono_kind(m->op[item]);
	const uint32_t value = m->op[item] & MONO_VALUE, at = p->at[item];
	const struct mono_value *v = &m->v[value];
	uint64_t rank, what = STAYS;

	if (kind == MONO_EMPTY)
		return (uint64_t)EMPTY << 30;
	rank = p->rank[value];
	if (v->remove != MONO_NONE && p->at[v->remove] == at) {
		what = ENDS;
		rank = MONO_VALUE - rank;
	} else if (v->add != MONO_NONE && p->at[v->add] == at) {
		what = BEGINS;
	}
	return what << 30 | rank << 2 | turn[kind];
}

static int sort_many(const struct mono *m, struct kl_step *step, size_t n)
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

/* Those of one gap. */
static int sort_gap(const struct mono *m, struct kl_step *step, size_t n)
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

/* What has a gap. */
static inline bool placed(const struct mono *m, uint32_t item)
{
	return mono_kind(m->op[item]) <= MONO_EMPTY && m->places->at[item] < m->end;
}

int mono_places_order(struct mono *m)
{
	/* Of each gap where it begins in the order, at last where it ends. */
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
