/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interface of the TSO engine's files; engine.c describes hidden, due and early. */
#ifndef KL_TSO_ENGINE_ENGINE_H
#define KL_TSO_ENGINE_ENGINE_H

#include "check/general/spec_stepper.h"
#include "tso/machine/machine.h"

struct tso {
	struct kl_system sys;
	const struct kl_part *p;
	struct kl_budget *budget;
	struct kl_run *run;
	struct kl_intern machines;
	struct kl_machine m, after;	/* before a step, and after one outcome of it */
	struct kl_val *view;
	size_t cview;
	uint64_t *words;
	uint32_t *next, *moves, *order;
	size_t cwords, nnext, cnext, cmoves, corder;
	uint32_t thread, item;		/* of the current step */
	/* @last of tso_intern() before the step, and after it if the step leaves an entry */
	uint32_t last, after_last;
	/* the operation of the step reads nothing; hidden entries were dropped before the step */
	bool blind, dropped;
	bool is_early;			/* the operation is early: it takes effect at its call */
	/* number of outcomes of an operation, and of those that leave an entry */
	unsigned int noutcomes, nbuffered;
	/* bitsets of items: early operations; early operations with a barrier */
	uint64_t *early, *barrier;
	bool lazy;			/* entries can be hidden */
	bool partial;			/* set if entries must not be hidden, see compare_slots() */
	uint32_t *slots;		/* the slots to which the first entry stores */
	size_t nslots, cslots;
	size_t room, peak;		/* see tso_full(); greatest number of bytes so far */
	char *reason;
};

/* ---- states of the machine in words, engine_words.c ---- */

/* Work for loading or interning a state, in looks: */
#define ENTRY_LOOKS	8		/* for each entry */
#define MACHINE_LOOKS	40		/* for a state without its memory and entries */
#define TSO_ROOM	(1u << 16)	/* below so many words and states tso_full() is false */

/* Flags in the first word of a state, above the number of entries. */
#define GAP_BIT		(1ull << 63)
#define DROPPED_BIT	(1ull << 62)
#define NOTES_BIT	(1ull << 61)	/* the state has notes */
#define LAST_SHIFT	32		/* position of @last, see tso_intern() */
#define LAST_MASK	((1ull << 29) - 1)
#define STEP_BITS	(DROPPED_BIT | LAST_MASK << LAST_SHIFT)	/* bits about the step before */

/* Flags in the second word of an entry, above the number of its stores. */
#define DUE_BIT		(1ull << 33)
#define HIDDEN_BIT	(1ull << 32)

/* Members of an entry in words. */
static inline uint32_t entry_thread(const uint64_t *w)
{
	return w[0] >> 32;
}

static inline uint32_t entry_item(const uint64_t *w)
{
	return (uint32_t)w[0];
}

static inline bool entry_hidden(const uint64_t *w)
{
	return w[1] & HIDDEN_BIT;
}

static inline bool entry_due(const uint64_t *w)
{
	return w[1] & DUE_BIT;
}

static inline const uint64_t *entry_next(const uint64_t *w)
{
	return w + 2 + 3 * (uint32_t)w[1];
}

/* Set @n to the number of entries of a state.  Return: the first entry, or NULL. */
static inline const uint64_t *entries_of(const struct tso *t, uint32_t state, uint32_t *n)
{
	const uint64_t *w = t->machines.words + t->machines.at[state];

	*n = (uint32_t)w[0];
	return *n ? w + 1 + 2 * t->m.nmem : NULL;
}

/* Return: how many of the @left entries from @w on have the thread of the first of them. */
uint32_t tso_thread_entries(const uint64_t *w, uint32_t left);

/**
 * tso_intern() - get the number of a state of the machine
 * @t: the engine
 * @m: the machine; its unknowns are renumbered
 * @dropped: the step before dropped hidden entries
 * @last: 1 + the thread that flushed last if no step since can have noticed the flush, else 0
 *
 * Return: the number, or -ENOMEM.
 */
int64_t tso_intern(struct tso *t, struct kl_machine *m, bool dropped, uint32_t last);
/* Load the state with the number @state to @m, and set t->last.  Return: 0 or -ENOMEM. */
int tso_load(struct tso *t, uint32_t state, struct kl_machine *m);
/* Members of struct kl_system. */
bool tso_same(struct kl_system *sys, uint32_t a, uint32_t b);
int64_t tso_seal(struct kl_system *sys, uint32_t state);
bool tso_lost(struct kl_system *sys, uint32_t state);
bool tso_covers(struct kl_system *sys, uint32_t a, uint32_t b);
size_t tso_bytes(const struct kl_system *sys);
bool tso_full(const struct kl_system *sys);
int tso_keep(struct kl_system *sys, uint32_t *states, size_t n);

/* Charge the budget for loading or interning a state. */
static inline void count_work(struct tso *t, const struct kl_machine *m)
{
	t->budget->work += MACHINE_LOOKS + 2 * m->nmem + ENTRY_LOOKS * m->nentries;
}

/* ---- operations, engine_step.c ---- */

int tso_step(struct kl_system *sys, uint32_t state, uint32_t item, const uint32_t **next);
int tso_nature(struct kl_system *sys, uint32_t item);
/*
 * Mark the operations that may take effect at their call, without a loss (`early', see engine.c).
 * Return: 0 or -ENOMEM.
 */
int tso_find_early(struct tso *t);

/* ---- flushes, engine_moves.c ---- */

/*
 * The number of a move: the @hidden oldest entries of @thread are dropped, as they left unnoticed.
 * Unless @drop, the next entry is then flushed.
 */
static inline uint32_t kl_tso_move(const struct kl_part *p, uint32_t thread, uint32_t hidden,
				   bool drop)
{
	return thread + p->nthreads * (2 * hidden + drop);
}

static inline uint32_t kl_tso_move_thread(const struct kl_part *p, uint32_t move)
{
	return move % p->nthreads;
}

static inline uint32_t kl_tso_move_hidden(const struct kl_part *p, uint32_t move)
{
	return move / p->nthreads / 2;
}

static inline bool kl_tso_move_drops(const struct kl_part *p, uint32_t move)
{
	return move / p->nthreads & 1;
}

int tso_moves(struct kl_system *sys, uint32_t state, const uint32_t **moves);
int tso_move(struct kl_system *sys, uint32_t state, uint32_t move, uint32_t *next);
bool tso_waits(struct kl_system *sys, uint32_t state, uint32_t item, bool drain);
bool tso_left(struct kl_system *sys, uint32_t item, uint32_t before, uint32_t after,
	      bool *dropped);

/* ---- orders, engine_order.c ---- */

/**
 * kl_tso_witness() - turn the steps of an answer into the steps of a witness
 * @p: the partition
 * @barrier: bitset of early operations with a barrier; their steps move behind the flushes of the
 *	entries that their threads had in their buffers
 * @a: the answer of kl_frontier_run(); its moves are replaced by flushes of items, and hidden
 *	entries get flushes
 *
 * Return: 0 or -ENOMEM.
 */
int kl_tso_witness(const struct kl_part *p, const uint64_t *barrier, struct kl_answer *a);

#endif
