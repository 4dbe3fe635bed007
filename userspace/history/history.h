/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histories: operations with the times of their calls and returns, and everything that is unknown
 * about them.  Whatever is unknown allows more explanations.
 *
 * A is before B for certain if ret(A) + error < call(B).  It is also before B if both are of one
 * thread and one clock (on one CPU, or without a CPU) and ret(A) < call(B).  If these two times are
 * equal, A is before B if each operation takes some time, because then neither can be nested in
 * the other.  All other pairs of operations are concurrent.
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
	KL_OP_DRAINED = 4,	/* its drain is at its return, see kl_op_drain() */
};

/**
 * struct kl_op - one execution of a method
 * @call: time before its first instruction, in the history's unit
 * @ret: time after its last instruction, or KL_TIME_MAX if it is pending
 * @thread: index of its thread
 * @object: index of its object
 * @sig: index of its signature, which has method, arguments and results
 * @cpu: the CPU on which it returned (or was called) and whose clock gave its times, or KL_NO_CPU;
 *	if it was called on another CPU, the clock's error was subtracted from @call
 * @flags: enum kl_op_flags
 *
 * Linearization points and drains are in arrays of the history, see kl_history_set_points().
 */
struct kl_op {
	uint64_t call, ret;
	uint32_t thread, object;
	uint32_t sig;
	uint16_t cpu;
	uint8_t flags, pad;
};

/* The signature that operations with the same method, arguments and results share. */
struct kl_opsig {
	uint32_t vals;		/* index in kl_history.vals of the arguments; results follow */
	uint16_t method;	/* index of the method's name */
	uint8_t nargs, nres;
};

enum kl_gap_reason {
	KL_GAP_LOST,	/* the buffer had no room for events */
	KL_GAP_MISSED,	/* probes did not run, because of recursion or kprobe misses */
	/* operations were dropped, whose stores had left the store buffers by @to */
	KL_GAP_CUT,
};

/*
 * A period of lost events: in [from, to] operations may have taken effect that are not in the
 * history.  The lost operations have their call and return in this period.
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

#define KL_NO_PLACE	UINT32_MAX	/* the place of an operation in its source is not known */
/* place of a write of the first state, which is not in the source */
#define KL_FIRST_PLACE	(UINT32_MAX - 1)

/* The unit of an operation's place in its source, see source.h. */
enum kl_place_kind {
	KL_PLACES_WORDS,	/* number of its line, which has the words of the text form */
	KL_PLACES_LINES,	/* number of the line in which it begins */
	KL_PLACES_OFFSETS,	/* offset of its first byte in the file */
};

/*
 * How the history's times, threads and values differ from those of the file, for reports.  Files
 * that klin writes have the history's own.
 */
struct kl_view {
	enum {
		KL_TIMES_CLOCK,		/* of the history's clock */
		KL_TIMES_FILE,		/* those of the file */
		KL_TIMES_EVENTS,	/* numbers of the calls and returns in the file */
		KL_TIMES_DOUBLED,	/* twice those of the file; calls have 1 more */
	} times;
	bool threadless;	/* the file has no threads */
	bool complements;	/* each word is the complement of a priority in the file */
};

/*
 * How to print a value as the operation's own lines have it, see source_text.h.
 * @print: prints value @i of operation @op (arguments, then results) of the history @of.  Return:
 *	false if the lines do not tell
 * @ops: indices in @of of the operations; NULL: they are the same
 */
struct kl_own_words {
	bool (*print)(const struct kl_history *of, size_t op, unsigned int i, char *buf,
		      size_t size);
	const struct kl_history *of;
	const uint32_t *ops;
};

struct kl_history {
	struct kl_op *ops;		/* sorted by call after kl_history_finish() */
	uint64_t *points, *drains;	/* times of each operation; NULL: none is known */
	/* place of each operation in the source, enum kl_place_kind; NULL: none is known */
	uint32_t *places;
	/* number of the stack at each operation's call, or 0; NULL: none is known; see spell.h */
	uint32_t *stacks;
	/* signatures: the first KL_EXACT_OPSIGS all differ; later ones may equal others */
	struct kl_opsig *opsigs;
	struct kl_val *vals;
	struct kl_gap *gaps;		/* sorted by from */
	char **methods;			/* names of the methods */
	/* of each method: the union of kl_arity() of its signatures */
	uint32_t *arities;
	uint64_t *objects;		/* names of the objects: addresses, or words of keys */
	uint64_t *threads;		/* numbers of the threads */
	size_t nops, nopsigs, nvals, ngaps, nmethods, nobjects, nthreads;
	/* capacities */
	size_t cops, cpoints, cdrains, cplaces, cstacks, copsigs, cvals, cgaps, cmethods, carities;
	size_t cobjects, cthreads;
	struct kl_source *source;	/* the file or text that it was read from, or NULL */
	struct kl_index *index;		/* finds methods, objects, threads and signatures */

	enum kl_clock clock;
	uint64_t error;			/* maximal error of the clock between CPUs, in its unit */
	bool fresh;			/* objects began in the spec's initial state */
	struct kl_memory memory;
	uint32_t ncpus;
	char *spec_path, *spec_text;	/* the spec that it was recorded with, or NULL */
	char sha256[KL_SHA256_HEX];	/* hash of the file, in hexadecimal; empty if unknown */
	char *release;			/* kernel release, or NULL */
	char *attached;			/* lines about how it was recorded, or NULL */
	bool keyed; /* objects[] holds keys; each has a structure of its own */
	struct kl_view view;
	/* the file certainly has the form in which it was read, even if it has no operations */
	bool declared;
	size_t skipped;			/* number of entries of the input that the reader skipped */
	size_t failed; /* number of operations without effect, which are left out */
	size_t nils; /* number of values that the input has as nil or null, and that are words */
	size_t digits; /* number of values that the input has as texts of digits, beside numbers */
	char skipped_why[256];		/* text for people: the kinds of skipped entries */
	struct kl_spellings *spellings;	/* spellings of words, see spell.h; or NULL */
	bool respelled; /* a word may be spelled in several ways */
	struct kl_own_words own;
	struct kl_coverage *coverage;	/* the coverage of each probe clause */
	size_t ncoverage, ccoverage;
};

/* Return: a bit that stands for @nres results. */
static inline uint32_t kl_arity_results(unsigned int nres)
{
	return 1u << (16 + nres);
}

/* Return: a bit that stands for @nargs arguments, and a bit that stands for @nres results. */
static inline uint32_t kl_arity(unsigned int nargs, unsigned int nres)
{
	return 1u << nargs | kl_arity_results(nres);
}

/* Words of the text form, by enum kl_clock and enum kl_gap_reason. */
extern const char *const kl_clock_names[4];
extern const char *const kl_gap_reasons[3];

/*
 * Return: the reason why a history without operations gives no verdict (operations were lost, or a
 * recorder saw none), or NULL if it gives one.
 */
const char *kl_history_why_empty(const struct kl_history *h);

struct kl_history *kl_history_new(void);
void kl_history_free(struct kl_history *h);

/*
 * Return: the index of a method (@name is an identifier), object or thread, which is added if it is
 * new; or a negative errno.
 */
int64_t kl_history_method(struct kl_history *h, const char *name, size_t len);
int64_t kl_history_object(struct kl_history *h, uint64_t raw);
int64_t kl_history_thread(struct kl_history *h, uint64_t raw);

/**
 * kl_history_sig() - get the index of a signature, which is added if it is new
 * @h: the history
 * @s: method and numbers of values; @vals is ignored
 * @args: s->nargs values, which may lie in the history
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
 * Few histories have these times, so they are in arrays of their own.  Operations must therefore be
 * moved by kl_history_move() and kl_history_swap().  Without a call of this function the point is
 * unknown.  The drain is then unknown, too, or at the return (KL_OP_DRAINED).
 *
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
int kl_history_set_points(struct kl_history *h, size_t i, uint64_t point, uint64_t drain);
/*
 * Set the number of the stack at the call of operation @i, which was added, or 0 if it is unknown.
 * Return: 0 or -ENOMEM.
 */
int kl_history_set_stack(struct kl_history *h, size_t i, uint32_t stack);
void kl_history_swap(struct kl_history *h, size_t a, size_t b);
/* Remove the first @n operations. */
void kl_history_drop(struct kl_history *h, size_t n);

/*
 * Sort the operations by call (ties: by return, then in order of addition).  The function is called
 * once, after the last operation.
 * Return: 0, or -ENOMEM, after which the history can only be freed.
 */
int kl_history_finish(struct kl_history *h);

/*
 * Replace @h by a copy without gaps, which has only the signatures that its operations use.
 * Methods, objects and threads keep their indices.  Return: 0 or -ENOMEM.
 */
int kl_history_renew(struct kl_history **h);
/* As kl_history_renew(), but the copy has only the objects and threads that its operations use. */
int kl_history_shorten(struct kl_history **h);

static inline const struct kl_opsig *kl_op_sig(const struct kl_history *h, const struct kl_op *op)
{
	return &h->opsigs[op->sig];
}

/* Return: the index of an operation's method. */
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

/* Return: @a + @b, but at most KL_TIME_MAX. */
static inline uint64_t kl_time_add(uint64_t a, uint64_t b)
{
	return a > KL_TIME_MAX - b ? KL_TIME_MAX : a + b;
}

/* Return: the linearization point of an operation of @h, or KL_TIME_MAX if it is unknown. */
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

/* Return: the number of the stack at an operation's call, or 0 if it is unknown. */
static inline uint32_t kl_op_stack(const struct kl_history *h, const struct kl_op *op)
{
	return h->stacks ? h->stacks[op - h->ops] : 0;
}

/*
 * Return: a time, not before the return, at which all stores made before the return had left the
 * store buffer; KL_TIME_MAX if no such time is known.
 */
static inline uint64_t kl_op_empty(const struct kl_history *h, const struct kl_op *op)
{
	const uint64_t drain = kl_op_drain(h, op);

	return drain > op->ret ? drain : op->ret;
}

/* Copy operation @from, with its times and its place, over operation @to. */
static inline void kl_history_move(struct kl_history *h, size_t to, size_t from)
{
	h->ops[to] = h->ops[from];
	if (h->points)
		h->points[to] = h->points[from];
	if (h->drains)
		h->drains[to] = h->drains[from];
	if (h->places)
		h->places[to] = h->places[from];
	if (h->stacks)
		h->stacks[to] = h->stacks[from];
}

/*
 * The word of an operation's line that a message is about.  If the form is not the text form,
 * messages point to the first word.
 */
enum kl_at { KL_AT_OP = 0, KL_AT_CALL = 2, KL_AT_METHOD = 4, KL_AT_VALUE = 5, KL_AT_POINT = 99 };

/**
 * kl_history_err() - print a message about an operation, with its place in the source
 * @h: the history
 * @op: the operation's index; KL_NO_OP: the message is about the whole history
 * @word: the word of its line; KL_AT_VALUE + i: value i, counting arguments, then results
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
/* Return: the form with this name, or NULL. */
const struct kl_form *kl_form_find(const char *name);
/*
 * Write the names of all forms to @names, or with @written only of those forms that klin can write,
 * as "text, linp or edn".  Return: @names.
 */
#define KL_FORM_NAMES	128
const char *kl_form_names(char names[KL_FORM_NAMES], bool written);
/* Print a line for each form; a star marks the forms that klin can write. */
void kl_forms_list(void);
/* Return: the name of the form that a mistyped @name probably means, or NULL. */
const char *kl_form_near(const char *name);

struct kl_input;

/* Options for reading a history. */
struct kl_read_opts {
	const struct kl_form *form;	/* KL_FORM_AUTO: its first bytes show the form */
	bool rules; /* warn of a form that is read without the specification's history block */
	bool hashed;			/* also compute the hash of the file's bytes */
	const char *name; /* the file's name in messages; NULL: its path */
	/* In EDN and Jepsen's log: whether values are [KEY VALUE]; TOLD: the operations show it. */
	enum kl_independent { KL_INDEPENDENT_TOLD, KL_INDEPENDENT_YES, KL_INDEPENDENT_NO }
		independent;
	/* Reads the input instead of the readers of forms, with @ctx; or NULL. */
	int (*read)(struct kl_input *in, const void *ctx, struct kl_history **out);
	const void *ctx;
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
/* As kl_history_read(); also sets @sha256 of the history, the hash of all bytes of the file. */
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
/* Write the .klh file @path, wholly or not at all. */
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
/* Print value @i of an operation: of its arguments, then of its results. */
int kl_op_print_val(char *buf, size_t size, const struct kl_history *h, const struct kl_op *op,
		    unsigned int i);
/*
 * Return: the string that an operation of a key-value log appends, as kv.c spells it: "x" of
 * ..."x"; or NULL if the operation is no append.  Its other arguments, by specs/kv.lin, are
 * steps from value to value, which the caller did not pass.
 */
const char *kl_op_appended(const struct kl_history *h, const struct kl_op *op);

#endif
