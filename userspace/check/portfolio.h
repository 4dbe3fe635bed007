/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deciding a partition by several engines.  They have turns, with more work in each round, so that
 * no history is slow because the wrong engine was asked first.
 */
#ifndef KL_CHECK_PORTFOLIO_H
#define KL_CHECK_PORTFOLIO_H

#include "check/check.h"
#include "check/general/spec_stepper.h"
#include "check/split.h"

/* A history to be decided, and the options. */
struct kl_job {
	const struct kl_spec *spec;
	const struct kl_history *h;
	const struct kl_options *opt;
	const struct kl_engine *const *engines;	/* see kl_options */
	const int *map;		/* spec method for each method of the history */
	struct kl_limits lim;
};

/* The state of a thread, which decides one partition at a time. */
struct kl_work {
	const struct kl_job *j;
	const struct kl_split *s;
	size_t k;		/* index of the partition */
	uint64_t most;		/* bound of looks for the partition; 0: no bound */
	uint64_t left;		/* looks that were left at the begin of the round */
	struct kl_run *run;
	struct kl_memo_room room;
	/* The laid-out partition; @ptso only if an engine with store buffers is asked. */
	struct kl_part p, ptso;
	bool have_p, have_ptso;	/* valid for partition @k; else only their memory is used */
	/*
	 * The item whose return some engine did not come past in earlier rounds.  It is constant in
	 * a round, so that engines in parallel use the same item as in turn.
	 */
	uint32_t near;
	uint32_t next_near;	/* @near for the next round */
	/* the last item around which engines without [0] and with [1] store buffers were asked */
	uint32_t looked[2];
};

/**
 * kl_work_init() - make the state of a thread
 * @w: filled
 * @j: the job
 * @s: its partitions
 *
 * Return: 0, -ENOMEM.
 */
int kl_work_init(struct kl_work *w, const struct kl_job *j, const struct kl_split *s);
void kl_work_free(struct kl_work *w);

/**
 * kl_work_lay_out() - lay a partition out
 * @j: the job
 * @s: its partitions
 * @k: its index
 * @tso: for engines with store buffers
 * @p: zero, or a partition whose memory is used again; kl_part_free() it
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_work_lay_out(const struct kl_job *j, const struct kl_split *s, size_t k, bool tso,
		    struct kl_part *p);

/**
 * kl_work_decide() - decide a partition
 * @w: the state of the thread
 * @k: the partition
 * @r: gets the answer and its engine
 * @used: gets the laid-out partition of that engine; NULL if the engine used the history
 *
 * Work is counted, not timed.  In a race, the first engine in order that has an answer wins.  So
 * the same history always has the same answer.
 *
 * Return: 0, -ENOMEM.
 */
int kl_work_decide(struct kl_work *w, size_t k, struct kl_part_result *r,
		   const struct kl_part **used);

#endif
