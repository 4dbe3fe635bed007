// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the walk of the TSO engine into the steps of a witness.  The walk's moves become flushes of
 * items.  A dropped entry gets a flush just before the last flush.  An early operation with a
 * barrier moves behind the flushes that it waits for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tso/engine/engine.h"

#define NONE	UINT32_MAX

/*
 * The entries in a thread's buffer, or a list of additions: steps to insert before or after a step.
 * The addition 2 * i is the flush of entry i.  The addition 2 * i + 1 is the operation of entry i,
 * whose step in the walk was too early.
 */
struct queue {
	uint32_t first, last;
};

/* An entry, and the step that put it into the buffer. */
struct entry {
	uint32_t item, step;
	uint32_t next;		/* the next entry of its thread, or NONE */
	bool early;		/* its operation must wait until the entries before it have left */
};

struct order {
	const struct kl_part *p;
	struct kl_step *steps;
	struct entry *entry;
	uint32_t *next;		/* links of the lists of additions */
	struct queue *buffer;	/* the entries in each thread's buffer */
	struct queue *before, *after;	/* additions before and after each step */
	size_t nentries;
	uint32_t flush;		/* index of the last step that was a flush */
};

/* Flags of a step that is left out, or moved elsewhere. */
#define NO_STEP	(KL_STEP_FLUSH | KL_STEP_BUFFERED)

static void put(struct order *o, struct queue *q, uint32_t what)
{
	o->next[what] = NONE;
	if (q->first == NONE)
		q->first = what;
	else
		o->next[q->last] = what;
	q->last = what;
}

static void add_entry(struct order *o, uint32_t thread, uint32_t step, bool barrier)
{
	struct queue *q = &o->buffer[thread];
	const uint32_t i = o->nentries++;

	o->entry[i] = (struct entry){ .item = o->steps[step].item, .step = step, .next = NONE };
	if (q->first == NONE) {
		q->first = i;
	} else {
		o->entry[q->last].next = i;
		o->entry[i].early = barrier;
	}
	q->last = i;
	if (o->entry[i].early)
		o->steps[step].flags = NO_STEP;
}

/*
 * Remove the oldest entry of a thread from its buffer.  If @where is o->before, the entry's flush
 * is added before the step @at; else the step @at is the flush.  If the operation of the next
 * entry waits for this flush, it takes effect here, or at its own step if that is later.
 * Return: the entry.
 */
static uint32_t take_entry(struct order *o, uint32_t thread, struct queue *where, uint32_t at)
{
	struct queue *q = &o->buffer[thread];
	const uint32_t i = q->first;
	struct entry *next;

	if (where == o->before)
		put(o, &where[at], 2 * i);
	q->first = o->entry[i].next;
	if (q->first == NONE || !o->entry[q->first].early)
		return i;
	next = &o->entry[q->first];
	next->early = false;
	if (at > next->step)
		put(o, &where[at], 2 * q->first + 1);
	else
		o->steps[next->step].flags = KL_STEP_BUFFERED;
	return i;
}

/* The oldest entry of @thread was hidden: flush it just before the last flush. */
static void flush_hidden(struct order *o, uint32_t thread)
{
	take_entry(o, thread, o->before, o->flush);
}

static void one_step(struct order *o, uint32_t at, const uint64_t *barrier)
{
	struct kl_step *s = &o->steps[at];
	uint32_t thread, n;

	if (!(s->flags & KL_STEP_FLUSH)) {
		if (s->flags & KL_STEP_BUFFERED)
			add_entry(o, o->p->items[s->item].thread, at,
				  barrier[s->item / 64] >> s->item % 64 & 1);
		return;
	}
	if (s->flags == NO_STEP) {
		thread = o->p->items[s->item].thread;
		while (o->buffer[thread].first != NONE)
			flush_hidden(o, thread);
		return;
	}
	thread = kl_tso_move_thread(o->p, s->item);
	for (n = kl_tso_move_hidden(o->p, s->item); n; n--)
		flush_hidden(o, thread);
	if (kl_tso_move_drops(o->p, s->item)) {
		s->flags = NO_STEP;
		return;
	}
	s->item = o->entry[take_entry(o, thread, o->after, at)].item;
	o->flush = at;
}

static size_t emit(const struct order *o, const struct queue *q, struct kl_step *to)
{
	size_t n = 0;
	uint32_t k;

	for (k = q->first; k != NONE; k = o->next[k])
		to[n++] = (struct kl_step){
			o->entry[k / 2].item, k & 1 ? KL_STEP_BUFFERED : KL_STEP_FLUSH,
		};
	return n;
}

int kl_tso_witness(const struct kl_part *p, const uint64_t *barrier, struct kl_answer *a)
{
	const size_t queues = p->nthreads + 2 * a->nsteps + 1;
	struct order o = { .p = p, .steps = a->steps };
	struct kl_step *steps;
	size_t i, n = 0, entries = 0;

	for (i = 0; i < a->nsteps; i++)
		entries += a->steps[i].flags == KL_STEP_BUFFERED;
	o.entry = malloc((entries + 1) * sizeof(*o.entry));
	o.next = malloc((2 * entries + 1) * sizeof(*o.next));
	o.buffer = malloc(queues * sizeof(*o.buffer));
	steps = malloc((a->nsteps + 2 * entries + 1) * sizeof(*steps));
	if (!o.entry || !o.next || !o.buffer || !steps) {
		free(steps);
		steps = NULL;
		goto out;
	}
	memset(o.buffer, 0xff, queues * sizeof(*o.buffer));
	o.before = o.buffer + p->nthreads;
	o.after = o.before + a->nsteps;
	for (i = 0; i < a->nsteps; i++)
		one_step(&o, i, barrier);
	for (i = 0; i < a->nsteps; i++) {
		n += emit(&o, &o.before[i], steps + n);
		if (a->steps[i].flags != NO_STEP)
			steps[n++] = a->steps[i];
		n += emit(&o, &o.after[i], steps + n);
	}
	free(a->steps);
	a->steps = steps;
	a->nsteps = n;
out:
	free(o.entry);
	free(o.next);
	free(o.buffer);
	return steps ? 0 : -ENOMEM;
}
