/* SPDX-License-Identifier: GPL-2.0 */
/* The state of the frontier engine, which its files share; see frontier.c. */
#ifndef KL_CHECK_GENERAL_FRONTIER_INTERNAL_H
#define KL_CHECK_GENERAL_FRONTIER_INTERNAL_H

#include "check/general/configs.h"
#include "check/general/spec_stepper.h"

#define NO_NODE		UINT32_MAX
#define NO_TWIN		UINT32_MAX
#define LEFT_ENTRY	(1u << 31)	/* the step left an entry in a store buffer */
#define OVERWRITE	(1u << 30)	/* the step overwrote the whole state */
#define DROPPED		(1u << 29)	/* before the step, all entries that could leave had left */
#define FLAGS		(LEFT_ENTRY | OVERWRITE | DROPPED)

/* A step of an order.  A configuration has the node of its last step. */
struct node {
	/* the node of the step before, or NO_NODE; an item, or p->nitems + a move, with flags */
	uint32_t parent, item;
	uint32_t ev;		/* the event at which the step was made */
};

/* An open operation. */
struct frontier_open {
	uint32_t item, sig, slot, ret_ev;
	/* slot of the open operation with an equal signature that returns just before */
	uint32_t twin;
	bool free;		/* it changes nothing */
	bool over;		/* it overwrites the whole state */
	bool eager;		/* it takes effect at once, KL_EARLY */
	bool has_preds;
};

/* A mark: the configurations before an event, to which a beam can go back; see frontier_back.c. */
struct mark {
	bool used, cut;
	uint32_t now, nopen;
	struct kl_config_set cur;
	struct frontier_open *open;
	/* masks of free operations, and after them masks of overwrites */
	uint64_t *free;
	size_t copen, nnodes;
};

#define MARKS	32

struct frontier {
	const struct kl_part *p;
	struct kl_system *sys;
	const struct kl_memo *memo;	/* of steps, or NULL */
	struct kl_budget *budget;
	struct kl_configs c;
	/*
	 * @cur: the configurations before the current event.  @next: those that satisfy it.  @seen:
	 * those on the way from @cur to @next.
	 */
	struct kl_config_set cur, next, seen;
	uint64_t *tmp;			/* one record */
	struct node *nodes;		/* or NULL if no order is wanted */
	/* @most_nodes: number of nodes from which on those that no order needs are dropped */
	size_t nnodes, cnodes, most_nodes;
	uint32_t *moves;		/* copy of a state's moves */
	uint32_t *succ;			/* successors of a step */
	size_t cmoves, csucc;
	struct frontier_open *open;
	uint32_t *place;		/* slot -> index in open */
	uint64_t *is_pred;		/* bit set of items that are predecessors */
	uint32_t nopen;
	uint32_t now;			/* index of the current event */
	size_t at;			/* index in @seen of the current configuration */
	bool no_nodes;
	bool cut;			/* configurations were given up to keep the width */
	size_t width;			/* current width of a beam, or 0 */
	struct mark mark[MARKS];
	uint32_t trouble, tries;	/* event at which the beam last got stuck, and how often */
};

/**
 * kl_frontier_order() - find the longest order of the current configurations
 * @f: the run
 * @end: number of events that the order explains
 * @a: gets the steps
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_order(struct frontier *f, uint32_t end, struct kl_answer *a);

/*
 * If there are many nodes, drop those that no configuration's order needs.  Return: 0 or -ENOMEM.
 */
int kl_frontier_sweep(struct frontier *f);

/**
 * kl_frontier_narrow() - keep only the most promising of the next configurations
 * @f: the run, which satisfies an event
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_narrow(struct frontier *f);

/**
 * kl_frontier_mark() - remember the configurations before an event, now and then
 * @f: the run; if it is not a beam, nothing happens
 *
 * Return: 0 or -ENOMEM.
 */
int kl_frontier_mark(struct frontier *f);
/*
 * Go back with a greater width, because no configuration goes on at f->now.
 *
 * Return: 0, 1 if no configuration was given up or no tries are left, -ENOMEM.
 */
int kl_frontier_back(struct frontier *f);
/* Return to the former width when the difficult event is far behind. */
void kl_frontier_past(struct frontier *f);
void kl_frontier_marks_free(struct frontier *f);
/* The sets of configurations that the run may still need, by numbers from 0 to MARKS. */
struct kl_config_set *kl_frontier_set(struct frontier *f, unsigned int i);

/**
 * kl_frontier_doomed() - find out that a configuration cannot go on
 * @f: the run, with kl_system.supply
 * @rec: the configuration
 * @before: the state from which a step led to it
 * @sig: the signature of that step's operation
 *
 * Return: 1 if it cannot, 0 if it perhaps can, -ENOMEM.
 */
int kl_frontier_doomed(struct frontier *f, const uint64_t *rec, uint32_t before, uint32_t sig);
/* Count an operation among the open ones from its call to its return. */
void kl_supply_open(struct kl_supply *s, uint32_t sig, uint32_t slot, bool open);
/* Count the open operations again after f->now went back. */
void kl_supply_back(struct frontier *f);
/* Return: the number of words that open operations need, beyond those that open ones make. */
uint64_t kl_frontier_debt(struct frontier *f, const uint64_t *rec);

#endif
