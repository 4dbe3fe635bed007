/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histories: operations with the times of their calls and returns, and all that
 * is known not to be known about them (design: "What is not known is written
 * down, and widens the set of explanations").
 *
 * A before B for certain: ret(A) + error < call(B); or A and B are of one thread
 * and were timed by one clock (on one CPU, or no CPU is told), and ret(A) < call(B).
 * Equal times will do there if each of the two takes some time: then neither can
 * be nested in the other.  Everything else is concurrent.
 */
#ifndef KL_HISTORY_HISTORY_H
#define KL_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/sha256.h"
#include "base/val.h"
#include "history/coverage.h"

#define KL_TIME_MIN	0
#define KL_TIME_MAX	UINT64_MAX	/* never, or not known */
#define KL_MAX_ARGS	8		/* arguments, and results, of a method */
#define KL_MAX_NAME	255		/* characters of a method's name */
#define KL_EXACT_SHAPES	(1u << 14)
#define KL_NO_CPU	UINT16_MAX
#define KL_NO_OP	UINT32_MAX
#define KL_ALL_OBJECTS	UINT32_MAX

enum kl_clock { KL_CLOCK_MONO, KL_CLOCK_SEQ, KL_CLOCK_TICK, KL_CLOCK_EPOCH };

enum kl_op_flags {
	KL_OP_PENDING = 1,	/* no return seen: ret is KL_TIME_MAX, results are KL_ANY */
	KL_OP_NOCALL = 2,	/* no call seen: call is a lower bound, KL_TIME_MIN if none */
	KL_OP_UNSEEN = KL_OP_PENDING | KL_OP_NOCALL,
	KL_OP_DRAINED = 4,	/* its drain is its return, see kl_op_drain() */
};

/**
 * struct kl_op - one execution of a method
 * @call: time before its first instruction
 * @ret: time after its last, KL_TIME_MAX if pending
 * @thread: index of its thread
 * @object: index of its object
 * @shape: index of its method, arguments and results
 * @cpu: where it returned (or was called) and whose clock told its times; a call
 *	timed elsewhere is told earlier by the error; KL_NO_CPU if not known
 * @flags: enum kl_op_flags
 *
 * Its linearization point and its drain are beside it, see kl_history_tell().
 */
struct kl_op {
	uint64_t call, ret;
	uint32_t thread, object;
	uint32_t shape;
	uint16_t cpu;
	uint8_t flags, pad;
};

/* What operations with equal method, arguments and results share. */
struct kl_shape {
	uint32_t vals;		/* of its arguments in kl_history.vals, then results */
	uint16_t method;	/* index of its method's name */
	uint8_t nargs, nres;
};

enum kl_gap_reason {
	KL_GAP_LOST,	/* events did not fit the buffer */
	KL_GAP_MISSED,	/* probes did not run: recursion, kprobe misses */
	KL_GAP_CUT,	/* forgotten on purpose; no store buffer has any of it after `to` */
};

/*
 * In [from, to] operations may have taken effect that are not in the history;
 * operations that were lost have their call and return inside.
 */
struct kl_gap {
	uint64_t from, to;
	uint64_t lost;		/* how many, 0 if not known */
	uint32_t object;	/* or KL_ALL_OBJECTS */
	uint16_t cpu;
	uint16_t reason;
};

/* The memory model that a history is of. */
struct kl_memory {
	bool sc;	/* there were no store buffers; else x86-TSO, as of a new history */
	bool told;	/* the history says so itself, with `# memory' */
};

#define KL_NO_PLACE	UINT32_MAX	/* of one that was not read */

/* What the place of an operation in its source is, see source.h. */
enum kl_place_kind {
	KL_PLACES_WORDS,	/* the number of its line, which has words as in the text form */
	KL_PLACES_LINES,	/* the number of the line that it begins in */
	KL_PLACES_OFFSETS,	/* the byte that it begins with */
};

struct kl_history {
	struct kl_op *ops;		/* by call time after kl_history_finish() */
	uint64_t *points, *drains;	/* of each of them, NULL: none is known */
	uint32_t *places;		/* of each in @source, NULL: none is known */
	/* No two of the first KL_EXACT_SHAPES are equal, few others. */
	struct kl_shape *shapes;
	struct kl_val *vals;
	struct kl_gap *gaps;		/* by from */
	char **methods;			/* names */
	uint32_t *arities;		/* of each method, see kl_arity(): of all its shapes */
	uint64_t *objects;		/* what a person knows the object by, an address */
	uint64_t *threads;		/* thread ids */
	size_t nops, nshapes, nvals, ngaps, nmethods, nobjects, nthreads;
	/* capacities */
	size_t cops, cpoints, cdrains, cplaces, cshapes, cvals, cgaps, cmethods, carities;
	size_t cobjects, cthreads;
	struct kl_source *source;	/* what it was read from, or NULL */
	struct kl_index *index;		/* raw id -> index, see kl_history_object() */

	enum kl_clock clock;
	uint64_t error;			/* of the clock between CPUs, in its unit */
	bool fresh;			/* objects began in the spec's initial state */
	struct kl_memory memory;	/* what its machine's memory did */
	uint32_t ncpus;
	char *spec_path, *spec_text;	/* the spec it was recorded with, or NULL */
	char sha256[KL_SHA256_HEX];	/* of the file, in hexadecimal; empty: not known */
	char *release;			/* kernel release, or NULL */
	char *attached;			/* how it was recorded, lines, or NULL */
	/* Each object is a key of its own structure, by its word, and no address. */
	bool keyed;
	bool declared;			/* its file is one of this form, whatever is in it */
	size_t skipped;			/* entries of the input that its reader passed over */
	char skipped_why[256];		/* and what they were */
	struct kl_spellings *spellings;	/* of words, see spell.h; NULL: none */
	struct kl_coverage *coverage;	/* of each probe clause it was recorded by */
	size_t ncoverage, ccoverage;
};

/* A bit for so many arguments, and one for so many results. */
static inline uint32_t kl_arity_results(unsigned int nres)
{
	return 1u << (16 + nres);
}

static inline uint32_t kl_arity(unsigned int nargs, unsigned int nres)
{
	return 1u << nargs | kl_arity_results(nres);
}

/*
 * Why a history without operations is no verdict: some were lost, or a recorder waited for them
 * in vain.  NULL: nothing is wrong with it.
 */
const char *kl_history_why_empty(const struct kl_history *h);

struct kl_history *kl_history_new(void);
void kl_history_free(struct kl_history *h);

/*
 * The index of a method (an identifier), object or thread, added if new; a
 * negative errno on failure.
 */
int64_t kl_history_method(struct kl_history *h, const char *name, size_t len);
int64_t kl_history_object(struct kl_history *h, uint64_t raw);
int64_t kl_history_thread(struct kl_history *h, uint64_t raw);

/**
 * kl_history_shape() - the number of a shape, added if new
 * @h: the history
 * @s: method and numbers of values; its @vals is not looked at
 * @args: s->nargs values, which may be the history's own
 * @res: s->nres values, NULL: not known (KL_ANY)
 *
 * Return: the number; -ENOMEM, -EOVERFLOW, -EINVAL when there is no such method or
 * there are too many values.
 */
int64_t kl_history_shape(struct kl_history *h, const struct kl_shape *s,
			 const struct kl_val *args, const struct kl_val *res);

/**
 * kl_history_add() - append an operation
 * @h: the history
 * @op: the operation, whose @shape is set here
 * @s: method and numbers of values
 * @args: s->nargs values
 * @res: s->nres values; ignored (KL_ANY stored) if the operation is pending
 *
 * Return: 0, -ENOMEM, -EOVERFLOW, -EINVAL when ret < call, the call is KL_TIME_MAX or an
 * index is out of range.
 */
int kl_history_add(struct kl_history *h, struct kl_op *op, const struct kl_shape *s,
		   const struct kl_val *args, const struct kl_val *res);
int kl_history_add_gap(struct kl_history *h, const struct kl_gap *gap);

/**
 * kl_history_tell() - say when an operation took effect
 * @h: the history
 * @i: the operation's index, after it was added
 * @point: its linearization point, KL_TIME_MAX if not known
 * @drain: a time by which all that its thread, and its CPU, had stored before it
 *	returned had left the store buffer, KL_TIME_MAX if not known
 *
 * Few histories know these times, so that they have room of their own: operations move
 * with kl_history_move() and kl_history_swap().  Of one that was only added neither is
 * known, or its drain is its return (KL_OP_DRAINED).
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_history_tell(struct kl_history *h, size_t i, uint64_t point, uint64_t drain);
void kl_history_swap(struct kl_history *h, size_t a, size_t b);
/* Forget the first @n operations. */
void kl_history_drop(struct kl_history *h, size_t n);

/*
 * Sort by call time (ties: by return, then as added); to be called once after the last add.
 * 0 or -ENOMEM, after which the history can only be freed.
 */
int kl_history_finish(struct kl_history *h);

/*
 * @h anew, with the operations that are left in it and the shapes of these alone, and
 * without gaps; its other tables keep their order.  0 or -ENOMEM.
 */
int kl_history_renew(struct kl_history **h);
/* The same, with the objects and threads of these operations alone, too. */
int kl_history_shorten(struct kl_history **h);

static inline const struct kl_shape *kl_op_shape(const struct kl_history *h,
						 const struct kl_op *op)
{
	return &h->shapes[op->shape];
}

/* The index of its method's name. */
static inline uint16_t kl_op_method(const struct kl_history *h, const struct kl_op *op)
{
	return h->shapes[op->shape].method;
}

static inline const struct kl_val *kl_op_args(const struct kl_history *h, const struct kl_op *op)
{
	return h->vals + h->shapes[op->shape].vals;
}

static inline const struct kl_val *kl_op_res(const struct kl_history *h, const struct kl_op *op)
{
	return h->vals + h->shapes[op->shape].vals + h->shapes[op->shape].nargs;
}

/* A pending operation's results are not known. */
int kl_op_make_pending(struct kl_history *h, struct kl_op *op);

/* @a + @b, or KL_TIME_MAX. */
static inline uint64_t kl_time_add(uint64_t a, uint64_t b)
{
	return a > KL_TIME_MAX - b ? KL_TIME_MAX : a + b;
}

/* Of one of @h's operations, as kl_history_tell() was told. */
static inline uint64_t kl_op_point(const struct kl_history *h, const struct kl_op *op)
{
	return h->points ? h->points[op - h->ops] : KL_TIME_MAX;
}

static inline uint64_t kl_op_drain(const struct kl_history *h, const struct kl_op *op)
{
	if (op->flags & KL_OP_DRAINED)
		return op->ret;
	return h->drains ? h->drains[op - h->ops] : KL_TIME_MAX;
}

/* When the store buffer was empty of what came before the return: not before that. */
static inline uint64_t kl_op_empty(const struct kl_history *h, const struct kl_op *op)
{
	const uint64_t drain = kl_op_drain(h, op);

	return drain > op->ret ? drain : op->ret;
}

/* Operation @from in the place of @to, which is forgotten. */
static inline void kl_history_move(struct kl_history *h, size_t to, size_t from)
{
	h->ops[to] = h->ops[from];
	if (h->points)
		h->points[to] = h->points[from];
	if (h->drains)
		h->drains[to] = h->drains[from];
	if (h->places)
		h->places[to] = h->places[from];
}

/* The word of an operation's line that a message is about; but for text it is the first one. */
enum kl_at { KL_AT_OP = 0, KL_AT_CALL = 2, KL_AT_METHOD = 4, KL_AT_VALUE = 5, KL_AT_POINT = 99 };

/**
 * kl_history_err() - say what is wrong with an operation, where it was read
 * @h: the history
 * @op: the operation's index; KL_NO_OP: it is about the whole
 * @word: what of it; KL_AT_VALUE + i: its value i, arguments first
 * @fmt: the message, without a place
 *
 * The message begins with FILE:LINE:COLUMN, and the line is shown, as far as these are known.
 */
void kl_history_err(const struct kl_history *h, size_t op, enum kl_at word, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A form that histories come in, see form.h. */
struct kl_form;
#define KL_FORM_AUTO	((const struct kl_form *)NULL)

/* All forms, in the order in which they are looked for; NULL ends it. */
const struct kl_form *const *kl_forms(void);
/* The form of that name, NULL if there is none. */
const struct kl_form *kl_form_find(const char *name);
/* "text, linp or edn": the names of all forms, or only of those that klin writes. */
#define KL_FORM_NAMES	128
const char *kl_form_names(char names[KL_FORM_NAMES], bool written);
/* Print a line for each form; a star marks those that klin writes. */
void kl_forms_list(void);
/* The name of the form that is most likely meant, or NULL. */
const char *kl_form_near(const char *name);

/* How a history is read that does not say it itself. */
struct kl_read_opts {
	const struct kl_form *form;	/* KL_FORM_AUTO: as its first bytes look */
	bool hashed;			/* with the hash of its bytes */
	/* Of EDN and Jepsen's log: are values [KEY VALUE] of independent keys? */
	enum kl_independent { KL_INDEPENDENT_TOLD, KL_INDEPENDENT_YES, KL_INDEPENDENT_NO }
		independent;
};

/**
 * kl_history_read() - read a history in any known form, told by its first bytes
 * @path: the file, "-" for standard input
 * @out: the history, finished
 *
 * Return: 0; -EINVAL after an error message that names file and line or offset;
 * another negative errno after a message.
 */
int kl_history_read(const char *path, struct kl_history **out);
/* The same, and sets the history's @sha256 from all bytes of the file as they are read. */
int kl_history_read_hashed(const char *path, struct kl_history **out);
/* The same as kl_history_read() in a form that is known. */
int kl_history_read_as(const char *path, const struct kl_form *form, struct kl_history **out);
int kl_history_read_with(const char *path, const struct kl_read_opts *opts,
			 struct kl_history **out);
/* The same from memory; @name is for messages. */
int kl_history_parse(const char *name, const char *data, size_t len, const struct kl_form *form,
		     struct kl_history **out);
int kl_text_read(const char *name, const char *text, size_t len, struct kl_history **out);
int kl_text_write(const struct kl_history *h, FILE *f);
int kl_klh_read(const char *name, const void *data, size_t len, struct kl_history **out);
/* Write .klh to @path, complete or not at all. */
int kl_klh_write(const struct kl_history *h, const char *path);

/**
 * kl_history_write() - write a history, complete or not at all
 * @h: the history, finished
 * @path: the file, "-" for standard output
 * @form: its form; KL_FORM_AUTO: .klh if the file's name ends so, else text
 *
 * Return: 0, or a negative errno after a message; -EINVAL when the form cannot
 * express the history.
 */
int kl_history_write(const struct kl_history *h, const char *path, const struct kl_form *form);

/* One value / one operation as people read it: "7", "empty", "?", "read() -> (1, 2)". */
int kl_val_print(char *buf, size_t size, struct kl_val v);
/* The same of a value of a history, which may have a spelling of its own, see spell.h. */
int kl_history_print_val(char *buf, size_t size, const struct kl_history *h, struct kl_val v);
int kl_op_print(char *buf, size_t size, const struct kl_history *h, const struct kl_op *op);

#endif
