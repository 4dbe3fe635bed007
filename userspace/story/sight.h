/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words that an operation can have seen, with store buffers.
 *
 *	t1 |-- write(2) --| drain	t2 |-- read() --|	2: the store had left
 *	t1 |-- write(2) --|		t1 |-- read() --|	2: it is of its own thread
 *	t1 |-- write(2) -----|
 *	 t2 |-- read() -> 2 --|		t2 |-- read() --|	2: its thread had seen it
 *
 * A thread sees the newest store in its own buffer, else memory.  Stores of a thread leave its
 * buffer in order.  Let X, which certainly returned before E was called, be one of these:
 *	- X stored w, and this store had left the buffer before E was called;
 *	- X stored or saw w, and is of E's thread;
 *	- X saw w in memory: no store of its own thread that it may have seen was in the buffer.
 *
 * Then E sees w, or the word of an operation W that may store after that.  W does not if E
 * certainly returned before W was called; if W's stores had left before X was called; or if W and X
 * are of one thread, and W returned before X was called.  In the last two cases the store of W is
 * overwritten when X's store leaves or is seen; and what X saw in memory, or its thread saw, only
 * changes by later stores.  W is also overwritten if X saw w, which is not the first word, and for
 * each operation Z that may have stored this w, W's stores left before Z's: W's had left before Z
 * was called, or W and Z are of one thread, and W returned before Z was called.
 *
 * Without X, E sees the first word, or that of an operation that need not be after E.
 */
#ifndef KL_STORY_SIGHT_H
#define KL_STORY_SIGHT_H

#include "story/stores.h"

#define KL_SIGHT_WORDS	4	/* largest number of words that E may see */
#define KL_SIGHT_TRIES 64 /* largest number of operations X that are tried for one E */

enum kl_sight_by {
	KL_SIGHT_NOT,
	KL_SIGHT_FIRST,		/* without X */
	KL_SIGHT_LEFT,		/* the store of X had left before E */
	KL_SIGHT_OWN,		/* X stored, and is of E's thread */
	KL_SIGHT_OWN_SAW,	/* X saw the word, and is of E's thread */
	KL_SIGHT_MEMORY,	/* X saw the word in memory */
};

/* The words that E may see.  Operations are indices in t->ops. */
struct kl_sight {
	struct kl_stores *t;
	uint32_t e, slot;
	uint32_t x;		/* KL_NO_OP for the first word */
	enum kl_sight_by by;
	struct kl_left left;	/* of X's store */
	/* X's word, and those that may come after it, with the operations that stored them */
	uint64_t words[KL_SIGHT_WORDS];
	uint32_t from[KL_SIGHT_WORDS];
	size_t n;
};

/* Return: the name of an operation for sentences; empty for KL_NO_OP. */
static inline struct kl_name kl_sight_name(const struct kl_sight *s, uint32_t at)
{
	return at == KL_NO_OP ? (struct kl_name){ "" } : kl_name_op(s->t->s, s->t->ops[at].op);
}

/* Return: the word as text, "x = 1". */
static inline struct kl_name kl_sight_word(const struct kl_sight *s, uint64_t v)
{
	return kl_stores_name(s->t, s->slot, v);
}

/**
 * kl_sight_find() - find the words that an operation may see
 * @s: the sight, of which t, e and slot are set
 * @x: what X did to the word, or NULL to begin with the first word
 *
 * Return: false if X shows nothing, a word is not known, or there are too many.
 */
bool kl_sight_find(struct kl_sight *s, const struct kl_touch *x);

/*
 * Does operation @e certainly see no words that are older than those that @x stored or saw?
 * kl_sight_tell_reach() says why, and returns 0 or -ENOMEM; @by gets the time since when.
 */
bool kl_sight_reaches(struct kl_stores *t, uint32_t e, uint32_t x);
int kl_sight_tell_reach(struct kl_stores *t, uint32_t e, uint32_t x, struct kl_story *story,
			uint64_t *by);

/*
 * Find the fewest words that an operation may see, for any X that is tried.  Return: false if none
 * are known.
 */
bool kl_sight_best(struct kl_sight *s);

/* Cast X and the operations of the other words, and say how E saw X.  Return: 0 or -ENOMEM. */
int kl_sight_cast(const struct kl_sight *s, struct kl_story *story);

/*
 * Cast the last operation before E that stored @v, and those that had not returned before it was
 * called; E cannot have seen their stores.  Say why.  Return: 0 or -ENOMEM.
 */
int kl_sight_cast_gone(const struct kl_sight *s, struct kl_story *story, uint64_t v);

#endif
