// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of configurations that a beam keeps.  A configuration is better if fewer operations
 * have taken effect that can wait, and more that cannot.  Since no state is known to be better than
 * another, the best configurations of each state are kept.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "check/general/frontier_internal.h"

#define URGENT	300	/* cost if the operation that returns next has not taken effect, */
#define DEBT	100	/* and cost of each needed word that no open operation makes */
#define SORT_LOOKS	80	/* looks for ranking a configuration */

/*
 * Return: the cost of a configuration, by the events until open operations return; less is better.
 */
static uint64_t cost(struct frontier *f, const uint64_t *rec)
{
	uint64_t sum = f->sys->supply ? DEBT * kl_frontier_debt(f, rec) : 0;
	uint32_t i;

	for (i = 0; i < f->nopen; i++) {
		const struct frontier_open *o = &f->open[i];
		const uint64_t left = o->ret_ev == KL_NO_EVENT ? f->p->nevents :
				      o->ret_ev > f->now ? o->ret_ev - f->now : 0;

		if (kl_rec_has(rec, o->slot))
			sum += o->free ? 0 : left;
		else
			sum += o->free ? 1 : URGENT / (left + 1);
	}
	return sum;
}

static uint32_t state_of(const struct frontier *f, const struct kl_key *k)
{
	return kl_rec_state(&f->c, f->next.rec + k->val * f->c.reclen);
}

/*
 * Sort the next configurations: first the best of each state, then the second best of each, and so
 * on; inside each group by cost.
 */
static void rank(struct frontier *f, struct kl_key *k, struct kl_key *tmp)
{
	const size_t n = f->next.n;
	uint32_t state = 0, rank = 0;
	size_t i;

	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ cost(f, f->next.rec + i * f->c.reclen), i };
	kl_sort_keys(k, n, tmp);
	/* The low half of a key is the rank by cost. */
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ (uint64_t)state_of(f, &k[i]) << 32 | i, k[i].val };
	kl_sort_keys(k, n, tmp);
	for (i = 0; i < n; i++, rank++) {
		if (!i || k[i].key >> 32 != state)
			rank = 0;
		state = k[i].key >> 32;
		k[i].key = (uint64_t)rank << 32 | (uint32_t)k[i].key;
	}
	kl_sort_keys(k, n, tmp);
}

int kl_frontier_narrow(struct frontier *f)
{
	const size_t n = f->next.n, width = f->width, len = f->c.reclen;
	struct kl_key *k;
	uint64_t *rec;
	size_t i;
	int ret = 0;

	if (n <= width)
		return 0;
	f->cut = true;
	f->budget->work += n * (SORT_LOOKS + f->nopen * (f->sys->supply ? 4 : 2));
	k = malloc(2 * n * sizeof(*k));
	rec = malloc(width * len * sizeof(*rec));
	if (!k || !rec) {
		ret = -ENOMEM;
		goto out;
	}
	rank(f, k, k + n);
	for (i = 0; i < width; i++)
		kl_rec_copy(&f->c, rec + i * len, f->next.rec + k[i].val * len);
	kl_config_set_clear(&f->next);
	for (i = 0; i < width && ret >= 0; i++)
		ret = kl_config_set_add(&f->c, &f->next, rec + i * len, 0);
out:
	free(k);
	free(rec);
	return ret < 0 ? ret : 0;
}
