/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Internal interface of the interpreter.  A path is one execution of a method from its start,
 * with one vector of choices.  All paths are executed in turn; each may report one outcome.  A
 * path records in sym[], def[] and dom[] what it learns about unknowns, and looks values up there
 * when it uses them.
 *
 * A path is lost if it dropped a constraint, or does not know whether its constraints have a
 * solution.  Its next state may accept too much, and gets a LOST note.
 */
#ifndef KL_SPEC_INTERP_RUN_H
#define KL_SPEC_INTERP_RUN_H

#include <errno.h>

#include "spec/lang/ast.h"
#include "spec/interp/code.h"

/* Result of a function: the path contradicts itself, so it has no outcome. */
#define KL_DROP		1
/* The counts of instructions are approximate. */
#define KL_STEPS_MAX	(1u << 20)	/* instructions on one path */
#define KL_WORK_MAX	(1u << 26)	/* instructions on all paths of a call */
#define KL_PATHS_MAX	(1u << 16)
#define KL_SYMS_MAX	(1u << 20)
#define KL_ENTRIES_MAX	(1u << 20)	/* values in a container */
#define KL_RELATIONS_MAX	64	/* relations between unknowns; also opaque unknowns */
#define KL_LENGTH_MAX	(1ull << 60)	/* unlisted entries of an unknown container */
/*
 * As the tag of an entry: the place of the unlisted entries.  Deques have such an entry, and queues
 * after a known front.  As the tag of kl_cont.rest or kl_cont.floor: not tracked.
 */
#define KL_REST		(KL_ABSENT + 1)

/*
 * Notes are constraints on the unknowns of a state.  They follow its containers (unknown_notes.c):
 *	LENGTH i, value		number of unlisted entries of container i, which is unknown
 *	FLOOR i, value		no unlisted entry of pqueue i comes before this value
 *	ANY a, MAY s, lo, hi ...	a is in one of these ranges, or is a special value of the
 *				set s; with KL_MAY_DOUBT in s the first range is kl_dom.doubt
 *	ANY a, ANY b, PLUS c	a = b + c
 *	ANY a, ANY b, MINUS c	a = c - b
 *	ANY a, ANY b, NE; LE; LT	a != b, a <= b, a < b
 *	LOST			a constraint was dropped
 *	ANY a, ALIVE		in raw mode, input only: a also occurs outside the state
 */
#define KL_MAY_DOUBT	(1u << 16)

enum kl_note {
	KL_NOTE_LENGTH = KL_REST + 1, KL_NOTE_FLOOR, KL_NOTE_MAY, KL_NOTE_PLUS, KL_NOTE_MINUS,
	KL_NOTE_NE, KL_NOTE_LE, KL_NOTE_LT, KL_NOTE_LOST, KL_NOTE_ALIVE,
};

/* A container of the state, copied so that the path may change it. */
struct kl_cont {
	struct kl_val *e;	/* the listed entries */
	size_t n, cap;		/* number of values, not of entries */
	bool unknown;		/* it may have entries that are not listed */
	bool loaded;		/* e[] is valid */
	bool appended;		/* an entry was appended since it was loaded */
	/*
	 * If unknown: the number of unlisted entries, kept if the specification uses size(); and,
	 * for a pqueue, a value that no unlisted entry comes before.  Tag KL_REST: not tracked.
	 */
	struct kl_val rest, floor;
};

/* A choice on the path: alternative @taken of @n. */
struct kl_choice {
	uint32_t taken, n;
};

/* A range of words, both ends included. */
struct kl_range {
	uint64_t lo, hi;
};

/*
 * A domain: the values that an unknown may have (unknown_domain.c).  These are the words in
 * kl_run.ranges[at .. at+n-1], and the special values whose tags are bits of @special.
 *
 * If @doubtful, some words in @doubt are excluded, too, but which ones is not recorded.  The range
 * @doubt may wrap around, with lo > hi.
 */
struct kl_dom {
	uint32_t at, n, special;
	bool doubtful;
	struct kl_range doubt;
};

/*
 * How an unknown was computed from the unknown @base: base + c (KL_DEF_SUM), c - base (KL_DEF_SUM
 * with @minus), or base ^ c (KL_DEF_XOR).
 */
struct kl_def {
	enum { KL_DEF_NONE, KL_DEF_SUM, KL_DEF_XOR } kind;
	bool minus;
	uint64_t base, c;
};

/*
 * A value in terms of a root, which is an unknown that is not computed from another: root + c, or
 * c - root if @minus.
 */
struct kl_term {
	uint64_t root, c;
	bool minus;
};

/*
 * An opaque unknown: it was computed from other unknowns in a way that is not recorded.  This does
 * no harm as long as the path learns nothing about it, so the path keeps its first domain.
 */
struct kl_opaque {
	uint64_t sym;			/* the unknown's number */
	struct kl_dom dom;		/* its domain when it was made */
	/* The two roots whose sum, difference or exclusive or it is; else KL_NO_ROOT. */
	uint64_t of[2];
};

#define KL_NO_ROOT	UINT64_MAX

/* A relation between two values.  At least one was unknown when the relation was found. */
struct kl_relation {
	struct kl_val a, b;
	enum kl_note kind;		/* KL_NOTE_NE, _LE or _LT */
};

struct kl_run {
	const struct kl_spec *s;
	const struct kl_method_def *m;
	bool raw;			/* see kl_run_set_raw() */
	uint64_t raw_first;		/* see kl_run_set_fresh() */
	bool stepwise;			/* see kl_run_set_steps() */
	bool slow;			/* see kl_run_set_slow() */
	bool exact;			/* see kl_run_set_exact() */

	/* The current operation: the state before it, its arguments and observed results. */
	const struct kl_val *in, *args, *res;
	const struct kl_outcome *before;	/* outcome of the step before, or NULL */
	size_t in_len;			/* number of values in @in */
	size_t *cont_at;		/* index in @in of each container's header */
	bool known;			/* no container of @in is unknown */
	size_t notes;			/* index in @in of the first note */
	uint64_t nstate;		/* number of unknowns in the state: sym[0..nstate-1] */
	uint64_t nbase;			/* number of unknowns in the state and the arguments */
	/*
	 * A preset gives the first nbase unknowns their values at the start of a path.  All paths
	 * are executed once for each preset; see add_preset().
	 */
	struct kl_val *presets;		/* npresets times nbase values */
	size_t npresets, cpresets, preset;

	/* The current path. */
	struct kl_val reg[KL_REGS];
	struct kl_val *slots;
	struct kl_cont *conts;
	struct kl_val *sym;
	struct kl_def *def;
	struct kl_dom *dom;
	size_t nsym, csym, cdef, cdom;
	struct kl_range *ranges;	/* ranges[0] has all words */
	size_t nranges, cranges;
	struct kl_relation relation[KL_RELATIONS_MAX];
	struct kl_opaque opaque[KL_RELATIONS_MAX];
	unsigned int nrelations, nopaque, nxor;
	struct kl_choice *choice;
	size_t nchoice, cchoice, at_choice;
	/* The slots that the path assigned.  For such a slot, mark[slot] equals @path. */
	uint32_t *wrote, *mark;
	size_t nwrote;
	uint32_t path;			/* number of the path, never 0 */
	bool barrier, through;		/* see struct kl_outcome */
	bool entered;			/* the atomic block of this step has begun */
	uint32_t next_at;		/* code offset of the next step; 0 if there is none */
	bool cont_changed;		/* a container may have changed */
	bool bound;			/* an unknown became known, or equal to another one */
	bool guessed;			/* a choice was about an unknown */
	bool widened;			/* a constraint on a computed unknown was dropped */
	bool lost;			/* the state needs a LOST note */
	uint32_t steps;			/* instructions of this path, approximate */
	uint64_t insns;			/* instructions of this call, approximate */
	uint64_t copied;		/* work of this call for copied values of states */
	uint64_t work, total;		/* work of this call (kl_run_work()), and of all before */
	/* See kl_run_set_bound(): for this call, and for the next one. */
	uint64_t most, next_most;
	bool (*over)(void *ctx);
	bool (*next_over)(void *ctx);
	void *over_ctx;
	uint64_t asked;			/* @work when over() was last called */
	uint32_t npaths;		/* number of paths of this call so far */
	struct kl_val results[KL_MAX_ARGS];

	/* Outcomes. */
	const struct kl_val *next;	/* the next state: @out, @slots or @in */
	struct kl_val *out;
	size_t nout, cout, notes_out;	/* notes_out: index in @next of the first note */
	size_t *out_at;			/* index in @out of each container's header */
	uint64_t *rename;		/* scratch, a word for each unknown */
	size_t crename;
	struct kl_name *names;		/* unknowns of the next state by number (canonical.c) */
	size_t nnames, cnames;
	struct kl_val *bound_out;	/* kl_outcome.bound */
	size_t cbound_out;
	uint64_t *seen;			/* records of the reported outcomes (outcome.c) */
	size_t nseen, cseen;
	uint64_t *table;		/* hash table of indices into seen[]; 0 is a free bucket */
	size_t table_size, noutcomes;

	char error[160];
};

/*
 * Unknowns (unknown_value.c).  Functions that return an int return 0, KL_DROP if the path
 * contradicts itself, or a negative errno.
 */

/* Return: the value of @v; if it is not known, the unknown that represents all that equal @v. */
struct kl_val kl_sym_follow(const struct kl_run *r, struct kl_val v);
/* Express the unknown @v by a root.  Return: true; false if @v is known. */
bool kl_sym_term(const struct kl_run *r, struct kl_val v, struct kl_term *t);
/* Make room for @n unknowns. */
int kl_sym_reserve(struct kl_run *r, size_t n);
/* Forget all constraints on the unknown number @i. */
void kl_sym_reset(struct kl_run *r, size_t i);
/* Make a new unknown. */
int kl_sym_fresh(struct kl_run *r, struct kl_val *v);
/* Compute @v = a op b, where @a or @b is unknown. */
int kl_sym_result(struct kl_run *r, int op, struct kl_val a, struct kl_val b, struct kl_val *v);
/* Make the new unknown @v opaque. */
void kl_sym_set_opaque(struct kl_run *r, struct kl_val v);
/* Require that @a equals @b. */
int kl_sym_unify(struct kl_run *r, struct kl_val a, struct kl_val b);
/* Decide whether two values are equal; a choice of the path if this is not known. */
int kl_sym_equal(struct kl_run *r, struct kl_val a, struct kl_val b, bool *equal);
/* Decide whether a bool is true; a choice of the path if this is not known. */
int kl_sym_truth(struct kl_run *r, struct kl_val v, bool *truth);
/* Require that @v is a word from @lo to @hi. */
int kl_sym_limit(struct kl_run *r, struct kl_val v, uint64_t lo, uint64_t hi);
/* Require that @a differs from @b. */
int kl_sym_differ(struct kl_run *r, struct kl_val a, struct kl_val b);
/* Require that @a is at most @b, or less than @b if @strict. */
int kl_sym_at_most(struct kl_run *r, struct kl_val a, struct kl_val b, bool strict);
/*
 * Set @v to any word from @least on.  Each observed result that fits is a choice of its own, and
 * sets *@seen; in the last choice @v is an unknown that differs from these results.
 */
int kl_sym_any(struct kl_run *r, uint64_t least, struct kl_val *v, bool *seen);
/* Require that the value of the term @t is in @d. */
int kl_sym_restrict(struct kl_run *r, const struct kl_term *t, const struct kl_dom *d);

/*
 * Domains (unknown_domain.c).  Functions that return an int return 0, KL_DROP if the domain becomes
 * empty, -ENOMEM, or -E2BIG if it would have too many ranges.
 */
int kl_dom_reset(struct kl_run *r);
/* Return: the domain of all values that the specification uses. */
struct kl_dom kl_dom_all(const struct kl_run *r);
bool kl_dom_is_all(const struct kl_run *r, const struct kl_dom *d);
bool kl_dom_all_words(const struct kl_run *r, const struct kl_dom *d);
bool kl_dom_has(const struct kl_run *r, const struct kl_dom *d, struct kl_val v);
/* Return: true if it is not recorded whether @v is excluded from @d. */
bool kl_dom_doubts(const struct kl_dom *d, struct kl_val v);
/* Return: true if @d has a single word, which is stored to @word. */
bool kl_dom_one(const struct kl_run *r, const struct kl_dom *d, uint64_t *word);
/* Set @d to the words from @lo to @hi; if lo > hi the range wraps around. */
int kl_dom_range(struct kl_run *r, uint64_t lo, uint64_t hi, struct kl_dom *d);
/* Intersect @d with @with; if this needs too many ranges @d stays, and the path is lost. */
int kl_dom_cut(struct kl_run *r, struct kl_dom *d, const struct kl_dom *with);
/* Replace excluded single words by a doubtful range if there are more than a state keeps. */
int kl_dom_fold(struct kl_run *r, struct kl_dom *d);
/* Remove @v from @d. */
int kl_dom_remove(struct kl_run *r, struct kl_dom *d, struct kl_val v);
/* Set @to to the words w + c, or c - w if @minus, for all words w of @d. */
int kl_dom_map(struct kl_run *r, const struct kl_dom *d, bool minus, uint64_t c,
	       struct kl_dom *to);

/* Relations between unknowns (unknown_relation.c). */
int kl_relate(struct kl_run *r, struct kl_val a, struct kl_val b, enum kl_note kind);
/* At the end of a path, turn relations into constraints on single unknowns where possible. */
int kl_relations_settle(struct kl_run *r);
/* In raw mode: call @fn for each unknown that also occurs outside the state. */
void kl_notes_each_alive(struct kl_run *r, void (*fn)(struct kl_run *r, struct kl_val v));

/* Notes of a state (unknown_notes.c). */

/* Check the notes of @r->in from index @at on, and count their unknowns. */
int kl_notes_scan(struct kl_run *r, size_t at);
/* Begin a path with the constraints of the notes. */
int kl_notes_load(struct kl_run *r);
/* Append notes to out[]. */
int kl_notes_put(struct kl_run *r);

/* Record that a constraint was dropped, so that the next state may accept too much. */
static inline void kl_run_lose(struct kl_run *r)
{
	r->lost = true;
	r->widened = true;
}

/* Take -E2BIG of a domain function as a dropped constraint.  Return: 0 then, else @ret. */
static inline int kl_run_lose_e2big(struct kl_run *r, int ret)
{
	if (ret != -E2BIG)
		return ret;
	kl_run_lose(r);
	return 0;
}

/* As kl_sym_follow(), but faster for known values. */
static inline struct kl_val kl_sym_get(const struct kl_run *r, struct kl_val v)
{
	return v.tag == KL_ANY ? kl_sym_follow(r, v) : v;
}

/* Make a choice among @n alternatives (run.c).  Return: 0 .. n-1, or a negative errno. */
int kl_run_choose(struct kl_run *r, uint64_t n);
/* Make a choice about the value of an unknown.  Return: as kl_run_choose(). */
int kl_run_guess(struct kl_run *r, uint64_t n);
/* Set the text of an error.  Return: @err. */
int kl_run_fail(struct kl_run *r, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Report an error of the method in this state.  If the path guessed something about the state, the
 * guess was wrong, because real states have no errors.
 * Return: KL_DROP after a guess; else -E2BIG, with the text of the error set.
 */
int kl_run_fault(struct kl_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Execute one path of the method (interp.c).  Return: 0, KL_DROP or a negative errno. */
int kl_run_exec(struct kl_run *r);

/*
 * Execute the operation if it has no unknowns and no choices (fast_path.c); @ret is set to the
 * result of kl_run_apply().  Return: false if the operation needs the full interpreter; then
 * nothing was reported.
 */
bool kl_run_fast_path(struct kl_run *r, kl_outcome_fn fn, void *ctx, int *ret)
	__attribute__((weak));
/* Call a container's method: arguments in @v[0..1], result in @v[0] (container_state.c). */
int kl_cont_call(struct kl_run *r, unsigned int index, enum kl_cont_op op, struct kl_val *v);
/* Return: number of values in an entry: 2 with a key, else 1. */
static inline unsigned int kl_cont_stride(enum kl_cont_kind k)
{
	return k == KL_C_SET || k == KL_C_MAP || k == KL_C_BAG ? 2 : 1;
}

/* Copy container @index of the state to @r->conts. */
int kl_cont_load(struct kl_run *r, unsigned int index);

/* An unknown of the next state. */
struct kl_name {
	struct kl_term term;		/* its value */
	/* its number in the next state; in raw mode, its number on the path */
	uint64_t number;
	bool length;			/* it occurs only as the number of unlisted entries */
	uint64_t next;			/* index of another name with this root, or UINT64_MAX */
};

/* Set @r->next to the next state, in canonical form unless in raw mode (canonical.c). */
int kl_run_canon(struct kl_run *r);
/*
 * Replace the number of the unknown @v by its number in the next state, a new one if it has none.
 */
void kl_canon_name(struct kl_run *r, struct kl_val *v);

/* Return: true if states have notes.  In step mode states have a fixed size and no notes. */
static inline bool kl_run_keeps(const struct kl_run *r)
{
	return !r->stepwise;
}

/* Forget the outcomes that were reported so far (outcome.c). */
void kl_outcome_reset(struct kl_run *r);
/* Record @o; *@new is false if an equal outcome was recorded before. */
int kl_outcome_new(struct kl_run *r, const struct kl_outcome *o, bool *new);

#endif
