/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Specs: a .lin file compiled to byte code, and the interpreter that engines, replayer and oracles
 * share.
 *
 * A state is a flat array of values: scalars and array elements in fixed slots, then each
 * container.  A container has a header (v: number of entries; tag KL_ANY if there may be unknown
 * entries) and its entries in canonical order.  Equal states are equal word for word.
 *
 * An unknown scalar is KL_ANY with a number.  Equal numbers are equal unknowns, numbered by first
 * occurrence.  An observed result may bind an unknown to a value.  A branch on an unknown is taken
 * both ways, and the knowledge of each way is kept in notes behind the containers.  Knowledge that
 * does not fit the notes is lost, see kl_state_lost(); then more histories are accepted.
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

/* The uses of a parameter by a method, apart from storing it. */
enum kl_use {
	KL_USE_KEY	= 1, /* it names an entry of a container */
	KL_USE_INDEX	= 2, /* it is an index of an array */
	KL_USE_COMPARED	= 4, /* it is compared with == or != */
	KL_USE_COMPUTED	= 8, /* it is in a sum, a comparison with <, a range, ... */
	KL_USE_ORDERED	= 16, /* it is stored where values are ordered */
};

struct kl_param {
	const char *name;
	enum kl_type_kind type;
	unsigned int use; /* of a parameter: its uses, enum kl_use */
	unsigned int bound; /* KL_USE_INDEX: size of the smallest array that it indexes */
};

enum kl_partition { KL_PART_OBJECT, KL_PART_PARAM, KL_PART_NONE };

struct kl_method {
	const char *name;
	struct kl_param params[KL_MAX_ARGS], results[KL_MAX_ARGS];
	unsigned int nparams, nresults;
	unsigned int nblocks; /* maximal number of atomic blocks on a path */
	bool pure; /* no path writes the state */
	bool blind; /* no path reads the state */
	bool flush; /* every writing block is an atomic_flush, which leaves the buffer empty */
	bool barrier; /* some path has an atomic_flush or a fence, which needs an empty buffer */
	bool barrier_always; /* every path has an atomic_flush or a fence */
	/*
	 * With `partition by k`: index of the parameter k, or nparams + index of the result k, so
	 * that kl_op_args()[part_param] is the key of an operation.  Otherwise -1.
	 */
	int part_param;
};

/* Return: the index of a parameter or result among a method's values; parameters come first. */
static inline unsigned int kl_method_value(const struct kl_method *m, const struct kl_param *p)
{
	const bool param = p >= m->params && p < m->params + KL_MAX_ARGS;

	return param ? p - m->params : m->nparams + (p - m->results);
}

/**
 * kl_method_key() - get the key of an operation
 * @m: its method, of a spec with `partition by k`
 * @vals: its arguments, then its results
 * @key: gets the key
 *
 * Return: true, or false if the key is unknown.
 */
static inline bool kl_method_key(const struct kl_method *m, const struct kl_val *vals,
				 uint64_t *key)
{
	const unsigned int k = m->part_param;
	const struct kl_param *p;

	if (m->part_param < 0 || vals[k].tag != KL_WORD)
		return false;
	p = k < m->nparams ? &m->params[k] : &m->results[k - m->nparams];
	/* A bool is true for every word except 0. */
	*key = p->type == KL_T_BOOL ? !!vals[k].v : vals[k].v;
	return true;
}

/**
 * kl_spec_load() - read, parse and type-check a .lin file, or a shipped one by its name
 * @path: the file, or the name of a shipped specification, without .lin
 * @out: the specification
 *
 * Errors are printed as FILE:LINE:COL: error: ...; there may be several.
 *
 * Return: 0, -EINVAL after messages, or another negative errno after a message.
 */
int kl_spec_load(const char *path, struct kl_spec **out);
int kl_spec_parse(const char *name, const char *text, size_t len, struct kl_spec **out);
void kl_spec_free(struct kl_spec *s);

const char *kl_spec_name(const struct kl_spec *s);
const char *kl_spec_path(const struct kl_spec *s);
const char *kl_spec_text(const struct kl_spec *s);
unsigned int kl_spec_nmethods(const struct kl_spec *s);
const struct kl_method *kl_spec_method(const struct kl_spec *s, unsigned int i);
/* Return: the index of the method with this name, or -1. */
int kl_spec_find_method(const struct kl_spec *s, const char *name);
/* Write "; did you mean 'METHOD'?", or "", about a method that the spec lacks.  Return: @buf. */
const char *kl_spec_near_method(const struct kl_spec *s, const char *name, char *buf, size_t size);
enum kl_partition kl_spec_partition(const struct kl_spec *s);
/**
 * kl_spec_partition_doubt() - find a reason to doubt `partition by k`
 * @s: the specification
 * @buf: gets FILE:LINE:COL and the first reason
 * @size: size of @buf
 *
 * The partition is justified if each method touches nothing but the entries that its k names
 * (Horn & Kroening, Definition 6: the spec is then the conjunction of one spec for each k).
 * kl_spec_load() warns of all doubts.  A doubt may be wrong, but each unjustified partition has a
 * doubt.
 *
 * Return: true if there is a doubt.
 */
bool kl_spec_partition_doubt(const struct kl_spec *s, char *buf, size_t size);
/* Return: true if every writing block leaves the store buffer empty.  Then SC and TSO agree. */
bool kl_spec_flushes(const struct kl_spec *s);
/* Return: the first parameter whose argument is a special value that is not allowed, or NULL. */
const struct kl_param *kl_spec_bad_argument(const struct kl_spec *s, unsigned int method,
					    const struct kl_val *args);
/*
 * Find a bool that is neither 0 nor 1 among the first @n values of a method, arguments before
 * results.  @is receives its word.  Return: its parameter or result, or NULL if there is none.
 */
const struct kl_param *kl_spec_bad_bool(const struct kl_spec *s, unsigned int method,
					const struct kl_val *vals, unsigned int n, uint64_t *is);
/*
 * Return: true if the spec has only scalars and arrays.  Then states have a fixed size, which
 * checks with store buffers need.
 */
bool kl_spec_fixed_size(const struct kl_spec *s);
/*
 * Return: the number of slots that operations with one key may touch, which is an element of each
 * array; 0 unless the spec has a fixed size and is certainly partitioned by key.
 */
size_t kl_spec_key_slots(const struct kl_spec *s);
/* Return: true if the file has a history block, see mapping.h. */
bool kl_spec_maps(const struct kl_spec *s);
/* Probe clauses in the order of the file, see probe.h. */
unsigned int kl_spec_nprobes(const struct kl_spec *s);
const struct kl_probe *kl_spec_probe(const struct kl_spec *s, unsigned int i);
/* Print the byte code, for --dump and tests. */
void kl_spec_dump(const struct kl_spec *s, FILE *f);

/* An interpreter, with memory for one thread. */
struct kl_run;

struct kl_run *kl_run_new(const struct kl_spec *s);
void kl_run_free(struct kl_run *r);

/**
 * kl_run_init() - make a first state
 * @r: the interpreter
 * @fresh: true: variables have their initial values, or are unknown without one; false: all
 *	variables are unknown, as for an object that existed before the recording, or after a gap
 * @len: gets the number of slots
 *
 * Return: the state, valid until the next call with @r; or NULL without memory.
 */
const struct kl_val *kl_run_init(struct kl_run *r, bool fresh, size_t *len);

/* An outcome of an operation, as kl_run_apply() reports it. */
struct kl_outcome {
	const struct kl_val *state;	/* the next state, canonical */
	size_t len;
	size_t notes; /* index in @state of the notes about unknowns */
	/*
	 * Slots that the operation assigned, also with an equal value, in ascending order; only for
	 * specs of fixed size.
	 */
	const uint32_t *wrote;
	size_t nwrote;
	/* the operation may have changed the state: it assigned a slot or changed a container */
	bool changed;
	/*
	 * For TSO.  @barrier: the CPU's store buffer is empty when this path executes (an
	 * atomic_flush block, or `fence;` before the block).  @through: its writes go to memory
	 * at once (atomic_flush); otherwise they wait in the buffer as one entry (atomic).  A
	 * method `fence; atomic { ... }` has @barrier without @through.
	 */
	bool barrier, through;
	const struct kl_val *results; /* computed results; KL_ANY where they are unknown */
	/*
	 * Raw mode only: bound[s] is the value of unknown s of the state before, or KL_ANY s
	 * itself if it is still unknown.  If two unknowns are now equal, the lower number stands
	 * for both.
	 */
	const struct kl_val *bound;
	size_t nbound;
	/*
	 * Step mode only: @at is the place where the method goes on, or 0 if it has ended; only
	 * then are @results valid.  @locals are the method's variables.
	 */
	uint32_t at;
	const struct kl_val *locals;
	size_t nlocals;
};

/* Called for an outcome.  A return value other than 0 ends the call that reports outcomes. */
typedef int (*kl_outcome_fn)(void *ctx, const struct kl_outcome *o);

/**
 * kl_run_apply() - report all outcomes of one operation in a state
 * @r: the interpreter
 * @state: the state before, canonical
 * @len: number of its slots
 * @method: the method's index
 * @args: its arguments; KL_ANY for an unknown one
 * @res: its observed results; KL_ANY for an unknown one; NULL if all are unknown
 * @fn: called for each distinct outcome that agrees with @res; it must not use @r
 * @ctx: argument of @fn
 *
 * The method runs from its first to its last block at once, except in step mode.  Outcomes come
 * in a fixed order.  A bool other than 0 is true, also in @args and @res.  A method that writes
 * nothing may change the state, too, since its results may reveal unknowns.
 *
 * Return: 0, or the result of @fn if it is not 0.  -E2BIG if a bound was exceeded (steps,
 * choices, size of the state) or the method has an error (a false assertion, division by zero, an
 * index out of range).  -EINVAL if @state does not belong to this spec, or an argument is a
 * special value that the spec cannot store.  -EDQUOT: see kl_run_set_bound().  -ENOMEM.
 * kl_run_error() has the text.
 */
int kl_run_apply(struct kl_run *r, const struct kl_val *state, size_t len, unsigned int method,
		 const struct kl_val *args, const struct kl_val *res, kl_outcome_fn fn, void *ctx);
const char *kl_run_error(const struct kl_run *r);
/* Return: the work of the last call, about the instructions and the values copied or compared. */
uint64_t kl_run_work(const struct kl_run *r);
/**
 * kl_run_set_bound() - bound the work of the next call
 * @r: the interpreter
 * @work: maximal work, as kl_run_work() counts it; 0: no bound
 * @over: called now and then; true ends the call, since the time is over; or NULL
 * @ctx: argument of @over
 *
 * The next kl_run_apply() or kl_run_resume(), and no later one, returns -EDQUOT if it exceeds
 * @work, or if @over returns true.  Outcomes found before that have been reported.
 */
void kl_run_set_bound(struct kl_run *r, uint64_t work, bool (*over)(void *ctx), void *ctx);
/* Return: the work of all calls of kl_run_apply() and kl_run_resume() with @r. */
uint64_t kl_run_total(const struct kl_run *r);

/*
 * Raw mode, for specs of fixed size: unknowns keep their numbers from the state before to the
 * outcome, which need not be canonical.  New unknowns get numbers above those of the state.  TSO
 * checks use raw mode to keep memory and store buffers consistent: behind the slots of a state
 * they put the notes of the outcome before, and kl_raw_alive() for each unknown that is
 * elsewhere.
 */
void kl_run_set_raw(struct kl_run *r, bool raw);
#define KL_RAW_ALIVE	2 /* number of values that kl_raw_alive() puts */
void kl_raw_alive(uint64_t unknown, struct kl_val *to);
/*
 * Raw mode: is the value of @slot after an outcome the sum of the word of @unknown, which is alive,
 * and a word?  @by gets that word.
 */
bool kl_outcome_added(const struct kl_outcome *o, size_t slot, uint64_t unknown, uint64_t *by);
/* Never use the fast path for known values.  This is for code that checks results of other code. */
void kl_run_set_slow(struct kl_run *r, bool slow);
/*
 * Keep each word that a path excludes for an unknown.  Without exact mode, a state keeps a few such
 * words, or else only a range that contains them (unknown_domain.c).  Exact mode is for the replay
 * of one order, which has few states.
 */
void kl_run_set_exact(struct kl_run *r, bool exact);
/* In raw mode: new unknowns get numbers from @first on, if the state has no larger ones. */
void kl_run_set_fresh(struct kl_run *r, uint64_t first);

/*
 * Step mode: kl_run_apply() and kl_run_resume() execute one atomic block, and end before the
 * next.
 */
void kl_run_set_steps(struct kl_run *r, bool steps);

/**
 * kl_run_resume() - report all outcomes of a method's next step
 * @r: the interpreter, in step mode
 * @state: the state before, canonical
 * @len: number of its slots
 * @method: the method's index
 * @before: an outcome of the step before, of which at, locals and nlocals are used
 * @fn: called for each distinct outcome
 * @ctx: argument of @fn
 *
 * Return: as kl_run_apply().
 */
int kl_run_resume(struct kl_run *r, const struct kl_val *state, size_t len, unsigned int method,
		  const struct kl_outcome *before, kl_outcome_fn fn, void *ctx);

/**
 * kl_state_lost() - check whether knowledge about unknowns was lost
 * @state: a state that kl_run_apply() reported
 * @len: number of its slots
 *
 * A state keeps the words and special values that an unknown may be; that an unknown is the sum of
 * another one and a word; that two unknowns differ or are ordered; and bounds of the number of a
 * container's unknown entries.  Other knowledge is lost, so that more is accepted than some first
 * state allows.
 *
 * Return: true if knowledge was lost.  Then the state may stand for no concrete state.
 */
bool kl_state_lost(const struct kl_val *state, size_t len);

/**
 * kl_state_covers() - check whether one state stands for all concrete states of another
 * @s: their spec
 * @a: the first state, canonical
 * @alen: number of its slots
 * @b: the other state
 * @blen: number of its slots
 *
 * Return: true if @a certainly covers @b: they differ only in what is known about unknowns.
 */
bool kl_state_covers(const struct kl_spec *s, const struct kl_val *a, size_t alen,
		     const struct kl_val *b, size_t blen);

/* Rename the unknowns of a state of fixed size by first occurrence, in place. */
void kl_state_canon(struct kl_val *state, size_t len);
/*
 * Print a state for people: "low = 1, high = ?, a = [3: 7, others 0]".  Words are spelled as in @h, unless it is NULL.
 * Return: the length of the whole text, as snprintf().
 */
int kl_state_print(char *buf, size_t size, const struct kl_spec *s, const struct kl_history *h,
		   const struct kl_val *state, size_t len);
/* Print the word at index @slot of a state, which is not in a container: "a[3] = 7". */
void kl_slot_print(char *buf, size_t size, const struct kl_spec *s, const struct kl_history *h,
		   const struct kl_val *state, size_t slot);

#endif
