/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libklin: is a history linearizable?
 *
 *	struct klin_spec *spec;
 *	struct klin_history *h;
 *	struct klin_result *r;
 *
 *	if (klin_spec_load("queue", &spec) || klin_history_read("run.klh", &h) ||
 *	    klin_check(spec, h, NULL, &r)) {
 *		fprintf(stderr, "%s\n", klin_error());
 *	} else if (klin_result_verdict(r) == KLIN_VIOLATION) {
 *		klin_result_print(r, KLIN_TEXT, stderr);
 *	}
 *
 * The library prints nothing and ends no program.  A function that returns an int returns 0 or a
 * negative errno, and klin_error() has the reason.  Any threads may use the library at once, and
 * may share specifications, histories and results; one history is used by one thread at a time, and
 * others wait.  An object is freed when the last one that needs it is freed.
 */
#ifndef KLIN_KLIN_H
#define KLIN_KLIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Return: the version of the library, such as "0.2". */
const char *klin_version(void);

/*
 * Return: the errors and warnings of this thread's last call of the library that returns an int, a
 * line each; "" if there are none.  The next such call of this thread overwrites the text.
 */
const char *klin_error(void);

/* ---- values ---- */

enum klin_kind {
	KLIN_KIND_WORD, /* the word; a bool is 0 or 1 */
	KLIN_KIND_UNKNOWN, /* a value that was not seen */
	KLIN_KIND_EMPTY, /* as of `deq() -> empty' */
	KLIN_KIND_FULL,
	KLIN_KIND_ABSENT,
};

/* An argument or a result of an operation. */
struct klin_value {
	uint64_t word; /* 0, unless the kind is KLIN_KIND_WORD */
	uint32_t kind; /* enum klin_kind */
	uint32_t reserved; /* 0 */
};

static inline struct klin_value klin_value_of(uint64_t word, enum klin_kind kind)
{
	struct klin_value v;

	v.word = word;
	v.kind = (uint32_t)kind;
	v.reserved = 0;
	return v;
}

static inline struct klin_value klin_word(uint64_t word)
{
	return klin_value_of(word, KLIN_KIND_WORD);
}

static inline struct klin_value klin_unknown(void)
{
	return klin_value_of(0, KLIN_KIND_UNKNOWN);
}

static inline struct klin_value klin_empty(void)
{
	return klin_value_of(0, KLIN_KIND_EMPTY);
}

static inline struct klin_value klin_full(void)
{
	return klin_value_of(0, KLIN_KIND_FULL);
}

static inline struct klin_value klin_absent(void)
{
	return klin_value_of(0, KLIN_KIND_ABSENT);
}

/* ---- specifications ---- */

struct klin_spec;

/**
 * klin_spec_load() - read a specification
 * @path: a .lin file, or the name of a specification that ships with klin, such as "queue"
 * @spec: gets the specification; klin_spec_free() frees it
 */
int klin_spec_load(const char *path, struct klin_spec **spec);

/**
 * klin_spec_parse() - read a specification from memory
 * @name: its name in messages
 * @text: the text, as in a .lin file
 * @spec: gets the specification
 */
int klin_spec_parse(const char *name, const char *text, struct klin_spec **spec);
void klin_spec_free(struct klin_spec *spec);

/* ---- histories ---- */

struct klin_history;

#define KLIN_PENDING UINT64_MAX /* the time of a return that was not seen */

enum klin_memory {
	KLIN_MEMORY_DEFAULT, /* what the history says; for a new history KLIN_MEMORY_SC */
	KLIN_MEMORY_SC, /* a store is seen by all when its operation has returned */
	KLIN_MEMORY_TSO, /* a store may still wait in the CPU's buffer then */
};

/* An operation: a call of a method, and its return. */
struct klin_operation {
	uint64_t thread; /* any number */
	uint64_t object; /* its structure: an address, or any number */
	const char *method;
	const struct klin_value *args, *results;
	unsigned int nargs, nresults;
	/*
	 * Times, in any unit.  An operation is before another one if its return is less than the
	 * other's call.  A pending operation has no results.
	 */
	uint64_t call, ret;
};

/* Make a history without operations, whose objects begin as the specification says. */
int klin_history_new(struct klin_history **h);

/**
 * klin_history_read() - read a history from a file
 * @path: the file, in any form that `klin check' reads without a history block
 * @h: gets the history; klin_history_free() frees it
 */
int klin_history_read(const char *path, struct klin_history **h);

/**
 * klin_history_read_by() - read a log of another program by the history block of a specification
 * @spec: the specification; without a history block this is klin_history_read()
 * @path: the file, in EDN, JSON or CSV, or in any form that `klin check' reads
 * @h: gets the history
 */
int klin_history_read_by(struct klin_spec *spec, const char *path, struct klin_history **h);

/**
 * klin_history_parse() - read a history from memory
 * @name: its name in messages
 * @data: the contents of a file
 * @len: their length in bytes
 * @h: gets the history
 */
int klin_history_parse(const char *name, const char *data, size_t len, struct klin_history **h);

/* Parse a text as klin_history_parse() does, by the history block of a specification. */
int klin_history_parse_by(struct klin_spec *spec, const char *name, const char *data, size_t len,
			  struct klin_history **h);

/**
 * klin_history_add() - add an operation, in any order
 * @h: a history that was neither read nor written nor checked: -EBUSY otherwise
 * @op: the operation, which is copied
 */
int klin_history_add(struct klin_history *h, const struct klin_operation *op);

/* Operations may be missing that were called and returned from @from to @to. */
int klin_history_add_gap(struct klin_history *h, uint64_t from, uint64_t to);

/* Objects began in any state, because earlier operations are not in the history. */
int klin_history_begin_anywhere(struct klin_history *h);

/* Times of different threads may differ by @error from the right ones. */
int klin_history_set_error(struct klin_history *h, uint64_t error);

int klin_history_set_memory(struct klin_history *h, enum klin_memory memory);

/* Write the history: as .klh if the name ends so, else as text. */
int klin_history_write(struct klin_history *h, const char *path);
void klin_history_free(struct klin_history *h);

/* ---- checks ---- */

enum klin_verdict {
	KLIN_LINEARIZABLE, /* some order of all operations is right */
	KLIN_VIOLATION, /* no order is right */
	KLIN_UNKNOWN, /* not decided: klin_result_headline() says why */
};

/*
 * How to check.  Members that are 0 have their defaults.  Later versions add members at the end, so
 * let the compiler set the size: struct klin_options o = KLIN_OPTIONS;
 */
struct klin_options {
	size_t size; /* of this structure */
	uint64_t work; /* bound of the work, as of `klin check --work' */
	uint64_t bytes; /* bound of the memory, in bytes */
	unsigned int threads; /* 0: one for each CPU */
	int memory; /* enum klin_memory */
	int certificate; /* 1: klin_result_certificate() will be called */
	int reserved;
	const volatile int *stop; /* when it is not 0, the check ends with KLIN_UNKNOWN */
};

#define KLIN_OPTIONS                                                \
	{                                                           \
		sizeof(struct klin_options), 0, 0, 0, 0, 0, 0, NULL \
	}

struct klin_result;

/**
 * klin_check() - decide a history
 * @spec: the specification; NULL: the one that the history carries
 * @h: the history
 * @options: options, or NULL
 * @result: gets the result; klin_result_free() frees it
 *
 * Return: 0, also for a violation; -EINVAL if history and specification do not fit.
 */
int klin_check(struct klin_spec *spec, struct klin_history *h, const struct klin_options *options,
	       struct klin_result **result);
enum klin_verdict klin_result_verdict(const struct klin_result *r);

/*
 * Return: one sentence without a full stop: what is wrong, or why nothing is known.  It is "" for
 * KLIN_LINEARIZABLE, and lives as long as the result.
 */
const char *klin_result_headline(const struct klin_result *r);

enum klin_form {
	KLIN_TEXT, /* for people: the verdict, the story of a violation, the counterexample */
	KLIN_JSON, /* as of `klin check --json' */
	KLIN_KTAP,
	KLIN_JUNIT,
};

/* Print the result to @f. */
int klin_result_print(const struct klin_result *r, enum klin_form form, FILE *f);

/**
 * klin_result_certificate() - write a proof, which `klin replay' checks
 * @r: the result of a check with klin_options.certificate
 * @path: the file.  A history that was not read from a file is written to PATH.klh first
 */
int klin_result_certificate(const struct klin_result *r, const char *path);
void klin_result_free(struct klin_result *r);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
