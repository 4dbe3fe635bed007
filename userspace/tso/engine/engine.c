// SPDX-License-Identifier: GPL-2.0
/*
 * The TSO engine: the frontier engine walks over states of a machine with store buffers.  tso.h
 * defines linearizability on TSO.
 *
 * Lazy flushes.  Operations seldom notice which entries have left the buffers, so most flushes need
 * not be tried.  After a flush the entries of other threads are hidden: each may have left just
 * before this flush, which has overwritten it.
 *	- A hidden entry is dropped when its thread needs an empty buffer.
 *	- An entry is not hidden any more when its thread reads it in the buffer, or flushes an
 *	  entry before it, since entries leave in order.
 *	- Two flushes of different threads are not tried one after the other if no step between
 *	  them can notice the first.  The second alone hides the entry of the first, and dropping
 *	  this entry gives the same state.
 *	- A state covers the same state with fewer hidden entries, or with some of them dropped.
 * All this needs entries that store to the same slots, from operations that read nothing.  For
 * other histories the engine begins again without hidden entries.
 *
 * Early operations.  An operation that only puts an entry into its buffer does so at its call: no
 * other thread notices this before the entry leaves, which may be at any time.  If the operation
 * has a barrier, its thread's earlier entries become due: they must leave by its return.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tso/engine/engine.h"
#include "tso/engine/tso.h"

#define MOST_LAZY	(1u << 19)	/* for fewer threads the numbers of moves fit 32 bits */

static int tso_init(struct tso *t, const struct kl_part *p, char *reason)
{
	const struct kl_val *first;
	int64_t id;
	size_t len;
	int ret;

	t->sys.step = tso_step;
	t->sys.nature = tso_nature;
	t->sys.moves = tso_moves;
	t->sys.move = tso_move;
	t->sys.waits = tso_waits;
	t->sys.left = tso_left;
	t->sys.same = tso_same;
	t->sys.seal = tso_seal;
	t->sys.lost = tso_lost;
	t->sys.covers = t->lazy ? tso_covers : NULL;
	t->sys.bytes = tso_bytes;
	t->sys.full = tso_full;
	t->sys.keep = tso_keep;
	t->room = TSO_ROOM;
	t->p = p;
	t->reason = reason;
	t->run = p->run ? p->run : kl_run_new(p->spec);
	first = t->run ? kl_run_init(t->run, p->fresh, &len) : NULL;
	if (!first)
		return -ENOMEM;
	ret = kl_grow(t->view, t->cview, len + 1) ?: tso_find_early(t);
	if (!ret)
		ret = kl_machine_init(&t->m, len) ?: kl_machine_init(&t->after, len);
	if (ret)
		return ret;
	memcpy(t->m.mem, first, len * sizeof(*first));
	id = tso_intern(t, &t->m, false, 0);
	if (id < 0)
		return id;
	t->sys.first = id;
	kl_run_set_raw(t->run, true);
	return 0;
}

static void tso_free(struct tso *t)
{
	if (t->run)
		kl_run_set_raw(t->run, false);
	if (!t->p->run)
		kl_run_free(t->run);
	kl_intern_free(&t->machines);
	kl_machine_free(&t->m);
	kl_machine_free(&t->after);
	free(t->view);
	free(t->words);
	free(t->next);
	free(t->moves);
	free(t->order);
	free(t->early);
	free(t->slots);
}

static int run(struct tso *t, const struct kl_part *p, struct kl_budget *b, struct kl_answer *a)
{
	int ret;

	t->budget = b;
	ret = tso_init(t, p, b->reason);
	if (!ret)
		ret = kl_frontier_run(p, &t->sys, b, a);
	if (!ret)
		ret = kl_tso_witness(p, t->barrier, a);
	tso_free(t);
	return ret;
}

static int tso_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	struct kl_budget b = { .lim = lim };
	struct tso t = { 0 };
	int ret;

	a->engine = "tso";
	if (!kl_spec_fixed_size(p->spec)) {
		a->verdict = KL_UNKNOWN;
		snprintf(a->reason, sizeof(a->reason),
			 "store buffers of containers are not modelled: use words and arrays");
		return 0;
	}
	t.lazy = p->nthreads < MOST_LAZY;
	ret = run(&t, p, &b, a);
	if (ret == -EAGAIN && t.partial) {
		b = (struct kl_budget){ .lim = lim };
		t = (struct tso){ 0 };
		ret = run(&t, p, &b, a);
	}
	return ret;
}

const struct kl_engine kl_tso_engine = {
	.name = "tso",
	.help = "any spec, with store buffers: all configurations",
	.rank = 90,
	.tso = true, .near = true,
	.decide = tso_decide,
};
KL_ENGINE(kl_tso_engine);
