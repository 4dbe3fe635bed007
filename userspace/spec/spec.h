/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Specifications: a .lin file compiled to byte code, and the interpreter that
 * the engines, the replayer and the oracle share.
 *
 * A state is a flat array of values: the scalars and array elements at fixed
 * slots, then for each container a header (v: number of entries, tag KL_ANY if
 * there may be more that are not known) and its entries in canonical order.
 * Equal states are equal word for word.  A scalar that is not known holds
 * KL_ANY with a number: equal numbers are equal unknowns, numbered by first
 * occurrence.  An unknown is bound when an operation's observed result says
 * what it is; a branch on it is taken both ways, and what each tells of it is
 * kept behind the containers (notes).  What cannot be kept only widens what is
 * accepted, and kl_state_lost() says so.
 */
#ifndef KL_SPEC_SPEC_H
#define KL_SPEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/val.h"
#include "history/history.h"

struct kl_spec;
struct kl_probe;

enum kl_type_kind { KL_T_WORD, KL_T_BOOL };

/* What a method does with a parameter, apart from keeping it. */
enum kl_use {
	KL_USE_KEY	= 1,	/* names an entry of a container */
	KL_USE_INDEX	= 2,	/* of an array */
	KL_USE_COMPARED	= 4,	/* with == or != */
	KL_USE_COMPUTED	= 8,	/* is in a sum, a comparison with <, a range, ... */
	KL_USE_ORDERED	= 16,	/* goes where values are ordered */
};

struct kl_param {
	const char *name;
	enum kl_type_kind type;
	unsigned int use;	/* of a parameter, enum kl_use */
	unsigned int bound;	/* KL_USE_INDEX: elements of the smallest such array */
};

enum kl_partition { KL_PART_OBJECT, KL_PART_PARAM, KL_PART_NONE };

struct kl_method {
	const char *name;
	struct kl_param params[KL_MAX_ARGS], results[KL_MAX_ARGS];
	unsigned int nparams, nresults;
	unsigned int nblocks;	/* atomic steps on its longest path */
	bool pure;		/* writes nothing on any path */
	bool blind;		/* reads nothing of the state on any path */
	bool flush;		/* every writing block is atomic_flush (leaves nothing buffered) */
	bool barrier;		/* on some path: an atomic_flush or a fence, the buffer is empty */
	bool barrier_always;	/* so on every path */
	/*
	 * Of `partition by k`: index of the parameter k or, from nparams on, of the result k, so
	 * that kl_op_args()[part_param] is the key of an operation; -1 without.
	 */
	int part_param;
};

/* Which of the method's values this parameter or result is: parameters come first. */
static inline unsigned int kl_method_value(const struct kl_method *m, const struct kl_param *p)
{
	const bool param = p >= m->params && p < m->params + KL_MAX_ARGS;

	return param ? p - m->params : m->nparams + (p - m->results);
}

/**
 * kl_method_key() - the key that an operation is about
 * @m: its method, of a spec with `partition by k`
 * @vals: its arguments, then its results
 * @key: set; two operations on one key have equal ones
 *
 * Return: is it known?
 */
static inline bool kl_method_key(const struct kl_method *m, const struct kl_val *vals,
				 uint64_t *key)
{
	const unsigned int k = m->part_param;
	const struct kl_param *p;

	if (m->part_param < 0 || vals[k].tag != KL_WORD)
		return false;
	p = k < m->nparams ? &m->params[k] : &m->results[k - m->nparams];
	/* Every bool but 0 is true. */
	*key = p->type == KL_T_BOOL ? !!vals[k].v : vals[k].v;
	return true;
}

/**
 * kl_spec_load() - read, parse and type-check a .lin file, or a shipped one by its name
 * @path: the file, or the name of a shipped specification, without .lin
 * @out: the specification
 *
 * Errors are printed as FILE:LINE:COL: error: ...; several may be.
 *
 * Return: 0, -EINVAL after messages, another negative errno with a message.
 */
int kl_spec_load(const char *path, struct kl_spec **out);
int kl_spec_parse(const char *name, const char *text, size_t len, struct kl_spec **out);
void kl_spec_free(struct kl_spec *s);

const char *kl_spec_name(const struct kl_spec *s);
const char *kl_spec_path(const struct kl_spec *s);
const char *kl_spec_text(const struct kl_spec *s);
unsigned int kl_spec_nmethods(const struct kl_spec *s);
const struct kl_method *kl_spec_method(const struct kl_spec *s, unsigned int i);
/* Index of the method of that name, or -1. */
int kl_spec_find_method(const struct kl_spec *s, const char *name);
enum kl_partition kl_spec_partition(const struct kl_spec *s);
/**
 * kl_spec_partition_doubt() - is `partition by k` justified by the methods?
 * @s: the specification
 * @buf: FILE:LINE:COL and the reason for a doubt
 * @size: of @buf
 *
 * It is if a method touches nothing but the entries that its k names (Horn & Kroening,
 * Definition 6: the specification is then the conjunction of one for each k).  Loading warned
 * of all doubts; this tells the first one.  There may be a doubt without a reason, never the
 * other way round.
 *
 * Return: true if there is a doubt.
 */
bool kl_spec_partition_doubt(const struct kl_spec *s, char *buf, size_t size);
/* No writing block leaves anything in the store buffer: SC and TSO agree. */
bool kl_spec_flushes(const struct kl_spec *s);
/* The first of a method's arguments that is a special value where none may be, or NULL. */
const struct kl_param *kl_spec_bad_argument(const struct kl_spec *s, unsigned int method,
					    const struct kl_val *args);
/*
 * The first bool among the @n values of a method, arguments before results, that is another
 * word than 0 and 1, and that word; or NULL.
 */
const struct kl_param *kl_spec_bad_bool(const struct kl_spec *s, unsigned int method,
					const struct kl_val *vals, unsigned int n, uint64_t *is);
/* Scalars and arrays only: fixed number of slots, fit for the TSO check. */
bool kl_spec_fixed_size(const struct kl_spec *s);
/*
 * Slots of a spec of fixed size that operations with one key may touch, an element of each
 * array; 0: it is not partitioned by key for certain.
 */
size_t kl_spec_key_slots(const struct kl_spec *s);
/* Probe clauses in file order, see probe.h. */
unsigned int kl_spec_nprobes(const struct kl_spec *s);
const struct kl_probe *kl_spec_probe(const struct kl_spec *s, unsigned int i);
/* The byte code in words, for --dump and tests. */
void kl_spec_dump(const struct kl_spec *s, FILE *f);

/* An interpreter: scratch memory for one thread. */
struct kl_run;

struct kl_run *kl_run_new(const struct kl_spec *s);
void kl_run_free(struct kl_run *r);

/**
 * kl_run_init() - the first state
 * @r: the interpreter
 * @fresh: true: variables with an initial value have it, the others are
 *	unknown; false: all are unknown (attached in mid-life, or after a gap)
 * @len: number of slots
 *
 * Return: the state, valid until the next call on @r; NULL when out of memory.
 */
const struct kl_val *kl_run_init(struct kl_run *r, bool fresh, size_t *len);

/* One outcome of an operation, as kl_run_apply() reports it. */
struct kl_outcome {
	const struct kl_val *state;	/* the next state, canonical */
	size_t len;
	size_t notes;			/* where in it begins what is known of its unknowns */
	/*
	 * Slots of the state that the operation assigned (also when the value
	 * stayed the same), in ascending order; only for specs of fixed size.
	 */
	const uint32_t *wrote;
	size_t nwrote;
	/* it may have changed the state: assigned a slot, or to a container */
	bool changed;
	/*
	 * On TSO.  barrier: on this path the CPU's store buffer is empty when the
	 * method executes (an atomic_flush block, or a `fence;` statement before
	 * the block).  through: its writes go to memory at once (atomic_flush);
	 * otherwise they wait in the buffer as one entry (atomic).  A method may
	 * be `fence; atomic { ... }`: barrier, and not through.
	 */
	bool barrier, through;
	const struct kl_val *results;	/* as computed; KL_ANY where bound to nothing */
	/*
	 * Raw mode only: bound[s] is what unknown number s of the state before
	 * is now, KL_ANY s itself if it is still unknown.  Of two unknowns that
	 * turned out to be equal the lower number stands for both.
	 */
	const struct kl_val *bound;
	size_t nbound;
	/*
	 * Step mode only: where the method goes on, 0 if it has ended and @results
	 * count; and its variables until then.
	 */
	uint32_t at;
	const struct kl_val *locals;
	size_t nlocals;
};

/* Return non-zero to stop; that value is handed back. */
typedef int (*kl_outcome_fn)(void *ctx, const struct kl_outcome *o);

/**
 * kl_run_apply() - all outcomes of one operation in a state
 * @r: the interpreter
 * @state: the state before, canonical
 * @len: its slots
 * @method: the method's index
 * @args: its arguments; KL_ANY for one that is not known
 * @res: its observed results, KL_ANY for one that is not known; NULL if none is
 * @fn: called for each distinct outcome that agrees with @res
 * @ctx: handed to @fn
 *
 * The method runs from its first to its last block in one go, unless in step
 * mode.  Outcomes come in a fixed order.
 *
 * A bool is true if it is not 0, in @args and @res too.  @fn may not use @r.
 * Also a method that writes nothing may change the state: by what its results
 * tell about unknowns.
 *
 * Return: 0; what @fn returned if not 0; -E2BIG when a bound was exceeded
 * (steps, choices, size of the state) or the method has an error there (a false
 * assertion, division by zero, an index out of range); -EINVAL when @state is
 * none of this spec or an argument is a special value, which a spec that keeps
 * none cannot take; -ENOMEM.  kl_run_error() has the text.  -EDQUOT: see
 * kl_run_set_bound().
 */
int kl_run_apply(struct kl_run *r, const struct kl_val *state, size_t len, unsigned int method,
		 const struct kl_val *args, const struct kl_val *res, kl_outcome_fn fn, void *ctx);
const char *kl_run_error(const struct kl_run *r);
/* What that took: instructions, and values of states that were copied or compared, about. */
uint64_t kl_run_work(const struct kl_run *r);
/**
 * kl_run_set_bound() - bound the work of the next call
 * @r: the interpreter
 * @work: as kl_run_work() counts it; 0: there is no such bound
 * @over: asked now and then whether to end at once, since the time is over; or NULL
 * @ctx: for it
 *
 * The next kl_run_apply() or kl_run_resume(), and no other, returns -EDQUOT when it has more
 * work, or @over says so.  Its outcomes so far were reported.
 */
void kl_run_set_bound(struct kl_run *r, uint64_t work, bool (*over)(void *ctx), void *ctx);
/* The same of all calls of kl_run_apply() and kl_run_resume() with @r so far. */
uint64_t kl_run_total(const struct kl_run *r);

/*
 * Raw mode, for specs of fixed size: unknowns keep their numbers from the state
 * before to the outcome, which need not be canonical either; new unknowns get
 * numbers above all of the state's.  The TSO check uses it to keep memory and
 * store buffers in step: behind the slots of the state before it puts what the
 * outcome before had there, and kl_raw_alive() of unknowns that are elsewhere.
 */
void kl_run_set_raw(struct kl_run *r, bool raw);
#define KL_RAW_ALIVE	2	/* values that kl_raw_alive() puts */
void kl_raw_alive(uint64_t unknown, struct kl_val *to);
/* Never take the short way that there is where all is known: for what checks other results. */
void kl_run_set_slow(struct kl_run *r, bool slow);
/*
 * Keep each word that an unknown is not, up to a bound, where engines keep only between which
 * ones they are: for one order, which has few states.
 */
void kl_run_set_exact(struct kl_run *r, bool exact);
/* In raw mode: new unknowns get numbers from @first on, if the state has none above. */
void kl_run_set_fresh(struct kl_run *r, uint64_t first);

/*
 * Step mode: kl_run_apply() and kl_run_resume() execute one atomic block, and end
 * before the next one.
 */
void kl_run_set_steps(struct kl_run *r, bool steps);

/**
 * kl_run_resume() - all outcomes of a method's next step
 * @r: the interpreter, in step mode
 * @state: the state before, canonical
 * @len: its slots
 * @method: the method's index
 * @before: an outcome of the step before: at, locals and nlocals count
 * @fn: called for each distinct outcome
 * @ctx: handed to @fn
 *
 * Return: as kl_run_apply().
 */
int kl_run_resume(struct kl_run *r, const struct kl_val *state, size_t len, unsigned int method,
		  const struct kl_outcome *before, kl_outcome_fn fn, void *ctx);

/**
 * kl_state_lost() - was something found out about unknowns that is not kept?
 * @state: a state that kl_run_apply() reported
 * @len: its slots
 *
 * What is kept of each unknown is which words and special values it may be, and how it is a
 * sum of another one and a word; of two that they differ or are in order; of a container
 * how much is not listed.  Else more is accepted than there is a first state for.
 *
 * Return: true if so; then it is not known whether the state stands for any.
 */
bool kl_state_lost(const struct kl_val *state, size_t len);

/**
 * kl_state_covers() - does one state stand for all that another one stands for?
 * @s: their specification
 * @a: the one, canonical
 * @alen: its slots
 * @b: the other
 * @blen: its slots
 *
 * Return: true if it is seen that it does, as they differ only in what is known of unknowns.
 */
bool kl_state_covers(const struct kl_spec *s, const struct kl_val *a, size_t alen,
		     const struct kl_val *b, size_t blen);

/* Rename the unknowns of a state of fixed size by first occurrence, in place. */
void kl_state_canon(struct kl_val *state, size_t len);
/* A state as people read it: "low = 1, high = ?". */
int kl_state_print(char *buf, size_t size, const struct kl_spec *s, const struct kl_val *state,
		   size_t len);

#endif
