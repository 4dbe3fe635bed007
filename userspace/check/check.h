/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deciding a history against a specification.
 *
 * A history is split into partitions (Horn & Kroening, Theorem 1).  Each is given to the engines in
 * turn until one decides it.  A violation is shrunk to a small history of its own.  Nothing here
 * knows where a history came from.
 */
#ifndef KL_CHECK_CHECK_H
#define KL_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/engine.h"
#include "history/history.h"
#include "spec/spec.h"

/* The source of the memory model. */
enum kl_memory_by {
	KL_MEMORY_BY_HISTORY,	/* the history, or the default of its form */
	KL_MEMORY_BY_COMMAND,	/* the command line */
	KL_MEMORY_BY_ENGINE,	/* an engine that was named and needs store buffers */
};

struct kl_options {
	/*
	 * Engines in the order in which they are tried, ended by NULL; a NULL array stands for
	 * kl_engines().  If the spec delays writes, a VIOLATION by an engine without store buffers
	 * only passes the partition on to the first engine with them.
	 */
	const struct kl_engine *const *engines;
	bool classical;		/* decide on sequential consistency only */
	enum kl_memory_by memory_by;	/* the source of @classical */
	bool no_partition;	/* split by object only */
	bool no_witness;	/* the caller needs no order */
	uint32_t cache;		/* see kl_limits */
	struct kl_progress *progress;
	unsigned int max_shrink;	/* number of partitions that get counterexamples */
	unsigned int threads;	/* 0: one for each processor */
	uint64_t bytes, time_ns;	/* bounds for the whole run */
	/*
	 * Bound of the engines' looks, see kl_looks; 0: no bound.  Each operation adds KL_OP_LOOKS,
	 * so that large histories are not given up.
	 */
	uint64_t work;
	bool own_work; /* @work is the caller's own bound, which no option changes */
	const volatile int *stop;
};

#define KL_OP_LOOKS	(32 * KL_CONFIG_LOOKS)
/* The default of kl_options.work: about a minute on one CPU. */
#define KL_DEFAULT_WORK 6000000000ull
/* The default of kl_options.bytes. */
#define KL_DEFAULT_BYTES (4096ull << 20)

/* The reason why an engine with `explains' did not decide a partition. */
struct kl_declined {
	struct kl_declined *next;
	const struct kl_engine *engine;
	char reason[];
};

/* The verdict on one partition. */
struct kl_part_result {
	uint64_t object, key;
	bool has_key;
	uint32_t nops, ngaps;
	struct kl_answer answer;
	const struct kl_engine *engine;	/* the engine that gave the answer */
	uint64_t work;		/* looks of all engines that were asked in the last pass */
	bool stopped;		/* UNKNOWN only because of kl_options.work */
	bool starved;		/* UNKNOWN because of the process's memory limit */
	bool defect;		/* UNKNOWN because an engine and the oracle disagree */
	bool explained;		/* an order was found; UNKNOWN only because of gaps */
	bool suspected;		/* a violation, but UNKNOWN since calls may have passed unseen */
	struct kl_declined *declined;	/* reasons of engines that did not decide it, by rank */
	bool undrained; /* suspected, since stores may have left the buffer after returns */
	bool sc_violation;	/* LINEARIZABLE on TSO only: no order without the store buffer */
	bool selected;		/* @h lacks operations of the partition, which a story would need */
	const uint32_t *ops;	/* indices in the history; NULL: all, see kl_result_op() */
	struct kl_counterexample *cex;	/* the counterexample, for the first violations; or NULL */
};

/* The index in the history of an item's operation; KL_NO_OP for a gap's begin or end. */
static inline uint32_t kl_result_op(const struct kl_part_result *p, uint32_t item)
{
	return item >= p->nops ? KL_NO_OP : p->ops ? p->ops[item] : item;
}

struct kl_report {
	const struct kl_spec *spec;
	const struct kl_history *h;
	enum kl_verdict verdict;
	char reason[160];
	struct kl_part_result *parts;
	size_t nparts;
	uint32_t *ops;		/* indices of all partitions' operations */
	size_t count[3];	/* partitions of each verdict */
	size_t sc_violations;	/* partitions that only the store buffer explains */
	/* UNKNOWN partitions that would be violations if all calls had been seen */
	size_t suspected;
	/* the coverage to blame for them, which lives in the history, or NULL */
	const struct kl_coverage *suspect;
	bool classical;		/* decided on sequential consistency, see kl_options */
	enum kl_memory_by memory_by;
	/* of kl_options: */
	const struct kl_engine *named;	/* the only engine that was asked, or NULL */
	bool no_partition;
	uint64_t work;
	double seconds;		/* duration of the check */
	double shrink_seconds;	/* the part of it for counterexamples */
};

/**
 * kl_check() - decide a history
 * @spec: the specification
 * @h: the history; its methods are matched by name
 * @opt: engines, bounds and other options
 * @out: the verdict of each partition and of the whole
 *
 * Return: 0; -EINVAL after a message when history and spec do not fit; -ENOMEM.
 */
int kl_check(const struct kl_spec *spec, const struct kl_history *h,
	     const struct kl_options *opt, struct kl_report **out);
void kl_report_free(struct kl_report *r);

/*
 * Warn of methods with several atomic blocks on a path: the explorer gives each block an instant
 * of its own, but the checks of histories take an operation as one step.
 */
void kl_warn_blocks(const struct kl_spec *spec);

/*
 * Warn of what is allowed, but most often a typing error: a parameter, local variable or variable
 * of the state that nothing reads, `x = x', `x == x', a division by 0, a shift by 64 or more.
 * kl_warn_blocks() gives these warnings, too.
 */
void kl_warn_suspicious(const struct kl_spec *spec);

/* Warn of methods of an implementation that end with a lock; kl_warn_suspicious() does, too. */
void kl_warn_held_locks(const struct kl_spec *spec);

/* A violation made small: a history of its own, and where it came from. */
struct kl_counterexample {
	struct kl_history *h;	/* the kept operations; a gap replaces forgotten ones */
	uint32_t *ops;		/* index in the original history, for each kept operation */
	size_t dropped;		/* number of operations that were omitted */
	/* some were omitted as equal additions and removals, see kl_count_kept() */
	bool copies;
	bool forgot;		/* a gap replaces operations that returned at @cut or before */
	/* the first state's write was omitted, so states of @h may be none of the file's */
	bool unset;
	uint64_t cut;
	uint64_t end;		/* return time of the operation that nothing explains */
	enum kl_verdict oracle;	/* KL_VIOLATION, or KL_UNKNOWN if @h is too large for the oracle */
	struct kl_answer answer;	/* of the engine, on @h: longest order, failing event */
	bool tso;		/* @h was decided on store buffers */
	uint64_t work;		/* looks for making it, without the oracle's */
	enum kl_shrink_end {
		KL_SHRINK_DONE,
		KL_SHRINK_WORK,	/* shrinking ended by its bound of work */
		KL_SHRINK_TIME,	/* shrinking ended by time or by an interrupt */
	} ended;
};

/**
 * kl_shrink() - find a small violation inside a violating partition
 * @p: the partition
 * @engine: the engine that found it, also used for each trial
 * @oracle: the brute-force engine that confirms the result
 * @fail_event: index of the return event that nothing explains
 * @from_event: an event, or 0; there is still a violation when all operations that returned before
 *	this event are forgotten
 * @lim: bounds of each trial
 * @decision: looks that the decision took; shrinking takes at most a small multiple, and
 *	a constant
 * @out: the counterexample
 *
 * No step can invent a violation.  The history ends at the failing return.  Operations that ended
 * by some time are forgotten; the state is unknown until then, as in a gap.  Operations that may be
 * omitted are omitted, see kl_may_omit().  If they add and remove copies of one word, as many
 * additions as removals may be omitted, see kl_count_kept().  When the bound of work ends, the
 * smallest violation so far is taken.
 *
 * Return: 0, -ENOMEM, -EINVAL when the engine does not confirm the violation,
 * -EBADMSG when the oracle finds an order of what is left.
 */
int kl_shrink(const struct kl_part *p, const struct kl_engine *engine,
	      const struct kl_engine *oracle, uint32_t fail_event, uint32_t from_event,
	      const struct kl_limits *lim, uint64_t decision, struct kl_counterexample **out);
void kl_counterexample_free(struct kl_counterexample *c);

/**
 * kl_violation_near() - look for a violation around an event, from any state before
 * @p: the partition
 * @engine: the engine to ask
 * @event: an event that some engine did not come past
 * @lim: bounds; work is bounded in any case
 * @looks: gets the number of looks, or NULL
 *
 * Forgetting operations cannot invent a violation, see kl_shrink().
 *
 * Return: 1 if there is one, so that the partition is a violation; 0 if that is not known; -ENOMEM.
 */
int kl_violation_near(const struct kl_part *p, const struct kl_engine *engine, uint32_t event,
		      const struct kl_limits *lim, uint64_t *looks);

#endif
