/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The explorer searches all runs of an implementation under a bounded client on the x86-TSO
 * machine.  With each state it keeps the set of the specification's configurations that explain
 * the history so far.  The search is breadth first, so that the run to the first violation is
 * short.  The client is the only bound: the number of preemptions is unbounded, and a full store
 * buffer of the machine ends the search with a message.
 */
#ifndef KL_TSO_EXPLORE_EXPLORE_H
#define KL_TSO_EXPLORE_EXPLORE_H

#include "check/budget.h"
#include "history/history.h"
#include "spec/interp/code.h"
#include "spec/spec.h"

struct kl_explore_options {
	bool sc;			/* sequential consistency */
	unsigned int threads;	/* number of threads of a general(N) client; 0: the file's */
	/* operations of each thread of a general(N) or roles(...) client; 0: the file's */
	unsigned int ops;
	/* Reductions that are turned off: */
	bool no_merge, no_dead, no_canon, no_hidden, no_symmetry, no_facts, no_cover, no_known;
	/* find the implementation's histories, without the specification */
	bool histories;
	bool shortest;			/* the run that is shown is a shortest one */
	/* keep hashes of states, so two states may be taken for one */
	bool compact;
	unsigned int hash_bits;		/* number of bits of the hashes, for tests; 0: all */
	uint64_t memory;		/* bound of memory, in bytes */
	const struct kl_limits *lim;	/* the deadline and the stop, or NULL */
	/* Another thread reads this to show progress; or NULL. */
	struct kl_explore_progress *progress;
};

struct kl_explore_progress {
	volatile uint64_t states, expanded;
};

enum kl_explore_verdict {
	KL_EX_OK,
	KL_EX_NOT_LINEARIZABLE,
	KL_EX_FAULT,		/* an assertion, a null pointer, ... */
	KL_EX_FINAL,		/* a condition of `final' is false */
	KL_EX_DEADLOCK,
	KL_EX_ENDLESS,		/* a state from which no run ends */
	KL_EX_MEMORY,		/* unknown: the bound of memory was reached */
	KL_EX_LIMIT,		/* unknown: a run is too large for the machine */
	KL_EX_STOPPED,		/* unknown: interrupted, or out of time */
	KL_EX_LOST,		/* unknown: the run cannot be made again and shown */
};

/* Return: true if the search ended without an answer. */
static inline bool kl_explore_unknown(enum kl_explore_verdict v)
{
	return v == KL_EX_MEMORY || v == KL_EX_LIMIT || v == KL_EX_STOPPED || v == KL_EX_LOST;
}

struct kl_explore_stats {
	uint64_t states, transitions, bytes;	/* @bytes: states and their table */
	uint64_t all_bytes;			/* @bytes, and the specification's sets */
	uint64_t open;				/* number of states that were not followed */
	uint64_t sets, configs;			/* of the specification */
	unsigned int steps;			/* number of steps of the run that is shown */
	unsigned int threads;
	uint64_t levels;	/* number of steps up to which all runs were followed */
	/* all states were reached; the search was looking for runs without end when it stopped */
	bool all_reached;
	double seconds, cpu_seconds;	/* wall-clock time, and time of the processor */
};

struct kl_explorer;
struct kl_vm_access;
struct kl_vm_event;
struct kl_vm_method;

/**
 * kl_explore() - search all runs, and make the run to the verdict once
 * @spec: a specification with an implementation and a client
 * @o: the options
 * @verdict: gets the verdict
 * @out: gets the explorer, for statistics and the run; kl_explorer_free() it, also after an error
 *
 * Return: 0, -EINVAL after a message if there is no implementation or the explorer cannot run the
 * specification, -ENOMEM.
 */
int kl_explore(struct kl_spec *spec, const struct kl_explore_options *o,
	       enum kl_explore_verdict *verdict, struct kl_explorer **out);
void kl_explorer_free(struct kl_explorer *x);
void kl_explore_stats(const struct kl_explorer *x, struct kl_explore_stats *st);
/* Return: the verdict in a line of text, with the names that kl_explore_run() uses. */
const char *kl_explore_message(struct kl_explorer *x);
/* Return: a hint why the specification may not fit the implementation, or an empty text. */
const char *kl_explore_hint(struct kl_explorer *x);
/*
 * Return: after a search without an answer, a text that names the variables that grow and says what
 * to do; or an empty text.
 */
const char *kl_explore_grown(struct kl_explorer *x);
/*
 * Print the hardest histories, after a search with o.histories.
 * Return: their number, or a negative errno.
 */
int64_t kl_explore_print_histories(struct kl_explorer *x, FILE *f);

/* A step of a run, as text. */
struct kl_explore_step {
	unsigned int number;	/* number of the step; 0 is the first state */
	unsigned int thread;	/* the thread that makes the step */
	bool flush;		/* the oldest entry of its store buffer reaches memory */
	const char *what;	/* calls, accesses with their lines, returns */
	const char *state;	/* memory and store buffers after the step */
	/* calls, returns and flushes of operations, see kl_explore_method() */
	const struct kl_vm_event *events;
	unsigned int nevents;
	/*
	 * Accesses to memory in their order, also those of other threads that were made along with
	 * the step, and stores that reached memory from a buffer, which have no line.
	 */
	const struct kl_vm_access *accesses;
	unsigned int naccesses;
	bool cut;		/* there were more accesses, which are not listed */
};

#define KL_EX_USES	4	/* loads of a value that are kept */

enum kl_explore_end_kind {
	KL_EX_FAILS,		/* an instruction fails */
	KL_EX_WAITS,		/* a condition is false, and no step changes it */
	KL_EX_LOOPS,		/* the thread makes steps, but never ends */
};

/* A load that decided how the run ends. */
struct kl_explore_use {
	uint32_t load;		/* its number among the accesses of the run, from 0 */
	bool after;		/* it is not in the run, but would come after it */
	/* A load after the run: its word; @own: it read a store in the thread's own buffer. */
	uint32_t addr;
	uint64_t val;
	bool own;
};

/* How the run ends for a thread. */
struct kl_explore_end {
	enum kl_explore_end_kind kind;
	int thread;		/* -1: the code of `final' */
	unsigned int line;
	char what[160];		/* the error of an instruction that fails */
	enum kl_opcode op;	/* the instruction that fails or waits, if it does so on a value */
	uint64_t value;		/* the value that it fails on: an address, an index, a divisor */
	bool copy;		/* that is the value of the only load, not computed from it */
	bool more;		/* more loads decided it, which are not known */
	struct kl_explore_use use[KL_EX_USES];
	unsigned int nuses;
};

typedef void (*kl_explore_step_fn)(void *ctx, const struct kl_explore_step *s);

/**
 * kl_explore_run() - show the run to the verdict
 * @x: the explorer
 * @fn: called for each step, in order
 * @ctx: argument for @fn
 *
 * Return: 0 or a negative errno.  It is -ESTALE if the run cannot be made again, which kl_explore()
 * finds out first.
 */
int kl_explore_run(struct kl_explorer *x, kl_explore_step_fn fn, void *ctx);
/**
 * kl_explore_history() - show the run to the verdict, and make its history
 * @x: the explorer
 * @sc: the run has no store buffers
 * @fn: called for each step, in order
 * @ctx: argument for @fn
 * @out: gets the history, or NULL; times are numbers of steps
 *
 * Return: 0 or a negative errno; -ENOTSUP if a value is a pointer, else as kl_explore_run().
 */
int kl_explore_history(struct kl_explorer *x, bool sc, kl_explore_step_fn fn, void *ctx,
		       struct kl_history **out);
/*
 * Get how the run ends for its threads, after kl_explore_run(): the failing one, or those that
 * wait or loop.  Return: their number; 0 if the run is not linearizable.
 */
unsigned int kl_explore_ends(const struct kl_explorer *x, const struct kl_explore_end **ends);
/* Return: true if the word of memory is in an object, not a variable. */
bool kl_explore_in_object(const struct kl_explorer *x, uint32_t addr);
/* Return: the verdict of the search. */
enum kl_explore_verdict kl_explore_found(const struct kl_explorer *x);
/**
 * kl_explore_stores_later() - search all runs after the one that is shown for a store
 * @x: the explorer, after kl_explore_run()
 * @addr: the address of the variable that is stored to
 * @states: set to the number of states that can follow
 *
 * Return: 1 if there is a store, 0 if there is none, -ENOENT if @addr is in an object, whose
 * address is not certain later; another negative errno if the search was not completed.
 */
int kl_explore_stores_later(struct kl_explorer *x, uint32_t addr, uint64_t *states);
/*
 * After kl_explore_run(), write the name of a word of memory, or a value that may be a pointer.
 * Return: 0 or -ENOMEM.
 */
int kl_explore_place(const struct kl_explorer *x, uint32_t addr, char *buf, size_t size);
int kl_explore_value(const struct kl_explorer *x, uint64_t v, char *buf, size_t size);
/* Return: the specification that is explored. */
const struct kl_spec *kl_explore_spec(const struct kl_explorer *x);
/* Return: the method with the index that an event of a run has. */
const struct kl_vm_method *kl_explore_method(const struct kl_explorer *x, unsigned int method);
/* Write a value of the machine as text.  Return: as snprintf(). */
int kl_vm_value(char *buf, size_t size, uint64_t v);
/* Return: true if the specification has an implementation. */
bool kl_explore_can(const struct kl_spec *spec);

/* The memory model that the file names for its implementation. */
enum kl_explore_memory { KL_EX_SAYS_NOTHING, KL_EX_SAYS_TSO, KL_EX_SAYS_SC };

enum kl_explore_memory kl_explore_memory(const struct kl_spec *spec);

#endif
