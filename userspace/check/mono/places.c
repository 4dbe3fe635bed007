// SPDX-License-Identifier: GPL-2.0
/* Places of operations, and an order from them, see places.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/mono/places.h"

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

	if (m->npeeks && (mono_times(m) || mono_list_peeks(m)))
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

static uint64_t key(const struct mono *m, uint32_t item)
{
	const struct mono_places *p = m->places;
	const uint32_t value = m->op[item] & MONO_VALUE, at = p->at[item];
	const struct mono_value *v = &m->v[value];
	uint64_t rank = p->rank[value], what = STAYS;

	if (v->remove != MONO_NONE && p->at[v->remove] == at) {
		what = ENDS;
		rank = MONO_VALUE - rank;
	} else if (v->add != MONO_NONE && p->at[v->add] == at) {
		what = BEGINS;
	}
	return (uint64_t)at << 30 | what << 28 | rank;
}

int mono_places_order(struct mono *m)
{
	struct kl_key *k = malloc(2 * ((size_t)m->nitems + 1) * sizeof(*k));
	uint32_t i, peek, n = 0;

	if (!k)
		return -ENOMEM;
	/* Of one value in one gap: the addition, peeks, the removal; the sort is stable. */
	for (i = 0; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		if (mono_gone(m, v))
			continue;
		if (v->add != MONO_NONE)
			k[n++] = (struct kl_key){ .key = key(m, v->add), .val = v->add };
		for (peek = v->peeks ? m->first_peek[i] : MONO_NONE; peek != MONO_NONE;
		     peek = m->next_peek[peek])
			k[n++] = (struct kl_key){ .key = key(m, peek), .val = peek };
		if (v->remove != MONO_NONE)
			k[n++] = (struct kl_key){ .key = key(m, v->remove), .val = v->remove };
	}
	for (i = 0; i < m->ncuts; i++)
		k[n++] = (struct kl_key){
			.key = (uint64_t)m->cut[i].gap << 30 | (uint64_t)EMPTY << 28,
			.val = m->cut[i].item,
		};
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		mono_put(m, k[i].val);
	free(k);
	return 0;
}
