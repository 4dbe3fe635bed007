/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the operations of a partition stored to each word, and by when their stores had left the
 * store buffers.
 *
 *	t1 |-- write(1) --|  t1 |-- cas(5, 6) -> 0 --|	write's store has left when cas begins
 *	t1 |-- write(1) --| drain			write's store has left by the drain
 *
 * The interpreter runs each operation where all words are unknown.  So what it finds holds in
 * memory and in what a thread sees, which is memory below the stores in its own buffer.
 */
#ifndef KL_STORY_STORES_H
#define KL_STORY_STORES_H

#include "story/reason.h"

/* The effect of an operation on a word of the state. */
struct kl_touch {
	uint32_t at;		/* the operation, as an index in kl_stores.ops */
	uint32_t slot;
	bool sees;		/* it returned, and certainly saw @seen */
	bool stores, surely;	/* it may store to the word; it returned, and did */
	bool known;		/* if it stores, then @left */
	uint64_t seen, left;
};

struct kl_store_op {
	uint32_t op;		/* index in the history */
	uint32_t next;		/* the next operation of its thread, by call; or KL_NO_OP */
	uint32_t touch;		/* the first of its touches; the next operation's end them */
	bool pending;
	bool barrier;		/* it returned, and began with an empty store buffer */
	bool through;		/* its stores do not wait in the store buffer */
};

struct kl_stores {
	const struct kl_scene *s;
	struct kl_run *run;
	size_t len;			/* number of words of the state */
	struct kl_store_op *ops;	/* by call, and one more at the end */
	struct kl_touch *touches;	/* by operation */
	size_t nops, ntouches, ctouches;
	struct kl_val *first;		/* the first state; KL_ANY for words that are not known */
	/* of the call of the interpreter: */
	struct kl_touch *now;		/* for each word */
	struct kl_val *state;
	bool barrier, through;
	size_t outcomes;
	int found;	/* result of kl_stores_of() */
};

/* The event by which a store had certainly left the store buffer. */
struct kl_left {
	enum kl_left_by { KL_LEFT_NOT, KL_LEFT_THROUGH, KL_LEFT_DRAIN, KL_LEFT_FENCE } by;
	uint32_t at;	/* the operation with the drain or fence, as an index in kl_stores.ops */
	uint64_t time;	/* of the drain, or of the operation's return */
};

/**
 * kl_stores_of() - find what all operations of the partition did
 * @s: the scene, whose memo keeps it
 * @t: gets it
 *
 * Return: 1, 0 if it is not known or too much, or -ENOMEM.
 */
int kl_stores_of(const struct kl_scene *s, struct kl_stores **t);
void kl_stores_free(struct kl_stores *t);

/* Return: what the operation did to the word, or NULL if nothing. */
const struct kl_touch *kl_stores_touch(const struct kl_stores *t, uint32_t at, uint32_t slot);

/**
 * kl_stores_left() - find out why the stores of an operation were in memory before another one
 * @t: the stores
 * @at: the operation, as an index in t->ops
 * @other: the other one
 *
 * Let W be the operation, which certainly returned before the other one was called.  Its stores are
 * in memory when the other one takes effect if W does not use the buffer, or if a later operation
 * of its thread, or W itself,
 *	- certainly returned before the other one was called, or is the other one, and began with
 *	  an empty store buffer;
 *	- has a drain that is certainly before the call of the other one.
 *
 * Return: the event; KL_LEFT_NOT if the stores may be in the buffer, or W may take effect later.
 */
struct kl_left kl_stores_left(const struct kl_stores *t, uint32_t at, uint32_t other);

/* Is the operation impossible where word @slot is @v?  Return: 1 if so, 0 if not, -ENOMEM. */
int kl_stores_exclude(struct kl_stores *t, uint32_t at, uint32_t slot, uint64_t v);

/*
 * Is the operation impossible where the state has these words, and any others for KL_ANY?  Return:
 * 1, 0 or -ENOMEM.
 */
int kl_stores_exclude_state(struct kl_stores *t, uint32_t at, const struct kl_val *words);

/*
 * Would the operation, if it returned true, be possible in a state of these words, and change a
 * word whatever it does?  Return: 1 if so, 0 if not, -ENOMEM.
 */
int kl_stores_would_change(struct kl_stores *t, uint32_t at, const struct kl_val *words);
/*
 * Report what the operation does in a state of these words, whatever it returns.  Return: 0 or
 * an error; see kl_run_apply().
 */
int kl_stores_results(struct kl_stores *t, uint32_t at, const struct kl_val *words,
		      kl_outcome_fn fn, void *ctx);

/* The word as text, "x = 1". */
struct kl_name kl_stores_name(struct kl_stores *t, uint32_t slot, uint64_t v);

static inline const struct kl_op *kl_stores_op(const struct kl_stores *t, uint32_t at)
{
	return &t->s->h->ops[t->ops[at].op];
}

/* Did operation @a certainly return before operation @b was called? */
static inline bool kl_stores_before(const struct kl_stores *t, uint32_t a, uint32_t b)
{
	return kl_scene_before(t->s, t->ops[a].op, t->ops[b].op);
}

static inline bool kl_stores_same_thread(const struct kl_stores *t, uint32_t a, uint32_t b)
{
	return kl_stores_op(t, a)->thread == kl_stores_op(t, b)->thread;
}

#endif
