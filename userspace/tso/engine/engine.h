/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the TSO engine share; see engine.c. */
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
	struct kl_machine m, after;	/* before a step, and one outcome of it */
	struct kl_val *view;
	size_t cview;
	uint64_t *words;
	uint32_t *next, *moves, *order;
	size_t cwords, nnext, cnext, cmoves, corder;
	uint32_t thread, item;		/* of the step under way */
	uint32_t last, after_last;	/* see tso_intern() */
	bool blind, dropped;		/* the step reads nothing; what was hidden is gone */
	bool at_call;			/* it takes effect then, whatever is in the buffer */
	unsigned int outcomes, left;	/* of an operation; and of these, what leaves an entry */
	uint64_t *eager, *barrier;	/* bitsets of items: such as that, and with a barrier */
	bool lazy;			/* flushes that nobody sees are not made */
	bool partial;			/* entries are not such that this is worth while */
	uint32_t *slots;		/* those of the first one */
	size_t nslots, cslots;
	size_t room, peak;		/* words until some are forgotten; bytes at most */
	char *reason;
};

/* ---- machines in words, engine_words.c ---- */

#define ENTRY_LOOKS	8		/* at an entry, see KL_CONFIG_LOOKS, */
#define MACHINE_LOOKS	40		/* and for a machine beside its memory */
#define TSO_ROOM	(1u << 16)	/* words of machines that are kept in any case */

/* In the first word, above the number of entries. */
#define GAP_BIT		(1ull << 63)
#define DROPPED_BIT	(1ull << 62)
#define NOTES_BIT	(1ull << 61)	/* something is known of unknowns */
#define LAST_SHIFT	32
#define LAST_MASK	((1ull << 29) - 1)
#define STEP_BITS	(DROPPED_BIT | LAST_MASK << LAST_SHIFT)	/* of the step before */

/* In the second word of an entry, above the number of its writes. */
#define DUE_BIT		(1ull << 33)
#define HIDDEN_BIT	(1ull << 32)

/* One entry of a machine in words. */
static inline uint32_t word_thread(const uint64_t *w)
{
	return w[0] >> 32;
}

static inline uint32_t word_item(const uint64_t *w)
{
	return (uint32_t)w[0];
}

static inline bool word_hidden(const uint64_t *w)
{
	return w[1] & HIDDEN_BIT;
}

static inline bool word_due(const uint64_t *w)
{
	return w[1] & DUE_BIT;
}

static inline const uint64_t *word_next(const uint64_t *w)
{
	return w + 2 + 3 * (uint32_t)w[1];
}

/* The entries of a machine in words; NULL if it has none. */
static inline const uint64_t *entries_of(const struct tso *t, uint32_t state, uint32_t *n)
{
	const uint64_t *w = t->machines.words + t->machines.at[state];

	*n = (uint32_t)w[0];
	return *n ? w + 1 + 2 * t->m.nmem : NULL;
}

/* How many of the @left entries from @w on are of the first one's thread. */
uint32_t tso_thread_entries(const uint64_t *w, uint32_t left);

/**
 * tso_intern() - the number of a machine
 * @t: the engine
 * @m: the machine; its unknowns get other numbers
 * @dropped: the step before has dropped what was hidden
 * @last: 1 + the thread that flushed last, if nobody can have seen that yet; or 0
 *
 * Return: the state, or -ENOMEM.
 */
int64_t tso_intern(struct tso *t, struct kl_machine *m, bool dropped, uint32_t last);
/* The machine of a number, and t->last.  0 or -ENOMEM. */
int tso_load(struct tso *t, uint32_t state, struct kl_machine *m);
/* As kl_system has them. */
bool tso_same(struct kl_system *sys, uint32_t a, uint32_t b);
int64_t tso_seal(struct kl_system *sys, uint32_t state);
bool tso_lost(struct kl_system *sys, uint32_t state);
bool tso_covers(struct kl_system *sys, uint32_t a, uint32_t b);
size_t tso_bytes(const struct kl_system *sys);
bool tso_full(const struct kl_system *sys);
int tso_keep(struct kl_system *sys, uint32_t *states, size_t n);

/* A machine is loaded, or interned: that takes as long as its entries are many. */
static inline void count_work(struct tso *t, const struct kl_machine *m)
{
	t->budget->work += MACHINE_LOOKS + 2 * m->nmem + ENTRY_LOOKS * m->nentries;
}

/* ---- operations, engine_step.c ---- */

int tso_step(struct kl_system *sys, uint32_t state, uint32_t item, const uint32_t **next);
int tso_nature(struct kl_system *sys, uint32_t item);
/* Which operations may be eager.  0 or -ENOMEM. */
int tso_find_eager(struct tso *t);

/* ---- flushes, engine_moves.c ---- */

/*
 * Moves as numbers: so many of a thread's oldest entries had left where nobody saw it,
 * and, unless that is all, the next one reaches memory now.
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
 * kl_tso_order() - say of flushes whose they are, and where the hidden ones were
 * @p: the partition
 * @barrier: bitset of items that took effect, at their calls, before what their threads
 *	had in their buffers then had left: that comes first
 * @a: the answer of kl_frontier_run(); its steps become those of a witness
 *
 * Return: 0 or -ENOMEM.
 */
int kl_tso_order(const struct kl_part *p, const uint64_t *barrier, struct kl_answer *a);

#endif
