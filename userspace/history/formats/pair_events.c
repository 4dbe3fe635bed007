// SPDX-License-Identifier: GPL-2.0
/* Operations from events, see pair_events.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/formats/pair_events.h"
#include "history/internal.h"
#include "history/source.h"

#define DROPPED	1 /* value of kl_op.pad: the operation is removed at the end */
#define MANY	256 /* up to this number of processes, none is freed when its operation ends */

int kl_pairs_place(struct kl_pairs *p, size_t thread)
{
	const size_t old = p->cplace;
	struct kl_process *process;
	int ret = kl_grow(p->place, p->cplace, thread + 1);

	if (ret)
		return ret;
	memset(p->place + old, 0, (p->cplace - old) * sizeof(*p->place));
	if (!p->free) {
		ret = kl_grow(p->process, p->cprocess, p->nprocess + 1);
		if (ret)
			return ret;
		p->process[p->nprocess].thread = 0;
		p->free = ++p->nprocess;
	}
	p->place[thread] = p->free;
	process = &p->process[p->free - 1];
	p->free = process->thread;
	process->thread = thread;
	process->op = 0;
	return 0;
}

/* End the operation of a process, which is freed if there are many. */
static inline void end_op(struct kl_pairs *p, struct kl_process *process)
{
	uint32_t *place = &p->place[process->thread];

	process->op = 0;
	if (p->nprocess <= MANY)
		return;
	process->thread = p->free;
	p->free = *place;
	*place = 0;
}

static inline int note_sig(struct kl_pairs *p, const struct kl_process *process)
{
	const struct kl_val *vals = process->vals;
	const int64_t sig =
		kl_history_sig(p->h, &process->sig, vals, vals + process->sig.nargs);

	if (sig < 0)
		return sig;
	p->h->ops[process->op - 1].sig = sig;
	return 0;
}

/*
 * Add the signature of an operation without results at its call.  Consecutive operations of one
 * method without values share it.
 */
static int note_called(struct kl_pairs *p, const struct kl_process *process)
{
	const struct kl_opsig *s = &process->sig;
	struct kl_op *op = &p->h->ops[process->op - 1];
	int ret = 0;

	if (s->nargs)
		return note_sig(p, process);
	if (p->bare.known && p->bare.method == s->method)
		op->sig = p->bare.sig;
	else
		ret = note_sig(p, process);
	p->bare.known = !ret;
	p->bare.method = s->method;
	p->bare.sig = op->sig;
	return ret;
}

/* Return: the place of an event in the input, see source.h. */
static uint32_t place(const struct kl_scan *s, const char *tok)
{
	if (!s->text)
		return s->line;
	return tok - s->text < KL_FIRST_PLACE ? tok - s->text : KL_NO_PLACE;
}

/* Return: where the present event begins, see source.h. */
static uint32_t entry_at(const struct kl_pairs *p)
{
	return p->entry && p->scan->text && p->entry - p->scan->text < KL_FIRST_PLACE ?
		       p->entry - p->scan->text :
		       KL_NO_PLACE;
}

/* Note where the call of the last operation is.  Operations before it may have no events. */
static inline int note_place(struct kl_pairs *p, uint32_t at)
{
	const size_t op = p->h->nops - 1;
	const int ret = kl_grow(p->events, p->cevents, op + 1);

	if (ret)
		return ret;
	while (p->nevents < op)
		p->events[p->nevents++] = (struct kl_source_events){ .place = KL_FIRST_PLACE };
	p->events[p->nevents++] = (struct kl_source_events){
		.place = at,
		.call_line = p->scan->line,
		.call_index = p->index,
		.call_at = entry_at(p),
		.ret_at = KL_NO_PLACE,
	};
	return 0;
}

/* Give the places of all operations that are kept to the history, and those that failed. */
static int give_places(struct kl_pairs *p)
{
	struct kl_source *s = calloc(1, sizeof(*s));
	size_t i;

	if (!s)
		return -ENOMEM;
	p->h->source = s;
	p->h->failed = p->dropped;
	s->failed = p->dropped ? malloc(p->dropped * sizeof(*s->failed)) : NULL;
	if (p->dropped && !s->failed)
		return -ENOMEM;
	s->events = p->events;
	for (i = 0; i < p->nevents; i++) {
		if (p->h->ops[i].pad == DROPPED)
			s->failed[s->nfailed++] = (struct kl_source_failed){
				.call_line = p->events[i].call_line,
				.ret_line = p->events[i].ret_line,
				.call_at = p->events[i].call_at,
				.ret_at = p->events[i].ret_at,
				.op = p->h->ops[i],
			};
		else if (p->events[i].place < KL_FIRST_PLACE)
			s->events[s->nevents++] = p->events[i];
	}
	p->events = NULL;
	s->other = p->other;
	s->nother = p->nother;
	p->other = NULL;
	return 0;
}

int kl_pairs_call(struct kl_pairs *p, const char *tok, struct kl_process *process,
		  const struct kl_opsig *s, const struct kl_val *args)
{
	const uint32_t at = place(p->scan, tok);
	struct kl_history *h = p->h;
	unsigned int i;
	int ret;

	/* After an error, most often the return was in error. */
	if (process->op && p->scan->errors)
		return -EINVAL;
	if (process->op)
		return kl_scan_bad(p->scan, tok,
				   "the return of the previous operation of the process");
	if (s->nargs + s->nres > KL_PAIR_VALS)
		return -EINVAL;
	if (h->nops >= KL_NO_OP)
		return -EOVERFLOW;
	ret = kl_source_place(h, at);
	if (ret)
		return ret;
	/* Points and drains stay unknown, so their arrays need not grow. */
	ret = kl_grow(h->ops, h->cops, h->nops + 1);
	if (ret)
		return ret;
	h->ops[h->nops++] = (struct kl_op){
		.call = ++p->now, .ret = KL_TIME_MAX, .thread = process->thread,
		.cpu = KL_NO_CPU, .flags = KL_OP_PENDING,
	};
	ret = note_place(p, at);
	if (ret)
		return ret;
	process->op = h->nops;
	process->sig = *s;
	for (i = 0; i < s->nargs; i++)
		process->vals[i] = args[i];
	return s->nres ? 0 : note_called(p, process);
}

/* Note where the event is that ends the operation of a process. */
static inline void note_return(struct kl_pairs *p, const struct kl_process *process)
{
	struct kl_source_events *e = &p->events[process->op - 1];

	e->ret_line = p->scan->line;
	e->ret_index = p->index;
	e->ret_at = entry_at(p);
}

int kl_pairs_return(struct kl_pairs *p, struct kl_process *process, const struct kl_val *res)
{
	const struct kl_opsig s = process->sig;
	struct kl_op *op = &p->h->ops[process->op - 1];
	unsigned int i;
	int ret;

	for (i = 0; i < s.nres; i++)
		process->vals[s.nargs + i] = res[i];
	ret = s.nres ? note_sig(p, process) : 0;
	if (ret)
		return ret;
	note_return(p, process);
	op->flags = KL_OP_DRAINED;
	op->ret = ++p->now;
	end_op(p, process);
	return 0;
}

int kl_pairs_fill(struct kl_pairs *p, struct kl_process *process, const struct kl_val *args)
{
	unsigned int i;

	for (i = 0; i < process->sig.nargs; i++)
		process->vals[i] = args[i];
	return process->sig.nres ? 0 : note_called(p, process);
}

int kl_pairs_again(struct kl_pairs *p, const struct kl_process *process, const struct kl_val *vals)
{
	struct kl_history *h = p->h;
	const size_t open = process->op - 1;
	struct kl_op op = h->ops[open];
	int64_t sig = kl_history_sig(h, &process->sig, vals, vals + process->sig.nargs);
	int ret = sig < 0 ? sig : kl_source_place(h, p->events[open].place);

	if (ret)
		return ret;
	op.sig = sig;
	op.flags = KL_OP_DRAINED;
	op.ret = p->now + 1; /* the time of the return, which follows */
	ret = h->nops < KL_NO_OP ? kl_grow(h->ops, h->cops, h->nops + 1) : -EOVERFLOW;
	if (ret)
		return ret;
	h->ops[h->nops++] = op;
	return 0;
}

/* End an operation whose results are not known.  Return: 0 or a negative errno. */
static int end_unknown(struct kl_pairs *p, struct kl_process *process)
{
	const struct kl_opsig s = process->sig;
	unsigned int i;
	int ret;

	for (i = 0; i < s.nres; i++)
		process->vals[s.nargs + i] = kl_special(KL_ANY);
	ret = s.nres ? note_sig(p, process) : 0;
	end_op(p, process);
	return ret;
}

int kl_pairs_lose(struct kl_pairs *p, struct kl_process *process)
{
	p->events[process->op - 1].end_line = p->scan->line;
	p->events[process->op - 1].ret_at = entry_at(p);
	return end_unknown(p, process);
}

int kl_pairs_drop(struct kl_pairs *p, struct kl_process *process)
{
	struct kl_op *op = &p->h->ops[process->op - 1];

	op->pad = DROPPED;
	op->ret = p->now;
	note_return(p, process);
	p->dropped++;
	return end_unknown(p, process);
}

int kl_pairs_other(struct kl_pairs *p)
{
	const int ret = kl_grow(p->other, p->cother, p->nother + 1);

	if (!ret)
		p->other[p->nother++] = (struct kl_source_other){
			.line = p->scan->line,
			.at = entry_at(p),
			.after = p->now,
		};
	return ret;
}

bool kl_pairs_dropped(const struct kl_op *op)
{
	return op->pad == DROPPED;
}

int kl_pairs_end(struct kl_pairs *p)
{
	struct kl_history *h = p->h;
	size_t i, n = 0;
	int ret = 0;

	for (i = 0; i < p->nprocess && !ret; i++)
		if (p->process[i].op)
			ret = end_unknown(p, &p->process[i]);
	ret = ret ?: give_places(p);
	if (ret)
		return ret;
	for (i = 0; p->dropped && i < h->nops; i++)
		if (h->ops[i].pad != DROPPED)
			kl_history_move(h, n++, i);
	if (p->dropped)
		h->nops = n;
	h->clock = KL_CLOCK_SEQ;
	h->view.times = KL_TIMES_EVENTS;
	h->fresh = true;
	return kl_history_finish(h);
}

void kl_pairs_free(struct kl_pairs *p)
{
	free(p->process);
	free(p->place);
	free(p->events);
	free(p->other);
	p->events = NULL;
	p->other = NULL;
	p->process = NULL;
	p->place = NULL;
}
