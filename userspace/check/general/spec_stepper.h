/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stepping a specification through states that are numbers: states are
 * interned, and what an item does to a state is remembered.
 */
#ifndef KL_CHECK_GENERAL_SPEC_STEPPER_H
#define KL_CHECK_GENERAL_SPEC_STEPPER_H

#include <stdint.h>

#include "base/intern.h"
#include "base/mem.h"
#include "check/check.h"

/* Inside a gap: any state, before and after every step. */
#define KL_STATE_GAP	0u

/* Bounds of a run, looked at once in a while. */
struct kl_budget {
	const struct kl_limits *lim;
	uint64_t ticks, work;	/* looks at the bounds; all looks */
	uint64_t clocked;	/* of them, when the clock was looked at */
	uint64_t configs;	/* configurations made */
	uint64_t progress;	/* operations placed so far, at best */
	bool more_work;		/* it was the bound on work */
	char reason[160];	/* why the run had to end */
};

/* Return: 0, or -EDQUOT with the reason set. */
int kl_budget_check(struct kl_budget *b, uint64_t bytes);

/* For kl_run_set_bound(): looks until the bound of work, at least one; 0: there is no bound. */
uint64_t kl_budget_left(const struct kl_budget *b);

/* Is the time over?  For kl_run_set_bound(), of a struct kl_budget. */
bool kl_budget_over(void *budget);

/* The interpreter used up what was left, of work or of time: -EDQUOT with the reason set. */
int kl_budget_out(struct kl_budget *b);

#define KL_MEMO_NEXT	3

/* What a shape did to a state: a direct-mapped cache. */
struct kl_memo_entry {
	uint64_t key;		/* state << 32 | shape, plus 1 */
	uint32_t n;
	uint32_t next[KL_MEMO_NEXT];
};

struct kl_memo {
	struct kl_memo_entry *entries;
	uint32_t mask;
};

/*
 * Entries for one simulator at a time; what comes while they are in use has its own.  With
 * memory that is new for each partition, threads beside each other would wait for the
 * kernel's mappings: a page that is read first is mapped once more when it is written.
 */
struct kl_memo_room {
	struct kl_memo_entry *entries;
	size_t n;		/* there is room for so many */
	bool used;
};

static inline struct kl_memo_entry *kl_memo_at(const struct kl_memo *m, uint64_t key)
{
	return &m->entries[(key * 0x9e3779b97f4a7c15ull >> 40) & m->mask];
}

static inline uint64_t kl_memo_key(uint32_t state, uint32_t shape)
{
	return ((uint64_t)state << 32 | shape) + 1;
}

#define KL_NATURE_KNOWN	0x80	/* it has been looked at */

enum kl_nature {
	KL_FREE	= 1,	/* it never changes a state in which it is possible */
	KL_OVER	= 2,	/* always possible, and leaves the same state whatever was before */
	KL_EAGER = 4,	/* if it is possible in one way, it may as well take effect now */
};

/*
 * What the frontier engine walks: numbered states, what items do to them, and
 * moves that the machine makes by itself (a store buffer's oldest entry leaves).
 */
struct kl_system {
	/* What is known of @item whatever the state, enum kl_nature; -ENOMEM, -EDQUOT. */
	int (*nature)(struct kl_system *s, uint32_t item);
	/* Do operations of equal shape do the same, whoever executes them? */
	bool shapes;
	const struct kl_memo *memo;	/* of step(), or NULL */

	/* Number of successors, in *next until the next call; -ENOMEM, -EDQUOT. */
	int (*step)(struct kl_system *s, uint32_t state, uint32_t item, const uint32_t **next);
	/* Number of moves possible, in *moves until the next call; NULL: there are none. */
	int (*moves)(struct kl_system *s, uint32_t state, const uint32_t **moves);
	/* 0 and *next, -ENOMEM, -EDQUOT. */
	int (*move)(struct kl_system *s, uint32_t state, uint32_t move, uint32_t *next);
	/* Is something in a buffer that has to leave by the drain, or the return, of @item? */
	bool (*waits)(struct kl_system *s, uint32_t state, uint32_t item, bool drain);
	/*
	 * Did the step of @item from @before to @after leave an entry in a buffer?
	 * *dropped: entries of its thread that could have left had left before it.
	 */
	bool (*left)(struct kl_system *s, uint32_t item, uint32_t before, uint32_t after,
		     bool *dropped);
	/* Equal but for which moves are still worth making? NULL: equal states are one. */
	bool (*same)(struct kl_system *s, uint32_t a, uint32_t b);
	/* Can @a go on in every way in which @b can?  NULL: that is not known. */
	bool (*covers)(struct kl_system *s, uint32_t a, uint32_t b);
	/* See kl_state_lost().  NULL: no state is lost. */
	bool (*lost)(struct kl_system *s, uint32_t state);
	/* @state where all moves are worth making again; -ENOMEM.  NULL: they always are. */
	int64_t (*seal)(struct kl_system *s, uint32_t state);
	/* Whose return is to be satisfied, or drain. */
	uint32_t item;
	bool drain;
	size_t (*bytes)(const struct kl_system *s);
	/* Only @states are needed from here on: forget others, renumber these; or NULL. */
	int (*keep)(struct kl_system *s, uint32_t *states, size_t n);
	/* Is there enough to forget? */
	bool (*full)(const struct kl_system *s);
	struct kl_supply *supply;	/* of states of one word; or NULL */
	uint32_t first;
	size_t width;	/* configurations kept at a time, 0: all */
};

/**
 * kl_frontier_run() - decide a partition in one pass over its events
 * @p: the partition
 * @sys: the system that its operations ran on
 * @b: bounds
 * @a: the answer; a step of a move is KL_STEP_FLUSH and has the move's number for item;
 *	KL_STEP_FLUSH | KL_STEP_BUFFERED: before the item's step entries were dropped
 *
 * With kl_system.width the answer is UNKNOWN when one that was not kept might have
 * gone on, and more work then means a greater width.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_run(const struct kl_part *p, struct kl_system *sys, struct kl_budget *b,
		    struct kl_answer *a);

/* Can an operation of the spec leave nothing of the state before, whatever it was? */
bool kl_spec_has_overwrites(const struct kl_spec *spec);

struct kl_sim {
	const struct kl_part *p;
	struct kl_run *run;
	struct kl_intern states;
	uint32_t any, first;	/* numbers of the unknown and of the first state */
	struct kl_memo memo;
	uint8_t *nature;		/* of shapes, plus KL_NATURE_KNOWN; or NULL */
	uint32_t *next;		/* successors of the last step */
	size_t nnext, cnext;
	struct kl_val *before;	/* the state before the step, which is number @unpacked */
	size_t nbefore;		/* its values; 0: none is there */
	uint32_t unpacked;
	uint64_t *packed;	/* one to be interned */
	size_t cbefore, cpacked;
	struct kl_val *other;	/* scratch */
	size_t cother;
	size_t room, peak;	/* words of states until some are forgotten; bytes at most */
	bool in_gap, fixed;
	bool noted;		/* some state has notes, see kl_state_covers() */
	struct kl_budget *budget;	/* or NULL: no bound on the interpreter */
	char *reason;		/* where to say why the interpreter gave up */
	uint64_t looks;		/* at what is not remembered, see kl_sim_count() */
	uint64_t most;		/* of them in this step, 0: as many as there are */
};

/**
 * kl_sim_init() - start
 * @s: the simulator
 * @p: the partition
 * @b: bounds the interpreter, by looks that kl_sim_count() is to count in it; or NULL
 * @reason: 160 bytes for a reason to give up
 *
 * Return: 0 or -ENOMEM.
 */
int kl_sim_init(struct kl_sim *s, const struct kl_part *p, struct kl_budget *b, char *reason);
void kl_sim_free(struct kl_sim *s);

/* What kl_sim_step() and kl_sim_nature() do where it is not remembered. */
int kl_sim_step_anew(struct kl_sim *s, uint32_t state, uint32_t item, const uint32_t **next);
int kl_sim_look(struct kl_sim *s, uint32_t item);

/**
 * kl_sim_step() - where an item may lead from a state
 * @s: the simulator
 * @state: the state before
 * @item: what takes effect
 * @next: the states after, valid until the next call
 *
 * Return: how many (0: not possible in this state), -ENOMEM, -EDQUOT with the
 * reason set when the specification exceeds a bound of the interpreter, or the work runs out.
 */
static inline int kl_sim_step(struct kl_sim *s, uint32_t state, uint32_t item,
			      const uint32_t **next)
{
	const struct kl_item *it = &s->p->items[item];
	const uint64_t key = kl_memo_key(state, it->shape);
	const struct kl_memo_entry *m = kl_memo_at(&s->memo, key);

	if (it->kind != KL_ITEM_OP || m->key != key)
		return kl_sim_step_anew(s, state, item, next);
	*next = m->next;
	return m->n;
}

/**
 * kl_sim_nature() - what an item does whatever the state
 * @s: the simulator
 * @item: an operation
 *
 * Free is one whose method writes nothing, and one that by its results wrote
 * nothing: an insert that found the key there.
 *
 * Return: enum kl_nature, -ENOMEM, -EDQUOT when the work runs out.
 */
static inline int kl_sim_nature(struct kl_sim *s, uint32_t item)
{
	const struct kl_item *it = &s->p->items[item];
	const bool seen = s->nature && it->kind == KL_ITEM_OP && s->nature[it->shape];

	return seen ? s->nature[it->shape] & ~KL_NATURE_KNOWN : kl_sim_look(s, item);
}

/**
 * kl_sim_keep() - forget states
 * @s: the simulator
 * @states: those still in use, besides the unknown one and that of gaps; renumbered
 * @n: how many
 *
 * A pass over a history needs few of the states that it came through, and finds them
 * faster where others are not in the way.
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_sim_keep(struct kl_sim *s, uint32_t *states, size_t n);

/* See kl_state_lost(); false too when out of memory, which the next step tells. */
bool kl_sim_lost(struct kl_sim *s, uint32_t state);

/* Does @a stand for all states that @b stands for?  False if that is not seen. */
bool kl_sim_covers(struct kl_sim *s, uint32_t a, uint32_t b);

/* The word that a state of one slot is; false if that is not known. */
bool kl_sim_word(const struct kl_sim *s, uint32_t state, uint64_t *word);

/**
 * kl_supply_new() - a rule for states of one word, see prune_rmw.c
 * @sim: the simulator of the partition
 * @out: for kl_system.supply; NULL if the rule is not for this specification or history
 *
 * Return: 0 or -ENOMEM.
 */
int kl_supply_new(struct kl_sim *sim, struct kl_supply **out);
void kl_supply_free(struct kl_supply *s);
/* States have other numbers now; @s may be NULL. */
void kl_supply_forget(struct kl_supply *s);

/*
 * What kl_run_apply() returned for @it: -EDQUOT with the @reason (160 bytes) where the
 * specification exceeds a bound of the interpreter.
 */
int kl_sim_gave_up(const struct kl_part *p, const struct kl_run *run, const struct kl_item *it,
		   int ret, char *reason);

/* States have other numbers now: what is remembered of them is of no use. */
void kl_sim_forget(struct kl_sim *s);

/* Count what the simulator did since the last time. */
static inline void kl_sim_count(struct kl_sim *s, struct kl_budget *b)
{
	b->work += s->looks;
	s->looks = 0;
}

/* The interpreter's next call takes no more than the work that is left. */
void kl_sim_bound(struct kl_sim *s);

/* Is kl_sim_keep() worth its while? */
static inline bool kl_sim_full(const struct kl_sim *s)
{
	return s->states.nwords + s->states.n > s->room;
}

static inline size_t kl_sim_bytes(const struct kl_sim *s)
{
	const size_t now = kl_intern_bytes(&s->states);

	return now > s->peak ? now : s->peak;
}

#endif
