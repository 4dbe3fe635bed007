// SPDX-License-Identifier: GPL-2.0
/*
 * A hash table with two chains and lockless look-ups.  Removed elements are reused at once,
 * also for keys of the other chain.
 *
 * If a look-up stands on an element that moves to the other chain, it continues in that chain
 * and misses the rest of its own.  Therefore each chain ends in a number (hlist_nulls,
 * Documentation/RCU/rculist_nulls.rst).  A look-up that ends at the wrong number starts again.
 * The mutant ignores the number.  The kernel's BPF hash tables had no such numbers before
 * 4fe8435909fd ("bpf: convert htab map to hlist_nulls").
 */
#include <linux/rculist.h>
#include <linux/rculist_nulls.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "rng.h"
#include "subject.h"

#define CHAINS	2
#define LASTING	4	/* keys below are always present */
#define MOVING	12	/* elements that are inserted and removed, each time with a different key */
#define KEYS	64

enum { M_INSERT, M_REMOVE, M_HAS };

static KLIN_METHOD(method_insert, "nulls.insert");
static KLIN_METHOD(method_remove, "nulls.remove");
static KLIN_METHOD(method_has, "nulls.has");

static struct klin_method *const methods[] = {
	[M_INSERT] = &method_insert, [M_REMOVE] = &method_remove, [M_HAS] = &method_has,
};

struct klin_element {
	struct hlist_nulls_node node;
	u32 key;
};

/**
 * struct klin_nulls - the table
 * @object: common part of all subjects; the first member
 * @lock: guards changes of the table
 * @chain: the chains, indexed by the key's lowest bit
 * @lasting: elements with the keys that are always present, inserted at the begin
 * @moving: the other elements
 * @in: number of elements of @moving that are in a chain
 */
struct klin_nulls {
	struct klin_object object;
	spinlock_t lock;
	struct hlist_nulls_head chain[CHAINS];
	struct klin_element lasting[LASTING], moving[MOVING];
	unsigned int in;
};

/*
 * Search the chain of @key.  @end receives the number at the end of the walk if the key is not
 * found.
 */
static bool walk(struct klin_nulls *t, u32 key, unsigned long *end)
{
	struct hlist_nulls_node *n;
	struct klin_element *e;

	hlist_nulls_for_each_entry_rcu(e, n, &t->chain[key % CHAINS], node) {
		if (READ_ONCE(e->key) == key)
			return true;
		klin_window(&t->object);
	}
	*end = get_nulls_value(n);
	return false;
}

static bool has_right(struct klin_nulls *t, u32 key)
{
	unsigned int turns = 0;
	unsigned long end;

	for (;;) {
		if (walk(t, key, &end))
			return true;
		if (end == key % CHAINS)
			return false;
		if (!klin_wait_on(&t->object, &turns))
			return true;
	}
}

/* Mutant "any_end": accept the end of either chain. */

static bool has_any_end(struct klin_nulls *t, u32 key)
{
	unsigned long end;

	return walk(t, key, &end);
}

typedef bool (*has_fn)(struct klin_nulls *t, u32 key);

static noinline bool do_has(struct klin_nulls *t, u32 key)
{
	bool ok;

	klin_call(t, &method_has, key, 0, 0);
	ok = ((has_fn)t->object.subject->ops)(t, key);
	klin_return(t, &method_has, ok, 0, 0);
	return ok;
}

/* The caller of insert() and remove() holds the lock. */

static void insert(struct klin_nulls *t, struct klin_element *e, u32 key)
{
	klin_call(t, &method_insert, key, 0, 0);
	WRITE_ONCE(e->key, key);
	hlist_nulls_add_head_rcu(&e->node, &t->chain[key % CHAINS]);
	smp_mb();	/* drains the store buffer */
	klin_return(t, &method_insert, 0, 0, 0);
}

static void remove(struct klin_nulls *t, struct klin_element *e)
{
	klin_call(t, &method_remove, e->key, 0, 0);
	hlist_nulls_del_rcu(&e->node);
	smp_mb();	/* drains the store buffer */
	klin_return(t, &method_remove, 0, 0, 0);
}

/* Insert a moving element, after removing it if all are in a chain. */
static void move(struct klin_nulls *t, struct klin_worker *w)
{
	unsigned int i;
	u32 key;

	spin_lock(&t->lock);
	if (t->in < MOVING) {
		i = t->in++;
	} else {
		i = klin_rng_below(&w->rng, MOVING);
		remove(t, &t->moving[i]);
		klin_count(w, M_REMOVE);
	}
	/* Keys of different elements differ; the chain is random. */
	key = LASTING + i * CHAINS + klin_rng_below(&w->rng, CHAINS);
	insert(t, &t->moving[i], key);
	spin_unlock(&t->lock);
	klin_count(w, M_INSERT);
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_nulls *t = container_of(object, struct klin_nulls, object);

	if (w->index == 0) {
		move(t, w);
		return;
	}
	if (!do_has(t, klin_rng_below(&w->rng, LASTING)))
		klin_truth(w);
	klin_count(w, M_HAS);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_nulls *t = kzalloc(sizeof(*t), GFP_KERNEL);
	unsigned int i;

	BUILD_BUG_ON(LASTING + MOVING * CHAINS > KEYS);
	if (!t)
		return NULL;
	spin_lock_init(&t->lock);
	for (i = 0; i < CHAINS; i++)
		INIT_HLIST_NULLS_HEAD(&t->chain[i], i);
	for (i = 0; i < LASTING; i++) {
		t->lasting[i].key = i;
		hlist_nulls_add_head_rcu(&t->lasting[i].node, &t->chain[i % CHAINS]);
	}
	return &t->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_nulls, object));
}

static const struct klin_subject subjects[] = {
	{ "nulls", "a hash table that reuses removed elements at once", NULL, has_right },
	{ "nulls.any_end", "a look-up may end in another bucket (BPF maps before 4fe8435909fd)",
	  "nulls", has_any_end },
};

KLIN_GROUP(klin_nulls_group) = {
	.name = "nulls",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
