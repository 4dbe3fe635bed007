/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interpreter's inside.  A method with choices is executed once for each
 * vector of choices, from its start; what a path has found out about the
 * unknowns is in sym[], and values are looked up there when they are used.
 */
#ifndef KL_SPEC_RUN_H
#define KL_SPEC_RUN_H

#include "spec/ast.h"
#include "spec/code.h"

#define KL_DROP		1		/* this path stands for no state: it has no outcome */
#define KL_STEPS_MAX	(1u << 20)	/* instructions on a path, about */
#define KL_WORK_MAX	(1u << 26)	/* instructions of all paths, about */
#define KL_PATHS_MAX	(1u << 16)
#define KL_SYMS_MAX	(1u << 20)
#define KL_ENTRIES_MAX	(1u << 20)	/* in a container */
#define KL_LIMITS_MAX	256
#define KL_REST		(KL_ABSENT + 1)	/* tag of an entry: the unknown rest of a deque */

/* A container taken out of the state. */
struct kl_cont {
	struct kl_val *e;
	size_t n, cap;		/* values, not entries */
	bool unknown;		/* there may be more that is not known */
	bool loaded;
	bool appended;		/* something, since it was loaded */
};

struct kl_choice {
	uint32_t taken, n;
};

/* What unknown @sym is not; kept for one path only. */
struct kl_limit {
	uint64_t sym, lo, hi;
	enum {
		KL_LIMIT_RANGE,		/* no special value, and no word but lo..hi */
		KL_LIMIT_NOT,		/* not the word lo */
		/* no special value, and no word that is an observed result */
		KL_LIMIT_UNSEEN,
	} kind;
};

/* How an unknown was computed: a op b, one of them a known word; op is 0 if not so. */
struct kl_def {
	int op;
	struct kl_val a, b;
};

struct kl_run {
	const struct kl_spec *s;
	const struct kl_method_def *m;
	bool raw;
	uint64_t raw_first;		/* kl_run_set_fresh() */
	bool stepwise;			/* kl_run_set_steps() */

	/* The operation at hand; sym[0..nstate-1] are the state's unknowns. */
	const struct kl_val *in, *args, *res;
	const struct kl_outcome *before;	/* the step before, or NULL */
	size_t in_len;
	size_t *cont_at;		/* where each container's header is in @in */
	bool known;			/* all that is in its containers */
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
	size_t nsym, csym, cdef;
	struct kl_limit limits[KL_LIMITS_MAX];
	unsigned int nlimits;
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
	uint32_t steps;
	uint64_t work;
	uint32_t npaths;
	struct kl_val results[KL_MAX_ARGS];

	/* Outcomes. */
	const struct kl_val *next;	/* the next state: in out[], or slots[] itself */
	struct kl_val *out;
	size_t nout, cout;
	size_t *out_at;			/* where each container's header is in @out */
	uint64_t *rename;
	size_t crename;
	struct kl_val *bound_out;
	size_t cbound_out;
	uint64_t *seen;			/* outcomes, each as words behind its length */
	size_t nseen, cseen;
	uint64_t *table;		/* hash table of places in seen[], 0 if free */
	size_t table_size, noutcomes;

	char error[160];
};

/* Unknowns (sym.c).  Functions return 0, KL_DROP or a negative errno. */
struct kl_val kl_sym_follow(const struct kl_run *r, struct kl_val v);
int kl_sym_reserve(struct kl_run *r, size_t n);
int kl_sym_fresh(struct kl_run *r, struct kl_val *v);
/* The unknown result of an operator on values of which one at least is not known. */
int kl_sym_result(struct kl_run *r, int op, struct kl_val a, struct kl_val b, struct kl_val *v);
int kl_sym_unify(struct kl_run *r, struct kl_val a, struct kl_val b);
/* Decide whether two values are equal, both ways if that is not known. */
int kl_sym_equal(struct kl_run *r, struct kl_val a, struct kl_val b, bool *equal);
/* Decide whether a bool is true. */
int kl_sym_truth(struct kl_run *r, struct kl_val v, bool *truth);
int kl_sym_limit(struct kl_run *r, struct kl_val v, uint64_t lo, uint64_t hi);
/* Keep that two values differ. */
void kl_sym_differ(struct kl_run *r, struct kl_val a, struct kl_val b);
/* Any word at all. */
int kl_sym_any(struct kl_run *r, struct kl_val *v);

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
/* A container's method; arguments in @v[0..1], the result in @v[0] (cont.c). */
int kl_cont_call(struct kl_run *r, unsigned int index, enum kl_cont_op op, struct kl_val *v);
/* Values an entry has: 2 with a key, else 1. */
static inline unsigned int kl_cont_stride(enum kl_cont_kind k)
{
	return k == KL_C_SET || k == KL_C_MAP || k == KL_C_BAG ? 2 : 1;
}

int kl_cont_load(struct kl_run *r, unsigned int index);

/* The next state to r->next, canonical unless raw (canon.c). */
int kl_run_canon(struct kl_run *r);

/* outcome.c: forget the outcomes so far; tell whether r->next and its results are new. */
void kl_outcome_reset(struct kl_run *r);
int kl_outcome_new(struct kl_run *r, const struct kl_outcome *o, bool *new);

#endif
