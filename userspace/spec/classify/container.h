/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classifies specs by their meaning, not by their names: a spec may be one container, whose methods
 * each make one call on it and return its result, or one word that is read and written.  The
 * log-linear monitors depend on this classification.
 */
#ifndef KL_SPEC_CLASSIFY_CONTAINER_H
#define KL_SPEC_CLASSIFY_CONTAINER_H

#include <stdbool.h>

#include "spec/spec.h"

enum kl_container_kind {
	KL_CONTAINER_NONE,
	KL_CONTAINER_QUEUE, KL_CONTAINER_STACK, KL_CONTAINER_PQUEUE,
	KL_CONTAINER_SET,
	KL_CONTAINER_REGISTER, /* one word: add is write, peek is read */
	KL_CONTAINER_DEQUE,	/* see kl_spec_deque_used() */
	KL_CONTAINER_MULTISET,
};

/* The role of a method. */
enum kl_role {
	KL_ROLE_OTHER, /* no role below */
	KL_ROLE_ADD, KL_ROLE_REMOVE, KL_ROLE_PEEK,
	KL_ROLE_COUNT, /* in a multiset: returns the number of copies of a word */
};

struct kl_container {
	enum kl_container_kind kind;
	bool max; /* a priority queue whose greatest value comes first */
	bool init; /* the first state is known: empty, or @first for a register */
	struct kl_val first;
};

/* Return: true if each operation names its word, so that words can be decided one by one. */
static inline bool kl_container_keyed(const struct kl_container *c)
{
	return c->kind == KL_CONTAINER_SET || c->kind == KL_CONTAINER_MULTISET;
}

/**
 * kl_spec_container() - infer the container of a spec
 * @s: the spec
 * @c: gets the container; KL_CONTAINER_NONE if the spec is no container
 */
void kl_spec_container(const struct kl_spec *s, struct kl_container *c);

/**
 * kl_spec_role() - get the role of a method
 * @s: a spec that is a container
 * @method: index of the method
 *
 * Return: the role of the method.  A spec may have methods with KL_ROLE_OTHER.  A history without
 * operations of such methods is still one of a container.
 */
enum kl_role kl_spec_role(const struct kl_spec *s, unsigned int method);

/**
 * kl_spec_deque_used() - get the kind of container that a deque is if only some methods are used
 * @s: a spec that is a deque
 * @used: for each method: true if it is used
 *
 * Return: KL_CONTAINER_STACK if all used methods are at one end, KL_CONTAINER_QUEUE if values are
 * added at one end and leave at the other, else KL_CONTAINER_DEQUE.
 */
enum kl_container_kind kl_spec_deque_used(const struct kl_spec *s, const bool *used);

/* How a spec keeps a value for each key of its partition. */
enum kl_keyed { KL_KEYED_NONE, KL_KEYED_ARRAY, KL_KEYED_MAP };

/**
 * kl_spec_keyed() - find out whether the state is one value for each key
 * @s: the spec
 *
 * Return: KL_KEYED_ARRAY or KL_KEYED_MAP if the only variable is one of these, each operation
 * touches just the entry that its argument names, and @s is partitioned by that argument.  The
 * slot of an array's entry is its key.  Else KL_KEYED_NONE.
 */
enum kl_keyed kl_spec_keyed(const struct kl_spec *s);

const char *kl_container_name(enum kl_container_kind k);

#endif
