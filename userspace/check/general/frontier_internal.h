/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the frontier engine share; see frontier.c. */
#ifndef KL_CHECK_GENERAL_FRONTIER_INTERNAL_H
#define KL_CHECK_GENERAL_FRONTIER_INTERNAL_H

#include "check/general/configs.h"
#include "check/general/spec_stepper.h"

#define NO_NODE		UINT32_MAX
#define NO_TWIN		UINT32_MAX
#define LEFT_ENTRY	(1u << 31)	/* the step left an entry in a store buffer */
#define OVERWRITE	(1u << 30)	/* the step left nothing of the state before */
#define DROPPED		(1u << 29)	/* before the step, entries that could have left had left */
#define FLAGS		(LEFT_ENTRY | OVERWRITE | DROPPED)

/* How a configuration came about: the last step of its order, and at which event. */
struct node {
	uint32_t parent, item;	/* item from p->nitems on: a move; flags may be set */
	uint32_t ev;
};

/* An operation that was called and has not returned. */
struct open {
	uint32_t item, shape, slot, ret_ev;
	uint32_t twin;		/* slot of the one of equal shape that returns just before it */
	bool free;		/* changes nothing */
	bool over;		/* leaves nothing of what was before */
	bool eager;		/* takes effect at once, KL_EAGER */
	bool has_preds;
};

/* Where a beam can go back to: what there was before an event; see frontier_back.c. */
struct mark {
	bool used, cut;
	uint32_t now, nopen;
	struct kl_config_set cur;
	struct open *open;
	uint64_t *free;			/* masks, and behind them those of overwrites */
	size_t copen, nnodes;
};

#define MARKS	32

struct frontier {
	const struct kl_part *p;
	struct kl_system *sys;
	const struct kl_memo *memo;	/* of steps, or NULL */
	struct kl_budget *budget;
	struct kl_configs c;
	struct kl_config_set cur, next, seen;
	uint64_t *tmp;			/* one record */
	struct node *nodes;		/* NULL: no order is wanted */
	size_t nnodes, cnodes, most_nodes;	/* and when to look which are needed */
	uint32_t *moves;		/* copy of a state's */
	uint32_t *succ;			/* of a step */
	size_t cmoves, csucc;
	struct open *open;
	uint32_t *place;		/* slot -> index in open */
	uint64_t *is_pred;		/* bitset of items that another one has to wait for */
	uint32_t nopen;
	uint32_t now;			/* index of the event */
	size_t at;			/* configuration of seen that is looked at */
	bool no_nodes;
	bool cut;			/* configurations were given up for the width */
	size_t width;			/* of a beam, now; or 0 */
	struct mark mark[MARKS];
	uint32_t trouble, tries;	/* where it did not go on, at last, and how often */
};

/**
 * kl_frontier_order() - the longest order among the current configurations
 * @f: the run
 * @end: events that it explains
 * @a: where its steps go
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_order(struct frontier *f, uint32_t end, struct kl_answer *a);

/* Forget the nodes of orders that nothing follows from.  0 or -ENOMEM. */
int kl_frontier_sweep(struct frontier *f);

/**
 * kl_frontier_narrow() - keep only the most promising of the next configurations
 * @f: the run, which satisfies an event
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_narrow(struct frontier *f);

/**
 * kl_frontier_mark() - remember the configurations before an event, once in a while
 * @f: the run; nothing happens if it is no beam
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_mark(struct frontier *f);
/* None goes on at f->now: go back, and keep more from there.  1: it was tried often enough. */
int kl_frontier_back(struct frontier *f);
/* Keep as much as before when the place that was not passed is far behind. */
void kl_frontier_past(struct frontier *f);
void kl_frontier_marks_free(struct frontier *f);
/* The configurations that the run may need, numbers 0 to MARKS. */
struct kl_config_set *kl_frontier_set(struct frontier *f, unsigned int i);

/**
 * kl_frontier_doomed() - is there no way on from a configuration?
 * @f: the run, with kl_system.supply
 * @rec: the configuration
 * @before: the state from which a step led to it
 * @shape: of what took that step
 *
 * Return: 1; 0: there may be a way; -ENOMEM.
 */
int kl_frontier_doomed(struct frontier *f, const uint64_t *rec, uint32_t before, uint32_t shape);
/* One that is open, or no longer; and time goes back. */
void kl_supply_open(struct kl_supply *s, uint32_t shape, uint32_t slot, bool open);
void kl_supply_back(struct frontier *f);
/* How much open operations need that none of those that are open makes. */
uint64_t kl_frontier_debt(struct frontier *f, const uint64_t *rec);

#endif
