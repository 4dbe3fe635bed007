/* SPDX-License-Identifier: GPL-2.0 */
/* Engines, which decide a partition of a history; their answers; and the list of engines. */
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

/* The progress of a check, which another thread may read at any time. */
struct kl_progress {
	volatile uint64_t done;		/* operations of finished partitions */
	volatile uint64_t now;		/* operations placed in the current partition */
};

/*
 * All engines count their work in looks.  A look is a step of some nanoseconds, such as reading
 * a table entry, so that equal numbers of looks take similar times in all engines.  The number of
 * looks for a decision is the same on every machine.  A configuration takes from some tens of looks
 * to some thousands, where very many operations overlap.  KL_CONFIG_LOOKS is a typical number.
 */
#define KL_CONFIG_LOOKS	256

struct kl_looks {
	const struct kl_limits *lim;
	uint64_t n;		/* looks so far */
	uint64_t most;		/* a bound besides those of @lim, or 0 */
	char reason[160];	/* the reason when a bound is reached */
};

/**
 * kl_look() - count looks
 * @l: the counter
 * @more: number of looks to add
 *
 * Return: 0, or -E2BIG when a bound of work or time is reached; time is checked now and then.
 */
int kl_look(struct kl_looks *l, uint64_t more);

/* Return: the number of looks that are left, at least 1; 0 if there is no bound. */
uint64_t kl_looks_left(const struct kl_looks *l);
/* The callback @over of kl_run_set_bound(): kl_time_over() for @looks, a struct kl_looks. */
bool kl_looks_over(void *looks);

/*
 * A step of a witness: an item of the partition takes effect, or (TSO) its entry in the store
 * buffer reaches memory.
 */
enum kl_step_flags {
	KL_STEP_FLUSH		= 1,	/* the item's entry reaches memory */
	KL_STEP_BUFFERED	= 2,	/* the item takes effect and leaves an entry */
};

struct kl_step {
	uint32_t item : 30;
	uint32_t flags : 2;
};

/* An engine's answer about a partition. */
struct kl_answer {
	enum kl_verdict verdict;
	/* the reason of UNKNOWN; of VIOLATION, if the engine knows one */
	char reason[160];
	enum kl_bound bound;		/* UNKNOWN: what ended the run, if a bound did */
	bool lost;			/* UNKNOWN because of KL_LOST_REASON */
	uint64_t progress;		/* UNKNOWN: number of operations that were placed */
	const char *engine;
	struct kl_step *steps;		/* LINEARIZABLE: a witness; VIOLATION: a longest order */
	size_t nsteps;
	/*
	 * VIOLATION: the index of the return that nothing explains.  UNKNOWN by kl_limits.work: the
	 * index of a return that no order came past, or 0.
	 */
	uint32_t fail_event;
	/* VIOLATION: an event; operations that returned before it do not matter */
	uint32_t from_event;
	/* VIOLATION: operations that are a violation without all others, see kl_may_omit() */
	uint32_t *core;
	size_t ncore;			/* 0 if the engine gives no core */
	uint32_t ngaps;			/* LINEARIZABLE by decide_ops: number of gaps in @steps */
	uint64_t configs;		/* number of configurations, or of an engine's equivalent */
	uint64_t work;			/* number of looks */
	uint64_t bytes;			/* peak memory in bytes */
};

void kl_answer_free(struct kl_answer *a);

/* Return: true if the answer is UNKNOWN only because of kl_limits.work or .cap. */
static inline bool kl_wants_work(const struct kl_answer *a)
{
	return a->bound == KL_BOUND_WORK;
}

/*
 * The reason of UNKNOWN if an order exists, but klin dropped knowledge about unknown values, see
 * kl_state_lost().
 */
#define KL_LOST_REASON	"an order exists, but klin could not keep all that it implies for " \
			"unknown values: perhaps no values allow it"

/**
 * struct kl_engine - a way to decide one partition
 * @name: for --engine
 * @help: what it decides and what it is good for, at most a line
 * @rank: engines with a lower rank are asked earlier; ranks differ; 0: asked only when named
 * @tso: decides histories on store buffers
 * @general: decides any spec that needs no store buffer, on any laid-out part of a history; it
 *	confirms and shrinks violations that other engines found (one engine)
 * @oracle: brute force, which confirms counterexamples (one engine with @tso, one without)
 * @whole: needs no partition by key where others do
 * @by_object: splits by object only, if not told otherwise
 * @cached: obeys kl_limits.cache
 * @near: first asked about only the events around a return that no order came past
 * @no_trials: the general engine shrinks this engine's violations
 * @explains: the user sees its reason for not deciding
 * @decide: fills @answer; UNKNOWN with a reason when it declines or meets a
 *	bound.  Returns 0 or -ENOMEM.
 * @decide_ops: in place of @decide, for operations that are not laid out.  A violation has a core.
 *	Items are indices in the slice, and then the ends of gaps.
 *
 * An engine is one file, which ends with KL_ENGINE().
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
 * Register the engine @symbol.  The Makefile finds engines by the word KL_ENGINE.  The section is
 * not called kl_engines, since the assembler would confuse it with the function.
 */
#define KL_ENGINE(symbol)								\
	static const struct kl_engine *const kl_registered_##symbol			\
	__attribute__((used, section("kl_engine_list"))) = &symbol

/**
 * kl_engines() - list the engines that are asked, one after the other
 *
 * Return: an array, by rank; NULL ends it.
 */
const struct kl_engine *const *kl_engines(void);

/* All engines by rank, and then engines that are asked only when named; NULL ends the array. */
const struct kl_engine *const *kl_engines_all(void);

/* The engine with this name, or NULL. */
const struct kl_engine *kl_engine_find(const char *name);

/* The general engine, and the oracle with (@tso) or without store buffers. */
const struct kl_engine *kl_engine_general(void);
const struct kl_engine *kl_engine_oracle(bool tso);

/**
 * kl_decide_history() - let one engine decide a history as one partition
 * @spec: the specification, with all of the history's methods
 * @h: the history, finished
 * @e: the engine
 * @lim: bounds
 * @a: the answer; kl_answer_free() it
 * @fail: gets the return event that nothing explains, if @e laid out the history and found
 *	a violation; or NULL
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_decide_history(const struct kl_spec *spec, const struct kl_history *h,
		      const struct kl_engine *e, const struct kl_limits *lim,
		      struct kl_answer *a, struct kl_event *fail);

#endif
