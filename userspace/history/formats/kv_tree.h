/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The effect of appends on the strings of a key-value log.
 *
 * Each key has a tree of the strings that were got and a tree of the strings that were appended.
 * An edge is a character.  A node of the first tree stands for the string on the path from the
 * root.  If y was appended, a step leads from the node of the string x to the node of xy.
 *
 * A string without a node is no beginning of a string that was got.  After further appends it is
 * still none, and no get returns it, so all such strings can be taken for one.  The same is true
 * for a node from which no steps lead to a string that was got.  A node to which no steps lead from
 * "" or from a string that was put is never a value.  So only the steps between the other nodes
 * decide whether a history is linearizable, whatever the strings look like.
 */
#ifndef KL_HISTORY_FORMATS_KV_TREE_H
#define KL_HISTORY_FORMATS_KV_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* steps of an append that a node stores, as many as specs/kv.lin has arguments */
#define KL_KV_STEPS	3

struct kl_kv_node {
	uint32_t parent, child, next;	/* first child, next sibling; 0: none */
	/* at the end of an appended string: number of its steps, at most KL_KV_STEPS + 1 */
	uint32_t nsteps;
	uint32_t from[KL_KV_STEPS], to[KL_KV_STEPS];
	char c; /* the character of the edge from its parent */
	bool ends; /* a string that was got or appended ends here */
	/* a key may hold its string; steps lead from it to a string that was got */
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

/* Make a tree.  Return: 0, -ENOMEM or -EOVERFLOW, as all functions below. */
int kl_kv_tree_root(struct kl_kv_tree *t, uint32_t *root);
/* Find the node of a string below @root, or 0 if there is none; @add makes a missing node. */
int kl_kv_tree_walk(struct kl_kv_tree *t, uint32_t root, const char *s, size_t len, bool add,
		    uint32_t *node);
/*
 * Mark that a key may hold the string of @node.  @appends is the root of the strings that were
 * appended to the key.
 */
int kl_kv_tree_reach(struct kl_kv_tree *t, uint32_t node, uint32_t appends);
/* Find the steps, after all strings were added.  Return: also -E2BIG if there are too many. */
int kl_kv_tree_steps(struct kl_kv_tree *t);
void kl_kv_tree_free(struct kl_kv_tree *t);

#endif
