/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers with operations that see a word and leave another, see rmw.c.
 *
 * Times: 1 and more, and FOREVER; a came before b for certain if ret(a) < call(b).
 */
#ifndef KL_CHECK_LOGLINEAR_REGISTER_RMW_H
#define KL_CHECK_LOGLINEAR_REGISTER_RMW_H

#include "check/loglinear/loglinear.h"
#include "check/loglinear/words.h"
#include "spec/classify/word.h"

#define FOREVER		(UINT64_C(1) << 62)

#define MOVES_WISHES	4096

struct moves_op {
	uint8_t kind;		/* enum kl_word_kind; KL_WORD_NEVER: it need not be in an order */
	uint32_t before, after;	/* numbers of words */
	uint64_t call, ret;
};

/* A word that the register had once. */
struct moves_value {
	uint32_t maker, taker;	/* operations: before it something else was there, behind it */
	uint64_t lo, hi;	/* first return, last call of what saw it and left it there */
	uint32_t made, taken;	/* how often; pending ones may have made it, too */
	uint32_t chain;
	uint32_t block;		/* its place among the values in the order, or MONO_NONE */
};

/* Words that one after another were made of each other, and what began with a write. */
struct moves_chain {
	uint32_t head;
	uint64_t lo, hi;	/* first return, last call of all its operations */
};

struct moves {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	bool strict;
	uint32_t *last;		/* of each thread its last operation + 1 */
	struct moves_op *op;
	struct moves_op *known;	/* of each shape, without times, or NULL; KL_WORD_NEVER: not yet */
	struct mono_words words;
	struct moves_value *v;
	uint32_t first;		/* the value at the start, MONO_NONE if that is not known */
	uint32_t nadds;		/* pending operations that may have made any word */
	bool again;		/* a word was made more than once */
	bool opaque;		/* something wrote what was there, whatever that was */
	uint32_t *pending;	/* operations that may have changed it */
	uint32_t npending;
	struct moves_chain *chain;	/* then in the order in which they were there */
	uint32_t nchains;
	uint32_t *block;	/* values in that order; rmw_order.c */
	uint32_t nblocks;
	/* Operations that found no place, and the chain with the word that was there. */
	struct moves_wish { uint32_t item, head, chain; } *wish;
	uint32_t nwishes;
	bool forced;		/* as there is none in any order */
	struct kl_step *order;	/* the witness */
	uint32_t norder;
	uint32_t bad[2];	/* words without which it would, or MONO_NONE */
	char why[160];		/* a condition that does not hold, or why it is not decided */
};

static inline bool moves_used(const struct moves_value *v)
{
	return v->maker != MONO_NONE || v->taker != MONO_NONE || v->hi;
}

static inline uint64_t moves_word(const struct moves *m, uint32_t value)
{
	return m->words.word[value];
}

/* rmw.c: decide a register's operations; fills @a.  0 or -ENOMEM. */
int mono_moves(const struct kl_slice *s, const struct kl_limits *lim,
	       const struct kl_container *c, struct kl_answer *a);

/* The number of a word.  0 or -ENOMEM. */
int moves_number(struct moves *m, uint64_t word, uint32_t *value);

/* rmw_core.c: the operations that a condition is broken by, in a->core.  0 or -ENOMEM. */
int moves_core(const struct moves *m, struct kl_answer *a);
/* And where words come back: are some wrong by themselves?  0 or a negative errno. */
int moves_parts(const struct moves *m, struct kl_answer *a);

/* rmw_pending.c: which pending operations there have to be.  0 or -ENOMEM. */
int moves_choose(struct moves *m);

/*
 * rmw_order.c: put the chains in order, and then all operations.  1; 0 with m->why;
 * -ENOMEM.
 */
int moves_chains(struct moves *m);
int moves_order(struct moves *m);

/*
 * rmw_reorder.c: move chains so that the operations in m->wish may find places.  Was any
 * moved?  If the time is over none is, and m->why says so.
 */
bool moves_make_way(struct moves *m);

#endif
