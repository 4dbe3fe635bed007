// SPDX-License-Identifier: GPL-2.0
/*
 * The TSO engine: the frontier's walk over machines with store buffers.  See
 * tso.h for what is decided.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/sim.h"
#include "tso/machine.h"
#include "tso/tso.h"

struct tso {
	struct kl_system sys;
	const struct kl_part *p;
	struct kl_run *run;
	struct kl_intern machines;
	struct kl_machine m, after;	/* before a step, and one outcome of it */
	struct kl_val *view;
	uint64_t *words;
	uint32_t *next, *moves, *order;
	size_t cwords, nnext, cnext, cmoves, corder;
	uint32_t thread, item;		/* of the step under way */
	char *reason;
};

/* The entries by thread, those of one thread as they are; few are out of order. */
static int order_entries(struct tso *t, const struct kl_machine *m)
{
	size_t i, k;
	int ret = kl_grow(t->order, t->corder, m->nentries + 1);

	for (i = 0; i < m->nentries && !ret; i++) {
		for (k = i; k && m->entries[t->order[k - 1]].thread > m->entries[i].thread; k--)
			t->order[k] = t->order[k - 1];
		t->order[k] = i;
	}
	return ret;
}

/*
 * A machine in words: the gap flag and the number of entries, memory, then the
 * entries (thread and item, number of writes, the writes).  Threads in a fixed
 * order make equal machines equal word for word.
 */
static int64_t intern_machine(struct tso *t, struct kl_machine *m)
{
	size_t n = 0, need = 1 + 2 * m->nmem + 2 * m->nentries + 3 * m->nwrites, i, k;
	int ret;

	kl_machine_canon(m);
	ret = kl_grow(t->words, t->cwords, need) ?: order_entries(t, m);
	if (ret)
		return ret;
	t->words[n++] = (uint64_t)m->in_gap << 32 | m->nentries;
	memcpy(t->words + n, m->mem, m->nmem * sizeof(*m->mem));
	n += 2 * m->nmem;
	for (i = 0; i < m->nentries; i++) {
		const struct kl_entry *e = &m->entries[t->order[i]];

		t->words[n++] = (uint64_t)e->thread << 32 | e->item;
		t->words[n++] = e->n;
		for (k = 0; k < e->n; k++) {
			const struct kl_write *w = &m->writes[e->first + k];

			t->words[n++] = w->slot;
			t->words[n++] = w->v.v;
			t->words[n++] = w->v.tag;
		}
	}
	return kl_intern(&t->machines, t->words, n);
}

static int load_machine(struct tso *t, uint32_t state, struct kl_machine *m)
{
	size_t len, n = 0, i, k;
	const uint64_t *w = kl_intern_get(&t->machines, state, &len);
	int ret;

	m->in_gap = w[0] >> 32;
	m->nentries = (uint32_t)w[0];
	m->nwrites = 0;
	ret = kl_grow(m->entries, m->centries, m->nentries + 1) ?:
	      kl_grow(m->writes, m->cwrites, len / 3 + 1);
	if (ret)
		return ret;
	memcpy(m->mem, w + 1, m->nmem * sizeof(*m->mem));
	n = 1 + 2 * m->nmem;
	for (i = 0; i < m->nentries; i++) {
		struct kl_entry *e = &m->entries[i];

		e->thread = w[n] >> 32;
		e->item = (uint32_t)w[n++];
		e->n = w[n++];
		e->first = m->nwrites;
		for (k = 0; k < e->n; k++, n += 3)
			m->writes[m->nwrites++] = (struct kl_write){
				.slot = w[n], .v = { .v = w[n + 1], .tag = w[n + 2] },
			};
	}
	return 0;
}

static int add_next(struct tso *t, struct kl_machine *m)
{
	int64_t id = intern_machine(t, m);
	size_t i;
	int ret;

	if (id < 0)
		return id;
	for (i = 0; i < t->nnext; i++)
		if (t->next[i] == id)
			return 0;
	ret = kl_grow(t->next, t->cnext, t->nnext + 1);
	if (!ret)
		t->next[t->nnext++] = id;
	return ret;
}

/*
 * By the drain of the step's item all that its thread has in the buffer must
 * have left; entries leave in order, so that the newest one stands for all.
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

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct tso *t = ctx;
	int ret;

	if (o->barrier && kl_machine_oldest(&t->m, t->thread) >= 0)
		return 0;
	ret = kl_machine_copy(&t->after, &t->m);
	if (ret)
		return ret;
	ret = kl_machine_exec(&t->after, o, t->thread, KL_NO_OP);
	if (ret < 0)
		return ret;
	note_drain(t, &t->after);
	return add_next(t, &t->after);
}

static int tso_step(struct kl_system *sys, uint32_t state, uint32_t item, const uint32_t **next)
{
	struct tso *t = (struct tso *)sys;
	const struct kl_item *it = &t->p->items[item];
	const struct kl_op *op;
	size_t i, own = 0;
	int ret;

	ret = load_machine(t, state, &t->m);
	if (ret)
		return ret;
	t->nnext = 0;
	if (it->kind != KL_ITEM_OP) {
		if (it->kind == KL_ITEM_LEAVE && !t->m.in_gap)
			return 0;
		t->m.in_gap = it->kind == KL_ITEM_ENTER;
		kl_machine_forget(&t->m);
		ret = add_next(t, &t->m);
		*next = t->next;
		return ret ? ret : (int)t->nnext;
	}
	op = kl_item_op(t->p, it);
	t->thread = it->thread;
	t->item = item;
	for (i = 0; i < t->m.nentries; i++)
		own += t->m.entries[i].thread == t->thread;
	/* The buffer is full: its oldest entry has to leave first (a move). */
	if (own >= KL_BUFFER_DEPTH && !it->pure)
		return 0;
	kl_machine_view(&t->m, t->thread, t->view);
	kl_run_set_fresh(t->run, kl_machine_next_unknown(&t->m));
	ret = kl_run_apply(t->run, t->view, t->m.nmem, it->method, kl_op_args(t->p->h, op),
			   kl_op_res(t->p->h, op), on_outcome, t);
	if (ret == -E2BIG || ret == -EOVERFLOW) {
		snprintf(t->reason, 160, "method %s: %s",
			 kl_spec_method(t->p->spec, it->method)->name,
			 ret == -E2BIG ? kl_run_error(t->run) : "too many states");
		return -EDQUOT;
	}
	*next = t->next;
	return ret ? ret : (int)t->nnext;
}

/* The entries of a machine in words; NULL if it has none. */
static const uint64_t *entries_of(const struct tso *t, uint32_t state, uint32_t *n)
{
	const uint64_t *w = t->machines.words + t->machines.at[state];

	*n = (uint32_t)w[0];
	return *n ? w + 1 + 2 * t->m.nmem : NULL;
}

/* Each thread with something in its buffer may flush its oldest entry. */
static int tso_moves(struct kl_system *sys, uint32_t state, const uint32_t **moves)
{
	struct tso *t = (struct tso *)sys;
	uint32_t n, i, count = 0;
	const uint64_t *w = entries_of(t, state, &n);
	int ret = kl_grow(t->moves, t->cmoves, n + 1);

	for (i = 0; i < n && !ret; i++, w += 2 + 3 * w[1])
		if (!count || t->moves[count - 1] != w[0] >> 32)
			t->moves[count++] = w[0] >> 32;
	*moves = t->moves;
	return ret ? ret : (int)count;
}

static int tso_move(struct kl_system *sys, uint32_t state, uint32_t thread, uint32_t *next)
{
	struct tso *t = (struct tso *)sys;
	int64_t id;
	int ret = load_machine(t, state, &t->m);

	if (ret)
		return ret;
	kl_machine_flush(&t->m, thread);
	id = intern_machine(t, &t->m);
	if (id < 0)
		return id;
	*next = id;
	return 0;
}

static bool tso_waits(struct kl_system *sys, uint32_t state, uint32_t item)
{
	struct tso *t = (struct tso *)sys;
	uint32_t n, i;
	const uint64_t *w = entries_of(t, state, &n);

	for (i = 0; i < n; i++, w += 2 + 3 * w[1])
		if ((uint32_t)w[0] == item)
			return true;
	return false;
}

static bool tso_left(struct kl_system *sys, uint32_t before, uint32_t after)
{
	const struct kl_intern *m = &((struct tso *)sys)->machines;

	return (uint32_t)m->words[m->at[after]] > (uint32_t)m->words[m->at[before]];
}

static size_t tso_bytes(const struct kl_system *sys)
{
	return kl_intern_bytes(&((const struct tso *)sys)->machines);
}

static int tso_nature(struct kl_system *sys, uint32_t item)
{
	return ((struct tso *)sys)->p->items[item].pure ? KL_FREE : 0;
}

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
	t->sys.bytes = tso_bytes;
	t->p = p;
	t->reason = reason;
	t->run = p->run ? p->run : kl_run_new(p->spec);
	first = t->run ? kl_run_init(t->run, p->fresh, &len) : NULL;
	if (!first)
		return -ENOMEM;
	t->view = calloc(len + 1, sizeof(*t->view));
	ret = t->view ? 0 : -ENOMEM;
	if (!ret)
		ret = kl_machine_init(&t->m, len) ?: kl_machine_init(&t->after, len);
	if (ret)
		return ret;
	memcpy(t->m.mem, first, len * sizeof(*first));
	id = intern_machine(t, &t->m);
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
}

/*
 * Moves name threads, steps name operations: the entry that a thread flushes is
 * the oldest one that it left.
 */
static int name_flushes(const struct kl_part *p, struct kl_answer *a)
{
	size_t *from = calloc((size_t)p->nthreads + 1, sizeof(*from)), i, k;

	if (!from)
		return -ENOMEM;
	for (i = 0; i < a->nsteps; i++) {
		const uint32_t thread = a->steps[i].item;

		if (!(a->steps[i].flags & KL_STEP_FLUSH))
			continue;
		for (k = from[thread]; k < i; k++)
			if (a->steps[k].flags & KL_STEP_BUFFERED &&
			    p->items[a->steps[k].item].thread == thread)
				break;
		from[thread] = k + 1;
		a->steps[i].item = a->steps[k].item;
	}
	free(from);
	return 0;
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
	ret = tso_init(&t, p, b.reason);
	if (!ret)
		ret = kl_frontier_run(p, &t.sys, &b, a);
	if (!ret)
		ret = name_flushes(p, a);
	tso_free(&t);
	return ret;
}

const struct kl_engine kl_tso_engine = { .name = "tso", .tso = true, .decide = tso_decide };
