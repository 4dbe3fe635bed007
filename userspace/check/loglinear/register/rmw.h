/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers with read-modify-write operations, which see a word and leave another; see rmw.c.
 *
 * Times are from 1 on, and FOREVER.  a is certainly before b if ret(a) < call(b).
 */
#ifndef KL_CHECK_LOGLINEAR_REGISTER_RMW_H
#define KL_CHECK_LOGLINEAR_REGISTER_RMW_H

#include "check/loglinear/loglinear.h"
#include "check/loglinear/words.h"
#include "spec/classify/word.h"

#define FOREVER		(UINT64_C(1) << 62)

#define RMW_WISHES	4096

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
	uint32_t made, taken;	/* how often, without pending operations */
	uint32_t chain;
	uint32_t block;		/* index of the value in the order, or LL_NONE */
};

/* A chain: words that were made from each other, beginning with a write. */
struct rmw_chain {
	uint32_t head;
	uint64_t first_ret, last_call;	/* of all its operations */
};

struct rmw {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	bool strict;
	uint32_t *last;		/* each thread's last operation + 1 */
	struct rmw_op *op;
	struct rmw_op *known;	/* words of each signature, or NULL; KL_WORD_NEVER: not yet known */
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
	uint32_t *block;	/* values in that order; rmw_order.c */
	uint32_t nblocks;
	/* Operations that found no place, and the chain that is in their way. */
	struct rmw_wish { uint32_t item, head, chain; } *wish;
	uint32_t nwishes;
	bool forced;		/* there is no place in any order of the chains */
	struct kl_step *order;	/* the witness */
	uint32_t norder;
	uint32_t bad[2];	/* words that break a condition, or LL_NONE */
	char why[160];		/* the broken condition, or the reason for UNKNOWN */
};

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

/* Get the number of a word.  Return: 0, or -ENOMEM. */
int rmw_number(struct rmw *m, uint64_t word, uint32_t *value);

/* rmw_core.c: put the operations that break a condition into a->core.  0 or -ENOMEM. */
int rmw_core(const struct rmw *m, struct kl_answer *a);
/* The same where words come back: find words that have no order by themselves.  0 or an errno. */
int rmw_parts(const struct rmw *m, struct kl_answer *a);

/* rmw_pending.c: choose the pending operations that must have taken effect.  0 or -ENOMEM. */
int rmw_choose(struct rmw *m);

/*
 * rmw_order.c: put the chains in order, and then all operations.  Return: 1, 0 with m->why,
 * -ENOMEM.
 */
int rmw_chains(struct rmw *m);
int rmw_order(struct rmw *m);

/*
 * rmw_reorder.c: move chains so that the operations in m->wish may find places.  Return: false if
 * none was moved; if a bound of time is the reason, m->why says so.
 */
bool rmw_make_way(struct rmw *m);

#endif
