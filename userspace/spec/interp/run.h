/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interpreter's inside.  A method with choices is executed once for each
 * vector of choices, from its start; what a path has found out about the
 * unknowns is in sym[], and values are looked up there when they are used.
 */
#ifndef KL_SPEC_INTERP_RUN_H
#define KL_SPEC_INTERP_RUN_H

#include <errno.h>

#include "spec/lang/ast.h"
#include "spec/interp/code.h"

#define KL_DROP		1		/* this path stands for no state: it has no outcome */
#define KL_STEPS_MAX	(1u << 20)	/* instructions on a path, about */
#define KL_WORK_MAX	(1u << 26)	/* instructions of all paths, about, whatever the bound */
#define KL_PATHS_MAX	(1u << 16)
#define KL_SYMS_MAX	(1u << 20)
#define KL_ENTRIES_MAX	(1u << 20)	/* in a container */
#define KL_RELATIONS_MAX	64	/* between unknowns, and unknowns that are such */
#define KL_LENGTH_MAX	(1ull << 60)	/* of a container, whatever it is */
#define KL_REST		(KL_ABSENT + 1)	/* tag of an entry: the unknown rest of a deque */

/*
 * What is known of a state's unknowns stands behind its containers (unknown_notes.c), as
 *	LENGTH i, value		so much is not listed of container i, which is unknown
 *	FLOOR i, value		no value that is not listed of pqueue i comes before it
 *	ANY a, MAY s, lo, hi ...	a is in these ranges, or a special value of the set s;
 *				with KL_MAY_DOUBT in s the first is kl_dom.doubt
 *	ANY a, ANY b, PLUS c	a = b + c
 *	ANY a, ANY b, MINUS c	a = c - b
 *	ANY a, ANY b, NE; LE; LT	a != b, a <= b, a < b
 *	LOST			something was known that is not kept
 *	ANY a, ALIVE		of a state before, in raw mode: a is also somewhere else
 */
#define KL_MAY_DOUBT	(1u << 16)

enum kl_note {
	KL_NOTE_LENGTH = KL_REST + 1, KL_NOTE_FLOOR, KL_NOTE_MAY, KL_NOTE_PLUS, KL_NOTE_MINUS,
	KL_NOTE_NE, KL_NOTE_LE, KL_NOTE_LT, KL_NOTE_LOST, KL_NOTE_ALIVE,
};

/* A container taken out of the state. */
struct kl_cont {
	struct kl_val *e;
	size_t n, cap;		/* values, not entries */
	bool unknown;		/* there may be more that is not known */
	bool loaded;
	bool appended;		/* something, since it was loaded */
	/*
	 * Where it is unknown: how many entries are not listed, if the specification asks for
	 * sizes; of a pqueue, what none of them comes before.  Tag KL_REST: that is not told.
	 */
	struct kl_val rest, floor;
};

struct kl_choice {
	uint32_t taken, n;
};

/* A range of words, ends included. */
struct kl_range {
	uint64_t lo, hi;
};

/*
 * What an unknown may be, see unknown_domain.c: kl_run.ranges[at .. at+n-1], and special values, a bit
 * each.  Of the words from doubt.lo, perhaps beyond the greatest one, to doubt.hi some are
 * excluded, and not kept.
 */
struct kl_dom {
	uint32_t at, n, special;
	bool doubtful;
	struct kl_range doubt;
};

/* How an unknown was computed: base + c, c - base, or base ^ c. */
struct kl_def {
	enum { KL_DEF_NONE, KL_DEF_SUM, KL_DEF_XOR } kind;
	bool minus;
	uint64_t base, c;
};

/* A value in terms of an unknown that is not computed from another: root + c or c - root. */
struct kl_term {
	uint64_t root, c;
	bool minus;
};

/* An unknown of which it is not kept what it has to do with others, as it was at first. */
struct kl_opaque {
	uint64_t sym;
	struct kl_dom dom;
	/* Roots that it is a sum, a difference or an exclusive or of; KL_NO_ROOT: it is none. */
	uint64_t of[2];
};

#define KL_NO_ROOT	UINT64_MAX

/* Of two values of which one at least was unknown. */
struct kl_relation {
	struct kl_val a, b;
	enum kl_note kind;		/* KL_NOTE_NE, _LE or _LT */
};

struct kl_run {
	const struct kl_spec *s;
	const struct kl_method_def *m;
	bool raw;
	uint64_t raw_first;		/* kl_run_set_fresh() */
	bool stepwise;			/* kl_run_set_steps() */
	bool slow;			/* kl_run_set_slow() */
	bool exact;			/* kl_run_set_exact() */

	/* The operation at hand; sym[0..nstate-1] are the state's unknowns. */
	const struct kl_val *in, *args, *res;
	const struct kl_outcome *before;	/* the step before, or NULL */
	size_t in_len;
	size_t *cont_at;		/* where each container's header is in @in */
	bool known;			/* all that is in its containers */
	size_t notes;			/* where in @in what is known of its unknowns begins */
	uint64_t nstate;		/* unknowns of the state */
	uint64_t nbase;			/* and of the arguments */
	struct kl_val *presets;		/* nbase values for each round of paths */
	size_t npresets, cpresets, preset;

	/* The path at hand. */
	struct kl_val reg[KL_REGS];
	struct kl_val *slots;
	struct kl_cont *conts;
	struct kl_val *sym;
	struct kl_def *def;
	struct kl_dom *dom;
	size_t nsym, csym, cdef, cdom;
	struct kl_range *ranges;	/* [0]: all words */
	size_t nranges, cranges;
	struct kl_relation relation[KL_RELATIONS_MAX];
	struct kl_opaque opaque[KL_RELATIONS_MAX];
	unsigned int nrelations, nopaque, nxor;
	struct kl_choice *choice;
	size_t nchoice, cchoice, at_choice;
	uint32_t *wrote, *mark;		/* slots assigned; mark[slot] == path if it is in there */
	size_t nwrote;
	uint32_t path;
	bool barrier, through;
	bool entered;			/* the block of this step */
	uint32_t next_at;		/* where the next step begins, 0: there is none */
	bool cont_changed;		/* a container is not what it was, perhaps */
	bool bound;			/* some unknown got known or equal to another */
	bool guessed;			/* some choice was about an unknown */
	bool widened;			/* a result of arithmetic was forgotten */
	bool lost;			/* something was found out that is not kept */
	uint32_t steps;
	uint64_t insns;			/* instructions of this call, about, */
	uint64_t copied;		/* and values of states */
	uint64_t work, total;		/* of this call, of those before */
	uint64_t most, next_most;	/* kl_run_set_bound(): of this call, of the next one */
	bool (*over)(void *ctx);	/* the same, and what it is asked with, */
	bool (*next_over)(void *ctx);
	void *over_ctx;
	uint64_t asked;			/* and the work when it was asked */
	uint32_t npaths;
	struct kl_val results[KL_MAX_ARGS];

	/* Outcomes. */
	const struct kl_val *next;	/* the next state: in out[], or slots[] itself */
	struct kl_val *out;
	size_t nout, cout, notes_out;	/* where notes begin in it */
	size_t *out_at;			/* where each container's header is in @out */
	uint64_t *rename;
	size_t crename;
	struct kl_name *names;		/* of its unknowns, by number (canonical.c) */
	size_t nnames, cnames;
	struct kl_val *bound_out;
	size_t cbound_out;
	uint64_t *seen;			/* outcomes, each as words behind its length */
	size_t nseen, cseen;
	uint64_t *table;		/* hash table of places in seen[], 0 if free */
	size_t table_size, noutcomes;

	char error[160];
};

/* Unknowns (unknown_value.c).  Functions return 0, KL_DROP or a negative errno. */
struct kl_val kl_sym_follow(const struct kl_run *r, struct kl_val v);
/* What an unknown is in terms of a root; false: it is known. */
bool kl_sym_term(const struct kl_run *r, struct kl_val v, struct kl_term *t);
int kl_sym_reserve(struct kl_run *r, size_t n);
/* Nothing is known of the unknown @i. */
void kl_sym_reset(struct kl_run *r, size_t i);
int kl_sym_fresh(struct kl_run *r, struct kl_val *v);
/* The unknown result of an operator on values of which one at least is not known. */
int kl_sym_result(struct kl_run *r, int op, struct kl_val a, struct kl_val b, struct kl_val *v);
/* What the new unknown @v has to do with others is not kept. */
void kl_sym_not_kept(struct kl_run *r, struct kl_val v);
int kl_sym_unify(struct kl_run *r, struct kl_val a, struct kl_val b);
/* Decide whether two values are equal, both ways if that is not known. */
int kl_sym_equal(struct kl_run *r, struct kl_val a, struct kl_val b, bool *equal);
/* Decide whether a bool is true. */
int kl_sym_truth(struct kl_run *r, struct kl_val v, bool *truth);
/* It is a word from @lo to @hi. */
int kl_sym_limit(struct kl_run *r, struct kl_val v, uint64_t lo, uint64_t hi);
/* Two values differ. */
int kl_sym_differ(struct kl_run *r, struct kl_val a, struct kl_val b);
/* @a is at most @b, or less if @strict. */
int kl_sym_at_most(struct kl_run *r, struct kl_val a, struct kl_val b, bool strict);
/* Any word at all; no observed result below @least is it, and *seen: it is one. */
int kl_sym_any(struct kl_run *r, uint64_t least, struct kl_val *v, bool *seen);
/* What the term is is in @d. */
int kl_sym_restrict(struct kl_run *r, const struct kl_term *t, const struct kl_dom *d);

/* What unknowns may be (unknown_domain.c); the same, and -E2BIG where there are too many ranges. */
int kl_dom_reset(struct kl_run *r);
struct kl_dom kl_dom_all(const struct kl_run *r);
bool kl_dom_is_all(const struct kl_run *r, const struct kl_dom *d);
bool kl_dom_all_words(const struct kl_run *r, const struct kl_dom *d);
bool kl_dom_has(const struct kl_run *r, const struct kl_dom *d, struct kl_val v);
/* Is it not known whether it may be @v, or whether it may be anything? */
bool kl_dom_doubts(const struct kl_dom *d, struct kl_val v);
/* Is it one word only? */
bool kl_dom_one(const struct kl_run *r, const struct kl_dom *d, uint64_t *word);
int kl_dom_range(struct kl_run *r, uint64_t lo, uint64_t hi, struct kl_dom *d);
/* What is in @with, too; what would be too many ranges is lost. */
int kl_dom_cut(struct kl_run *r, struct kl_dom *d, const struct kl_dom *with);
/* Of single words that it is not, keep what a state keeps. */
int kl_dom_fold(struct kl_run *r, struct kl_dom *d);
int kl_dom_remove(struct kl_run *r, struct kl_dom *d, struct kl_val v);
/* Its words plus @c, or @c less these. */
int kl_dom_map(struct kl_run *r, const struct kl_dom *d, bool minus, uint64_t c,
	       struct kl_dom *to);

/* Relations between unknowns (unknown_relation.c). */
int kl_relate(struct kl_run *r, struct kl_val a, struct kl_val b, enum kl_note kind);
/* At the end of a path: what they tell of single unknowns, and those of dead unknowns. */
int kl_relations_settle(struct kl_run *r);
/* In raw mode: call @fn for the unknowns that are somewhere else. */
void kl_notes_each_alive(struct kl_run *r, void (*fn)(struct kl_run *r, struct kl_val v));

/* What is known of the unknowns of a state (unknown_notes.c): begin a path with it, put it to out[]. */
int kl_notes_scan(struct kl_run *r, size_t at);
int kl_notes_load(struct kl_run *r);
int kl_notes_put(struct kl_run *r);

/* Something that was found out is not kept: more is accepted, which the state says. */
static inline void kl_run_lose(struct kl_run *r)
{
	r->lost = true;
	r->widened = true;
}

/* What kept nothing as it would have been too much is no error. */
static inline int kl_run_forget(struct kl_run *r, int ret)
{
	if (ret != -E2BIG)
		return ret;
	kl_run_lose(r);
	return 0;
}

static inline struct kl_val kl_sym_get(const struct kl_run *r, struct kl_val v)
{
	return v.tag == KL_ANY ? kl_sym_follow(r, v) : v;
}

/* One of @n choices: 0 .. n-1 or a negative errno (run.c). */
int kl_run_choose(struct kl_run *r, uint64_t n);
/* The same about something unknown. */
int kl_run_guess(struct kl_run *r, uint64_t n);
int kl_run_fail(struct kl_run *r, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* An error that a state has which @r may only have guessed. */
int kl_run_fault(struct kl_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Execute the method (interp.c). */
int kl_run_exec(struct kl_run *r);

/*
 * fast_path.c: execute it without looking for unknowns and choices, if the method fits; what
 * kl_run_apply() returns to *@ret.  False: it has some, or an error, and nothing was done.
 */
bool kl_run_quick(struct kl_run *r, kl_outcome_fn fn, void *ctx, int *ret);
/* A container's method; arguments in @v[0..1], the result in @v[0] (container_state.c). */
int kl_cont_call(struct kl_run *r, unsigned int index, enum kl_cont_op op, struct kl_val *v);
/* Values an entry has: 2 with a key, else 1. */
static inline unsigned int kl_cont_stride(enum kl_cont_kind k)
{
	return k == KL_C_SET || k == KL_C_MAP || k == KL_C_BAG ? 2 : 1;
}

int kl_cont_load(struct kl_run *r, unsigned int index);

/* An unknown of the next state: what it is. */
struct kl_name {
	struct kl_term term;
	uint64_t number;		/* which, in raw mode, is that of an unknown for it */
	bool length;			/* of what is not listed, and nothing else */
	uint64_t next;			/* another one of that root */
};

/* The next state to r->next, canonical unless raw (canonical.c). */
int kl_run_canon(struct kl_run *r);
/* Put its number in place of a value's that is unknown; a new one if it has none. */
void kl_canon_name(struct kl_run *r, struct kl_val *v);

/* Are notes kept?  In step mode states are of fixed size. */
static inline bool kl_run_keeps(const struct kl_run *r)
{
	return !r->stepwise;
}

/* outcome.c: forget the outcomes so far; tell whether r->next and its results are new. */
void kl_outcome_reset(struct kl_run *r);
int kl_outcome_new(struct kl_run *r, const struct kl_outcome *o, bool *new);

#endif
