// SPDX-License-Identifier: GPL-2.0
/* The TSO engine's walk as the steps of a witness, see engine.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tso/engine/engine.h"

#define NONE	UINT32_MAX

/*
 * What is put between steps, a flush or, for one that took effect too early, the
 * operation itself: twice the number of its entry, and 1 for the latter.
 */
struct queue {
	uint32_t first, last;
};

/* An entry by the step that left it. */
struct left {
	uint32_t item, step;
	uint32_t next;		/* of its thread */
	bool early;		/* its operation has to wait for those before it */
};

struct order {
	const struct kl_part *p;
	struct kl_step *steps;
	struct left *left;
	uint32_t *next;		/* of what is put between steps */
	struct queue *buffer;	/* of each thread */
	struct queue *before, *after;	/* of each step */
	size_t nleft;
	uint32_t flush;		/* the last step that was a flush */
};

/* A step that is none, or that is put elsewhere. */
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

static void leave_entry(struct order *o, uint32_t thread, uint32_t step, bool barrier)
{
	struct queue *q = &o->buffer[thread];
	const uint32_t i = o->nleft++;

	o->left[i] = (struct left){ .item = o->steps[step].item, .step = step, .next = NONE };
	if (q->first == NONE) {
		q->first = i;
	} else {
		o->left[q->last].next = i;
		o->left[i].early = barrier;
	}
	q->last = i;
	if (o->left[i].early)
		o->steps[step].flags = NO_STEP;
}

/*
 * The oldest entry of a thread leaves the buffer in @where, before or after the step @at.
 * What was waiting for it takes effect then, or when it was called.
 */
static uint32_t take_entry(struct order *o, uint32_t thread, struct queue *where, uint32_t at)
{
	struct queue *q = &o->buffer[thread];
	const uint32_t i = q->first;
	struct left *next;

	if (where == o->before)
		put(o, &where[at], 2 * i);
	q->first = o->left[i].next;
	if (q->first == NONE || !o->left[q->first].early)
		return i;
	next = &o->left[q->first];
	next->early = false;
	if (at > next->step)
		put(o, &where[at], 2 * q->first + 1);
	else
		o->steps[next->step].flags = KL_STEP_BUFFERED;
	return i;
}

/* The oldest entry of @thread was hidden: it left just before the last flush. */
static void hide(struct order *o, uint32_t thread)
{
	take_entry(o, thread, o->before, o->flush);
}

static void one_step(struct order *o, uint32_t at, const uint64_t *barrier)
{
	struct kl_step *s = &o->steps[at];
	uint32_t thread, n;

	if (!(s->flags & KL_STEP_FLUSH)) {
		if (s->flags & KL_STEP_BUFFERED)
			leave_entry(o, o->p->items[s->item].thread, at,
				    barrier[s->item / 64] >> s->item % 64 & 1);
		return;
	}
	if (s->flags == NO_STEP) {
		thread = o->p->items[s->item].thread;
		while (o->buffer[thread].first != NONE)
			hide(o, thread);
		return;
	}
	thread = kl_tso_move_thread(o->p, s->item);
	for (n = kl_tso_move_hidden(o->p, s->item); n; n--)
		hide(o, thread);
	if (kl_tso_move_drops(o->p, s->item)) {
		s->flags = NO_STEP;
		return;
	}
	s->item = o->left[take_entry(o, thread, o->after, at)].item;
	o->flush = at;
}

static size_t emit(const struct order *o, const struct queue *q, struct kl_step *to)
{
	size_t n = 0;
	uint32_t k;

	for (k = q->first; k != NONE; k = o->next[k])
		to[n++] = (struct kl_step){
			o->left[k / 2].item, k & 1 ? KL_STEP_BUFFERED : KL_STEP_FLUSH,
		};
	return n;
}

int kl_tso_order(const struct kl_part *p, const uint64_t *barrier, struct kl_answer *a)
{
	const size_t queues = p->nthreads + 2 * a->nsteps + 1;
	struct order o = { .p = p, .steps = a->steps };
	struct kl_step *steps;
	size_t i, n = 0, entries = 0;

	for (i = 0; i < a->nsteps; i++)
		entries += a->steps[i].flags == KL_STEP_BUFFERED;
	o.left = malloc((entries + 1) * sizeof(*o.left));
	o.next = malloc((2 * entries + 1) * sizeof(*o.next));
	o.buffer = malloc(queues * sizeof(*o.buffer));
	steps = malloc((a->nsteps + 2 * entries + 1) * sizeof(*steps));
	if (!o.left || !o.next || !o.buffer || !steps) {
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
	free(o.left);
	free(o.next);
	free(o.buffer);
	return steps ? 0 : -ENOMEM;
}
