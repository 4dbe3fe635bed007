/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which engine decides a partition: all that may, in turn, with more work in each round, so
 * that no history is slow because the wrong one was asked first.
 */
#ifndef KL_CHECK_PORTFOLIO_H
#define KL_CHECK_PORTFOLIO_H

#include "check/check.h"
#include "check/general/spec_stepper.h"
#include "check/split.h"

/* A history that is to be decided, and how. */
struct kl_job {
	const struct kl_spec *spec;
	const struct kl_history *h;
	const struct kl_options *opt;
	const struct kl_engine *const *engines;	/* see kl_options */
	const int *map;		/* spec method for each method of the history */
	struct kl_limits lim;
};

/* One thread's, for a partition at a time. */
struct kl_work {
	const struct kl_job *j;
	const struct kl_split *s;
	size_t k;		/* the partition, */
	uint64_t most;		/* and looks that may be taken for it; 0: as many as it takes */
	uint64_t left;		/* of these when the round began */
	struct kl_run *run;
	struct kl_memo_room room;
	/* As it is checked; laid out for TSO only if it comes to that. */
	struct kl_part p, ptso;
	bool have_p, have_ptso;	/* laid out for partition @k; if not, room to use again */
	/*
	 * Item whose return some engine did not come past in the rounds before; so in a round
	 * the engines know the same, beside each other or in turn.
	 */
	uint32_t near;
	uint32_t next_near;	/* the same in this round */
	uint32_t looked[2];	/* and the last one around which one of each kind looked */
};

/**
 * kl_work_init() - make what a thread needs
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
 * @k: which
 * @tso: for engines that know store buffers
 * @p: zero, or one to use again; kl_part_free() it
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_work_lay_out(const struct kl_job *j, const struct kl_split *s, size_t k, bool tso,
		    struct kl_part *p);

/**
 * kl_work_decide() - decide a partition
 * @w: the thread's
 * @k: the partition
 * @r: gets the answer, and whose it is
 * @used: the partition as the engine that gave it had it; NULL: of the history's operations
 *
 * Work is counted, not timed, and of engines beside each other the first in order is taken
 * that has an answer: so the same history always has the same answer.
 *
 * Return: 0, -ENOMEM.
 */
int kl_work_decide(struct kl_work *w, size_t k, struct kl_part_result *r,
		   const struct kl_part **used);

#endif
