/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A partition laid out for the engines.  Its operations are items, and their calls and returns are
 * one array of events in order.  Lists of predecessors have the order that events do not show, such
 * as program order inside the clock's error.
 */
#ifndef KL_CHECK_PART_H
#define KL_CHECK_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"
#include "history/history.h"
#include "spec/spec.h"

struct kl_memo_room;

enum kl_item_kind {
	KL_ITEM_OP,
	/*
	 * A gap is two items with the gap's interval, ENTER before LEAVE.  Between them the state
	 * is unknown after every step.  LEAVE leads to the unknown state.
	 */
	KL_ITEM_ENTER,
	KL_ITEM_LEAVE,
};

#define KL_NO_EVENT UINT32_MAX

struct kl_item {
	uint32_t op;		/* index in the history, KL_NO_OP for a gap's ends */
	uint32_t sig;		/* equal for operations with equal methods, arguments and results */
	uint32_t vals;		/* index of its arguments and results in the history's values */
	uint32_t slot;		/* small number, unique among open items */
	uint32_t call_ev, ret_ev, drain_ev;	/* events, KL_NO_EVENT if never */
	uint32_t thread;	/* number of its thread, where store buffers matter */
	uint32_t line;		/* number of its thread and CPU, where kl_part.has_preds */
	uint16_t method;	/* index of the spec's method */
	uint8_t kind;
	uint8_t nargs : 6;
	bool pure : 1, nocall : 1;
};

enum kl_event_kind { KL_EV_CALL, KL_EV_RET, KL_EV_DRAIN };

struct kl_event {
	uint32_t item : 30;
	uint32_t kind : 2;
};

struct kl_part {
	const struct kl_spec *spec;
	const struct kl_history *h;
	struct kl_item *items;
	struct kl_event *events;
	uint32_t nitems, nevents, nslots, nthreads, nlines;
	uint32_t ngaps;
	uint32_t object;	/* index, or KL_ALL_OBJECTS */
	bool has_preds;
	/*
	 * pred[pred_at[i] .. pred_at[i + 1]): items that precede item i, which events do not show
	 */
	uint32_t *pred_at, *pred;
	bool fresh;		/* the first state is the spec's, else it is unknown */
	struct kl_run *run;	/* an interpreter to use; with NULL engines make one */
	struct kl_memo_room *room;	/* memory to use, or NULL; see spec_stepper.h */
	/* For building: operations' times, and all returns and drains in order. */
	struct kl_span { uint64_t call, ret; } *spans;
	struct kl_key *ends;
	size_t nends;
	size_t citems, cevents, cspans, cends, cpred_at, cpred;	/* capacities */
};

/* The operations of a partition before they are laid out. */
struct kl_slice {
	const struct kl_spec *spec;
	const struct kl_history *h;
	const int *methods;	/* spec method for each method of the history */
	const uint32_t *ops;	/* indices of the operations, ascending; NULL: all */
	uint32_t nops;
	uint32_t object;	/* index, or KL_ALL_OBJECTS */
	uint32_t ngaps;		/* number of gaps */
};

/**
 * kl_part_build() - lay out a partition
 * @spec: the specification
 * @h: the history
 * @methods: spec method for each method of the history
 * @ops: indices of the partition's operations, ascending; NULL: the first @nops
 * @nops: number of operations
 * @object: index of its object, for its gaps; KL_ALL_OBJECTS for several
 * @tso: also lay out drains; a gap then ends only when lost stores have certainly left the store
 *	buffers
 * @out: zero, or a partition built before, whose memory is used again; kl_part_free() it
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_part_build(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
		  const uint32_t *ops, size_t nops, uint32_t object, bool tso,
		  struct kl_part *out);
void kl_part_free(struct kl_part *p);

/* program_order.c: fill pred_at and pred; all other fields are filled already. */
int kl_part_find_preds(struct kl_part *p);

static inline const struct kl_op *kl_item_op(const struct kl_part *p, const struct kl_item *it)
{
	return &p->h->ops[it->op];
}

/* The arguments of an operation, without reading the history's operation. */
static inline const struct kl_val *kl_item_args(const struct kl_part *p, const struct kl_item *it)
{
	return p->h->vals + it->vals;
}

static inline const struct kl_val *kl_item_res(const struct kl_part *p, const struct kl_item *it)
{
	return kl_item_args(p, it) + it->nargs;
}

#define KL_ITEM_AHEAD	12

/*
 * Prefetch the values of items that are called soon after @item.  Without inlining, the compiler
 * would drop the prefetch.
 */
__attribute__((always_inline))
static inline void kl_item_ahead(const struct kl_part *p, uint32_t item)
{
	if (item + KL_ITEM_AHEAD < p->nitems)
		__builtin_prefetch(kl_item_args(p, &p->items[item + KL_ITEM_AHEAD]));
}

/*
 * Return: true if @a certainly returned before @b was called.  This is the definition for the
 * oracle, the replayer and tests.
 */
bool kl_op_before(const struct kl_history *h, const struct kl_op *a, const struct kl_op *b);

#endif
