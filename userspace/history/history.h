/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histories: operations with the times of their calls and returns, and everything that is unknown
 * about them.  Whatever is unknown allows more explanations.
 *
 * A is before B for certain if ret(A) + error < call(B).  It is also before B if both are of one
 * thread and one clock (on one CPU, or without a CPU) and ret(A) < call(B).  With equal times, A is
 * before B there if both take some time, since then neither can be nested in the other.  All other
 * pairs of operations are concurrent.
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
#define KL_TIME_MAX	UINT64_MAX /* never, or unknown */
#define KL_MAX_ARGS	8 /* maximal number of arguments, and of results, of a method */
#define KL_MAX_NAME	255 /* maximal length of a method's name */
#define KL_EXACT_OPSIGS	(1u << 14)
#define KL_NO_CPU	UINT16_MAX
#define KL_NO_OP	UINT32_MAX
#define KL_ALL_OBJECTS	UINT32_MAX

enum kl_clock { KL_CLOCK_MONO, KL_CLOCK_SEQ, KL_CLOCK_TICK, KL_CLOCK_EPOCH };

enum kl_op_flags {
	KL_OP_PENDING = 1,	/* no return was seen: ret is KL_TIME_MAX, results are KL_ANY */
	KL_OP_NOCALL = 2,	/* no call was seen: call is a lower bound, or KL_TIME_MIN */
	KL_OP_UNSEEN = KL_OP_PENDING | KL_OP_NOCALL,
	KL_OP_DRAINED = 4,	/* its drain is its return, see kl_op_drain() */
};

/**
 * struct kl_op - one execution of a method
 * @call: time before its first instruction, in the history's unit
 * @ret: time after its last instruction, or KL_TIME_MAX if it is pending
 * @thread: index of its thread
 * @object: index of its object
 * @sig: index of its signature, which has method, arguments and results
 * @cpu: the CPU on which it returned (or was called) and whose clock gave its times, or KL_NO_CPU;
 *	the time of a call on another CPU was made earlier by the clock's error
 * @flags: enum kl_op_flags
 *
 * Its linearization point and its drain are in arrays of their own, see kl_history_set_points().
 */
struct kl_op {
	uint64_t call, ret;
	uint32_t thread, object;
	uint32_t sig;
	uint16_t cpu;
	uint8_t flags, pad;
};

/* The signature of all operations with the same method, arguments and results. */
struct kl_opsig {
	uint32_t vals;		/* index in kl_history.vals of the arguments; results follow */
	uint16_t method;	/* index of the method's name */
	uint8_t nargs, nres;
};

enum kl_gap_reason {
	KL_GAP_LOST,	/* the buffer had no room for events */
	KL_GAP_MISSED,	/* probes did not run, by recursion or kprobe misses */
	KL_GAP_CUT,	/* operations were dropped; no store buffer has their stores after @to */
};

/*
 * A period of lost events: in [from, to] operations may have taken effect that are not in the
 * history.  The lost operations have their call and return inside.
 */
struct kl_gap {
	uint64_t from, to;
	uint64_t lost;		/* number of lost operations, or 0 if it is unknown */
	uint32_t object;	/* index of the object, or KL_ALL_OBJECTS */
	uint16_t cpu;
	uint16_t reason;
};

/* The memory model of a history's machine. */
struct kl_memory {
	bool sc;	/* sequential consistency, without store buffers; else x86-TSO */
	bool told;	/* the history has a line `# memory' */
};

#define KL_NO_PLACE	UINT32_MAX /* the place of an operation that was not read */

/* The unit of an operation's place in its source, see source.h. */
enum kl_place_kind {
	KL_PLACES_WORDS,	/* number of its line, whose words are those of the text form */
	KL_PLACES_LINES,	/* number of the line in which it begins */
	KL_PLACES_OFFSETS,	/* offset of its first byte */
};

struct kl_history {
	struct kl_op *ops;		/* sorted by call after kl_history_finish() */
	uint64_t *points, *drains;	/* times of each operation; NULL: none is known */
	/* place of each operation in @source; NULL: none is known */
	uint32_t *places;
	/* signatures: the first KL_EXACT_OPSIGS all differ; a few later ones may be equal */
	struct kl_opsig *opsigs;
	struct kl_val *vals;
	struct kl_gap *gaps;		/* sorted by from */
	char **methods;			/* names of the methods */
	uint32_t *arities;		/* the union of kl_arity() over each method's signatures */
	uint64_t *objects;		/* names of the objects: addresses, or words of keys */
	uint64_t *threads;		/* numbers of the threads */
	size_t nops, nopsigs, nvals, ngaps, nmethods, nobjects, nthreads;
	/* capacities */
	size_t cops, cpoints, cdrains, cplaces, copsigs, cvals, cgaps, cmethods, carities;
	size_t cobjects, cthreads;
	struct kl_source *source;	/* the file or text that it was read from, or NULL */
	struct kl_index *index;		/* raw id -> index, see kl_history_object() */

	enum kl_clock clock;
	uint64_t error;			/* maximal error of the clock between CPUs, in its unit */
	bool fresh;			/* objects began in the spec's initial state */
	struct kl_memory memory;
	uint32_t ncpus;
	char *spec_path, *spec_text;	/* the spec that it was recorded with, or NULL */
	char sha256[KL_SHA256_HEX];	/* hash of the file, in hexadecimal; empty if unknown */
	char *release;			/* kernel release, or NULL */
	char *attached;			/* lines about how it was recorded, or NULL */
	/*
	 * objects[] has words of keys, each of which has a structure of its own, and no addresses
	 */
	bool keyed;
	/* the file is certainly of its form, even without operations */
	bool declared;
	size_t skipped;			/* number of entries of the input that the reader skipped */
	char skipped_why[256];		/* the kinds of skipped entries */
	struct kl_spellings *spellings;	/* spellings of words, see spell.h; or NULL */
	struct kl_coverage *coverage;	/* the coverage of each probe clause */
	size_t ncoverage, ccoverage;
};

/* A bit for this number of arguments, and a bit for this number of results. */
static inline uint32_t kl_arity_results(unsigned int nres)
{
	return 1u << (16 + nres);
}

static inline uint32_t kl_arity(unsigned int nargs, unsigned int nres)
{
	return 1u << nargs | kl_arity_results(nres);
}

/*
 * The reason why a history without operations gives no verdict: operations were lost, or a recorder
 * saw none.  NULL: it gives one.
 */
const char *kl_history_why_empty(const struct kl_history *h);

struct kl_history *kl_history_new(void);
void kl_history_free(struct kl_history *h);

/*
 * The index of a method (an identifier), object or thread, added if it is new; or a negative
 * errno.
 */
int64_t kl_history_method(struct kl_history *h, const char *name, size_t len);
int64_t kl_history_object(struct kl_history *h, uint64_t raw);
int64_t kl_history_thread(struct kl_history *h, uint64_t raw);

/**
 * kl_history_sig() - get the index of a signature, which is added if it is new
 * @h: the history
 * @s: method and numbers of values; @vals is ignored
 * @args: s->nargs values, which may be the history's own
 * @res: s->nres values; NULL: unknown (KL_ANY)
 *
 * Return: the index, -ENOMEM, -EOVERFLOW, or -EINVAL if there is no such method or there are too
 * many values.
 */
int64_t kl_history_sig(struct kl_history *h, const struct kl_opsig *s, const struct kl_val *args,
			 const struct kl_val *res);

/**
 * kl_history_add() - append an operation
 * @h: the history
 * @op: the operation; the function sets its @sig
 * @s: method and numbers of values
 * @args: s->nargs values
 * @res: s->nres values; ignored if the operation is pending, whose results are KL_ANY
 *
 * Return: 0, -ENOMEM, -EOVERFLOW, or -EINVAL if ret < call, the call is KL_TIME_MAX, or an index is
 * out of range.
 */
int kl_history_add(struct kl_history *h, struct kl_op *op, const struct kl_opsig *s,
		   const struct kl_val *args, const struct kl_val *res);
int kl_history_add_gap(struct kl_history *h, const struct kl_gap *gap);

/**
 * kl_history_set_points() - set an operation's linearization point and drain
 * @h: the history
 * @i: the operation's index, after it was added
 * @point: its linearization point, or KL_TIME_MAX if it is unknown
 * @drain: a time at which all stores that its thread and its CPU made before it returned had left
 *	the store buffer, or KL_TIME_MAX if it is unknown
 *
 * Few histories have these times, which are in arrays of their own.  So operations must be moved
 * by kl_history_move() and kl_history_swap().  Without this call both times are unknown, or the
 * drain is the return (KL_OP_DRAINED).
 *
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
int kl_history_set_points(struct kl_history *h, size_t i, uint64_t point, uint64_t drain);
void kl_history_swap(struct kl_history *h, size_t a, size_t b);
/* Remove the first @n operations. */
void kl_history_drop(struct kl_history *h, size_t n);

/*
 * Sort by call (ties: by return, then in order of addition).  It is called once, after the last
 * operation.  Return: 0, or -ENOMEM, after which the history can only be freed.
 */
int kl_history_finish(struct kl_history *h);

/*
 * Make @h anew, with its remaining operations and their signatures alone, and without gaps.  Its
 * other tables keep their order.  0 or -ENOMEM.
 */
int kl_history_renew(struct kl_history **h);
/* The same, with only the objects and threads of these operations. */
int kl_history_shorten(struct kl_history **h);

static inline const struct kl_opsig *kl_op_sig(const struct kl_history *h, const struct kl_op *op)
{
	return &h->opsigs[op->sig];
}

/* The index of an operation's method. */
static inline uint16_t kl_op_method(const struct kl_history *h, const struct kl_op *op)
{
	return h->opsigs[op->sig].method;
}

static inline const struct kl_val *kl_op_args(const struct kl_history *h, const struct kl_op *op)
{
	return h->vals + h->opsigs[op->sig].vals;
}

static inline const struct kl_val *kl_op_res(const struct kl_history *h, const struct kl_op *op)
{
	return h->vals + h->opsigs[op->sig].vals + h->opsigs[op->sig].nargs;
}

/* Make an operation pending, so that its results are unknown. */
int kl_op_make_pending(struct kl_history *h, struct kl_op *op);

/* @a + @b, or KL_TIME_MAX. */
static inline uint64_t kl_time_add(uint64_t a, uint64_t b)
{
	return a > KL_TIME_MAX - b ? KL_TIME_MAX : a + b;
}

/* The linearization point of one of @h's operations, or KL_TIME_MAX. */
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

/* A time at which all stores before the return had left the store buffer; not before the return. */
static inline uint64_t kl_op_empty(const struct kl_history *h, const struct kl_op *op)
{
	const uint64_t drain = kl_op_drain(h, op);

	return drain > op->ret ? drain : op->ret;
}

/* Replace operation @to by operation @from. */
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

/*
 * The word of an operation's line that a message is about.  Other forms than text use the first
 * word.
 */
enum kl_at { KL_AT_OP = 0, KL_AT_CALL = 2, KL_AT_METHOD = 4, KL_AT_VALUE = 5, KL_AT_POINT = 99 };

/**
 * kl_history_err() - print a message about an operation, with its place in the source
 * @h: the history
 * @op: the operation's index; KL_NO_OP: the message is about the whole history
 * @word: the word of its line; KL_AT_VALUE + i: value i, with arguments first
 * @fmt: the message, without a place
 *
 * The message begins with FILE:LINE:COLUMN, and the line follows, if they are known.
 */
void kl_history_err(const struct kl_history *h, size_t op, enum kl_at word, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A form of histories, see form.h. */
struct kl_form;
#define KL_FORM_AUTO	((const struct kl_form *)NULL)

/* All forms, in the order in which they are tried; NULL ends the list. */
const struct kl_form *const *kl_forms(void);
/* The form with this name, or NULL. */
const struct kl_form *kl_form_find(const char *name);
/* The names of all forms, or only of those that klin @written: "text, linp or edn". */
#define KL_FORM_NAMES	128
const char *kl_form_names(char names[KL_FORM_NAMES], bool written);
/* Print a line for each form; a star marks those that klin writes. */
void kl_forms_list(void);
/* The name of the form that a mistyped @name probably means, or NULL. */
const char *kl_form_near(const char *name);

/* Options for reading a history. */
struct kl_read_opts {
	const struct kl_form *form;	/* KL_FORM_AUTO: the one that its first bytes show */
	bool hashed;			/* also compute the hash of its bytes */
	/* In EDN and Jepsen's log: are values [KEY VALUE] of independent keys? */
	enum kl_independent { KL_INDEPENDENT_TOLD, KL_INDEPENDENT_YES, KL_INDEPENDENT_NO }
		independent;
};

/**
 * kl_history_read() - read a history in any form, which its first bytes show
 * @path: the file, "-" for standard input
 * @out: the history, finished
 *
 * Return: 0, -EINVAL after an error message that names file and line or offset, or another negative
 * errno after a message.
 */
int kl_history_read(const char *path, struct kl_history **out);
/* The same; also sets the history's @sha256, the hash of all bytes of the file. */
int kl_history_read_hashed(const char *path, struct kl_history **out);
/* As kl_history_read(), in the form @form. */
int kl_history_read_as(const char *path, const struct kl_form *form, struct kl_history **out);
int kl_history_read_with(const char *path, const struct kl_read_opts *opts,
			 struct kl_history **out);
/* As kl_history_read(), from memory; @name is for messages. */
int kl_history_parse(const char *name, const char *data, size_t len, const struct kl_form *form,
		     struct kl_history **out);
int kl_text_read(const char *name, const char *text, size_t len, struct kl_history **out);
int kl_text_write(const struct kl_history *h, FILE *f);
int kl_klh_read(const char *name, const void *data, size_t len, struct kl_history **out);
/* Write .klh to @path, wholly or not at all. */
int kl_klh_write(const struct kl_history *h, const char *path);

/**
 * kl_history_write() - write a history, wholly or not at all
 * @h: the history, finished
 * @path: the file, "-" for standard output
 * @form: its form; KL_FORM_AUTO: .klh if the file has this suffix, else text
 *
 * Return: 0, or a negative errno after a message: -EINVAL if the form cannot express the history.
 */
int kl_history_write(const struct kl_history *h, const char *path, const struct kl_form *form);

/* Print a value ("7", "empty", "?") or an operation ("read() -> (1, 2)") for people. */
int kl_val_print(char *buf, size_t size, struct kl_val v);
/* Print a value of a history, which may have a spelling, see spell.h. */
int kl_history_print_val(char *buf, size_t size, const struct kl_history *h, struct kl_val v);
int kl_op_print(char *buf, size_t size, const struct kl_history *h, const struct kl_op *op);

#endif
