// SPDX-License-Identifier: GPL-2.0
/* The TSO engine's steps: operations, and the ends of gaps. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tso/engine/engine.h"

#define APPLY_LOOKS	20	/* work for an operation without the interpreter, in looks */

static int add_next(struct tso *t, struct kl_machine *m, uint32_t last)
{
	int64_t id = tso_intern(t, m, t->dropped, last);
	size_t i;
	int ret;

	if (id < 0)
		return id;
	count_work(t, m);
	for (i = 0; i < t->nnext; i++)
		if (t->next[i] == id)
			return 0;
	ret = kl_grow(t->next, t->cnext, t->nnext + 1);
	if (!ret)
		t->next[t->nnext++] = id;
	return ret;
}

/*
 * All entries of the thread must leave by the drain of the step's item.  Because entries leave in
 * order, it is enough that the newest entry does.  This entry gets the item, unless it must leave
 * earlier anyway.
 */
static void note_drain(const struct tso *t, struct kl_machine *m)
{
	const struct kl_item *items = t->p->items;
	size_t i;

	if (items[t->item].drain_ev == KL_NO_EVENT)
		return;
	for (i = m->nentries; i--; ) {
		struct kl_entry *e = &m->entries[i];

		if (e->thread != t->thread)
			continue;
		if (e->item == KL_NO_OP || items[e->item].drain_ev > items[t->item].drain_ev)
			e->item = t->item;
		break;
	}
}

/* Mark the thread's entries as due: they must leave by the return of its current operation. */
static void mark_due(struct kl_machine *m, uint32_t thread)
{
	size_t i;

	for (i = 0; i < m->nentries; i++)
		m->entries[i].due |= m->entries[i].thread == thread;
}

/*
 * Check that the newest entry stores to the same slots as the first entry, and that its operation
 * reads nothing.  With entries that depend on a read or a choice, there are too many ways to hide
 * them.  Return: 0, -EAGAIN to begin again without hidden entries, -ENOMEM.
 */
static int compare_slots(struct tso *t)
{
	const struct kl_machine *m = &t->after;
	const struct kl_entry *e = &m->entries[m->nentries - 1];
	size_t i;
	int ret;

	if (!t->nslots) {
		ret = kl_grow(t->slots, t->cslots, e->n);
		if (ret)
			return ret;
		for (i = 0; i < e->n; i++)
			t->slots[i] = m->writes[e->first + i].slot;
		t->nslots = e->n;
	}
	t->partial = e->n != t->nslots || !t->blind;
	for (i = 0; i < e->n && !t->partial; i++)
		t->partial = t->slots[i] != m->writes[e->first + i].slot;
	return t->partial ? -EAGAIN : 0;
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct tso *t = ctx;
	bool left;
	int ret;

	if (t->is_early) {
		if (o->barrier) {
			t->barrier[t->item / 64] |= 1ull << t->item % 64;
			mark_due(&t->m, t->thread);
		}
	} else if (o->barrier ? kl_machine_oldest(&t->m, t->thread) >= 0 : t->dropped && t->blind) {
		/*
		 * A barrier needs an empty buffer.  Without a barrier, an operation that reads
		 * nothing is the same with hidden entries still in the buffer.
		 */
		return 0;
	}
	ret = kl_machine_copy(&t->after, &t->m);
	if (ret)
		return ret;
	ret = kl_machine_exec(&t->after, o, t->thread, KL_NO_OP);
	if (ret < 0)
		return ret;
	left = ret;
	ret = left && t->lazy ? compare_slots(t) : 0;
	if (ret)
		return ret;
	note_drain(t, &t->after);
	return add_next(t, &t->after, left ? t->after_last : 0);
}

/* Execute an operation in the state t->m, with @fn for each outcome. */
static int apply(struct tso *t, const struct kl_item *it, kl_outcome_fn fn)
{
	size_t len;
	int ret = kl_machine_view(&t->m, t->thread, &t->view, &t->cview, &len);

	if (ret)
		return ret;
	kl_run_set_fresh(t->run, kl_machine_next_unknown(&t->m));
	kl_run_set_bound(t->run, kl_budget_left(t->budget), kl_budget_over, t->budget);
	ret = kl_run_apply(t->run, t->view, len, it->method, kl_item_args(t->p, it),
			   kl_item_res(t->p, it), fn, t);
	t->budget->work += APPLY_LOOKS + kl_run_work(t->run);
	if (ret == -EDQUOT)
		return kl_budget_out(t->budget);
	return kl_stepper_gave_up(t->p, t->run, it, ret, t->reason);
}

static int gap_step(struct tso *t, const struct kl_item *it)
{
	if (it->kind == KL_ITEM_LEAVE && !t->m.in_gap)
		return 0;
	t->m.in_gap = it->kind == KL_ITEM_ENTER;
	kl_machine_forget(&t->m);
	return add_next(t, &t->m, 0);
}

/* Return: true if one of the successors is the state itself. */
static bool is_successor(struct tso *t, uint32_t state)
{
	size_t i;

	for (i = 0; i < t->nnext; i++)
		if (tso_same(&t->sys, state, t->next[i]))
			return true;
	return false;
}

static int op_step(struct tso *t, uint32_t state, const struct kl_item *it)
{
	struct kl_entry *newest = NULL;
	size_t own = 0, hidden = 0, i;
	int ret;

	for (i = 0; i < t->m.nentries; i++) {
		if (t->m.entries[i].thread != t->thread)
			continue;
		newest = &t->m.entries[i];
		hidden += newest->hidden;
		own++;
	}
	/* The buffer is full: its oldest entry must leave first, which is a move. */
	if (own >= KL_BUFFER_DEPTH && !it->pure)
		return 0;
	t->blind = kl_spec_method(t->p->spec, it->method)->blind;
	t->dropped = false;
	t->is_early = t->early[t->item / 64] >> t->item % 64 & 1;
	/* An operation that reads nothing cannot notice another thread's flush. */
	t->after_last = t->blind && t->last != t->thread + 1 ? t->last : 0;
	/* The operation may read the newest entry in the buffer, so this entry has not left. */
	if (newest && !t->blind && !t->m.in_gap)
		newest->hidden = false;
	ret = apply(t, it, on_outcome);
	if (t->is_early)
		return ret;
	/*
	 * Try the same with the thread's entries dropped, if all of them are hidden.  This is
	 * useless if the operation changes nothing, because the entries can then be dropped later.
	 */
	if (ret || !own || hidden < own || (it->pure && is_successor(t, state)))
		return ret;
	t->dropped = true;
	while (kl_machine_drop(&t->m, t->thread))
		;
	return apply(t, it, on_outcome);
}

int tso_step(struct kl_system *sys, uint32_t state, uint32_t item, const uint32_t **next)
{
	struct tso *t = (struct tso *)sys;
	const struct kl_item *it = &t->p->items[item];
	int ret;

	ret = tso_load(t, state, &t->m);
	if (ret)
		return ret;
	t->nnext = 0;
	t->dropped = false;
	t->thread = it->thread;
	t->item = item;
	ret = it->kind == KL_ITEM_OP ? op_step(t, state, it) : gap_step(t, it);
	*next = t->next;
	return ret ? ret : (int)t->nnext;
}

static int count_outcome(void *ctx, const struct kl_outcome *o)
{
	struct tso *t = ctx;

	t->noutcomes++;
	t->nbuffered += !o->through && o->nwrote;
	return 0;
}

/*
 * An operation is early if its only outcome leaves an entry.  The first state shows this, because
 * the operation reads nothing.
 */
int tso_nature(struct kl_system *sys, uint32_t item)
{
	struct tso *t = (struct tso *)sys;
	const struct kl_item *it = &t->p->items[item];
	int ret;

	if (!(t->early[item / 64] >> item % 64 & 1))
		return 0;
	ret = tso_load(t, sys->first, &t->m);
	t->thread = it->thread;
	t->noutcomes = t->nbuffered = 0;
	ret = ret ? ret : apply(t, it, count_outcome);
	if (!ret && t->noutcomes == 1 && t->nbuffered == 1)
		return KL_EARLY;
	if (!ret && t->lazy && t->nbuffered) {
		t->partial = true;
		return -EAGAIN;
	}
	t->early[item / 64] &= ~(1ull << item % 64);
	return ret == -ENOMEM ? ret : 0;
}

/*
 * An operation may be early if it reads nothing, and no other operation of its thread overlaps it.
 */
int tso_find_early(struct tso *t)
{
	const struct kl_part *p = t->p;
	const size_t words = (size_t)p->nitems / 64 + 1;
	uint32_t *open = malloc((p->nthreads + (size_t)1) * sizeof(*open)), i;

	t->early = calloc(2 * words, sizeof(*t->early));
	if (!open || !t->early) {
		free(open);
		return -ENOMEM;
	}
	t->barrier = t->early + words;
	for (i = 0; i < p->nthreads; i++)
		open[i] = KL_NO_OP;
	for (i = 0; i < p->nevents; i++) {
		const uint32_t item = p->events[i].item;
		const struct kl_item *it = &p->items[item];
		uint32_t *in = &open[it->thread];

		if (it->kind != KL_ITEM_OP || p->events[i].kind != KL_EV_CALL)
			continue;
		if (kl_spec_method(p->spec, it->method)->blind && !it->pure)
			t->early[item / 64] |= 1ull << item % 64;
		if (*in != KL_NO_OP && p->items[*in].ret_ev > i) {
			t->early[item / 64] &= ~(1ull << item % 64);
			t->early[*in / 64] &= ~(1ull << *in % 64);
		}
		/* Remember the thread's operation that returns last. */
		if (*in == KL_NO_OP || p->items[*in].ret_ev < it->ret_ev)
			*in = item;
	}
	free(open);
	return 0;
}
