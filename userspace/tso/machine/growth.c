// SPDX-License-Identifier: GPL-2.0
/* Finds variables that grow as a search goes deeper. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tso/machine/growth.h"
#include "tso/machine/vm.h"

#define LEAST		8	/* number of last marks; a variable must grow in both halves */
#define ALL_OF		256	/* number of first states of a level, all of which are noted */
#define ONE_OF		64	/* of the other states, one in this number is noted */

int kl_growth_init(struct kl_growth *g, size_t n)
{
	memset(g, 0, sizeof(*g));
	g->var = calloc(n + 1, sizeof(*g->var));
	if (!g->var)
		return -ENOMEM;
	g->n = n;
	g->every = 1;
	return 0;
}

void kl_growth_free(struct kl_growth *g)
{
	free(g->var);
	memset(g, 0, sizeof(*g));
}

void kl_growth_forget(struct kl_growth *g)
{
	memset(g->var, 0, g->n * sizeof(*g->var));
	g->levels = 0;
	g->every = 1;
	g->nmarks = g->sampled = 0;
}

void kl_growth_level(struct kl_growth *g)
{
	unsigned int k;
	size_t i;

	g->sampled = 0;
	if (g->levels++ % g->every)
		return;
	if (g->nmarks == KL_GROWTH_MARKS) {
		/* Keep every second mark, and double the distance. */
		for (i = 0; i < g->n; i++) {
			for (k = 0; k < KL_GROWTH_MARKS / 2; k++) {
				g->var[i].lo_at[k] = g->var[i].lo_at[2 * k];
				g->var[i].hi_at[k] = g->var[i].hi_at[2 * k];
			}
		}
		g->nmarks /= 2;
		g->every *= 2;
		if ((g->levels - 1) % g->every)
			return;
	}
	for (i = 0; i < g->n; i++) {
		g->var[i].lo_at[g->nmarks] = g->var[i].lo;
		g->var[i].hi_at[g->nmarks] = g->var[i].hi;
	}
	g->nmarks++;
}

bool kl_growth_samples(struct kl_growth *g)
{
	return g->sampled++ < ALL_OF || g->sampled % ONE_OF == 0;
}

void kl_growth_note(struct kl_growth *g, size_t i, uint64_t v)
{
	struct kl_growth_var *var = &g->var[i];
	const int64_t n = v;

	/* Pointers, data and special values lie between the positive and the negative numbers. */
	if (v >> 61 && v >> 62 != 3)
		return;
	if (!var->seen) {
		var->seen = true;
		var->first = var->lo = var->hi = n;
	}
	if (n < var->lo)
		var->lo = n;
	if (n > var->hi)
		var->hi = n;
}

bool kl_growth_of(const struct kl_growth *g, size_t i, int64_t *from, int64_t *to)
{
	const struct kl_growth_var *v = &g->var[i];
	unsigned int end, middle, begin;
	bool up, down;

	if (!v->seen || g->nmarks < LEAST)
		return false;
	end = g->nmarks - 1;
	middle = end - LEAST / 2 + 1;
	begin = g->nmarks - LEAST;
	up = v->hi_at[begin] < v->hi_at[middle] && v->hi_at[middle] < v->hi_at[end];
	down = v->lo_at[begin] > v->lo_at[middle] && v->lo_at[middle] > v->lo_at[end];
	*from = v->first;
	*to = up ? v->hi : v->lo;
	return up || down;
}

int kl_growth_print(char *buf, size_t size, const char *name, int64_t from, int64_t to)
{
	return snprintf(buf, size, "'%s' %s from %" PRId64 " to %" PRId64
			" while the search went deeper, and no state was repeated", name,
			from < to ? "grew" : "fell", from, to);
}
