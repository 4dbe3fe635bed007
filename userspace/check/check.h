/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deciding a history against a specification.
 *
 * A history is split into partitions (Horn & Kroening, Theorem 1); each is
 * given to the engines in turn until one decides it; a violation is shrunk to a
 * small history of its own.  Nothing here knows where a history came from.
 */
#ifndef KL_CHECK_CHECK_H
#define KL_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/engine.h"
#include "history/history.h"
#include "spec/spec.h"

/* Who says on which memory model a history is decided. */
enum kl_memory_by {
	KL_MEMORY_BY_HISTORY,	/* itself, or what it is by default */
	KL_MEMORY_BY_COMMAND,	/* the command line */
	KL_MEMORY_BY_ENGINE,	/* one that is asked for, and needs store buffers */
};

struct kl_options {
	/*
	 * Tried in this order until one is not UNKNOWN; NULL ends it, and NULL for the array
	 * stands for kl_engines().  If the spec delays writes, a VIOLATION by an engine that
	 * does not know store buffers only passes the partition on to the first one that does.
	 */
	const struct kl_engine *const *engines;
	bool classical;		/* take a violation on sequential consistency as final */
	enum kl_memory_by memory_by;	/* who says so */
	bool no_partition;	/* by object only */
	bool no_witness;	/* no certificate will be written */
	uint32_t cache;		/* see kl_limits */
	struct kl_progress *progress;
	unsigned int max_shrink;	/* counterexamples for so many partitions */
	unsigned int threads;	/* 0: one for each processor */
	uint64_t bytes, time_ns;	/* bounds for the whole run */
	/*
	 * Looks that the engines may take, see kl_looks; 0: as many as it takes.  There are
	 * KL_OP_LOOKS more for each operation, so that large histories are not given up.
	 */
	uint64_t work;
	const volatile int *stop;
};

#define KL_OP_LOOKS	(32 * KL_CONFIG_LOOKS)

/* Why an engine that explains itself did not decide a partition. */
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
	const struct kl_engine *engine;	/* that gave the answer */
	uint64_t work;		/* looks of all engines that were asked in the last pass */
	bool stopped;		/* UNKNOWN only as kl_options.work ended */
	bool starved;		/* UNKNOWN because the process may have no more memory */
	bool explained;		/* an order was found; UNKNOWN only because of gaps */
	bool suspected;		/* a violation; UNKNOWN only as calls may have passed unseen */
	struct kl_declined *declined;	/* why engines did not decide it, by rank; most have none */
	bool sc_violation;	/* LINEARIZABLE on TSO only: no order without the store buffer */
	const uint32_t *ops;	/* indices in the history; NULL: all, see kl_result_op() */
	struct kl_counterexample *cex;	/* of the first violations, or NULL */
};

/* The operation of the history that an item is; KL_NO_OP: a gap's begin or end. */
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
	uint32_t *ops;		/* of all partitions */
	size_t count[3];	/* partitions of each verdict */
	size_t sc_violations;	/* partitions that only the store buffer explains */
	size_t suspected;	/* UNKNOWN partitions that are violations if all calls were seen */
	bool classical;		/* decided on sequential consistency, see kl_options */
	enum kl_memory_by memory_by;
	double seconds;		/* in all */
	double shrink_seconds;	/* of these, making counterexamples */
};

/**
 * kl_check() - decide a history
 * @spec: the specification
 * @h: the history; its methods are matched by name
 * @opt: how
 * @out: the verdict of each partition and of the whole
 *
 * Return: 0; -EINVAL after a message when history and spec do not fit; -ENOMEM.
 */
int kl_check(const struct kl_spec *spec, const struct kl_history *h,
	     const struct kl_options *opt, struct kl_report **out);
void kl_report_free(struct kl_report *r);

/* A violation made small: a history of its own, and where it came from. */
struct kl_counterexample {
	struct kl_history *h;	/* operations kept, in order; gap over what was cut before */
	uint32_t *ops;		/* index in the original history, for each kept operation */
	size_t dropped;		/* operations left out because they leave no trace */
	bool copies;		/* or as others took away what they added, see kl_count_kept() */
	bool forgot;		/* operations that ended by @cut were left out */
	uint64_t cut;
	uint64_t end;		/* return time of the operation that nothing explains */
	enum kl_verdict oracle;	/* KL_VIOLATION, or KL_UNKNOWN when too large for it */
	struct kl_answer answer;	/* of the engine, on @h: longest order, failing event */
	bool tso;
	uint64_t work;		/* looks that making it took, but for the oracle's */
	enum kl_shrink_end {
		KL_SHRINK_DONE,
		KL_SHRINK_WORK,	/* its bound of work ended first, */
		KL_SHRINK_TIME,	/* or the time, or there was an interrupt */
	} ended;
};

/**
 * kl_shrink() - a small violation inside a violating partition
 * @p: the partition
 * @engine: the engine that found it, also used for each trial
 * @oracle: the brute-force engine that confirms the result
 * @fail_event: index of the return event that nothing explains
 * @from_event: also if all that returned before that event is forgotten; or 0
 * @lim: bounds of each trial
 * @decision: looks that finding it took; so many times over may be taken, and a constant
 * @out: the counterexample
 *
 * Only steps that cannot invent a violation are taken: end at the failing
 * return; forget all that ended before a point in time (the state is unknown
 * until then, as in a gap); leave out operations that leave no trace, and of copies
 * of one word as many additions as removals.
 * After so much work, which is counted, the smallest one so far is taken.
 *
 * Return: 0, -ENOMEM, -EINVAL when the engine does not confirm the violation,
 * -EBADMSG when the oracle finds an order of what is left.
 */
int kl_shrink(const struct kl_part *p, const struct kl_engine *engine,
	      const struct kl_engine *oracle, uint32_t fail_event, uint32_t from_event,
	      const struct kl_limits *lim, uint64_t decision, struct kl_counterexample **out);
void kl_counterexample_free(struct kl_counterexample *c);

/**
 * kl_violation_near() - is what is around an event a violation, whatever was before?
 * @p: the partition
 * @engine: the engine to ask
 * @event: an event that some engine did not come past
 * @lim: bounds; work is bounded in any case
 * @looks: gets the looks that it took, or NULL
 *
 * The same steps as those of kl_shrink(): what is forgotten cannot invent a violation.
 *
 * Return: 1: it is, and so is the partition; 0: not known; -ENOMEM.
 */
int kl_violation_near(const struct kl_part *p, const struct kl_engine *engine, uint32_t event,
		      const struct kl_limits *lim, uint64_t *looks);

#endif
