// SPDX-License-Identifier: GPL-2.0
/*
 * Checks that a run which the explorer shows is possible, from the text alone.  Each step
 * lists calls, accesses to memory with values and lines, and returns, and below them memory
 * and the store buffers.  The plain machine runs until it has made exactly these steps, and
 * must then be in that state.  If the model makes a choice, or the marker of an empty call
 * leaves a buffer invisibly, the search tries all ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plain_end.h"
#include "shown_run.h"
#include "shown_text.h"

#define LOOP		200000		/* limit of instructions without an access */
#define TRIES		200000

struct shown {
	struct plain_program p;
	const struct kl_explore_options *o;
	enum kl_explore_verdict v;
	const char *message;
	struct shown_step *step;
	size_t n;
	unsigned int ndata;
	bool eager;			/* markers of empty calls leave at once */
	unsigned long tries;
	char why[2000];			/* description of the try that came furthest */
	size_t furthest;
};

/* Position of a try: the step, and the parts of it that are done. */
struct at {
	size_t step;
	unsigned int calls, accesses, rets;
	uint32_t acted;			/* threads that acted in this step, a bit each */
	bool moved;			/* an instruction of this step has run */
};

static bool go(struct shown *s, struct plain *m, struct at at);

static void keep_step(void *ctx, const struct kl_explore_step *from)
{
	struct shown *s = ctx;
	struct shown_step *to;
	const char *c;

	s->step = realloc(s->step, (s->n + 1) * sizeof(*s->step));
	assert_non_null(s->step);
	to = &s->step[s->n++];
	memset(to, 0, sizeof(*to));
	to->thread = from->thread;
	to->flush = from->flush;
	to->what = strdup(from->what);
	to->state = strdup(from->state);
	if (from->number)
		shown_parse(to);
	/* Data values are A, B, ...: find the largest of these letters. */
	for (c = to->what; *c; c++)
		if (*c >= 'A' && *c <= 'Z' && (*c != 'T' || c[1] < '0' || c[1] > '9') &&
		    (unsigned int)(*c - 'A' + 1) > s->ndata)
			s->ndata = *c - 'A' + 1;
}

/* ---- the steps ------------------------------------------------------------------------- */

static bool no(struct shown *s, const struct plain *m, const struct at *at, const char *what)
{
	const struct shown_step *step = &s->step[at->step < s->n ? at->step : s->n - 1];
	char state[1200] = "";
	FILE *f;

	if (s->why[0] && at->step < s->furthest)
		return false;
	f = fmemopen(state, sizeof(state), "w");
	plain_put_state(m, f);
	fclose(f);
	s->furthest = at->step;
	snprintf(s->why, sizeof(s->why), "step %zu: %s (call %u of %u, access %u of %u, return %u "
		 "of %u); the plain machine has %s%s", at->step, what, at->calls, step->calls.n,
		 at->accesses, step->accesses.n, at->rets, step->rets.n, state, m->error);
	return false;
}

static bool last(const struct shown *s, const struct at *at)
{
	return at->step + 1 == s->n;
}

/* Return: true if all parts of the step are done. */
static bool done(const struct shown *s, const struct at *at)
{
	const struct shown_step *step = &s->step[at->step];

	return at->calls == step->calls.n && at->accesses == step->accesses.n &&
	       at->rets == step->rets.n;
}

static bool faults(struct shown *s, const struct plain *m, const struct at *at, unsigned int t)
{
	char want[200];

	snprintf(want, sizeof(want), "thread %u: %s", t, m->error);
	if (s->v == KL_EX_FAULT && last(s, at) && done(s, at) && !strcmp(want, s->message))
		return true;
	return no(s, m, at, "a fault");
}

/* Flush markers with nothing between them once they are the oldest. */
static void drop_empty(struct plain *m)
{
	unsigned int t, n;

	for (t = 0; t < m->p->nthreads; t++) {
		struct plain_thread *th = &m->thread[t];

		while (th->nbuf && th->buf[0].kind == KL_VM_CALL) {
			for (n = 1; n < th->nbuf && th->buf[n].secret; n++)
				;
			if (n == th->nbuf || th->buf[n].kind != KL_VM_RET)
				break;
			for (n++; n--;)
				plain_flush(m, t);
		}
	}
}

/* Flush secret stores, and the marker of a return, as soon as possible. */
static void settle(const struct shown *s, struct plain *m, unsigned int t)
{
	struct plain_thread *th = &m->thread[t];

	while (th->nbuf && (th->buf[0].secret ||
			    (!s->o->no_merge && th->buf[0].kind == KL_VM_RET)))
		plain_flush(m, t);
}

static bool next_step(struct shown *s, struct plain *m, struct at at)
{
	char state[4096] = "";
	FILE *f = fmemopen(state, sizeof(state), "w");

	plain_put_state(m, f);
	fclose(f);
	if (strcmp(state, s->step[at.step].state))
		return no(s, m, &at, "another state");
	if (s->eager && !s->o->no_merge)
		drop_empty(m);
	at = (struct at){ .step = at.step + 1 };
	if (at.step < s->n)
		return go(s, m, at);
	return plain_ends(m, s->o, s->v, s->message) || no(s, m, &at, "another end");
}

/* Finish the step: run the invisible instructions that follow. */
static bool tail(struct shown *s, struct plain *m, struct at at)
{
	const bool acted = s->step[at.step].accesses.n || s->step[at.step].rets.n;
	struct plain *before = malloc(sizeof(*before));
	unsigned int t, i;
	bool over = false;

	assert_non_null(before);
	for (t = 0; t < m->p->nthreads && !s->o->no_merge && !over; t++) {
		enum plain_did did = PLAIN_LOCAL;

		if (!(at.acted >> t & 1))
			continue;
		for (i = 0; did == PLAIN_LOCAL && i < LOOP; i++) {
			const enum kl_opcode op = plain_next(m, t);

			if (op == KL_I_BLOCK || (op == KL_I_FENCE && acted && m->thread[t].nbuf))
				break;
			memcpy(before, m, sizeof(*m));
			did = plain_insn(m, t);
		}
		if (i == LOOP)
			snprintf(m->error, sizeof(m->error), "%s", strchr(s->message, ':') ?
				 strchr(s->message, ':') + 2 : "");
		if ((did == PLAIN_FAULT || i == LOOP) && last(s, &at) && s->v == KL_EX_FAULT)
			over = faults(s, m, &at, t);
		if (did != PLAIN_LOCAL && did != PLAIN_OVER)
			memcpy(m, before, sizeof(*m));
	}
	free(before);
	return over || next_step(s, m, at);
}

/* Try all choices of the next instruction of @t. */
static bool decide(struct shown *s, const struct plain *m, struct at at)
{
	struct plain *next = malloc(sizeof(*next));
	bool ret = false;
	unsigned int i;

	assert_non_null(next);
	for (i = 0; i < m->nchoices && !ret && s->tries++ < TRIES; i++) {
		memcpy(next, m, sizeof(*next));
		next->choice = i;
		ret = go(s, next, at);
	}
	free(next);
	return ret;
}

/* The step may consist of choices only: try each. */
static bool decided(struct shown *s, const struct plain *from, struct at at)
{
	const unsigned int t = s->step[at.step].thread;
	struct plain *m = malloc(sizeof(*m)), *next = malloc(sizeof(*m));
	enum plain_did did = PLAIN_LOCAL;
	bool ret = false;
	unsigned int i;

	assert_non_null(m);
	assert_non_null(next);
	memcpy(m, from, sizeof(*m));
	for (i = 0; did == PLAIN_LOCAL && i < LOOP && plain_next(m, t) != KL_I_FENCE &&
		    plain_next(m, t) != KL_I_BLOCK; i++)
		did = plain_insn(m, t);
	for (i = 0; did == PLAIN_CHOOSES && i < m->nchoices && !ret && s->tries++ < TRIES; i++) {
		memcpy(next, m, sizeof(*next));
		next->choice = i;
		plain_insn(next, t);
		ret = decided(s, next, at) || tail(s, next, at);
	}
	free(m);
	free(next);
	return ret;
}

/* Return: true if @t accesses memory in the rest of the step. */
static bool accesses(const struct shown_step *step, const struct at *at, unsigned int t)
{
	unsigned int i;

	for (i = at->accesses; i < step->accesses.n; i++)
		if (step->accesses.p[i].thread == t)
			return true;
	return false;
}

/* Return: the thread that runs next. */
static unsigned int turn(const struct shown_step *step, const struct at *at)
{
	if (at->calls < step->calls.n)
		return step->calls.p[at->calls].thread;
	if (at->rets < step->rets.n && !accesses(step, at, step->rets.p[at->rets].thread))
		return step->rets.p[at->rets].thread;
	return step->accesses.p[at->accesses].thread;
}

/*
 * Flush the entries of one block, as the step shows.  Return: 1 if an entry was shown, 0 if
 * all were secret, -1 if the flush does not match the step.
 */
static int flush_group(struct shown *s, struct plain *m, struct at *at)
{
	const struct shown_step *step = &s->step[at->step];
	struct plain_thread *th = &m->thread[step->thread];
	struct plain_entry e;
	char buf[200];
	int shown = 0;
	FILE *f;

	do {
		e = th->buf[0];
		th->buf[0].more = false;
		plain_flush(m, step->thread);
		if (e.secret)
			continue;
		f = fmemopen(buf, sizeof(buf), "w");
		plain_put_place(m, e.addr, f);
		fputs(" = ", f);
		plain_put_value(m, e.val, f);
		fclose(f);
		if (at->accesses == step->accesses.n || !step->accesses.p[at->accesses].flush ||
		    step->accesses.p[at->accesses].thread != step->thread ||
		    strcmp(step->accesses.p[at->accesses].text, buf)) {
			no(s, m, at, "a flush that is not shown");
			return -1;
		}
		at->accesses++;
		shown = 1;
	} while (e.more);
	return shown;
}

/* Flush up to the entry that the step shows, or the markers of an empty call if it shows none. */
static bool flush(struct shown *s, struct plain *m, struct at *at)
{
	const struct shown_step *step = &s->step[at->step];
	struct plain_thread *th = &m->thread[step->thread];
	const bool shows = step->accesses.n && step->accesses.p[0].flush;
	enum kl_vm_kind kind;
	int ret = 0;

	do {
		if (!th->nbuf)
			return !shows || no(s, m, at, "an empty buffer");
		kind = th->buf[0].kind;
		if (kind == KL_VM_WRITE)
			ret = flush_group(s, m, at);
		else
			plain_flush(m, step->thread);
	} while (!ret && (kind == KL_VM_WRITE ||
			  (!s->o->no_merge && (shows || kind != KL_VM_RET))));
	settle(s, m, step->thread);
	return ret >= 0;
}

/* Run the instructions of the step. */
static bool act(struct shown *s, struct plain *m, struct at at)
{
	const struct shown_step *step = &s->step[at.step];
	const bool one = s->o->no_merge && !step->flush;
	unsigned int t, quiet = 0;

	/* Without merging a step is one instruction or one block. */
	while (one ? !at.moved || m->thread[step->thread].block : !done(s, &at)) {
		t = one ? step->thread : turn(step, &at);
		at.moved = true;
		at.acted |= 1u << t;
		switch (plain_insn(m, t)) {
		case PLAIN_LOCAL:
			if (quiet++ > LOOP)
				return no(s, m, &at, "a loop");
			break;
		case PLAIN_ACCESS:
			if (at.accesses < step->accesses.n &&
			    plain_access_is(m, t, &step->accesses.p[at.accesses]))
				at.accesses++;
			else if (!at.accesses ||
				 !plain_access_is(m, t, &step->accesses.p[at.accesses - 1]))
				return no(s, m, &at, "an access that is not shown");
			break;
		case PLAIN_CALL:
			if (at.calls == step->calls.n || step->calls.p[at.calls].thread != t ||
			    !plain_event_is(m, step->calls.p[at.calls].text))
				return no(s, m, &at, "a call that is not shown");
			at.calls++;
			break;
		case PLAIN_RET:
			if (at.rets == step->rets.n || step->rets.p[at.rets].thread != t ||
			    !plain_event_is(m, step->rets.p[at.rets].text))
				return no(s, m, &at, "a return that is not shown");
			at.rets++;
			settle(s, m, t);
			break;
		case PLAIN_CHOOSES:
			at.moved = false;
			return decide(s, m, at);
		case PLAIN_OVER:
			if (one && m->thread[t].done)
				break;
			return no(s, m, &at, "a thread that is at its end");
		case PLAIN_FAULT:
			return faults(s, m, &at, t);
		default:
			return no(s, m, &at, "a thread that waits");
		}
	}
	return done(s, &at) ? tail(s, m, at) : no(s, m, &at, "less than is shown");
}

static bool go(struct shown *s, struct plain *m, struct at at)
{
	const struct shown_step *step = &s->step[at.step];

	if (!at.acted && step->flush && !flush(s, m, &at))
		return false;
	if (!at.acted)
		at.acted = 1u << step->thread;
	if (!s->o->no_merge && !step->flush && !at.moved && done(s, &at) && decided(s, m, at))
		return true;
	return act(s, m, at);
}

static bool made_again(struct shown *s, bool eager)
{
	struct plain *m = malloc(sizeof(*m));
	struct at at = { .step = 1 };
	char state[4096] = "";
	bool ret;
	FILE *f;

	assert_non_null(m);
	s->eager = eager;
	s->tries = 0;
	plain_init(m, &s->p);
	m->ndata = s->ndata;
	f = fmemopen(state, sizeof(state), "w");
	plain_put_state(m, f);
	fclose(f);
	if (strcmp(state, s->step[0].state))
		ret = no(s, m, &(struct at){ 0 }, "another first state");
	else if (s->n == 1)
		ret = plain_ends(m, s->o, s->v, s->message);
	else
		ret = go(s, m, at);
	free(m);
	return ret;
}

static void set_program(struct shown *s, struct kl_spec *spec)
{
	const struct kl_impl *im = spec->impl;
	const size_t ncode = spec->ncode;
	unsigned int i;

	s->p = (struct plain_program){ .spec = spec, .sc = s->o->sc, .stride = 1 };
	assert_int_equal(kl_impl_client(spec, s->o->threads, s->o->ops, s->p.start,
					&s->p.nthreads, &s->p.nregs), 0);
	spec->ncode = ncode;
	for (i = 0; i < im->nstructs; i++)
		if (im->structs[i].nfields > s->p.stride)
			s->p.stride = im->structs[i].nfields;
}

bool shown_run_check(struct kl_spec *spec, const struct kl_explore_options *o,
		     enum kl_explore_verdict v, struct kl_explorer *x)
{
	struct shown s = { .o = o, .v = v };
	size_t i;
	bool ret;

	assert_int_equal(kl_explore_run(x, keep_step, &s), 0);
	s.message = kl_explore_message(x);
	set_program(&s, spec);
	ret = made_again(&s, false) || made_again(&s, true);
	if (!ret)
		print_message("the run shown is none, or ends otherwise: %s\n%s\n",
			      s.message, s.why);
	for (i = 0; i < s.n; i++) {
		if (!ret)
			print_message("%4zu T%u %s%s\n       %s\n", i, s.step[i].thread,
				      s.step[i].flush ? "flush: " : "", s.step[i].what,
				      s.step[i].state);
		shown_free(&s.step[i]);
	}
	free(s.step);
	return ret;
}
