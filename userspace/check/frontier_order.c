// SPDX-License-Identifier: GPL-2.0
/* The order that a configuration of the frontier stands for. */
#include <errno.h>
#include <stdlib.h>

#include "check/frontier_internal.h"

/* The steps of @node's order. */
static int follow(const struct frontier *f, uint32_t node, struct node **out, size_t *len)
{
	const uint32_t last = node;
	struct node *path;
	size_t n;

	for (n = 0; node != NO_NODE; node = f->nodes[node].parent)
		n++;
	path = malloc((n + 1) * sizeof(*path));
	if (!path)
		return -ENOMEM;
	*len = n;
	for (node = last; node != NO_NODE; node = f->nodes[node].parent)
		path[--n] = f->nodes[node];
	*out = path;
	return 0;
}

/*
 * What returned and is not in the order was hidden: before the last overwrite that
 * took effect by its return.  before[k] begins the list of those before step k.
 */
static int place_hidden(const struct frontier *f, const struct node *path, size_t len,
			uint32_t *before, uint32_t *chain, size_t *hidden)
{
	const struct kl_part *p = f->p;
	uint64_t *placed = calloc((size_t)p->nitems / 64 + 1, sizeof(*placed));
	uint32_t over = NO_NODE, ev;
	size_t k = 0;

	if (!placed)
		return -ENOMEM;
	for (k = 0; k < len; k++) {
		const uint32_t item = path[k].item & ~FLAGS;

		before[k] = NO_NODE;
		if (item < p->nitems)
			placed[item / 64] |= 1ull << item % 64;
	}
	*hidden = 0;
	for (ev = 0, k = 0; ev < f->now; ev++) {
		const uint32_t item = p->events[ev].item;

		for (; k < len && path[k].ev <= ev; k++)
			if (path[k].item & OVERWRITE)
				over = k;
		if (p->events[ev].kind != KL_EV_RET || placed[item / 64] >> item % 64 & 1 ||
		    over == NO_NODE)
			continue;
		chain[item] = before[over];
		before[over] = item;
		++*hidden;
	}
	free(placed);
	return 0;
}

int kl_frontier_order(struct frontier *f, uint32_t end, struct kl_answer *a)
{
	uint32_t *before = NULL, *chain = NULL, item;
	size_t at, best = 0, len, bestlen = 0, hidden = 0, k;
	struct node *path = NULL;
	int ret;

	for (at = 0; at < f->cur.n; at++) {
		const uint64_t *rec = f->cur.rec + at * f->c.reclen;
		size_t w;

		for (len = 0, w = 0; w < f->c.masklen; w++)
			len += __builtin_popcountll(rec[w]);
		if (len > bestlen) {
			bestlen = len;
			best = at;
		}
	}
	f->now = end;
	ret = follow(f, kl_rec_node(&f->c, f->cur.rec + best * f->c.reclen), &path, &len);
	if (!ret && f->c.hidden && !f->no_nodes) {
		before = malloc((len + 1) * sizeof(*before));
		chain = malloc(((size_t)f->p->nitems + 1) * sizeof(*chain));
		ret = before && chain ? place_hidden(f, path, len, before, chain, &hidden) : -ENOMEM;
	}
	if (!ret)
		a->steps = calloc(len + hidden + 1, sizeof(*a->steps));
	if (!ret && !a->steps)
		ret = -ENOMEM;
	for (k = 0; k < len && !ret; k++) {
		for (item = before ? before[k] : NO_NODE; item != NO_NODE; item = chain[item])
			a->steps[a->nsteps++] = (struct kl_step){ item, 0 };
		item = path[k].item & ~FLAGS;
		if (item >= f->p->nitems)
			a->steps[a->nsteps++] =
				(struct kl_step){ item - f->p->nitems, KL_STEP_FLUSH };
		else
			a->steps[a->nsteps++] = (struct kl_step){
				item, path[k].item & LEFT_ENTRY ? KL_STEP_BUFFERED : 0,
			};
	}
	free(path);
	free(before);
	free(chain);
	return ret;
}
