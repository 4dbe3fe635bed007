// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's llist as a stack.  Any number of threads may add, but concurrent
 * llist_del_first() calls need a lock (see the table in <linux/llist.h>).  Nodes are reused at
 * once, so that a missing lock shows.
 */
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "rng.h"
#include "subject.h"

#define NODES 4

enum { M_PUSH, M_POP };

static KLIN_METHOD(method_push, "llist.push");
static KLIN_METHOD(method_pop, "llist.pop");

static struct klin_method *const methods[] = { [M_PUSH] = &method_push, [M_POP] = &method_pop };

/**
 * struct klin_lnode - a node
 * @node: entry in the list
 * @value: the pushed value
 * @in: 1 while the node is in the list, as seen by the load
 */
struct klin_lnode {
	struct llist_node node;
	u64 value;
	int in;
};

/**
 * struct klin_llist - the list
 * @object: common part of all subjects; the first member
 * @head: the list
 * @takers: held during a pop
 * @pool_lock: guards the free nodes
 * @free: ring of nodes that are not in the list
 * @out: index of the next node to use, modulo NODES
 * @back: index at which the next node is returned, modulo NODES
 * @nodes: all nodes
 */
struct klin_llist {
	struct klin_object object;
	struct llist_head head;
	spinlock_t takers, pool_lock;
	struct klin_lnode *free[NODES];
	unsigned int out, back;
	struct klin_lnode nodes[NODES];
};

static struct llist_node *del_first_locked(struct klin_llist *l)
{
	struct llist_node *n;

	spin_lock(&l->takers);
	n = llist_del_first(&l->head);
	spin_unlock(&l->takers);
	return n;
}

/* Mutant "several_take": pop without the lock, with a window between load and cmpxchg(). */

static struct llist_node *del_first_alone(struct klin_llist *l)
{
	struct llist_node *entry, *next;

	do {
		entry = READ_ONCE(l->head.first);
		if (!entry)
			return NULL;
		next = READ_ONCE(entry->next);
		klin_window(&l->object);
	} while (cmpxchg(&l->head.first, entry, next) != entry);
	return entry;
}

typedef struct llist_node *(*take_fn)(struct klin_llist *l);

static noinline void push(struct klin_llist *l, struct klin_lnode *n)
{
	klin_call(l, &method_push, n->value, 0, 0);
	llist_add(&n->node, &l->head);
	klin_return(l, &method_push, 0, 0, 0);
}

static noinline struct klin_lnode *pop(struct klin_llist *l)
{
	struct llist_node *n;

	klin_call(l, &method_pop, 0, 0, 0);
	n = ((take_fn)l->object.subject->ops)(l);
	klin_return(l, &method_pop, !!n, n ? container_of(n, struct klin_lnode, node)->value : 0,
		    0);
	return n ? container_of(n, struct klin_lnode, node) : NULL;
}

static struct klin_lnode *get_node(struct klin_llist *l)
{
	struct klin_lnode *n = NULL;

	spin_lock(&l->pool_lock);
	if (l->out != l->back)
		n = l->free[l->out++ % NODES];
	spin_unlock(&l->pool_lock);
	return n;
}

/* A mutant may return a node twice. */
static void put_node(struct klin_llist *l, struct klin_lnode *n)
{
	spin_lock(&l->pool_lock);
	if (l->back - l->out < NODES)
		l->free[l->back++ % NODES] = n;
	spin_unlock(&l->pool_lock);
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_llist *l = container_of(object, struct klin_llist, object);
	struct klin_lnode *n;

	/* The list is mostly full, so that a removed node is reused soon. */
	if (klin_rng_below(&w->rng, 100) >= w->mix / 2) {
		n = get_node(l);
		if (n) {
			n->value = klin_value(w);
			xchg(&n->in, 1);
			push(l, n);
			klin_count(w, M_PUSH);
			return;
		}
	}
	n = pop(l);
	klin_count(w, M_POP);
	if (!n)
		return;
	if (!xchg(&n->in, 0))
		klin_truth(w);
	put_node(l, n);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_llist *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return NULL;
	init_llist_head(&l->head);
	spin_lock_init(&l->takers);
	spin_lock_init(&l->pool_lock);
	while (l->back < NODES) {
		l->free[l->back] = &l->nodes[l->back];
		l->back++;
	}
	return &l->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_llist, object));
}

static const struct klin_subject subjects[] = {
	{ "llist", "the kernel's llist, with a lock for removals", NULL, del_first_locked },
	{ "llist.several_take", "several threads call llist_del_first() without a lock", "llist",
	  del_first_alone },
};

KLIN_GROUP(klin_llist_group) = {
	.name = "llist",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
