/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a specification is, told by its meaning and not by its name: one
 * container whose methods each make one call on it and hand its result on, or
 * one word that is read and written.  The log-linear monitors ask.
 */
#ifndef KL_SPEC_CLASSIFY_CONTAINER_H
#define KL_SPEC_CLASSIFY_CONTAINER_H

#include <stdbool.h>

#include "spec/spec.h"

enum kl_container_kind {
	KL_CONTAINER_NONE,
	KL_CONTAINER_QUEUE, KL_CONTAINER_STACK, KL_CONTAINER_PQUEUE,
	KL_CONTAINER_SET,
	KL_CONTAINER_REGISTER,	/* add: write, peek: read */
	KL_CONTAINER_DEQUE,	/* see kl_spec_deque_used() */
	KL_CONTAINER_MULTISET,
};

/* What a method does. */
enum kl_role {
	KL_ROLE_OTHER,		/* none of these */
	KL_ROLE_ADD, KL_ROLE_REMOVE, KL_ROLE_PEEK,
	KL_ROLE_COUNT,		/* of a multiset: how many of a word there are */
};

struct kl_container {
	enum kl_container_kind kind;
	bool max;		/* pqueue: the greatest first */
	bool init;		/* a fresh object is empty; a register has @first */
	struct kl_val first;
};

/* Do its operations name the words that they are about, each by itself? */
static inline bool kl_container_keyed(const struct kl_container *c)
{
	return c->kind == KL_CONTAINER_SET || c->kind == KL_CONTAINER_MULTISET;
}

/**
 * kl_spec_container() - infer what container a specification is
 * @s: the specification
 * @c: what it is; KL_CONTAINER_NONE if it is none
 */
void kl_spec_container(const struct kl_spec *s, struct kl_container *c);

/**
 * kl_spec_role() - what a method does to the container
 * @s: a specification that is one
 * @method: index of the method
 *
 * Return: its role.  KL_ROLE_OTHER is no defect of the specification: histories
 * without that method are still those of a container.
 */
enum kl_role kl_spec_role(const struct kl_spec *s, unsigned int method);

/**
 * kl_spec_deque_used() - what a deque is to those who use some of its methods only
 * @s: a specification that is a deque
 * @used: for each of its methods: is it called at all?
 *
 * Return: KL_CONTAINER_STACK where all is added, removed and looked at at one end,
 * KL_CONTAINER_QUEUE where what is added at one end leaves at the other, else
 * KL_CONTAINER_DEQUE.
 */
enum kl_container_kind kl_spec_deque_used(const struct kl_spec *s, const bool *used);

const char *kl_container_name(enum kl_container_kind k);

#endif
