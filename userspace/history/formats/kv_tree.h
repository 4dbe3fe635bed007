/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What appending makes of the strings of a key-value log.
 *
 * Per key there is a tree of the strings that were got, a character an edge, and one of the
 * strings that were appended.  A node of the first tree stands for the string that leads to
 * it.  A step says that appending a string to one node's string makes another node's.
 *
 * A string that is no node is no beginning of one that was got.  Appending leaves it so, and
 * no get can return it: one such string need not be told from another.  The same holds for a
 * node from which no steps lead to a string that was got, and a node to which no steps lead
 * from "" or a string that was put is never a value.  Steps between the other nodes thus say
 * all that decides whether a history is linearizable, whatever the strings look like.
 */
#ifndef KL_HISTORY_FORMATS_KV_TREE_H
#define KL_HISTORY_FORMATS_KV_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_KV_STEPS	3	/* of an append that its node has, as many as specs/kv.lin */

struct kl_kv_node {
	uint32_t parent, child, next;	/* first child, next sibling; 0: none */
	uint32_t nsteps;	/* of the end of an appended string */
	uint32_t from[KL_KV_STEPS], to[KL_KV_STEPS];
	char c;			/* leads to it from its parent */
	bool ends;		/* of a string that was got, or appended */
	bool reached, useful;
};

struct kl_kv_tree {
	struct kl_kv_node *node;
	size_t n, cap;
	struct kl_kv_pair {
		uint32_t a, b;
	} *todo, *way;
	size_t ntodo, ctodo, nway, cway;
	struct kl_kv_step {
		uint32_t from, append, to;
	} *step;
	size_t nsteps, csteps;
};

/* A tree of its own; 0, -ENOMEM, -EOVERFLOW. */
int kl_kv_tree_root(struct kl_kv_tree *t, uint32_t *root);
/* The node of a string below a root, added if @add; 0: there is none.  The same. */
int kl_kv_tree_walk(struct kl_kv_tree *t, uint32_t root, const char *s, size_t len, bool add,
		    uint32_t *node);
/* The value @node is possible for a key whose appended strings are below @appends. */
int kl_kv_tree_reach(struct kl_kv_tree *t, uint32_t node, uint32_t appends);
/* After the last of all: find the steps.  The same, and -E2BIG: there are too many. */
int kl_kv_tree_steps(struct kl_kv_tree *t);
void kl_kv_tree_free(struct kl_kv_tree *t);

#endif
