/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The explorer: all runs of an implementation under a bounded client on the
 * x86-TSO machine, beside the set of the specification's configurations which
 * explain the history so far.  Breadth first, so that the run to the first
 * violation found is a short one.  There is no bound but the client's: none on
 * preemptions, and one on store buffers that is told when it is reached.
 */
#ifndef KL_TSO_EXPLORE_EXPLORE_H
#define KL_TSO_EXPLORE_EXPLORE_H

#include "check/budget.h"
#include "spec/spec.h"

struct kl_explore_options {
	bool sc;			/* sequential consistency */
	unsigned int threads, ops;	/* of a general client; 0: as the file says */
	/* Reductions that are turned off: */
	bool no_merge, no_dead, no_canon, no_hidden, no_symmetry, no_facts, no_cover, no_known;
	bool histories;			/* no specification: find the histories */
	bool shortest;			/* no run to what is found has fewer steps */
	bool compact;			/* of states hashes are kept: two may be taken for one */
	unsigned int hash_bits;		/* of which so many count, for tests; 0: all */
	uint64_t memory;		/* bytes */
	const struct kl_limits *lim;	/* its deadline and its stop are looked at; may be NULL */
	/* Looked at from another thread, to show progress; may be NULL. */
	struct kl_explore_progress *progress;
};

struct kl_explore_progress {
	volatile uint64_t states, expanded;
};

enum kl_explore_verdict {
	KL_EX_OK,
	KL_EX_NOT_LINEARIZABLE,
	KL_EX_FAULT,		/* an assertion, a null pointer, ... */
	KL_EX_FINAL,		/* a condition of `final' */
	KL_EX_DEADLOCK,
	KL_EX_ENDLESS,		/* from here no run ends */
	KL_EX_MEMORY,		/* not known: the bound on memory */
	KL_EX_LIMIT,		/* not known: a run is too large for the machine */
	KL_EX_STOPPED,		/* not known: interrupted, or the time is over */
	KL_EX_LOST,		/* not known: a run cannot be made again to be shown */
};

/* Was the search given up, so that there is no answer? */
static inline bool kl_explore_unknown(enum kl_explore_verdict v)
{
	return v == KL_EX_MEMORY || v == KL_EX_LIMIT || v == KL_EX_STOPPED || v == KL_EX_LOST;
}

struct kl_explore_stats {
	uint64_t states, transitions, bytes;	/* bytes: of states and their table */
	uint64_t all_bytes;			/* and of the specification's sets */
	uint64_t open;				/* states not yet expanded, if it gave up */
	uint64_t sets, configs;
	unsigned int steps;			/* of the run that is shown */
	unsigned int threads;
	uint64_t levels;	/* steps from the first state, all of which were followed */
	bool all_reached;	/* it gave up when only runs without end were looked for */
	double seconds, cpu_seconds;	/* as they pass; of the one core that was used */
};

struct kl_explorer;

/**
 * kl_explore() - search all runs; what was found has been shown once when it returns
 * @spec: a specification with an implementation and a client
 * @o: how
 * @verdict: the answer
 * @out: to ask for figures and the run; kl_explorer_free() it, also after an error
 *
 * Return: 0; -EINVAL after a message (no implementation, or a specification
 * that the explorer cannot run); -ENOMEM.
 */
int kl_explore(struct kl_spec *spec, const struct kl_explore_options *o,
	       enum kl_explore_verdict *verdict, struct kl_explorer **out);
void kl_explorer_free(struct kl_explorer *x);
void kl_explore_stats(const struct kl_explorer *x, struct kl_explore_stats *st);
/* What was found, in a line, with the names that kl_explore_run() has. */
const char *kl_explore_message(struct kl_explorer *x);
/* Why the specification may refuse what was found; or an empty text. */
const char *kl_explore_hint(struct kl_explorer *x);
/* Of a search that was given up: which variables grow, and what to do; or an empty text. */
const char *kl_explore_grown(struct kl_explorer *x);
/* After a search for them, the hardest histories: how many, or a negative errno. */
int64_t kl_explore_print_histories(struct kl_explorer *x, FILE *f);

/* A step of a run, as text. */
struct kl_explore_step {
	unsigned int number;	/* 0: the first state */
	unsigned int thread;	/* whose step it is */
	bool flush;		/* the oldest entry of its store buffer reaches memory */
	const char *what;	/* calls, accesses with their lines, returns */
	const char *state;	/* memory and store buffers behind it */
};

typedef void (*kl_explore_step_fn)(void *ctx, const struct kl_explore_step *s);

/**
 * kl_explore_run() - the run to what was found
 * @x: the explorer
 * @fn: called for each step, in order
 * @ctx: handed to @fn
 *
 * Return: 0 or a negative errno; -ESTALE if the run cannot be made again, which kl_explore()
 * has found out before.
 */
int kl_explore_run(struct kl_explorer *x, kl_explore_step_fn fn, void *ctx);
/* A value of the machine as text. */
int kl_vm_value(char *buf, size_t size, uint64_t v);
/* Does the file have an implementation? */
bool kl_explore_can(const struct kl_spec *spec);

/* The memory model that a file says its implementation is for. */
enum kl_explore_memory { KL_EX_SAYS_NOTHING, KL_EX_SAYS_TSO, KL_EX_SAYS_SC };

enum kl_explore_memory kl_explore_memory(const struct kl_spec *spec);

#endif
