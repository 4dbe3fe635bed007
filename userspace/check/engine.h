/* SPDX-License-Identifier: GPL-2.0 */
/* What decides one partition of a history: an engine, its answer, and the list of engines. */
#ifndef KL_CHECK_ENGINE_H
#define KL_CHECK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/budget.h"
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

/* For kl_run_set_bound(): looks that there may still be, at least one; 0: there is no bound. */
uint64_t kl_looks_left(const struct kl_looks *l);
/* The same: is the time over?  Of a struct kl_looks. */
bool kl_looks_over(void *looks);

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
 * @help: what it decides and what it is good for, at most a line
 * @rank: engines of a lower rank are asked earlier, each has its own; 0: only when named
 * @tso: knows store buffers
 * @general: decides any spec that needs no store buffer, from any laid-out part of a history:
 *	confirms what others found, and makes it smaller (one engine)
 * @oracle: brute force, which confirms counterexamples (one engine with @tso, one without)
 * @whole: needs no partition by key where others do
 * @by_object: splits by object only, if not told otherwise
 * @cached: obeys kl_limits.cache
 * @near: worth asking about the events around one that no order came past
 * @no_trials: a violation is made smaller by the general engine
 * @explains: its reason for not deciding is told to the user
 * @decide: fills @answer; UNKNOWN with a reason when it declines or meets a
 *	bound.  Returns 0 or -ENOMEM.
 * @decide_ops: the same, of operations that are not laid out, in place of @decide; a
 *	violation has a core, and items are their places in the slice, then the ends of gaps
 *
 * An engine is one file, which registers it by KL_ENGINE().
 */
struct kl_engine {
	const char *name, *help;
	unsigned int rank;
	bool tso, general, oracle, whole, by_object, cached, near, no_trials, explains;
	int (*decide)(const struct kl_part *p, const struct kl_limits *lim,
		      struct kl_answer *answer);
	int (*decide_ops)(const struct kl_slice *s, const struct kl_limits *lim,
			  struct kl_answer *answer);
};

/*
 * Have the engine @symbol in the registry; the Makefile looks for this word, too.
 * The section is not called as kl_engines() is: the assembler would take one for the other.
 */
#define KL_ENGINE(symbol)								\
	static const struct kl_engine *const kl_registered_##symbol			\
	__attribute__((used, section("kl_engine_list"))) = &symbol

/**
 * kl_engines() - the engines that are asked, one after the other
 *
 * Return: an array, by rank; NULL ends it.
 */
const struct kl_engine *const *kl_engines(void);

/* All engines by rank, then those that are asked only when named; NULL ends it. */
const struct kl_engine *const *kl_engines_all(void);

/* The engine of that name, NULL if there is none. */
const struct kl_engine *kl_engine_find(const char *name);

/* The general engine, and the oracle that knows store buffers (@tso) or not. */
const struct kl_engine *kl_engine_general(void);
const struct kl_engine *kl_engine_oracle(bool tso);

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

#endif
