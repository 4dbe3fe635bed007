// SPDX-License-Identifier: GPL-2.0
/* Merges states that differ only in their summaries and edges. */
#include <errno.h>
#include <stdio.h>

#include "verify/model.h"

/* Sort the summaries, the individuals from @n on, by kind. */
static void sort_summaries(struct kl_vf_state *s, unsigned int n)
{
	uint8_t map[KL_VF_NODES], order[KL_VF_NODES];
	struct kl_vf_state old;
	unsigned int i, k;

	kl_vf_copy(&old, s);
	for (i = 0; i < s->nn; i++)
		order[i] = i;
	for (i = n + 1; i < s->nn; i++)
		for (k = i; k > n && old.kind[order[k - 1]] > old.kind[order[k]]; k--) {
			const uint8_t t = order[k];

			order[k] = order[k - 1];
			order[k - 1] = t;
		}
	for (i = 0; i < s->nn; i++)
		map[order[i]] = i;
	for (i = 1; i < s->nn; i++) {
		s->kind[i] = old.kind[order[i]];
		s->succ[i] = kl_vf_map_set(old.succ[order[i]], map);
		s->rsucc[i] = kl_vf_map_set(old.rsucc[order[i]], map);
	}
}

/*
 * Merge @s into entry @at, which differs from @s only in summaries and edges.
 * Return: 0, -E2BIG if there are too many individuals, or -ENOMEM.
 */
static int unite(struct kl_verifier *x, const struct kl_vf_state *s, uint32_t at)
{
	uint8_t map[KL_VF_NODES] = { 0 };
	struct kl_vf_store *st = &x->store;
	struct kl_vf_state u;
	unsigned int i, k, n = 1;
	bool grown = false;

	kl_vf_unpack(x, at, &u);
	while (n < s->nn && !(s->kind[n] & KF_SUM))
		n++;
	for (i = 1; i < s->nn; i++) {
		for (k = i < n ? i : n; k < u.nn && i >= n && u.kind[k] != s->kind[i]; k++)
			;
		if (k == KL_VF_NODES)
			return -E2BIG;
		if (k == u.nn) {
			u.kind[k] = s->kind[i];
			u.succ[k] = u.rsucc[k] = 0;
			u.nn++;
			grown = true;
		}
		map[i] = k;
	}
	for (i = 1; i < s->nn; i++) {
		const uint32_t succ = kl_vf_map_set(s->succ[i], map),
			       rsucc = kl_vf_map_set(s->rsucc[i], map);

		grown |= (succ & ~u.succ[map[i]]) || (rsucc & ~u.rsucc[map[i]]);
		u.succ[map[i]] |= succ;
		u.rsucc[map[i]] |= rsucc;
	}
	if (!grown)
		return 0;
	sort_summaries(&u, n);
	st->core = kl_vf_pack(x, &u, st->key, &st->len, st->edges, &st->nedges);
	return kl_vf_store_replace(st, at);
}

int64_t kl_vf_add(struct kl_verifier *x, const struct kl_vf_state *s)
{
	int64_t at = x->coarse ? kl_vf_store_find(&x->store) : -1;
	int ret;

	if (at < 0)
		return kl_vf_store_add(&x->store, x->parent, x->actor);
	ret = unite(x, s, at);
	if (ret != -E2BIG)
		return ret ? ret : at;
	/* A finer search may need no merging. */
	snprintf(x->message, sizeof(x->message), "too many kinds of nodes");
	x->alarm = true;
	x->last = x->parent;
	kl_vf_copy(&x->bad, s);
	return at;
}
