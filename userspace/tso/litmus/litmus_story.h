/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of an outcome of a litmus test: a run to it, why no run without store buffers has it,
 * and which fences forbid it.
 *
 *	P0: x = 1; EAX = y	P1: y = 1; EAX = x	both loads see 0
 *
 * The run's stores and loads are in a cycle of program order (po), "the load read this store" (rf),
 * "the store reached memory before" (co) and "the load read what was there before the store" (fr).
 * Without store buffers each of these goes forward in time, so no such run has the same loads.
 */
#ifndef KL_TSO_LITMUS_LITMUS_STORY_H
#define KL_TSO_LITMUS_LITMUS_STORY_H

#include "tso/litmus/litmus.h"

#define KL_LIT_ORDERS	4

enum kl_lit_kind {
	KL_LIT_LOAD,
	KL_LIT_STORE,
	KL_LIT_LOCKED,		/* a locked instruction: a load and a store, or only a load */
	KL_LIT_FENCE,
	KL_LIT_FLUSH,		/* a store leaves the buffer */
};

/* A step of the run. */
struct kl_lit_step {
	enum kl_lit_kind kind;
	unsigned int thread, loc;
	bool own;		/* the load read a store in the thread's own buffer */
	bool stores;		/* a locked instruction stores */
	uint64_t loaded, stored;
	size_t cell;		/* place of the instruction in the text */
	size_t from;		/* the store that was loaded, or that leaves; 0: the first state */
	size_t left;		/* of a store: the step at which it reaches memory */
};

enum kl_lit_edge { KL_LIT_PO, KL_LIT_RF, KL_LIT_CO, KL_LIT_FR };

struct kl_lit_link {
	size_t from, to;	/* numbers of steps */
	enum kl_lit_edge edge;
};

struct kl_lit_story {
	struct kl_litmus *l;	/* the test, with the condition of the story */
	bool holds;		/* the outcome is one where the condition holds, or does not */
	bool asked;		/* the condition is not the test's */
	bool sc;		/* the run has no store buffers */
	bool reached;		/* there is such an outcome, and a run */
	bool with_buffers;	/* not reached on SC, but with store buffers */
	/* numbers of states: of all runs without store buffers, and of the search for the run */
	uint64_t sc_states, states;
	uint64_t outcome[KL_LIT_ITEMS];
	struct kl_lit_step *steps;	/* the first step has number 1 */
	size_t nsteps, csteps;		/* @nsteps: number of the last step plus 1 */
	struct kl_lit_link *cycle;
	size_t ncycle;
	/*
	 * Fences before these instructions, or locks of them, forbid the outcome, and all of them
	 * are needed; or none are known.
	 */
	struct kl_lit_place more[KL_LIT_BARRIERS];
	size_t nmore;
	/* Fences or locks without which an outcome that is not reached would be reached. */
	struct kl_lit_place vital[KL_LIT_BARRIERS];
	size_t nvital;
	bool unknown;		/* not all of them are known */
	/*
	 * If there are none: pairs of loads and stores, one after the other, whose order forbids
	 * the outcome.  With a pair swapped, a run has the outcome.
	 */
	struct kl_lit_place order[KL_LIT_ORDERS][2];
	size_t norders;
	/*
	 * If there are none either: there is one final state, and each thread ends with the same
	 * registers when it runs alone.
	 */
	bool alone;
	char why[400];		/* why there is no story, after a search that is incomplete */
};

/**
 * kl_litmus_tell() - tell the story of an outcome
 * @path: name of the test's file, for messages
 * @text: its text
 * @condition: the outcome to explain, or NULL for that which the test's condition is about: a final
 *	state where it holds, or for `forall' where it does not hold
 * @o: options of the search
 * @out: gets the story; kl_lit_story_free() it, also after an error
 *
 * Return: as kl_litmus_run(), with (*out)->why; -EINVAL after a message, also about @condition.
 */
int kl_litmus_tell(const char *path, const char *text, const char *condition,
		   const struct kl_litmus_options *o, struct kl_lit_story **out);
void kl_lit_story_free(struct kl_lit_story *s);
/* Return: true if the step is a store that was in the buffer while its thread made step @load. */
static inline bool kl_lit_waited(const struct kl_lit_story *s, size_t store, size_t load)
{
	return s->steps[store].kind == KL_LIT_STORE && s->steps[load].kind == KL_LIT_LOAD &&
	       s->steps[store].thread == s->steps[load].thread && store < load &&
	       s->steps[store].left > load;
}
/* Return: the store of the instruction that made step @load and is not locked, or 0. */
size_t kl_lit_stores_after(const struct kl_lit_story *s, size_t load);
/* Get the instruction at @at in the text.  Return: its length. */
size_t kl_lit_instruction(const struct kl_litmus *l, size_t at, const char **text);
/* Return: the line of the place @at in the text. */
unsigned int kl_lit_line(const struct kl_litmus *l, size_t at);

/* litmus_steps.c: make the steps of the run in @path.  Return: 0, -ENOMEM, -ESTALE. */
int kl_lit_make_steps(struct kl_lit_story *s, const struct kl_lit_path *path,
		      const struct kl_litmus_options *o);
/* litmus_cycle.c: find a shortest cycle, if there is one.  Return: 0 or -ENOMEM. */
int kl_lit_find_cycle(struct kl_lit_story *s);

#endif
