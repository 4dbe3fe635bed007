// SPDX-License-Identifier: GPL-2.0
/*
 * The TSO oracle: Definitions 1 and 2 of Burckhardt et al. for a recorded history, by trying all
 * orders of executions and flushes.  It is small and slow on purpose.  The operations' times limit
 * the orders, as in oracle.c.  The oracle shares only the machine and the interpreter with the
 * engine.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trusted/enumerate.h"
#include "tso/machine/machine.h"
#include "tso/engine/tso.h"

/*
 * @item has executed.  @entry, the newest store buffer entry of its thread at that time, is still
 * in the buffer.  Operations that were called after the drain of @item wait until @entry is
 * flushed.
 */
struct waits {
	uint32_t item, entry;
};

/* A configuration's words are this head, memory, entries, writes, and struct waits. */
struct head {
	uint32_t in_gap, nentries, nwrites, nnotes, nwaits, pad;
};

struct oracle {
	struct kl_orders o;
	struct kl_run *run;
	size_t nmem;
	/* The current configuration. */
	struct kl_machine m;
	struct waits *waits;
	size_t nwaits, cwaits;
	/* The configuration after the step. */
	struct kl_machine next;
	uint32_t place, item, thread;	/* the item that takes effect */
	struct kl_val *view;		/* memory as its thread sees it */
	size_t cview;
	uint64_t *buf;
	size_t cbuf;
};

/*
 * Must the entries that @a left in the buffer reach memory before @b executes?  Then @a executes
 * before @b, too, see kl_item_before().  A gap leaves no entries.
 */
static bool drained_before(const struct kl_part *p, uint32_t a, uint32_t b)
{
	const struct kl_item *x = &p->items[a], *y = &p->items[b];

	if (y->kind != KL_ITEM_OP)
		return x->drain_ev != KL_NO_EVENT && x->drain_ev < y->call_ev;
	return kl_time_add(kl_op_empty(p->h, kl_item_op(p, x)), p->h->error) <
	       kl_item_op(p, y)->call;
}

/* ---- configurations as words ---- */

static void *put(void *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
	return (char *)to + bytes;
}

static const void *take(const void *from, void *to, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
	return (const char *)from + bytes;
}

static int by_item(const void *a, const void *b)
{
	const struct waits *x = a, *y = b;

	return x->item < y->item ? -1 : x->item > y->item;
}

static bool has_entry(const struct kl_machine *m, uint32_t item)
{
	size_t i;

	for (i = 0; i < m->nentries && m->entries[i].item != item; i++)
		;
	return i < m->nentries;
}

static size_t in_words(size_t bytes)
{
	return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

/*
 * Add the configuration o->next.  It keeps those of o->waits whose entries are still in a store
 * buffer, and gets @more unless that is NULL.
 */
static int add_next(struct oracle *o, uint32_t place, struct kl_step step,
		    const struct waits *more)
{
	struct kl_machine *m = &o->next;
	struct head h = {
		.in_gap = m->in_gap, .nentries = m->nentries, .nwrites = m->nwrites,
		.nnotes = m->nnotes,
	};
	struct waits *w, *from;
	size_t bytes, i;
	void *at;
	int ret;

	kl_machine_canon(m);
	bytes = sizeof(h) + m->nmem * sizeof(*m->mem) + m->nentries * sizeof(*m->entries) +
		m->nwrites * sizeof(*m->writes) + m->nnotes * sizeof(*m->notes) +
		(o->nwaits + 1) * sizeof(*w);
	ret = kl_grow(o->buf, o->cbuf, in_words(bytes));
	if (ret)
		return ret;
	memset(o->buf, 0, in_words(bytes) * sizeof(*o->buf));
	at = put((char *)o->buf + sizeof(h), m->mem, m->nmem * sizeof(*m->mem));
	for (i = 0; i < m->nentries; i++) {
		/* Copy member by member: padding must be equal in equal configurations. */
		struct kl_entry *e = at;

		e->thread = m->entries[i].thread;
		e->item = m->entries[i].item;
		e->first = m->entries[i].first;
		e->n = m->entries[i].n;
		at = e + 1;
	}
	at = put(at, m->writes, m->nwrites * sizeof(*m->writes));
	w = from = put(at, m->notes, m->nnotes * sizeof(*m->notes));
	for (i = 0; i < o->nwaits; i++)
		if (has_entry(m, o->waits[i].entry))
			*w++ = o->waits[i];
	if (more)
		*w++ = *more;
	h.nwaits = w - from;
	qsort(from, h.nwaits, sizeof(*w), by_item);
	memcpy(o->buf, &h, sizeof(h));
	bytes = (char *)w - (char *)o->buf;
	return kl_orders_add(&o->o, place, step, o->buf, in_words(bytes));
}

/* Unpack o->m and o->waits from a configuration's @words. */
static int read_words(struct oracle *o, const uint64_t *words)
{
	struct kl_machine *m = &o->m;
	const void *at;
	struct head h;
	int ret;

	at = take(words, &h, sizeof(h));
	ret = kl_grow(m->entries, m->centries, h.nentries) ?:
	      kl_grow(m->writes, m->cwrites, h.nwrites) ?:
	      kl_grow(m->notes, m->cnotes, h.nnotes) ?:
	      kl_grow(o->waits, o->cwaits, h.nwaits);
	if (ret)
		return ret;
	m->in_gap = h.in_gap;
	m->nnotes = h.nnotes;
	m->nentries = h.nentries;
	m->nwrites = h.nwrites;
	o->nwaits = h.nwaits;
	at = take(at, m->mem, m->nmem * sizeof(*m->mem));
	at = take(at, m->entries, m->nentries * sizeof(*m->entries));
	at = take(at, m->writes, m->nwrites * sizeof(*m->writes));
	at = take(at, m->notes, m->nnotes * sizeof(*m->notes));
	take(at, o->waits, o->nwaits * sizeof(*o->waits));
	return 0;
}

/* ---- steps ---- */

static uint32_t newest_entry(const struct kl_machine *m, uint32_t thread)
{
	size_t i;

	for (i = m->nentries; i--; )
		if (m->entries[i].thread == thread)
			return m->entries[i].item;
	return KL_NO_OP;
}

/* Add an outcome of the item that executes. */
static int add_outcome(void *ctx, const struct kl_outcome *outcome)
{
	struct oracle *o = ctx;
	const struct kl_item *it = &o->o.p->items[o->item];
	struct waits w = { .item = o->item };
	int ret;

	if (outcome->barrier && kl_machine_oldest(&o->m, o->thread) >= 0)
		return 0;
	ret = kl_machine_copy(&o->next, &o->m) ?:
	      kl_machine_exec(&o->next, outcome, o->thread, o->item);
	if (ret < 0)
		return ret;
	if (it->kind != KL_ITEM_OP) {
		o->next.in_gap = it->kind == KL_ITEM_ENTER;
		kl_machine_forget(&o->next);
	}
	/* If the drain is unknown, no operation waits for it. */
	w.entry = it->drain_ev == KL_NO_EVENT ? KL_NO_OP : newest_entry(&o->next, o->thread);
	return add_next(o, o->place, (struct kl_step){ o->item, ret ? KL_STEP_BUFFERED : 0 },
			w.entry == KL_NO_OP ? NULL : &w);
}

static int try_exec(void *ctx, uint32_t place)
{
	struct oracle *o = ctx;
	const struct kl_part *p = o->o.p;
	const uint32_t item = kl_orders_item(&o->o, place);
	const struct kl_item *it = &p->items[item];
	const struct kl_op *op;
	size_t i, len;
	int ret;

	/* Each drain before the item's call must have come, see struct waits. */
	for (i = 0; i < o->nwaits; i++)
		if (drained_before(p, o->waits[i].item, item))
			return kl_look(&o->o.looks, i + 1);
	ret = kl_look(&o->o.looks, i);
	if (ret)
		return ret;
	o->place = place;
	o->item = item;
	if (it->kind == KL_ITEM_OP) {
		op = kl_item_op(p, it);
		o->thread = op->thread;
		ret = kl_machine_view(&o->m, o->thread, &o->view, &o->cview, &len);
		if (ret)
			return ret;
		kl_run_set_fresh(o->run, kl_machine_next_unknown(&o->m));
		kl_run_set_bound(o->run, kl_looks_left(&o->o.looks), kl_looks_over, &o->o.looks);
		ret = kl_run_apply(o->run, o->view, len, it->method, kl_item_args(p, it),
				   kl_item_res(p, it), add_outcome, o);
		/* At the bound of looks, kl_look() gives the reason. */
		if (!ret || ret == -EDQUOT)
			ret = kl_look(&o->o.looks, kl_run_work(o->run) + o->nmem + o->m.nwrites);
		return ret;
	}
	if (it->kind == KL_ITEM_ENTER || o->m.in_gap) {
		const struct kl_outcome none = { 0 };

		o->thread = 0;
		return add_outcome(o, &none);
	}
	return 0;
}

static int try_flush(struct oracle *o, const struct kl_entry *e)
{
	int ret = kl_machine_copy(&o->next, &o->m);

	if (ret)
		return ret;
	kl_machine_flush(&o->next, e->thread);
	return add_next(o, KL_NO_PLACE, (struct kl_step){ e->item, KL_STEP_FLUSH }, NULL);
}

static int go_on(void *ctx, const uint64_t *words, size_t n)
{
	struct oracle *o = ctx;
	int ret = read_words(o, words);
	size_t k;

	(void)n;
	if (!ret)
		ret = kl_orders_each(&o->o, try_exec, o);
	/* Entries may stay in the buffer for ever unless a drain says otherwise. */
	for (k = 0; k < o->m.nentries && !ret; k++)
		if (kl_machine_oldest(&o->m, o->m.entries[k].thread) == (int64_t)k)
			ret = try_flush(o, &o->m.entries[k]);
	return ret;
}

static int try_orders(struct oracle *o)
{
	const struct kl_val *first;
	uint64_t *words;
	size_t bytes;
	struct head *h;
	int ret;

	first = kl_run_init(o->run, o->o.p->fresh, &o->nmem);
	if (!first)
		return -ENOMEM;
	bytes = sizeof(*h) + o->nmem * sizeof(*first);
	words = calloc(1, bytes);
	ret = words ? 0 : -ENOMEM;
	if (!ret)
		put(words + sizeof(*h) / sizeof(*words), first, o->nmem * sizeof(*first));
	ret = ret ?: kl_machine_init(&o->m, o->nmem) ?: kl_machine_init(&o->next, o->nmem);
	kl_run_set_raw(o->run, true);
	if (!ret)
		ret = kl_orders_try(&o->o, words, bytes / sizeof(*words), go_on, o);
	free(words);
	return ret;
}

static bool is_lost(void *ctx, const uint64_t *words, size_t n)
{
	struct oracle *o = ctx;

	/* If memory runs out here, the next step reports that. */
	return !read_words(o, words) && kl_machine_lost(&o->m);
}

static int tso_oracle_decide(const struct kl_part *p, const struct kl_limits *lim,
			     struct kl_answer *a)
{
	struct oracle o = {
		.o = { .p = p, .looks = { .lim = lim }, .is_lost = is_lost },
	};
	int ret;

	a->engine = "tso-oracle";
	a->verdict = KL_UNKNOWN;
	if (!kl_spec_fixed_size(p->spec)) {
		snprintf(a->reason, sizeof(a->reason),
			 "store buffers of containers are not modelled");
		return 0;
	}
	o.run = kl_run_new(p->spec);
	ret = o.run ? try_orders(&o) : -ENOMEM;
	if (o.run)
		ret = kl_orders_answer(&o.o, ret, kl_run_error(o.run), a);
	kl_orders_free(&o.o);
	kl_machine_free(&o.m);
	kl_machine_free(&o.next);
	free(o.waits);
	free(o.view);
	free(o.buf);
	kl_run_free(o.run);
	return ret;
}

const struct kl_engine kl_tso_oracle_engine = {
	.name = "tso-oracle",
	.help = "the same with store buffers",
	.tso = true, .oracle = true,
	.decide = tso_oracle_decide,
};
KL_ENGINE(kl_tso_oracle_engine);
