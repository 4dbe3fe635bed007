// SPDX-License-Identifier: GPL-2.0
/* The trees of a key-value log's strings, see kv_tree.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "history/formats/kv_tree.h"

#define MAX_NODES	(1u << 30)
#define MAX_STEPS	((size_t)1 << 23)

static int add_node(struct kl_kv_tree *t, char c, uint32_t *node)
{
	int ret;

	if (t->n >= MAX_NODES)
		return -EOVERFLOW;
	ret = kl_grow(t->node, t->cap, t->n + 2);
	if (ret)
		return ret;
	/* Node 0 means no node. */
	if (!t->n)
		t->node[t->n++] = (struct kl_kv_node){ 0 };
	t->node[t->n] = (struct kl_kv_node){ .c = c };
	*node = t->n++;
	return 0;
}

int kl_kv_tree_root(struct kl_kv_tree *t, uint32_t *root)
{
	return add_node(t, 0, root);
}

static uint32_t find_child(const struct kl_kv_tree *t, uint32_t node, char c)
{
	uint32_t i = t->node[node].child;

	while (i && t->node[i].c != c)
		i = t->node[i].next;
	return i;
}

int kl_kv_tree_walk(struct kl_kv_tree *t, uint32_t root, const char *s, size_t len, bool add,
		    uint32_t *node)
{
	uint32_t at = root, next;
	int ret;

	for (; at && len; s++, len--, at = next) {
		next = find_child(t, at, *s);
		if (next || !add)
			continue;
		ret = add_node(t, *s, &next);
		if (ret)
			return ret;
		t->node[next].parent = at;
		t->node[next].next = t->node[at].child;
		t->node[at].child = next;
	}
	*node = at;
	return 0;
}

int kl_kv_tree_reach(struct kl_kv_tree *t, uint32_t node, uint32_t appends)
{
	int ret;

	if (!node || t->node[node].reached)
		return 0;
	ret = kl_grow(t->todo, t->ctodo, t->ntodo + 1);
	if (ret)
		return ret;
	t->node[node].reached = true;
	t->todo[t->ntodo++] = (struct kl_kv_pair){ node, appends };
	return 0;
}

/*
 * Find all steps from the value @from: walk down the tree of values from @from, and at the same
 * time down the tree of appended strings from its root @appends.
 */
static int steps_from(struct kl_kv_tree *t, uint32_t from, uint32_t appends)
{
	struct kl_kv_pair at = { from, appends };
	uint32_t i, to;
	int ret;

	t->nway = 0;
	for (;;) {
		for (i = t->node[at.b].child; i; i = t->node[i].next) {
			to = find_child(t, at.a, t->node[i].c);
			if (!to)
				continue;
			ret = kl_grow(t->way, t->cway, t->nway + 1);
			if (ret)
				return ret;
			t->way[t->nway++] = (struct kl_kv_pair){ to, i };
		}
		if (!t->nway)
			return 0;
		at = t->way[--t->nway];
		if (!t->node[at.b].ends)
			continue;
		ret = t->nsteps == MAX_STEPS ? -E2BIG :
		      kl_grow(t->step, t->csteps, t->nsteps + 1);
		if (!ret)
			ret = kl_kv_tree_reach(t, at.a, appends);
		if (ret)
			return ret;
		t->step[t->nsteps++] = (struct kl_kv_step){ from, at.b, at.a };
	}
}

static int by_depth(const void *a, const void *b)
{
	const struct kl_kv_step *x = a, *y = b;

	return (x->from < y->from) - (x->from > y->from);
}

int kl_kv_tree_steps(struct kl_kv_tree *t)
{
	struct kl_kv_step *s;
	struct kl_kv_node *n;
	size_t i;
	int ret;

	while (t->ntodo) {
		const struct kl_kv_pair next = t->todo[--t->ntodo];

		ret = steps_from(t, next.a, next.b);
		if (ret)
			return ret;
	}
	/*
	 * A step leads to a node with a higher number.  So process the steps in descending order of
	 * their origins: then n->useful is final for the node to which a step leads.
	 */
	if (t->nsteps)
		qsort(t->step, t->nsteps, sizeof(*t->step), by_depth);
	for (i = 0; i < t->nsteps; i++) {
		s = &t->step[i];
		n = &t->node[s->to];
		if (!n->ends && !n->useful)
			continue;
		t->node[s->from].useful = true;
		n = &t->node[s->append];
		if (n->nsteps < KL_KV_STEPS) {
			n->from[n->nsteps] = s->from;
			n->to[n->nsteps] = s->to;
		}
		n->nsteps += n->nsteps <= KL_KV_STEPS;
	}
	return 0;
}

void kl_kv_tree_free(struct kl_kv_tree *t)
{
	free(t->node);
	free(t->todo);
	free(t->way);
	free(t->step);
}
