// SPDX-License-Identifier: GPL-2.0
/* The orders of the frontier's configurations, whose steps are nodes. */
#include <errno.h>
#include <stdlib.h>

#include "check/general/frontier_internal.h"

#define MANY	(1u << 20)	/* number of nodes up to which none is dropped */

/* Mark the nodes of all configurations' orders. */
static void find_needed(struct frontier *f, uint64_t *needed)
{
	uint32_t node, k;
	size_t i;

	for (k = 0; k <= MARKS; k++) {
		const struct kl_config_set *s = kl_frontier_set(f, k);

		for (i = 0; i < s->n; i++) {
			node = kl_rec_node(&f->c, s->rec + i * f->c.reclen);
			if (node != NO_NODE)
				needed[node / 64] |= 1ull << node % 64;
		}
	}
	for (node = f->nnodes; node-- > 0; ) {
		const uint32_t parent = f->nodes[node].parent;

		if (needed[node / 64] >> node % 64 & 1 && parent != NO_NODE)
			needed[parent / 64] |= 1ull << parent % 64;
	}
}

/* Drop the nodes that are not needed; number[i] becomes the new number of node i. */
static void renumber(struct frontier *f, const uint64_t *needed, uint32_t *number)
{
	uint32_t node, n = 0, k;
	size_t i;

	for (node = 0; node < f->nnodes; node++) {
		struct node *to = &f->nodes[n];

		number[node] = n;
		if (!(needed[node / 64] >> node % 64 & 1))
			continue;
		*to = f->nodes[node];
		to->parent = to->parent == NO_NODE ? NO_NODE : number[to->parent];
		n++;
	}
	number[f->nnodes] = n;
	for (k = 0; k <= MARKS; k++) {
		struct kl_config_set *s = kl_frontier_set(f, k);

		for (i = 0; i < s->n; i++) {
			uint64_t *rec = s->rec + i * f->c.reclen;

			node = kl_rec_node(&f->c, rec);
			if (node != NO_NODE)
				kl_rec_set(&f->c, rec, kl_rec_state(&f->c, rec), number[node]);
		}
	}
	for (k = 0; k < MARKS; k++)
		if (f->mark[k].used)
			f->mark[k].nnodes = number[f->mark[k].nnodes];
	f->nnodes = n;
}

int kl_frontier_sweep(struct frontier *f)
{
	uint64_t *needed;
	uint32_t *number;
	int ret = -ENOMEM;

	if (f->nnodes < f->most_nodes || f->nnodes < MANY)
		return 0;
	needed = calloc(f->nnodes / 64 + 1, sizeof(*needed));
	number = malloc((f->nnodes + 1) * sizeof(*number));
	if (needed && number) {
		find_needed(f, needed);
		renumber(f, needed, number);
		f->most_nodes = 2 * f->nnodes;
		ret = 0;
	}
	free(needed);
	free(number);
	return ret;
}

/* List the steps of the order that ends with @node. */
static int path_to(const struct frontier *f, uint32_t node, struct node **out, size_t *len)
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
 * Operations that returned and are not in the order were hidden.  A hidden operation comes before
 * the last overwrite that took effect by its return.  before[k] is the first hidden operation
 * before step k, and chain[i] the one after operation i; NO_NODE ends the list.
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
	ret = path_to(f, kl_rec_node(&f->c, f->cur.rec + best * f->c.reclen), &path, &len);
	if (!ret && f->c.hidden && !f->no_nodes) {
		before = malloc((len + 1) * sizeof(*before));
		chain = malloc(((size_t)f->p->nitems + 1) * sizeof(*chain));
		ret = before && chain ? place_hidden(f, path, len, before, chain, &hidden) :
			-ENOMEM;
	}
	for (k = 0; k < len && !ret; k++)
		hidden += !!(path[k].item & DROPPED);
	if (!ret)
		a->steps = calloc(len + hidden + 1, sizeof(*a->steps));
	if (!ret && !a->steps)
		ret = -ENOMEM;
	for (k = 0; k < len && !ret; k++) {
		for (item = before ? before[k] : NO_NODE; item != NO_NODE; item = chain[item])
			a->steps[a->nsteps++] = (struct kl_step){ item, 0 };
		item = path[k].item & ~FLAGS;
		if (path[k].item & DROPPED)
			a->steps[a->nsteps++] = (struct kl_step){
				item, KL_STEP_FLUSH | KL_STEP_BUFFERED,
			};
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
