/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deciding a history against a specification.
 *
 * A history is split into partitions (Horn & Kroening, Theorem 1); each is
 * given to the engines in turn until one decides it; a violation is shrunk to a
 * small history of its own.  Nothing here knows where a history came from.
 */
#ifndef KL_CHECK_H
#define KL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/limits.h"
#include "check/part.h"
#include "history/history.h"
#include "spec/spec.h"

enum kl_verdict { KL_LINEARIZABLE, KL_VIOLATION, KL_UNKNOWN };

const char *kl_verdict_name(enum kl_verdict v);

/* How far a check has come; to be read at any time by another thread. */
struct kl_progress {
	volatile uint64_t done;		/* operations of finished partitions */
	volatile uint64_t now;		/* and of one that is not */
};

/*
 * All engines count their work in looks at anything, each of some nanoseconds, so that as
 * many looks are as long for each of them, and the same on every machine.  A configuration
 * takes from some tens of them to some thousands, where very many operations overlap: about
 * so many.
 */
#define KL_CONFIG_LOOKS	256

struct kl_looks {
	const struct kl_limits *lim;
	uint64_t n;
	uint64_t most;		/* whatever @lim says; 0: as it says */
	char reason[160];	/* why there may be no more */
};

/**
 * kl_look() - count looks
 * @l: those so far
 * @more: how many more
 *
 * Return: 0; -E2BIG when that is too much, or (looked at now and then) the time over.
 */
int kl_look(struct kl_looks *l, uint64_t more);

/*
 * A step of a witness: an item of the partition takes effect, or (TSO) the
 * entry that it left in the store buffer reaches memory.
 */
enum kl_step_flags {
	KL_STEP_FLUSH		= 1,	/* the item's entry reaches memory */
	KL_STEP_BUFFERED	= 2,	/* the item takes effect and leaves an entry */
};

struct kl_step {
	uint32_t item : 30;
	uint32_t flags : 2;
};

/* What an engine says of a partition. */
struct kl_answer {
	enum kl_verdict verdict;
	char reason[160];		/* of UNKNOWN; of VIOLATION, if an engine can tell */
	bool more_work;			/* UNKNOWN only for kl_limits.work or .cap */
	bool lost;			/* UNKNOWN for KL_LOST_REASON */
	uint64_t progress;		/* UNKNOWN: operations placed */
	const char *engine;
	struct kl_step *steps;		/* LINEARIZABLE: a witness; VIOLATION: a longest order */
	size_t nsteps;
	/*
	 * VIOLATION: index of the return that nothing explains; UNKNOWN for kl_limits.work:
	 * of one that no order came past, or 0.
	 */
	uint32_t fail_event;
	uint32_t from_event;		/* also if all that returned before this one is forgotten */
	uint32_t *core;			/* VIOLATION: operations of the history, wrong by themselves, */
	size_t ncore;			/* see kl_leaves_no_trace(); 0: not looked for */
	uint32_t ngaps;			/* LINEARIZABLE, of decide_ops: gaps in @steps */
	uint64_t configs;		/* configurations looked at, or what an engine has for them */
	uint64_t work;			/* looks */
	uint64_t bytes;			/* peak */
};

void kl_answer_free(struct kl_answer *a);

/* UNKNOWN: an order fits as far as is kept of unknown values, see kl_state_lost(). */
#define KL_LOST_REASON	"an order fits, but what it tells of values that are not known is not " \
			"all kept: perhaps no first state allows it"

/**
 * struct kl_engine - a way to decide one partition
 * @name: for --engine
 * @tso: knows store buffers
 * @decide: fills @answer; UNKNOWN with a reason when it declines or meets a
 *	bound.  Returns 0 or -ENOMEM.
 * @decide_ops: the same, of operations that are not laid out, in place of @decide; a
 *	violation has a core, and items are their places in the slice, then the ends of gaps
 */
struct kl_engine {
	const char *name;
	bool tso;
	int (*decide)(const struct kl_part *p, const struct kl_limits *lim,
		      struct kl_answer *answer);
	int (*decide_ops)(const struct kl_slice *s, const struct kl_limits *lim,
			  struct kl_answer *answer);
};

extern const struct kl_engine kl_wgl_engine, kl_dfs_engine, kl_frontier_engine,
			      kl_oracle_engine, kl_mono_engine, kl_points_engine,
			      kl_fifo_engine, kl_lifo_engine, kl_beam_engine, kl_ends_engine;

/* Those that know no store buffers, in the order in which they are asked. */
#define KL_CLASSICAL_ENGINES \
	&kl_mono_engine, &kl_points_engine, &kl_ends_engine, &kl_fifo_engine, \
	&kl_frontier_engine, &kl_lifo_engine, &kl_dfs_engine, &kl_beam_engine

/**
 * kl_decide_history() - ask one engine about a history as one partition
 * @spec: the specification, with all of the history's methods
 * @h: the history, finished
 * @e: the engine
 * @lim: bounds
 * @a: the answer; kl_answer_free() it
 * @fail: of a violation, the return that nothing explains; or NULL
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_decide_history(const struct kl_spec *spec, const struct kl_history *h,
		      const struct kl_engine *e, const struct kl_limits *lim,
		      struct kl_answer *a, struct kl_event *fail);

/* Who says on which memory model a history is decided. */
enum kl_memory_by {
	KL_MEMORY_BY_HISTORY,	/* itself, or what it is by default */
	KL_MEMORY_BY_COMMAND,	/* the command line */
	KL_MEMORY_BY_ENGINE,	/* one that is asked for, and needs store buffers */
};

struct kl_options {
	/*
	 * Tried in this order until one is not UNKNOWN; NULL ends it.  If the
	 * spec delays writes, a VIOLATION by an engine that does not know store
	 * buffers only passes the partition on to the first one that does.
	 */
	const struct kl_engine *const *engines;
	bool classical;		/* take a violation on sequential consistency as final */
	enum kl_memory_by memory_by;	/* who says so */
	bool no_partition;	/* by object only */
	bool no_witness;	/* no certificate will be written */
	uint32_t cache;		/* see kl_limits */
	struct kl_progress *progress;
	unsigned int max_shrink;	/* counterexamples for so many partitions */
	const struct kl_engine *tso_oracle;	/* confirms those of engines that know TSO */
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
	/*
	 * Why the log-linear monitors, and the engine `ends', did not decide it, or NULL.
	 * Nearly all partitions of a history of a million objects have neither.
	 */
	char *declined[2];
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
