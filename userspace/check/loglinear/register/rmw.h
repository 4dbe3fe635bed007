/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers with read-modify-write operations, which see a word and leave another; see rmw.c.
 *
 * Times are 1 and more; a pending operation returns at FOREVER.  An operation a is certainly before
 * b if a.ret < b.call.
 */
#ifndef KL_CHECK_LOGLINEAR_REGISTER_RMW_H
#define KL_CHECK_LOGLINEAR_REGISTER_RMW_H

#include "check/loglinear/loglinear.h"
#include "check/loglinear/words.h"
#include "spec/classify/word.h"

#define FOREVER		(UINT64_C(1) << 62)

#define RMW_WISHES	4096	/* maximal number of entries of rmw.wish */

struct rmw_op {
	uint8_t kind;		/* enum kl_word_kind; KL_WORD_NEVER if it may be omitted */
	uint32_t before, after;	/* numbers of the words that it saw and left */
	uint64_t call, ret;
};

/* A word that was in the register for one period. */
struct rmw_value {
	uint32_t maker, taker;	/* the operations that made the word, and that replaced it */
	/* first return and last call of operations that only saw it */
	uint64_t first_ret, last_call;
	/* numbers of operations that may have made the word; that certainly replaced it */
	uint32_t made, taken;
	uint32_t chain;		/* index in rmw.chain */
	uint32_t block;		/* index of the value in the order, or LL_NONE */
};

/* A chain: words that were made from each other, beginning with a write or the first word. */
struct rmw_chain {
	uint32_t head;		/* its first value */
	uint64_t first_ret, last_call;	/* of all its operations */
};

struct rmw {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	bool strict;
	uint32_t *last;		/* each thread's last operation + 1 */
	struct rmw_op *op;
	/* the words of each signature, KL_WORD_NEVER if not yet known; or NULL */
	struct rmw_op *known;
	struct ll_words words;
	struct rmw_value *v;
	uint32_t first;		/* the first value, or LL_NONE if it is unknown */
	uint32_t nadds;		/* number of pending operations that may have made any word */
	bool again;		/* a word was made more than once */
	bool opaque;		/* an operation may have written the word that it saw */
	uint32_t *pending;	/* pending operations that may have changed the register */
	uint32_t npending;
	struct rmw_chain *chain;	/* sorted by rmw_chains() */
	uint32_t nchains;
	uint32_t *block;	/* values in the order of chains, see rmw_order.c */
	uint32_t nblocks;
	/* Operations that found no place, the chain that is in their way, and its first value. */
	struct rmw_wish { uint32_t item, head, chain; } *wish;
	uint32_t nwishes;
	bool forced;		/* one of these has no place in any order of the chains */
	struct kl_step *order;	/* the witness */
	uint32_t norder;
	uint32_t bad[2];	/* words that break a condition, or LL_NONE */
	char why[160];		/* the broken condition, or the reason for UNKNOWN */
};

/* Return: true if an operation made, replaced or saw the word. */
static inline bool rmw_used(const struct rmw_value *v)
{
	return v->maker != LL_NONE || v->taker != LL_NONE || v->last_call;
}

static inline uint64_t rmw_word(const struct rmw *m, uint32_t value)
{
	return m->words.word[value];
}

/* rmw.c: decide a register's operations; fills @a.  Return: 0, or -ENOMEM. */
int ll_rmw(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	   struct kl_answer *a);

/* Get the number of a word, which may be new.  Return: 0, or -ENOMEM. */
int rmw_number(struct rmw *m, uint64_t word, uint32_t *value);

/* rmw_core.c: put the operations on m->bad into a->core, or all operations.  0, or -ENOMEM. */
int rmw_core(const struct rmw *m, struct kl_answer *a);
/*
 * Where words come back: let a general engine look for words that have no order by themselves.  If
 * there are some, @a is a violation with a core.  Return: 0, or a negative errno.
 */
int rmw_parts(const struct rmw *m, struct kl_answer *a);

/* rmw_pending.c: choose the pending operations that must have taken effect.  0 or -ENOMEM. */
int rmw_choose(struct rmw *m);

/* rmw_order.c: find the chains and their order.  Return: 1, 0 with m->why, -ENOMEM. */
int rmw_chains(struct rmw *m);
/* Put all operations into an order, m->order.  Return: 1, 0 with m->why, -ENOMEM. */
int rmw_order(struct rmw *m);

/*
 * rmw_reorder.c: move chains so that the operations in m->wish may find places.  Return: false if
 * none was moved; if a bound of time is the reason, m->why says so.
 */
bool rmw_make_way(struct rmw *m);

#endif
