/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stepping a specification from state to state.  States are interned, so that they have numbers,
 * and the effects of items on states are remembered.
 */
#ifndef KL_CHECK_GENERAL_SPEC_STEPPER_H
#define KL_CHECK_GENERAL_SPEC_STEPPER_H

#include <stdint.h>

#include "base/intern.h"
#include "base/mem.h"
#include "check/engine.h"

/* The state inside a gap: any state, before and after every step. */
#define KL_STATE_GAP	0u

/* The use that a run has made of its bounds. */
struct kl_budget {
	const struct kl_limits *lim;
	uint64_t ticks, work;	/* number of checks of the bounds; number of looks */
	uint64_t clocked;	/* @work when the clock was read last */
	uint64_t configs;	/* number of configurations that were made */
	uint64_t progress;	/* largest number of operations that were placed */
	enum kl_bound bound;	/* what ended the run */
	char reason[160];	/* why the run had to end */
};

/* Check the bounds.  Return: 0, or -EDQUOT with the reason set. */
int kl_budget_check(struct kl_budget *b, uint64_t bytes);

/* Return: the number of looks that are left, at least 1; 0 if there is no bound. */
static inline uint64_t kl_budget_left(const struct kl_budget *b)
{
	const uint64_t work = b->lim->work ? b->lim->work + b->lim->each * b->progress : 0;
	const uint64_t most = work && (!b->lim->cap || work < b->lim->cap) ? work : b->lim->cap;

	if (!most)
		return 0;
	return b->work < most ? most - b->work : 1;
}

/* The callback @over of kl_run_set_bound(): kl_time_over() for @budget, a struct kl_budget. */
bool kl_budget_over(void *budget);

/* Set the reason after the interpreter reached a bound of work or time.  Return: -EDQUOT. */
int kl_budget_out(struct kl_budget *b);

#define KL_MEMO_NEXT	3

/* An entry of a direct-mapped cache: the effect of a signature on a state. */
struct kl_memo_entry {
	uint64_t key;		/* (state << 32 | signature) + 1 */
	uint32_t n;		/* number of successors, which are in @next */
	uint32_t next[KL_MEMO_NEXT];
};

struct kl_memo {
	struct kl_memo_entry *entries;
	uint32_t mask;
};

/*
 * Memory of a cache, for one stepper at a time; another stepper meanwhile allocates its own.  With
 * new memory for each partition, threads would wait for the kernel's page tables: a page that is
 * read first is mapped once more when it is written.
 */
struct kl_memo_room {
	struct kl_memo_entry *entries;
	size_t n;		/* number of entries */
	bool used;
};

static inline struct kl_memo_entry *kl_memo_at(const struct kl_memo *m, uint64_t key)
{
	return &m->entries[(key * 0x9e3779b97f4a7c15ull >> 40) & m->mask];
}

static inline uint64_t kl_memo_key(uint32_t state, uint32_t sig)
{
	return ((uint64_t)state << 32 | sig) + 1;
}

#define KL_NATURE_KNOWN	0x80	/* the nature of this signature is known */

enum kl_nature {
	KL_READ_ONLY = 1, /* the operation never changes a state in which it is possible */
	KL_BLIND_WRITE = 2, /* it is always possible, and always leaves the same state */
	KL_EARLY = 4,	/* if it has one outcome, taking effect at once is never worse */
};

/*
 * A system that the frontier engine walks: numbered states, effects of items, and moves that the
 * machine makes by itself (the oldest entry of a store buffer leaves).
 */
struct kl_system {
	/* Return: the enum kl_nature of @item, which holds in every state; or -ENOMEM, -EDQUOT. */
	int (*nature)(struct kl_system *s, uint32_t item);
	/* Do operations with equal signatures have the same effect, on every thread? */
	bool opsigs;
	const struct kl_memo *memo;	/* remembered steps, or NULL */

	/*
	 * Return: number of successors, which are in *next until the next call; -ENOMEM, -EDQUOT.
	 */
	int (*step)(struct kl_system *s, uint32_t state, uint32_t item, const uint32_t **next);
	/*
	 * Return: number of moves, which are in *moves until the next call.  NULL if there are
	 * none.
	 */
	int (*moves)(struct kl_system *s, uint32_t state, const uint32_t **moves);
	/* Make a move; *next gets the new state.  Return: 0, -ENOMEM, -EDQUOT. */
	int (*move)(struct kl_system *s, uint32_t state, uint32_t move, uint32_t *next);
	/* Does a buffer hold an entry that must leave by the drain, or the return, of @item? */
	bool (*waits)(struct kl_system *s, uint32_t state, uint32_t item, bool drain);
	/*
	 * Did the step of @item from @before to @after leave an entry in a buffer?  *dropped is set
	 * if all entries of its thread that could leave had left before it.
	 */
	bool (*left)(struct kl_system *s, uint32_t item, uint32_t before, uint32_t after,
		     bool *dropped);
	/* Do @a and @b differ only in the moves that are still tried?  NULL: no two states do. */
	bool (*same)(struct kl_system *s, uint32_t a, uint32_t b);
	/* Can @a go on in every way in which @b can?  NULL if that is not known. */
	bool (*covers)(struct kl_system *s, uint32_t a, uint32_t b);
	/* Is the state lost, see kl_state_lost()?  NULL if no state is. */
	bool (*lost)(struct kl_system *s, uint32_t state);
	/* Return: @state with all moves to be tried again, or -ENOMEM.  NULL: they always are. */
	int64_t (*seal)(struct kl_system *s, uint32_t state);
	/* The item whose return, or drain, must be satisfied. */
	uint32_t item;
	bool drain;
	size_t (*bytes)(const struct kl_system *s);
	/* Forget all states but @states, and renumber these; or NULL. */
	int (*keep)(struct kl_system *s, uint32_t *states, size_t n);
	/* Are there so many states that keep() is worth its cost? */
	bool (*full)(const struct kl_system *s);
	struct kl_supply *supply;	/* pruning for states of one word, or NULL */
	uint32_t first;	/* the first state */
	size_t width;	/* maximal number of configurations, for a beam; 0: no bound */
};

/**
 * kl_frontier_run() - decide a partition in one pass over its events
 * @p: the partition
 * @sys: the system that its operations ran on
 * @b: bounds
 * @a: the answer.  In its order, KL_STEP_FLUSH is a move, whose number is in place of the item.
 *	KL_STEP_FLUSH | KL_STEP_BUFFERED stands before an item if all entries that could leave the
 *	buffer of its thread had left before the item's step.
 *
 * With kl_system.width the answer is UNKNOWN if a configuration that was given up might have gone
 * on; more work then means a greater width.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_run(const struct kl_part *p, struct kl_system *sys, struct kl_budget *b,
		    struct kl_answer *a);

/* Can an operation of the spec overwrite the whole state? */
bool kl_spec_has_overwrites(const struct kl_spec *spec);

struct kl_stepper {
	const struct kl_part *p;
	struct kl_run *run;
	struct kl_intern states;
	uint32_t any, first;	/* numbers of the unknown and of the first state */
	struct kl_memo memo;
	uint8_t *nature;		/* nature of each signature | KL_NATURE_KNOWN; or NULL */
	uint32_t *next;		/* successors of the last step */
	size_t nnext, cnext;
	struct kl_val *before;	/* values of the state before the step, whose number is @unpacked */
	size_t nbefore;		/* number of these values; 0: @before is not valid */
	uint32_t unpacked;
	uint64_t *packed;	/* a state to be interned */
	size_t cbefore, cpacked;
	struct kl_val *other;	/* scratch */
	size_t cother;
	size_t room, peak;	/* words of states up to which none is forgotten; peak bytes */
	bool in_gap, fixed;	/* the step is in a gap; the spec's states have a fixed size */
	bool noted;		/* a state has notes, see kl_state_covers() */
	struct kl_budget *budget;	/* bounds of the interpreter, or NULL */
	char *reason;		/* gets the reason why the interpreter gave up */
	uint64_t looks;		/* looks that are not counted yet, see kl_stepper_count() */
	uint64_t most;		/* bound of @looks in this step; 0: no bound */
};

/**
 * kl_stepper_init() - begin with a partition
 * @s: the stepper
 * @p: the partition
 * @b: bounds of the interpreter, to which kl_stepper_count() adds looks; or NULL
 * @reason: 160 bytes for the reason why the interpreter gave up
 *
 * Return: 0 or -ENOMEM.
 */
int kl_stepper_init(struct kl_stepper *s, const struct kl_part *p, struct kl_budget *b,
		    char *reason);
void kl_stepper_free(struct kl_stepper *s);

/* kl_stepper_step() and kl_stepper_nature() where the effect is not remembered. */
int kl_stepper_step_anew(struct kl_stepper *s, uint32_t state, uint32_t item,
			 const uint32_t **next);
int kl_stepper_look(struct kl_stepper *s, uint32_t item);

/**
 * kl_stepper_step() - find the states to which an item may lead
 * @s: the stepper
 * @state: the state before
 * @item: the item that takes effect
 * @next: gets the states after, valid until the next call
 *
 * Return: their number (0: not possible in this state), -ENOMEM, or -EDQUOT with the reason set
 * when a bound of the interpreter or of work is reached.
 */
static inline int kl_stepper_step(struct kl_stepper *s, uint32_t state, uint32_t item,
				  const uint32_t **next)
{
	const struct kl_item *it = &s->p->items[item];
	const uint64_t key = kl_memo_key(state, it->sig);
	const struct kl_memo_entry *m = kl_memo_at(&s->memo, key);

	if (it->kind != KL_ITEM_OP || m->key != key)
		return kl_stepper_step_anew(s, state, item, next);
	*next = m->next;
	return m->n;
}

/**
 * kl_stepper_nature() - find properties of an item that hold in every state
 * @s: the stepper
 * @item: an operation
 *
 * KL_READ_ONLY holds for methods that write nothing, and for operations whose results show that
 * they wrote nothing, such as an insertion that found the key.
 *
 * Return: enum kl_nature, -ENOMEM, or -EDQUOT when the bound of work is reached.
 */
static inline int kl_stepper_nature(struct kl_stepper *s, uint32_t item)
{
	const struct kl_item *it = &s->p->items[item];
	const bool seen = s->nature && it->kind == KL_ITEM_OP && s->nature[it->sig];

	return seen ? s->nature[it->sig] & ~KL_NATURE_KNOWN : kl_stepper_look(s, item);
}

/**
 * kl_stepper_keep() - forget states
 * @s: the stepper
 * @states: states that are still in use, except the unknown state and that of gaps; renumbered
 * @n: their number
 *
 * A pass over a history needs few of its states, and finds these faster without the others.
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_stepper_keep(struct kl_stepper *s, uint32_t *states, size_t n);

/*
 * Return: true if the state is lost, see kl_state_lost().  If memory is short, the result is false,
 * and the next step reports -ENOMEM.
 */
bool kl_stepper_lost(struct kl_stepper *s, uint32_t state);

/* Does @a stand for all states that @b stands for?  False if that is not known. */
bool kl_stepper_covers(struct kl_stepper *s, uint32_t a, uint32_t b);

/* Get the word of a state with one slot.  Return: false if it is unknown. */
bool kl_stepper_word(const struct kl_stepper *s, uint32_t state, uint64_t *word);

/**
 * kl_supply_new() - make the pruning rule for states of one word, see prune_rmw.c
 * @sim: the stepper of the partition
 * @out: for kl_system.supply; NULL if the rule does not apply to the specification or history
 *
 * Return: 0 or -ENOMEM.
 */
int kl_supply_new(struct kl_stepper *sim, struct kl_supply **out);
void kl_supply_free(struct kl_supply *s);
/* Forget the words of states, because the states' numbers have changed; @s may be NULL. */
void kl_supply_forget(struct kl_supply *s);

/*
 * Translate the result @ret of kl_run_apply() for @it: -EDQUOT with the @reason (160 bytes) where
 * a bound of the interpreter was reached.
 */
int kl_stepper_gave_up(const struct kl_part *p, const struct kl_run *run, const struct kl_item *it,
		       int ret, char *reason);

/* Forget all remembered effects, because the states' numbers have changed. */
void kl_stepper_forget(struct kl_stepper *s);

/* Add the looks of the stepper since the last call to the budget. */
static inline void kl_stepper_count(struct kl_stepper *s, struct kl_budget *b)
{
	b->work += s->looks;
	s->looks = 0;
}

/* Bound the interpreter's next call by the work that is left. */
void kl_stepper_bound(struct kl_stepper *s);

/* Are there so many states that kl_stepper_keep() is worth its cost? */
static inline bool kl_stepper_full(const struct kl_stepper *s)
{
	return s->states.nwords + s->states.n > s->room;
}

static inline size_t kl_stepper_bytes(const struct kl_stepper *s)
{
	const size_t now = kl_intern_bytes(&s->states);

	return now > s->peak ? now : s->peak;
}

#endif
