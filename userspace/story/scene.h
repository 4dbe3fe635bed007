/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scene: the operations of a violated partition, by what they did to which value.  Reasons look
 * for their patterns in it.
 *
 *	t1 enq(1)	KL_ACT_ADD of 1
 *	t2 deq() -> 1	KL_ACT_REMOVE of 1
 *	t2 deq() -> ?	vague: it may have removed any value
 */
#ifndef KL_STORY_SCENE_H
#define KL_STORY_SCENE_H

#include "check/check.h"
#include "spec/classify/container.h"
#include "spec/classify/word.h"
#include "story/key_step.h"

enum kl_act {
	KL_ACT_NONE,	/* it has no effect and sees nothing that the story needs */
	KL_ACT_ADD,
	KL_ACT_REMOVE,
	KL_ACT_LOOK,	/* it saw the value, which stayed */
	KL_ACT_EMPTY,	/* it found no value; @v is 0 */
	KL_ACT_MISS,	/* it did not find the value; of a multiset */
	KL_ACT_FULL,	/* it found no room; @v is 0 */
	KL_ACT_VAGUE_ADD,	/* an addition of an unknown value; @v is 0 */
	KL_ACT_VAGUE_REMOVE,	/* a removal that may have taken any value, or none; @v is 0 */
};

/* The effect of an operation. */
struct kl_deed {
	uint32_t op;	/* index in the history */
	enum kl_act act;
	uint64_t v;
	uint64_t room;	/* of an addition and KL_ACT_FULL: how many values fit; UINT64_MAX: any */
};

/*
 * What an operation did to a word: of a register, or under a key.  The presence of a set's key is a
 * word, too: absent is 0, present 1.
 */
struct kl_word_deed {
	uint32_t op;
	struct kl_word_step step;
	bool maybe;	/* it may also write another word, which is a deed of its own, or none */
	bool denies;	/* the word before is certainly not @is_not */
	uint64_t is_not;
};

/*
 * Looks at operations, and steps of searches, as in check/engine.h: those that were made, the
 * number that ends the search for a reason, and that for the whole story.
 */
struct kl_scene_looks {
	uint64_t made, most, all;
	uint64_t beyond; /* most looks that a reason took beyond its bound */
};

/* The findings of one reason that another one needs, too; see stores.h and ranges.h. */
struct kl_scene_memo {
	struct kl_stores *stores;
	struct kl_ranges *ranges;
	/* writers.c: for each method, a bit for each argument that may flow into the state */
	uint8_t *flows;
	/* operations that are assumed to take effect in this order; KL_NO_OP: none */
	uint32_t earlier, later;
};

struct kl_scene {
	struct kl_scene_looks *looks;
	struct kl_scene_memo *memo;
	const struct kl_spec *spec;
	const struct kl_history *h;
	const struct kl_part_result *part;
	struct kl_container type;
	bool fresh;	/* the first state is known: empty, or type.first */
	bool tso;	/* the violation was decided with store buffers */
	enum kl_keyed keyed;	/* the steps are about the value of @key, or KL_STEP_ABSENT */
	uint64_t key;	/* of a set, or if @keyed: the key that the steps are about */
	struct kl_val first;	/* the first word of the steps; KL_ANY if it is not known */
	/* operations of the counterexample, sorted */
	uint32_t *proof;
	size_t nproof;
	/* the rest is NULL where the specification or an operation is of no known kind: */
	/* deeds on a container that is not keyed, or a multiset, by act, value and call */
	struct kl_deed *deeds;
	size_t ndeeds;
	/* steps of a register's word, or of one key's, by call */
	struct kl_word_deed *steps;
	size_t nsteps, csteps;
};

/**
 * kl_scene_set() - sort the operations of a partition by what they did
 * @s: gets the scene, with its @looks and @memo
 * @spec: the specification
 * @h: the history
 * @p: the partition
 *
 * Return: 0 or -ENOMEM.
 */
int kl_scene_set(struct kl_scene *s, const struct kl_spec *spec, const struct kl_history *h,
		 const struct kl_part_result *p);
void kl_scene_free(struct kl_scene *s);

/**
 * kl_scene_deeds() - get the deeds of a kind
 * @s: the scene
 * @act: the act
 * @v: the value
 * @n: gets their number
 *
 * Return: the deeds, by time of call.
 */
const struct kl_deed *kl_scene_deeds(const struct kl_scene *s, enum kl_act act, uint64_t v,
				     size_t *n);
/* All deeds of an act, by value and call; @n gets their number. */
const struct kl_deed *kl_scene_all(const struct kl_scene *s, enum kl_act act, size_t *n);

/* Looks for the decision of a partition, and for its counterexample. */
static inline uint64_t kl_scene_work(const struct kl_part_result *p)
{
	return p->work + (p->cex ? p->cex->work : 0);
}

/*
 * Count @n looks, which are not made if they are too many.  Comparing two operations counts by
 * itself.  Return: true if the search must end without a story.
 */
static inline bool kl_scene_over(const struct kl_scene *s, uint64_t n)
{
	struct kl_scene_looks *l = s->looks;

	if (l->made <= l->most && n <= l->most - l->made) {
		l->made += n;
		return false;
	}
	/* A reason that goes on all the same is noticed. */
	l->made = l->made <= l->most ? l->most + 1 : l->made + 1;
	return true;
}

/* Return: the number of looks that are left, at least 1. */
static inline uint64_t kl_scene_left(const struct kl_scene *s)
{
	return s->looks->made < s->looks->most ? s->looks->most - s->looks->made : 1;
}

/**
 * kl_scene_run() - let a method run, and count the looks
 * @s: the scene
 * @run: the interpreter
 * @state: the state before
 * @len: number of its values
 * @method: the method's index; -1: the specification lacks it
 * @args: its arguments
 * @res: its results, or NULL if they are not known
 * @fn: called for each outcome
 * @ctx: argument of @fn
 *
 * Return: as kl_run_apply(); -EDQUOT if the looks are over, -EINVAL without a method.
 */
int kl_scene_run(const struct kl_scene *s, struct kl_run *run, const struct kl_val *state,
		 size_t len, int method, const struct kl_val *args, const struct kl_val *res,
		 kl_outcome_fn fn, void *ctx);
/* The same for an operation of the history. */
int kl_scene_apply(const struct kl_scene *s, struct kl_run *run, const struct kl_val *state,
		   size_t len, uint32_t op, kl_outcome_fn fn, void *ctx);

/* May the word of the steps be @v at first? */
static inline bool kl_scene_may_begin(const struct kl_scene *s, uint64_t v)
{
	return s->first.tag == KL_ANY || kl_val_eq(s->first, kl_word(v));
}

/* Is the operation in the counterexample of the partition? */
bool kl_scene_proves(const struct kl_scene *s, uint32_t op);

/**
 * kl_scene_inside() - is a value certainly in the container when an operation takes effect?
 * @s: the scene
 * @v: the value
 * @op: the operation
 * @last: gets the addition with the latest return, of those before @op
 *
 * Let n additions of v have returned before @op was called, and let m removals of v or of an
 * unknown value not certainly begin after @op.  Any order has the n additions before @op, and at
 * most m removals of v.  So for n > m a v is inside.
 *
 * Return: true if so; false also if the looks have come to their bound.
 */
bool kl_scene_inside(const struct kl_scene *s, uint64_t v, uint32_t op, uint32_t *last);

/*
 * Return: the number of deeds that may be before @op: all but its own and those certainly called
 * after its return.
 */
size_t kl_scene_count_possible(const struct kl_scene *s, const struct kl_deed *d, size_t n,
			       uint32_t op);

/*
 * Did operation @a certainly return before operation @b was called?  Or is it assumed to take
 * effect before?
 */
bool kl_scene_before(const struct kl_scene *s, uint32_t a, uint32_t b);

#endif
