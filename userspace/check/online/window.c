// SPDX-License-Identifier: GPL-2.0
/*
 * The window of a partition: its last operations, for a counterexample or an offline check.
 * Operations before the window are forgotten, as in a gap that ends when the last of them returned.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/online/internal.h"
#include "history/source.h"
#include "history/spell.h"

#define LEAST		8	/* operations that each partition may keep in any case */
#define TOGETHER	8	/* partitions that may each have a full window */

void on_window_share(struct kl_online *o)
{
	const uint64_t all = (uint64_t)o->opts.window * TOGETHER, share = all / o->nparts;

	o->most = share >= o->opts.window ? o->opts.window : share > LEAST ? share : LEAST;
}

bool on_window_full(const struct kl_online *o, const struct on_part *p)
{
	return p->nring == p->cring && p->nring >= o->most;
}

/* Return: the time by which an operation returned and its stores left the store buffer. */
static uint64_t over(const struct kl_online *o, const struct on_kept *op)
{
	return o->flushes || kl_spec_method(o->spec, op->method)->pure || op->drain < op->ret ?
	       op->ret : op->drain;
}

static struct on_kept keep(const struct kl_online *o, const struct on_op *op)
{
	return (struct on_kept){
		.call = op->call,
		.ret = op->ret,
		.drain = op->drain,
		.thread = op->thread,
		.what = on_has_sig(o, op->kind) ? op->sig : op->word,
		.cpu = op->cpu,
		.method = op->method,
		.flags = op->flags,
		.kind = op->kind,
		.stack = op->stack,
		.place = op->place,
	};
}

int on_window_put(struct kl_online *o, struct on_part *p, const struct on_op *op)
{
	const struct on_kept kept = keep(o, op);
	struct on_kept *r;
	uint32_t cap;

	if (p->nring == p->cring && p->nring < o->most) {
		cap = p->cring ? 2 * p->cring : LEAST;
		if (cap > o->opts.window)
			cap = o->opts.window;
		r = malloc(cap * sizeof(*r));
		if (!r)
			return -ENOMEM;
		if (p->nring) {
			memcpy(r, p->ring + p->at_ring, (p->nring - p->at_ring) * sizeof(*r));
			memcpy(r + p->nring - p->at_ring, p->ring, p->at_ring * sizeof(*r));
		}
		free(p->ring);
		p->ring = r;
		p->at_ring = 0;
		p->cring = cap;
	}
	if (p->nring < p->cring) {
		p->ring[p->nring++] = kept;
		return 0;
	}
	r = &p->ring[p->at_ring];
	if (over(o, r) > p->evicted)
		p->evicted = over(o, r);
	p->lacks = true;
	*r = kept;
	p->at_ring = p->at_ring + 1 == p->nring ? 0 : p->at_ring + 1;
	return 0;
}

void on_window_clear(const struct kl_online *o, struct on_part *p)
{
	uint32_t i;

	for (i = 0; i < p->nring; i++)
		if (over(o, &p->ring[i]) > p->evicted)
			p->evicted = over(o, &p->ring[i]);
	p->lacks |= p->nring > 0;
	free(p->ring);
	p->ring = NULL;
	p->nring = p->cring = p->at_ring = 0;
}

/* Return: the arguments and results of a kept operation; @v has room for one. */
static const struct kl_val *values(const struct kl_online *o, const struct on_kept *op,
				   struct kl_val *v)
{
	if (on_has_sig(o, op->kind))
		return o->opsigs->vals + o->opsigs->opsigs[op->what].vals;
	*v = op->kind <= ON_PEEK ? kl_word(op->what) :
	     kl_special(op->kind == ON_EMPTY ? KL_EMPTY : KL_ANY);
	return v;
}

static int add_op(const struct kl_online *o, const struct on_part *p, const struct on_kept *from,
		  uint64_t time, struct kl_history *h)
{
	const struct kl_method *m = kl_spec_method(o->spec, from->method);
	struct kl_opsig s = { .nargs = m->nparams, .nres = m->nresults };
	struct kl_op op = {
		.call = from->call, .ret = from->ret, .cpu = from->cpu, .flags = from->flags,
	};
	const uint64_t drain = from->drain > time ? KL_TIME_MAX : from->drain;
	int64_t thread = kl_history_thread(h, from->thread);
	int64_t object = kl_history_object(h, p->object);
	int64_t method = kl_history_method(h, m->name, strlen(m->name));
	const struct kl_val *vals;
	struct kl_val v;
	int ret;

	if (thread < 0 || object < 0 || method < 0)
		return -ENOMEM;
	op.thread = thread;
	op.object = object;
	s.method = method;
	if (kl_time_add(from->ret, o->opts.error) > time)
		op.flags |= KL_OP_PENDING;
	vals = values(o, from, &v);
	ret = kl_source_place(h, from->place ? from->place : KL_NO_PLACE) ?:
	      kl_history_add(h, &op, &s, vals, vals + s.nargs);
	if (!ret)
		ret = kl_history_set_points(h, h->nops - 1, KL_TIME_MAX, drain);
	return ret ?: kl_history_set_stack(h, h->nops - 1, from->stack);
}

static int fill(const struct kl_online *o, const struct on_part *p, uint64_t time,
		const uint32_t *core, size_t ncore, struct kl_history *h)
{
	struct kl_gap cut = {
		.from = KL_TIME_MIN, .to = p->began, .object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU,
		/* It is unknown when lost stores left the store buffers. */
		.reason = p->lost ? KL_GAP_LOST : KL_GAP_CUT,
	};
	/* A monitor's core begins at a time at which the container was empty. */
	const bool forgot = !core && (p->lacks || p->forgot);
	const size_t n = core ? ncore : p->nring;
	size_t i;
	int ret = 0;

	if (!core && p->evicted > cut.to)
		cut.to = p->evicted;
	for (i = 0; !core && forgot && i < n; i++)
		if (p->ring[i].ret <= p->began && over(o, &p->ring[i]) > cut.to)
			cut.to = over(o, &p->ring[i]);
	h->clock = o->opts.clock;
	h->error = o->opts.error;
	if (o->opts.names) {
		kl_history_share_spellings(h, o->opts.names);
		ret = kl_source_share_name(h, o->opts.names);
	}
	/* The state of a register becomes known in other ways. */
	h->memory = (struct kl_memory){ .sc = o->opts.classical, .told = true };
	h->fresh = (core && !o->both) || (o->opts.fresh && !forgot && !p->forgot);
	for (i = 0; i < n && !ret; i++) {
		const struct on_kept op = core ? keep(o, &o->ops[core[i]]) :
					  p->ring[(p->at_ring + i) % p->nring];

		if (op.call > time || (forgot && op.ret <= p->began))
			continue;
		ret = add_op(o, p, &op, time, h);
	}
	if (!ret && forgot)
		ret = kl_history_add_gap(h, &cut);
	return ret ? ret : kl_history_finish(h);
}

int on_window_check(struct kl_online *o, const struct on_part *p, uint64_t time,
		    const uint32_t *core, size_t ncore, bool shrink, struct on_window *w)
{
	const struct kl_options opt = {
		.classical = o->opts.classical,
		.no_witness = true,
		.threads = 1,
		.max_shrink = shrink,
		.bytes = o->opts.bytes,
		.stop = o->opts.stop,
		.work = o->opts.look_work,
		.own_work = true,
	};
	size_t i;
	int ret;

	*w = (struct on_window){ .h = kl_history_new() };
	ret = w->h ? fill(o, p, time, core, ncore, w->h) : -ENOMEM;
	ret = ret ?: kl_check(o->spec, w->h, &opt, &w->report);
	for (i = 0; !ret && core && i < w->report->nparts; i++)
		w->report->parts[i].selected = true;
	return ret;
}

void on_window_free(struct on_window *w)
{
	kl_report_free(w->report);
	kl_history_free(w->h);
}
